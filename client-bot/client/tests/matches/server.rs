// A server with one place, in virtual time, at the other end of a line with a delay. It has the
// simulation and the protocol session of the real server. The example of the README includes this
// file as well, so it has no inner comments.

use std::collections::VecDeque;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use obsp_proto::control::{GameHash, MapHash, MapName, MatchEvent};
use obsp_proto::game_data::GameData;
use obsp_proto::quantise::{Quantiser, WorldBounds};
use obsp_proto::schema::Schema;
use obsp_proto::server::{CommandSource, Event, JitterBuffer, MatchInfo, OwnPlayer, Session};
use obsp_proto::snapshot::AuthoritativeMotion;
use obsp_proto::{Tick, Time};
use obsp_sim::{CollisionLayers, Command, Config, EntityId, MovementId, PlayerKind, World};

/// The map of these matches.
pub(crate) const ARENA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../maps/arena.obsp");

const RATE: NonZeroU16 = NonZeroU16::new(60).unwrap();

/// The messages that are under way in one direction, each with its arrival.
type Line = VecDeque<(Time, Vec<u8>)>;

/// A server in virtual time.
pub(crate) struct Server {
    world: World,
    quantiser: Quantiser,
    session: Session,
    commands: JitterBuffer,
    /// The kind of player that the client joins as.
    pub(crate) kind: PlayerKind,
    player: Option<EntityId>,
    /// The set of movement parameters that the player gets after the next tick.
    pub(crate) next_movement: Option<MovementId>,
    /// The layers that the player gets after the next tick in which nothing is in the player.
    pub(crate) next_layers: Option<CollisionLayers>,
    pushed: Option<Tick>,
    /// The time of the last tick.
    now: Time,
    /// How long bytes are under way.
    pub(crate) delay: Duration,
    /// One in this many datagrams is lost, counted over both directions; 0 for none.
    pub(crate) loss: u32,
    /// A mask of the first snapshots that are lost. The lowest bit stands for the first snapshot.
    pub(crate) lost: u32,
    sent: u32,
    stream_down: Line,
    datagrams_down: Line,
    stream_up: Line,
    datagrams_up: Line,
    /// The events of the session so far.
    pub(crate) events: Vec<Event>,
    /// Whether the client has ended the connection.
    pub(crate) is_closed: bool,
}

fn take(line: &mut Line, now: Time) -> Option<Vec<u8>> {
    line.front().filter(|(arrival, _)| *arrival <= now)?;
    line.pop_front().map(|(_, bytes)| bytes)
}

impl Server {
    /// A match on this compiled map, with `objects` props besides the map's own props; 0 stands for
    /// no props at all.
    #[allow(dead_code, reason = "only the example of the README uses it")]
    pub(crate) fn new(map: &[u8], objects: u32) -> Self {
        Self::playing(map, objects, &GameData::default(), None)
    }

    /// A match of `game`, otherwise like that of [`Server::new`]. `told` is the hash of the game's
    /// data in the server's hello.
    pub(crate) fn playing(
        map: &[u8],
        objects: u32,
        game: &GameData,
        told: Option<GameHash>,
    ) -> Self {
        let map = Arc::new(obsp::Map::from_bytes(map).expect("a compiled map"));
        let config = Config { tick_rate: RATE.get().into(), seed: 7, objects, max_players: 1 };
        let mut models = obsp::model::shipped();
        // Without their models, the map's own props are also left out.
        models.retain(|_| objects > 0);
        models.extend_from_slice(game.models());
        let names = models.iter().map(|model| model.name().to_owned());
        let schema = Schema::of_models(names).expect("names that can be sent");
        let mut world =
            World::new(Arc::clone(&map), models.into(), config).expect("a playable map");
        let movement = game.movement_sets().clone();
        world.set_movement_sets(movement).expect("numbers that players can move by");
        world.set_body_gravity(game.body_gravity()).expect("within the range");
        let info = Self::info(&map, schema, told);
        Self {
            world,
            quantiser: Quantiser::new(info.bounds),
            session: Session::new(info, Time::ZERO),
            commands: JitterBuffer::new(RATE, Tick(0), Time::ZERO),
            kind: PlayerKind::Box,
            player: None,
            next_movement: None,
            next_layers: None,
            pushed: None,
            now: Time::ZERO,
            delay: Duration::from_millis(25),
            loss: 0,
            lost: 0,
            sent: 0,
            stream_down: Line::new(),
            datagrams_down: Line::new(),
            stream_up: Line::new(),
            datagrams_up: Line::new(),
            events: Vec::new(),
            is_closed: false,
        }
    }

    /// The match on a map, as the server's hello describes it.
    fn info(map: &obsp::Map, schema: Schema, game: Option<GameHash>) -> Arc<MatchInfo> {
        let bounds = map.bounds();
        Arc::new(MatchInfo {
            tick_rate: RATE,
            snapshot_rate: RATE,
            map: MapHash(map.hash()),
            map_name: MapName::new("arena"),
            bounds: WorldBounds::covering(bounds.min, bounds.max).expect(
                "the map is within the \
                bounds that can be sent",
            ),
            player_limit: 1,
            schema: Arc::new(schema),
            game,
        })
    }

    /// The session, for tests that send something at once.
    pub(crate) fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The entity of the client, once it has joined.
    pub(crate) fn player(&self) -> Option<EntityId> {
        self.player
    }

    /// The simulation, for tests that put something into it.
    pub(crate) fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// The simulation.
    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    /// The next bytes that the client reads on the control stream.
    pub(crate) fn read_stream(&mut self, now: Time) -> Option<Vec<u8>> {
        self.run(now);
        take(&mut self.stream_down, now)
    }

    /// The datagram that reaches the client next.
    pub(crate) fn read_datagram(&mut self, now: Time) -> Option<Vec<u8>> {
        self.run(now);
        take(&mut self.datagrams_down, now)
    }

    /// Takes bytes that the client writes to the control stream.
    pub(crate) fn write_stream(&mut self, bytes: &[u8], now: Time) {
        self.stream_up.push_back((now + self.delay, bytes.to_owned()));
    }

    /// Takes a datagram that the client sends.
    pub(crate) fn send_datagram(&mut self, bytes: Vec<u8>, now: Time) {
        if !self.is_lost() {
            self.datagrams_up.push_back((now + self.delay, bytes));
        }
    }

    /// Ends the connection for the client.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    fn is_lost(&mut self) -> bool {
        self.sent += 1;
        self.loss > 0 && self.sent.is_multiple_of(self.loss)
    }

    /// Plays all ticks up to `now`.
    fn run(&mut self, now: Time) {
        let length = Duration::from_secs(1) / u32::from(RATE.get());
        while self.now + length <= now {
            self.now = self.now + length;
            self.receive();
            self.tick();
            let bytes = self.session.stream_output();
            if !bytes.is_empty() {
                self.stream_down.push_back((self.now + self.delay, bytes));
            }
        }
    }

    fn receive(&mut self) {
        while let Some(bytes) = take(&mut self.stream_up, self.now) {
            for event in self.session.receive_stream(self.now, &bytes).expect("a valid stream") {
                if let Event::Hello { name, .. } = &event {
                    let player = self.world.join_as(self.kind).expect("a free place");
                    let tick = Tick(self.world.state().tick as u32);
                    self.session.accept(player, tick);
                    let joined = MatchEvent::Joined { player, name: name.clone() };
                    self.session.send_event(tick.after(1), &joined);
                    self.player = Some(player);
                    self.commands = JitterBuffer::new(RATE, tick, self.now);
                }
                self.events.push(event);
            }
        }
        while let Some(bytes) = take(&mut self.datagrams_up, self.now) {
            let received = self.session.receive_datagram(self.now, &bytes);
            if let Some(datagram) = received.expect("a valid datagram") {
                self.commands.receive(&datagram, self.now);
            }
        }
    }

    fn tick(&mut self) {
        let tick = Tick(self.world.state().tick as u32 + 1);
        let mut own = OwnPlayer::default();
        let mut commands: Vec<(EntityId, Command)> = Vec::new();
        if let Some(player) = self.player {
            let (command, source) = self.commands.take(tick, self.now);
            commands.push((player, command));
            own.command_substituted = source != CommandSource::Client;
            own.lead = self.commands.lead();
        }
        self.world.step(&commands);
        if let Some(player) = self.player {
            // A game decides after the moves of the tick.
            if let Some(set) = self.next_movement.take() {
                self.world.set_player_movement(player, set).expect("the player is on foot");
            }
            let mut set = |layers: &CollisionLayers| self.world.set_layers(player, *layers).is_ok();
            self.next_layers.take_if(|layers| set(layers));
            if self.world.was_pushed(player) {
                self.pushed = Some(tick);
            }
            let touched = self.world.touched_by(player);
            let motion = self.world.player_motion(player);
            own.motion = motion.map(|motion| {
                AuthoritativeMotion::new(motion, tick, self.pushed).with_touched(tick, touched)
            });
        }
        let state = self.quantiser.quantise(&self.world.state()).expect(
            "the state is within the \
            bounds that can be sent",
        );
        let state = Arc::new(state);
        let snapshot = self.session.encode_snapshot(&state, &own, 1200);
        if let Some(snapshot) = snapshot.filter(|_| !self.is_lost()) {
            let is_lost = self.lost & 1 == 1;
            self.lost >>= 1;
            if is_lost {
                return;
            }
            self.datagrams_down.push_back((self.now + self.delay, snapshot));
        }
    }
}
