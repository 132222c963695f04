//! Players on ladders.

use super::*;
use crate::command::Buttons;
use crate::players::prediction::Predictor;

/// A wall of 200 units in the room, with a ladder of 250 on its western side.
fn hall(class: &str) -> Arc<obsp::Map> {
    let wall = block([-200, -100, 0], [-100, 100, 200]);
    let ladder = block([-216, -32, 0], [-200, 32, 250]);
    room_with(&format!(
        "{{\n\"classname\" \"func_wall\"\n{wall}}}\n{{\n\"classname\" \"{class}\"\n{ladder}}}\n"
    ))
}

fn match_with(class: &str) -> (World, EntityId) {
    let mut world = World::new(hall(class), shipped().into(), CONFIG).expect("a match");
    let id = world.join_at(DVec3::new(-230.0, 0.0, 29.0));
    world.run(0.5, &[]);
    (world, id)
}

fn up() -> Command {
    Command { buttons: Buttons::JUMP, ..Command::default() }
}

#[test]
fn a_player_climbs_at_the_speed_of_quake_2_and_stays_where_no_key_is_held() {
    for class in ["trigger_ladder", "func_ladder"] {
        let (mut world, id) = match_with(class);
        world.run(0.25, &[(id, up())]);
        let before = world.position(id.slot).z;
        world.run(0.5, &[(id, up())]);
        let climbed = world.position(id.slot).z - before;
        assert!((climbed - 100.0).abs() < 5.0, "{class}: {climbed} in half a second");
        world.run(0.5, &[]);
        let held = world.position(id.slot).z;
        world.run(2.0, &[]);
        assert!((world.position(id.slot).z - held).abs() < 0.1, "{class}: the player stays");
        let down = Command { buttons: Buttons::CROUCH, ..Command::default() };
        world.run(0.25, &[(id, down)]);
        assert!(world.position(id.slot).z < held - 30.0, "{class}");
    }
}

#[test]
fn a_player_climbs_along_the_view_and_onto_the_wall() {
    let (mut world, id) = match_with("trigger_ladder");
    // Forward, 45 degrees up.
    let ahead = Command { forward: 127, pitch: 8_192, ..Command::default() };
    world.run(3.0, &[(id, ahead)]);
    let at = world.position(id.slot);
    assert!(at.x > -100.0, "the player is over the wall: {at}");
}

#[test]
fn a_player_walks_past_a_ladder_and_jumps_where_there_is_none() {
    let (mut world, id) = match_with("trigger_ladder");
    let aside = |right| Command { right, ..Command::default() };
    world.run(0.5, &[(id, aside(127))]);
    world.run(1.0, &[]);
    let ground = world.position(id.slot);
    assert!(ground.y < -50.0, "the player is beside the ladder: {ground}");
    for _ in 0..40 {
        world.step(&[(id, aside(-127))]);
        let at = world.position(id.slot);
        assert!((at.z - ground.z).abs() < 0.1, "the player walks: {at}");
    }
    assert!(world.position(id.slot).y > 50.0, "past the ladder");
    world.run(0.5, &[]);
    let (mut highest, top) = (0.0_f64, world.position(id.slot).z);
    for _ in 0..60 {
        world.step(&[(id, up())]);
        highest = highest.max(world.position(id.slot).z - top);
    }
    assert!(highest > 40.0 && highest < 60.0, "a jump of {highest}");
}

#[test]
fn climbing_is_predicted_to_the_bit() {
    let (mut world, id) = match_with("trigger_ladder");
    let predictor = Predictor::new(hall("trigger_ladder"), &shipped()).expect("a predictor");
    for tick in 0..300_i16 {
        let command = Command {
            forward: [127, 0, -127][usize::from(tick as u16 / 40 % 3)],
            right: [0, 60, 0, -60][usize::from(tick as u16 / 25 % 4)],
            pitch: (tick % 90 - 45) * 300,
            buttons: if tick / 50 % 2 == 0 { Buttons::JUMP } else { Buttons::default() },
            ..Command::default()
        };
        let motion = world.player_motion(id).expect("there");
        let mut others = world.state().entities;
        others.retain(|other| other.id != id);
        let layers = world.layers(id).expect("there");
        let by = (world.seconds(), world.movement_sets(), layers);
        let predicted = predictor.step(motion, command, by, &mut others, &[], &[]);
        world.step(&[(id, command)]);
        assert_eq!(world.player_motion(id), Some(predicted.motion), "tick {tick}");
    }
}
