//! A recorded match. Any of its ticks can be shown, from the nearest state, while the whole match
//! is verified in the background from its beginning.

use std::sync::Arc;

use obsp_game::{AnyGame, LoadMatchError};
use obsp_recording::{Difference, Playback, Recording, Ticks};
use obsp_sim::SetupError;
use obsp_sim::audit::Audit;
use obsp_sim::query::Heat;

use crate::branch::{Branch, Change};
use crate::kept::{Kept, NEAR, Verified};
use crate::last_moved::{self, LastMoved};
use crate::{json, layers, why};

/// Ticks from one audit by brute force to the next, in a match that is verified.
const AUDIT_INTERVAL: u64 = 60;

/// A recorded match.
#[derive(Debug)]
pub struct Replay {
    recording: Recording,
    map: Arc<obsp::Map>,
    /// The game with the recorded `game.toml`.
    game: Arc<dyn AnyGame>,
    /// The match as far as it has been verified; `None` before it begins.
    verifying: Option<Verifying>,
    shown: Playback,
    /// The ticks after the one that is shown.
    next: Ticks,
    /// States near the one that is shown.
    kept: Kept,
    /// The branch that is shown, if any.
    branch: Option<Branch>,
    /// The last search for the tick in which a body last moved.
    search: Option<LastMoved>,
    /// Measures the work of the cascade. It is made on the first request.
    heat: Option<Heat>,
    /// The reason why the recording cannot be played to its end, if there is one.
    broken: Option<String>,
}

/// A match that is being verified, from its beginning to its end.
#[derive(Debug)]
struct Verifying {
    playback: Playback,
    ticks: Ticks,
    audit: Audit,
    audited: u64,
    states: Verified,
    /// The first tick in which the audit found overlaps, and their number.
    finding: Option<(u64, usize)>,
}

impl Replay {
    /// Sets up the recorded match of `game` on its map.
    ///
    /// # Errors
    /// The recording is damaged, or its match is not one that this build plays.
    pub fn new(
        recording: Recording,
        map: Arc<obsp::Map>,
        game: &dyn AnyGame,
    ) -> Result<Self, String> {
        let game = game.with_file(recording.game_file());
        let first = recording.keyframe(0).map_err(|error| error.to_string())?;
        let shown = Playback::at(&recording, &first, Arc::clone(&map), &*game);
        let shown = shown.map_err(|error: LoadMatchError| error.to_string())?;
        let next = recording.ticks_after(0).map_err(|error| error.to_string())?;
        let (verifying, kept, branch) = (None, Kept::default(), None);
        let (search, heat, broken) = (None, None, None);
        Ok(Self {
            recording,
            map,
            game,
            verifying,
            shown,
            next,
            kept,
            branch,
            search,
            heat,
            broken,
        })
    }

    /// Verifies the next `ticks` ticks, as far as there are any. The first call sets the match up
    /// as the server did, unless the recording is an excerpt.
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
            verifying.states.keep(&verifying.playback);
        }
        Ok(())
    }

    fn begin(&self) -> Result<Verifying, SetupError> {
        let (recording, map) = (&self.recording, || Arc::clone(&self.map));
        let loaded =
            recording.keyframe(0).map(|first| Playback::at(recording, &first, map(), &*self.game));
        let playback = match loaded {
            // An excerpt has no set-up to compare: it begins with its first keyframe.
            Ok(Ok(first)) if recording.first_tick() > 0 => first,
            loaded => {
                let mut playback = Playback::new(recording, map(), &*self.game)?;
                if let Ok(Ok(first)) = loaded {
                    playback.compare(first.game().digest());
                }
                playback
            }
        };
        Ok(Verifying {
            playback,
            ticks: self.recording.ticks_after(0).unwrap_or_else(|_| self.next.clone()),
            audit: Audit::new(&self.map, &self.game.models(&self.map))?,
            audited: 0,
            states: Verified::default(),
            finding: None,
        })
    }

    /// The progress of the verification and the audit, as JSON.
    pub fn progress(&self) -> String {
        let verifying = self.verifying.as_ref();
        let playback = verifying.map(|verifying| &verifying.playback);
        let found = playback.and_then(Playback::difference);
        // A shown tick may be ahead of the verification. A difference found there need not be the
        // first one.
        let unverified = || {
            let shown = self.shown.difference()?;
            Some(format!("{shown} (ticks before it are not verified yet)"))
        };
        let found = found.map(Difference::to_string).or_else(unverified);
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

    /// The work of the cascade in the tick that is shown, as JSON.
    ///
    /// # Errors
    /// The map cannot carry the match.
    pub fn cascade(&mut self) -> Result<String, SetupError> {
        let models = || self.game.models(&self.map);
        let heat = match self.heat.take() {
            Some(heat) => heat,
            None => Heat::new(Arc::clone(&self.map), &models())?,
        };
        Ok(layers::cascade(self.heat.insert(heat), self.shown.world()))
    }

    /// A cut through the onion at a height, as JSON.
    pub fn cut(&self, height: f64) -> String {
        layers::cut(&self.map, height)
    }

    /// Goes to a tick, from the tick that is shown or from the nearest state before it, kept or
    /// recorded.
    pub fn show(&mut self, tick: u32) -> &Playback {
        let tick = self.within(tick);
        self.show_from(tick, tick)
    }

    /// The tick of the recording that is nearest to `tick`.
    fn within(&self, tick: u32) -> u64 {
        u64::from(tick).min(self.recording.ticks()).max(self.recording.first_tick())
    }

    /// Goes to a tick, from a state that is not after `from`.
    fn show_from(&mut self, from: u64, tick: u64) -> &Playback {
        if let Err(why) = self.approach(from) {
            self.broken = Some(why);
        }
        while self.shown.tick() < tick {
            match self.next.next() {
                Some(Ok(next)) => {
                    self.shown.play(&next);
                    // The digest of the tick that is shown also covers the ticks on the way to it.
                    if self.shown.tick() == tick {
                        self.shown.compare(next.digest);
                    }
                }
                Some(Err(error)) => self.broken = Some(error.to_string()),
                None => break,
            }
            // On a long way only the last states are kept. That takes little time, and suffices for
            // a step back.
            if tick - self.shown.tick() < NEAR {
                self.kept.keep(&self.shown);
            }
        }
        &self.shown
    }

    /// Goes to the nearest state that is not after `tick`.
    fn approach(&mut self, tick: u64) -> Result<(), String> {
        let number = self.recording.keyframe_before(tick);
        let recorded = self.recording.keyframes().nth(number).unwrap_or_default();
        let verified = self.verifying.as_ref().and_then(|past| past.states.before(tick));
        let kept = self.kept.before(tick).into_iter().chain(verified).max_by_key(|kept| kept.tick);
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

    /// Goes to a tick, and returns why the entity in a slot moves or rests there, as JSON; `null`
    /// if there is no such entity.
    pub fn why(&mut self, slot: u16, tick: u32) -> String {
        // The tick itself is played, because a saved state does not hold what stopped bodies in its
        // tick.
        let tick = self.within(tick);
        let before = tick.saturating_sub(1).max(self.recording.first_tick());
        self.show_from(before, before);
        let there = |shown: &Playback| {
            let id = why::entity_in(shown.world(), slot)?;
            Some((id, last_moved::pose(shown, id)))
        };
        let from = there(&self.shown);
        self.show_from(before, tick);
        let moves = tick > before && there(&self.shown) != from;
        let world = self.shown.world();
        let found = why::entity_in(world, slot).and_then(|id| world.why(id));
        found.map_or("null".to_owned(), |found| why::to_json(&found, tick, moves))
    }

    /// Searches for the tick in which the entity in a slot last moved before `tick`, back by one
    /// keyframe at a call. Callers repeat the call until it returns an answer, as JSON: `null` if
    /// there is no such entity.
    pub fn last_moved(&mut self, slot: u16, tick: u32) -> Option<String> {
        let tick = self.within(tick);
        if !self.search.as_ref().is_some_and(|search| search.is_for(slot, tick)) {
            self.show_from(tick, tick);
            if !self.begin_search(slot) {
                return Some("null".to_owned());
            }
        }
        self.search.as_mut()?.look_back(&self.recording)
    }

    /// Begins a search for the entity in a slot from the tick that is shown, or goes on with the
    /// last search. Returns false if there is no such entity.
    fn begin_search(&mut self, slot: u16) -> bool {
        let shown = &self.shown;
        let Some(id) = why::entity_in(shown.world(), slot) else { return false };
        if self.search.as_mut().is_some_and(|search| search.goes_on_for(shown, id)) {
            return true;
        }
        let another = || {
            let first = self.recording.keyframe(0).ok()?;
            Playback::at(&self.recording, &first, Arc::clone(&self.map), &*self.game).ok()
        };
        let scratch = self.search.take().map(LastMoved::into_scratch).or_else(another);
        self.search =
            scratch.map(|scratch| LastMoved::new(&self.recording, scratch, &self.shown, id));
        self.search.is_some()
    }

    /// Begins a branch at a tick: the recorded match with one change. It replaces an earlier
    /// branch.
    ///
    /// # Errors
    /// There is no such entity, or the change does not apply to it.
    pub fn branch(&mut self, slot: u16, change: Change, tick: u32) -> Result<(), String> {
        self.branch = None;
        self.show(tick);
        let id = why::entity_in(self.shown.world(), slot);
        let id = id.ok_or_else(|| format!("body {slot} is not in the world at tick {tick}"))?;
        let (origin, map) = (self.shown.keyframe(), Arc::clone(&self.map));
        let loaded = Playback::at(&self.recording, &origin, map, &*self.game);
        let playback = loaded.map_err(|error| error.to_string())?;
        self.branch = Some(Branch::new(playback, self.next.clone(), id, change)?);
        Ok(())
    }

    /// The branch at a tick; `None` where there is none.
    pub fn show_branch(&mut self, tick: u32) -> Option<&Playback> {
        self.branch.as_mut()?.show(u64::from(tick).min(self.recording.ticks()))
    }

    /// Ends the branch.
    pub fn end_branch(&mut self) {
        self.branch = None;
    }

    /// The match in the tick that is shown.
    pub fn shown(&self) -> &Playback {
        &self.shown
    }
}

impl Verifying {
    /// Audits the tick that was verified last, if it is due.
    fn audit(&mut self) {
        let tick = self.playback.tick();
        if tick.is_multiple_of(AUDIT_INTERVAL) && tick / AUDIT_INTERVAL > self.audited {
            let found = self.audit.check_match(self.playback.world()).len();
            self.audited += 1;
            if found > 0 {
                self.finding.get_or_insert((tick, found));
            }
        }
    }
}
