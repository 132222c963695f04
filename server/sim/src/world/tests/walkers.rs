use super::*;
use crate::command::Buttons;

fn heading(yaw: u16) -> Command {
    Command { forward: 127, yaw, ..Command::default() }
}

#[test]
fn the_feet_stay_in_place_when_the_posture_changes() {
    let mut world = empty_room();
    let id = world.join_at(DVec3::new(-250.0, 0.0, 30.0));
    world.run(1.0, &[]);
    let feet = |world: &World| {
        let posture = world.entities.get(id.slot).and_then(Entity::walker).expect("there").posture;
        (posture, world.position(id.slot).z - world.agent_half_extents(posture).z)
    };
    let (before, ground) = feet(&world);
    assert_eq!(before, Posture::Standing);
    for posture in [Posture::Crouching, Posture::Standing, Posture::Crouching] {
        let ducks = posture == Posture::Crouching;
        let buttons = if ducks { Buttons::CROUCH } else { Buttons::default() };
        world.step(&[(id, holding(buttons))]);
        let (now, height) = feet(&world);
        assert_eq!(now, posture);
        assert!((height - ground).abs() < 1e-3, "{posture:?}: the feet went to {height}");
    }
}

/// A corner of the room, and the end of a corridor hardly wider than a player:
/// with the floor, three planes and four.
#[test]
fn a_player_in_a_corner_or_a_dead_end_stands_still_and_gets_out() {
    let sides = block([-512, 17, 0], [-400, 60, 200]) + &block([-512, -60, 0], [-400, -17, 200]);
    let corridor = room_with(&format!("{{\n\"classname\" \"func_wall\"\n{sides}}}\n"));
    let west = 32_768;
    let cases = [
        (room(), DVec3::new(-330.0, -330.0, 30.0), west + 8_192),
        (room(), DVec3::new(-330.0, -330.0, 30.0), west + 6_000),
        (corridor, DVec3::new(-350.0, 0.0, 30.0), west),
    ];
    for (map, from, yaw) in cases {
        let mut world = World::new(map, shipped().into(), CONFIG).expect("a match");
        let id = world.join_at(from);
        world.run(2.5, &[(id, heading(yaw))]);
        let stopped = world.position(id.slot);
        assert!(stopped.x < -490.0, "heading {yaw}: did not come in, {stopped}");
        for tick in 0..60 {
            world.step(&[(id, heading(yaw))]);
            let off = world.position(id.slot).distance(stopped);
            assert!(off < 0.01, "heading {yaw}: jitters by {off} at tick {tick}, {stopped}");
        }
        world.run(1.0, &[(id, heading(yaw ^ west))]);
        let away = world.position(id.slot).distance(stopped);
        assert!(away > 100.0, "heading {yaw}: got only {away} away from {stopped}");
    }
}

/// A player who falls against one of four slopes too steep to stand on slides along it,
/// along the crease with the next, and comes to rest between all four.
#[test]
fn a_player_in_a_funnel_of_four_slopes_slides_to_its_bottom_and_stands_still() {
    // Two up for one across: the box, 16 to a side, hangs 16 above the end.
    let slopes = funnel([-256, 0, 0], 8, 108, 200);
    let map = room_with(&format!("{{\n\"classname\" \"func_wall\"\n{slopes}}}\n"));
    for (x, y) in [(0, 0), (70, 0), (-70, 0), (0, 70), (60, 60), (-60, 50), (-20, -70), (33, -7)] {
        let mut world = World::new(Arc::clone(&map), shipped().into(), CONFIG).expect("a match");
        let from = DVec3::new(f64::from(x - 256), f64::from(y), 260.0);
        let id = world.join_at(from);
        world.run(4.0, &[]);
        let end = world.position(id.slot);
        let off = end - DVec3::new(-256.0, 0.0, 16.0 + 28.0);
        assert!(off.length() < 0.5, "from {from}: came to {end}");
        for (tick, yaw) in (0..240).zip((0..u16::MAX).step_by(1_000).cycle()) {
            world.step(&[(id, heading(yaw))]);
            let by = world.position(id.slot).distance(end);
            assert!(by < 0.25, "from {from}: jitters by {by} at tick {tick}");
        }
    }
}

#[test]
fn in_the_air_a_player_steers_a_little_and_keeps_speed() {
    let mut world = empty_room();
    let id = world.join_at(DVec3::new(-490.0, -200.0, 30.0));
    world.run(0.7, &[(id, heading(0))]);
    world.step(&[(id, Command { buttons: Buttons::JUMP, ..heading(0) })]);
    for _ in 0..24 {
        world.step(&[(id, Command { buttons: Buttons::JUMP, ..heading(16_384) })]);
    }
    let DVec3 { x, y, .. } = world.entities.get(id.slot).expect("there").velocity;
    assert!(x > 310.0, "lost speed in the air: {x}");
    // A share of 1 a second of the running speed, for 24 ticks.
    assert!((y - 320.0 * 0.4).abs() < 1.0, "steered to {y}");
}
