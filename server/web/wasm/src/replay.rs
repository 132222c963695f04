//! A recorded match that can be looked at wherever one likes, from the nearest keyframe, while
//! all of it is verified in the background from its beginning.

use std::collections::VecDeque;
use std::sync::Arc;

use obsp_game::arena::Arena;
use obsp_game::{AnyGame, LoadError};
use obsp_recording::{Difference, Keyframe, Playback, Recording, Ticks};
use obsp_sim::SetupError;
use obsp_sim::audit::Audit;

use crate::{json, why};

/// States that are kept on the way, beside the recorded keyframes, and the ticks between two
/// of them: what a step back has to run again at most.
const MAX_KEPT: usize = 48;
const KEPT_INTERVAL: u64 = 30;

/// Of so many ticks that are verified one is audited, by brute force.
const AUDIT_INTERVAL: u64 = 60;

/// A recorded match.
#[derive(Debug)]
pub struct Replay {
    recording: Recording,
    map: Arc<obsp::World>,
    /// The match as far as it has been verified; `None` before it begins.
    verifying: Option<Verifying>,
    shown: Playback,
    /// The ticks after the one that is shown.
    next: Ticks,
    /// States from which others can be shown, the latest last.
    kept: VecDeque<Keyframe>,
    /// Why it cannot be played to its end, if that is so.
    broken: Option<String>,
}

/// A match on its way from the beginning to the end.
#[derive(Debug)]
struct Verifying {
    playback: Playback,
    ticks: Ticks,
    audit: Audit,
    audited: u64,
    /// The first tick in which the audit found something, and how many overlaps.
    finding: Option<(u64, usize)>,
}

impl Replay {
    /// The recorded match on its map.
    ///
    /// # Errors
    /// The recording is damaged, or not of a match that this build plays.
    pub fn new(recording: Recording, map: Arc<obsp::World>) -> Result<Self, String> {
        let played = Arena.game_name();
        if recording.header().game != played {
            return Err(format!("it is of another game than {played}"));
        }
        let first = recording.keyframe(0).map_err(|error| error.to_string())?;
        let shown = Playback::at(&first, Arc::clone(&map), &Arena);
        let shown = shown.map_err(|error: LoadError| error.to_string())?;
        let next = recording.ticks_after(0).map_err(|error| error.to_string())?;
        let (verifying, kept, broken) = (None, VecDeque::new(), None);
        Ok(Self { recording, map, verifying, shown, next, kept, broken })
    }

    /// Verifies so many more ticks, as far as there are; the first call sets the match up as
    /// the server did.
    ///
    /// # Errors
    /// The map cannot carry the match.
    pub fn verify(&mut self, ticks: u32) -> Result<(), SetupError> {
        if self.verifying.is_none() {
            self.verifying = Some(self.begin()?);
        }
        let Some(verifying) = &mut self.verifying else { return Ok(()) };
        for _ in 0..ticks {
            match verifying.ticks.next() {
                Some(Ok(tick)) => verifying.playback.step(&tick),
                Some(Err(error)) => self.broken = Some(error.to_string()),
                None => {}
            }
            verifying.audit();
        }
        Ok(())
    }

    fn begin(&self) -> Result<Verifying, SetupError> {
        let (header, map) = (self.recording.header(), Arc::clone(&self.map));
        let mut playback = Playback::new(header, map, &Arena)?;
        if let Ok(Ok(first)) = self
            .recording
            .keyframe(0)
            .map(|first| Playback::at(&first, Arc::clone(&self.map), &Arena))
        {
            let movement = *first.world().movement();
            playback.game_mut().world_mut().set_movement(movement);
            playback.compare(first.game().digest());
        }
        Ok(Verifying {
            playback,
            ticks: self.recording.ticks_after(0).unwrap_or_else(|_| self.next.clone()),
            audit: Audit::new(&self.map, &Arena.models())?,
            audited: 0,
            finding: None,
        })
    }

    /// How far the match has been verified and audited, as JSON.
    pub fn progress(&self) -> String {
        let verifying = self.verifying.as_ref();
        let playback = verifying.map(|verifying| &verifying.playback);
        let found = playback.and_then(Playback::difference);
        let found = found.or(self.shown.difference()).map(Difference::to_string);
        let audit = verifying.and_then(|verifying| verifying.finding);
        let audit = audit.map(|(tick, count)| format!("tick {tick}: {count} overlaps"));
        let text = |what: Option<String>| what.map_or("null".to_owned(), |what| json::text(&what));
        format!(
            r#"{{"tick":{},"verified":{},"digest":"{}","audited":{},"finding":{},"difference":{},"broken":{}}}"#,
            playback.map_or(0, Playback::tick),
            playback.map_or(0, Playback::verified),
            playback.map_or(String::new(), |at| format!("{:016x}", at.game().digest())),
            verifying.map_or(0, |verifying| verifying.audited),
            text(audit),
            text(found),
            text(self.broken.clone()),
        )
    }

    /// Goes to a tick: on from the one that is shown, or from the nearest state before that is
    /// kept or recorded.
    pub fn show(&mut self, tick: u32) -> &Playback {
        let tick = u64::from(tick).min(self.recording.ticks());
        if let Err(why) = self.approach(tick) {
            self.broken = Some(why);
        }
        while self.shown.tick() < tick {
            match self.next.next() {
                Some(Ok(next)) => self.shown.step(&next),
                Some(Err(error)) => self.broken = Some(error.to_string()),
                None => break,
            }
            if self.shown.tick().is_multiple_of(KEPT_INTERVAL) {
                self.keep();
            }
        }
        &self.shown
    }

    /// Goes to the nearest state that is not after `tick`.
    fn approach(&mut self, tick: u64) -> Result<(), String> {
        let number = self.recording.keyframe_before(tick);
        let recorded = self.recording.keyframes().nth(number).unwrap_or_default();
        let kept = self.kept.iter().filter(|kept| kept.tick <= tick).max_by_key(|kept| kept.tick);
        let nearest = kept.map_or(recorded, |kept| kept.tick.max(recorded));
        let shown = self.shown.tick();
        if (nearest..=tick).contains(&shown) {
            return Ok(());
        }
        match kept.filter(|kept| kept.tick > recorded) {
            Some(kept) => self.shown.go_to(kept),
            None => {
                let keyframe = self.recording.keyframe(number);
                self.shown.go_to(&keyframe.map_err(|error| error.to_string())?)
            }
        }
        .map_err(|error| error.to_string())?;
        let next = self.recording.ticks_after(number);
        self.next = next.map_err(|error| error.to_string())?;
        for _ in recorded..self.shown.tick() {
            self.next.next();
        }
        Ok(())
    }

    fn keep(&mut self) {
        let tick = self.shown.tick();
        if self.kept.iter().all(|kept| kept.tick != tick) {
            if self.kept.len() >= MAX_KEPT {
                self.kept.pop_front();
            }
            self.kept.push_back(self.shown.keyframe());
        }
    }

    /// Goes to a tick, and tells why the entity in a slot is as it is there, as JSON; `null` if
    /// there is none.
    pub fn why(&mut self, slot: u16, tick: u32) -> String {
        self.show(tick);
        let world = self.shown.world();
        let found = why::entity_in(world, slot).and_then(|id| world.why(id));
        let (Some(found), Ok(first)) = (found, self.recording.keyframe(0)) else {
            return "null".to_owned();
        };
        let scratch = Playback::at(&first, Arc::clone(&self.map), &Arena).ok();
        let moved = scratch.and_then(|mut scratch| {
            why::last_moved(&self.recording, &self.shown, &mut scratch, found.id)
        });
        why::told(&found, self.shown.tick(), moved)
    }

    /// The match in the tick that is shown.
    pub fn shown(&self) -> &Playback {
        &self.shown
    }
}

impl Verifying {
    /// Audits the tick that was verified last, if it is its turn.
    fn audit(&mut self) {
        let tick = self.playback.tick();
        if tick.is_multiple_of(AUDIT_INTERVAL) && tick / AUDIT_INTERVAL > self.audited {
            let found = self.audit.check(&self.playback.world().state()).len();
            self.audited += 1;
            if found > 0 {
                self.finding.get_or_insert((tick, found));
            }
        }
    }
}
