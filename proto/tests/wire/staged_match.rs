//! One server session and one client session that play a scene over two links.

use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use glam::{DVec3, Vec3};
use obsp_proto::commands::{Acknowledgement, CommandBatch, CommandDatagram};
use obsp_proto::control::{MapHash, MapName, PlayerName, Ticket};
use obsp_proto::quantise::{Quantised, Quantiser};
use obsp_proto::schema::{FieldValues, MatchValues, Schema};
use obsp_proto::server::{CommandSource, JitterBuffer, MatchInfo, OwnPlayer};
use obsp_proto::snapshot::AuthoritativeMotion;
use obsp_proto::{Tick, Time, client, server};
use obsp_sim::{Command, EntityId, Kind, Moving, PlayerMotion, Walker};

use crate::link::{Impairments, Link};
use crate::random::Random;
use crate::scene::Scene;
use crate::values;

pub(crate) const RATE: NonZeroU16 = NonZeroU16::new(60).unwrap();

/// Steps of virtual time per tick.
const STEPS: u32 = 8;

pub(crate) fn match_info() -> Arc<MatchInfo> {
    Arc::new(MatchInfo {
        tick_rate: RATE,
        snapshot_rate: RATE,
        map: MapHash([7; 32]),
        map_name: MapName::new("arena"),
        bounds: Scene::bounds(),
        player_limit: 32,
        schema: Arc::default(),
        game: None,
    })
}

/// A distinctive motion for the player of a state. The touched bodies are moving props. There are
/// at most two, and at least `least_touched` if that many props move. Each is touched for a while.
fn motion_in(state: &Quantised, least_touched: usize) -> Option<AuthoritativeMotion> {
    let player = state.entity(0)?;
    let vector = |axes: [i32; 3]| Vec3::from_array(axes.map(|axis| axis as f32 / 3.0));
    let walker = Walker { grounded: player.asleep, ..Walker::default() };
    let velocity = vector(player.velocity.map(i32::from));
    let motion = PlayerMotion { position: vector(player.position), velocity, walker };
    let mut random = Random::new(u64::from(state.tick().0 / 20));
    let count = least_touched + random.below(AuthoritativeMotion::MAX_TOUCHED + 1 - least_touched);
    let first = random.below(state.slots());
    let bounds = Scene::bounds();
    let moving = (first..state.slots()).chain(0..first).filter_map(|slot| {
        let state = state.entity(slot)?.dequantise(slot as u16, &bounds);
        let is_prop = matches!(state.kind, Kind::Prop { .. });
        let moves = is_prop && !state.asleep && state.velocity != DVec3::ZERO;
        moves.then(|| Moving::new(state, state.velocity / 7.0))
    });
    Some(AuthoritativeMotion::new(motion, Tick(0), None).with_touched(Tick(0), moving.take(count)))
}

/// A command datagram that acknowledges these snapshots.
pub(crate) fn acknowledging(tick: u32, before: u32) -> Vec<u8> {
    let batch = CommandBatch::new(Tick(50), vec![Command::default()]).unwrap();
    let acknowledgement = Some(Acknowledgement { latest: Tick(tick), before });
    CommandDatagram { acknowledgement, batch }.encode()
}

/// Exchanges both sides' output on the control stream, and returns the events of each side.
pub(crate) fn exchange(
    server: &mut server::Session,
    client: &mut client::Session,
    now: Time,
) -> (Vec<server::Event>, Vec<client::Event>) {
    let up = client.stream_output();
    let on_server = if up.is_empty() { vec![] } else { server.receive_stream(now, &up).unwrap() };
    let down = server.stream_output();
    let on_client =
        if down.is_empty() { vec![] } else { client.receive_stream(now, &down).unwrap() };
    (on_server, on_client)
}

pub(crate) struct Match {
    pub(crate) seed: u64,
    pub(crate) scene: Scene,
    pub(crate) server: server::Session,
    pub(crate) client: client::Session,
    pub(crate) jitter_buffer: JitterBuffer,
    pub(crate) up: Link,
    pub(crate) down: Link,
    pub(crate) limit: usize,
    /// Each state so far, by tick.
    pub(crate) states: Vec<Arc<Quantised>>,
    /// Ticks that used the client's own command, and all ticks.
    pub(crate) in_time: (u32, u32),
    /// The command of the last tick. Its yaw is the tick of the latest snapshot that the
    /// client had when it sent the command.
    pub(crate) taken: (Command, CommandSource),
    /// Whether the player does nothing, so that all commands are the same.
    pub(crate) is_idle: bool,
    /// Number of authoritative motions received.
    pub(crate) motions: u32,
    /// Number of authoritative motions received, by the number of touched bodies.
    pub(crate) touched: [u32; AuthoritativeMotion::MAX_TOUCHED + 1],
    /// Minimum number of bodies that the player touches, if that many move.
    pub(crate) least_touched: usize,
    schema: Arc<Schema>,
    /// The values of the match and of the client's own player so far.
    values: Vec<[FieldValues; 2]>,
    /// The tick in which the scene froze.
    frozen_at: Option<u64>,
    quantiser: Quantiser,
    now: Time,
}

impl Match {
    /// A match that the client has just joined.
    pub(crate) fn new(seed: u64, scene: Scene, impairments: Impairments) -> Self {
        Self::of_game(Schema::default(), seed, scene, impairments)
    }

    /// A match of a game with these fields, which the client has just joined. All fields have
    /// values.
    pub(crate) fn of_game(
        schema: Schema,
        seed: u64,
        scene: Scene,
        impairments: Impairments,
    ) -> Self {
        Self::joined_after(Duration::ZERO, schema, seed, scene, impairments)
    }

    /// A match as [`Match::of_game`] returns it, except that the client's hello was under way for
    /// this long.
    pub(crate) fn joined_after(
        waited: Duration,
        schema: Schema,
        seed: u64,
        scene: Scene,
        impairments: Impairments,
    ) -> Self {
        let now = Time::since_start(waited);
        let schema = Arc::new(schema);
        let info = MatchInfo { schema: Arc::clone(&schema), ..(*match_info()).clone() };
        let mut server = server::Session::new(Arc::new(info), Time::ZERO);
        let name = PlayerName::new("tester").unwrap();
        let mut client = client::Session::new(&name, MapHash::ANY, Time::ZERO);
        let (events, _) = exchange(&mut server, &mut client, now);
        let (token, ticket) = (Vec::new(), Ticket::NONE);
        let match_name = None;
        assert_eq!(events, [server::Event::Hello { name, token, ticket, match_name }]);
        let player = EntityId { slot: 0, generation: 1 };
        server.accept(player, Tick(0));
        let (_, events) = exchange(&mut server, &mut client, now);
        assert!(matches!(events[..], [client::Event::Joined(_)]));

        let mut quantiser = Quantiser::new(Scene::bounds());
        let states = vec![Arc::new(quantiser.quantise(scene.state()).unwrap())];
        Self {
            seed,
            scene,
            server,
            client,
            jitter_buffer: JitterBuffer::new(RATE, Tick(0), now),
            up: Link::new(seed ^ 1, impairments),
            down: Link::new(seed ^ 2, impairments),
            limit: 1200,
            states,
            in_time: (0, 0),
            taken: (Command::default(), CommandSource::Neutral),
            is_idle: false,
            motions: 0,
            touched: [0; AuthoritativeMotion::MAX_TOUCHED + 1],
            least_touched: 0,
            schema,
            values: vec![Default::default()],
            frozen_at: None,
            quantiser,
            now,
        }
    }

    /// Begins an outage of this length, in one direction or both.
    pub(crate) fn cut(&mut self, length: Duration, up: bool, down: bool) {
        let until = self.now + length;
        for (link, is_cut) in [(&mut self.up, up), (&mut self.down, down)] {
            if is_cut {
                link.cut(until);
            }
        }
    }

    /// Runs this many ticks, and checks everything on the way.
    pub(crate) fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            for _ in 0..STEPS {
                self.now = self.now + Self::step();
                self.deliver_commands();
                self.deliver_snapshots();
            }
            self.tick();
        }
    }

    /// Stalls the server for this many ticks. The server skips the time of these ticks. Commands
    /// that arrive meanwhile wait for it.
    pub(crate) fn stall(&mut self, ticks: u32) {
        for _ in 0..ticks * STEPS {
            self.now = self.now + Self::step();
            self.deliver_snapshots();
        }
        self.jitter_buffer.skip_time(ticks.into(), self.now);
        self.deliver_commands();
    }

    fn step() -> Duration {
        Duration::from_secs(1) / (u32::from(RATE.get()) * STEPS)
    }

    fn deliver_commands(&mut self) {
        let seed = self.seed;
        while let Some(datagram) = self.up.receive(self.now) {
            let commands = self.server.receive_datagram(self.now, &datagram);
            let datagram = commands.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            self.jitter_buffer.receive(&datagram.unwrap(), self.now);
        }
    }

    fn deliver_snapshots(&mut self) {
        let seed = self.seed;
        while let Some(datagram) = self.down.receive(self.now) {
            let received = self.client.receive_datagram(self.now, &datagram);
            let received = received.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            if let Some(received) = received {
                assert_ne!(received.digest_agrees, Some(false), "seed {seed}");
                if let Some(motion) = received.own_motion {
                    let state = &self.states[received.tick.0 as usize];
                    let truth = motion_in(state, self.least_touched);
                    assert_eq!(received.own_motion, truth, "seed {seed}");
                    self.motions += 1;
                    self.touched[motion.touched.iter().flatten().count()] += 1;
                }
                self.check_view();
            }
        }
        // The yaw of a command is the client's latest tick, so that the test can check it.
        let due = self.client.next_command_at().unwrap();
        if due <= self.now {
            let latest = self.client.latest_tick().map_or(0, |tick| tick.0 as u16);
            let moving = Command { forward: 127, yaw: latest, ..Command::default() };
            let command = if self.is_idle { Command::default() } else { moving };
            let sent = self.client.command(self.now, command, None).unwrap();
            assert!(sent.datagram.len() <= obsp_proto::commands::MAX_COMMAND_DATAGRAM);
            self.up.send(self.now, sent.datagram);
        }
    }

    fn tick(&mut self) {
        self.scene.step();
        let mut state = self.scene.state().clone();
        if self.scene.frozen {
            // The values are also frozen.
            state.tick = self.frozen_at.unwrap_or(state.tick);
            self.frozen_at = Some(state.tick);
        }
        let values = if self.schema.has_fields() {
            values::values(&self.schema, &state)
        } else {
            MatchValues::default()
        };
        let own = values.of_own_players.first().map(|(_, values)| *values).unwrap_or_default();
        self.values.push([values.of_match, own]);
        let state = self.quantiser.quantise_with(self.scene.state(), &values);
        let state = Arc::new(state.unwrap());
        self.taken = self.jitter_buffer.take(state.tick(), self.now);
        let (_, source) = self.taken;
        self.in_time.0 += u32::from(source == CommandSource::Client);
        self.in_time.1 += 1;
        let own = OwnPlayer {
            lead: self.jitter_buffer.lead(),
            motion: motion_in(&state, self.least_touched),
            command_substituted: source != CommandSource::Client,
        };
        let datagram = self.server.encode_snapshot(&state, &own, self.limit).unwrap();
        assert!(datagram.len() <= self.limit, "seed {}", self.seed);
        self.states.push(state);
        self.down.send(self.now, datagram);
    }

    /// Checks that every value of the client equals, bit for bit, the server's value at the tick of
    /// the client's state.
    fn check_view(&self) {
        for entity in self.client.entities() {
            let (tick, _) = self.client.history(entity.id).last().unwrap();
            let slot = entity.id.slot;
            let truth = self.states[tick.0 as usize].entity(slot.into());
            assert_eq!(self.client.quantised(slot), truth, "seed {} slot {slot}", self.seed);
        }
        let [of_match, own] = [self.client.match_values(), self.client.own_values()];
        assert!(self.values.iter().any(|values| values[0] == of_match), "seed {}", self.seed);
        assert!(self.values.iter().any(|values| values[1] == own), "seed {}", self.seed);
    }

    /// Whether the client holds the server's present state.
    pub(crate) fn has_converged(&self) -> bool {
        let state = self.states.last().unwrap();
        let values = [self.client.match_values(), self.client.own_values()];
        values == *self.values.last().unwrap()
            && (0..state.slots())
                .all(|slot| self.client.quantised(slot as u16) == state.entity(slot))
    }
}
