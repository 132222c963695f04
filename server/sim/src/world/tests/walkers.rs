use super::*;
use crate::command::Buttons;
use crate::players::movement::MovementParameters;
use crate::players::prediction::Predictor;

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
    // The slopes rise two for one across, so the box, 16 to a side, hangs 16 above their end.
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
    // The air control gains the running speed in a second: here, for 24 ticks.
    assert!((y - 320.0 * 0.4).abs() < 1.0, "steered to {y}");
}

/// The room with a jump pad at x = -250, whose target is 300 above the middle of the pad.
fn room_with_pad() -> Arc<obsp::World> {
    let pad = block([-290, -40, 0], [-210, 40, 8]);
    room_with(&format!(
        "{{\n\"classname\" \"trigger_push\"\n\"target\" \"top\"\n{pad}}}\n\
         {{\n\"classname\" \"info_notnull\"\n\"targetname\" \"top\"\n\
         \"origin\" \"-250 0 304\"\n}}\n"
    ))
}

/// Symptom: a pad with a target at 300 threw players to 622 with a gravity of 400 and to 208 with
/// 1600. Cause: it computed with a gravity of 800. Cure: it computes with the gravity of the
/// match, and so does a client's prediction.
#[test]
fn push_gravity() {
    let map = room_with_pad();
    let usual = MovementParameters::default();
    for gravity in [0.0, 100.0, 400.0, 800.0, 1600.0, 4000.0] {
        let movement = MovementParameters { gravity, ..usual };
        let mut world = World::new(Arc::clone(&map), shipped().into(), CONFIG).expect("a match");
        world.set_movement(movement).expect("in range");
        let predictor = Predictor::new(Arc::clone(&map), &shipped()).expect("a predictor");
        let id = world.join_at(DVec3::new(-250.0, 0.0, 29.0));
        let mut highest = f64::MIN;
        for tick in 0..240 {
            let before = world.player_motion(id).expect("there");
            let by = (1.0 / 60.0, &movement);
            let predicted = predictor.step(before, Command::default(), by, &mut [], &[]);
            world.step(&[]);
            let after = world.player_motion(id).expect("there");
            assert_eq!(predicted.motion, after, "gravity {gravity}, tick {tick}");
            highest = highest.max(f64::from(after.position.z));
        }
        // The target is 300 above the middle of the pad. The last push comes where the feet leave
        // the pad, or up to a tick's way before.
        let expected = if gravity == 0.0 { 512.0 - 28.0 } else { 8.0 + 28.0 + 300.0 };
        let off = highest - expected;
        assert!((-28.0..3.0).contains(&off), "gravity {gravity}: to {highest}, not {expected}");
    }
}

/// Symptom: fallen bodies came back only to places reachable by steps of 18 units, whatever the
/// game's step height. Cause: a constant was used in place of the parameter.
#[test]
fn places_are_those_that_the_games_own_steps_lead_to() {
    let ledge = block([-300, -200, 0], [-100, 200, 30]);
    let map = room_with(&format!("{{\n\"classname\" \"func_wall\"\n{ledge}}}\n"));
    let mut world = World::new(map, shipped().into(), CONFIG).expect("a match");
    let is_on_ledge = |world: &World| {
        let centres = world.arena.places().centres();
        assert!(centres.len() > 10);
        centres.iter().any(|centre| centre.z > 30.0 + 28.0)
    };
    assert!(!is_on_ledge(&world), "steps of 18");
    let usual = MovementParameters::default();
    let steps = MovementParameters { step_height: 40.0, ..usual };
    world.set_movement(steps).expect("in range");
    assert!(is_on_ledge(&world), "steps of 40");
}
