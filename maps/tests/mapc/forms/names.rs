//! Every name and flag of every form, and names that are in no table.

use super::judge::Stops::{self, All, Nothing, Players};
use super::judge::{Folder, grid, judged, primitive, room, standard, with_flags};

#[test]
fn every_name_of_quake_is_verified() {
    let rows = [
        ("clip", Players),
        ("CLIP", Players),
        ("*lava1", Nothing),
        ("*waterskip", Nothing),
        ("hint", Nothing),
        ("hintskip", Nothing),
        ("origin", Nothing),
        ("skip", All),
        ("trigger", All),
        ("sky4", All),
        ("{fence", All),
        ("null", All),
        ("unknown", All),
    ];
    let grid = grid(&rows, standard);
    let map = "// Game: Quake\n".to_owned() + &room("", &standard("stone"), &grid.brushes);
    let folder = Folder::new("quake");
    let report = judged(&folder, &map, &grid.at, &[]);
    assert_eq!(
        (&report["form"], &report["form_sign"]),
        (&"quake".into(), &"the comment // Game: Quake".into())
    );
}

#[test]
fn every_name_and_flag_of_quake_2_is_verified() {
    let rows = [
        ("e1u1/clip", Players),
        ("playerclip", Players),
        ("e1u1/clip_mon", Nothing),
        ("monsterclip", Nothing),
        ("e1u1/hint", Nothing),
        ("e1u1/skip", Nothing),
        ("hintskip", Nothing),
        ("e1u1/origin", Nothing),
        ("mist", Nothing),
        ("areaportal", Nothing),
        ("ladder", All),
        ("E1U1\\Water1_8", Nothing),
        ("e1u1/brwater", Nothing),
        ("bluwter", Nothing),
        ("slime2", Nothing),
        ("brslime", Nothing),
        ("lava", Nothing),
        ("brlava", Nothing),
        ("e1u1/trigger", All),
        ("e1u1/nodraw", All),
        ("e1u1/waterpipe1", All),
        ("unknown", All),
    ];
    let wall = with_flags("e1u1/wall", 0x800_0000, 0);
    let folder = Folder::new("quake2");
    for surface in [standard, |name: &str| with_flags(name, 0, 0)] {
        let grid = grid(&rows, surface);
        let report = judged(&folder, &room("", &wall, &grid.brushes), &grid.at, &[]);
        assert_eq!(report["form"], "quake2");
    }
    // Each bit of the contents, then each of the surface.
    let bits: Vec<(u32, Stops)> = (0..32)
        .map(|bit| match bit {
            2..=6 | 15 | 17 | 24 => (bit, Nothing),
            16 => (bit, Players),
            _ => (bit, All),
        })
        .collect();
    let names: Vec<String> = (0..32).map(|bit| format!("e1u1/bit{bit}")).collect();
    let rows: Vec<(&str, Stops)> =
        names.iter().zip(&bits).map(|(name, &(_, stops))| (name.as_str(), stops)).collect();
    fn bit_of(name: &str) -> u32 {
        name.trim_start_matches("e1u1/bit").parse().expect("a number")
    }
    let grid_of_contents = grid(&rows, |name| with_flags(name, 1 << bit_of(name), 0));
    let map = room("", &wall, &grid_of_contents.brushes);
    judged(&folder, &map, &grid_of_contents.at, &[]);
    let rows: Vec<(&str, Stops)> = rows
        .iter()
        .map(|&(name, _)| (name, if matches!(bit_of(name), 8 | 9) { Nothing } else { All }))
        .collect();
    let grid_of_surfaces = grid(&rows, |name| with_flags(name, 0, 1 << bit_of(name)));
    let map = "// Game: Quake 2\n".to_owned() + &room("", &wall, &grid_of_surfaces.brushes);
    judged(&folder, &map, &grid_of_surfaces.at, &[]);
}

#[test]
fn every_name_of_half_life_is_verified() {
    let rows = [
        ("!water", Nothing),
        ("!lavabubble", Nothing),
        ("!cur_90", Nothing),
        ("*slime", Nothing),
        ("+!lava1", Nothing),
        ("+!slime1", Nothing),
        ("@glass", Nothing),
        ("translucent", Nothing),
        ("contentwater", Nothing),
        ("contentempty", Nothing),
        ("contentsolid", All),
        ("contentsky", All),
        ("CLIP", Players),
        ("clipbevel", Players),
        ("clipbevelbrush", Players),
        ("cliphull1", Players),
        ("noclip", Nothing),
        ("nullnoclip", Nothing),
        ("ORIGIN", Nothing),
        ("boundingbox", Nothing),
        ("HINT", Nothing),
        ("SKIP", Nothing),
        ("splitface", Nothing),
        ("solidhint", All),
        ("bevelhint", All),
        ("BEVEL", All),
        ("bevelbrush", All),
        ("NULL", All),
        ("AAATRIGGER", All),
        ("black_hidden", All),
        ("sky", All),
        ("env_sky", All),
        ("{ladder1", All),
        ("+!water", All),
        ("unknown", All),
    ];
    let grid = grid(&rows, |name| format!("{name} [ 1 0 0 0 ] [ 0 -1 0 0 ] 0 1 1"));
    let keys = "\"mapversion\" \"220\"\n\"wad\" \"C:\\half-life\\valve\\halflife.wad\"\n";
    let folder = Folder::new("half-life");
    let report = judged(&folder, &room(keys, &standard("stone"), &grid.brushes), &grid.at, &[]);
    assert_eq!(report["form"], "half-life");
}

#[test]
fn every_name_of_quake_3_is_verified() {
    let tools = [
        ("clip", Players),
        ("playerclip", Players),
        ("clipplayer", Players),
        ("metalclip", Players),
        ("nowalljumpclip", Players),
        ("ladder", Players),
        ("ladderclip", Players),
        ("full_clip", All),
        ("fullclip", All),
        ("weapclip", All),
        ("missileclip", All),
        ("botclip", Nothing),
        ("monsterclip", Nothing),
        ("clipmonster", Nothing),
        ("donotenter", Nothing),
        ("clusterportal", Nothing),
        ("areaportal", Nothing),
        ("hint", Nothing),
        ("hintlocal", Nothing),
        ("hintskip", Nothing),
        ("skip", Nothing),
        ("antiportal", Nothing),
        ("lightgrid", Nothing),
        ("nodraw", Nothing),
        ("nodrawnonsolid", Nothing),
        ("nodrop", Nothing),
        ("alpha_0", Nothing),
        ("alpha_25", Nothing),
        ("alpha_50", Nothing),
        ("alpha_75", Nothing),
        ("alpha_100", Nothing),
        ("watercaulk", Nothing),
        ("slimecaulk", Nothing),
        ("lavacaulk", Nothing),
        ("nodrawwater", Nothing),
        ("water", Nothing),
        ("slime", Nothing),
        ("lava", Nothing),
        ("fog", Nothing),
        ("origin", Nothing),
        ("slick", All),
        ("caulk", All),
        ("cushion", All),
        ("invisible", All),
        ("mirror1", All),
        ("noimpact", All),
        ("nolightmap", All),
        ("portal", All),
        ("terrain", All),
        ("trigger", All),
        ("unknown", All),
    ];
    let folder = Folder::new("quake3");
    for prefix in ["", "common/", "textures/common/"] {
        let names: Vec<String> = tools.iter().map(|(name, _)| format!("{prefix}{name}")).collect();
        let rows: Vec<(&str, Stops)> =
            names.iter().zip(tools).map(|(name, (_, stops))| (name.as_str(), stops)).collect();
        let grid = grid(&rows, primitive);
        let map = room("", &primitive("base_wall/wall"), &grid.brushes);
        assert_eq!(judged(&folder, &map, &grid.at, &[])["form"], "quake3");
    }
    let rows = [
        ("liquids/calm_poollight", Nothing),
        ("textures/liquids/lavahell_750", Nothing),
        ("sfx/xfog", Nothing),
        ("sfx/flame1", All),
        ("base_wall/clip", All),
        ("skies/hell", All),
    ];
    // NetRadiant and J.A.C.K. write faces in this form if they do not use brush primitives.
    let legacy = grid(&rows, |name| with_flags(name, 0x800_0000, 160));
    let map = room("", &with_flags("common/caulk", 0, 0), &legacy.brushes);
    assert_eq!(judged(&folder, &map, &legacy.at, &[])["form"], "quake3");
}
