//! Hovertanks among walls, props and players.

use super::*;
use crate::command::Buttons;

/// A room with nothing in it but a tank, floating in its western half.
fn tank_room() -> (World, EntityId) {
    let mut world = empty_room();
    let tank = world.join_as(PlayerKind::Hovertank).expect("there is room");
    world.put(tank.slot, DVec3::new(-250.0, 0.0, 60.0), DQuat::IDENTITY);
    (world, tank)
}

impl World {
    fn put(&mut self, slot: u16, position: DVec3, orientation: DQuat) {
        let shape = self.entities.get(slot).expect("the entity exists").shape;
        self.entities.withdraw(slot);
        let placement = self.free(shape, position, orientation);
        self.entities.commit(slot, placement);
    }

    fn up(&self, slot: u16) -> DVec3 {
        let placement = self.entities.get(slot).and_then(Entity::placement);
        placement.expect("the entity is in the world").pose().orientation * DVec3::Z
    }

    /// Height of the lowest point of a body's bounds.
    fn lowest(&self, slot: u16) -> f64 {
        let placement = self.entities.get(slot).and_then(Entity::placement);
        placement.expect("the entity is in the world").bounds().min.z
    }

    fn speed(&self, slot: u16) -> f64 {
        self.entities.get(slot).expect("the entity exists").velocity.length()
    }
}

fn fly(yaw: u16, buttons: Buttons) -> Command {
    Command { forward: 127, yaw, buttons, ..Command::default() }
}

#[test]
fn a_tank_floats_level_and_stands_still() {
    let (mut world, tank) = tank_room();
    world.run(4.0, &[]);
    let height = world.lowest(tank.slot);
    assert!((28.0..34.0).contains(&height), "the tank floats at {height}");
    assert!(world.up(tank.slot).z > 0.999, "the tank is tilted: {}", world.up(tank.slot));
    assert!(world.speed(tank.slot) < 1.0, "it drifts: {}", world.speed(tank.slot));
}

#[test]
fn a_tank_flies_where_its_driver_looks_and_brakes() {
    let (mut world, tank) = tank_room();
    let from = world.position(tank.slot);
    world.run(1.0, &[(tank, fly(16384, Buttons::default()))]);
    let way = world.position(tank.slot) - from;
    assert!(way.y > 120.0 && way.x.abs() < 5.0, "it went {way}");
    let stop = Command { yaw: 16384, ..Command::default() };
    world.run(2.0, &[(tank, stop)]);
    assert!(world.speed(tank.slot) < 1.0, "it drifts: {}", world.speed(tank.slot));
    let placement = world.entities.get(tank.slot).and_then(Entity::placement);
    let gun = placement.expect("the entity is in the world").pose().orientation * DVec3::X;
    assert!(gun.y > 0.99, "the gun points along {gun}");
}

#[test]
fn a_tank_lands_sleeps_and_takes_off() {
    let (mut world, tank) = tank_room();
    world.run(4.0, &[(tank, holding(Buttons::CROUCH))]);
    assert!(world.lowest(tank.slot) < 0.5, "the tank hangs at {}", world.lowest(tank.slot));
    assert!(world.entities.get(tank.slot).is_some_and(|entity| entity.sleep.asleep));
    world.run(1.0, &[(tank, holding(Buttons::JUMP))]);
    assert!(world.lowest(tank.slot) > 80.0, "the tank is at {}", world.lowest(tank.slot));
}

#[test]
fn a_tank_on_its_back_rights_itself() {
    for turn in [DQuat::from_rotation_x(3.1), DQuat::from_rotation_y(2.0)] {
        let (mut world, tank) = tank_room();
        world.put(tank.slot, DVec3::new(-250.0, 0.0, 80.0), turn);
        // The tank is thrown down first, so that it really lies on its back.
        world.entities.get_mut(tank.slot).expect("the tank").velocity.z = -300.0;
        world.run(6.0, &[]);
        assert!(world.up(tank.slot).z > 0.99, "it lies: {}", world.up(tank.slot));
    }
}

#[test]
fn a_tank_lands_in_the_hollow_of_a_pad_and_takes_off_again() {
    let (mut world, tank) = tank_room();
    let model = world.shipped_model("repair_pad");
    let pad = world.spawn_body(model, DVec3::new(-250.0, 0.0, 16.0), DQuat::IDENTITY);
    let pad = pad.expect("there is room");
    world.run(2.0, &[(tank, holding(Buttons::JUMP))]);
    assert!(world.lowest(pad.slot) < 0.5, "the pad hangs at {}", world.lowest(pad.slot));
    let above = world.position(pad.slot) + DVec3::Z * 60.0;
    world.put(tank.slot, above, DQuat::IDENTITY);
    world.run(5.0, &[(tank, holding(Buttons::CROUCH))]);
    let (hull, floor) = (world.lowest(tank.slot), world.lowest(pad.slot) + 6.0);
    assert!((hull - floor).abs() < 1.0, "its hull is at {hull}, the pad's floor at {floor}");
    assert!(world.speed(tank.slot) < 1.0);
    world.run(1.0, &[(tank, holding(Buttons::JUMP))]);
    assert!(world.lowest(tank.slot) > 80.0, "the tank is at {}", world.lowest(tank.slot));
    assert!(world.lowest(pad.slot) < 1.0, "the tank took the pad with it");
}

#[test]
fn a_tank_shoves_a_box_and_stops_at_a_player() {
    let (mut world, tank) = tank_room();
    let stopped = world.join_at(DVec3::new(-60.0, 0.0, 30.0));
    let shoved = world.throw("cargo_box", DVec3::new(-150.0, 0.0, 21.0), DVec3::ZERO, DVec3::ZERO);
    let before = world.position(stopped.slot);
    world.run(1.5, &[]);
    world.run(2.0, &[(tank, fly(0, Buttons::default()))]);
    assert!(world.position(shoved).x > -140.0, "the box is at {}", world.position(shoved));
    assert!((world.position(stopped.slot) - before).length() < 8.0);
}
