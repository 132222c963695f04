//! Changes while the server runs: the outcome of reading options and files again, and all that is
//! compared with the wall clock every minute ([`minute`]).

pub(crate) mod minute;

use std::sync::Arc;

use serde::Serialize;

/// Reads again everything that may change. The argument names who asks for it. The call waits for
/// the disk.
pub(crate) type Reloads = Arc<dyn Fn(&str) -> Report + Send + Sync>;

/// The outcome of a reload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Report {
    /// The changes, a sentence each.
    pub(crate) changed: Vec<String>,
    /// Options that have changed and take effect only at the next start.
    pub(crate) needs_restart: Vec<String>,
    /// The parts that could not be read, and why. Their old values stay.
    pub(crate) refused: Vec<String>,
}

impl std::fmt::Display for Report {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let restart = self.needs_restart.iter().map(|option| format!("{option} needs a restart"));
        let all: Vec<_> =
            self.refused.iter().chain(&self.changed).cloned().chain(restart).collect();
        let nothing = "nothing has changed";
        formatter.write_str(&if all.is_empty() { nothing.to_owned() } else { all.join("; ") })
    }
}
