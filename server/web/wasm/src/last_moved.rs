//! The search for the tick in which a body of a replay last moved. It goes back by one keyframe at
//! a call, so that the page can do other work in between.

use obsp_game::LoadMatchError;
use obsp_recording::{Playback, Recording, RecordingError};
use obsp_sim::{EntityId, FallsAsleep};

/// A search for the last tick in which a body moved.
#[derive(Debug)]
pub(crate) struct LastMoved {
    /// The slot and the tick that were asked about.
    asked: (u16, u64),
    id: EntityId,
    pose: Option<Pose>,
    /// Whether only a push moves the body. Such a body has not moved between two ticks in which it
    /// lies at the same place. A body that its game drives may have moved and come back.
    rests: bool,
    /// Number of the keyframe from which to search next.
    number: usize,
    /// The tick since which the body is known not to have moved.
    since: u64,
    moved: Option<u64>,
    is_done: bool,
    /// A match of the same recording, in which the search runs ticks again.
    scratch: Playback,
}

/// Position and orientation.
type Pose = ([f64; 3], [f64; 4]);

/// The pose of a body; `None` if it is not in the world.
pub(crate) fn pose(playback: &Playback, id: EntityId) -> Option<Pose> {
    let state = playback.world().entity(id)?;
    Some((state.position.to_array(), state.orientation.to_array()))
}

impl LastMoved {
    /// Begins a search for the body `id`, from the tick that `shown` is at.
    pub(crate) fn new(
        recording: &Recording,
        scratch: Playback,
        shown: &Playback,
        id: EntityId,
    ) -> Self {
        let tick = shown.tick();
        let why = shown.world().why(id);
        Self {
            asked: (id.slot, tick),
            id,
            pose: pose(shown, id),
            rests: why.is_some_and(|why| why.falls_asleep == FallsAsleep::AtRest),
            number: recording.keyframe_before(tick.saturating_sub(1)),
            since: tick,
            moved: None,
            is_done: false,
            scratch,
        }
    }

    /// Whether this search is for the body in a slot, from a tick.
    pub(crate) fn is_for(&self, slot: u16, tick: u64) -> bool {
        self.asked == (slot, tick)
    }

    /// Reuses this search for the body `id` from the tick that `shown` is at, if the body still
    /// lies at the same place, so that the answer is the same. Returns whether it is reused.
    pub(crate) fn goes_on_for(&mut self, shown: &Playback, id: EntityId) -> bool {
        let is_same = self.rests && self.id == id && self.pose == pose(shown, id);
        if is_same {
            self.asked = (id.slot, shown.tick());
        }
        is_same
    }

    /// The match in which ticks are run again, for another search.
    pub(crate) fn into_scratch(self) -> Playback {
        self.scratch
    }

    /// Searches back to the next keyframe. Returns the result as JSON once the search has ended:
    /// the tick or `null`, and the tick since which the body has not moved.
    pub(crate) fn look_back(&mut self, recording: &Recording) -> Option<String> {
        if !self.is_done {
            // The search ends at ticks that cannot be played: it cannot search them, nor the ticks
            // before them.
            self.is_done = self.search_stretch(recording).unwrap_or(true);
        }
        let (since, moved) = (self.since, self.moved.map(|tick| tick.to_string()));
        let moved = moved.unwrap_or("null".to_owned());
        self.is_done.then(|| format!(r#"{{"moved":{moved},"since":{since}}}"#))
    }

    /// Searches the ticks from the next keyframe up to those that were searched before. Returns
    /// whether the search has ended.
    fn search_stretch(&mut self, recording: &Recording) -> Result<bool, Broken> {
        let keyframe = recording.keyframe(self.number)?;
        self.scratch.go_to(&keyframe)?;
        let mut before = pose(&self.scratch, self.id);
        if !self.rests || before != self.pose {
            for tick in recording.ticks_after(self.number)? {
                if self.scratch.tick() >= self.since {
                    break;
                }
                self.scratch.play(&tick?);
                let now = pose(&self.scratch, self.id);
                if now != before {
                    (before, self.moved) = (now, Some(self.scratch.tick()));
                }
            }
        }
        self.since = self.moved.unwrap_or(keyframe.tick);
        let is_first = self.number == 0;
        self.number = self.number.saturating_sub(1);
        Ok(is_first || self.moved.is_some())
    }
}

/// The error of a recording that cannot be played.
struct Broken;

impl From<RecordingError> for Broken {
    fn from(_: RecordingError) -> Self {
        Self
    }
}

impl From<LoadMatchError> for Broken {
    fn from(_: LoadMatchError) -> Self {
        Self
    }
}
