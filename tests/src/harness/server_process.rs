//! The server as an operator starts it: a process of its own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use super::program;

/// A server process, ended with the test whatever comes.
pub struct ServerProcess {
    child: Child,
    /// What it said until it served.
    said: String,
    /// Where players join.
    pub udp: SocketAddr,
    /// Where its pages are.
    pub http: SocketAddr,
}

impl ServerProcess {
    /// Starts a server on ports that are free, and waits until it serves.
    ///
    /// # Panics
    /// If it does not.
    pub fn start(arguments: &[&str]) -> Self {
        let any_port = "127.0.0.1:0";
        let mut child = Command::new(program("server"))
            .args(arguments)
            .args(["--listen", any_port, "--http", any_port])
            .env_remove("RUST_LOG")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("metrics on http://") {
            assert_ne!(log.read_line(&mut said).unwrap(), 0, "it ended:\n{said}");
        }
        // Whoever logs into a pipe that nobody reads stands still one day.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        let udp = after(&said, "players join on UDP ").parse().unwrap();
        let metrics = after(&said, "metrics on http://");
        let http = metrics.strip_suffix("/metrics").unwrap().parse().unwrap();
        Self { child, said, udp, http }
    }

    /// What follows `words` on the line of those it said at its start that has
    /// them.
    ///
    /// # Panics
    /// If it said no such thing.
    pub fn said(&self, words: &str) -> &str {
        after(&self.said, words)
    }

    /// Sends a signal, such as `TERM`.
    ///
    /// # Panics
    /// If there is nobody to send it to.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(status.unwrap().success());
    }

    /// Waits until it ends, and gives its exit code.
    ///
    /// # Panics
    /// If the system does not tell.
    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Bytes of memory that it holds, and the most that it ever held; `None`
    /// where the system does not tell.
    pub fn memory(&self) -> Option<[u64; 2]> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let field = |name: &str| {
            let kilobytes = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(kilobytes.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
        };
        Some([field("VmRSS:")?, field("VmHWM:")?])
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // One that has ended cannot be ended again.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn after<'a>(said: &'a str, words: &str) -> &'a str {
    let line = said.lines().find_map(|line| Some(line.split_once(words)?.1));
    line.unwrap_or_else(|| panic!("no {words:?} in\n{said}")).trim()
}
