//! Replaying a recording: the same map and commands again, and the first tick whose
//! digest differs.

use std::fmt;
use std::sync::Arc;

use obsp_recording::{Difference, Playback};

use super::ReplayError;
use crate::build;
use crate::recording::Reader;

/// How a replay went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Ticks that were run.
    pub ticks: u64,
    /// Digests that were compared and equal.
    pub verified: u64,
    /// Digest of the match at the end.
    pub digest: u64,
    /// Where the match first went another way.
    pub difference: Option<Difference>,
    /// Why the recording could not be read to its end, if that is so: it was cut
    /// off, or is damaged. What was verified comes before.
    pub incomplete: Option<String>,
    /// The build that recorded the match; empty if the recording does not say.
    pub recorded_by: String,
}

impl Outcome {
    /// Whether the recording is complete and the match was the same.
    pub fn passed(&self) -> bool {
        self.difference.is_none() && self.incomplete.is_none()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ticks, verified, digest, difference, incomplete, recorded_by } = self;
        match difference {
            None => write!(f, "{ticks} ticks, {verified} digests equal, the last {digest:016x}")?,
            Some(difference) => write!(f, "{difference}\n{}", advice(recorded_by))?,
        }
        match incomplete {
            None => Ok(()),
            Some(why) => write!(f, "\nincomplete: {why}"),
        }
    }
}

/// The advice for a match that differs, by the build that recorded it.
fn advice(recorded_by: &str) -> String {
    let own = build::name();
    if recorded_by == own {
        return format!("recorded by this build, {own}: please report it with the recording");
    }
    let by = match recorded_by {
        "" => "by a build that it does not name".to_owned(),
        // A file may come from anyone.
        build => format!("by build {}", build.escape_debug()),
    };
    format!("recorded {by}, and this is {own}: replay it with the server that recorded it")
}

/// Runs what `reader` holds on `map`, up to the first difference or to where the
/// recording breaks off. Every digest in the recording is compared, and so are
/// the names of all who join.
///
/// # Errors
/// The match cannot be set up.
pub fn verify(reader: &mut Reader, map: Arc<obsp::World>) -> Result<Outcome, ReplayError> {
    let header = reader.header().clone();
    let mut playback = Playback::new(&header, map)?;
    let mut incomplete = None;
    while playback.difference().is_none() {
        match reader.next_tick() {
            Ok(Some(tick)) => playback.step(&tick),
            Ok(None) => break,
            Err(error) => {
                incomplete = Some(error.to_string());
                break;
            }
        }
    }
    Ok(Outcome {
        ticks: playback.tick(),
        verified: playback.verified(),
        digest: playback.digest(),
        difference: playback.difference().cloned(),
        incomplete,
        recorded_by: header.build,
    })
}
