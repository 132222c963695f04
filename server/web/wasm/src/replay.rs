//! A recorded match that is verified from its beginning to its end, and can be looked at
//! wherever it has been verified.

use std::sync::Arc;

use obsp_game::Event;
use obsp_recording::{Header, Playback, Tick};
use obsp_sim::SetupError;

use crate::json;

/// Keyframes at most: with 200 bodies each takes some 0.7 megabytes.
const MAX_KEYFRAMES: usize = 320;

/// Ticks between two keyframes at first; with every `MAX_KEYFRAMES` of them that doubles.
/// Ten minutes at 60 Hz end with one every two seconds.
const FIRST_INTERVAL: u32 = 30;

/// A recorded match.
#[derive(Debug)]
pub struct Replay {
    ticks: Arc<[Tick]>,
    /// The match as far as it has been verified.
    verifying: Playback,
    /// Clones of it, `interval` ticks apart, beginning with tick 0.
    keyframes: Vec<Playback>,
    interval: u32,
    shown: Playback,
    /// The deaths: the tick, the player who died and the attacker.
    deaths: Vec<Death>,
    /// Deaths that were told already.
    told: usize,
}

#[derive(Debug)]
struct Death {
    tick: u64,
    player: u16,
    by: u16,
}

impl Replay {
    /// Sets up the match of `header` on `map`.
    ///
    /// # Errors
    /// The map cannot carry the match.
    pub fn new(
        header: &Header,
        map: Arc<obsp::World>,
        ticks: Arc<[Tick]>,
    ) -> Result<Self, SetupError> {
        let begin = Playback::new(header, map)?;
        Ok(Self {
            ticks,
            shown: begin.clone(),
            keyframes: vec![begin.clone()],
            verifying: begin,
            interval: FIRST_INTERVAL,
            deaths: Vec::new(),
            told: 0,
        })
    }

    /// Verifies so many more ticks, as far as there are.
    pub fn verify(&mut self, ticks: u32) {
        for _ in 0..ticks {
            let number = self.verifying.tick();
            let Some(tick) = self.ticks.get(number as usize) else { return };
            self.verifying.step(tick);
            let died = self.verifying.events().iter().filter_map(|event| match *event {
                Event::Died { player, by } => {
                    Some(Death { tick: number + 1, player: player.slot, by: by.slot })
                }
                _ => None,
            });
            self.deaths.extend(died);
            if (number + 1).is_multiple_of(u64::from(self.interval)) {
                self.keep();
            }
        }
    }

    fn keep(&mut self) {
        self.keyframes.push(self.verifying.clone());
        if self.keyframes.len() > MAX_KEYFRAMES {
            let mut index = 0;
            self.keyframes.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.interval *= 2;
        }
    }

    /// How far the match has been verified, and who has died since this was last asked, as
    /// JSON.
    pub fn progress(&mut self) -> String {
        let deaths = self.deaths[self.told..].iter();
        let deaths = json::list(deaths.map(|Death { tick, player, by }| {
            json::numbers([*tick as f64, f64::from(*player), f64::from(*by)])
        }));
        self.told = self.deaths.len();
        let difference = self.verifying.difference();
        format!(
            r#"{{"tick":{},"verified":{},"digest":"{:016x}","difference":{},"deaths":{deaths}}}"#,
            self.verifying.tick(),
            self.verifying.verified(),
            self.verifying.digest(),
            difference.map_or("null".to_owned(), |found| json::text(&found.to_string())),
        )
    }

    /// Goes to a tick, or as near as has been verified: on from the one that is shown, or
    /// from the nearest keyframe before.
    pub fn show(&mut self, tick: u32) -> &Playback {
        let tick = u64::from(tick).min(self.verifying.tick());
        let nearest = (tick / u64::from(self.interval)) as usize;
        let nearest = &self.keyframes[nearest.min(self.keyframes.len() - 1)];
        if self.shown.tick() > tick || nearest.tick() > self.shown.tick() {
            self.shown.clone_from(nearest);
        }
        while self.shown.tick() < tick {
            self.shown.step(&self.ticks[self.shown.tick() as usize]);
        }
        &self.shown
    }

    /// The match in the tick that is shown.
    pub fn shown(&self) -> &Playback {
        &self.shown
    }
}
