use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

/// How this process reports to the service manager that started it. systemd sets these options in
/// the environment of a unit with `Type=notify`; nobody gives them by hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct ServiceOptions {
    /// Unix datagram socket to report to; one that begins with `@` is abstract
    #[arg(long, value_name = "SOCKET", env = "NOTIFY_SOCKET", hide = true)]
    pub notify_socket: Option<OsString>,

    /// Microseconds of silence after which the process is taken for hung
    #[arg(long, value_name = "USEC", env = "WATCHDOG_USEC", hide = true)]
    pub watchdog_usec: Option<u64>,

    /// The process that `watchdog_usec` is meant for
    #[arg(long, value_name = "PID", env = "WATCHDOG_PID", hide = true)]
    pub watchdog_pid: Option<u32>,

    /// Number of sockets that the service manager hands over instead of the addresses of
    /// `--listen`, `--http`, `--page` and `--query`
    #[arg(long, value_name = "N", env = "LISTEN_FDS", hide = true)]
    pub listen_fds: Option<u32>,

    /// The process that the sockets are meant for
    #[arg(long, value_name = "PID", env = "LISTEN_PID", hide = true)]
    pub listen_pid: Option<u32>,

    /// The names of the sockets, separated by colons: listen, http, page or query
    #[arg(long, value_name = "NAMES", env = "LISTEN_FDNAMES", hide = true)]
    pub listen_fdnames: Option<String>,
}

impl ServiceOptions {
    /// Time of silence after which this process is taken for hung. `None` if the service manager
    /// does not watch it.
    pub(crate) fn watchdog(&self) -> Option<Duration> {
        let is_ours = is_ours(self.watchdog_pid);
        self.watchdog_usec.filter(|&usec| usec > 0 && is_ours).map(Duration::from_micros)
    }

    /// Whether the service manager hands sockets over to this process.
    pub(crate) fn hands_over(&self) -> bool {
        self.listen_fds.is_some_and(|count| count > 0) && is_ours(self.listen_pid)
    }
}

/// Whether the options are meant for this process. Processes that it starts inherit its
/// environment.
fn is_ours(process: Option<u32>) -> bool {
    process.is_none_or(|process| process == std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watchdog_of_another_process_is_none_of_ours() {
        let options = |watchdog_pid| ServiceOptions {
            watchdog_usec: Some(3_000_000),
            watchdog_pid,
            ..ServiceOptions::default()
        };
        let silence = Some(Duration::from_secs(3));
        assert_eq!(options(None).watchdog(), silence);
        assert_eq!(options(Some(std::process::id())).watchdog(), silence);
        assert_eq!(options(Some(1)).watchdog(), None);
        assert_eq!(ServiceOptions::default().watchdog(), None);
    }

    #[test]
    fn sockets_of_another_process_are_none_of_ours() {
        let options = |listen_fds, listen_pid| ServiceOptions {
            listen_fds,
            listen_pid,
            ..ServiceOptions::default()
        };
        assert!(options(Some(1), None).hands_over());
        assert!(options(Some(2), Some(std::process::id())).hands_over());
        assert!(!options(Some(2), Some(1)).hands_over());
        assert!(!options(Some(0), None).hands_over() && !options(None, None).hands_over());
    }
}
