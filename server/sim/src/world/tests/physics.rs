//! Laws of motion: no wall is too thin to stop a body, no turn is too quick, and no
//! collision adds energy.

use obsp::model::Material;

use super::emergency::chamber;
use super::*;
use crate::audit::Audit;
use crate::bodies::entities::SleepState;
use crate::bodies::islands::Driven;
use crate::random::Random;

fn direction(random: &mut Random) -> DVec3 {
    let mut one = || random.between(-1.0, 1.0);
    DVec3::new(one(), one(), one()).normalize_or(DVec3::X)
}

#[test]
fn no_bullet_passes_a_wall_of_one_unit_from_any_side() {
    let map = room();
    let mut audit = Audit::new(&map, &shipped()).expect("the map has all sizes");
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut world = World::new(Arc::clone(&map), shipped().into(), CONFIG).expect("a match");
        let model = ["rocket", "grenade", "plank", "star"][random.below(4) as usize];
        let side = if random.below(2) == 0 { 1.0 } else { -1.0 };
        let mut across = || random.between(-300.0, 300.0);
        let from = DVec3::new(side * across().abs().max(80.0), across(), 256.0);
        let target = DVec3::new(0.0, across(), random.between(60.0, 450.0));
        let velocity = (target - from).normalize() * random.between(1_000.0, 200_000.0);
        let angular = direction(&mut random) * random.between(0.0, 60.0);
        let slot = world.throw(model, from, velocity, angular);
        for tick in 0..90 {
            world.step(&[]);
            let x = world.position(slot).x;
            assert!(x * side > 0.0, "seed {seed}: {model} was through at tick {tick}: {x}");
            assert_eq!(audit.check(&world.state()), [], "seed {seed}, tick {tick}");
        }
    }
}

/// Two bodies that fly at each other never exchange places, even if they are thin and fast. Along
/// the line between them each stays on its side of the other.
#[test]
fn no_bullet_passes_another_body() {
    let map = chamber(1_000, 500);
    let mut audit = Audit::new(&map, &shipped()).expect("the map has all sizes");
    let mut met = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut world = World::new(Arc::clone(&map), shipped().into(), CONFIG).expect("a match");
        let centre = DVec3::new(0.0, 0.0, 250.0);
        let way = direction(&mut random).with_z(0.2).normalize();
        let speed = random.between(2_000.0, 100_000.0);
        let spin = direction(&mut random) * random.between(0.0, 20.0);
        let target = world.throw("crate", centre, DVec3::ZERO, DVec3::ZERO);
        let bullet = world.throw("rocket", centre - way * 200.0, way * speed, spin);
        for tick in 0..10 {
            world.step(&[]);
            let between = world.position(target) - world.position(bullet);
            let context = || format!("seed {seed}, tick {tick}: {between}");
            assert!(between.dot(way) > 0.0, "it is through: {}", context());
            assert_eq!(audit.check(&world.state()), [], "{}", context());
            // After they have met, the bullet may glance off to any side.
            if between.length() < 40.0 {
                met += 1;
                break;
            }
        }
    }
    assert!(met > 30, "only {met} met");
}

/// A grenade that crosses the chamber more often within a tick than it gets attempts loses the rest
/// of the tick. It stays inside, and does not come to rest.
#[test]
fn a_body_in_flight_may_be_stopped_more_often_than_it_gets_attempts() {
    let bouncy = |model: Model| match model.name() {
        "grenade" => model.with_material(Material::new(0.6, 1.0).expect("in range")),
        _ => model,
    };
    let models: Vec<Model> = shipped().into_iter().map(bouncy).collect();
    let map = chamber(48, 400);
    let mut audit = Audit::new(&map, &models).expect("the map has all sizes");
    let config = Config { tick_rate: 10, ..CONFIG };
    // The way of a tick is 1, 4 and 8 times the width of the chamber.
    for speed in [480.0, 1_920.0, 3_840.0] {
        let mut world =
            World::new(Arc::clone(&map), models.clone().into(), config).expect("a match");
        let slot = world.throw("grenade", DVec3::Z * 200.0, DVec3::X * speed, DVec3::ZERO);
        let mut places = Vec::new();
        for tick in 0..20 {
            world.step(&[]);
            assert_eq!(audit.check(&world.state()), [], "{speed} units/s, tick {tick}");
            places.push(world.position(slot));
        }
        let stays = places.windows(2).filter(|two| two[0].distance(two[1]) < 1.0).count();
        assert!(stays < 5, "{speed} units/s: the body stands still, {places:?}");
    }
}

/// A plank that turns by a radian within one tick is clear of the grenade before
/// and after, and would have swept through it.
#[test]
fn a_spinning_plank_does_not_sweep_through_a_body() {
    for (seed, angle) in (0..).zip([0.45, 0.5, 0.55]) {
        let config = Config { tick_rate: 20, ..CONFIG };
        let mut world = World::new(chamber(1_000, 500), shipped().into(), config).expect("a match");
        let centre = DVec3::new(0.0, 0.0, 250.0);
        let plank = world.throw("plank", centre, DVec3::ZERO, DVec3::Z * 20.0);
        let bounds = world.arena.shapes[world.entities.get(plank).expect("there").shape].bounds;
        let long = if bounds.max.x > bounds.max.y { 0.0 } else { std::f64::consts::FRAC_PI_2 };
        let reach = bounds.max.x.max(bounds.max.y) + 4.0;
        let at = turn(long + angle) * DVec3::X * reach;
        let obstacle = world.throw("grenade", centre + at, DVec3::ZERO, DVec3::ZERO);
        let before = world.position(obstacle);
        world.step(&[]);
        assert!(world.is_clean());
        let pose = *world.entities.get(plank).and_then(Entity::placement).expect("there").pose();
        let turned = 2.0 * libm::atan2(pose.orientation.z, pose.orientation.w);
        let fall = 2.5;
        let pushed = world.position(obstacle).distance(before) > fall;
        assert!(
            turned < angle || pushed,
            "case {seed}: the body turned by {turned}, and {angle} \
            is allowed"
        );
    }
}

/// The body is slow at the highest point for an eighth of a second. If it slept sooner, it would
/// hang in the air.
#[test]
fn a_body_thrown_up_does_not_sleep_at_the_highest_point() {
    for tick_rate in [10, 20, 30, 60, 128] {
        for speed in 0..40 {
            let config = Config { tick_rate, ..CONFIG };
            let mut world =
                World::new(chamber(1_000, 500), shipped().into(), config).expect("a match");
            let up = DVec3::Z * (200.0 + 2.5 * f64::from(speed));
            let slot = world.throw("crate", DVec3::Z * 250.0, up, DVec3::ZERO);
            for tick in 0..tick_rate / 2 {
                world.step(&[]);
                let asleep = world.entities.get(slot).expect("the crate").sleep.asleep;
                assert!(
                    !asleep,
                    "{tick_rate} Hz, thrown with {up}: the body sleeps at tick {tick}"
                );
            }
        }
    }
}

/// The guard may hold a body beside another one, in the air, as long as both are pushed. If the
/// body slept, it would hang there.
#[test]
fn a_body_that_is_held_in_the_air_does_not_fall_asleep() {
    let sleeps_when_held = |by_solver| {
        let mut world = World::new(chamber(1_000, 500), shipped().into(), CONFIG).expect("a match");
        let slot = world.throw("crate", DVec3::Z * 250.0, DVec3::ZERO, DVec3::ZERO);
        let seconds = world.context.seconds;
        (0..CONFIG.tick_rate).any(|_| {
            let entity = world.entities.get_mut(slot).expect("the crate");
            (entity.sleep.held, entity.sleep.held_by_solver) = (true, by_solver);
            let World { entities, arena, pairs, .. } = &mut world;
            sleep::settle(entities, &arena.shapes, pairs, &Driven::default(), seconds);
            world.entities.get(slot).expect("the crate").sleep.asleep
        })
    };
    assert!(!sleeps_when_held(false), "the guard held the body, and nothing is below it");
    assert!(sleeps_when_held(true), "the solver found the forces on the body balanced");
}

/// Friction may hold a body against a wall that is nearer than the floor. The wall carries nothing.
#[test]
fn a_body_beside_a_wall_sleeps_as_soon_as_one_without() {
    let mut world = World::new(chamber(1_000, 500), shipped().into(), CONFIG).expect("a match");
    let at = DVec3::new(484.0 - 0.15, 0.0, 16.2);
    let slot = world.throw("crate", at, DVec3::ZERO, DVec3::ZERO);
    (0..4).for_each(|_| world.step(&[]));
    let mut walls = 0;
    for pair in world.pairs.iter_mut().filter(|pair| pair.axis.z.abs() < 0.1) {
        pair.points.iter_mut().for_each(|point| point.gap = 0.02);
        walls += pair.points.len();
    }
    assert!(walls > 0, "the crate touches the wall");
    let entity = world.entities.get_mut(slot).expect("the crate");
    entity.sleep = SleepState::default();
    [entity.velocity, entity.angular] = [DVec3::ZERO; 2];
    let seconds = world.context.seconds;
    let ticks = (1..1_000).find(|_| {
        let World { entities, arena, pairs, .. } = &mut world;
        sleep::settle(entities, &arena.shapes, pairs, &Driven::default(), seconds);
        world.entities.get(slot).expect("the crate").sleep.asleep
    });
    assert!(ticks.is_some_and(|ticks| f64::from(ticks) * seconds < 0.6), "{ticks:?} ticks");
}

/// A body on an edge or a corner may be about to turn over, and is slow there. With one point more
/// than an edge has, the body lies.
#[test]
fn a_body_on_two_points_sleeps_later_than_one_on_three() {
    let seconds_until_sleep = |points: usize| {
        let mut world = World::new(chamber(1_000, 500), shipped().into(), CONFIG).expect("a match");
        let slot = world.throw("crate", DVec3::Z * 30.0, DVec3::ZERO, DVec3::ZERO);
        let lies = |world: &World| {
            let near = |pair: &Pair| {
                pair.points.iter().filter(|point| f64::from(point.gap) < sleep::TOUCH).count() > 2
            };
            world.pairs.iter().any(|pair| pair.key.body == slot && near(pair))
        };
        let fall = (0..600).find(|_| {
            world.step(&[]);
            lies(&world)
        });
        fall.expect("the crate falls on the floor");
        for pair in &mut world.pairs {
            pair.points.truncate(points);
        }
        let entity = world.entities.get_mut(slot).expect("the crate");
        entity.sleep = SleepState::default();
        [entity.velocity, entity.angular] = [DVec3::ZERO; 2];
        let seconds = world.context.seconds;
        let ticks = (1..1_000).find(|_| {
            let World { entities, arena, pairs, .. } = &mut world;
            sleep::settle(entities, &arena.shapes, pairs, &Driven::default(), seconds);
            world.entities.get(slot).expect("the crate").sleep.asleep
        });
        f64::from(ticks.expect("the crate sleeps")) * seconds
    };
    for points in [1, 2] {
        let balanced = seconds_until_sleep(points);
        assert!((4.0..4.1).contains(&balanced), "{points} points: {balanced} s");
    }
    let lying = seconds_until_sleep(3);
    assert!((0.5..0.6).contains(&lying), "three points: {lying} s");
}

/// The angle of friction is 31 degrees. A rule that lets slow bodies sleep would hold a
/// body that starts from rest on slightly steeper ground.
#[test]
fn a_body_put_on_a_slope_slides_where_it_is_too_steep() {
    for (rise, stays) in [(140, true), (228, true), (250, false), (280, false)] {
        let slopes = funnel([0, 0, 0], 8, 408, rise);
        let map = compiled(&slopes, [0, 0, rise + 60], "");
        let mut world = World::new(map, shipped().into(), CONFIG).expect("a match");
        let slope = f64::from(rise) / 400.0;
        let model = world.shipped_model("crate");
        let shape = world.arena.shapes.of_model(model).expect("a shipped model");
        let half = world.arena.shapes[shape].bounds.half_extents().z;
        let normal = DVec3::new(-slope, 0.0, 1.0).normalize();
        let position = DVec3::new(208.0, 0.0, 200.0 * slope) + normal * (half + 0.1);
        let tilt = DQuat::from_rotation_arc(DVec3::Z, normal);
        let placement = world.free(shape, position, tilt);
        let id = world.entities.insert(Role::Prop(model), shape).expect("a free slot");
        world.entities.commit(id.slot, placement);
        world.run(2.0, &[]);
        let slid = position.distance(world.position(id.slot));
        assert_eq!(slid < 1.0, stays, "on {slope}: slid {slid}");
    }
}

impl World {
    /// Kinetic and potential energy, in kg·units²/s².
    fn energy(&self) -> f64 {
        let of = |entity: &Entity| {
            let shape = &self.arena.shapes[entity.shape];
            let pose = entity.placement().map(|placement| *placement.pose())?;
            let mass = 1.0 / shape.mass.inverse_mass;
            let spin = pose.orientation.conjugate() * entity.angular;
            let turning = spin.dot(shape.mass.inverse_inertia.inverse() * spin);
            let height = crate::conventions::GRAVITY * pose.position.z;
            Some(0.5 * (mass * entity.velocity.length_squared() + turning) + mass * height)
        };
        self.entities.iter().filter_map(of).sum()
    }
}

#[test]
fn energy_never_rises() {
    // Among forty seeds, the energy rose most with the last two of these. Bodies that stopped each
    // other in the fall kept the speed of a motion that they had not made.
    for seed in (0..6).chain([25, 26]) {
        let mut random = Random::new(seed);
        let mut world = World::new(chamber(256, 500), shipped().into(), CONFIG).expect("a match");
        for i in 0..24 {
            let model = obsp::model::EVERYDAY[i % obsp::model::EVERYDAY.len()];
            let (row, column) = ((i % 4) as f64, (i / 4 % 2) as f64);
            let height = 60.0 + 110.0 * (i / 8) as f64;
            let place = DVec3::new(-90.0 + 60.0 * row, -50.0 + 100.0 * column, height);
            let velocity = direction(&mut random) * random.between(0.0, 300.0);
            let spin = direction(&mut random) * random.between(0.0, 10.0);
            world.throw(model, place, velocity, spin);
        }
        let first = world.energy();
        let mut least = first;
        for tick in 0..600 {
            world.step(&[]);
            let now = world.energy();
            let rise = (now - least) / first;
            assert!(
                rise < RISE,
                "seed {seed}, tick {tick}: the energy rose from {least} to {now}, \
                                  by {rise}"
            );
            least = least.min(now);
        }
        assert!(least < 0.7 * first, "seed {seed}: no body came down: energy {least} of {first}");
        assert_eq!(world.context.counters.emergency_replacements, 0);
    }
}

/// Share of the energy at the beginning by which the energy may rise within the fall. Of
/// forty seeds most stay below 1e-4: bodies are pushed apart by hundredths of a unit.
/// The worst reach 2e-3, where one body falls on another at rest: the impulse of the
/// impact is also the next tick's warm start.
const RISE: f64 = 3e-3;
