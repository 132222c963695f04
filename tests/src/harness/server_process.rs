//! The server as a process, started as an operator starts it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::program;

/// Far longer than a start or a log line takes: only a hang exceeds it.
const HANG: Duration = Duration::from_secs(30);

/// The loopback address with any free port.
const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A server process, which is killed when this value is dropped.
pub struct ServerProcess {
    child: Child,
    /// The server's output until it was ready.
    said: String,
    /// The server's log since then, as far as it has been read.
    logged: Arc<Mutex<String>>,
    /// The reading end of the server's log, until a thread reads it.
    unread: Option<BufReader<ChildStderr>>,
    /// The address at which players join.
    pub udp: SocketAddr,
    /// The address of the server's pages.
    pub http: SocketAddr,
}

impl ServerProcess {
    /// Starts a server on free ports, waits until it is ready, and reads its log from then on.
    ///
    /// # Panics
    /// If the server does not get ready.
    pub fn start(arguments: &[&str]) -> Self {
        let mut process = Self::start_unread(arguments, &[]);
        process.read_log();
        process
    }

    /// Like [`ServerProcess::start`], with more variables in the server's environment. Once the
    /// server is ready, its log is not read.
    ///
    /// # Panics
    /// If the server does not get ready.
    pub fn start_unread(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::start_by(Self::command(arguments).envs(environment.iter().copied()))
    }

    /// Like [`ServerProcess::start`], under a limit of the shell's `ulimit`: `-f 2` lets no file
    /// grow beyond two blocks.
    ///
    /// # Panics
    /// If the server does not get ready.
    pub fn start_limited(limit: &str, arguments: &[&str]) -> Self {
        let script = format!("ulimit {limit} && exec \"$0\" \"$@\"");
        Self::start_within(&["sh", "-c", &script], arguments)
    }

    /// Like [`ServerProcess::start`], through a command such as a shell. The command gets the
    /// program and its arguments after its own, and must replace itself by the program.
    ///
    /// # Panics
    /// If the server does not get ready.
    pub fn start_within(command: &[&str], arguments: &[&str]) -> Self {
        let server = Self::command(arguments);
        let mut within = Self::hermetic(command[0]);
        within.args(&command[1..]).arg(server.get_program()).args(server.get_args());
        let mut process = Self::start_by(&mut within);
        process.read_log();
        process
    }

    /// Like [`ServerProcess::start`], with `udp` as the address at which players join, after an
    /// earlier server there has ended.
    ///
    /// # Panics
    /// If the server does not get ready.
    pub fn start_at(udp: SocketAddr, arguments: &[&str]) -> Self {
        let mut process = Self::start_listening(udp, &mut Self::command(arguments));
        process.read_log();
        process
    }

    fn start_by(command: &mut Command) -> Self {
        Self::start_listening(ANY_PORT, command)
    }

    fn start_listening(udp: SocketAddr, command: &mut Command) -> Self {
        let mut child = command
            .args(["--listen", &udp.to_string(), "--http", &ANY_PORT.to_string()])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("metrics on http://") {
            assert_ne!(
                log.read_line(&mut said).unwrap(),
                0,
                "the server ended before it was ready:\n{said}"
            );
        }
        let udp = after(&said, "players join on UDP ").parse().unwrap();
        let metrics = after(&said, "metrics on http://");
        let http = metrics.strip_suffix("/metrics").unwrap().parse().unwrap();
        Self { child, said, logged: Arc::default(), unread: Some(log), udp, http }
    }

    /// Like [`ServerProcess::start`]; the server writes its log to `log`.
    ///
    /// # Panics
    /// If the server does not get ready.
    pub fn start_logging_to(log: Stdio, arguments: &[&str]) -> Self {
        let [udp, http] = [free_port(), free_port()];
        let mut child = Self::command(arguments)
            .args(["--listen", &udp.to_string(), "--http", &http.to_string()])
            .stderr(log)
            .spawn()
            .unwrap();
        let begin = Instant::now();
        while TcpStream::connect(http).is_err() {
            let ended = child.try_wait().unwrap();
            assert!(
                ended.is_none() && begin.elapsed() < HANG,
                "the server does not get ready; exit status: {ended:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { child, said: String::new(), logged: Arc::default(), unread: None, udp, http }
    }

    /// The program with these arguments, without the environment variables that could change its
    /// behaviour.
    pub fn command(arguments: &[&str]) -> Command {
        let mut command = Self::hermetic(program("server"));
        command.args(arguments);
        command
    }

    fn hermetic(program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_remove("RUST_LOG");
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("ARENA_") {
                command.env_remove(variable);
            }
        }
        command
    }

    /// The text after `words` in the output that the server wrote until it was ready.
    ///
    /// # Panics
    /// If the output lacks these words.
    pub fn said(&self, words: &str) -> &str {
        after(&self.said, words)
    }

    /// Starts to read the log.
    pub fn read_log(&mut self) {
        let Some(mut log) = self.unread.take() else { return };
        let logged = Arc::clone(&self.logged);
        std::thread::spawn(move || {
            let mut line = String::new();
            while log.read_line(&mut line).is_ok_and(|length| length > 0) {
                logged.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
    }

    /// Closes the reading end of the log, unless a thread reads the log.
    pub fn close_log(&mut self) {
        self.unread = None;
    }

    /// Waits for a logged line that contains `words`, and returns it.
    ///
    /// # Panics
    /// If no such line comes.
    pub fn logged(&self, words: &str) -> String {
        let begin = Instant::now();
        loop {
            let logged = self.logged.lock().unwrap().clone();
            if let Some(line) = logged.lines().find(|line| line.contains(words)) {
                return line.to_owned();
            }
            assert!(begin.elapsed() < HANG, "no {words:?} in\n{logged}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The server's log, as far as it has been read.
    ///
    /// # Panics
    /// If the reading thread has panicked.
    pub fn log(&self) -> String {
        self.said.clone() + &self.logged.lock().unwrap()
    }

    /// Sends a signal, such as `TERM`.
    ///
    /// # Panics
    /// If the process is gone.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(status.unwrap().success());
    }

    /// Waits until the process ends, and returns its exit code.
    ///
    /// # Panics
    /// If the system cannot wait for it.
    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The memory of the process in bytes, now and at its peak; `None` where the system has no
    /// `/proc`.
    pub fn memory(&self) -> Option<[u64; 2]> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let field = |name: &str| {
            let kilobytes = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(kilobytes.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
        };
        Some([field("VmRSS:")?, field("VmHWM:")?])
    }

    /// The number of open descriptors; `None` where the system has no `/proc`.
    pub fn descriptors(&self) -> Option<usize> {
        Some(std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).ok()?.count())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // This fails if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text after `words`, up to the end of the line, or of the JSON string that contains them.
fn after<'a>(said: &'a str, words: &str) -> &'a str {
    let line = said.lines().find_map(|line| Some(line.split_once(words)?.1));
    let line = line.unwrap_or_else(|| panic!("no {words:?} in\n{said}"));
    line.split('"').next().unwrap_or_default().trim()
}

/// A loopback port that was free for UDP and TCP a moment ago.
fn free_port() -> SocketAddr {
    loop {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = tcp.local_addr().unwrap();
        if UdpSocket::bind(address).is_ok() {
            return address;
        }
    }
}
