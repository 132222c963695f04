//! One player in a match. The page plays with the client library that the bots use.

use std::sync::Arc;
use std::time::Duration;

use obsp_client::{Client, ConnectionEvent, Credentials, LoadedMap, PredictionStats, Transmit};
use obsp_proto::control::{ChatLine, MapHash, MapName, MatchEvent, MatchName, PlayerName};
use obsp_proto::{Tick, Time};
use obsp_sim::{Buttons, Command, EntityId};

use crate::json;
use crate::values;
use crate::view;

/// A player in a match.
#[derive(Debug)]
pub struct Player {
    name: PlayerName,
    match_name: Option<MatchName>,
    client: Client,
    /// The tick of the last command that was sent.
    sent: Option<Tick>,
    corrections: Corrections,
}

/// Counters of the corrections of the prediction, and the sizes of the corrections.
#[derive(Debug, Default)]
struct Corrections {
    snapshots: u64,
    corrected: u64,
    /// The largest correction, in units.
    largest: f64,
    /// The error of the latest prediction that could be compared, in units, and whether something
    /// that cannot be predicted may have disturbed the player.
    latest: (f64, bool),
    mismatches: u64,
}

/// A moment of the page's clock, in milliseconds.
fn time(milliseconds: f64) -> Time {
    Time::since_start(Duration::from_secs_f64(milliseconds.max(0.0) / 1000.0))
}

impl Player {
    /// A player who asks to join the match `game` under the name `name`. An empty `game` means the
    /// server's first match. The connect token may be empty.
    ///
    /// # Errors
    /// The reason why no server would take one of the names.
    pub fn new(name: &str, game: &str, token: &[u8], now: f64) -> Result<Self, String> {
        let name = PlayerName::new(name).map_err(|error| error.to_string())?;
        let named = (!game.is_empty()).then(|| game.parse::<MatchName>()).transpose();
        let match_name = named.map_err(|error| error.to_string())?;
        let credentials = Credentials {
            token: token.to_vec(),
            match_name: match_name.clone(),
            effects: true,
            ..Credentials::default()
        };
        let client = Client::new(&name, MapHash::ANY, &credentials, time(now));
        Ok(Self { name, match_name, client, sent: None, corrections: Corrections::default() })
    }

    /// Asks to join once more on a new connection. The player is the same if the server still keeps
    /// the body.
    pub fn rejoin(&mut self, now: f64) {
        let (ticket, match_name) = (self.client.ticket(), self.match_name.clone());
        let credentials = Credentials { token: Vec::new(), ticket, match_name, effects: true };
        self.client = Client::new(&self.name, MapHash::ANY, &credentials, time(now));
    }

    /// Handles bytes that came on the control stream.
    pub fn on_stream(&mut self, bytes: &[u8], now: f64) {
        self.client.handle_stream(bytes, time(now));
    }

    /// Handles a datagram that has come.
    pub fn on_datagram(&mut self, bytes: &[u8], now: f64) {
        let Some(snapshot) = self.client.handle_datagram(bytes, time(now)) else { return };
        self.corrections.snapshots += 1;
        self.corrections.mismatches += u64::from(snapshot.received.digest_agrees == Some(false));
        if let Some(error) = snapshot.error {
            self.corrections.corrected += u64::from(error.units > 0.0);
            self.corrections.largest = self.corrections.largest.max(error.units);
            self.corrections.latest = (error.units, error.disturbed);
        }
    }

    /// Takes the map of the match and the game's data, which may be empty.
    ///
    /// # Errors
    /// The map or the data are not those that the server named, or are damaged.
    pub fn on_map(&mut self, map: &[u8], game: &[u8], now: f64) -> Result<(), String> {
        let hello = self.client.session().hello().ok_or("the server has not answered yet")?;
        let map = LoadedMap::from_bytes(map, game, hello).map_err(|error| error.to_string())?;
        self.client.use_map(Arc::new(map), time(now)).map_err(|error| error.to_string())
    }

    /// Plays a tick with these keys, if one is due.
    pub fn tick(&mut self, command: Command, now: f64) -> bool {
        let sent = self.client.tick(command, time(now));
        self.sent = sent.or(self.sent);
        sent.is_some()
    }

    /// The tick of the last command that was sent; a negative number before the first.
    pub fn sent_tick(&self) -> f64 {
        self.sent.map_or(-1.0, |tick| f64::from(tick.0))
    }

    /// The time at which the next tick is due, in milliseconds; a negative number while none is.
    pub fn next_tick(&self) -> f64 {
        let due = self.client.next_tick_at();
        due.map_or(-1.0, |due| due.since(Time::ZERO).as_secs_f64() * 1000.0)
    }

    /// The next message to send: its kind as JavaScript knows it, and its bytes.
    pub fn transmit(&mut self) -> (u32, Vec<u8>) {
        match self.client.poll_transmit() {
            None => (0, Vec::new()),
            Some(Transmit::Stream(bytes)) => (1, bytes),
            Some(Transmit::Datagram(bytes)) => (2, bytes),
            Some(Transmit::Finish) => (3, Vec::new()),
            Some(Transmit::Close { reason, .. }) => (4, reason.into_bytes()),
        }
    }

    /// The next event of the connection, as JSON.
    pub fn event(&mut self) -> Option<String> {
        Some(match self.client.poll_event()? {
            ConnectionEvent::Joined(hello) => {
                let (name, hash) = (json::text(hello.map_name.as_str()), hello.map);
                let game = hello.game.map_or_else(|| "null".into(), |hash| format!(r#""{hash}""#));
                format!(r#"{{"what":"joined","map":{name},"hash":"{hash}","game":{game}}}"#)
            }
            ConnectionEvent::NewWorld { map: hash, name } => {
                let name = json::text(name.as_str());
                format!(r#"{{"what":"new-world","map":{name},"hash":"{hash}"}}"#)
            }
            ConnectionEvent::Disconnected(cause) => {
                let (why, last) = (json::text(&cause.to_string()), cause.is_final());
                format!(r#"{{"what":"disconnected","why":{why},"isFinal":{last}}}"#)
            }
        })
    }

    /// The next event of the match up to the moment that is shown, as JSON.
    pub fn match_event(&mut self, now: f64) -> Option<String> {
        let (tick, event) = self.client.next_match_event(time(now))?;
        Some(format!(r#"{{"tick":{},{}}}"#, tick.0, event_json(&event)))
    }

    /// The schema of the game as the hello has it; empty before the hello.
    pub fn schema(&self) -> Vec<u8> {
        self.client.session().hello().map(|hello| hello.schema.to_bytes()).unwrap_or_default()
    }

    /// The effects that have come since the last call, as JSON, in the form of the server's
    /// `/effects`.
    pub fn effects(&mut self) -> String {
        let effects = std::iter::from_fn(|| self.client.next_effect());
        json::list(effects.map(|(tick, effect)| view::effect(tick.0.into(), &effect)))
    }

    /// Appends the match as it is to be drawn: the page's own player or its vehicle first, if it is
    /// in the world, then everything else. Returns whether it is in the world, and the moment that
    /// is shown, in ticks.
    pub fn view(&self, now: f64, out: &mut Vec<u8>) -> (bool, f64) {
        let view = self.client.view(time(now));
        let tick = view.render_tick().unwrap_or(-1.0);
        let own = view.player().zip(view.position()).zip(view.motion());
        if let Some(((id, position), motion)) = own {
            view::write_walker(id, position, &motion, out);
        }
        let vehicle = view.vehicle().filter(|_| own.is_none());
        let entities = vehicle.into_iter().chain(view.entities());
        for entity in entities.filter(|entity| entity.traits.visible) {
            view::write_entity(&entity, out);
        }
        (own.is_some() || vehicle.is_some(), tick)
    }

    /// The slot of the entity that the player controls.
    pub fn slot(&self) -> Option<u16> {
        self.client.view(Time::ZERO).player().map(|EntityId { slot, .. }| slot)
    }

    /// Figures of the connection and the prediction, as JSON: the latest tick, the number of ticks
    /// by which the picture is behind it, counters of which the page takes differences, and the
    /// error of the latest prediction that was compared.
    pub fn stats(&self) -> String {
        let Corrections { snapshots, corrected, largest, latest, mismatches } = &self.corrections;
        let (error, disturbed) = latest;
        let tick = self.client.session().latest_tick().map_or(0, |tick| tick.0);
        let rtt = self.client.session().round_trip().unwrap_or_default().as_secs_f64() * 1000.0;
        let delay = self.client.view(Time::ZERO).interpolation_delay();
        let sent = self.client.session().stats().snapshots_sent;
        let stats = self.client.prediction().map(|prediction| *prediction.stats());
        let PredictionStats { compared, visible_corrections, .. } = stats.unwrap_or_default();
        format!(
            r#"{{"snapshots":{snapshots},"sent":{sent},"corrected":{corrected},"largest":{largest},"mismatches":{mismatches},"tick":{tick},"rtt":{rtt},"delay":{delay},"compared":{compared},"visible":{visible_corrections},"error":{error},"disturbed":{disturbed}}}"#
        )
    }

    /// The values that the game replicates to this player, as JSON; `null` before the match is
    /// known.
    pub fn values(&self, now: f64) -> String {
        let hello = self.client.session().hello();
        let values = hello.map(|hello| values::to_json(&hello.schema, self.client.view(time(now))));
        values.unwrap_or_else(|| "null".to_owned())
    }

    /// Sends a line of chat to all players.
    ///
    /// # Errors
    /// The reason why no server would take the line.
    pub fn say(&mut self, line: &str) -> Result<(), String> {
        let line = ChatLine::new(line).map_err(|error| error.to_string())?;
        self.client.say(line);
        Ok(())
    }

    /// Leaves the match.
    pub fn leave(&mut self) {
        self.client.leave();
    }
}

/// The command of these keys. If `buttons` has a bit that no button has, no button counts as held.
pub(crate) fn command(forward: i32, right: i32, yaw: u32, pitch: i32, buttons: u32) -> Command {
    let step = |value: i32| value.clamp(-127, 127) as i8;
    Command {
        forward: step(forward),
        right: step(right),
        yaw: yaw as u16,
        pitch: pitch.clamp(-16_384, 16_384) as i16,
        buttons: Buttons::from_bits(buttons).unwrap_or_default(),
        ..Command::default()
    }
}

/// An event in the form of the page's own decoder (`wire/control.js`).
fn event_json(event: &MatchEvent) -> String {
    let id = |EntityId { slot, generation }: &EntityId| {
        format!(r#"{{"slot":{slot},"generation":{generation}}}"#)
    };
    match event {
        MatchEvent::Joined { player, name } => {
            let name = json::text(name.as_str());
            format!(r#""event":"joined","player":{},"name":{name}"#, id(player))
        }
        MatchEvent::Left { player } => format!(r#""event":"left","player":{}"#, id(player)),
        MatchEvent::Died { player, by, means } => {
            let (player, by, means) = (id(player), id(by), json::text(means.as_str()));
            format!(r#""event":"died","player":{player},"by":{by},"means":{means}"#)
        }
        MatchEvent::Vitals { player, vitals } => format!(
            r#""event":"vitals","player":{},"health":{},"score":{}"#,
            id(player),
            vitals.health,
            vitals.score
        ),
        MatchEvent::Said { player, line } => {
            let line = json::text(line.as_str());
            format!(r#""event":"said","player":{},"line":{line}"#, id(player))
        }
        MatchEvent::Announced { line } => {
            format!(r#""event":"announced","line":{}"#, json::text(line.as_str()))
        }
        MatchEvent::Game(event) => {
            let data = json::list(event.data().iter().map(u8::to_string));
            format!(r#""event":"game","kind":{},"data":{data}"#, event.kind())
        }
        MatchEvent::Round { phase, ends, next } => {
            let (phase, ends) = (json::phase(*phase), ends.map_or(0, |tick| tick.0));
            let next = json::text(next.as_ref().map_or("", MapName::as_str));
            format!(r#""event":"round","phase":"{phase}","ends":{ends},"next":{next}"#)
        }
    }
}
