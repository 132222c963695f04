use super::*;
use crate::arena::movement_sets::MovementSets;
use crate::arena::parameters::MovementParameters;
use crate::command::Buttons;
use crate::place_error::PlaceError;
use crate::players::prediction::Predictor;
use crate::state::MovementId;
use crate::traits::CollisionLayers;

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
        assert!(
            stopped.x < -490.0,
            "heading {yaw}: the player did not come in, and stopped at \
                                     {stopped}"
        );
        for tick in 0..60 {
            world.step(&[(id, heading(yaw))]);
            let off = world.position(id.slot).distance(stopped);
            assert!(
                off < 0.01,
                "heading {yaw}: the player jitters by {off} at tick {tick}, at \
                                 {stopped}"
            );
        }
        world.run(1.0, &[(id, heading(yaw ^ west))]);
        let away = world.position(id.slot).distance(stopped);
        assert!(away > 100.0, "heading {yaw}: the player got only {away} away from {stopped}");
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
        assert!(off.length() < 0.5, "from {from}: the player came to {end}");
        for (tick, yaw) in (0..240).zip((0..u16::MAX).step_by(1_000).cycle()) {
            world.step(&[(id, heading(yaw))]);
            let by = world.position(id.slot).distance(end);
            assert!(by < 0.25, "from {from}: the player jitters by {by} at tick {tick}");
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
    assert!(x > 310.0, "the player lost speed in the air: {x}");
    // The air control gains the running speed in a second: here, for 24 ticks.
    assert!((y - 320.0 * 0.4).abs() < 1.0, "steered to {y}");
}

/// The room with a jump pad at x = -250, whose target is 300 above the middle of the pad.
fn room_with_pad() -> Arc<obsp::Map> {
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
            let layers = CollisionLayers::default();
            let by = (1.0 / 60.0, &MovementSets::from(movement), layers);
            let predicted = predictor.step(before, Command::default(), by, &mut [], &[], &[]);
            world.step(&[]);
            let after = world.player_motion(id).expect("there");
            assert_eq!(predicted.motion, after, "gravity {gravity}, tick {tick}");
            highest = highest.max(f64::from(after.position.z));
        }
        // The target is 300 above the middle of the pad. The last push comes where the feet leave
        // the pad, or up to a tick's way before.
        let expected = if gravity == 0.0 { 512.0 - 28.0 } else { 8.0 + 28.0 + 300.0 };
        let off = highest - expected;
        assert!(
            (-28.0..3.0).contains(&off),
            "gravity {gravity}: the player jumped to {highest}, \
            not {expected}"
        );
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

/// A room with a slope that rises to `height` over `length` units towards -x.
fn room_with_slope(length: i32, height: i32) -> Arc<obsp::Map> {
    let slope = crate::test_maps::slope([-length, -2000, 0], [0, 2000, height]);
    let blocks = [
        ([-2100, -2100, -16], [2100, 2100, 0]),
        ([-2100, -2100, 1600], [2100, 2100, 1616]),
        ([-2100, -2100, 0], [-2084, 2100, 1600]),
        ([2084, -2100, 0], [2100, 2100, 1600]),
        ([-2100, -2100, 0], [2100, -2084, 1600]),
        ([-2100, 2084, 0], [2100, 2100, 1600]),
    ];
    let brushes: String = blocks.map(|(min, max)| block(min, max)).concat();
    compiled(&(brushes + &slope), [1000, 0, 25], "")
}

const RATES: [u32; 5] = [20, 60, 61, 128, 240];

/// Symptom: a player who slid along a steep slope with a speed of 800 moved 514 units in a second
/// at 128 Hz, and 783 at 20. Cause: a sweep stops in front of a surface, but reported the time at
/// which it would have met the surface, so each tick lost the way in between. Cure: a sweep reports
/// the time at which it stops.
#[test]
fn a_player_who_slides_down_moves_as_fast_as_the_velocity_says() {
    for (length, height) in [(1000, 1200), (600, 1200), (300, 1200)] {
        let map = room_with_slope(length, height);
        let (run, rise) = (f64::from(length), f64::from(height));
        let steep = rise / run.hypot(rise);
        for tick_rate in RATES {
            let config = Config { tick_rate, ..CONFIG };
            let mut world =
                World::new(Arc::clone(&map), shipped().into(), config).expect("a match");
            // The lower edge of the box is a tenth of a unit above the slope.
            let x = -run * 0.8;
            let z = 0.8 * rise + 28.0 + 0.1;
            let id = world.join_at(DVec3::new(x + 16.0, -1900.0, z));
            world.set_velocity(id, DVec3::Y * 800.0, DVec3::ZERO).expect("there");
            let start = world.position(id.slot);
            (0..tick_rate).for_each(|_| world.step(&[]));
            let way = world.position(id.slot) - start;
            assert!((way.y - 800.0).abs() < 1.0, "{tick_rate} Hz, {length}: moved {way}");
            let fall = 400.0 * steep * steep;
            assert!(
                (way.z + fall).abs() < 4.0,
                "{tick_rate} Hz: the player fell by {way}, not by \
                {fall}"
            );
        }
    }
}

/// Symptom: along a slope of 44 degrees a player ran up at 161 units/s at 240 Hz and at 256 at 10,
/// mostly without ground, so that no jump was possible. Cause: a player who moved up at half the
/// speed of a jump counted as off the ground. Cure: the speed is measured from the ground.
#[test]
fn a_player_runs_up_a_ramp_alike_at_any_tick_rate_and_can_jump_there() {
    for (length, height) in [(1500, 400), (1500, 866), (1500, 1440)] {
        let map = room_with_slope(length, height);
        let expected = 320.0 * f64::from(length) / f64::from(length).hypot(f64::from(height));
        for tick_rate in RATES {
            let config = Config { tick_rate, ..CONFIG };
            let mut world =
                World::new(Arc::clone(&map), shipped().into(), config).expect("a match");
            let id = world.join_at(DVec3::new(100.0, 0.0, 28.2));
            let up = heading(32_768);
            while world.position(id.slot).x > -250.0 {
                world.step(&[(id, up)]);
            }
            let start = world.position(id.slot);
            for _ in 0..2 * tick_rate {
                world.step(&[(id, up)]);
                let motion = world.player_motion(id).expect("there");
                assert!(
                    motion.walker.grounded,
                    "{tick_rate} Hz: the player has no ground at \
                    {start}"
                );
            }
            let speed = (start.x - world.position(id.slot).x) / 2.0;
            assert!((speed - expected).abs() < 2.0, "{tick_rate} Hz: {speed}, not {expected}");
            world.step(&[(id, Command { buttons: Buttons::JUMP, ..up })]);
            let motion = world.player_motion(id).expect("there");
            assert!(!motion.walker.grounded && motion.velocity.z > 180.0, "{motion:?}");
        }
    }
}

/// Symptom: down a stair whose steps are the highest that a player walks up, the player fell from
/// step to step. Cause: players end a step up a little above the step, so the way down is longer
/// than a step. Cure: players also follow the ground down by that distance.
#[test]
fn a_player_walks_down_the_steps_that_they_walk_up() {
    for step in [17, 18] {
        let stair: String =
            (0..12).map(|i| block([-500, -100, 0], [-100 - 32 * i, 100, step * (i + 1)])).collect();
        let map = room_with(&format!("{{\n\"classname\" \"func_wall\"\n{stair}}}\n"));
        let mut world = World::new(map, shipped().into(), CONFIG).expect("a match");
        let id = world.join_at(DVec3::new(-60.0, 0.0, 28.2));
        world.run(2.0, &[(id, heading(32_768))]);
        let top = world.position(id.slot).z;
        assert!(top > f64::from(step * 12), "steps of {step}: the player came up to {top} only");
        for tick in 0..90 {
            world.step(&[(id, heading(0))]);
            let grounded = world.player_motion(id).expect("there").walker.grounded;
            assert!(
                grounded,
                "steps of {step}, tick {tick}: the player is in the air at {}",
                world.position(id.slot)
            );
        }
        let bottom = world.position(id.slot);
        assert!(bottom.z < 30.0, "steps of {step}: the player came down to {bottom} only");
    }
}

/// Symptom: the jump pads of LibreQuake's maps pushed players along the floor. Cause: their key
/// `angles` was not read. Cure: a pad without a target pushes along it. Quake's pitch is down.
#[test]
fn a_pad_without_a_target_pushes_along_its_angles() {
    let pad = block([-290, -40, 0], [-210, 40, 8]);
    for (angles, pitch, yaw) in [
        ("-83 0 0", 83.0, 0.0),
        ("-35 270 0", 35.0, 270.0),
        ("0 -1 0", 90.0, 0.0),
        ("-60", 60.0, 0.0),
    ] {
        let map = room_with(&format!(
            "{{\n\"classname\" \"trigger_push\"\n\"angles\" \"{angles}\"\n\"speed\" \"85\"\n{pad}}}\n"
        ));
        let mut world = World::new(map, shipped().into(), CONFIG).expect("a match");
        let id = world.join_at(DVec3::new(-250.0, 0.0, 29.0));
        world.step(&[]);
        let [pitch, yaw]: [f64; 2] = [pitch, yaw].map(f64::to_radians);
        let way = DVec3::new(pitch.cos() * yaw.cos(), pitch.cos() * yaw.sin(), pitch.sin());
        let pushed = world.player_motion(id).expect("there").velocity.as_dvec3();
        assert!(pushed.distance(way * 850.0) < 0.5, "angles {angles}: {pushed}");
    }
}

/// Symptom: at 20 Hz a player who flew at 1,000 units/s came through teleporters and jump pads of
/// 16 units in one try of ten, and at 2,000 in six. Cause: only the position at the end of each
/// tick was tested against triggers. Cure: the way of the tick is tested, too.
#[test]
fn no_player_is_too_fast_for_a_trigger() {
    for thickness in [1, 16, 64] {
        let sheet = block([-200, -500, 0], [-200 + thickness, 500, 400]);
        let entity = format!("{{\n\"classname\" \"trigger_push\"\n\"angle\" \"-1\"\n{sheet}}}\n");
        let map = room_with(&entity);
        for (tick_rate, speed) in [(10, 600.0), (10, 2000.0), (20, 1000.0), (60, 2000.0)] {
            let config = Config { tick_rate, ..CONFIG };
            let mut world =
                World::new(Arc::clone(&map), shipped().into(), config).expect("a match");
            for off in 0..20 {
                let from = DVec3::new(-330.0 - 7.3 * f64::from(off), -200.0, 200.0);
                let id = world.join_at(from);
                world.set_velocity(id, DVec3::X * speed, DVec3::ZERO).expect("there");
                let pushed = (0..12).any(|_| {
                    world.step(&[]);
                    world.player_motion(id).expect("there").velocity.z > 500.0
                });
                assert!(pushed, "{thickness} thick, {tick_rate} Hz, {speed}, from {from}");
                world.leave(id);
            }
        }
    }
}

/// Symptom: on LibreQuake's lqdm3 and lqdm13 players stood in jump pads for good, thrown into
/// walls. Cause: the pads have `angles` with a pitch, and were read as if they had none. Cure: a
/// pad pushes along `angles`, as in Quake.
#[test]
fn a_pad_pushes_along_its_pitch() {
    let pad = block([-290, -40, 0], [-210, 40, 8]);
    let keys = "\"classname\" \"trigger_push\"\n\"angles\" \"-78 180 0\"\n\"speed\" \"50\"";
    let map = room_with(&format!("{{\n{keys}\n{pad}}}\n"));
    let mut world = World::new(map, shipped().into(), CONFIG).expect("a match");
    let id = world.join_at(DVec3::new(-250.0, 0.0, 29.0));
    let thrown = (0..12).find_map(|_| {
        world.step(&[]);
        let velocity = world.player_motion(id).expect("there").velocity.as_dvec3();
        (velocity.z > 0.0).then_some(velocity)
    });
    let expected = DVec3::new(-500.0 * 78_f64.to_radians().cos(), 0.0, 489.1);
    let thrown = thrown.expect("the pad throws");
    // Gravity may have acted for a tick.
    assert!(thrown.distance(expected) < 800.0 / 60.0 + 1.0, "{thrown}, not {expected}");
}

/// A player with a set of twice the speed and less gravity moves by that set from the tick in which
/// it is given, and so does the prediction. A saved match keeps the set. Another player moves as
/// usual.
#[test]
fn one_player_moves_by_a_set_of_their_own() {
    let usual = MovementParameters::default();
    let haste = MovementParameters { run_speed: 640.0, gravity: 400.0, ..usual };
    let frozen = MovementParameters { run_speed: 1.0, jump_speed: 0.0, ..usual };
    let sets =
        MovementSets::from(usual).with("haste", haste).and_then(|s| s.with("frozen", frozen));
    let sets = sets.expect("two sets");
    let [haste, frozen] = ["haste", "frozen"].map(|name| sets.find(name).expect("declared"));
    let mut world = World::new(room(), shipped().into(), CONFIG).expect("a match");
    world.set_movement_sets(sets.clone()).expect("in range");
    let predictor = Predictor::new(room(), &shipped()).expect("a predictor");
    let id = world.join_at(DVec3::new(-450.0, 0.0, 29.0));
    let other = world.join_at(DVec3::new(-450.0, 200.0, 29.0));
    let run = Command { forward: 127, buttons: Buttons::JUMP, ..Command::default() };
    let mut fastest = [0.0_f32; 2];
    for tick in 0..90 {
        match tick {
            10 => world.set_player_movement(id, haste).expect("there"),
            60 => world.set_player_movement(id, frozen).expect("there"),
            _ => {}
        }
        let before = world.player_motion(id).expect("there");
        let predicted = predictor.step(
            before,
            run,
            (1.0 / 60.0, &sets, CollisionLayers::default()),
            &mut [],
            &[],
            &[],
        );
        world.step(&[(id, run), (other, run)]);
        assert_eq!(world.player_motion(id), Some(predicted.motion), "tick {tick}");
        for (fastest, id) in fastest.iter_mut().zip([id, other]) {
            let speed = world.player_motion(id).expect("there").velocity.truncate().length();
            *fastest = fastest.max(speed);
        }
        if tick == 30 {
            let saved = world.save();
            let again = World::load(room(), shipped().into(), &saved).expect("a saved match");
            assert_eq!((again.digest(), again.movement_sets()), (world.digest(), &sets));
            assert_eq!(again.player_movement(id), Some(haste));
            world = again;
        }
    }
    assert!(fastest[0] > 500.0 && fastest[1] < 330.0, "{fastest:?}");
    let last = world.player_motion(id).expect("there");
    assert!(last.velocity.truncate().length() < 5.0, "frozen players stop: {last:?}");
    // One set more than the match has, and no such player.
    let unknown = MovementId::from_index(3).expect("a number of the wire");
    assert_eq!(world.set_player_movement(id, unknown), Err(PlaceError::NoSuchMovement));
    world.leave(other);
    assert_eq!(world.set_player_movement(other, haste), Err(PlaceError::NoSuchEntity));
    // Without the set the player moves as usual, also once the match is saved and loaded.
    world.set_movement_sets(MovementSets::from(usual)).expect("in range");
    assert_eq!(world.player_movement(id), Some(MovementId::USUAL));
    let again = World::load(room(), shipped().into(), &world.save()).expect("a saved match");
    assert_eq!(again.digest(), world.digest());
}

/// Symptom: with a `jump_speed` of 0, every second tick on level ground counted as one in the air,
/// so friction braked half as much. The jump key does not take friction away, either.
#[test]
fn a_player_who_cannot_jump_brakes_as_others_do() {
    let usual = MovementParameters::default();
    let braking = |jump_speed: f64, buttons: Buttons| {
        let mut world = World::new(room(), shipped().into(), CONFIG).expect("a match");
        let set = MovementParameters { jump_speed, ..usual };
        world.set_movement_sets(MovementSets::from(set)).expect("in range");
        let id = world.join_at(DVec3::new(-450.0, 0.0, 29.0));
        world.run(0.5, &[(id, heading(0))]);
        let speeds = (0..30).map(|_| {
            world.step(&[(id, holding(buttons))]);
            let motion = world.player_motion(id).expect("there");
            (motion.velocity.x, motion.walker.grounded)
        });
        speeds.collect::<Vec<_>>()
    };
    let others = braking(usual.jump_speed, Buttons::default());
    assert!(others[0].0 > 200.0 && others[29].0 == 0.0, "{others:?}");
    for (jump_speed, buttons) in [
        (0.0, Buttons::default()),
        (0.0, Buttons::JUMP),
        (0.2, Buttons::JUMP),
        (0.25, Buttons::default()),
        (1.0, Buttons::default()),
    ] {
        assert_eq!(braking(jump_speed, buttons), others, "{jump_speed}, {buttons:?}");
    }
}

/// A `jump_speed` just above the limit of 0.2 leaves the ground, if the gravity is low enough.
#[test]
fn a_jump_of_hardly_any_speed_leaves_the_ground() {
    for (jump_speed, leaves) in [(0.2, false), (0.25, true)] {
        let mut world = World::new(room(), shipped().into(), CONFIG).expect("a match");
        let set = MovementParameters { jump_speed, gravity: 0.01, ..MovementParameters::default() };
        let id = world.join_at(DVec3::new(-450.0, 0.0, 29.0));
        world.run(1.0, &[]);
        world.set_movement_sets(MovementSets::from(set)).expect("in range");
        let before = world.position(id.slot).z;
        world.run(8.0, &[(id, holding(Buttons::JUMP))]);
        let rise = world.position(id.slot).z - before;
        assert_eq!(rise > 1.0, leaves, "{jump_speed}: rose by {rise}");
    }
}
