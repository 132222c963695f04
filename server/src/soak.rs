//! The soak: a whole match without a network, played by scripts as fast as one thread can, and
//! audited while it runs.
//!
//! [`Script`] plays one player, and lets the player struggle where the plan leads nowhere. [`soak`]
//! sets up the match, feeds it the scripts' commands, times each tick by itself, and has the result
//! judged. [`obsp_sim::audit`] finds overlaps, paths that led through things, and bodies that are
//! where nobody put them. [`StuckWatch`] finds players who cannot get away, and [`Outside`] finds
//! bodies that leave the map. The [`Report`] has every figure, and what the game told its players
//! ([`Outcome`]). A [`Dump`] writes down where everything was, so that anybody can judge for
//! themselves.

mod dump;
mod options;
mod outcome;
mod outside;
mod report;
mod run;
mod script;
mod struggle;

pub use dump::Dump;
pub use options::SoakOptions;
pub use outcome::{Outcome, PlayerOutcome};
pub use outside::Outside;
pub use report::{CascadeStage, Finding, Report, TickTimes, TimeOfImpact};
pub(crate) use run::nanoseconds;
pub use run::{SoakError, soak, soak_game};
pub use script::Script;

pub use crate::stuck::StuckWatch;
