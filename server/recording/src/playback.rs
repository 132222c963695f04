//! Playing a recording: the same map and commands again, and the first tick that differs.

use std::fmt;
use std::sync::Arc;

use obsp_game::arena::Arena;
use obsp_game::{Event, Match, RunningMatch};
use obsp_sim::{Command, EntityId, SetupError, Vitals, World};

use crate::{Header, Tick};

/// A recorded match of the arena game that is run again. A clone of it is a keyframe: it goes on from its tick
/// as the match itself does.
#[derive(Clone, Debug)]
pub struct Playback {
    game: Match<Arena>,
    commands: Vec<(EntityId, Command)>,
    tick: u64,
    verified: u64,
    equal_at: Option<u64>,
    difference: Option<Difference>,
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

impl Playback {
    /// Sets up the match of `header` on `map`, and compares its digest.
    ///
    /// # Errors
    /// The map cannot carry the match.
    pub fn new(header: &Header, map: Arc<obsp::World>) -> Result<Self, SetupError> {
        let game = Match::new(Arena, map, header.config())?;
        let (commands, difference) = (Vec::new(), None);
        let mut this = Self { game, commands, tick: 0, verified: 0, equal_at: None, difference };
        this.compare(0, header.digest);
        Ok(this)
    }

    /// Plays the next tick and compares what was recorded of it: its digest, and the ids of
    /// all who join. After the first difference nothing is compared any more, since all
    /// that follows differs too; a player who joined as someone else plays idle.
    pub fn step(&mut self, tick: &Tick) {
        self.tick += 1;
        let number = self.tick;
        for &id in &tick.left {
            self.game.leave(id);
            self.commands.retain(|(other, _)| *other != id);
        }
        for &(id, kind) in &tick.joined {
            let joined = self.game.join_as(kind);
            if joined != Ok(id) {
                self.differs(number, format!("{id:?} joined, now it is {joined:?}"));
            }
            self.commands.push((id, Command::default()));
        }
        for &(id, command) in &tick.commands {
            let known = self.commands.iter_mut().find(|(other, _)| *other == id);
            if let Some((_, known)) = known {
                *known = command;
            }
        }
        self.game.step(&self.commands);
        if let Some(recorded) = tick.digest {
            self.compare(number, recorded);
        }
    }

    /// The match as it is now.
    pub fn world(&self) -> &World {
        self.game.world()
    }

    /// What happened in the last tick, in order.
    pub fn events(&self) -> &[Event] {
        self.game.events()
    }

    /// Health and score of a player; `None` if there is no such player.
    pub fn vitals(&self, player: EntityId) -> Option<Vitals> {
        self.game.vitals(player)
    }

    /// The digest of the match as it is now.
    pub fn digest(&self) -> u64 {
        self.game.digest()
    }

    /// Ticks that were played.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// The commands of the last tick.
    pub fn commands(&self) -> &[(EntityId, Command)] {
        &self.commands
    }

    /// Digests that were compared and equal, that of the match before its first tick included.
    pub fn verified(&self) -> u64 {
        self.verified
    }

    /// Where the match first went another way.
    pub fn difference(&self) -> Option<&Difference> {
        self.difference.as_ref()
    }

    fn compare(&mut self, tick: u64, recorded: u64) {
        if self.difference.is_some() {
            return;
        }
        let now = self.digest();
        if now != recorded {
            return self.differs(tick, format!("its digest was {recorded:016x} and is {now:016x}"));
        }
        self.verified += 1;
        self.equal_at = Some(tick);
    }

    fn differs(&mut self, tick: u64, what: String) {
        let equal_at = self.equal_at;
        self.difference.get_or_insert(Difference { tick, equal_at, what });
    }
}
