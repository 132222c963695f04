//! The signals that this process handles. Some ask it to end. SIGHUP asks it to read its files
//! again. SIGXFSZ, which kills a process by default, is caught, so that only the write fails.

use std::io;

/// The signals. Once this value is made, the system's defaults for them no longer apply.
pub(crate) struct Signals {
    ends: Ends,
    hang_ups: HangUps,
}

/// A request to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// The name of the signal.
    pub(crate) signal: &'static str,
    /// Whether the system lets the process live until players have finished. If not, it kills the
    /// process after a few seconds.
    pub(crate) may_wait: bool,
}

/// Receives the signals that ask for the end.
pub(crate) struct Ends {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
    #[cfg(windows)]
    terminate: tokio::signal::windows::CtrlBreak,
    #[cfg(windows)]
    close: tokio::signal::windows::CtrlClose,
    #[cfg(windows)]
    shut_down: tokio::signal::windows::CtrlShutdown,
}

/// Receives SIGHUP, which asks for a reload. A terminal that is closed sends it, too.
pub(crate) struct HangUps {
    /// `None` if this process was started to ignore the signal.
    #[cfg(unix)]
    hang_up: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    /// Takes over the signals from the system. It must be called within a tokio runtime.
    #[cfg(unix)]
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hang_up = (!is_hang_up_ignored()).then(|| signal(SignalKind::hangup())).transpose()?;
        let terminate = signal(SignalKind::terminate())?;
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { ends: Ends { terminate, interrupt }, hang_ups: HangUps { hang_up } })
    }

    /// Takes over the signals from the system. It must be called within a tokio runtime.
    #[cfg(windows)]
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
        let ends = Ends {
            interrupt: ctrl_c()?,
            terminate: ctrl_break()?,
            close: ctrl_close()?,
            shut_down: ctrl_shutdown()?,
        };
        Ok(Self { ends, hang_ups: HangUps {} })
    }

    /// The receivers of the signals, for the parts that wait for them.
    pub(crate) fn split(self) -> (Ends, HangUps) {
        (self.ends, self.hang_ups)
    }
}

impl HangUps {
    /// Waits for the next SIGHUP.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(hang_up) = &mut self.hang_up
            && hang_up.recv().await.is_some()
        {
            return;
        }
        // Other systems have no such signal.
        std::future::pending().await
    }
}

impl Ends {
    /// Waits for the next signal that asks for the end.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> Request {
        let signal = tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        };
        Request { signal, may_wait: true }
    }

    /// Waits for the next event of the console that asks for the end. Windows kills the process
    /// about five seconds after its console was closed, and soon after the start of a shutdown.
    #[cfg(windows)]
    pub(crate) async fn next(&mut self) -> Request {
        let (signal, may_wait) = tokio::select! {
            _ = self.interrupt.recv() => ("Ctrl-C", true),
            _ = self.terminate.recv() => ("Ctrl-Break", true),
            _ = self.close.recv() => ("close of the console", false),
            _ = self.shut_down.recv() => ("shutdown of the system", false),
        };
        Request { signal, may_wait }
    }

    /// Waits for the next signal after which the process must not wait any longer: Ctrl-C, and on
    /// Windows also the close of the console or the shutdown of the system. Returns the signal's
    /// name.
    pub(crate) async fn interrupted(&mut self) -> &'static str {
        #[cfg(unix)]
        {
            self.interrupt.recv().await;
            "SIGINT"
        }
        #[cfg(windows)]
        tokio::select! {
            _ = self.interrupt.recv() => "Ctrl-C",
            _ = self.close.recv() => "close of the console",
            _ = self.shut_down.recv() => "shutdown of the system",
        }
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
