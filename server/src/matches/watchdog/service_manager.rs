//! Notifications to systemd: ready, watchdog, status, reloading and stopping.
//!
//! The socket is kept open and never blocks. The usual crates for `sd_notify` open one for each
//! report, and wait while the service manager is busy.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::warn;

use super::options::ServiceOptions;

/// Time between two reports if the service manager does not want them more often. The status that
/// `systemctl status` shows is hardly older.
const INTERVAL: Duration = Duration::from_secs(1);

/// Whether a server's matches tick. Matches that have failed are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ticking {
    /// No match ticks.
    None,
    /// Some matches tick, but not all.
    Some,
    /// All matches tick.
    All,
}

/// The service manager that supervises this process, and the state of the reports to it. A report
/// is one datagram of `KEY=VALUE` lines, by the protocol of `sd_notify(3)`. There is no answer to
/// it.
pub(crate) struct ServiceManager {
    notifier: Notifier,
    interval: Duration,
    is_ready: bool,
    next: Option<Instant>,
}

/// Sends reports to the service manager, if there is one. Clones send to the same service manager.
#[derive(Clone, Default)]
pub(crate) struct Notifier(Option<Arc<socket::Socket>>);

impl Notifier {
    /// Reports that the options and files are read again.
    pub(crate) fn reloading(&self) {
        // systemd compares this time with that of its request (`Type=notify-reload`).
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={}\n", monotonic_usec()));
    }

    /// Reports that the options and files were read.
    pub(crate) fn reloaded(&self) {
        self.tell("READY=1\n");
    }

    fn tell(&self, report: &str) {
        if let Some(socket) = &self.0
            && let Err(error) = socket.send(report)
        {
            tracing::debug!("cannot send a report to the service manager: {error}");
        }
    }
}

/// Microseconds of the monotonic clock.
#[cfg(target_os = "linux")]
fn monotonic_usec() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

/// Other systems have no service manager that needs this time.
#[cfg(not(target_os = "linux"))]
fn monotonic_usec() -> i64 {
    0
}

impl ServiceManager {
    /// The service manager that these options name, if they name one. If it cannot be reached, that
    /// is logged, and nothing is reported.
    pub(crate) fn new(options: &ServiceOptions) -> Self {
        let socket = options.notify_socket.as_deref().and_then(|name| {
            let opened = socket::Socket::connect(name);
            opened
                .inspect_err(|error| {
                    let name = name.display();
                    warn!("cannot report to the service manager at NOTIFY_SOCKET {name}: {error}");
                })
                .ok()
        });
        // The interval is half the time that the service manager waits, as systemd advises.
        let interval = options.watchdog().map_or(INTERVAL, |silence| INTERVAL.min(silence / 2));
        let notifier = Notifier(socket.map(Arc::new));
        Self { notifier, interval, is_ready: false, next: None }
    }

    /// A notifier by which other threads send reports to this service manager.
    pub(crate) fn notifier(&self) -> Notifier {
        self.notifier.clone()
    }

    /// Reports which matches tick, if a report is due. If any match ticks, the report has a sign of
    /// life. Once all tick, it says that the server is ready. `status` is for people.
    pub(super) fn report(&mut self, now: Instant, ticks: Ticking, status: impl Fn() -> String) {
        if self.notifier.0.is_none() || self.next.is_some_and(|next| now < next) {
            return;
        }
        self.next = Some(now + self.interval);
        let mut report = format!("STATUS={}\n", status());
        if ticks != Ticking::None {
            report.push_str("WATCHDOG=1\n");
        }
        if ticks == Ticking::All {
            if !self.is_ready {
                report.push_str("READY=1\n");
            }
            self.is_ready = true;
        }
        self.notifier.tell(&report);
    }

    /// Reports that the server is about to end.
    pub(crate) fn stopping(&self) {
        self.notifier.tell("STOPPING=1\nSTATUS=shutting down\n");
    }
}

#[cfg(unix)]
mod socket {
    use std::ffi::OsStr;
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    /// A datagram socket that is connected to the service manager's.
    pub(super) struct Socket(UnixDatagram);

    impl Socket {
        pub(super) fn connect(name: &OsStr) -> io::Result<Self> {
            let address = match name.as_bytes().strip_prefix(b"@") {
                Some(name) => abstract_address(name)?,
                None => SocketAddr::from_pathname(name)?,
            };
            let socket = UnixDatagram::unbound()?;
            socket.connect_addr(&address)?;
            // The match never waits for a service manager that is busy.
            socket.set_nonblocking(true)?;
            Ok(Self(socket))
        }

        pub(super) fn send(&self, report: &str) -> io::Result<()> {
            self.0.send(report.as_bytes()).map(|_| ())
        }
    }

    #[cfg(target_os = "linux")]
    fn abstract_address(name: &[u8]) -> io::Result<SocketAddr> {
        use std::os::linux::net::SocketAddrExt;
        SocketAddr::from_abstract_name(name)
    }

    #[cfg(not(target_os = "linux"))]
    fn abstract_address(_: &[u8]) -> io::Result<SocketAddr> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(not(unix))]
mod socket {
    use std::ffi::OsStr;
    use std::io;

    /// A stand-in: this system has no service manager that takes such reports.
    pub(super) struct Socket;

    impl Socket {
        pub(super) fn connect(_: &OsStr) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(super) fn send(&self, _: &str) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    use super::*;

    fn options(socket: String) -> ServiceOptions {
        let watchdog_usec = Some(800_000);
        ServiceOptions { notify_socket: Some(socket.into()), watchdog_usec, ..Default::default() }
    }

    /// All messages that wait in a socket.
    fn messages(socket: &UnixDatagram) -> Vec<String> {
        socket.set_nonblocking(true).unwrap();
        let mut buffer = [0; 500];
        std::iter::from_fn(|| {
            let length = socket.recv(&mut buffer).ok()?;
            Some(String::from_utf8(buffer[..length].into()).unwrap())
        })
        .collect()
    }

    /// The messages that a service manager behind this socket is sent from start to end.
    fn is_told_all(socket: &UnixDatagram, name: String) {
        let mut manager = ServiceManager::new(&options(name));
        let status = || "fine".to_owned();
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        manager.report(at(0), Ticking::None, status);
        manager.report(at(400), Ticking::Some, status);
        // The next report is not due yet.
        manager.report(at(700), Ticking::Some, status);
        manager.report(at(800), Ticking::All, status);
        manager.report(at(1200), Ticking::None, || "no tick".to_owned());
        manager.notifier().reloading();
        manager.notifier().reloaded();
        manager.stopping();
        let expected = [
            "STATUS=fine\n",
            "STATUS=fine\nWATCHDOG=1\n",
            "STATUS=fine\nWATCHDOG=1\nREADY=1\n",
            "STATUS=no tick\n",
            "READY=1\n",
            "STOPPING=1\nSTATUS=shutting down\n",
        ];
        let mut told = messages(socket);
        // systemd wants the time of its own clock, in microseconds.
        let reloading = told.remove(4);
        let time = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap().trim_end();
        assert!((0..=monotonic_usec()).contains(&time.parse().unwrap()), "{reloading}");
        assert_eq!(told, expected);
    }

    #[test]
    fn a_manager_is_told_of_start_life_and_end_at_a_path_and_at_an_abstract_name() {
        let path = std::env::temp_dir().join(format!("arena-notify-{}", std::process::id()));
        let socket = UnixDatagram::bind(&path).unwrap();
        is_told_all(&socket, path.display().to_string());
        std::fs::remove_file(path).unwrap();

        let name = format!("arena-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let socket = UnixDatagram::bind_addr(&address).unwrap();
        is_told_all(&socket, format!("@{name}"));
    }

    #[test]
    fn a_manager_that_is_not_there_or_does_not_listen_disturbs_nobody() {
        let mut manager = ServiceManager::new(&options("/nowhere/notify".into()));
        manager.report(Instant::now(), Ticking::All, String::new);
        manager.stopping();

        let name = format!("arena-deaf-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let socket = UnixDatagram::bind_addr(&address).unwrap();
        let mut manager = ServiceManager::new(&options(format!("@{name}")));
        let start = Instant::now();
        // The socket's buffer does not hold this many reports.
        for second in 0..100_000 {
            manager.report(start + Duration::from_secs(second), Ticking::All, String::new);
        }
        drop(socket);
        manager.stopping();
    }
}
