//! One stretch of a recording: from a keyframe to the next, or to the end.

use std::sync::Arc;

use obsp_game::AnyGame;
use obsp_recording::{Difference, Keyframe, Playback};
use obsp_sim::audit::{Audit, Passages};
use obsp_sim::{SetupError, World};

use super::ReplayError;
use crate::matches::recording::{Recording, RecordingError};

/// The outcome of a stretch.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) ticks: u64,
    pub(super) verified: u64,
    pub(super) audited: u64,
    /// The digest after the last tick.
    pub(super) digest: u64,
    pub(super) difference: Option<Difference>,
    pub(super) finding: Option<(u64, String)>,
    /// Why the recording is damaged in this stretch: it has a part that no server wrote.
    pub(super) damage: Option<String>,
}

impl Found {
    /// Whether the replay ends with this stretch. After a difference or damage, later stretches
    /// prove nothing.
    pub(super) fn ends(&self) -> bool {
        self.difference.is_some() || self.damage.is_some()
    }
}

/// Runs stretches one after another.
pub(super) struct Runner<'a> {
    pub(super) game: &'a dyn AnyGame,
    pub(super) recording: &'a Recording,
    pub(super) map: &'a Arc<obsp::Map>,
    pub(super) audits: bool,
}

impl Runner<'_> {
    /// Runs the stretch of this number.
    ///
    /// # Errors
    /// The match cannot be set up on the map.
    pub(super) fn run(&self, number: usize) -> Result<Found, ReplayError> {
        let mut found = Found::default();
        match self.play(number, &mut found) {
            Ok(()) => {}
            Err(Stop::Setup(error)) => return Err(error.into()),
            Err(Stop::Damaged(why)) => found.damage = Some(why),
        }
        Ok(found)
    }

    fn play(&self, number: usize, found: &mut Found) -> Result<(), Stop> {
        let keyframe = self.recording.keyframe(number)?;
        let mut playback = self.begin(&keyframe)?;
        let mut judges = self.audits.then(|| self.judges()).transpose()?;
        if let Some(judges) = &mut judges {
            // This is the state after the last tick of the previous stretch, which has counted it
            // already.
            judges.judge(playback.tick(), playback.world(), found);
        }
        let end = self.recording.keyframes().nth(number + 1);
        for tick in self.recording.ticks_after(number)? {
            if playback.difference().is_some() || Some(playback.tick()) == end {
                break;
            }
            playback.step(&tick?);
            found.ticks += 1;
            if let Some(judges) = &mut judges {
                found.audited += 1;
                judges.judge(playback.tick(), playback.world(), found);
            }
        }
        found.digest = playback.game().digest();
        if playback.difference().is_none() && end.is_some() {
            self.meets(&mut playback, number + 1)?;
        }
        found.verified = playback.verified();
        found.difference = playback.difference().cloned();
        Ok(())
    }

    /// Loads the match of a keyframe. For the keyframe before the first tick, the match is also set
    /// up as the server did, and both are compared.
    fn begin(&self, keyframe: &Keyframe) -> Result<Playback, Stop> {
        let map = Arc::clone(self.map);
        let loaded = Playback::at(self.recording, keyframe, Arc::clone(&map), self.game);
        let loaded = loaded.map_err(|error| Stop::Damaged(self.names(keyframe.tick, error)))?;
        if keyframe.tick > 0 {
            return Ok(loaded);
        }
        let mut set_up = Playback::new(self.recording, map, self.game)?;
        set_up.compare(loaded.game().digest());
        Ok(set_up)
    }

    /// Checks that the match equals the match in the next keyframe.
    fn meets(&self, playback: &mut Playback, next: usize) -> Result<(), Stop> {
        let keyframe = self.recording.keyframe(next)?;
        let digest = playback.game().digest();
        let loaded = playback.go_to(&keyframe);
        loaded.map_err(|error| Stop::Damaged(self.names(keyframe.tick, error)))?;
        if playback.game().digest() != digest {
            let tick = keyframe.tick;
            return Err(Stop::Damaged(format!(
                "the keyframe at tick {tick} differs from the ticks before it"
            )));
        }
        Ok(())
    }

    fn names(&self, tick: u64, error: obsp_game::LoadMatchError) -> String {
        format!("the keyframe at tick {tick} cannot be loaded: {error}")
    }

    fn judges(&self) -> Result<Judges, SetupError> {
        let (models, rate) = (
            self.game.with_file(self.recording.game_file()).models(self.map),
            self.recording.header().config().tick_rate,
        );
        Ok(Judges {
            audit: Audit::new(self.map, &models)?,
            passages: Passages::new(self.map, &models, rate)?,
        })
    }
}

/// Why a stretch ended early.
enum Stop {
    Setup(SetupError),
    Damaged(String),
}

impl From<SetupError> for Stop {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl From<RecordingError> for Stop {
    fn from(error: RecordingError) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// The audits that judge ticks by brute force.
struct Judges {
    audit: Audit,
    passages: Passages,
}

impl Judges {
    fn judge(&mut self, tick: u64, world: &World, found: &mut Found) {
        let state = world.state();
        let fault = self.audit.check_match(world).into_iter().next();
        self.passages.note_pockets(&world.pockets());
        let ways = self.passages.judge(&state, world.relocations());
        let tunnelled = ways.tunnelled.into_iter().next();
        let misplaced = ways.misplaced.into_iter().next();
        let fault = fault.map(|fault| fault.to_string());
        let tunnelled = tunnelled
            .map(|found| format!("entity {} came through {:?}", found.body.slot, found.through));
        let misplaced = misplaced
            .map(|found| format!("an entity is not where the match has put it: {found:?}"));
        if let Some(what) = fault.or(tunnelled).or(misplaced) {
            found.finding.get_or_insert((tick, what));
        }
    }
}
