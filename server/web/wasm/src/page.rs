//! The state of the page, and the calls that it makes.

use std::path::Path;
use std::sync::Arc;

use obsp_game::AnyGame;
use obsp_proto::control::PlayerName;
use obsp_recording::{Recording, Said};

use crate::branch::Change;
use crate::player::{Player, command};
use crate::replay::Replay;
use crate::{json, view};

/// The name of a recording in messages: this module does not know the name of the file.
const RECORDING: &str = "the recording";

/// The recording or the match that the page has open.
#[derive(Debug, Default)]
pub struct Page {
    input: Vec<u8>,
    output: Vec<u8>,
    /// The recording, and its game.
    recorded: Option<(Recording, Arc<dyn AnyGame>)>,
    replay: Option<Replay>,
    player: Option<Player>,
}

impl Page {
    /// Makes room for `length` bytes of input.
    pub fn input(&mut self, length: usize) -> &mut [u8] {
        self.input.clear();
        self.input.resize(length, 0);
        &mut self.input
    }

    /// The output of the last call.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Reads the recording of `game` that is the input.
    pub fn open_recording(&mut self, game: &dyn AnyGame) -> bool {
        (self.recorded, self.replay) = (None, None);
        let bytes = std::mem::take(&mut self.input);
        let recording = match Recording::read(Path::new(RECORDING), &bytes[..]) {
            Ok(recording) => recording,
            Err(error) => return self.failed(&error.to_string()),
        };
        let (recorded, played) = (&recording.header().game, game.game_name());
        // This check needs no map: a server of another game may not have the recording's map.
        if recorded != played {
            return self.failed(&format!(
                "{RECORDING} is of the game {recorded}, but this page plays {played}; the page of \
                 a server with the --replay-module of {recorded} plays it, and the program that \
                 serves {recorded} runs it again with --replay FILE"
            ));
        }
        self.output = describe(&recording).into_bytes();
        let game = game.with_file(recording.game_file());
        self.recorded = Some((recording, game));
        true
    }

    /// Sets up the recorded match on the map that is the input.
    pub fn open_map(&mut self) -> bool {
        let bytes = std::mem::take(&mut self.input);
        let Some((recording, game)) = &self.recorded else {
            return self.failed("no recording is open");
        };
        let header = recording.header();
        let map = match obsp::Map::from_bytes(&bytes) {
            Ok(map) => map,
            Err(error) => return self.failed(&format!("the map cannot be read: {error}")),
        };
        if map.hash() != header.map_hash {
            let name = &header.map_name;
            return self.failed(&format!("the recording was made on another version of {name}"));
        }
        match Replay::new(recording.clone(), map.into(), &**game) {
            Ok(replay) => self.replay = Some(replay),
            Err(error) => return self.failed(&format!("the match cannot be played: {error}")),
        }
        true
    }

    /// Verifies the next `ticks` ticks.
    pub fn verify(&mut self, ticks: u32) {
        let Some(replay) = &mut self.replay else { return self.output.clear() };
        self.output = match replay.verify(ticks) {
            Ok(()) => replay.progress().into_bytes(),
            Err(error) => {
                format!(r#"{{"broken":{}}}"#, json::text(&error.to_string())).into_bytes()
            }
        };
    }

    /// Goes to a tick.
    pub fn show(&mut self, tick: u32) -> u32 {
        self.output.clear();
        let Some(replay) = &mut self.replay else { return 0 };
        let playback = replay.show(tick);
        view::write_state(playback, &mut self.output);
        u32::try_from(playback.tick()).unwrap_or(u32::MAX)
    }

    /// Outputs the events of the tick that is shown.
    pub fn events(&mut self) {
        let Some(replay) = &self.replay else { return self.output.clear() };
        let (tick, game) = (replay.shown().tick(), replay.shown().game());
        self.output = view::events(tick, game).into_bytes();
    }

    /// Outputs the contact points of awake props in the tick that is shown.
    pub fn contacts(&mut self) {
        let Some(replay) = &self.replay else { return self.output.clear() };
        self.output = view::contacts(replay.shown().world()).into_bytes();
    }

    /// Outputs the work of the cascade in the tick that is shown.
    pub fn cascade(&mut self) {
        let cascade = self.replay.as_mut().and_then(|replay| replay.cascade().ok());
        self.output = cascade.unwrap_or_else(|| "null".to_owned()).into_bytes();
    }

    /// Outputs a cut through the onion at a height. A height that is not finite counts as zero.
    pub fn cut(&mut self, height: f64) {
        let Some(replay) = &self.replay else { return self.output.clear() };
        self.output = replay.cut(if height.is_finite() { height } else { 0.0 }).into_bytes();
    }

    /// Outputs why the entity in a slot moves or rests after a tick.
    pub fn why(&mut self, slot: u32, tick: u32) {
        let Some(replay) = &mut self.replay else { return self.output.clear() };
        // No entity has the largest slot number.
        let slot = u16::try_from(slot).unwrap_or(u16::MAX);
        self.output = replay.why(slot, tick).into_bytes();
    }

    /// Searches for the tick in which the entity in a slot last moved. Returns false while the
    /// search goes on.
    pub fn last_moved(&mut self, slot: u32, tick: u32) -> bool {
        self.output.clear();
        let Some(replay) = &mut self.replay else { return true };
        let found = replay.last_moved(u16::try_from(slot).unwrap_or(u16::MAX), tick);
        let is_done = found.is_some();
        self.output = found.unwrap_or_default().into_bytes();
        is_done
    }

    /// Begins a branch after a tick. `change` is the number of the change to the entity in `slot`,
    /// which lasts `ticks` ticks.
    pub fn branch(&mut self, slot: u32, change: u32, ticks: u32, tick: u32) -> bool {
        let Some(replay) = &mut self.replay else { return self.failed("no recording is open") };
        let slot = u16::try_from(slot).unwrap_or(u16::MAX);
        let Some(change) = Change::of(change, ticks) else {
            return self.failed("this module does not know the change that the page asks for");
        };
        let begun = replay.branch(slot, change, tick);
        begun.map_or_else(|why| self.failed(&why), |()| true)
    }

    /// Goes to a tick of the branch. Returns false if the branch does not have the tick.
    pub fn show_branch(&mut self, tick: u32) -> bool {
        self.output.clear();
        let playback = self.replay.as_mut().and_then(|replay| replay.show_branch(tick));
        let Some(playback) = playback else { return false };
        view::write_state(playback, &mut self.output);
        true
    }

    /// Ends the branch.
    pub fn end_branch(&mut self) {
        if let Some(replay) = &mut self.replay {
            replay.end_branch();
        }
    }

    /// Asks to join. The input is the name of the player, the name of the match (empty for the
    /// first) and a connect token, separated by zero bytes.
    pub fn join(&mut self, now: f64) -> bool {
        let mut parts = self.input.splitn(3, |byte| *byte == 0);
        let [name, game, token] = [(); 3].map(|()| parts.next().unwrap_or_default());
        let [name, game] = [name, game].map(String::from_utf8_lossy);
        match Player::new(&name, &game, token, now) {
            Ok(player) => self.player = Some(player),
            Err(why) => return self.failed(&why),
        }
        true
    }

    /// Asks to join once more, on a new connection.
    pub fn rejoin(&mut self, now: f64) {
        if let Some(player) = &mut self.player {
            player.rejoin(now);
        }
    }

    /// Handles the input as bytes that came on the control stream, or as a datagram.
    pub fn receive(&mut self, is_datagram: bool, now: f64) {
        let Some(player) = &mut self.player else { return };
        match is_datagram {
            true => player.on_datagram(&self.input, now),
            false => player.on_stream(&self.input, now),
        }
    }

    /// Takes the input as the game's data, `game` bytes long, and then the map of the match.
    pub fn use_map(&mut self, game: usize, now: f64) -> bool {
        let bytes = std::mem::take(&mut self.input);
        let (game, map) = bytes.split_at(game.min(bytes.len()));
        let used = self.player.as_mut().map_or(Ok(()), |player| player.on_map(map, game, now));
        used.map_or_else(|why| self.failed(&why), |()| true)
    }

    /// Plays a tick with these keys, if one is due.
    pub fn tick(&mut self, keys: [i32; 2], view: (u32, i32), buttons: u32, now: f64) -> bool {
        let command = command(keys[0], keys[1], view.0, view.1, buttons);
        self.player.as_mut().is_some_and(|player| player.tick(command, now))
    }

    /// The time at which the next tick is due; a negative number while none is.
    pub fn next_tick(&self) -> f64 {
        self.player.as_ref().map_or(-1.0, Player::next_tick)
    }

    /// The tick of the last command that was sent; a negative number before the first.
    pub fn sent_tick(&self) -> f64 {
        self.player.as_ref().map_or(-1.0, Player::sent_tick)
    }

    /// The kind of the next message to send; zero if there is none.
    pub fn transmit(&mut self) -> u32 {
        let Some(player) = &mut self.player else { return 0 };
        let (kind, bytes) = player.transmit();
        self.output = bytes;
        kind
    }

    /// Outputs the next event of the connection; false if there is none.
    pub fn event(&mut self) -> bool {
        let event = self.player.as_mut().and_then(Player::event);
        self.tell(event)
    }

    /// Outputs the next event of the match up to the moment that is shown; false if there is none.
    pub fn match_event(&mut self, now: f64) -> bool {
        let event = self.player.as_mut().and_then(|player| player.match_event(now));
        self.tell(event)
    }

    fn tell(&mut self, event: Option<String>) -> bool {
        let Some(event) = event else { return false };
        self.output = event.into_bytes();
        true
    }

    /// Outputs the effects that have come since the last call.
    pub fn effects(&mut self) {
        let effects = self.player.as_mut().map(Player::effects);
        self.output = effects.unwrap_or_else(|| "[]".to_owned()).into_bytes();
    }

    /// Outputs the match as it is to be drawn. Returns whether the page's own player is the first
    /// entity, and the moment in ticks.
    pub fn view(&mut self, now: f64) -> (bool, f64) {
        self.output.clear();
        let output = &mut self.output;
        self.player.as_ref().map_or((false, -1.0), |player| player.view(now, output))
    }

    /// The slot of the page's own player; a negative number before it has one.
    pub fn slot(&self) -> i32 {
        self.player.as_ref().and_then(Player::slot).map_or(-1, i32::from)
    }

    /// Outputs the figures of the connection and the prediction.
    pub fn stats(&mut self) {
        self.output = self.player.as_ref().map(Player::stats).unwrap_or_default().into_bytes();
    }

    /// Outputs the values that the game replicates to the page's own player.
    pub fn values(&mut self, now: f64) {
        let values = self.player.as_ref().map(|player| player.values(now));
        self.output = values.unwrap_or_else(|| "null".to_owned()).into_bytes();
    }

    /// Outputs the schema of the game.
    pub fn schema(&mut self) {
        self.output = self.player.as_ref().map(Player::schema).unwrap_or_default();
    }

    /// Checks the input as the name of a player; false if no server would take it.
    pub fn check_name(&mut self) -> bool {
        match PlayerName::new(&String::from_utf8_lossy(&self.input)) {
            Ok(_) => true,
            Err(error) => self.failed(&error.to_string()),
        }
    }

    /// Sends the input as a line of chat to all players; false if no server would take it.
    pub fn say(&mut self) -> bool {
        let line = String::from_utf8_lossy(&self.input).into_owned();
        match self.player.as_mut().map(|player| player.say(&line)) {
            Some(Ok(())) => true,
            Some(Err(why)) => self.failed(&why),
            None => self.failed("the page plays in no match"),
        }
    }

    /// Leaves the match.
    pub fn leave(&mut self) {
        if let Some(player) = &mut self.player {
            player.leave();
        }
    }

    fn failed(&mut self, why: &str) -> bool {
        self.output = why.as_bytes().to_vec();
        false
    }
}

/// The description of a recording, as JSON.
fn describe(recording: &Recording) -> String {
    let header = recording.header();
    let hash: String = header.map_hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let incomplete = recording.incomplete();
    let [mut deaths, mut names, mut chat, mut rounds] = [const { Vec::new() }; 4];
    for note in recording.notes() {
        let tick = note.tick;
        match &note.what {
            Said::Died(player, by) => deaths.push(format!("[{tick},{player},{by},\"\"]")),
            Said::DiedOf(player, by, means) => {
                deaths.push(format!("[{tick},{player},{by},{}]", json::text(means)));
            }
            Said::Name(player, name) => {
                names.push(format!("[{tick},{player},{}]", json::text(name)));
            }
            Said::Round { phase, left, next } => {
                let ends = if *left == 0 { 0 } else { tick + u64::from(*left) };
                let (phase, next) = (json::phase(*phase), json::text(next));
                rounds.push(format!(r#"[{tick},"{phase}",{ends},{next}]"#));
            }
            Said::Chat(player, line) => {
                let player = player.map_or("null".to_owned(), |player| player.to_string());
                chat.push(format!("[{tick},{player},{}]", json::text(line)));
            }
        }
    }
    format!(
        r#"{{"map":{},"hash":"{hash}","first":{},"ticks":{},"tickRate":{},"build":{},"incomplete":{},"deaths":{},"names":{},"chat":{},"rounds":{}}}"#,
        json::text(&header.map_name),
        recording.first_tick(),
        recording.ticks(),
        header.config().tick_rate,
        json::text(&header.build),
        incomplete.map_or("null".to_owned(), |error| json::text(&error.to_string())),
        json::list(deaths),
        json::list(names),
        json::list(chat),
        json::list(rounds),
    )
}
