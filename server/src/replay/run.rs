//! Replaying a recording: the same map and commands again, and the first tick whose
//! digest differs.

use std::fmt;
use std::sync::Arc;

use obsp_sim::{Command, EntityId, World};

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

/// The first tick after which a match is not what it was when recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The tick; 0 is the match before its first.
    pub tick: u64,
    /// The last tick known to be equal, if any is.
    pub equal_at: Option<u64>,
    /// The difference.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {} differs: {}", self.tick, self.what)?;
        match self.equal_at {
            Some(tick) => write!(f, "; equal up to tick {tick}"),
            None => write!(f, "; it was set up differently"),
        }
    }
}

/// Runs what `reader` holds on `map`, up to the first difference or to where the
/// recording breaks off. Every digest in the recording is compared, and so are
/// the names of all who join.
///
/// # Errors
/// The match cannot be set up.
pub fn verify(reader: &mut Reader, map: Arc<obsp::World>) -> Result<Outcome, ReplayError> {
    let header = reader.header().clone();
    let mut world = World::new(map, obsp::model::shipped().into(), header.config())?;
    let mut commands: Vec<(EntityId, Command)> = Vec::new();
    let digest = world.digest();
    let mut outcome = Outcome {
        ticks: 0,
        verified: 0,
        digest,
        difference: None,
        incomplete: None,
        recorded_by: header.build.clone(),
    };
    let mut equal_at = None;
    let differs = |tick, equal_at, what| Some(Difference { tick, equal_at, what });
    if outcome.digest != header.digest {
        outcome.difference = differs(0, None, digests(header.digest, outcome.digest));
        return Ok(outcome);
    }
    equal_at.replace(0);
    outcome.verified += 1;
    loop {
        let tick = match reader.next_tick() {
            Ok(Some(tick)) => tick,
            Ok(None) => break,
            Err(error) => {
                outcome.incomplete = Some(error.to_string());
                break;
            }
        };
        let number = outcome.ticks + 1;
        for id in tick.left {
            world.leave(id);
            commands.retain(|(other, _)| *other != id);
        }
        for (id, kind) in tick.joined {
            let joined = world.join_as(kind);
            if joined != Ok(id) {
                let what = format!("{id:?} joined, now it is {joined:?}");
                outcome.difference = differs(number, equal_at, what);
                return Ok(outcome);
            }
            commands.push((id, Command::default()));
        }
        for (id, command) in tick.commands {
            let known = commands.iter_mut().find(|(other, _)| *other == id);
            if let Some((_, known)) = known {
                *known = command;
            }
        }
        world.step(&commands);
        outcome.ticks = number;
        let Some(recorded) = tick.digest else { continue };
        outcome.digest = world.digest();
        if outcome.digest != recorded {
            let what = digests(recorded, outcome.digest);
            outcome.difference = differs(number, equal_at, what);
            return Ok(outcome);
        }
        equal_at = Some(number);
        outcome.verified += 1;
    }
    outcome.digest = world.digest();
    Ok(outcome)
}

fn digests(recorded: u64, now: u64) -> String {
    format!("its digest was {recorded:016x} and is {now:016x}")
}
