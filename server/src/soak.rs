//! The soak: a whole match without a network, played by scripts as fast as
//! one thread can, and held to the promise while it runs.
//!
//! [`Script`] is what a player does, who struggles once that leads nowhere; [`soak`] sets up the match, feeds it the
//! scripts' commands, times each tick by itself and has what comes out judged:
//! overlaps, ways through things, and what is where nobody put it by [`obsp_sim::audit`], players
//! who cannot get away by [`StuckWatch`], bodies that get out of the map by [`Outside`]. The [`Report`] has every
//! figure, and what the game told its players ([`Outcome`]); a [`Dump`] writes down where
//! everything was, so that anybody can judge for themselves.

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
