//! A client against the server's session and simulation, in virtual time.

mod changes;
mod driving;
mod server;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use glam::DVec3;
use obsp::{CompileOptions, PlayerSize, Source, Spaces, compile};
use obsp_client::{
    Client, ConnectionEvent, Credentials, Disconnected, LoadedMap, MapError, Transmit,
};
use obsp_proto::control::{
    ChatLine, ClosingReason, MapHash, MatchEvent, PlayerName, RefusalReason,
};
use obsp_proto::game_data::GameData;
use obsp_proto::{IDLE_TIMEOUT, Time};
use obsp_sim::{Buttons, Command, EntityState};

use server::{ARENA, Server};

/// A client, its server and their clock.
struct Match {
    server: Server,
    client: Client,
    now: Time,
    /// The bytes of the map, and the game's data that the client has.
    arena: Vec<u8>,
    game: GameData,
    /// Events of the connection.
    events: Vec<ConnectionEvent>,
    /// Match events.
    told: Vec<MatchEvent>,
    /// Prediction errors, in units, of motions that nothing unpredictable can have disturbed.
    errors: Vec<f64>,
    digests: u64,
    /// Whether the player jumps all the time.
    jumps: bool,
    /// Whether the player does nothing.
    stands: bool,
    /// The highest speed over the ground that was predicted, in units a second.
    fastest: f32,
    /// How the client ended the connection.
    end: Option<Transmit>,
}

impl Match {
    fn new(objects: u32) -> Self {
        Self::playing(objects, &GameData::default(), GameData::default())
    }

    /// A match of `game` in the arena. The client uses the data `told`, which may be those of
    /// another game.
    fn playing(objects: u32, game: &GameData, told: GameData) -> Self {
        Self::on(std::fs::read(ARENA).unwrap(), objects, game, told)
    }

    /// A match of `game` on this compiled map. The client uses the data `told`.
    fn on(arena: Vec<u8>, objects: u32, game: &GameData, told: GameData) -> Self {
        let name = PlayerName::new("Ann").unwrap();
        Self {
            server: Server::playing(&arena, objects, game, told.hash()),
            client: Client::new(&name, MapHash::ANY, &Credentials::default(), Time::ZERO),
            now: Time::ZERO,
            arena,
            game: told,
            events: Vec::new(),
            told: Vec::new(),
            errors: Vec::new(),
            digests: 0,
            jumps: false,
            stands: false,
            fastest: 0.0,
            end: None,
        }
    }

    /// A match that the client has joined, one second ago.
    fn joined(objects: u32) -> Self {
        let mut game = Self::new(objects);
        game.run(60);
        assert!(game.client.motion().is_some(), "the player never came into the world");
        game
    }

    /// Plays this many frames, in which the player wanders.
    fn run(&mut self, frames: u32) {
        (0..frames).for_each(|_| self.frame());
    }

    fn frame(&mut self) {
        self.now = self.now + Duration::from_micros(16_667);
        while let Some(bytes) = self.server.read_stream(self.now) {
            // The client gets the stream byte by byte, because pieces may be that small.
            bytes.iter().for_each(|byte| self.client.handle_stream(&[*byte], self.now));
        }
        while let Some(bytes) = self.server.read_datagram(self.now) {
            let Some(snapshot) = self.client.handle_datagram(&bytes, self.now) else { continue };
            assert_ne!(snapshot.received.digest_agrees, Some(false));
            self.digests += u64::from(snapshot.received.digest_agrees.is_some());
            let undisturbed = snapshot.error.filter(|error| !error.disturbed);
            self.errors.extend(undisturbed.map(|error| error.units));
        }
        while let Some(event) = self.client.poll_event() {
            if let ConnectionEvent::Joined(hello) = &event {
                let map = LoadedMap::from_bytes(&self.arena, self.game.bytes(), hello).unwrap();
                self.client.use_map(Arc::new(map), self.now).unwrap();
            }
            self.events.push(event);
        }
        self.client.tick(self.wandering(), self.now);
        let speed = self.client.motion().map(|(_, motion)| motion.velocity.truncate().length());
        self.fastest = self.fastest.max(speed.unwrap_or_default());
        self.transmit();
        while let Some((_, event)) = self.client.next_match_event(self.now) {
            self.told.push(event);
        }
    }

    fn transmit(&mut self) {
        while let Some(transmit) = self.client.poll_transmit() {
            match transmit {
                Transmit::Stream(bytes) => self.server.write_stream(&bytes, self.now),
                Transmit::Datagram(bytes) => self.server.send_datagram(bytes, self.now),
                end @ (Transmit::Finish | Transmit::Close { .. }) => {
                    self.server.close();
                    self.end = Some(end);
                }
            }
        }
    }

    fn wandering(&self) -> Command {
        if self.stands {
            return Command::default();
        }
        let tick = (self.now.elapsed().as_millis() / 16) as u32;
        let yaw = (tick / 40 * 9_000) as u16;
        let jumps = self.jumps && tick.is_multiple_of(3);
        let buttons = if jumps { Buttons::JUMP } else { Buttons::default() };
        Command { forward: 127, right: (tick % 100) as i8, yaw, buttons, ..Command::default() }
    }

    /// The reason why the client is no longer in the match.
    fn disconnected(&self) -> &Disconnected {
        match self.events.last() {
            Some(ConnectionEvent::Disconnected(cause)) => cause,
            other => panic!("the client was not disconnected: {other:?}"),
        }
    }
}

#[test]
fn a_player_alone_is_predicted_to_the_bit() {
    let mut game = Match::joined(0);
    game.errors.clear();
    game.run(600);
    assert!(game.errors.len() > 50, "{} comparisons", game.errors.len());
    assert_eq!(game.errors.iter().copied().fold(0.0, f64::max), 0.0);
    assert!(game.digests > 20, "{} digests", game.digests);
    // The prediction is ahead of what the server has played.
    let (tick, _) = game.client.motion().unwrap();
    assert!(u64::from(tick.0) > game.server.world().state().tick);
}

/// Movement that differs from the default in every number is predicted exactly with the game's
/// data. A client with other data mispredicts.
#[test]
fn a_player_who_moves_by_other_numbers_is_predicted_to_the_bit() {
    let other = GameData::parse(
        "[movement]\nrun_speed = 510\nslow_share = 0.3\nfriction = 3.5\nstop_speed = 60\n\
         ground_acceleration = 7\nair_acceleration = 5.5\njump_speed = 410\ngravity = 333.3\n\
         step_height = 25",
    );
    let other = other.unwrap();
    let greatest_error = |told: &GameData| {
        let mut game = Match::playing(0, &other, told.clone());
        game.jumps = true;
        game.run(660);
        assert!(game.errors.len() > 50, "{} comparisons", game.errors.len());
        assert!(game.fastest > 330.0, "nobody ran faster than usual: {}", game.fastest);
        game.errors.iter().copied().fold(0.0, f64::max)
    };
    assert_eq!(greatest_error(&other), 0.0);
    assert!(greatest_error(&GameData::default()) > 1.0);
}

/// Players have the size that the map was compiled for, on the server and in the prediction.
#[test]
fn players_of_another_size_are_predicted_exactly() {
    let small = PlayerSize { width: 20.0, height: 40.0, crouched_height: 24.0 };
    let spaces = Spaces::default().with_players(&small).unwrap();
    let source = Source::read(Path::new(ARENA).with_extension("map").as_path()).unwrap();
    let compiled =
        compile(&source, &spaces, &CompileOptions::default(), &mut |_, _, _| ()).unwrap();
    let none = GameData::default();
    let mut game = Match::on(compiled.map.to_bytes(), 0, &none, none.clone());
    game.jumps = true;
    game.run(1_800);
    let own = game.server.player().and_then(|own| game.server.world().bounds_of(own));
    let height = own.map(|bounds| bounds.max.z - bounds.min.z).unwrap();
    assert!((height - 40.0).abs() < 0.1 || (height - 24.0).abs() < 0.1, "{height}");
    assert!(game.errors.len() > 200, "{}", game.errors.len());
    assert!(game.errors.iter().all(|error| *error == 0.0), "{:?}", game.errors);
}

/// A box with these sides about the origin, as OBJ text.
fn block([x, y, z]: [f64; 3]) -> String {
    let mut text = String::new();
    for corner in 0..8 {
        let half =
            |bit: u32, side: f64| if corner >> bit & 1 == 1 { side / 2.0 } else { -side / 2.0 };
        text += &format!("v {} {} {}\n", half(0, x), half(1, y), half(2, z));
    }
    text + "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"
}

/// A game's own slabs are as low as a step: players walk onto them, and push slabs that stand on
/// their edge. A client that takes them for small cubes mispredicts.
#[test]
fn bodies_of_a_model_of_the_games_own_are_predicted_by_their_shape() {
    let slab = |sides| {
        let read = GameData::read("[models]\nslab = 'slab.obj'", &mut |_, _| Ok(block(sides)));
        read.unwrap()
    };
    let own = slab([90.0, 50.0, 14.0]);
    let high_error = |told: GameData| {
        let mut game = Match::playing(0, &own, told);
        game.jumps = true;
        game.run(60);
        let player = game.server.player().unwrap();
        let world = game.server.world_mut();
        let model = world.model("slab").unwrap();
        let here = world.player_motion(player).unwrap().position;
        let places = (0..64_u32).map(|number| {
            let (x, y) = (f64::from(number % 8) - 3.5, f64::from(number / 8) - 3.5);
            here.as_dvec3() + glam::DVec3::new(110.0 * x, 70.0 * y, 0.0)
        });
        let placed = places
            .filter(|place| world.spawn_body_near(model, *place, glam::DQuat::IDENTITY).is_ok());
        assert!(placed.count() > 20);
        let mut stood_on = 0;
        for _ in 0..1_800 {
            game.frame();
            let feet = game.server.player().and_then(|own| game.server.world().player_motion(own));
            let Some(feet) = feet.map(|motion| motion.position.as_dvec3() - 28.0 * glam::DVec3::Z)
            else {
                continue;
            };
            let is_below = |at: glam::DVec3| {
                let away = feet - at;
                away.truncate().length() < 45.0 && (5.0..12.0).contains(&away.z)
            };
            let state = game.server.world().state();
            stood_on += u32::from(state.entities.iter().any(|entity| is_below(entity.position)));
        }
        assert!(stood_on > 5, "the player stood on a slab in {stood_on} frames");
        game.errors.sort_by(f64::total_cmp);
        game.errors[game.errors.len() * 98 / 100]
    };
    let known = high_error(own.clone());
    assert!(known < 0.1, "one in fifty predictions is wrong by more than {known} units");
    let unknown = high_error(slab([8.0, 8.0, 8.0]));
    assert!(unknown > 1.0, "a wrong shape changed the prediction by {unknown} units only");
}

#[test]
fn props_are_predicted_and_seen_over_a_line_that_loses_a_tenth() {
    let mut game = Match::new(200);
    (game.server.delay, game.server.loss) = (Duration::from_millis(60), 10);
    game.run(840);
    let before = game.server.world().state();
    game.run(60);
    game.errors.sort_by(f64::total_cmp);
    let high = game.errors[game.errors.len() * 95 / 100];
    assert!(
        high < 0.1,
        "one in twenty of {} errors is above {high} units: {:?}",
        game.errors.len(),
        game.errors
    );
    let view = game.client.view(game.now);
    let world = game.server.world().state();
    let props = world.entities.iter().filter(|entity| Some(entity.id) != game.server.player());
    assert_eq!(view.entities().count(), props.count());
    // A body that has been at rest for a second is shown at its place.
    let rested = |entity: &&EntityState| entity.asleep && before.entities.contains(entity);
    assert!(world.entities.iter().filter(rested).count() > 50);
    for entity in world.entities.iter().filter(rested) {
        let seen = view.entity(entity.id).unwrap();
        assert!(seen.position.distance(entity.position) < 0.1, "{entity:?} seen as {seen:?}");
    }
    assert!(view.render_tick().unwrap() < world.tick as f64);
}

#[test]
fn match_events_wait_for_their_tick_to_be_shown_and_keep_the_roster() {
    let mut game = Match::joined(0);
    let own = game.server.player().unwrap();
    let names = |game: &Match| -> Vec<String> {
        let view = game.client.view(game.now);
        view.roster().players().map(|entry| entry.name.to_string()).collect()
    };
    assert_eq!(names(&game), ["Ann"]);
    game.client.say(ChatLine::new("hello").unwrap());
    game.run(10);
    assert!(matches!(game.server.events.last(), Some(obsp_proto::server::Event::Said(_))));
    game.told.clear();
    let happened = obsp_proto::Tick(game.server.world().state().tick as u32 + 30);
    game.server.session().send_event(happened, &MatchEvent::Left { player: own });
    while game.told.is_empty() {
        assert_eq!(names(&game), ["Ann"]);
        game.frame();
    }
    assert!(game.client.view(game.now).render_tick().unwrap() >= f64::from(happened.0));
    assert!(names(&game).is_empty());
}

#[test]
fn only_the_map_of_the_match_is_used() {
    let mut game = Match::joined(0);
    let warren = ARENA.replace("arena", "warren");
    let bytes = std::fs::read(warren).unwrap();
    let hello = game.client.session().hello().unwrap().clone();
    assert!(matches!(LoadedMap::from_bytes(&bytes, &[], &hello), Err(MapError::Other)));
    assert!(matches!(LoadedMap::from_bytes(b"map", &[], &hello), Err(MapError::Invalid(_))));
    let game_of_another = GameData::parse("[movement]\ngravity = 400").unwrap();
    let other = LoadedMap::from_bytes(&game.arena, game_of_another.bytes(), &hello);
    assert!(matches!(other, Err(MapError::OtherGame)));
    assert!(matches!(LoadedMap::from_bytes(&game.arena, b"?", &hello), Err(MapError::OtherGame)));
    let world = || obsp::Map::from_bytes(&game.arena).unwrap();
    let other = LoadedMap::new(world(), &game_of_another, &hello.schema).unwrap();
    let refused = game.client.use_map(Arc::new(other), game.now);
    assert!(matches!(refused, Err(MapError::OtherGame)));
    let world = obsp::Map::from_bytes(&bytes).unwrap();
    let other = LoadedMap::new(world, &GameData::default(), &hello.schema).unwrap();
    let refused = game.client.use_map(Arc::new(other), game.now);
    assert!(matches!(refused, Err(MapError::Other)));
    assert!(game.client.motion().is_some(), "the client still plays on the previous map");
}

#[test]
fn a_silent_server_is_noticed() {
    let mut game = Match::joined(0);
    let begin = game.now;
    while !matches!(game.events.last(), Some(ConnectionEvent::Disconnected(_))) {
        game.now = game.now + Duration::from_millis(100);
        game.client.tick(Command::default(), game.now);
        game.events.extend(game.client.poll_event());
    }
    assert!(matches!(game.disconnected(), Disconnected::TimedOut));
    assert!(game.now.since(begin) <= IDLE_TIMEOUT + Duration::from_millis(100));
    assert!(!game.disconnected().is_final());
    // Only the latest commands are still waiting for the caller.
    let waiting = std::iter::from_fn(|| game.client.poll_transmit());
    assert!(waiting.count() <= 5);
}

#[test]
fn a_server_that_breaks_the_protocol_is_left() {
    for garbage in [&[0xff; 40][..], &[3, 0, 9, 9, 9]] {
        let mut game = Match::joined(0);
        game.client.handle_stream(garbage, game.now);
        game.frame();
        assert!(matches!(game.disconnected(), Disconnected::Protocol(_)), "{:?}", game.events);
        assert!(game.disconnected().is_final());
        assert!(matches!(game.end, Some(Transmit::Close { code: 2, .. })), "{:?}", game.end);
    }
    let mut game = Match::joined(0);
    assert_eq!(game.client.handle_datagram(&[0xff; 40], game.now), None);
    game.frame();
    assert!(matches!(game.end, Some(Transmit::Close { code: 4, .. })), "{:?}", game.end);
    assert_eq!(game.client.next_tick_at(), None);
}

#[test]
fn an_end_by_the_server_or_by_the_client_is_clean() {
    let mut removed = Match::joined(0);
    let why = ClosingReason::Removed(ChatLine::new("spam").unwrap());
    removed.server.session().close(why.clone());
    removed.run(10);
    assert!(matches!(removed.disconnected(), Disconnected::Closed(reason) if *reason == why));
    assert!(removed.disconnected().is_final());
    assert!(matches!(removed.end, Some(Transmit::Close { code: 0, .. })));

    let mut leaver = Match::joined(0);
    leaver.client.leave();
    leaver.run(10);
    assert_eq!(leaver.end, Some(Transmit::Finish));
    assert!(leaver.server.events.contains(&obsp_proto::server::Event::Left));
}

#[test]
fn a_lost_connection_or_map_ends_the_session_once() {
    let mut lost = Match::joined(0);
    assert_eq!(lost.client.needs_map(), None);
    lost.client.handle_closed("reset by peer");
    lost.client.handle_closed("again");
    lost.frame();
    let Disconnected::Connection(reason) = lost.disconnected() else { panic!("{:?}", lost.events) };
    assert_eq!(reason, "reset by peer");
    assert!(!lost.disconnected().is_final());
    assert!(matches!(lost.end, Some(Transmit::Close { code: 0, .. })));

    let mut without = Match::joined(0);
    without.client.handle_no_map(MapError::Other);
    without.frame();
    assert!(matches!(without.disconnected(), Disconnected::Map(MapError::Other)));
    assert!(without.server.is_closed);
}

/// The view answers queries with any position and reach.
#[test]
fn odd_places_and_reaches_are_answered() {
    let game = Match::joined(8);
    let view = game.client.view(game.now);
    let at = view.position().expect("it plays");
    let all = view.entities().count();
    let odd = [0.0, 5e-324, 1e-155, 1e30, -1e30, 1e155, 1e308, f64::MAX, f64::INFINITY, f64::NAN];
    for number in odd {
        for place in [at, at.with_x(number), at.with_z(-number), DVec3::splat(number)] {
            for reach in [number, -number, 64.0] {
                let found = view.entities_near(place, reach).collect::<Vec<_>>();
                assert!(found.len() <= all, "{place}, {reach}");
                assert!(found.iter().all(|entity| entity.position.is_finite()), "{found:?}");
            }
        }
        if number > 1e6 && number.is_finite() {
            assert_eq!(view.entities_near(at, number).count(), all, "{number}");
        }
    }
}

#[test]
fn a_refusal_is_an_event() {
    let name = PlayerName::new("Ann").unwrap();
    let other = MapHash([9; 32]);
    let mut game = Match::new(0);
    game.client = Client::new(&name, other, &Credentials::default(), game.now);
    game.run(10);
    let Disconnected::Refused(reason) = game.disconnected() else { panic!("{:?}", game.events) };
    assert!(matches!(reason, RefusalReason::WrongMap { .. }), "{reason}");
    assert!(game.server.is_closed);
    assert!(game.disconnected().is_final());
}

/// The server does not repeat the motion of a player who stands still. So a client keeps that
/// motion, even if it lost the snapshot with the player's entity.
#[test]
fn a_player_who_stands_still_is_predicted_whichever_snapshots_are_lost() {
    for lost in 0..1 << 7 {
        let mut game = Match::new(0);
        game.stands = true;
        game.server.lost = lost;
        game.run(90);
        let own = game.server.player().unwrap();
        let motion = game.client.motion().map(|(_, motion)| motion);
        assert_eq!(motion, game.server.world().player_motion(own), "lost: {lost:#b}");
    }
}
