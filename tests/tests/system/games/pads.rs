//! Repair pads, the example on top of the arena game: it is played clean, and each of its rules
//! does its job.

use glam::{DQuat, DVec3};
use obsp_game::{Event, Match, RunningMatch};
use obsp_sim::{Buttons, Command, Config, EntityId, Kind, PlayerKind};
use server::soak::{SoakOptions, soak_game};
use tests::harness::MapBuilder;

use super::repair_pads::RepairPads;

/// Seconds between two boxes.
const RELOAD: u32 = 2;
const RATE: u32 = 60;

/// Keeps the tank in the air.
const CLIMB: Command = holding(Buttons::JUMP);
/// Lands the tank.
const LAND: Command = holding(Buttons::CROUCH);
/// Drops a box.
const DROP: Command = holding(Buttons::TERTIARY);
/// Flies off to the right and up.
const AWAY: Command = Command { right: 127, ..CLIMB };

const fn holding(buttons: Buttons) -> Command {
    Command { forward: 0, right: 0, yaw: 0, pitch: 0, buttons, view_age: 0 }
}

/// A match with one tank, high above the middle of the map.
struct Flight {
    game: Match<RepairPads>,
    tank: EntityId,
    /// How often a box has become a pad.
    deployed: usize,
}

impl Flight {
    fn over(map: &MapBuilder) -> Self {
        let config = Config { tick_rate: RATE, seed: 1, objects: 0, max_players: 2 };
        let mut game = Match::new(RepairPads, map.compile().into(), config).unwrap();
        let tank = game.join_as(PlayerKind::Hovertank).unwrap();
        game.step(&[]);
        let mut flight = Self { game, tank, deployed: 0 };
        flight.put(flight.tank, DVec3::Z * 150.0);
        flight
    }

    fn put(&mut self, id: EntityId, place: DVec3) {
        self.game.world_mut().teleport(id, place, DQuat::IDENTITY).unwrap();
    }

    fn run(&mut self, ticks: u32, command: Command) {
        for _ in 0..ticks {
            self.game.step(&[(self.tank, command)]);
            let told = self.game.events().iter().filter(|event| matches!(event, Event::Game(_)));
            self.deployed += told.count();
        }
    }

    /// Drops a box, and flies off while it becomes a pad that comes to rest.
    fn deploy(&mut self) -> EntityId {
        self.run(1, DROP);
        self.run(RATE, AWAY);
        self.run(4 * RATE, Command::default());
        self.game.state().pad(self.tank).expect("the box became a pad")
    }

    /// The bodies of a model.
    fn all(&self, model: &str) -> Vec<EntityId> {
        let world = self.game.world();
        let kind = Kind::Prop { model: world.model(model).expect("a shipped model") };
        let bodies = world.bodies().into_iter();
        bodies.filter(|id| world.entity(*id).is_some_and(|body| body.kind == kind)).collect()
    }

    fn lowest(&self, id: EntityId) -> f64 {
        self.game.world().bounds_of(id).expect("it is in the world").min.z
    }

    fn health(&self) -> u16 {
        self.game.vitals(self.tank).expect("the tank is in the match").health
    }
}

#[test]
fn tanks_play_clean_and_drop_pads() {
    let options = SoakOptions {
        players: 8,
        tanks: 8,
        objects: 0,
        ticks: 1_200,
        audit_every: 1,
        ..SoakOptions::new(super::map("../../maps/terrain.obsp"))
    };
    let report = soak_game(&RepairPads, &options).unwrap();
    assert_eq!(report.audits, 1_201, "every tick is audited");
    let faults = (report.interpenetrations, report.tunnelled, report.emergency_replacements);
    assert_eq!(faults, (0, 0, 0), "{:?}", report.findings);
    assert_eq!(report.warnings, [""; 0]);
    assert!(report.outcome.events.contains_key("deployed"), "{:?}", report.outcome.events);
}

#[test]
fn a_box_becomes_a_pad_on_the_ground() {
    let mut flight = Flight::over(&MapBuilder::floor());
    let pad = flight.deploy();
    assert_eq!((flight.all("cargo_box"), flight.all("repair_pad")), (vec![], vec![pad]));
    assert!(flight.lowest(pad) < 0.5, "the pad hangs at {}", flight.lowest(pad));
    assert!(flight.game.world().entity(pad).unwrap().asleep, "the pad does not come to rest");
    assert_eq!((flight.deployed, flight.all("grenade")), (1, vec![]));
}

#[test]
fn a_tank_is_repaired_in_the_hollow_of_its_pad_alone_and_no_further_than_whole() {
    let mut flight = Flight::over(&MapBuilder::floor());
    let pad = flight.deploy();
    flight.put(flight.tank, DVec3::new(0.0, -500.0, 45.0));
    let gunner = flight.game.join_as(PlayerKind::Box).unwrap();
    flight.run(1, Command::default());
    flight.put(gunner, DVec3::new(0.0, -800.0, 28.5));
    let fire = Command { yaw: 16_384, ..holding(Buttons::PRIMARY) };
    for _ in 0..RATE {
        flight.game.step(&[(gunner, fire)]);
    }
    let hurt = flight.health();
    assert!((1..100).contains(&hurt), "three rays left a health of {hurt}");
    flight.run(4 * RATE, LAND);
    assert!(flight.lowest(flight.tank) < 0.5, "the tank has not landed");
    assert_eq!(flight.health(), hurt, "the tank was repaired on bare ground");
    let above = flight.game.world().entity(pad).unwrap().position + DVec3::Z * 60.0;
    flight.put(flight.tank, above);
    let mut before = hurt;
    for _ in 0..20 * RATE {
        flight.run(1, LAND);
        assert!((before..=100).contains(&flight.health()), "{before} {}", flight.health());
        assert!(flight.health() - before <= 5, "{before} {}", flight.health());
        before = flight.health();
    }
    assert_eq!(before, 100);
}

#[test]
fn a_driver_has_one_box_or_pad_waits_for_the_next_and_takes_it_along() {
    let mut flight = Flight::over(&MapBuilder::floor());
    let first = flight.deploy();
    flight.put(flight.tank, DVec3::new(0.0, -500.0, 150.0));
    flight.run(1, DROP);
    assert!(flight.game.world().entity(first).is_none(), "the first pad is still there");
    let second = flight.all("cargo_box");
    assert_eq!(second.len(), 1);
    // The key is held: the next box comes when the time is over, and not a tick earlier.
    let up = Command { buttons: Buttons::TERTIARY | Buttons::JUMP, ..CLIMB };
    flight.run(RELOAD * RATE - 1, up);
    assert_eq!(flight.game.world().entity(second[0]).map(|_| ()), None, "it is a pad by now");
    assert_eq!((flight.all("cargo_box").len(), flight.all("repair_pad").len()), (0, 1));
    flight.run(1, up);
    assert_eq!((flight.all("cargo_box").len(), flight.all("repair_pad").len()), (1, 0));
    flight.game.leave(flight.tank);
    flight.game.step(&[]);
    assert_eq!(flight.game.world().bodies(), []);
}

/// At the bottom of a shaft of 100 by 100 units a box fits and a pad of 160 by 128 does not. The
/// shaft is closed, so that the nearest place in sight is in it.
#[test]
fn a_box_without_room_for_a_pad_waits() {
    let walls = MapBuilder::floor()
        .block([-66, -66, 0], [-50, 66, 512])
        .block([50, -66, 0], [66, 66, 512])
        .block([-50, -66, 0], [50, -50, 512])
        .block([-50, 50, 0], [50, 66, 512]);
    let mut flight = Flight::over(&walls);
    flight.run(1, DROP);
    flight.run(3 * RATE, CLIMB);
    let waiting = flight.all("cargo_box");
    assert_eq!((waiting.len(), flight.game.state().pad(flight.tank)), (1, None));
    assert!(flight.lowest(waiting[0]) < 1.0, "the box hangs at {}", flight.lowest(waiting[0]));
    flight.put(waiting[0], DVec3::new(300.0, 300.0, 40.0));
    flight.run(2 * RATE, CLIMB);
    assert!(flight.game.state().pad(flight.tank).is_some(), "the box no longer looks for room");
}
