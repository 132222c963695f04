//! The configuration for a level designer's editor. It describes every entity that the maps use and
//! that the server understands, and names files that exist.

mod fgd;

use std::collections::BTreeSet;
use std::path::Path;

use obsp::model::shipped;
use obsp_game::GameFile;
use serde_json::Value;
use tests::harness::{ShippedMap, own_map};
use tests::oracle::map_text::Entity;

use fgd::{Definitions, Kind};

/// The maps that a designer may open.
const MAPS: [&str; 4] = ["arena", "terrain", "warren", "trenchbroom/initial"];

/// The sources in which server and compiler compare an entity's class.
const READERS: [&str; 6] = [
    "maps/src/compile/contents.rs",
    "server/game/src/quake.rs",
    "server/game/src/quake/items/gift.rs",
    "server/sim/src/arena/spawn.rs",
    "server/sim/src/arena/triggers.rs",
    "server/sim/src/world/props.rs",
];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn definitions() -> Definitions {
    Definitions::read(&read(&own_map("trenchbroom/arena.fgd")))
}

fn config(name: &str) -> Value {
    let text = read(&own_map(&format!("trenchbroom/{name}")));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn class_of(entity: &Entity) -> &str {
    entity.get("classname").expect("an entity has a class")
}

fn kind_of(entity: &Entity) -> Kind {
    let is_solid = class_of(entity) == "worldspawn" || !entity.brushes.is_empty();
    if is_solid { Kind::Solid } else { Kind::Point }
}

/// The examples' own classes are described in a file of their own, which no server reads.
#[test]
fn every_entity_in_the_maps_of_the_examples_is_described() {
    let definitions = definitions();
    let own = GameFile::parse(&read(&own_map("../server/examples/classes.toml")));
    let own = own.unwrap_or_else(|error| panic!("classes.toml: {error}"));
    let mut used = BTreeSet::new();
    for name in ["sumo", "king_of_the_hill", "bowling", "capture_the_flag"] {
        for entity in ShippedMap::read(&format!("../server/examples/{name}")).entities() {
            let class = class_of(entity);
            let own = own.classes().get(class).map(|own| {
                used.insert(class.to_owned());
                if own.brushes { Kind::Solid } else { Kind::Point }
            });
            let kind = own.or_else(|| definitions.kind(class));
            assert_eq!(kind, Some(kind_of(entity)), "{name}: {class}");
        }
    }
    assert_eq!(used.len(), own.classes().len(), "of the described classes only {used:?} are used");
}

#[test]
fn every_entity_in_the_maps_is_described() {
    let definitions = definitions();
    for name in MAPS {
        for entity in ShippedMap::read(name).entities() {
            let (class, kind) = (class_of(entity), kind_of(entity));
            assert_eq!(definitions.kind(class), Some(kind), "{name}: {class}");
            let described = definitions.keys(class);
            for (key, _) in &entity.pairs {
                // The editor itself sets the first two, and keys that begin with `_`.
                let own = key == "classname" || key == "origin" || key.starts_with('_');
                assert!(own || described.contains_key(key), "{name}: {key} of {class}");
            }
        }
    }
}

/// The names of classes with which a source file compares an entity's class.
fn classes_in(text: &str) -> BTreeSet<String> {
    let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let code = product.lines().filter(|line| !line.trim_start().starts_with("//"));
    let is_class = |word: &&str| {
        let known = ["info_", "trigger_", "func_", "target_", "light", "item_", "misc_"];
        matches!(*word, "prop" | "worldspawn") || known.iter().any(|start| word.starts_with(start))
    };
    code.flat_map(|line| line.split('"').skip(1).step_by(2))
        .filter(is_class)
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_class_that_the_server_understands_is_described() {
    let definitions = definitions();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut understood = BTreeSet::new();
    for reader in READERS {
        let classes = classes_in(&read(&root.join(reader)));
        assert!(
            !classes.is_empty(),
            "{reader} no longer compares classes; name the source that does in READERS"
        );
        understood.extend(classes);
    }
    // These classes occur only in maps for Quake III, and for Quake II and Half-Life, which have
    // definitions of their own.
    for class in ["func_static", "func_water", "misc_teleporter_dest"] {
        assert!(understood.remove(class), "no source understands {class} any more");
    }
    for class in &understood {
        assert!(definitions.kind(class).is_some(), "{class} is missing in arena.fgd");
    }
    // The target of a jump pad may have any class; these are the usual ones.
    for class in ["target_position", "info_notnull", "info_teleport_destination"] {
        assert!(definitions.keys(class).contains_key("targetname"), "{class}");
    }
    for class in ["trigger_push", "trigger_teleport"] {
        assert!(understood.contains(class), "{class}");
        assert!(definitions.keys(class).contains_key("target"), "{class}");
    }
    for key in ["speed", "angle"] {
        assert!(definitions.keys("trigger_push").contains_key(key), "{key}");
    }
}

#[test]
fn every_model_that_ships_can_be_chosen() {
    let names: Vec<String> = shipped().iter().map(|model| model.name().to_owned()).collect();
    assert_eq!(definitions().keys("prop")["model"], names);
}

#[test]
fn the_configuration_names_what_is_there() {
    let game = config("GameConfig.cfg");
    assert_eq!(game["version"], 9, "TrenchBroom reads no other version");
    let files = game["entities"]["definitions"].as_array().expect("a list").iter();
    let starts = game["fileformats"].as_array().expect("a list").iter().map(|f| &f["initialmap"]);
    for file in files.chain(starts).filter_map(Value::as_str) {
        assert!(own_map(&format!("trenchbroom/{file}")).is_file(), "{file}");
    }
    let name = game["name"].as_str().expect("a name");
    for map in MAPS {
        let text = read(&own_map(&format!("{map}.map")));
        let mut lines = text.lines();
        let header = [lines.next(), lines.next()].map(Option::unwrap_or_default);
        assert_eq!(header, [format!("// Game: {name}").as_str(), "// Format: Valve"], "{map}");
    }
    let tool = game["compilationTools"][0]["name"].as_str().expect("a tool");
    let profiles = config("CompilationProfiles.cfg");
    let task = &profiles["profiles"][0]["tasks"][0];
    assert_eq!(task["tool"], format!("${{{tool}}}"));
}

#[test]
fn every_texture_has_a_picture() {
    for name in MAPS {
        let map = ShippedMap::read(name);
        let brushes = map.entities().iter().flat_map(|entity| &entity.brushes);
        let textures: BTreeSet<&str> =
            brushes.flat_map(|b| &b.faces).map(|face| face.texture.as_str()).collect();
        // Some systems allow no star in a file name, so such textures have no picture.
        for texture in textures.into_iter().filter(|texture| !texture.starts_with('*')) {
            let picture = own_map(&format!("trenchbroom/textures/{texture}.png"));
            assert!(picture.is_file(), "{name}: {texture}");
        }
    }
}

#[test]
fn a_new_map_is_one_that_a_match_can_be_played_on() {
    let initial = ShippedMap::read("trenchbroom/initial");
    initial.assert_spawns_have_room(1);
    initial.assert_props_are_free(1);
    initial.assert_sealed_and_connected();
}
