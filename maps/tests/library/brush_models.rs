//! Models that are drawn in a map, as the brushes of its entities.

use std::io::Write;
use std::path::{Path, PathBuf};

use obsp::geometry::Polygon;
use obsp::glam::DVec3;
use obsp::model::{BrushModelFault, Model};
use obsp::{CompileOptions, Map, MapEntity, Source, Spaces, compile};

/// A brush that is a box.
fn block([x0, y0, z0]: [f64; 3], [x1, y1, z1]: [f64; 3], texture: &str) -> String {
    format!(
        "{{\n( {x1} 0 0 ) ( {x1} 0 1 ) ( {x1} 1 0 ) {texture} 0 0 0 1 1\n\
         ( {x0} 0 0 ) ( {x0} 1 0 ) ( {x0} 0 1 ) {texture} 0 0 0 1 1\n\
         ( 0 {y1} 0 ) ( 1 {y1} 0 ) ( 0 {y1} 1 ) {texture} 0 0 0 1 1\n\
         ( 0 {y0} 0 ) ( 0 {y0} 1 ) ( 1 {y0} 0 ) {texture} 0 0 0 1 1\n\
         ( 0 0 {z1} ) ( 0 1 {z1} ) ( 1 0 {z1} ) {texture} 0 0 0 1 1\n\
         ( 0 0 {z0} ) ( 1 0 {z0} ) ( 0 1 {z0} ) {texture} 0 0 0 1 1\n}}\n"
    )
}

/// A map with a floor and one door of these brushes.
fn with_door(keys: &str, brushes: &str) -> Map {
    let floor = block([-512.0, -512.0, -16.0], [512.0, 512.0, 0.0], "stone");
    let text = format!(
        "{{\n\"classname\" \"worldspawn\"\n{floor}}}\n\
         {{\n\"classname\" \"info_player_start\"\n\"origin\" \"0 0 64\"\n}}\n\
         {{\n\"classname\" \"func_door\"\n{keys}{brushes}}}\n"
    );
    let source = Source::from_text("door", text);
    let (spaces, options) = (Spaces::default(), CompileOptions::default());
    compile(&source, &spaces, &options, &mut |_, _, _| {}).expect("the map compiles").map
}

fn door(map: &Map) -> &MapEntity {
    map.entities().iter().find(|entity| entity.classname() == "func_door").expect("a door")
}

fn model(map: &Map) -> Model {
    map.model_of(door(map)).unwrap_or_else(|error| panic!("{error}"))
}

fn place(model: &Model) -> DVec3 {
    model.drawn().expect("it is drawn in a map").place
}

#[test]
fn a_door_is_a_kinematic_model_where_it_is_drawn() {
    let panel = block([100.0, -32.0, 0.0], [108.5, 32.0, 96.0], "metal");
    let handle = block([96.0, 8.0, 40.0], [100.0, 16.0, 48.0], "metal");
    let map = with_door("", &format!("{panel}{handle}"));
    let model = model(&map);
    assert!(model.is_kinematic() && !model.is_shipped());
    assert_eq!((model.name(), model.parts().len()), ("*1", 2));
    // The middle of the box around all brushes, in whole units.
    assert_eq!(place(&model), DVec3::new(102.0, 0.0, 48.0));
    for (part, brush) in model.parts().iter().zip(door(&map).solids()) {
        assert_eq!(part.bounds().min + place(&model), brush.bounds().min);
        assert_eq!(part.bounds().max + place(&model), brush.bounds().max);
    }
    // The handle touches the panel, so neither has a face there.
    let area: f64 = model.polygons().iter().map(|polygon| polygon.winding.area()).sum();
    let (of_panel, of_handle) = (2.0 * (8.5 * 64.0 + 8.5 * 96.0 + 64.0 * 96.0), 4.0 * 4.0 * 8.0);
    assert!((area - (of_panel + of_handle)).abs() < 1e-6, "{area}");
    assert!((model.volume() - (8.5 * 64.0 * 96.0 + 4.0 * 8.0 * 8.0)).abs() < 1e-6);
    let again = map.model_named("*1").expect("it is in the map").expect("it is a model");
    assert!(again.is_same(&model));
    assert!(map.model_named("*2").is_none() && map.model_named("*0").is_none());
    assert!(map.model_named("1").is_none() && map.model_named("*").is_none());
}

/// The brush of an origin is not part of the door.
#[test]
fn a_door_turns_about_its_origin() {
    let panel = block([100.0, -32.0, 0.0], [108.0, 32.0, 96.0], "metal");
    let hinge = block([100.0, 28.0, 44.0], [108.0, 36.0, 52.0], "origin");
    for (keys, brushes, expected) in [
        ("", format!("{panel}{hinge}"), DVec3::new(104.0, 32.0, 48.0)),
        ("\"origin\" \"104.5 30 1\"\n", panel.clone(), DVec3::new(104.5, 30.0, 1.0)),
        ("\"origin\" \"1 2 3\"\n", format!("{panel}{hinge}"), DVec3::new(104.0, 32.0, 48.0)),
    ] {
        let map = with_door(keys, &brushes);
        let model = model(&map);
        assert_eq!((place(&model), model.parts().len()), (expected, 1), "{keys}");
        let part = &model.parts()[0];
        assert_eq!(part.bounds().min + place(&model), DVec3::new(100.0, -32.0, 0.0), "{keys}");
    }
}

#[test]
fn the_limits_of_drawn_models_are_told_with_their_numbers() {
    let fault = |map: &Map| map.model_of(door(map)).err().map(|error| error.fault);
    // From the middle of the box to its end are 1,024 units, and then one more.
    let long = |end: f64| with_door("", &block([0.0, 0.0, 32.0], [end, 32.0, 64.0], "metal"));
    assert_eq!(fault(&long(2048.0)), None);
    let told = fault(&long(2050.0));
    assert!(matches!(told, Some(BrushModelFault::OutOfReach { reach: 1025.0, .. })), "{told:?}");
    let thin = |top: f64| with_door("", &block([0.0, 0.0, 32.0], [64.0, 64.0, top], "metal"));
    assert_eq!(fault(&thin(32.03125)), None);
    let told = fault(&thin(32.03));
    assert!(matches!(told, Some(BrushModelFault::TooThin { .. })), "{told:?}");
    // Boxes have six faces each: 1,365 of them are within 8,192, and 1,366 are not.
    let many = |count: usize| {
        let at = |index: usize| [index % 37, index / 37].map(|step| step as f64 * 8.0);
        let small = (0..count).map(|index| {
            let [x, y] = at(index);
            block([x, y, 32.0], [x + 4.0, y + 4.0, 36.0], "metal")
        });
        with_door("", &small.collect::<String>())
    };
    assert_eq!(fault(&many(1365)), None);
    let told = many(1366).model_of(door(&many(1366))).expect_err("too many faces").to_string();
    assert!(told.contains("8196 faces") && told.contains("at most 8192"), "{told}");
    let (map, other) = (thin(64.0), thin(63.0));
    assert_eq!(fault(&map), None);
    let told = map.model_of(door(&other)).expect_err("it is of another map").to_string();
    assert!(told.contains("not of this map"), "{told}");
    let start = map.entities().iter().find(|entity| entity.classname() == "info_player_start");
    let told = map.model_of(start.expect("a start")).expect_err("it has no brushes").to_string();
    assert!(told.contains("has no brushes"), "{told}");
}

/// The maps of other projects, which are not part of the repository. Without them, the function
/// says so.
fn shared_maps() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/maps/id-gpl");
    let files = std::fs::read_dir(&folder).into_iter().flatten();
    let files = files.filter_map(|file| Some(file.ok()?.path()));
    let mut maps: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "map")).collect();
    maps.sort();
    if maps.is_empty() {
        let skipped = format!("there are no maps in {}; nothing was tested", folder.display());
        let needed = std::env::var_os("ARENA_NEED_SHARED").is_some_and(|value| value == "1");
        assert!(!needed, "{skipped}");
        // `eprintln!` would be captured, and not shown for tests that pass.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {skipped}");
    }
    maps
}

/// The number of entities with brushes that are not part of the static world, by the braces of the
/// text alone.
fn brush_entities(text: &str) -> usize {
    let (mut depth, mut brushes, mut is_static, mut count) = (0, 0, false, 0);
    for line in text.lines().map(str::trim) {
        match line {
            "{" => {
                depth += 1;
                brushes += usize::from(depth == 2);
            }
            "}" => {
                depth -= 1;
                if depth == 0 {
                    count += usize::from(brushes > 0 && !is_static);
                    (brushes, is_static) = (0, false);
                }
            }
            _ if depth == 1 => {
                let class = line.strip_prefix("\"classname\"").map(|rest| rest.trim());
                is_static |= matches!(class, Some("\"worldspawn\"" | "\"func_wall\""))
                    || class.is_some_and(|class| class.starts_with("\"func_detail"))
                    || class == Some("\"func_group\"");
            }
            _ => {}
        }
    }
    count
}

/// All doors, plats, trains, buttons and triggers of Quake's maps.
#[test]
fn every_brush_entity_of_real_maps_is_a_model() {
    for path in shared_maps() {
        let name = path.display();
        let source = Source::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let (spaces, options) = (Spaces::default(), CompileOptions::default());
        let map = compile(&source, &spaces, &options, &mut |_, _, _| {});
        let map = map.unwrap_or_else(|error| panic!("{error}")).map;
        let drawn = map.entities().iter().filter(|entity| !entity.solids().is_empty());
        let mut models = 0;
        for entity in drawn {
            let model = map.model_of(entity).unwrap_or_else(|error| panic!("{name}: {error}"));
            models += 1;
            assert_eq!(model.name(), format!("*{models}"), "{name}");
            assert_eq!(model.parts().len(), entity.solids().len(), "{name}: {}", model.name());
            let least = entity.solids().iter().map(|brush| brush.volume()).fold(0.0, f64::max);
            let most: f64 = entity.solids().iter().map(|brush| brush.volume()).sum();
            let range = least * (1.0 - 1e-6)..=most * (1.0 + 1e-6);
            assert!(range.contains(&model.volume()), "{name}: {}", model.name());
            let inward =
                |polygon: &Polygon| polygon.winding.area_vector().dot(polygon.plane.normal) <= 0.0;
            assert!(!model.polygons().iter().any(inward), "{name}: {}", model.name());
        }
        let text = std::fs::read(&path).expect("the compiler has read it");
        assert_eq!(models, brush_entities(&String::from_utf8_lossy(&text)), "{name}");
        assert!(models > 0, "{name}");
    }
}
