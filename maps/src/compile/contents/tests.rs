//! Every name and flag of every table, and names that resemble them but are in no table.

use glam::DVec3;

use super::*;
use crate::compile::source::map::{Flags, Texture};
use Contents::{Clip, Current, Entity, Liquid, Origin, Passable, Solid};
use GameForm::{HalfLife, Quake, Quake2, Quake3};

const WATER: Contents = Liquid(LiquidKind::Water);
const SLIME: Contents = Liquid(LiquidKind::Slime);
const LAVA: Contents = Liquid(LiquidKind::Lava);

/// The contents of a brush with these textures, and the names that are not supported in full.
fn classify(form: GameForm, classname: &str, textures: &[Texture]) -> (Contents, Vec<String>) {
    let face = |t: &Texture| SourceFace { points: [DVec3::ZERO; 3], texture: t.clone() };
    let brush = SourceBrush { line: 7, faces: textures.iter().map(face).collect() };
    let pairs = vec![("classname".into(), classname.into())];
    let (contents, unsupported) =
        contents(form, &SourceEntity { line: 1, pairs, brushes: vec![] }, &brush);
    assert!(unsupported.iter().all(|one| (one.line, one.brushes) == (7, 1)));
    (contents, unsupported.into_iter().map(|one| one.name).collect())
}

fn of(form: GameForm, classname: &str, textures: &[&str]) -> Contents {
    let textures: Vec<Texture> = textures.iter().map(|&name| name.into()).collect();
    classify(form, classname, &textures).0
}

/// The contents of a brush of worldspawn with these textures.
fn world(form: GameForm, textures: &[&str]) -> Contents {
    of(form, "worldspawn", textures)
}

/// Checks a table of names. `true` marks a name whose meaning is not supported in full.
fn check(form: GameForm, table: &[(&str, Contents, bool)]) {
    for &(name, contents, lacking) in table {
        for name in [name.to_owned(), name.to_uppercase(), name.replace('/', "\\")] {
            let textures = vec![Texture::from(name.as_str()); 6];
            let (found, unsupported) = classify(form, "worldspawn", &textures);
            assert_eq!(found, contents, "{form}: {name}");
            let expected = if lacking { vec![folded(&name)] } else { vec![] };
            let by_flag = form == Quake2 && unsupported.len() == usize::from(lacking);
            assert!(by_flag || unsupported == expected, "{form}: {name}: {unsupported:?}");
        }
    }
}

#[test]
fn quake_goes_by_names() {
    check(
        Quake,
        &[
            ("clip", Clip, false),
            ("*lava1", LAVA, false),
            ("*slime0", SLIME, false),
            ("*waterskip", WATER, false),
            ("*04awtr1", WATER, false),
            ("*", WATER, false),
            ("*teleport", Passable, false),
            ("hint", Passable, false),
            ("hintskip", Passable, false),
            ("origin", Passable, true),
            ("skip", Solid, false),
            ("trigger", Solid, false),
            ("sky4", Solid, false),
            ("{fence", Solid, false),
            ("metal1_1", Solid, false),
            // The names below resemble names in `quake.rs`, but are not in it.
            ("clip1", Solid, false),
            ("hints", Solid, false),
            ("!water", Solid, false),
            ("common/clip", Solid, false),
            ("null", Solid, false),
            ("", Solid, false),
        ],
    );
    for class in ["worldspawn", "func_group", "func_detail", "FUNC_DETAIL_WALL"] {
        assert_eq!(of(Quake, class, &["*lava1", "metal1_1"]), LAVA);
        assert_eq!(of(Quake, class, &["skip", "*water0"]), WATER);
        assert_eq!(of(Quake, class, &["hint", "skip"]), Passable);
    }
    assert_eq!(of(Quake, "func_wall", &["*tele3"]), Solid);
    assert_eq!(of(Quake, "func_wall", &["clip"]), Clip);
}

#[test]
fn brushes_of_entities_stay_with_them_but_for_origin_brushes() {
    for form in GameForm::ALL {
        for other in [
            "func_detail_illusionary",
            "func_illusionary",
            "func_illusionary_visblocker",
            "trigger_push",
            "func_door",
            "func_plat",
            "func_button",
            "",
        ] {
            for name in ["metal1_1", "clip", "common/trigger", "aaatrigger"] {
                assert_eq!(of(form, other, &[name]), Entity, "{form} {other} {name}");
            }
            // An origin brush only marks the entity's axis.
            assert_eq!(of(form, other, &["origin"; 6]), Origin, "{form} {other}");
        }
        assert_eq!(of(form, "func_static", &["wall"]) == Solid, form == Quake3);
    }
    let walls = |flags: &str| {
        let pairs = [("classname", "func_wall"), ("spawnflags", flags)];
        let pairs = pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec();
        let entity = SourceEntity { line: 1, pairs, brushes: vec![] };
        let face = SourceFace { points: [DVec3::ZERO; 3], texture: "wall".into() };
        let brush = SourceBrush { line: 1, faces: vec![face] };
        GameForm::ALL.map(|form| contents(form, &entity, &brush).0)
    };
    assert_eq!(walls("0"), [Solid; 4]);
    assert_eq!(walls("8"), [Solid; 4], "spawn flags of other kinds");
    assert_eq!(walls("1"), [Solid, Entity, Solid, Solid], "it appears when triggered");
}

#[test]
fn a_brush_model_of_water_is_a_part_of_the_world_where_the_game_has_one() {
    let of_water = |form, texture| of(form, "func_water", &[texture]);
    assert_eq!(of_water(HalfLife, "!slime"), SLIME);
    assert_eq!(of_water(HalfLife, "metal1_1"), Entity);
    assert_eq!(of_water(HalfLife, "origin"), Origin);
    assert_eq!(of_water(Quake2, "e1u1/water1_8"), WATER);
    assert_eq!(of_water(Quake2, "e1u1/clip"), Entity);
    assert_eq!(of_water(Quake, "*water0"), Entity);
    assert_eq!(of_water(Quake3, "liquids/pool"), Entity);
    assert_eq!(of(HalfLife, "func_illusionary", &["!water"]), Entity);
}

fn flagged(contents: u32, surface: u32) -> Texture {
    Texture { name: "e1u1/floor".to_owned(), flags: Some(Flags { contents, surface }) }
}

#[test]
fn quake_2_goes_by_flags() {
    // Every bit alone.
    for bit in 0..32 {
        let (expected, unsupported) = match bit {
            0 | 1 => (Solid, None),
            2 | 6 => (Passable, None),
            3 => (LAVA, None),
            4 => (SLIME, None),
            5 => (WATER, None),
            15 => (Passable, Some("areaportal")),
            16 => (Clip, None),
            17 => (Passable, Some("monsterclip")),
            18 => (Solid, Some("current_0")),
            19 => (Solid, Some("current_90")),
            20 => (Solid, Some("current_180")),
            21 => (Solid, Some("current_270")),
            22 => (Solid, Some("current_up")),
            23 => (Solid, Some("current_dn")),
            24 => (Passable, Some("origin")),
            29 => (Solid, Some("ladder")),
            // Monster, corpse, detail and translucent do not affect solidity; the other bits
            // have no known meaning.
            _ => (Solid, None),
        };
        let found = classify(Quake2, "worldspawn", &[flagged(1 << bit, 0)]);
        let unsupported: Vec<String> =
            unsupported.iter().map(|flag| format!("contents flag {flag}")).collect();
        assert_eq!(found, (expected, unsupported), "bit {bit}");
    }
    for (contents, surface, expected) in [
        // Detail water, translucent lava, a clip in water, and a clip for players and monsters.
        (0x0800_0020, 0, WATER),
        (0x1000_0008, 0x20, LAVA),
        // Of several liquids the most harmful counts.
        (0x38, 0, LAVA),
        (0x30, 0, SLIME),
        (0x0001_0020, 0, Clip),
        (0x0803_0000, 0, Clip),
        // Solid and window are stronger than water. A clip with the ladder flag is still a clip.
        (0x21, 0, Solid),
        (0x22, 0x10, Solid),
        (0x2000_0000 | 0x1_0000, 0, Clip),
        (0, 0x30, Solid),
        // A hint and a skip face.
        (0, 0x100, Passable),
        (1, 0x200, Passable),
        // Light, sky, warp, nodraw, and bits without a known meaning.
        (0, 0x8d, Solid),
        (0, 0xffff_fc00, Solid),
        (0x4000_0000, 0, Solid),
        (0x8000_0000, 0, Solid),
        (0x7f80, 0, Solid),
    ] {
        let found = classify(Quake2, "worldspawn", &vec![flagged(contents, surface); 6]).0;
        assert_eq!(found, expected, "{contents:#x} {surface:#x}");
    }
    // A liquid flows in each direction of its flags, and nothing is missing then.
    let angles = |contents: u32| match classify(Quake2, "worldspawn", &[flagged(contents, 0)]) {
        (Current(kind, flow), missing) if missing.is_empty() => (kind, flow.angles().collect()),
        other => panic!("{contents:#x}: {other:?}"),
    };
    for (bit, angle) in (18..24).zip(["0", "90", "180", "270", "-1", "-2"]) {
        assert_eq!(angles(1 << bit | 0x20), (LiquidKind::Water, vec![angle]));
    }
    assert_eq!(angles(0x14_0030), (LiquidKind::Slime, vec!["0", "180"]));
    assert_eq!(angles(0x48_0028), (LiquidKind::Lava, vec!["90", "-1"]));
    let slick = classify(Quake2, "worldspawn", &[flagged(0, 2)]);
    assert_eq!(slick, (Solid, vec!["surface flag slick".to_owned()]));
    // The first face that has contents decides.
    let hint = [flagged(0, 0x100), flagged(0, 0x200), flagged(0x20, 0), flagged(1, 0)];
    assert_eq!(classify(Quake2, "worldspawn", &hint).0, WATER);
    assert_eq!(classify(Quake2, "worldspawn", &[flagged(1, 0), flagged(0, 0x100)]).0, Solid);
}

#[test]
fn quake_2_goes_by_names_where_a_face_has_no_flags() {
    check(
        Quake2,
        &[
            ("e1u1/clip", Clip, false),
            ("playerclip", Clip, false),
            ("e1u1/clip_mon", Passable, true),
            ("monsterclip", Passable, true),
            ("e1u1/hint", Passable, false),
            ("e1u1/skip", Passable, false),
            ("hintskip", Passable, false),
            ("e1u1/origin", Passable, true),
            ("e1u1/mist", Passable, false),
            ("areaportal", Passable, true),
            ("ladder", Solid, true),
            ("e1u1/water1_8", WATER, false),
            ("e1u1/brwater", WATER, false),
            ("bluwter", WATER, false),
            ("slime2", SLIME, false),
            ("brslime", SLIME, false),
            ("e3u1/lava", LAVA, false),
            ("brlava", LAVA, false),
            ("e1u1/trigger", Solid, false),
            ("e1u1/nodraw", Solid, false),
            ("e1u1/sky1", Solid, false),
            // The names below resemble names in the tables of `quake2.rs`, but are not in them.
            ("e1u1/clips", Solid, false),
            ("e1u1/waterpipe1", Solid, false),
            ("water/wall", Solid, false),
            ("*water", Solid, false),
        ],
    );
    // Flags win over the name, unless all are zero.
    let clip = |contents, surface| Texture {
        name: "e1u1/clip".to_owned(),
        flags: Some(Flags { contents, surface }),
    };
    assert_eq!(classify(Quake2, "worldspawn", &[clip(1, 0)]).0, Solid);
    assert_eq!(classify(Quake2, "worldspawn", &[clip(0, 0x80)]).0, Solid);
    assert_eq!(classify(Quake2, "worldspawn", &[clip(0, 0)]).0, Clip);
}

#[test]
fn half_life_goes_by_how_names_begin() {
    check(
        HalfLife,
        &[
            ("!water", WATER, false),
            ("!lavabubble", LAVA, false),
            ("!cur_0", Current(LiquidKind::Water, Flow::EAST), false),
            ("!cur_90", Current(LiquidKind::Water, Flow::NORTH), false),
            ("!cur_180", Current(LiquidKind::Water, Flow::WEST), false),
            ("!cur_270", Current(LiquidKind::Water, Flow::SOUTH), false),
            ("!cur_up", Current(LiquidKind::Water, Flow::UP), false),
            ("!cur_dwn2", Current(LiquidKind::Water, Flow::DOWN), false),
            ("!cur", WATER, false),
            ("*slime", SLIME, false),
            ("!slime1", SLIME, false),
            ("*lava", LAVA, false),
            ("+!lava1", LAVA, false),
            ("+!slime1", SLIME, false),
            ("@glass", Passable, false),
            ("translucent", Passable, false),
            ("contentwater", WATER, false),
            ("contentempty", Passable, false),
            ("contentsolid", Solid, false),
            ("contentsky", Solid, false),
            ("clip", Clip, false),
            ("clipbevel", Clip, false),
            ("clipbevelbrush", Clip, false),
            ("cliphull1", Clip, true),
            ("noclip", Passable, true),
            ("nullnoclip", Passable, true),
            ("origin", Passable, true),
            ("boundingbox", Passable, true),
            ("hint", Passable, false),
            ("skip", Passable, false),
            ("splitface", Passable, false),
            ("solidhint", Solid, false),
            ("bevelhint", Solid, false),
            ("bevel", Solid, false),
            ("bevelbrush", Solid, false),
            ("null", Solid, false),
            ("aaatrigger", Solid, false),
            ("black_hidden", Solid, false),
            ("sky", Solid, false),
            ("env_sky", Solid, false),
            ("{ladder1", Solid, false),
            ("~light", Solid, false),
            ("-0floor", Solid, false),
            // The names below resemble names in the table of `half_life.rs`, but are not in it.
            ("+!water", Solid, false),
            ("content", Solid, false),
            ("ahint", Solid, false),
            ("common/clip", Solid, false),
            ("", Solid, false),
        ],
    );
    for (textures, expected) in [
        (["hint", "skip", "skip"], Passable),
        (["clip", "stone", "stone"], Clip),
        (["stone", "stone", "clip"], Clip),
        (["stone", "!water", "stone"], Solid),
        (["null", "!water", "null"], WATER),
        (["null", "hint", "null"], Solid),
        (["stone", "contentempty", "clip"], Passable),
    ] {
        assert_eq!(world(HalfLife, &textures), expected, "{textures:?}");
    }
}

#[test]
fn quake_3_goes_by_names_with_and_without_their_folders() {
    let table = [
        ("clip", Clip, false),
        ("playerclip", Clip, false),
        ("clipplayer", Clip, false),
        ("metalclip", Clip, false),
        ("nowalljumpclip", Clip, false),
        ("ladder", Clip, true),
        ("ladderclip", Clip, true),
        ("full_clip", Solid, false),
        ("fullclip", Solid, false),
        ("weapclip", Solid, false),
        ("missileclip", Solid, false),
        ("botclip", Passable, true),
        ("monsterclip", Passable, true),
        ("clipmonster", Passable, true),
        ("donotenter", Passable, true),
        ("clusterportal", Passable, true),
        ("areaportal", Passable, true),
        ("hint", Passable, false),
        ("hintlocal", Passable, false),
        ("hintskip", Passable, false),
        ("skip", Passable, false),
        ("antiportal", Passable, false),
        ("lightgrid", Passable, false),
        ("nodraw", Passable, false),
        ("nodrawnonsolid", Passable, false),
        ("nodrop", Passable, true),
        ("alpha_0", Passable, false),
        ("alpha_25", Passable, false),
        ("alpha_50", Passable, false),
        ("alpha_75", Passable, false),
        ("alpha_100", Passable, false),
        ("watercaulk", WATER, false),
        ("slimecaulk", SLIME, false),
        ("lavacaulk", LAVA, false),
        ("nodrawwater", WATER, false),
        ("water", WATER, false),
        ("slime", SLIME, false),
        ("lava", LAVA, false),
        ("fog", Passable, false),
        ("origin", Passable, true),
        ("slick", Solid, true),
        ("caulk", Solid, false),
        ("cushion", Solid, false),
        ("invisible", Solid, false),
        ("mirror1", Solid, false),
        ("mirror2", Solid, false),
        ("noimpact", Solid, false),
        ("nolightmap", Solid, false),
        ("portal", Solid, false),
        ("timportal", Solid, false),
        ("terrain", Solid, false),
        ("terrain2", Solid, false),
        ("trigger", Solid, false),
        // The names below resemble names in the table of `quake3.rs`, but are not in it.
        ("clips", Solid, false),
        ("alpha_10", Solid, false),
        ("nothing", Solid, false),
    ];
    for folder in ["", "common/", "textures/common/"] {
        let names = table.map(|(name, ..)| format!("{folder}{name}"));
        let rows = names.iter().zip(table).map(|(name, (_, c, l))| (name.as_str(), c, l));
        check(Quake3, &rows.collect::<Vec<_>>());
    }
    check(
        Quake3,
        &[
            ("liquids/calm_poollight", WATER, false),
            ("textures/liquids/lavahell_750", LAVA, false),
            ("liquids/slime1_2000", SLIME, false),
            ("sfx/xfog", Passable, false),
            ("textures/sfx/fog_blue", Passable, false),
            // The names below resemble names that `quake3.rs` knows, but are unknown to it.
            ("sfx/flame1", Solid, false),
            ("liquids", Solid, false),
            ("base_wall/clip", Solid, false),
            ("common/base/clip", Solid, false),
            ("*lava1", Solid, false),
            ("skies/hell", Solid, false),
        ],
    );
    for (textures, expected) in [
        (["stone", "liquids/pool", "caulk"], WATER),
        (["liquids/pool", "liquids/lavahell", "liquids/slime1"], LAVA),
        (["common/caulk", "common/hint", "common/caulk"], Passable),
        (["common/clip", "common/nodraw", "stone"], Clip),
        (["common/clip", "liquids/pool", "stone"], WATER),
        (["common/clip", "sfx/fog", "stone"], Passable),
    ] {
        assert_eq!(world(Quake3, &textures), expected, "{textures:?}");
    }
    // Flags do not affect contents, because editors write only the flag of detail.
    let water = classify(Quake3, "worldspawn", &[flagged(0x20, 0)]).0;
    assert_eq!(water, Solid);
}
