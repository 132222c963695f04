//! Players of other sizes than the default. A `game.toml` asks for a size and the map is compiled
//! for it. The map is a hall that is 44 units high in its middle.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use obsp::{PlayerSize, Spaces};
use obsp_game::arena::Arena;
use obsp_game::{AnyGame, Event, GameFile, Match, RunningMatch};
use obsp_sim::audit::Audit;
use obsp_sim::{Buttons, Command, Config, PlayerKind, Posture};

use crate::drawn::{brush, map};

const SMALL: &str = "[player]\nwidth = 20\nheight = 40\ncrouched_height = 24\n";

/// A hall along X with its floor at height zero. Between X = 0 and X = 200 it is 44 units high, and
/// 256 elsewhere.
fn hall(spaces: &Spaces) -> Arc<obsp::Map> {
    let blocks = [
        ([-320, -80, -16], [520, 80, 0]),
        ([-320, -80, 256], [520, 80, 272]),
        ([-320, -80, 0], [-304, 80, 256]),
        ([504, -80, 0], [520, 80, 256]),
        ([-320, -80, 0], [520, -64, 256]),
        ([-320, 64, 0], [520, 80, 256]),
        ([0, -80, 44], [200, 80, 256]),
    ];
    let point = |corner: [i32; 3]| DVec3::from(corner.map(f64::from));
    let brushes: String = blocks.iter().map(|&(min, max)| brush(point(min), point(max))).collect();
    // The feet of the player are on the floor.
    let start = "{\n\"classname\" \"info_player_start\"\n\"origin\" \"-200 0 24.1\"\n}\n";
    map(spaces, &brushes, start)
}

fn file(text: &str) -> GameFile {
    GameFile::parse(text).expect("a game file")
}

/// A match that the text of a `game.toml` sets up, in a hall for players of this size.
fn play(text: &str, size: &PlayerSize) -> Result<Match<Arena>, String> {
    let map = hall(&Spaces::default().with_players(size).expect("sizes"));
    let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 2 };
    Match::with_file(Arena, map, config, &file(text)).map_err(|error| error.to_string())
}

/// The greatest X that a player reaches in four seconds, in a match that is audited in every tick.
fn walks_to(game: &mut Match<Arena>, buttons: Buttons) -> f64 {
    let map = game.world().map();
    let mut audit = Audit::new(map, &Arena.models(map)).expect("the map can be audited");
    let player = game.join_as(PlayerKind::Box).expect("there is room");
    let ahead = Command { forward: 127, buttons, ..Command::default() };
    let mut farthest = f64::NEG_INFINITY;
    for _ in 0..240 {
        game.step(&[(player, ahead)]);
        assert_eq!(audit.check_match(game.world()), []);
        let at = game.world().entity(player).expect("the entity is in the world").position;
        farthest = farthest.max(at.x);
    }
    farthest
}

#[test]
fn a_small_player_walks_upright_where_the_usual_one_has_to_crouch() {
    let small = file(SMALL).size().copied().expect("the file gives a size");
    let mut low = play(SMALL, &small).unwrap();
    assert_eq!(low.world().player_half_extents(Posture::Standing), DVec3::new(10.0, 10.0, 20.0));
    // The small player reaches the wall beyond the beam.
    assert!((walks_to(&mut low, Buttons::default()) - 494.0).abs() < 1.0);
    let usual = PlayerSize::default();
    // A player of the default size stops at the beam, with the centre half of the player's width
    // before it.
    let mut high = play("", &usual).unwrap();
    assert!((walks_to(&mut high, Buttons::default()) + 16.0).abs() < 1.0);
    let mut crouched = play("", &usual).unwrap();
    assert!(walks_to(&mut crouched, Buttons::CROUCH) > 200.0);
    // A tall player has no room under the beam, standing or crouched.
    let text = "[player]\nheight = 80\ncrouched_height = 48\n";
    let mut tall = play(text, file(text).size().unwrap()).unwrap();
    assert!((walks_to(&mut tall, Buttons::CROUCH) + 16.0).abs() < 1.0);
}

/// A spawn point is 24 units above the feet of players of every size. Their eyes are in proportion
/// to those of a player of the default size.
#[test]
fn feet_and_eyes_are_where_the_size_has_them() {
    for (text, half, eyes) in [("", 28.0, 22.0), (SMALL, 20.0, 20.0 * 22.0 / 28.0)] {
        let size = file(text).size().copied().unwrap_or_default();
        let mut game = play(text, &size).unwrap();
        let player = game.join_as(PlayerKind::Box).unwrap();
        let centre = game.world().entity(player).unwrap().position;
        assert!((centre.z - half - 0.1).abs() < 0.3, "{centre}");
        let fire = Command { buttons: Buttons::PRIMARY, ..Command::default() };
        game.step(&[(player, fire)]);
        let from = game.events().iter().find_map(|event| match event {
            Event::Ray { from, .. } => Some(*from),
            _ => None,
        });
        let at = game.world().entity(player).unwrap().position;
        assert_eq!(from.expect("a shot").z, at.z + eyes);
    }
}

#[test]
fn a_map_that_was_compiled_for_players_of_another_size_is_refused() {
    let refused = play(SMALL, &PlayerSize::default()).unwrap_err();
    for part in [
        "players 20 wide, 40 high and 24 crouched",
        "players 32 wide, 56 high and 36 crouched",
        "mapc compile drawn.map --game game.toml",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
    // A file that asks for no size fits every map.
    let small = *file(SMALL).size().unwrap();
    assert!(play("[player]\nhealth = 5\n", &small).is_ok());
    let flat = |size: &obsp::Size| obsp::Size {
        half_extents: size.half_extents * Vec3::new(1.0, 0.5, 1.0),
        ..size.clone()
    };
    let odd = Spaces::new(Spaces::default().sizes().iter().map(flat).collect()).unwrap();
    let refused = Arena.with_file(&file(SMALL)).new_match(hall(&odd), Config::default());
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("was compiled for others"), "{refused}");
    // A saved match is also refused on such a map.
    let saved = play(SMALL, &small).unwrap().save();
    let usual = hall(&Spaces::default());
    let refused = Arena.with_file(&file(SMALL)).load_match(usual, &saved).unwrap_err().to_string();
    assert!(refused.contains("the map was compiled for players 32 wide"), "{refused}");
}
