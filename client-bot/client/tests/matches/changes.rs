//! Changes that a game makes to the own player are predicted from the tick in which they take
//! effect.

use obsp_sim::{CollisionLayers, MovementId};

use super::*;

/// The server lets the player run twice as fast, then freezes the player, again and again. The
/// server sends the changed motion at once, so a wrong prediction lasts no longer than the delay of
/// the line. Only a lost datagram costs a correction.
#[test]
fn a_player_whose_set_of_parameters_changes_is_predicted_from_the_tick_of_the_change() {
    let game = GameData::parse(
        "[movements.haste]\nrun_speed = 640\n[movements.frozen]\nrun_speed = 1\njump_speed = 0",
    );
    let game = game.unwrap();
    let [frozen, haste] = ["frozen", "haste"].map(|name| game.movement_sets().find(name).unwrap());
    for (loss, wrong) in [(0, 0), (10, 6)] {
        let mut play = Match::playing(0, &game, game.clone());
        play.run(60);
        play.errors.clear();
        play.jumps = true;
        play.server.loss = loss;
        for round in 0..20 {
            let set = [haste, MovementId::USUAL, frozen, MovementId::USUAL][round % 4];
            play.server.next_movement = Some(set);
            play.run(60);
            let own = play.client.motion().unwrap().1.walker.movement;
            assert_eq!(own, set, "the client knows its set");
        }
        assert!(play.fastest > 500.0, "nobody ran faster than usual: {}", play.fastest);
        assert!(play.errors.len() > 150, "{} comparisons", play.errors.len());
        let errors = play.errors.iter().filter(|error| **error > 0.01).count();
        println!("one in {loss} lost: {errors} of {} are wrong", play.errors.len());
        assert!(errors <= wrong, "{errors} of {} with one in {loss} lost", play.errors.len());
    }
}

/// The server lets the player pass through posts, then collide with them, again and again. The
/// motion comes with the layers, so a wrong prediction lasts no longer than the delay of the line,
/// as with a set of parameters.
#[test]
fn a_player_whose_layers_change_is_predicted_from_the_tick_of_the_change() {
    const POSTS: u32 = 1 << 1;
    let posts = GameData::read(
        "[models]\npost = 'post.obj'\n[materials.post]\nkinematic = true",
        &mut |_, _| Ok(block([20.0, 20.0, 60.0])),
    );
    let game = posts.unwrap();
    let meets = CollisionLayers::default();
    let passes = CollisionLayers { layers: 1, mask: !POSTS };
    for (loss, wrong) in [(0, 0), (9, 6)] {
        let mut play = Match::playing(0, &game, game.clone());
        play.run(60);
        let player = play.server.player().unwrap();
        let world = play.server.world_mut();
        let model = world.model("post").unwrap();
        let here = world.player_motion(player).unwrap().position.as_dvec3();
        for number in 0..196_u32 {
            let (x, y) = (f64::from(number % 14) - 6.5, f64::from(number / 14) - 6.5);
            let place = here + DVec3::new(64.0 * x, 64.0 * y, 4.0);
            let Ok(post) = world.spawn_body(model, place, glam::DQuat::IDENTITY) else { continue };
            world.set_layers(post, CollisionLayers { layers: POSTS, mask: u32::MAX }).unwrap();
        }
        play.run(60);
        play.errors.clear();
        play.server.loss = loss;
        let (mut inside, mut changes) = (0, 0);
        for round in 0..900 {
            if round % 25 == 0 {
                play.server.next_layers = Some(if round % 50 == 0 { passes } else { meets });
            }
            let waited = play.server.next_layers.is_some();
            play.frame();
            changes += u32::from(waited && play.server.next_layers.is_none());
            let world = play.server.world();
            let bounds = world.bounds_of(player).expect("the player is in the world");
            inside += u32::from(world.overlapping_box(&bounds).len() > 1);
        }
        println!("{changes} changes, {inside} ticks in posts");
        assert!(changes >= 20 && inside > 20, "{changes} changes, {inside} ticks in posts");
        assert!(play.errors.len() > 90, "{} comparisons", play.errors.len());
        // The places of the posts are rounded on the wire, so a contact is not predicted exactly.
        let errors = play.errors.iter().filter(|error| **error > 0.1).count();
        println!("one in {loss} lost: {errors} of {} are wrong", play.errors.len());
        assert!(errors <= wrong, "{errors} of {} with one in {loss} lost", play.errors.len());
    }
}
