//! Looks at the wall clock every minute, however it was set meanwhile, for all that is valid until
//! a date: the certificate, and bans and mutes that last for a time.

use std::sync::Arc;
use std::time::Duration;

use tracing::warn;

use crate::access_rules::AccessRules;
use crate::clock::{Clock, Steps};
use crate::network::Renewal;

/// Time between two looks. After a sleep of the machine the rest of it passes first.
const INTERVAL: Duration = Duration::from_secs(60);

/// Looks every minute, for as long as it is polled.
pub(crate) async fn watch(clock: Clock, access: Arc<AccessRules>, renewal: Arc<Renewal>) {
    let mut steps = Steps::since(clock.now());
    loop {
        tokio::time::sleep(INTERVAL).await;
        look(&mut steps, &clock, &access);
        renewal.look();
    }
}

/// Notices that the clock was set, and lets bans last for the time that they were meant to.
fn look(steps: &mut Steps, clock: &Clock, access: &AccessRules) {
    let Some(seconds) = steps.next(clock.now()) else { return };
    let direction = if seconds > 0 { "forward" } else { "back" };
    warn!("this machine's clock was set {direction} by {} s", seconds.unsigned_abs());
    for (list, what) in [(&access.bans, "bans"), (access.mutes.list(), "mutes")] {
        match list.clock_was_set(seconds) {
            Ok(0) => {}
            Ok(moved) => {
                warn!(
                    "{moved} {what} of this run were moved with it, to last as long as was meant"
                );
            }
            Err(error) => warn!("{what} of this run were moved with it: {error}"),
        }
    }
}
