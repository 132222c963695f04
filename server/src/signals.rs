//! Signals by which a person, a terminal or a service manager asks this process to end, and one
//! that would kill it without need.

use std::io;

/// Receives signals from the moment it is made.
pub(crate) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    /// `None` if this process was started to outlive its terminal.
    #[cfg(unix)]
    hang_up: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    /// Takes over the signals from the system. It must be called within a tokio runtime.
    pub(crate) fn new() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let hang_up =
                (!is_hang_up_ignored()).then(|| signal(SignalKind::hangup())).transpose()?;
            Ok(Self {
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
                hang_up,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits for the next signal that asks for the end, and returns its name.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> &'static str {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = hang_up => "SIGHUP",
        }
    }

    /// Waits for the next Ctrl-C.
    #[cfg(unix)]
    pub(crate) async fn interrupted(&mut self) {
        self.interrupt.recv().await;
    }

    /// Waits for the next Ctrl-C.
    #[cfg(not(unix))]
    pub(crate) async fn interrupted(&mut self) {
        self.next().await;
    }

    /// Waits for the next Ctrl-C, the only such signal of this system.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) -> &'static str {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        "Ctrl-C"
    }
}

/// Whether this process was started to ignore SIGHUP, as `nohup` does. Handling the signal would
/// undo that.
#[cfg(target_os = "linux")]
fn is_hang_up_ignored() -> bool {
    /// The bit of SIGHUP, the first signal, in a mask of signals.
    const HANG_UP: u64 = 1;
    let status = procfs::process::Process::myself().and_then(|process| process.status());
    status.is_ok_and(|status| status.sigign & HANG_UP != 0)
}

/// This system does not report whether SIGHUP is ignored.
#[cfg(all(unix, not(target_os = "linux")))]
fn is_hang_up_ignored() -> bool {
    false
}

/// Turns a limit of file sizes (`ulimit -f`) into an error of the write that exceeds it. By
/// default, the system would kill the process with SIGXFSZ.
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let _context = runtime.enter();
        // The handler stays as long as the process lives. Nobody needs the signals that it
        // receives.
        drop(signal(SignalKind::from_raw(libc::SIGXFSZ))?);
    }
    Ok(())
}
