//! A program in C is given the server's own map, sizes and models.

use std::fs;
use std::path::Path;

use obsp::Map;
use obsp::model::shipped;
use obsp_game::AnyGame;
use obsp_game::arena::Arena;
use tests::harness::{ServerProcess, own_map};

use super::{compile_example, run};

#[test]
fn a_program_in_c_is_given_the_level_of_the_match() {
    let Some(example) = compile_example("level") else { return };
    let arena = own_map("arena.obsp");
    let server = ServerProcess::start(&["--map", arena.to_str().unwrap()]);
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("copied.obsp");
    let (code, said) = run(&example, &[&server.udp.to_string(), copy.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read(&copy).unwrap() == fs::read(&arena).unwrap(), "the map differs: {said}");

    let world = Map::load(&arena).unwrap();
    let hash: String = world.hash().iter().map(|byte| format!("{byte:02x}")).collect();
    let triangles = |polygons: &[obsp::model::Polygon]| -> usize {
        polygons.iter().map(|polygon| polygon.winding.vertices.len() - 2).sum()
    };
    let mut lines = said.lines();
    let mut next = || lines.next().unwrap_or_default().to_owned();
    assert_eq!(next(), format!("map arena {hash}"));
    assert_eq!(next(), "players 32 wide, 56 high, 36 crouched");
    let walls = format!("walls of {} triangles, ", triangles(world.polygons()));
    assert!(next().starts_with(&walls), "not {walls}: {said}");
    // The models of the map's items and movers follow the shipped ones.
    let models = AnyGame::models(&Arena, &world);
    assert!(models.len() > shipped().len(), "the arena has items and movers");
    for (id, model) in models.iter().enumerate() {
        let kind = match (model.is_missile(), model.is_kinematic()) {
            (true, _) => "missile",
            (_, true) => "kinematic",
            _ => "dynamic",
        };
        let (hulls, surface) = (model.parts(), triangles(model.polygons()));
        let corners = hulls.iter().map(|hull| hull.vertices().len()).max().unwrap();
        let expected = format!(
            "model {id} {}: {kind}, {} hulls of at most {corners} corners, {surface} triangles",
            model.name(),
            hulls.len()
        );
        assert_eq!(next(), expected);
    }
    assert_eq!(next(), "action fire: Ray, button 4, key Digit1");
    assert_eq!(next(), "action rocket: Rocket, button 16, key Digit2");
    assert_eq!(next(), "action grenade: Grenade, button 32, key Digit3");
    assert_eq!(next(), "");
}
