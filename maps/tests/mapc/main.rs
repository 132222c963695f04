//! The command `mapc`, run in the way a user runs it.

mod command;
mod fgd;
mod forms;
mod slopes;

use std::path::Path;
use std::process::{Command, Stdio};

use command::{CUBE, Folder, done, map, mapc, refused};
use serde_json::Value;

#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = Folder::new("enough");
    let source = folder.file("cube.map", map(CUBE));
    done(&["compile", &source], "");
    let mut child = Command::new(env!("CARGO_BIN_EXE_mapc"))
        .args(["info", &folder.path("cube.obsp")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mapc starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

/// A map with two gates that nobody handles, a misspelt class of brushes, and a target that no
/// entity has.
fn map_with_mistakes() -> String {
    let gate = "{\n\"classname\" \"func_gate\"\n}\n";
    let teleporter =
        format!("{{\n\"classname\" \"trigger_teleprot\"\n\"target\" \"hall2\"\n{CUBE}}}\n");
    let hall = "{\n\"classname\" \"info_teleport_destination\"\n\"targetname\" \"hall\"\n}\n";
    map(CUBE) + gate + &teleporter + hall + gate
}

#[test]
fn classes_that_nobody_handles_are_told_with_their_lines() {
    let folder = Folder::new("classes");
    let source = folder.file("doors.map", map_with_mistakes());
    let output = mapc(&["compile", &source], "");
    let warnings = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{warnings}");
    for told in [
        "doors.map:12: nobody handles the class func_gate, so 2 entities do nothing; a game",
        "doors.map:15: nobody handles the class trigger_teleprot, so 1 entity does nothing, and \
         the brushes stop nothing; did you mean trigger_teleport?",
        "doors.map:15: the key target of a trigger_teleprot is \"hall2\", but no entity has that \
         targetname; did you mean hall?",
    ] {
        assert_eq!(warnings.matches(told).count(), 1, "{told} in {warnings}");
    }

    // The source and the compiled map have the same faults.
    let (world, mut faults) = (folder.path("doors.obsp"), Vec::new());
    for file in [&source, &world] {
        let text = done(&["info", file, "--json"], "");
        let info: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(info["classes"]["func_gate"], 2);
        let found = info["entity_faults"].as_array().expect("a list").clone();
        let of = |fault: &Value| {
            [&fault["class"], &fault["count"], &fault["nearest"]].map(Value::to_string)
        };
        faults.push(found.iter().map(of).collect::<Vec<_>>());
        assert_eq!(found[0]["line"].as_u64(), (*file == source).then_some(12));
    }
    assert_eq!((faults[0].len(), &faults[0]), (3, &faults[1]));

    let message = refused(&["compile", &source, "--strict"], "", 1);
    assert!(message.contains("doors.map:12: nobody handles the class func_gate"), "{message}");
}

#[test]
fn a_game_names_the_classes_that_it_handles() {
    let folder = Folder::new("own-classes");
    let source = folder.file("doors.map", map_with_mistakes());
    let text = "[classes.func_gate]\nbrushes = true\n[classes.trigger_teleprot]\nbrushes = true\n";
    let game = folder.file("game.toml", text);
    let told = done(&["info", &source, "--game", &game, "--json"], "");
    let info: Value = serde_json::from_str(&told).expect("JSON");
    let faults = info["entity_faults"].as_array().expect("a list");
    assert_eq!((faults.len(), &faults[0]["target"]), (1, &"hall2".into()));
    let bad = folder.file("bad.toml", "[classes.\"do-or\"]");
    let message = refused(&["info", &source, "--game", &bad], "", 1);
    assert!(message.contains("bad.toml") && message.contains("\"do-or\""), "{message}");
}

#[test]
fn a_map_is_compiled_and_queried() {
    let folder = Folder::new("answers");
    let source = folder.file("cube.map", map(CUBE));
    let text = done(&["compile", &source], "");
    assert!(text.contains("cube.obsp"), "{text}");

    let world = folder.path("cube.obsp");
    let info: Value = serde_json::from_str(&done(&["info", &world, "--json"], "")).expect("JSON");
    assert_eq!(info["sizes"][2]["name"], "standing");
    // A cube has six planes for each size, some of which two sizes may share.
    let nodes = info["onion_nodes"].as_u64().expect("a number");
    assert!((18..=24).contains(&nodes), "{nodes}");
    assert!(text.contains(&format!("{nodes} nodes")), "{text}");
    assert_eq!(info["onion_leaves"], nodes + 1);
    assert_eq!(info["entities"], 1);
    assert_eq!(info["bytes"], std::fs::metadata(&world).expect("the file exists").len());
    for number in ["onion_depth_max", "onion_depth_mean"] {
        assert!(info[number].is_number(), "{number}");
    }

    let points = "0 0 0\n\n47 0 0\n  49\t0 0 \n0 0 61\n0 0 60\n";
    let answers = done(&["points", &world, "--space", "standing"], points);
    assert_eq!(answers, "solid\nsolid\nempty\nempty\nempty\n");
    let answers = done(&["points", &world, "--space", "point"], points);
    assert_eq!(answers, "solid\nempty\nempty\nempty\nempty\n");

    let segments = "0 0 160 0 0 -40\n100 0 0 100 50 0\n0 0 0 1 1 1\n";
    let answers = done(&["traces", &world, "--space", "standing"], segments);
    let answers: Vec<Value> =
        answers.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers[0]["result"], "hit");
    assert_eq!(answers[0]["time"], 0.5);
    assert_eq!(answers[0]["point"], serde_json::json!([0.0, 0.0, 60.0]));
    assert_eq!(answers[0]["normal"], serde_json::json!([0.0, 0.0, 1.0]));
    assert_eq!(answers[0]["end"], serde_json::json!([0.0, 0.0, 60.03125]));
    assert_eq!(answers[1]["result"], "clear");
    assert_eq!(answers[1]["time"], 1.0);
    assert_eq!(answers[1]["end"], serde_json::json!([100.0, 50.0, 0.0]));
    assert_eq!(answers[2]["result"], "start_solid");
    assert_eq!(answers.len(), 3);
}

#[test]
fn any_body_is_traced_through_the_shifted_planes() {
    let folder = Folder::new("bodies");
    let source = folder.file("cube.map", map(CUBE));
    let world = folder.path("cube.obsp");
    let report = done(&["compile", &source, "--bevel-angle", "60.5", "--json"], "");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["shift_nodes"], 6 + 12);
    assert_eq!(report["shift_bevels"], 12);
    assert_eq!(report["polygons"], 6);
    done(&["compile", &source], "");
    let info: Value = serde_json::from_str(&done(&["info", &world, "--json"], "")).expect("JSON");
    assert_eq!((&info["shift_nodes"], &info["polygons"]), (&6.into(), &6.into()));

    let downward = "0 0 160 0 0 -40\n100 0 0 100 50 0\n0 0 0 1 1 1\n";
    for (option, value, height) in
        [("--sphere", "28", 60.0), ("--cylinder", "16,28", 60.0), ("--box", "16, 16, 28", 60.0)]
    {
        let answers = done(&["traces", &world, option, value], downward);
        let answers: Vec<Value> =
            answers.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let results: Vec<_> = answers.iter().map(|answer| &answer["result"]).collect();
        assert_eq!(results, ["hit", "clear", "start_solid"], "{option}");
        assert_eq!(answers[0]["time"], 0.5);
        assert_eq!(answers[0]["point"], serde_json::json!([0.0, 0.0, height]));
        assert_eq!(answers[0]["normal"], serde_json::json!([0.0, 0.0, 1.0]));
        assert_eq!(answers[0]["end"], serde_json::json!([0.0, 0.0, height + 0.03125]));
    }
    for usage in [
        &["traces", world.as_str()][..],
        &["traces", &world, "--sphere", "0"],
        &["traces", &world, "--sphere", "8,8"],
        &["traces", &world, "--cylinder", "8"],
        &["traces", &world, "--box", "1,2,x"],
        &["traces", &world, "--sphere", "8", "--space", "point"],
        &["compile", &source, "--bevel-angle", "20"],
        &["compile", &source, "--bevel-angle", "right"],
    ] {
        refused(usage, "", 2);
    }
}

#[test]
fn a_compiled_map_is_verified_by_its_source() {
    let folder = Folder::new("verify");
    let source = folder.file("cube.map", map(CUBE));
    done(&["compile", &source], "");
    let world = folder.path("cube.obsp");
    let few = ["--points", "2000", "--traces", "300", "--seed", "7"];
    let verify = |source: &str, more: &[&str]| {
        let arguments = [&["verify", world.as_str(), "--source", source], &few[..], more].concat();
        mapc(&arguments, "")
    };
    let output = verify(&source, &["--json"]);
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["points"], &report["traces"]), (&2000.into(), &300.into()));
    assert_eq!(report["point_mismatches"], 0);
    assert_eq!(report["trace_mismatches"], 0);
    assert_eq!(report["sizes"].as_array().map(Vec::len), Some(4));
    assert!(report["sizes"][0]["point_shell"].as_f64() < Some(0.01));

    // The other map is half a unit larger in one direction.
    let other = folder.file("other.map", map(&CUBE.replace(" 32 )", " 32.5 )")));
    let output = verify(&other, &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(report["point_mismatches"].as_u64() > Some(0));
    assert!(report["trace_mismatches"].as_u64() > Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("other.map"));

    let torn = folder.file("torn.map", map("{\n( 0 0 )\n}\n"));
    assert!(refused(&["verify", &world, "--source", &torn], "", 1).contains("torn.map:4:7: "));
    refused(&["verify", &world], "", 2);
    refused(&["verify", &world, "--source", &source, "--points", "many"], "", 2);
}

#[test]
fn sizes_are_read_from_the_given_file() {
    let folder = Folder::new("sizes");
    let source = folder.file("cube.map", map(CUBE));
    let spaces = folder.file("s.toml", "[[size]]\nname = \"crate\"\nhalf_extents = [8, 8, 8]\n");
    let world = folder.path("crates.obsp");
    let text = done(&["compile", &source, "-o", &world, "--spaces", &spaces, "--json"], "");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["sizes"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["warnings"], serde_json::json!([]));
    assert_eq!(done(&["points", &world, "--space", "crate"], "0 0 39"), "solid\n");
    let message = refused(&["points", &world, "--space", "standing"], "", 2);
    assert!(message.contains("standing") && message.contains("crate"), "{message}");
    let bad = folder.file("bad.toml", "[[size]]\nname = \"crate\"\n");
    refused(&["compile", &source, "--spaces", &bad], "", 1);
}

#[test]
fn players_are_as_large_as_a_game_file_says() {
    let folder = Folder::new("game");
    let source = folder.file("cube.map", map(CUBE));
    let game = folder.file("game.toml", "[movement]\ngravity = 400\n[player]\nheight = 40\n");
    let world = folder.path("cube.obsp");
    let text = done(&["compile", &source, "-o", &world, "--game", &game, "--json"], "");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["sizes"].as_array().map(Vec::len), Some(4));
    assert_eq!(report["sizes"][2]["half_extents"], serde_json::json!([16.0, 16.0, 20.0]));
    assert_eq!(report["sizes"][3]["half_extents"], serde_json::json!([32.0, 32.0, 44.0]));
    let bad = folder.file("bad.toml", "[player]\nheight = 4\n");
    let message = refused(&["compile", &source, "--game", &bad], "", 1);
    let expected = "bad.toml: line 2, column 10: height is 4, not between 16 and 96";
    assert!(message.contains(expected), "{message}");
    let spaces = folder.file("s.toml", "[[size]]\nname = \"crate\"\nhalf_extents = [8, 8, 8]\n");
    refused(&["compile", &source, "--game", &game, "--spaces", &spaces], "", 2);
}

#[test]
fn a_degenerate_brush_is_left_out_with_its_line_or_rejected() {
    let folder = Folder::new("brush");
    let open: String = CUBE
        .lines()
        .filter(|line| !line.starts_with("( 32"))
        .fold(String::new(), |text, line| text + line + "\n");
    let source = folder.file("open.map", map(&format!("{CUBE}{open}")));
    let output = mapc(&["compile", &source], "");
    let warning = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{warning}");
    assert!(warning.contains("open.map:11:") && warning.contains("unbounded"), "{warning}");
    let text = done(&["compile", &source, "--json"], "");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["warnings"][0]["line"], 11);
    assert_eq!((&report["brushes"], &report["solids"]), (&2.into(), &1.into()));
    let message = refused(&["compile", &source, "--strict"], "", 1);
    let told = format!("mapc: {source}:11: degenerate brush: ");
    assert!(message.starts_with(&told) && message.matches("unbounded").count() == 1, "{message}");
}

#[test]
fn curves_are_left_out_with_one_warning_or_solid() {
    let folder = Folder::new("curves");
    // The front of the curve looks down.
    let column = |x: i32| format!("( ( {x} -64 64 0 0 ) ( {x} 0 64 0 0 ) ( {x} 64 64 0 0 ) )");
    let columns = [-64, 0, 64].map(column).join(" ");
    let curve = format!("{{\npatchDef2\n{{\nx\n( 3 3 0 0 0 )\n( {columns} )\n}}\n}}\n");
    let source = folder.file("sheets.map", map(&format!("{CUBE}{curve}{curve}")));
    let world = folder.path("sheets.obsp");
    let compile = |more: &[&str]| {
        let output = mapc(&[&["compile", source.as_str()], more].concat(), "");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).expect("messages are UTF-8")
    };
    let point = ["points", world.as_str(), "--space", "point"];
    let warning = compile(&[]);
    assert!(warning.contains("sheets.map:11: 2 curves (patchDef2) left out"), "{warning}");
    assert_eq!(done(&point, "0 0 66"), "empty\n");
    let warning = compile(&["--curves", "solid"]);
    assert!(!warning.contains("patchDef2"), "{warning}");
    assert_eq!(done(&point, "0 0 66\n0 0 69"), "solid\nempty\n");
    let verify = ["verify", world.as_str(), "--source", &source, "--curves", "solid"];
    done(&[&verify[..], &["--points", "500", "--traces", "200"]].concat(), "");
    refused(&["compile", &source, "--strict"], "", 1);
    refused(&["compile", &source, "--curves", "round"], "", 2);
}

#[test]
fn inputs_are_not_overwritten() {
    let folder = Folder::new("overwritten");
    let source = folder.file("cube.map", map(CUBE));
    refused(&["compile", &source, "-o", &source], "", 2);
    refused(&["compile", &source, "-o", &folder.path("cube.pts")], "", 2);
    let notes = folder.file("cube.pts", "not points\n");
    done(&["compile", &source], "");
    assert_eq!(std::fs::read_to_string(notes).expect("the file of notes is kept"), "not points\n");
    let world = folder.path("cube.obsp");
    refused(&["render", &world, "-o", &world], "", 2);
    done(&["info", &world], "");
}

#[test]
fn a_leak_is_reported_as_warning_as_json_and_as_pointfile() {
    let folder = Folder::new("leak");
    let light = "{\n\"classname\" \"light\"\n\"origin\" \"100 0 0\"\n}\n";
    let source = folder.file("leak.map", &(map(CUBE) + light));
    let output = mapc(&["compile", &source], "");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("leak.map:12: leak for size point: light at [100, 0, 0]"), "{said}");
    assert!(said.contains("players cannot join"), "{said}");
    let text = done(&["compile", &source, "--json", "--threads", "1"], "");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&report["sealed"], &report["spawns"]), (&false.into(), &0.into()));
    let leak = &report["leaks"][0];
    assert_eq!(leak["size"], "point");
    assert_eq!(leak["classname"], "light");
    assert_eq!(leak["origin"], serde_json::json!([100.0, 0.0, 0.0]));
    let points = std::fs::read_to_string(folder.path("leak.pts")).expect("the file was written");
    assert_eq!(points.lines().count(), 1 + leak["path"].as_array().map_or(0, Vec::len));
    assert!(points.starts_with("100.000 0.000 0.000\n"), "{points}");
    assert_eq!(report["pointfile"], folder.path("leak.pts"));

    // Without entities there is no leak, and the file of an earlier leak is removed.
    folder.file("leak.map", map(CUBE));
    let output = mapc(&["compile", &source], "");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no point entity has room for size point"), "{said}");
    assert!(!Path::new(&folder.path("leak.pts")).exists());

    // No player can be where no map reaches, nor at a place that is no point.
    for (origin, fault) in [
        ("32769 0 0", "lies beyond ±32768 units"),
        ("0 -1e30 0", "lies beyond ±32768 units"),
        ("0,0,32", "is not three numbers"),
    ] {
        let start = format!("\"classname\" \"info_player_start\"\n\"origin\" \"{origin}\"");
        folder.file("leak.map", &(map(CUBE) + &format!("{{\n{start}\n}}\n")));
        let said = String::from_utf8_lossy(&mapc(&["compile", &source], "").stderr).into_owned();
        assert!(said.contains(&format!("origin {origin:?} {fault}")), "{said}");
    }
}

#[test]
fn errors_name_the_file_and_the_reason() {
    let folder = Folder::new("refused");
    let torn = folder.file("torn.map", map(&CUBE.replace("x 0 0 0 1 1\n}", "x 0 0 0 1\n}")));
    let message = refused(&["compile", &torn], "", 1);
    assert!(message.contains("torn.map:10:"), "{message}");
    let bare = folder.file("bare.map", map(""));
    assert!(refused(&["compile", &bare], "", 1).contains("bare.map: no brush is solid"));
    assert!(!Path::new(&folder.path("bare.obsp")).exists());
    let nowhere = folder.path("nowhere.obsp");
    assert!(refused(&["info", &nowhere], "", 1).contains("nowhere.obsp"));
    let other = folder.file("other.bin", map(""));
    assert!(refused(&["info", &other], "", 1).contains("other.bin: this is not an .obsp"));

    let source = folder.file("cube.map", map(CUBE));
    done(&["compile", &source], "");
    let world = folder.path("cube.obsp");
    for bad in ["1 2", "1 2 3 4", "1 2 x", "1 2 inf"] {
        let input = format!("0 0 0\n{bad}\n");
        let message = refused(&["points", &world, "--space", "point"], &input, 1);
        assert!(message.contains("standard input:2:") && message.contains(bad), "{message}");
    }
    for usage in [&["points", world.as_str()][..], &["comile"], &["compile"], &[]] {
        refused(usage, "", 2);
    }
}
