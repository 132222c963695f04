//! Haste over a line with delay and loss, in virtual time: a client of capture the flag runs over the
//! pick-ups, and predicts a player with haste as well as one without.

use std::collections::VecDeque;
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use glam::DVec3;
use obsp_client::{Client, ConnectionEvent, Credentials, LoadedMap, PredictionStats, Transmit};
use obsp_game::{AnyGame, RunningMatch};
use obsp_proto::control::{MapHash, MapName, PlayerName};
use obsp_proto::quantise::{Quantiser, WorldBounds};
use obsp_proto::server::{CommandSource, Event, JitterBuffer, MatchInfo, OwnPlayer, Session};
use obsp_proto::snapshot::AuthoritativeMotion;
use obsp_proto::{Tick, Time};
use obsp_sim::{Command, Config, EntityId, Kind, PlayerKind};

use super::capture_the_flag::CaptureTheFlag;

const RATE: NonZeroU16 = NonZeroU16::new(60).unwrap();

/// Ticks for which bytes are under way in each direction, and one in how many datagrams is lost.
const DELAY: usize = 5;
const LOSS: usize = 20;

/// Ticks of a match, and ticks before the errors count.
const TICKS: usize = 3_600;
const FIRST: usize = 120;

/// Corners of the way on which the player runs. It leads over both pick-ups.
const WAY: [[f64; 2]; 6] = [
    [-180.0, 280.0],
    [0.0, 280.0],
    [180.0, 280.0],
    [180.0, -280.0],
    [0.0, -280.0],
    [-180.0, -280.0],
];

/// The bytes under way in one direction, one entry a tick.
struct Line {
    ticks: VecDeque<(Vec<u8>, Vec<Vec<u8>>)>,
    sent: usize,
}

impl Line {
    fn new() -> Self {
        Self { ticks: vec![Default::default(); DELAY].into(), sent: 0 }
    }

    /// Adds a datagram to this tick's, unless it is lost.
    fn send(&mut self, bytes: Vec<u8>) {
        self.sent += 1;
        if !self.sent.is_multiple_of(LOSS) {
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

/// What happened in a match.
#[derive(Debug)]
struct Outcome {
    /// The prediction errors in units, ascending.
    errors: Vec<f64>,
    stats: PredictionStats,
    /// Ticks for which the player had haste.
    hasty: usize,
    /// How often the player got haste or lost it.
    changes: u64,
}

impl Outcome {
    fn p99(&self) -> f64 {
        self.errors[self.errors.len() * 99 / 100]
    }
}

/// A match of one player and the guards, and the client of the player.
struct Play {
    game: Box<dyn RunningMatch>,
    quantiser: Quantiser,
    session: Session,
    commands: JitterBuffer,
    player: Option<EntityId>,
    pushed: Option<Tick>,
    client: Client,
    /// What the client needs to predict.
    map: [Vec<u8>; 2],
    up: Line,
    down: Line,
}

impl Play {
    fn new() -> Self {
        let map = super::map("capture_the_flag.map");
        let map = Arc::new(server::load_map(Path::new(&map)).unwrap());
        let config = Config { tick_rate: 60, seed: 5, objects: 0, max_players: 2 };
        let data = CaptureTheFlag.client_data(&map).unwrap();
        let bounds = WorldBounds::covering(map.bounds().min, map.bounds().max).unwrap();
        let info = MatchInfo {
            tick_rate: RATE,
            snapshot_rate: RATE,
            map: MapHash(map.hash()),
            map_name: MapName::new("capture_the_flag"),
            bounds,
            player_limit: 2,
            schema: Arc::new(CaptureTheFlag.schema(&map).unwrap()),
            game: data.hash(),
        };
        let name = PlayerName::new("Ann").unwrap();
        Self {
            game: CaptureTheFlag.new_match(Arc::clone(&map), config).unwrap(),
            quantiser: Quantiser::new(bounds),
            session: Session::new(Arc::new(info), Time::ZERO),
            commands: JitterBuffer::new(RATE, Tick(0), Time::ZERO),
            player: None,
            pushed: None,
            client: Client::new(&name, MapHash::ANY, &Credentials::default(), Time::ZERO),
            map: [map.to_bytes(), data.bytes().to_owned()],
            up: Line::new(),
            down: Line::new(),
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

    /// Plays a match. `has_pick_ups` says whether the things that give haste are in it.
    fn run(mut self, has_pick_ups: bool) -> Outcome {
        if !has_pick_ups {
            let haste = self.game.world().model("haste").expect("the game's model");
            let state = self.game.world().state();
            let is_haste = |kind| matches!(kind, Kind::Prop { model } if model == haste);
            let pick_ups = state.entities.iter().filter(|entity| is_haste(entity.kind));
            let ids: Vec<EntityId> = pick_ups.map(|entity| entity.id).collect();
            assert_eq!(ids.len(), 2);
            ids.into_iter().for_each(|id| self.game.world_mut().remove(id).unwrap());
        }
        let stats = PredictionStats::default();
        let mut outcome = Outcome { errors: Vec::new(), stats, hasty: 0, changes: 0 };
        let (mut corner, mut waited, mut was_hasty) = (0, 0, false);
        for frame in 0..TICKS {
            let now = Time::since_start(Duration::from_secs(1) * frame as u32 / 60);
            let (stream, datagrams) = self.down.begin_tick();
            self.tick_of_server(now);
            self.client.handle_stream(&stream, now);
            for bytes in datagrams {
                let snapshot = self.client.handle_datagram(&bytes, now);
                let error = snapshot.and_then(|snapshot| snapshot.error);
                let error = error.filter(|_| frame >= FIRST);
                outcome.errors.extend(error.map(|error| error.units));
            }
            while let Some(event) = self.client.poll_event() {
                let ConnectionEvent::Joined(hello) = &event else { panic!("{event:?}") };
                let [map, data] = &self.map;
                let map = LoadedMap::from_bytes(map, data, hello).unwrap();
                self.client.use_map(Arc::new(map), now).unwrap();
            }
            while self.client.next_match_event(now).is_some() {}
            // The player runs to the next corner. One who is held up goes on to the one after it.
            let goal = DVec3::new(WAY[corner][0], WAY[corner][1], 0.0);
            let from = self.client.view(now).position().unwrap_or_default();
            let way = (goal - from).with_z(0.0);
            waited += 1;
            if way.length() < 40.0 || waited > 180 {
                (corner, waited) = ((corner + 1) % WAY.len(), 0);
            }
            self.client.tick(Command::running_towards(way), now);
            while let Some(transmit) = self.client.poll_transmit() {
                match transmit {
                    Transmit::Stream(bytes) => self.up.write(&bytes),
                    Transmit::Datagram(bytes) => self.up.send(bytes),
                    other => panic!("{other:?}"),
                }
            }
            let movement = self.player.and_then(|player| self.game.world().player_movement(player));
            let haste = self.game.world().movement_sets().find("haste");
            let is_hasty = movement.is_some() && movement == haste;
            outcome.hasty += usize::from(is_hasty);
            outcome.changes += u64::from(is_hasty != was_hasty);
            was_hasty = is_hasty;
        }
        outcome.stats = *self.client.prediction().expect("the client plays").stats();
        outcome.errors.sort_by(f64::total_cmp);
        outcome
    }
}

#[test]
fn a_player_with_haste_is_predicted_as_well_as_one_without() {
    let [without, with] = [false, true].map(|has_pick_ups| Play::new().run(has_pick_ups));
    for (name, outcome) in [("without", &without), ("with", &with)] {
        let Outcome { errors, stats, hasty, changes } = outcome;
        let (count, greatest) = (errors.len(), errors.last().unwrap());
        println!(
            "{name} haste: p99 {} and at most {greatest} units of {count}, {} corrections, {hasty} \
             ticks of haste, {changes} changes",
            outcome.p99(),
            stats.corrections
        );
        assert!(count > 500, "{count} comparisons");
    }
    assert_eq!(without.hasty, 0);
    assert!(with.hasty > 900 && with.changes > 5, "haste for {} ticks", with.hasty);
    assert!(with.p99() <= without.p99() + 0.01, "{} and {}", with.p99(), without.p99());
    let [visible, usual] = [&with, &without].map(|outcome| outcome.stats.visible_corrections);
    assert!(visible <= usual, "{visible} visible corrections, {usual} without haste");
    // The client learns of each change from a motion that it has not predicted.
    let [corrections, usual] = [&with, &without].map(|outcome| outcome.stats.corrections);
    assert!(corrections <= usual + with.changes, "{corrections}, {usual} without haste");
}
