//! Missiles: balls that bounce and come to rest, and missiles that fly straight. Both are removed
//! when they are found inside something.

use super::emergency::chamber;
use super::*;
use crate::PlaceError;
use crate::arena::movement_sets::MovementSets;
use crate::audit::Audit;
use crate::bodies::roles::MissileMotion;
use crate::collision::distances::MARGIN;
use crate::command::Command;
use crate::players::prediction::Predictor;
use crate::random::Random;
use crate::traits::CollisionLayers;

impl World {
    /// Puts a missile where `elsewhere` has room for it.
    fn lob(
        &mut self,
        elsewhere: &World,
        motion: MissileMotion,
        position: DVec3,
        velocity: DVec3,
    ) -> u16 {
        let model = self.shipped_model(match motion {
            MissileMotion::Straight => "rocket",
            MissileMotion::Bouncing => "grenade",
        });
        let shape = self.arena.shapes.of_model(model).expect("a shipped model");
        let placement = elsewhere.free(shape, position, DQuat::IDENTITY);
        let role = Role::Missile(Missile { model, motion });
        let id = self.entities.insert(role, shape).expect("a free slot");
        self.entities.commit(id.slot, placement);
        self.entities.get_mut(id.slot).expect("just inserted").velocity = velocity;
        id.slot
    }
}

#[test]
fn a_grenade_comes_to_rest_on_the_floor_at_any_tick_rate() {
    let map = chamber(1_000, 500);
    for tick_rate in [10, 20, 30, 60, 128] {
        let config = Config { tick_rate, ..CONFIG };
        let mut world = World::new(Arc::clone(&map), shipped().into(), config).expect("a match");
        let empty = World::new(Arc::clone(&map), shipped().into(), config).expect("a match");
        let velocity = DVec3::new(200.0, 130.0, 100.0);
        let slot = world.lob(&empty, MissileMotion::Bouncing, DVec3::Z * 100.0, velocity);
        for _ in 0..8 * tick_rate {
            world.step(&[]);
        }
        let (at, entity) = (world.position(slot), world.entities.get(slot).expect("there"));
        assert!(
            entity.sleep.asleep,
            "{tick_rate} Hz: the grenade is awake at {at}, {}",
            entity.velocity
        );
        assert!((3.0..4.5).contains(&at.z), "{tick_rate} Hz: the grenade hangs at {at}");
    }
}

#[test]
fn grenades_among_crates_never_overlap() {
    let map = chamber(256, 200);
    let mut audit = Audit::new(&map, &shipped()).expect("the map has all sizes");
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let mut world = World::new(Arc::clone(&map), shipped().into(), CONFIG).expect("a match");
        let empty = World::new(Arc::clone(&map), shipped().into(), CONFIG).expect("a match");
        for [x, y] in [[-60.0, -60.0], [60.0, -60.0], [-60.0, 60.0], [60.0, 60.0]] {
            world.throw("small_crate", DVec3::new(x, y, 20.0), DVec3::ZERO, DVec3::ZERO);
        }
        world.run(1.0, &[]);
        for i in 0..24 {
            let [x, y] = [i % 5, i / 5].map(|step| f64::from(step) * 24.0 - 48.0);
            let mut speed = || random.between(-600.0, 600.0);
            let velocity = DVec3::new(speed(), speed(), speed());
            world.lob(&empty, MissileMotion::Bouncing, DVec3::new(x, y, 100.0), velocity);
        }
        for tick in 0..300 {
            world.step(&[]);
            assert_eq!(audit.check(&world.state()), [], "seed {seed}, tick {tick}");
        }
        let thrown = |e: &&Entity| matches!(e.role, Role::Missile(_));
        let quick = |e: &Entity| e.velocity.length() > 50.0;
        assert!(
            !world.entities.iter().filter(thrown).any(quick),
            "seed {seed}: a grenade is still \
            on its way"
        );
        assert_eq!(world.entities.iter().filter(thrown).count(), 24, "seed {seed}");
        assert_eq!(world.context.counters.emergency_replacements, 0, "seed {seed}");
    }
}

/// Symptom: a crate fell into a grenade that slept. Cause: the crate woke the grenade, and the
/// search for the contacts of woken bodies dropped the pair. A grenade searches for nothing itself.
#[test]
fn a_crate_that_falls_on_a_sleeping_grenade_stops_at_it() {
    let map = chamber(400, 300);
    let elsewhere = World::new(Arc::clone(&map), shipped().into(), CONFIG).expect("a match");
    let mut random = Random::new(17);
    for trial in 0..32 {
        let mut world = World::new(Arc::clone(&map), shipped().into(), CONFIG).expect("a match");
        let start = DVec3::Z * 20.0;
        let slot = world.lob(&elsewhere, MissileMotion::Bouncing, start, DVec3::ZERO);
        world.run(2.0, &[]);
        let grenade = world.entities.get(slot).expect("there");
        assert!(grenade.sleep.asleep, "trial {trial}: the grenade is awake");
        let mut between = || random.between(-1.0, 1.0);
        let (from, spin) = (DVec3::new(8.0 * between(), 8.0 * between(), 60.0), 2.0 * between());
        world.throw("crate", from, DVec3::Z * -200.0, DVec3::new(spin, -spin, spin));
        for tick in 0..60 {
            world.step(&[]);
            let count = world.context.counters.emergency_replacements;
            assert_eq!(count, 0, "trial {trial}, tick {tick}");
            assert!(world.is_clean(), "trial {trial}, tick {tick}");
        }
        assert!(world.entities.get(slot).is_some(), "trial {trial}: the grenade is gone");
    }
}

/// A grenade whose corner turns towards the crate that it leaves has no room to rotate, but it must
/// move. In an earlier version it hung there at full speed.
#[test]
fn a_grenade_that_leaves_a_crate_while_it_rotates_does_not_hang_there() {
    let map = chamber(400, 200);
    let elsewhere = World::new(Arc::clone(&map), shipped().into(), CONFIG).expect("a match");
    let mut random = Random::new(1);
    for trial in 0..64 {
        let mut world = World::new(Arc::clone(&map), shipped().into(), CONFIG).expect("a match");
        let crate_slot = world.throw("crate", DVec3::Z * 16.1, DVec3::ZERO, DVec3::ZERO);
        world.run(1.0, &[]);
        let top = world.position(crate_slot).z + 16.0;
        let start = DVec3::new(0.0, 0.0, 100.0);
        let velocity = DVec3::new(300.0, 0.0, 15.0);
        let slot = world.lob(&elsewhere, MissileMotion::Bouncing, start, velocity);
        let shape = world.entities.get(slot).expect("there").shape;
        let mut between = || random.between(-1.0, 1.0);
        let turned = DQuat::from_xyzw(between(), between(), between(), between()).normalize();
        let spin = 20.0 * DVec3::new(between(), between(), 0.0);
        let vertices = world.arena.shapes[shape].parts[0].vertices();
        let extent = vertices.iter().map(|&at| -(turned * at).z).fold(0.0, f64::max);
        let near = start.with_z(top + extent + 1.01 * MARGIN);
        let placement = elsewhere.free(shape, near, turned);
        world.entities.commit(slot, placement);
        world.entities.get_mut(slot).expect("there").angular = spin;
        world.step(&[]);
        let way = world.position(slot).x - near.x;
        assert!(way > 4.5, "trial {trial}: the prop moved by {way}, rotating by {spin}");
        assert!(world.is_clean(), "trial {trial}");
    }
}

#[test]
fn a_grenade_pushes_the_crate_that_it_hits_and_comes_back() {
    let map = chamber(512, 200);
    let mut world = World::new(Arc::clone(&map), shipped().into(), CONFIG).expect("a match");
    let empty = World::new(map, shipped().into(), CONFIG).expect("a match");
    let hit = world.throw("small_crate", DVec3::Z * 12.2, DVec3::ZERO, DVec3::ZERO);
    world.run(1.0, &[]);
    let from = DVec3::new(-60.0, 0.0, 20.0);
    let grenade = world.lob(&empty, MissileMotion::Bouncing, from, DVec3::X * 600.0);
    let speeds =
        |world: &World| [hit, grenade].map(|slot| world.entities.get(slot).map(|e| e.velocity.x));
    let met = (0..10).find_map(|_| {
        world.step(&[]);
        Some(speeds(&world)).filter(|[_, grenade]| grenade.is_some_and(|speed| speed < 0.0))
    });
    let [Some(crate_speed), Some(grenade_speed)] = met.expect("it comes back") else {
        panic!("a body is gone")
    };
    assert!(crate_speed > 2.0 && grenade_speed < -200.0, "{crate_speed}, {grenade_speed}");
}

#[test]
fn a_missile_inside_a_wall_or_a_crate_is_removed_and_counted() {
    let elsewhere = World::new(chamber(2_000, 500), shipped().into(), CONFIG).expect("a match");
    let small = chamber(400, 200);
    for motion in [MissileMotion::Straight, MissileMotion::Bouncing] {
        for inside in ["wall", "crate"] {
            let mut world =
                World::new(Arc::clone(&small), shipped().into(), CONFIG).expect("a match");
            let wall = DVec3::new(208.0, 0.0, 100.0);
            let spot = if inside == "wall" { wall } else { DVec3::new(0.0, 0.0, 16.5) };
            if inside == "crate" {
                world.throw("crate", spot, DVec3::ZERO, DVec3::ZERO);
            }
            let slot = world.lob(&elsewhere, motion, spot, DVec3::ZERO);
            world.step(&[]);
            assert!(world.is_clean(), "{motion:?} in a {inside}");
            // If two bodies overlap, the routine may have moved either of them.
            let is_there = world.entities.get(slot).is_some();
            assert!(!is_there || inside == "crate", "{motion:?} stays in a {inside}");
            assert!(world.context.counters.emergency_replacements > 0, "{motion:?} in a {inside}");
        }
    }
}

/// The shipped models, with the one named `name` changed by `of`.
fn shipped_but(name: &str, of: impl Fn(Model) -> Model) -> Vec<Model> {
    let of = |model: Model| if model.name() == name { of(model) } else { model };
    shipped().into_iter().map(of).collect()
}

/// Runs a player into the small crate of `models` for a second. Returns how far the crate is
/// shoved, and how often a client predicts a shove.
fn shove(models: &[Model], bring: impl Fn(&mut World, ModelId, DVec3) -> EntityId) -> (f64, usize) {
    let map = room();
    let mut world = World::new(Arc::clone(&map), models.to_vec().into(), CONFIG).expect("a match");
    let predictor = Predictor::new(map, models).expect("a predictor");
    let model = world.shipped_model("small_crate");
    let body = bring(&mut world, model, DVec3::new(-300.0, 0.0, 13.0));
    let player = world.join_at(DVec3::new(-400.0, 0.0, 30.0));
    world.run(0.5, &[]);
    let from = world.position(body.slot);
    let (command, mut shoved) = (Command { forward: 127, ..Command::default() }, 0);
    for _ in 0..60 {
        let motion = world.player_motion(player).expect("there");
        let mut others: Vec<_> = world.state().entities;
        others.retain(|other| other.id != player);
        let layers = CollisionLayers::default();
        let by = (1.0 / 60.0, &MovementSets::default(), layers);
        shoved += predictor.step(motion, command, by, &mut others, &[], &[]).shoved.len();
        world.step(&[(player, command)]);
    }
    (world.position(body.slot).distance(from), shoved)
}

/// Symptom: players shoved a body by 110 units where clients predicted a wall. Its model was
/// marked as a missile's, and `spawn_body` had placed it. Cause: the server asked how a body came
/// into the world, and clients ask for its model. Cure: the model alone decides on both sides.
#[test]
fn thrown_model() {
    let spawned = |world: &mut World, model, at| {
        world.spawn_body(model, at, DQuat::IDENTITY).expect("there is room")
    };
    let near = |world: &mut World, model, at| {
        world.spawn_body_near(model, at, DQuat::IDENTITY).expect("there is room")
    };
    let missile = |world: &mut World, model, at| {
        let motion = MissileMotion::Bouncing;
        world.spawn_missile(model, motion, at, DVec3::ZERO).expect("there is room")
    };
    let marked = shipped_but("small_crate", Model::as_missile);
    for (how, (by, predicted)) in [
        ("spawn_body", shove(&marked, spawned)),
        ("spawn_body_near", shove(&marked, near)),
        ("spawn_missile", shove(&marked, missile)),
    ] {
        assert!(by < 1.0, "{how}: shoved by {by}");
        assert_eq!(predicted, 0, "{how}: the client predicts that the player shoves the body");
    }
    let (by, predicted) = shove(&shipped(), spawned);
    assert!(by > 50.0 && predicted > 0, "a crate: {by}, {predicted}");
}

/// A body whose model is not a missile's cannot be thrown as a missile: clients would shove it.
#[test]
fn a_model_that_is_not_marked_is_not_thrown() {
    let mut world = empty_room();
    for (model, throws) in [("small_crate", false), ("grenade", true), ("rocket", true)] {
        let model = world.shipped_model(model);
        for motion in [MissileMotion::Bouncing, MissileMotion::Straight] {
            let at = DVec3::new(-300.0, 0.0, 100.0);
            let thrown = world.spawn_missile(model, motion, at, DVec3::ZERO);
            match thrown {
                Ok(id) => world.remove(id).expect("just thrown"),
                Err(error) => assert_eq!(error, PlaceError::NoSuchModel),
            }
            assert_eq!(thrown.is_ok(), throws, "{model:?}");
        }
    }
}

/// Of the two restitutions the greater one counts, as in the solver. So a ball without restitution
/// bounces off a lively plate.
#[test]
fn a_missile_bounces_by_the_greater_restitution() {
    let bounce = |restitution: f64| {
        let made_of = |restitution| {
            let material = obsp::model::Material::new(0.6, restitution).expect("in range");
            move |model: Model| model.with_material(material)
        };
        let ball = made_of(0.0);
        let plate = made_of(restitution);
        let models = shipped_but("grenade", ball);
        let of = |model: Model| match model.name() {
            "crate" => plate(model).as_kinematic(),
            _ => model,
        };
        let models: Vec<Model> = models.into_iter().map(of).collect();
        let mut world = World::new(room(), models.into(), CONFIG).expect("a match");
        let [ball, plate] = ["grenade", "crate"].map(|name| world.shipped_model(name));
        let at = DVec3::new(-300.0, 0.0, 60.0);
        world.spawn_body(plate, at, DQuat::IDENTITY).expect("there is room");
        let from = at + DVec3::Z * 100.0;
        let motion = MissileMotion::Bouncing;
        let ball = world.spawn_missile(ball, motion, from, DVec3::ZERO).expect("there is room");
        let mut fastest: f64 = 0.0;
        for _ in 0..60 {
            world.step(&[]);
            fastest = fastest.max(world.entities.find(ball).expect("there").velocity.z);
        }
        fastest
    };
    // The ball falls about 80 units, and reaches 360 units per second.
    let (dead, lively) = (bounce(0.0), bounce(0.8));
    assert!(lively > 220.0 && dead < lively / 3.0, "{dead} and {lively}");
}
