//! Compares everything that is valid until a date with the wall clock every minute, even if the
//! clock was set meanwhile: the certificate, and bans and mutes that end.

use std::sync::Arc;
use std::time::Duration;

use tracing::warn;

use crate::common::clock::{Clock, Reading, Steps};
use crate::door::AccessRules;
use crate::network::Renewal;

/// Time between two checks. If the machine sleeps, the next check comes when the rest of this time
/// has passed after the sleep.
const INTERVAL: Duration = Duration::from_secs(60);

/// Checks every minute, for as long as it is polled.
pub(crate) async fn watch(clock: Clock, access: Arc<AccessRules>, renewal: Arc<Renewal>) {
    every_minute(clock, move |now| {
        follow(now, &access);
        renewal.renew_if_due();
    })
    .await;
}

/// Calls `check` every minute on a separate thread, because `check` may wait for the disk, and
/// players must not.
async fn every_minute(clock: Clock, check: impl Fn(Reading) + Send + Sync + 'static) {
    let check = Arc::new(check);
    let mut steps = Steps::since(clock.now());
    loop {
        tokio::time::sleep(INTERVAL).await;
        let now = clock.now();
        if let Some(seconds) = steps.next(now) {
            let direction = if seconds > 0 { "forward" } else { "back" };
            warn!("this machine's clock was set {direction} by {} s", seconds.unsigned_abs());
        }
        let check = Arc::clone(&check);
        let checked = tokio::task::spawn_blocking(move || check(now)).await;
        if let Err(Ok(panic)) = checked.map_err(tokio::task::JoinError::try_into_panic) {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Keeps bans and mutes at their intended length if the clock was set.
fn follow(now: Reading, access: &AccessRules) {
    for (list, what) in [(&access.bans, "bans"), (access.mutes.list(), "mutes")] {
        match list.follow_clock(now) {
            Ok(0) => {}
            Ok(moved) => {
                warn!(
                    "the ends of {moved} {what} of this run were moved with the clock, so that \
                     they last as long as intended"
                );
            }
            Err(error) => {
                warn!(
                    "the ends of {what} of this run were moved with the clock, but not saved: \
                     {error}"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use super::*;

    /// A disk that hangs while the certificate is read.
    #[tokio::test(start_paused = true)]
    async fn a_check_that_waits_for_the_disk_holds_up_nobody() {
        let ((began, begins), (go, gone)) = (channel(), channel::<()>());
        let gone = Mutex::new(gone);
        let watching = tokio::spawn(every_minute(Clock::by_hand(5), move |now| {
            began.send(now.unix()).unwrap();
            // The check goes on only after the event loop of the test has turned.
            gone.lock().unwrap().recv_timeout(Duration::from_secs(20)).unwrap();
        }));
        tokio::time::sleep(INTERVAL - Duration::from_millis(1)).await;
        assert!(begins.try_recv().is_err(), "the first check waits for a minute");
        tokio::time::advance(Duration::from_millis(1)).await;
        let checked = loop {
            tokio::task::yield_now().await;
            if let Ok(checked) = begins.try_recv() {
                break checked;
            }
        };
        assert_eq!(checked, 5);
        go.send(()).unwrap();
        assert!(!watching.is_finished());
        watching.abort();
    }
}
