use std::fmt;

use serde::Serialize;

use super::Difference;
use crate::matches::recording::build;

/// The outcome of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The tick before the first that was run.
    pub from: u64,
    /// Ticks that were run.
    pub ticks: u64,
    /// Digests that were compared and equal.
    pub verified: u64,
    /// Digest of the match at the end, hexadecimal; empty if the end was not reached.
    pub digest: String,
    /// Ticks that were audited.
    pub audited: u64,
    /// The first tick in which the audit found something, and what it found.
    pub finding: Option<(u64, String)>,
    /// Where the match first differs from the recording.
    #[serde(serialize_with = "serialize_difference")]
    pub difference: Option<Difference>,
    /// Why the recording could not be read to its end: it was cut off, or is damaged. The ticks
    /// before that place were verified. `None` if it was read to its end.
    pub incomplete: Option<String>,
    /// The build that recorded the match; empty if the recording does not say.
    pub recorded_by: String,
}

/// A difference as the JSON report shows it.
#[derive(Serialize)]
struct DifferenceReport<'a> {
    tick: u64,
    equal_at: Option<u64>,
    what: &'a str,
}

impl<'a> From<&'a Difference> for DifferenceReport<'a> {
    fn from(Difference { tick, equal_at, what }: &'a Difference) -> Self {
        Self { tick: *tick, equal_at: *equal_at, what }
    }
}

fn serialize_difference<S: serde::Serializer>(
    difference: &Option<Difference>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    difference.as_ref().map(DifferenceReport::from).serialize(serializer)
}

impl Outcome {
    /// Whether the recording is complete, the match was equal to it, and the audit found nothing.
    pub fn passed(&self) -> bool {
        self.difference.is_none() && self.incomplete.is_none() && self.finding.is_none()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ticks, verified, digest, audited, recorded_by, .. } = self;
        match &self.difference {
            None => {
                if self.from > 0 {
                    write!(f, "from the keyframe at tick {}: ", self.from)?;
                }
                write!(f, "{ticks} ticks, {verified} digests equal, the last {digest}")?;
            }
            Some(difference) => write!(f, "{difference}\n{}", advice(recorded_by))?,
        }
        match &self.finding {
            Some((tick, what)) => write!(f, "\naudit, tick {tick}: {what}")?,
            None if *audited > 0 => write!(f, "\n{audited} ticks audited, nothing found")?,
            None => {}
        }
        match &self.incomplete {
            None => Ok(()),
            Some(why) => write!(f, "\nincomplete: {why}"),
        }
    }
}

/// The advice for a match that differs, by the build that recorded it.
fn advice(recorded_by: &str) -> String {
    let own = build::name();
    if recorded_by == own {
        return format!("recorded by this build, {own}: report the difference with the recording");
    }
    let by = match recorded_by {
        "" => "by a build that the recording does not name".to_owned(),
        // The name is escaped, because a file may come from anyone.
        build => format!("by build {}", build.escape_debug()),
    };
    format!("recorded {by}, and this is {own}: replay it with the server that recorded it")
}
