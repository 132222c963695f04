//! The audit of a match while it is served (`--audit-every`). It checks published states by brute
//! force, in a thread of its own, so that the tick never waits for it. The faults that it finds are
//! counted and logged.

use std::sync::Arc;

use obsp_sim::audit::Audit;
use tokio::runtime::Builder;
use tracing::error;

use super::level::Level;
use super::match_handle::MatchHandle;
use crate::common::error::{RunError, StartError};
use crate::common::stop::Stop;

/// Maximum number of faults per audit that are logged.
const MAX_LOGGED: usize = 5;

fn audit_of(level: &Level) -> Result<Audit, StartError> {
    let map = &level.world_map;
    Audit::new(map, &level.models)
        .map_err(|source| StartError::Setup { map: map.name().to_owned(), source })
}

/// An audit that is ready to run.
pub(crate) struct AuditThread {
    audit: Audit,
    /// The number of the level that the audit was made for.
    level: u64,
    game: Arc<MatchHandle>,
    /// Minimum number of ticks between the starts of two audits. There are more if an audit takes
    /// longer.
    every: u64,
}

impl AuditThread {
    /// Makes an audit of the match of `game` that runs every `every` ticks.
    pub(crate) fn new(game: &Arc<MatchHandle>, every: u32) -> Result<Self, StartError> {
        let level = game.level();
        let (audit, level) = (audit_of(&level)?, level.number);
        Ok(Self { audit, level, game: Arc::clone(game), every: every.into() })
    }

    /// Audits the match until `stop` is requested.
    pub(crate) fn run(mut self, stop: &Stop) -> Result<(), RunError> {
        let runtime = Builder::new_current_thread().build().map_err(RunError::Http)?;
        let mut states = self.game.latest.clone();
        let mut due = 0;
        loop {
            let next = runtime.block_on(async {
                tokio::select! {
                    next = states.wait_for(|published| published.state.tick >= due) => next.ok().map(|published| Arc::clone(&published)),
                    () = stop.requested() => None,
                }
            });
            let Some(published) = next else { return Ok(()) };
            due = published.state.tick + self.every;
            if published.level.number != self.level {
                match audit_of(&published.level) {
                    Ok(audit) => (self.audit, self.level) = (audit, published.level.number),
                    Err(error) => {
                        error!("cannot audit this level: {error}");
                        continue;
                    }
                }
            }
            self.audit.note_pockets(&published.pockets);
            let found = self.audit.check(&published.state);
            self.game.telemetry.tick.audited(found.len());
            for fault in found.iter().take(MAX_LOGGED) {
                error!("tick {}: {fault}; please report it", published.state.tick);
            }
        }
    }
}
