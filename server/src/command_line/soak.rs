//! The soak: a whole match without a network, played by scripts as fast as one thread can, and
//! audited while it runs.
//!
//! A [`Script`] plays one player. On a map with movers and items the player also has errands
//! (`errand`). A player who cannot move on struggles for a while instead (`struggle`). [`soak`]
//! sets up the match, feeds it the scripts' commands, times each tick by itself, and has the result
//! judged. [`obsp_sim::audit`] finds overlaps, paths that led through things, and bodies whose
//! positions contradict their relocations. [`StuckWatch`] finds players who cannot get away, and
//! [`Outside`] finds bodies that leave the map. [`Played`] counts what the map's entities did. The
//! [`Report`] has every figure, and the events, values and scores that the game sent its players
//! ([`Outcome`]). A [`Dump`] writes the poses and velocities of all entities to a file, so that
//! others can audit the match with their own programs.

mod dump;
mod errand;
mod options;
mod outcome;
mod outside;
mod played;
mod report;
mod run;
mod script;
mod struggle;

pub use dump::Dump;
pub use options::SoakOptions;
pub use outcome::{Outcome, PlayerOutcome};
pub use outside::Outside;
pub use played::Played;
pub use report::{CascadeStage, Finding, Report, TickTimes, TimeOfImpact};
pub use run::{SoakError, soak, soak_game};
pub use script::Script;

pub use crate::matches::tick_thread::stuck::StuckWatch;
