//! The arena that ships: its compiled form is what the compiler makes of the
//! source today, and it is what a match needs.

use glam::{DQuat, DVec3, Vec3};
use maps::model::shipped;
use tests::harness::{compile, own_map};
use tests::oracle::bodies::{Audit, Placed, Shape};
use tests::oracle::brushes::Brushes;
use tests::oracle::map_text::{Entity, parse};

/// From a spawn point's origin to the centre of the 32 × 32 × 56 box whose
/// feet are 24 below the origin.
const SPAWN_RISE: f64 = 4.0;

fn entities(class: &str) -> Vec<Entity> {
    let text = std::fs::read_to_string(own_map("arena.map")).expect("the arena's source");
    parse(&text)
        .into_iter()
        .filter(|e| class.is_empty() || e.get("classname") == Some(class))
        .collect()
}

fn origin(entity: &Entity) -> DVec3 {
    DVec3::from_array(entity.origin().unwrap_or_else(|| panic!("no origin: {entity:?}")))
}

#[test]
fn the_compiled_arena_is_what_its_source_compiles_to() {
    let path = own_map("arena.obsp");
    let committed = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let now = compile(&own_map("arena.map")).to_bytes();
    assert!(
        committed == now,
        "maps/arena.obsp ({} bytes) is not what maps/arena.map compiles to ({} bytes). If the \
         map, maps/spaces.toml or the compiler was changed on purpose, renew it with: \
         cargo run --release -p maps --bin mapc -- compile maps/arena.map",
        committed.len(),
        now.len(),
    );
}

#[test]
fn every_spawn_point_has_room() {
    let spawns = entities("info_player_deathmatch");
    assert!(spawns.len() >= 32, "{} spawn points", spawns.len());
    let world = compile(&own_map("arena.map"));
    let standing = world.size("standing").expect("players stand");
    // Two units wider on every side than a player is.
    let roomy = Brushes::new(&entities(""), [18, 18, 30]);
    for (i, spawn) in spawns.iter().enumerate() {
        let centre = origin(spawn) + DVec3::Z * SPAWN_RISE;
        assert_eq!(roomy.holder(centre.to_array()), None, "spawn {centre} is in this line's brush");
        assert!(!world.is_solid(standing, centre.as_vec3()), "spawn {centre}");
        for other in &spawns[..i] {
            let apart = (origin(other) - origin(spawn)).abs();
            assert!(apart.x > 32.0 || apart.y > 32.0 || apart.z > 56.0, "two spawns at {centre}");
        }
    }
}

#[test]
fn every_prop_is_free() {
    let models = shipped();
    let mut shapes: Vec<_> = models
        .iter()
        .map(|model| {
            let path = own_map(&format!("models/{}.obj", model.name()));
            Shape::model(&std::fs::read_to_string(path).expect("the model's source"))
        })
        .collect();
    let player = DVec3::new(16.0, 16.0, 28.0);
    shapes.push(Shape::cuboid(-player, player));

    let props = entities("prop");
    assert!(props.len() >= 60, "{} props", props.len());
    let mut things: Vec<Placed> = props
        .iter()
        .map(|prop| {
            let name = prop.get("model").expect("a prop has a model");
            let degrees: f64 = prop.get("angle").map_or(0.0, |a| a.parse().expect("degrees"));
            Placed {
                id: 0,
                shape: models.iter().position(|m| m.name() == name).expect("the model ships"),
                orientation: DQuat::from_rotation_z(degrees.to_radians()),
                position: origin(prop),
            }
        })
        .collect();
    // Everybody could spawn at once before a prop has moved.
    things.extend(entities("info_player_deathmatch").iter().map(|spawn| Placed {
        id: 0,
        shape: models.len(),
        orientation: DQuat::IDENTITY,
        position: origin(spawn) + DVec3::Z * SPAWN_RISE,
    }));
    for (id, thing) in things.iter_mut().enumerate() {
        thing.id = id as u64;
    }
    let overlaps = Audit::new(&entities(""), shapes).judge(&things);
    let named: Vec<_> = overlaps.iter().map(|o| format!("{o:?}")).collect();
    assert!(overlaps.is_empty(), "{named:?} of {things:#?}");
}

#[test]
fn only_the_ducked_fit_the_tunnel() {
    let world = compile(&own_map("arena.map"));
    let [crouching, standing] =
        ["crouching", "standing"].map(|name| world.size(name).expect("players have it"));
    // From the pit to the cellar, the feet 2 above the floor at -128.
    for y in (-544..=-192).step_by(16) {
        let feet = Vec3::new(0.0, y as f32, -126.0);
        assert!(!world.is_solid(crouching, feet + Vec3::Z * 18.0), "ducked at y {y}");
        assert!(world.is_solid(standing, feet + Vec3::Z * 28.0), "upright at y {y}");
    }
}

#[test]
fn pads_and_teleporters_lead_somewhere() {
    let all = entities("");
    let mut leading = 0;
    for trigger in
        all.iter().filter(|e| e.get("classname").is_some_and(|c| c.starts_with("trigger_")))
    {
        let target = trigger.get("target").expect("it has a target");
        let ends = all.iter().filter(|e| e.get("targetname") == Some(target)).count();
        assert_eq!((ends, trigger.brushes.len()), (1, 1), "{target}");
        leading += 1;
    }
    assert!(leading >= 4, "{leading}");
}
