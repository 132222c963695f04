//! A match of one player, and the player's client at the other end of a line with delay and loss,
//! in virtual time.

use std::collections::VecDeque;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use glam::DVec3;
use obsp_client::{
    Client, ConnectionEvent, Credentials, LoadedMap, PredictionError, PredictionStats, Transmit,
};
use obsp_game::{AnyGame, RunningMatch};
use obsp_proto::control::{MapHash, MapName, PlayerName};
use obsp_proto::quantise::{Quantiser, WorldBounds};
use obsp_proto::server::{CommandSource, Event, JitterBuffer, MatchInfo, OwnPlayer, Session};
use obsp_proto::snapshot::AuthoritativeMotion;
use obsp_proto::{Tick, Time};
use obsp_sim::{Command, Config, EntityId, PlayerKind};

const RATE: NonZeroU16 = NonZeroU16::new(60).unwrap();

/// The delay and the loss of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lag {
    /// Ticks for which bytes are under way in each direction.
    pub(crate) delay: usize,
    /// One in this many datagrams is lost; 0 if none is.
    pub(crate) loss: usize,
}

/// The bytes under way in one direction, one entry a tick.
struct Line {
    lag: Lag,
    ticks: VecDeque<(Vec<u8>, Vec<Vec<u8>>)>,
    sent: usize,
}

impl Line {
    fn new(lag: Lag) -> Self {
        Self { lag, ticks: vec![Default::default(); lag.delay].into(), sent: 0 }
    }

    /// Sends a datagram in this tick, unless the line loses it.
    fn send(&mut self, bytes: Vec<u8>) {
        self.sent += 1;
        if self.lag.loss == 0 || !self.sent.is_multiple_of(self.lag.loss) {
            self.ticks.back_mut().expect("a tick was begun").1.push(bytes);
        }
    }

    /// Begins a tick, and returns what arrives in it: the bytes of the stream, and the datagrams.
    fn begin_tick(&mut self) -> (Vec<u8>, Vec<Vec<u8>>) {
        self.ticks.push_back(Default::default());
        self.ticks.pop_front().unwrap_or_default()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.ticks.back_mut().expect("a tick was begun").0.extend(bytes);
    }
}

/// A match of one player, and the player's client.
pub(crate) struct LaggedMatch {
    tick: u32,
    pub(crate) game: Box<dyn RunningMatch>,
    quantiser: Quantiser,
    session: Session,
    commands: JitterBuffer,
    pub(crate) player: Option<EntityId>,
    pushed: Option<Tick>,
    client: Client,
    /// The bytes of the map and of the game's data, which the client needs to predict.
    map: [Vec<u8>; 2],
    up: Line,
    down: Line,
}

impl LaggedMatch {
    /// A match of these rules on a map.
    pub(crate) fn new(
        rules: &dyn AnyGame,
        (map, name): (Arc<obsp::Map>, &str),
        config: Config,
        lag: Lag,
    ) -> Self {
        let data = rules.client_data(&map).unwrap();
        let bounds = WorldBounds::covering(map.bounds().min, map.bounds().max).unwrap();
        let info = MatchInfo {
            tick_rate: RATE,
            snapshot_rate: RATE,
            map: MapHash(map.hash()),
            map_name: MapName::new(name),
            bounds,
            player_limit: config.max_players,
            schema: Arc::new(rules.schema(&map).unwrap()),
            game: data.hash(),
        };
        let name = PlayerName::new("Ann").unwrap();
        Self {
            tick: 0,
            game: rules.new_match(Arc::clone(&map), config).unwrap(),
            quantiser: Quantiser::new(bounds),
            session: Session::new(Arc::new(info), Time::ZERO),
            commands: JitterBuffer::new(RATE, Tick(0), Time::ZERO),
            player: None,
            pushed: None,
            client: Client::new(&name, MapHash::ANY, &Credentials::default(), Time::ZERO),
            map: [map.to_bytes(), data.bytes().to_owned()],
            up: Line::new(lag),
            down: Line::new(lag),
        }
    }

    fn tick_of_server(&mut self, now: Time) {
        let (stream, datagrams) = self.up.begin_tick();
        let tick = Tick(self.game.world().state().tick as u32 + 1);
        for event in self.session.receive_stream(now, &stream).expect("a valid stream") {
            if matches!(event, Event::Hello { .. }) {
                let player = self.game.join_as(PlayerKind::Box).expect("a free place");
                self.session.accept(player, Tick(tick.0 - 1));
                self.commands = JitterBuffer::new(RATE, Tick(tick.0 - 1), now);
                self.player = Some(player);
            }
        }
        for bytes in datagrams {
            let received = self.session.receive_datagram(now, &bytes).expect("a valid datagram");
            received.iter().for_each(|commands| self.commands.receive(commands, now));
        }
        let mut own = OwnPlayer::default();
        let mut commands = Vec::new();
        if let Some(player) = self.player {
            let (command, source) = self.commands.take(tick, now);
            commands.push((player, command));
            own.command_substituted = source != CommandSource::Client;
            own.lead = self.commands.lead();
        }
        self.game.step(&commands);
        let world = self.game.world();
        if let Some(player) = self.player {
            self.pushed = if world.was_pushed(player) { Some(tick) } else { self.pushed };
            own.motion = world.player_motion(player).map(|motion| {
                AuthoritativeMotion::new(motion, tick, self.pushed)
                    .with_touched(tick, world.touched_by(player))
            });
        }
        let state = Arc::new(self.quantiser.quantise(&world.state()).expect("within the bounds"));
        let snapshot = self.session.encode_snapshot(&state, &own, 1200);
        snapshot.into_iter().for_each(|bytes| self.down.send(bytes));
        self.down.write(&self.session.stream_output());
    }

    /// Plays a tick of the server and of the client. `steer` gets the place at which the client
    /// predicts the player, and returns the player's command. Returns the prediction errors that
    /// the client has found.
    pub(crate) fn tick(&mut self, steer: impl FnOnce(DVec3) -> Command) -> Vec<PredictionError> {
        let now = Time::since_start(Duration::from_secs(1) * self.tick / 60);
        self.tick += 1;
        let (stream, datagrams) = self.down.begin_tick();
        self.tick_of_server(now);
        self.client.handle_stream(&stream, now);
        let snapshots = datagrams.iter().map(|bytes| self.client.handle_datagram(bytes, now));
        let errors = snapshots.filter_map(|snapshot| snapshot.and_then(|it| it.error)).collect();
        while let Some(event) = self.client.poll_event() {
            let ConnectionEvent::Joined(hello) = &event else { panic!("{event:?}") };
            let [map, data] = &self.map;
            let map = LoadedMap::from_bytes(map, data, hello).unwrap();
            self.client.use_map(Arc::new(map), now).unwrap();
        }
        while self.client.next_match_event(now).is_some() {}
        let here = self.client.view(now).position().unwrap_or_default();
        self.client.tick(steer(here), now);
        while let Some(transmit) = self.client.poll_transmit() {
            match transmit {
                Transmit::Stream(bytes) => self.up.write(&bytes),
                Transmit::Datagram(bytes) => self.up.send(bytes),
                other => panic!("{other:?}"),
            }
        }
        errors
    }

    /// The counters of the prediction.
    pub(crate) fn stats(&self) -> PredictionStats {
        self.client.prediction().map(|prediction| *prediction.stats()).unwrap_or_default()
    }
}
