//! The prediction of a player on a kinematic body agrees with the server, as far as the velocity in
//! the snapshots allows.

use obsp::geometry::Aabb;
use obsp::model::Model;
use obsp::{CompileOptions, Source, Spaces, compile};
use obsp_proto::quantise::{Quantiser, WorldBounds};
use obsp_sim::{ArmedMove, EntityId, LinearMove, Swing};

use super::*;

/// Ticks from sending a command to receiving the state after it.
const LAG: u32 = 6;

/// Ticks between two authoritative motions of a player who touches something.
const INTERVAL: u32 = 2;

/// Number of ticks after which the body turns back. No client can foresee the turn.
const TURNS: u32 = 90;

/// A slab of 128 by 128 by 8 units, whose bodies are kinematic.
const SLAB: &str = "v -64 -64 -4\nv 64 -64 -4\nv 64 64 -4\nv -64 64 -4\n\
                    v -64 -64 4\nv 64 -64 4\nv 64 64 4\nv -64 64 4\n\
                    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/// A hall of 1,280 by 384 by 256 units.
fn hall() -> obsp::Map {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../server/examples/bowling.map");
    let source = Source::read(path.as_ref()).unwrap();
    compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| ()).unwrap().map
}

/// The way in which a slab is moved.
#[derive(Clone, Copy)]
enum Course {
    /// Back and forth with this velocity and spin.
    Turns([DVec3; 2]),
    /// By this vector and back, with this speed, and with this number of ticks of rest at each end.
    Goals(DVec3, f64, u32),
    /// As a lift: by this vector and back, with this speed, whenever the player is in its middle.
    Armed(DVec3, f64),
    /// As a lift that another player sets off every other second: by this vector and back.
    SetOffByOthers(DVec3, f64),
    /// As a lift that is disarmed just before the player comes to its zone, and armed again when
    /// the player is gone.
    Disarmed(DVec3, f64),
    /// To and fro by this vector, in this number of ticks.
    Swings(DVec3, u32),
    /// Not at all: its surface moves at this velocity.
    Conveys(DVec3),
}

impl Course {
    /// Moves the slab in the tick `now`.
    fn follow(self, world: &mut World, slab: EntityId, now: u32) {
        match self {
            Self::Turns([velocity, spin]) => {
                let sign = if (now / TURNS).is_multiple_of(2) { 1.0 } else { -1.0 };
                world.set_velocity(slab, velocity * sign, spin * sign).unwrap();
            }
            Self::Goals(by, speed, delay) if world.linear_move(slab).is_none() => {
                let is_away = world.entity(slab).unwrap().position.distance(START) > 1.0;
                let goal = if is_away { START } else { START + by };
                world.move_linear(slab, LinearMove { goal, speed, delay }).unwrap();
            }
            Self::Goals(..) => {}
            Self::SetOffByOthers(by, speed) => {
                let is_away = world.entity(slab).unwrap().position.distance(START) > 1.0;
                let goal = if is_away { START } else { START + by };
                let move_by = LinearMove { goal, speed, delay: 0 };
                let zone = Aabb::from_centre(START + DVec3::X * 150.0, DVec3::splat(40.0));
                if now.is_multiple_of(120) {
                    world.disarm_linear_move(slab);
                    world.move_linear(slab, move_by).unwrap();
                } else if world.linear_move(slab).is_none() {
                    world.arm_linear_move(slab, ArmedMove { zone, by: move_by }).unwrap();
                }
            }
            Self::Disarmed(by, speed) => {
                // The player walks in a circle. The zone is the end of the circle along x.
                let player = world.players()[0];
                let front = world.entity(player).unwrap().position.x + 16.0;
                let edge = EDGE + START.x;
                if front > edge - 3.0 {
                    world.disarm_linear_move(slab);
                } else {
                    let least = DVec3::new(edge, -100.0, 0.0);
                    let zone = Aabb { min: least, max: DVec3::new(edge + 100.0, 100.0, 200.0) };
                    let by = LinearMove { goal: START + by, speed, delay: 0 };
                    world.arm_linear_move(slab, ArmedMove { zone, by }).unwrap();
                }
            }
            Self::Swings(way, ticks) if world.swing_of(slab).is_none() => {
                world.swing(slab, Swing { place: START, way, ticks, at: 0 }).unwrap();
            }
            Self::Swings(..) => {}
            Self::Armed(by, speed) => {
                // The way back is armed as soon as the way there has begun.
                if world.armed_move(slab).is_none() {
                    let goes = world.linear_move(slab).map(|of| of.goal);
                    let goal = if goes == Some(START + by) { START } else { START + by };
                    let corner = DVec3::new(30.0, 30.0, 200.0);
                    let zone = Aabb { min: START - corner, max: START + corner };
                    let by = LinearMove { goal, speed, delay: 0 };
                    world.arm_linear_move(slab, ArmedMove { zone, by }).unwrap();
                }
            }
            // It goes back and forth, so that the player stays on it.
            Self::Conveys(velocity) => {
                let sign = if (now / TURNS).is_multiple_of(2) { 1.0 } else { -1.0 };
                world.set_surface_velocity(slab, velocity * sign).unwrap();
            }
        }
    }

    /// Whether no client can foresee the motion in the tick `now`.
    fn is_turning(self, now: u32) -> bool {
        matches!(self, Self::Turns(_) | Self::Conveys(_)) && now % TURNS <= LAG
    }
}

/// Distance from the middle of the slab to the edge of the zone that the player never finds armed.
const EDGE: f64 = 40.0;

/// The place of the slab at the start.
const START: DVec3 = DVec3::new(200.0, 0.0, 30.0);

/// The sorted prediction errors, in units, of a player on a slab that follows this course. The
/// player walks in circles if `walks` is set.
fn ride(course: Course, walks: bool) -> Vec<f64> {
    let mut errors: Vec<f64> = reports(course, walks).iter().map(|error| error.units).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

/// The prediction errors of the player of [`ride`], in the order of time.
fn reports(course: Course, walks: bool) -> Vec<PredictionError> {
    let slab = Model::from_obj("slab", SLAB).unwrap().as_kinematic();
    let data = GameData::default().with_models(std::slice::from_ref(&slab)).unwrap();
    let schema = Schema::of_models(["slab".to_owned()]).unwrap();
    let map = Arc::new(LoadedMap::new(hall(), &data, &schema).unwrap());
    let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 1 };
    let mut world = World::new(Arc::clone(&map.map), [slab].into(), config).unwrap();
    let player = world.join().unwrap();
    let model = world.model("slab").unwrap();
    let slab = world.spawn_body(model, START, glam::DQuat::IDENTITY).unwrap();
    world.teleport(player, DVec3::new(220.0, 10.0, 62.2), glam::DQuat::IDENTITY).unwrap();
    let bounds = WorldBounds::covering(map.map.bounds().min, map.map.bounds().max).unwrap();
    let mut quantiser = Quantiser::new(bounds);
    let mut prediction = Prediction::new(map, SECONDS);
    let (mut observed, mut errors): (Vec<Observed>, _) = (Vec::new(), Vec::new());
    let command = |tick: u32| {
        let forward = if walks { 25 } else { 0 };
        Command { forward, yaw: (tick * 900) as u16, ..Command::default() }
    };
    for tick in 1..=1_200 {
        prediction.play(&sent(tick, command(tick)), &observed);
        let Some(now) = tick.checked_sub(LAG).filter(|now| *now > 0) else { continue };
        world.step(&[(player, command(now))]);
        course.follow(&mut world, slab, now);
        let state = quantiser.quantise(&world.state()).unwrap();
        let of_slab = state.entity(slab.slot.into()).unwrap();
        observed = vec![(Tick(now), of_slab.dequantise(slab.slot, &bounds))];
        if now.is_multiple_of(INTERVAL) {
            let motion = world.player_motion(player).unwrap();
            let touched = world.touched_by(player);
            let answer =
                AuthoritativeMotion::new(motion, Tick(now), None).with_touched(Tick(now), touched);
            let error = prediction.reconcile(Tick(now), answer, &observed);
            // The first ticks after a turn of the slab were predicted with the velocity before the
            // turn. In the first ticks the player drops onto the slab.
            if !course.is_turning(now) && now > 2 * LAG {
                errors.extend(error);
            }
        }
    }
    let slab = world.entity(slab).unwrap().position;
    let off = world.entity(player).unwrap().position - slab;
    assert!(off.truncate().length() < 64.0 && off.z < 40.0, "the player fell off the slab: {off}");
    errors
}

/// Between two turns the server's exact reports of the carrier leave no error that can be seen.
#[test]
fn a_player_on_a_lift_or_a_platform_is_where_they_were_predicted() {
    let rides = [
        ([DVec3::Z * 60.0, DVec3::ZERO], "a lift"),
        ([DVec3::X * 90.0, DVec3::ZERO], "a platform"),
        ([DVec3::ZERO, DVec3::Z * 1.5], "a turntable"),
        ([DVec3::X * 50.0, DVec3::Z * -0.7], "a platform that turns"),
    ];
    for (motion, what) in rides {
        for walks in [false, true] {
            let errors = ride(Course::Turns(motion), walks);
            let at = |share: f64| errors[((errors.len() - 1) as f64 * share) as usize];
            let percentiles = [0.5, 0.95, 0.99, 1.0].map(at);
            println!("{what}, walks {walks}: {} errors: {percentiles:?}", errors.len());
            assert!(at(1.0) < 1e-3, "{what}, walks {walks}: {percentiles:?}");
        }
    }
}

/// Between two turns of the surface, a player on a conveyor is exactly where they were predicted.
#[test]
fn a_player_on_a_conveyor_is_where_they_were_predicted() {
    for velocity in [DVec3::X * 14.3, DVec3::new(-21.3, 10.1, 0.0)] {
        for walks in [false, true] {
            let errors = ride(Course::Conveys(velocity), walks);
            let most = errors.last().unwrap();
            println!(
                "{velocity}, walks {walks}: {} errors, the largest {most} units",
                errors.len()
            );
            assert_eq!(*most, 0.0, "{velocity}, walks {walks}");
        }
    }
}

/// A client knows beforehand when its carrier starts and stops.
#[test]
fn a_carrier_that_starts_and_stops_leaves_no_error() {
    let courses = [
        ("a lift", Course::Goals(DVec3::Z * 90.0, 150.0, 40)),
        // The rest must be longer than the lag, or the client would know the start too late.
        ("a train", Course::Goals(DVec3::new(300.0, 20.0, 0.0), 100.0, LAG + 2)),
        ("a lift aslant", Course::Goals(DVec3::new(100.0, -50.0, 77.7), 333.0, LAG + 2)),
        ("a slow one", Course::Goals(DVec3::X * 3.0, 7.0, 200)),
    ];
    for (what, course) in courses {
        for walks in [false, true] {
            let errors = ride(course, walks);
            let most = errors.last().unwrap();
            println!("{what}, walks {walks}: {} errors, the largest {most} units", errors.len());
            assert!(*most < 1e-3, "{what}, walks {walks}: {most}");
        }
    }
}

/// If the game starts a carrier when a rider steps on it, the client learns this a lag later,
/// because only the server has the rules of the game. The correction of the rider is then no
/// greater than the distance that the carrier moves in the lag.
#[test]
fn a_start_that_no_client_can_foresee_puts_a_rider_right_by_the_way_in_the_lag() {
    let speed = 150.0;
    let errors = reports(Course::Goals(DVec3::Z * 90.0, speed, 0), false);
    let most = errors.iter().map(|error| error.correction.length()).fold(0.0, f64::max);
    println!("put right by {most} units at most");
    let way = |ticks: u32| speed * SECONDS * f64::from(ticks);
    assert!((way(LAG - 2)..=way(LAG + 2)).contains(&most), "{most}");
}

/// A lift that begins its way in the tick in which its rider comes to its middle. The server's
/// start comes from the armed move, which the client has known before.
#[test]
fn a_start_by_the_rider_leaves_no_error() {
    let ways = [(DVec3::Z * 90.0, 150.0), (DVec3::new(60.0, -40.0, 77.7), 333.0)];
    for (by, speed) in ways {
        let reports = reports(Course::Armed(by, speed), true);
        let most = |of: fn(&PredictionError) -> f64| reports.iter().map(of).fold(0.0, f64::max);
        let (error, shift) = (most(|it| it.units), most(|it| it.correction.length()));
        println!("{by}: {} errors, at most {error}, put right by {shift}", reports.len());
        assert!(error < 1e-3 && shift < 1e-2, "{by}: {error} and {shift}");
    }
}

/// A client knows how its carrier swings.
#[test]
fn a_rider_of_a_body_that_swings_is_where_they_were_predicted() {
    for (way, ticks) in [(DVec3::Z * 67.0, 120), (DVec3::new(150.0, 40.0, 30.0), 90)] {
        for walks in [false, true] {
            let errors = ride(Course::Swings(way, ticks), walks);
            let most = errors.last().unwrap();
            println!("{way}, walks {walks}: {} errors, at most {most}", errors.len());
            assert!(*most < 1e-2, "{way}, walks {walks}: {most}");
        }
    }
}

/// The number of uninterrupted rows of reports that correct the player, and the length of the
/// longest row.
fn rows_of_errors(reports: &[PredictionError]) -> (usize, usize) {
    let agrees = |it: &PredictionError| it.units < 1e-3 && it.correction.length() < 1e-3;
    let rows = reports.split(agrees).map(<[_]>::len);
    let rows: Vec<usize> = rows.filter(|length| *length > 0).collect();
    (rows.len(), rows.into_iter().max().unwrap_or_default())
}

/// A start by somebody else comes from the server, and is not made twice. A start that the client
/// has predicted and the server has not made is taken back. Either correction is over within a
/// round trip.
#[test]
fn a_start_that_goes_otherwise_than_foreseen_is_put_right_within_a_round_trip() {
    let most = (LAG / INTERVAL + 1) as usize;
    for (what, course) in [
        ("set off by others", Course::SetOffByOthers(DVec3::Z * 90.0, 150.0)),
        ("disarmed", Course::Disarmed(DVec3::Z * 90.0, 150.0)),
    ] {
        let reports = reports(course, true);
        let (rows, longest) = rows_of_errors(&reports);
        println!(
            "{what}: {rows} rows of errors, the longest of {longest}, {} reports",
            reports.len()
        );
        assert!(rows >= 5 && longest <= most, "{what}: {rows} rows, the longest of {longest}");
    }
}
