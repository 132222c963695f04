//! Maps of other games and editors: `mapc` compiles, queries and verifies them.
//!
//! The oracle of `mapc verify` has its own tables of contents and recognises the form by itself. So
//! each map here is judged by two readings of its form's documentation, the compiler's and the
//! oracle's, and by the expected answers of these tests.

mod judge;
mod names;

use judge::Stops::{All, Nothing, Players};
use judge::with_flags;
use judge::{Folder, brush, done, grid, judged, mapc, primitive, refused, room, standard};
use serde_json::Value;

/// One slab in the middle of the room.
fn slab(surface: &str) -> String {
    brush([-20, -200, 0], [20, 200, 120], surface)
}

/// Case `q3-tool-textures`: Quake III's tool textures are in a folder. In an earlier version, names
/// were compared as a whole, so brushes with these textures were solid blocks. The oracle did not
/// notice, because it used the compiler's list.
#[test]
fn q3_tool_textures() {
    let folder = Folder::new("q3-tool-textures");
    for (name, expected) in [
        ("common/hint", Nothing),
        ("common/areaportal", Nothing),
        ("common/origin", Nothing),
        ("common/clip", Players),
        ("textures/common/clip", Players),
        ("Common\\Clip", Players),
        ("common/caulk", All),
        ("common/full_clip", All),
        ("hint", Nothing),
    ] {
        let map = room("", &standard("stone"), &[slab(&primitive(name))]);
        let report = judged(&folder, &map, &[([0, 0, 64], expected, name)], &[]);
        assert_eq!(report["form"], "quake3", "{name}");
    }
}

/// Case `q2-contents`: in an earlier version, the flags of Quake II's faces were ignored, and so
/// were the names of Half-Life's textures.
#[test]
fn q2_contents() {
    let folder = Folder::new("q2-contents");
    for (contents, surface, expected) in [
        (32, 0, Nothing),
        (8, 0, Nothing),
        (134_217_760, 0, Nothing),
        (65_536, 0, Players),
        (0, 0x100, Nothing),
        (1, 0, All),
    ] {
        let slab = slab(&with_flags("e1u1/liquid", contents, surface));
        let map = room("", &standard("stone"), &[slab]);
        let report = judged(&folder, &map, &[([0, 0, 64], expected, "flags")], &[]);
        assert_eq!(report["form"], "quake2", "{contents}");
    }
    let map = room("", &standard("stone"), &[slab(&standard("!water"))]);
    let report = judged(&folder, &map, &[([0, 0, 64], Nothing, "!water")], &[]);
    assert_eq!(report["form"], "half-life");
}

/// Case `trenchbroom-quote`: TrenchBroom writes a backslash before a quotation mark in a value. In
/// an earlier version such a value made the whole map unreadable.
#[test]
fn trenchbroom_quote() {
    let folder = Folder::new("trenchbroom-quote");
    let map = room("", &standard("stone"), &[]);
    let entity = "{\n\"classname\" \"info_null\"\n\"message\" \"She said \\\"go\\\" twice\"\n\
                  \"path\" \"C:\\quake\\\"\n\"origin\" \"0 0 64\"\n}\n";
    judged(&folder, &(map + entity), &[([0, 0, 64], Nothing, "the room")], &[]);
    let world = obsp::Map::load(&folder.0.join("map.obsp")).expect("a map");
    let entity = world.entities().last().expect("the map has entities");
    assert_eq!(entity.get("message"), Some("She said \"go\" twice"));
    assert_eq!(entity.get("path"), Some("C:\\quake\\"));
}

/// Case `byte-order-mark`: in an earlier version, a map that was saved on Windows as UTF-8 was
/// refused, with an error that named an invisible character.
#[test]
fn byte_order_mark() {
    let folder = Folder::new("byte-order-mark");
    let map = room("", &standard("stone"), &[slab(&standard("clip"))]);
    let at = [([0, 0, 64], Players, "the slab")];
    let hash = |map: &str| judged(&folder, map, &at, &[])["hash"].clone();
    let plain = hash(&map);
    assert_eq!(hash(&format!("\u{feff}{map}")), plain);
    for ends in ["\r\n", "\r"] {
        assert_eq!(hash(&map.replace('\n', ends)), plain, "{ends:?}");
        assert_eq!(hash(&format!("\u{feff}// a comment{ends}{}", map.replace('\n', ends))), plain);
    }
    for (mark, wide) in [(true, true), (false, true), (true, false), (false, false)] {
        let units = map
            .encode_utf16()
            .map(|unit| if wide { unit.to_le_bytes() } else { unit.to_be_bytes() });
        let sign = if wide { [0xff, 0xfe] } else { [0xfe, 0xff] };
        let bytes: Vec<u8> = mark.then_some(sign).into_iter().chain(units).flatten().collect();
        let error = refused(&["compile", &folder.file("wide.map", bytes)]);
        assert!(error.contains("wide.map:1:1: the text is encoded as UTF-16"), "{error}");
        assert!(error.contains("save it as UTF-8"), "{error}");
    }
}

#[test]
fn the_form_can_be_set_and_is_told() {
    let folder = Folder::new("form-set");
    let slab = slab(&standard("common/clip"));
    let map = room("", &standard("stone"), &[slab]);
    let at = |stops| [([0, 0, 64], stops, "common/clip")];
    assert_eq!(
        judged(&folder, &map, &at(Players), &[])["form"],
        "quake3",
        "the folder says the \
        form"
    );
    let as_quake = ["--game-form", "quake"];
    assert_eq!(judged(&folder, &map, &at(All), &as_quake)["form"], "quake");
    let [source, world] =
        ["map.map", "map.obsp"].map(|name| folder.0.join(name).display().to_string());
    // Without the option the oracle recognises the form from the map.
    let error = refused(&["verify", &world, "--source", &source]);
    assert!(error.contains("compiled as a map of the form quake") && error.contains("--game-form"));

    let info = |arguments: &[&str]| {
        let arguments = [&["info", "--json"], arguments].concat();
        serde_json::from_str::<Value>(&done(&arguments, "").0).expect("a report")
    };
    assert_eq!(info(&[&world])["form"], "quake");
    let told = info(&[&source]);
    assert_eq!((&told["form"], &told["clip_brushes"]), (&"quake3".into(), &1.into()));
    let sign = told["form_sign"].as_str().expect("text");
    assert!(sign.contains("common/clip") && sign.contains("line"), "{sign}");
    assert_eq!(info(&[&source, "--game-form", "half-life"])["clip_brushes"], 0);
    let text = done(&["info", &source], "").0;
    assert!(text.contains("form      quake3, recognised by: the texture common/clip"), "{text}");
    assert_eq!(mapc(&["info", &world, "--game-form", "quake"], "").status.code(), Some(2));
    assert_eq!(mapc(&["compile", &source, "--game-form", "doom"], "").status.code(), Some(2));

    // A map may hold its form as a key, and a compiled map holds it.
    let keyed = room("\"_game_form\" \"half-life\"\n", &standard("stone"), &[]);
    assert_eq!(judged(&folder, &keyed, &[], &[])["form"], "half-life");
    assert_eq!(info(&[&world])["form"], "half-life");
    let expanded = folder.0.join("expanded.map").display().to_string();
    let source = folder.file("map.map", &map);
    for (form, brushes) in [("quake3", "6 brushes"), ("quake", "7 brushes")] {
        let expand = ["expand", &source, "--space", "point", "-o", &expanded, "--game-form", form];
        assert!(done(&expand, "").0.contains(brushes), "{form}");
    }
}

#[test]
fn an_unsupported_name_is_warned_of_once() {
    let folder = Folder::new("unsupported");
    let rows = [
        ("common/botclip", Nothing),
        ("common/botclip", Nothing),
        ("Common\\BotClip", Nothing),
        ("liquids/pool", Nothing),
        ("common/slick", All),
        ("common/hint", Nothing),
        ("common/clip", Players),
    ];
    let grid = grid(&rows, primitive);
    let source = folder.file("map.map", room("", &standard("stone"), &grid.brushes));
    let world = folder.0.join("map.obsp").display().to_string();
    // These warnings are not about faults of brushes, so --strict accepts them.
    let warned = done(&["compile", &source, "-o", &world, "--strict"], "").1;
    let warnings: Vec<&str> = warned.lines().filter(|line| line.contains("warning")).collect();
    // A liquid causes no warning.
    assert_eq!(warnings.len(), 2, "{warned}");
    for (warning, told) in warnings
        .iter()
        .zip([":51: common/botclip, on 3 brushes: ", ":95: common/slick, on 1 brush: "])
    {
        assert!(warning.contains(told), "{warning} has not {told}");
    }
}

#[test]
fn errors_of_maps_have_line_column_and_text() {
    let folder = Folder::new("errors");
    for (text, told) in [
        ("{\n{\n( 0 0 zero )", "bad.map:3:7: \"zero\" was seen where a number is expected; "),
        ("{\r\n\"a\" b\r\n}", "bad.map:2:5: \"b\" was seen where the value of the key"),
        ("{\r\"a\" \"b", "bad.map:2:5: \"\\\"b\" was seen where the value of the key"),
        ("{\n", "bad.map:2:1: the text ends where a key, a brush or a closing brace"),
        ("Version 2\n", "bad.map:1:1: \"Version\" was seen where the opening brace"),
    ] {
        let source = folder.file("bad.map", text);
        for command in [&["compile"][..], &["info"], &["expand", "--space", "point", "-o", "x"]] {
            let error = refused(&[command, &[&source]].concat());
            assert!(error.contains(told), "{error}");
        }
    }
}
