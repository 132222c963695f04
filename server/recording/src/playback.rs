//! Playback of a recording: the match is run again with the recorded commands, and compared with
//! the recorded digests up to the first tick that differs.

use std::fmt;
use std::sync::Arc;

use obsp_game::{AnyGame, LoadMatchError, RunningMatch};
use obsp_sim::{Command, EntityId, SetupError, World};

use crate::{Keyframe, RecordedTick, Recording};

/// A recorded match that is run again.
///
/// ```
/// # use std::sync::Arc;
/// #
/// # use obsp_game::AnyGame;
/// # use obsp_game::arena::Arena;
/// # use obsp_recording::{Beginning, Recorder, Writer};
/// # use obsp_sim::Config;
/// #
/// # let config = Config { max_players: 2, ..Config::default() };
/// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// # let mut game = Arena.new_match(Arc::clone(&map), config)?;
/// # let (mut bytes, mut recorder) = (Vec::<u8>::new(), Recorder::new());
/// # let beginning = Beginning::of(&*game, config, "");
/// # let mut writer = Writer::begin("match.obsr".into(), &mut bytes, &beginning)?;
/// # for _ in 0..60 {
/// #     game.step(&[]);
/// #     writer.tick(recorder.tick(&[], |_| Default::default(), game.digest()))?;
/// # }
/// # writer.finish()?;
/// #
/// use obsp_recording::{Playback, Recording};
///
/// // `bytes` is a recording of 60 ticks on `map`.
/// let recording = Recording::read("match.obsr".as_ref(), &bytes[..])?;
/// let mut playback = Playback::new(&recording, map, &Arena)?;
/// for tick in recording.ticks_after(0)? {
///     playback.step(&tick?);
/// }
/// assert_eq!(playback.verified(), 60);
/// assert_eq!(playback.difference(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Playback {
    game: Box<dyn RunningMatch>,
    commands: Vec<(EntityId, Command)>,
    tick: u64,
    verified: u64,
    equal_at: Option<u64>,
    difference: Option<Difference>,
}

/// The first tick after which the match differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The tick; 0 stands for the match before its first tick.
    pub tick: u64,
    /// The last tick known to be equal, if any is.
    pub equal_at: Option<u64>,
    /// The difference, as a text for people.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {} differs: {}", self.tick, self.what)?;
        match self.equal_at {
            Some(tick) => write!(f, "; equal up to tick {tick}"),
            None => write!(f, "; no earlier tick was found equal, so the set-up may differ"),
        }
    }
}

impl Playback {
    /// Sets up the match of a recording on `map`, as the server did.
    ///
    /// # Errors
    /// [`SetupError`] if the match is not possible on `map`.
    pub fn new(
        recording: &Recording,
        map: Arc<obsp::Map>,
        game: &dyn AnyGame,
    ) -> Result<Self, SetupError> {
        let game = game.with_file(recording.game_file());
        let header = recording.header();
        let mut set_up = game.new_match(map, header.config())?;
        set_up.world_mut().set_budget(header.budget);
        Ok(Self::of(set_up, Vec::new(), 0))
    }

    /// The match of a keyframe of a recording.
    ///
    /// # Errors
    /// [`LoadMatchError`] if the keyframe is not a match of `game` on `map`.
    pub fn at(
        recording: &Recording,
        keyframe: &Keyframe,
        map: Arc<obsp::Map>,
        game: &dyn AnyGame,
    ) -> Result<Self, LoadMatchError> {
        let game = game.with_file(recording.game_file());
        let loaded = game.load_match(map, &keyframe.saved)?;
        Ok(Self::of(loaded, keyframe.commands.clone(), keyframe.tick))
    }

    fn of(game: Box<dyn RunningMatch>, commands: Vec<(EntityId, Command)>, tick: u64) -> Self {
        Self { game, commands, tick, verified: 0, equal_at: None, difference: None }
    }

    /// Goes to a keyframe of this recording. The count of verified ticks is kept.
    ///
    /// # Errors
    /// [`LoadMatchError`] if the keyframe is not one of this match; nothing changes then.
    pub fn go_to(&mut self, keyframe: &Keyframe) -> Result<(), LoadMatchError> {
        self.game.restore(&keyframe.saved)?;
        self.commands.clone_from(&keyframe.commands);
        self.tick = keyframe.tick;
        Ok(())
    }

    /// The match as it is now.
    pub fn keyframe(&self) -> Keyframe {
        let mut commands = self.commands.clone();
        commands.sort_unstable_by_key(|(id, _)| *id);
        Keyframe { tick: self.tick, commands, saved: self.game.save() }
    }

    /// Plays the next tick. Compares its digest, and the ids of all joining players, with the
    /// recorded ones. After the first difference nothing is compared, because everything later
    /// differs as well. A player who joined under another id plays idle.
    pub fn step(&mut self, tick: &RecordedTick) {
        self.play(tick);
        self.compare(tick.digest);
    }

    /// Plays the next tick like [`Playback::step`], but compares only the ids.
    pub fn play(&mut self, tick: &RecordedTick) {
        self.follow(tick);
        self.game.step(&self.commands);
    }

    /// Plays the next tick with changed commands, so that the future differs from the recorded one.
    /// The tick after it has the recorded commands again.
    pub fn play_with(
        &mut self,
        tick: &RecordedTick,
        change: impl Fn(EntityId, Command) -> Command,
    ) {
        self.follow(tick);
        let changed = self.commands.iter().map(|&(id, command)| (id, change(id, command)));
        let changed: Vec<_> = changed.collect();
        self.game.step(&changed);
    }

    /// Applies the chat, leaves, joins and commands of a tick.
    fn follow(&mut self, tick: &RecordedTick) {
        self.tick += 1;
        for (player, line) in &tick.said {
            self.game.say(*player, line);
        }
        for &id in &tick.left {
            self.game.leave(id);
            self.commands.retain(|(other, _)| *other != id);
        }
        for &(id, kind) in &tick.joined {
            let EntityId { slot, generation } = id;
            let info = tick.introduced.iter().find(|(other, _)| *other == id);
            let info = info.map(|(_, info)| info.clone()).unwrap_or_default();
            match self.game.join(kind, info) {
                Ok(joined) if joined == id => {}
                Ok(EntityId { slot: now, generation: of }) => self.differs(format!(
                    "a player joined in slot {slot}, generation {generation}, but now in slot \
                     {now}, generation {of}"
                )),
                Err(error) => {
                    self.differs(format!(
                        "a player joined in slot {slot}, and now cannot: {error}"
                    ));
                }
            }
            self.commands.push((id, Command::default()));
        }
        for &(id, command) in &tick.commands {
            let known = self.commands.iter_mut().find(|(other, _)| *other == id);
            if let Some((_, known)) = known {
                *known = command;
            }
        }
    }

    /// Compares the digest with the recorded one.
    pub fn compare(&mut self, recorded: u64) {
        if self.difference.is_some() {
            return;
        }
        let now = self.game.digest();
        if now != recorded {
            return self.differs(format!("its digest was {recorded:016x} and is {now:016x}"));
        }
        self.verified += 1;
        self.equal_at = Some(self.tick);
    }

    /// The world as it is now.
    pub fn world(&self) -> &World {
        self.game.world()
    }

    /// The match as it is now.
    pub fn game(&self) -> &dyn RunningMatch {
        &*self.game
    }

    /// The match, for a caller that changes it. Its future then differs from the recorded one.
    pub fn game_mut(&mut self) -> &mut dyn RunningMatch {
        &mut *self.game
    }

    /// The tick that was played last.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// The commands of the last tick.
    pub fn commands(&self) -> &[(EntityId, Command)] {
        &self.commands
    }

    /// Number of digests that were compared and found equal.
    pub fn verified(&self) -> u64 {
        self.verified
    }

    /// The first difference from the recorded match, if there is one.
    pub fn difference(&self) -> Option<&Difference> {
        self.difference.as_ref()
    }

    fn differs(&mut self, what: String) {
        let (tick, equal_at) = (self.tick, self.equal_at);
        self.difference.get_or_insert(Difference { tick, equal_at, what });
    }
}
