//! The commands `expand` and `render`, on a map with slopes.

use serde_json::Value;

use crate::command::{Folder, done, refused};

/// A floor, a ramp, a roof that leans, and a brush that only boxes collide with.
const SLOPES: &str = r#"{
"classname" "worldspawn"
{
( 0 0 -16 ) ( 0 1 -16 ) ( 0 0 -15 ) a 0 0 0 1 1
( 0 0 -16 ) ( 0 0 -15 ) ( 1 0 -16 ) a 0 0 0 1 1
( 0 0 -16 ) ( 1 0 -16 ) ( 0 1 -16 ) a 0 0 0 1 1
( 256 256 0 ) ( 256 257 0 ) ( 257 256 0 ) a 0 0 0 1 1
( 256 256 0 ) ( 257 256 0 ) ( 256 256 1 ) a 0 0 0 1 1
( 256 256 0 ) ( 256 256 1 ) ( 256 257 0 ) a 0 0 0 1 1
}
{
( 64 0 0 ) ( 128 0 0 ) ( 64 64 0 ) a 0 0 0 1 1
( 128 64 48 ) ( 64 0 0 ) ( 64 64 0 ) a 0 0 0 1 1
( 128 0 48 ) ( 128 64 0 ) ( 128 0 0 ) a 0 0 0 1 1
( 64 32 48 ) ( 128 32 0 ) ( 64 32 0 ) a 0 0 0 1 1
( 128 96 0 ) ( 64 96 48 ) ( 64 96 0 ) a 0 0 0 1 1
}
{
( 160 64 64 ) ( 224 64 96 ) ( 160 128 80 ) a 0 0 0 1 1
( 160 64 112 ) ( 160 128 128 ) ( 224 64 144 ) a 0 0 0 1 1
( 160 64 64 ) ( 160 128 64 ) ( 160 64 128 ) a 0 0 0 1 1
( 224 64 64 ) ( 224 64 128 ) ( 224 128 64 ) a 0 0 0 1 1
( 160 64 64 ) ( 160 64 128 ) ( 224 64 64 ) a 0 0 0 1 1
( 160 128 64 ) ( 224 128 64 ) ( 160 128 128 ) a 0 0 0 1 1
}
{
( 16 192 0 ) ( 16 193 0 ) ( 16 192 1 ) clip 0 0 0 1 1
( 16 192 0 ) ( 16 192 1 ) ( 17 192 0 ) clip 0 0 0 1 1
( 16 192 0 ) ( 17 192 0 ) ( 16 193 0 ) clip 0 0 0 1 1
( 48 224 64 ) ( 48 225 64 ) ( 49 224 64 ) clip 0 0 0 1 1
( 48 224 64 ) ( 49 224 64 ) ( 48 224 65 ) clip 0 0 0 1 1
( 48 224 64 ) ( 48 224 65 ) ( 48 225 64 ) clip 0 0 0 1 1
}
}
{
"classname" "info_player_start"
"origin" "32 32 24"
}
"#;

/// A point in the expanded map is solid exactly if a box of the size, centred at the point, is in
/// solid in the map.
#[test]
fn an_expanded_map_is_for_points_what_the_map_is_for_the_size() {
    let folder = Folder::new("expand");
    let (map, world) = (folder.file("slopes.map", SLOPES), folder.path("slopes.obsp"));
    done(&["compile", &map, "-o", &world, "--strict"], "");
    // The points are off the grid, so that none lies on a surface.
    let mut points = String::new();
    for (x, y, z) in (0..24_i32).flat_map(|x| {
        (0..24).flat_map(move |y| (0..14).map(move |z| (x * 13 - 27, y * 13 - 27, z * 17 - 41)))
    }) {
        points += &format!("{x}.37 {y}.41 {z}.43\n");
    }
    for space in ["point", "standing", "large"] {
        let (expanded, other) = (folder.path("expanded.map"), folder.path("expanded.obsp"));
        done(&["expand", &map, "--space", space, "-o", &expanded], "");
        let report = done(&["compile", &expanded, "-o", &other, "--json", "--strict"], "");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        assert_eq!(report["brushes"], if space == "point" { 3 } else { 4 });
        assert_eq!(report["entities"], 2);
        let expected = done(&["points", &world, "--space", space], &points);
        let found = done(&["points", &other, "--space", "point"], &points);
        assert!(expected.contains("solid") && expected.contains("empty"));
        for ((expected, found), point) in expected.lines().zip(found.lines()).zip(points.lines()) {
            assert_eq!(found, expected, "{space} at {point}");
        }
    }
    let error = refused(&["expand", &map, "--space", "huge", "-o", &folder.path("x.map")], "", 2);
    assert!(error.contains("huge") && error.contains("standing"), "{error}");
    let error = refused(&["expand", &map, "--space", "point", "-o", &map], "", 2);
    assert!(error.contains("overwritten"), "{error}");
}

#[test]
fn a_picture_is_drawn() {
    let folder = Folder::new("render");
    let (map, world) = (folder.file("slopes.map", SLOPES), folder.path("slopes.obsp"));
    let picture = folder.path("slopes.png");
    done(&["compile", &map, "-o", &world], "");
    let mut colours = Vec::new();
    for more in [vec![], vec!["--space", "standing"], vec!["--height", "-8"]] {
        let arguments = ["render", &world, "-o", &picture, "--size", "128"];
        done(&[arguments.as_slice(), &more].concat(), "");
        let file = std::fs::File::open(&picture).expect("the file was written");
        let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("PNG");
        let mut bytes = vec![0; reader.output_buffer_size().expect("a small picture")];
        let shape = reader.next_frame(&mut bytes).expect("a whole picture");
        assert!(shape.width > 128 && shape.height > 128);
        let mut seen: Vec<[u8; 3]> = bytes.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
        seen.sort_unstable();
        seen.dedup();
        colours.push(seen);
    }
    // There are colours for the background, the letters, and floors of several heights and slopes.
    // With `--space` there are more.
    assert!(colours[0].len() > 50, "{}", colours[0].len());
    assert!(colours[1].len() > colours[0].len());
    assert_ne!(colours[2], colours[0]);
    refused(&["render", &world, "-o", &picture, "--space", "huge"], "", 2);
    refused(&["render", &world, "-o", &folder.path("none/x.png")], "", 1);
}
