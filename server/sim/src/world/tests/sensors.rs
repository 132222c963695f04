//! Sensors: what reaches into a shape that nothing collides with.

use obsp::model::Model;

use super::*;
use crate::random::Random;

/// An empty match on a floor, with a drum that no body has.
fn stage() -> World {
    let drum = Model::cylinder("drum", 24.0, 40.0, 16).expect("a model");
    let models: Vec<Model> = shipped().into_iter().chain([drum]).collect();
    let floor = block([-512, -512, -16], [512, 512, 0]);
    let map = compiled(&floor, [-400, -400, 40], "");
    World::new(map, models.into(), CONFIG).expect("the floor can be played on")
}

fn spawned(world: &mut World, model: &str, at: [f64; 3]) -> EntityId {
    let model = world.model(model).expect("the match has the model");
    world.spawn_body(model, at.into(), DQuat::IDENTITY).expect("there is room")
}

fn told(world: &World) -> Vec<(u32, EntityId, bool)> {
    world.sensor_events().iter().map(|at| (at.sensor.0, at.entity, at.entered)).collect()
}

/// A sensor agrees with the distance between exact shapes, at random poses.
#[test]
fn a_sensor_of_any_shape_sees_what_reaches_into_it() {
    let mut world = stage();
    let body = spawned(&mut world, "l_block", [0.0, 0.0, 200.0]);
    let drum = world.model("drum").expect("the match has it");
    let mut random = Random::new(5);
    let sensor = world.add_sensor(SensorShape::Model(drum), DVec3::ZERO, DQuat::IDENTITY);
    let sensor = sensor.expect("there are none yet");
    let shapes = world.arena.shapes.clone();
    let (own, other) =
        (shapes.of_model(drum), world.entities.find(body).expect("it is there").shape);
    let own = &shapes[own.expect("the match has it")];
    let mut seen = [0; 2];
    for round in 0..400 {
        let mut number = |reach: f64| random.between(-reach, reach);
        let at = DVec3::new(number(70.0), number(70.0), 200.0 + number(70.0));
        let turn = DQuat::from_xyzw(number(1.0), number(1.0), number(1.0), 1.1).normalize();
        world.move_sensor(sensor, at, turn).expect("a pose");
        world.update_sensors();
        let pose = *world.entities.find(body).and_then(Entity::placement).expect("placed").pose();
        let there = crate::collision::cascade::Body::standing(&shapes[other], pose);
        let here = Pose::checked(at, turn).expect("a pose");
        let here = crate::collision::cascade::Body::standing(own, here);
        let gap = crate::collision::cascade::least_gap(
            &here,
            &there,
            crate::collision::cascade::Candidates::ALL,
        );
        let inside = gap.is_none();
        assert_eq!(world.entities_in(sensor) == [body], inside, "round {round}: {at} {turn}");
        seen[usize::from(inside)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}

#[test]
fn a_sensor_goes_with_its_entity_and_tells_each_change_once() {
    let mut world = stage();
    let mine = spawned(&mut world, "small_crate", [0.0, 0.0, 13.0]);
    let beam = SensorShape::Box(DVec3::new(50.0, 1.0, 1.0));
    let beam = world.add_sensor(beam, DVec3::ZERO, DQuat::IDENTITY).expect("there are none yet");
    world.attach_sensor(beam, mine, DVec3::X * 50.0, DQuat::IDENTITY).expect("it is there");
    let target = spawned(&mut world, "crate", [60.0, 0.0, 17.0]);
    world.step(&[]);
    assert_eq!((world.entities_in(beam), told(&world)), (&[target][..], vec![(0, target, true)]));
    world.step(&[]);
    assert_eq!((world.entities_in(beam).len(), told(&world)), (1, vec![]));
    // The mine turns about, and its beam with it.
    let turned = DQuat::from_rotation_z(std::f64::consts::PI);
    world.teleport(mine, DVec3::new(0.0, 0.0, 13.0), turned).expect("there is room");
    world.step(&[]);
    assert_eq!((world.entities_in(beam).len(), told(&world)), (0, vec![(0, target, false)]));
    world.teleport(target, DVec3::new(-60.0, 0.0, 17.0), DQuat::IDENTITY).expect("there is room");
    let saved = world.save();
    let mut again = stage();
    again.restore(&saved).expect("the saved match can be loaded");
    for world in [&mut world, &mut again] {
        world.step(&[]);
        assert_eq!(told(world), [(0, target, true)]);
    }
    assert_eq!(world.digest(), again.digest());
    // The sensor leaves with the mine.
    world.remove(mine).expect("it is there");
    world.step(&[]);
    assert_eq!(told(&world), [(0, target, false)]);
    assert_eq!(world.remove_sensor(beam), Err(SensorError::NoSuchSensor));
    // Numbers are not used again.
    let next = world.add_sensor(SensorShape::Box(DVec3::ONE), DVec3::ZERO, DQuat::IDENTITY);
    assert_eq!(next, Ok(SensorId(1)));
}

#[test]
fn the_limits_of_sensors_are_told() {
    let mut world = stage();
    let bare = world.digest();
    let add = |world: &mut World, half: f64| {
        world.add_sensor(SensorShape::Box(DVec3::splat(half)), DVec3::ZERO, DQuat::IDENTITY)
    };
    for odd in [0.0, 0.0009, -1.0, f64::NAN, 262_144.5] {
        assert_eq!(add(&mut world, odd), Err(SensorError::BadBox), "{odd}");
    }
    let missing = SensorShape::Model(ModelId(13));
    let refused = world.add_sensor(missing, DVec3::ZERO, DQuat::IDENTITY);
    assert_eq!(refused, Err(SensorError::NoSuchModel));
    assert_eq!(world.digest(), bare, "a refused sensor changes nothing");
    for number in 0..MAX_SENSORS {
        assert_eq!(add(&mut world, 1.0), Ok(SensorId(number as u32)));
    }
    assert_ne!(world.digest(), bare);
    assert_eq!(add(&mut world, 1.0), Err(SensorError::TooMany));
    assert!(SensorError::TooMany.to_string().contains("4096 sensors"));
    world.remove_sensor(SensorId(7)).expect("it is there");
    assert_eq!(add(&mut world, 1.0), Ok(SensorId(MAX_SENSORS as u32)));
}
