//! Maps as editors save them: rotated off the grid, rounded to a few decimals, with faces saved
//! twice or as triangles, and with hundreds of brushes that are thinner than a unit or nearly
//! parallel. The compiled map must match the text of every brush.
//!
//! By default the samples are few. `WORLD_WORLDS=200 WORLD_POINTS=200000 WORLD_TRACES=50000
//! WORLD_TURNS=12 WORLD_RESULTS=FILE cargo test --release -p tests --test simulation world_editors
//! -- --nocapture` produces the full figures, which takes hours. Every outcome is appended to FILE,
//! and maps that FILE contains are not tested again. Maps with faults are written to the folder
//! `WORLD_KEEP`. `WORLD_SEED` chooses other samples, and `WORLD_MAP` selects the maps whose path
//! contains it. All maps are tested unrotated first, then with one rotation each, then with a
//! second one, and so on. Each time the smallest map comes first.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use obsp::verify::{Bodies, sums};
use obsp::{BrushFault, CompileOptions, Curves, Expansion, Sealing, Source, Spaces};
use oracle::brushes::Solids;
use oracle::generate::{Faces, Turn, World, rotated};
use oracle::map_text;
use oracle::verify::{Judge, SHELL, Subject, casts, judge_sums, shell};
use tests::harness::{OneSize, Random, setting, shared};

/// Numbers of points and segments for each size.
#[derive(Clone, Copy)]
struct Samples {
    points: usize,
    traces: usize,
}

/// Descriptions of the faults in the compiled map of this text.
fn faults(name: &str, text: &str, samples: Samples, seed: u64) -> Vec<String> {
    faults_for(&Spaces::default(), name, text, samples, seed)
}

/// Like [`faults`], for these sizes.
fn faults_for(spaces: &Spaces, name: &str, text: &str, samples: Samples, seed: u64) -> Vec<String> {
    let entities =
        map_text::parse_with_curves(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let solids = Solids::new(&entities);
    let source = Source::from_text(name, text);
    let options = CompileOptions { curves: Curves::Solid, ..CompileOptions::default() };
    let compiled = match obsp::compile(&source, spaces, &options, &mut |_, _, _| {}) {
        Ok(compiled) => compiled,
        Err(error) => return vec![error.to_string()],
    };
    let mut faults = Vec::new();
    for (id, size) in spaces.iter() {
        let half_extents = size.half_extents.to_array().map(f64::from);
        let expansion =
            Expansion::new(&source, size, &options).expect("the map was compiled for this size");
        faults.extend(judge_sums(&solids, half_extents, &sums(&expansion)));
        let subject = OneSize { map: &compiled.map, size: id };
        let judge = Judge::new(&entities, &solids, half_extents);
        let mut random = Random::new(seed << 8 | id.index() as u64);
        let points = judge.points(&subject, samples.points, &mut random);
        let traces = judge.traces(&subject, samples.traces, &mut random);
        // If a size has no room anywhere, no segment is traced for it.
        let asked = [points.asked, traces.asked];
        if points.asked != samples.points || ![0, samples.traces].contains(&traces.asked) {
            faults.push(format!("{}: only {asked:?} points and segments were queried", size.name));
        }
        if points.doubtful as f64 > DOUBTFUL * points.asked as f64 {
            faults.push(format!(
                "{}: the oracle cannot decide {} points",
                size.name, points.doubtful
            ));
        }
        let sealing = &compiled.report.sealings[id.index()];
        faults
            .extend(wrong_sealing(&judge, sealing).map(|fault| format!("{}: {fault}", size.name)));
        for solid in solids.iter().filter(|solid| !(solid.clip && size.is_point())) {
            let middle = solid.polyhedron.middle();
            // The middle of a brush thinner than the shell about surfaces is not judged.
            let is_judged = solid.polyhedron.depth(middle) > shell(&[middle]);
            if is_judged && !subject.is_solid(middle.map(|x| x as f32)) {
                faults.push(format!(
                    "{}: the middle of the brush of line {} is empty",
                    size.name, solid.line
                ));
            }
        }
        let crossings = judge.crossings(&subject, &solids);
        for wrong in [points.wrong, traces.wrong, traces.stray, crossings.wrong] {
            faults.extend(wrong.shown.into_iter().map(|what| format!("{}: {what}", size.name)));
        }
    }
    let left_out = compiled.report.warnings.iter().filter_map(|warning| {
        matches!(warning.fault, BrushFault::LeftOut(_)).then_some(warning.line as usize)
    });
    let left_out: Vec<usize> = left_out.collect();
    if left_out != solids.left_out() {
        let right = solids.left_out();
        faults.push(format!(
            "the compiler leaves out the brushes of lines {left_out:?}, not of {right:?}"
        ));
    }
    let mut random = Random::new(seed ^ 0x5eed);
    let bodies = casts(&entities, &Bodies(&compiled.map), samples.traces / 4, &mut random);
    faults.extend(bodies.wrong.shown);
    // A map that is sealed for a size must be sealed for every larger one.
    let pairs = spaces.iter().flat_map(|a| spaces.iter().map(move |b| (a, b)));
    for ((smaller, small), (larger, large)) in pairs {
        let fits = small.half_extents.cmple(large.half_extents).all();
        let [sealed, other] = [smaller, larger].map(|id| &compiled.report.sealings[id.index()]);
        if fits && *sealed == Sealing::Sealed && matches!(other, Sealing::Leaks(_)) {
            faults.push(format!(
                "the map is sealed for {:?}, but not for the larger {:?}",
                small.name, large.name
            ));
        }
    }
    faults.into_iter().map(|fault| format!("{name}: {fault}")).collect()
}

/// Largest share of points for which the oracle cannot tell whether they are outside.
const DOUBTFUL: f64 = 0.01;

/// The fault, if there is one, in the compiler's answer to the question whether a body of this size
/// can get out of the map. Either the path of the leak is not free, or the oracle's flood gets out
/// of a map that the compiler calls sealed.
fn wrong_sealing(judge: &Judge, sealing: &Sealing) -> Option<String> {
    match sealing {
        Sealing::Sealed => judge
            .flood()
            .leaks()
            .then(|| "the compiler calls the map sealed, but it leaks".to_owned()),
        Sealing::Unoccupied => None,
        Sealing::Leaks(leak) => {
            let path: Vec<[f64; 3]> = leak.path.iter().map(|&point| point.into()).collect();
            let blocked = path
                .windows(2)
                .find(|step| judge.brushes().entry_with_margin(step[0], step[1], -SHELL).is_some());
            let (min, max) = judge.brushes().bounds();
            let is_beyond = path.last().is_some_and(|end| {
                (0..3).any(|axis| end[axis] < min[axis] || end[axis] > max[axis])
            });
            match blocked {
                Some(step) => Some(format!("the leak's path crosses a solid at {step:?}")),
                None if !is_beyond => Some("the leak's path ends inside".to_owned()),
                None => None,
            }
        }
    }
}

fn is_true(name: &str, text: &str) {
    let faults = faults(name, text, Samples { points: 5_000, traces: 3_000 }, 1);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn brush(faces: &[[[f64; 3]; 3]]) -> String {
    let mut text = String::from("{\n\"classname\" \"worldspawn\"\n{\n");
    for face in faces {
        for [x, y, z] in face {
            text += &format!("( {x} {y} {z} ) ");
        }
        text += "wall 0 0 0 1 1\n";
    }
    text + "}\n}\n"
}

/// The planes of this box come in pairs that differ only in the sixth decimal. The box was once
/// left out, so a map of such boxes was full of holes.
#[test]
fn a_rotated_box_of_triangles_is_kept() {
    let [a, b, c, d] = [
        [-886.729292, -521.30189, 199.145618],
        [-854.455593, -565.009157, 349.638684],
        [-886.970713, -521.448065, 199.155468],
        [-810.355142, -651.083756, 145.074773],
    ];
    let [e, f, g, h] = [
        [-778.081443, -694.791024, 295.567839],
        [-777.840022, -694.644849, 295.557989],
        [-854.214172, -564.862982, 349.628833],
        [-810.596562, -651.229932, 145.084623],
    ];
    let faces = [
        [a, b, c],
        [d, a, c],
        [c, b, e],
        [e, b, f],
        [f, b, g],
        [b, a, g],
        [g, d, f],
        [a, d, g],
        [f, d, h],
        [h, e, f],
        [h, d, c],
        [c, e, h],
    ];
    is_true("a turned box of triangles", &brush(&faces));
}

/// A repeated plane once removed the face of a bevel, so that the sum extended 94 units too far.
#[test]
fn a_rotated_plank_with_two_decimals_is_not_larger_than_written() {
    let [a, b, c, d] = [
        [193.55, 650.14, 114.1],
        [213.62, 521.01, -70.63],
        [247.42, 502.39, 84.65],
        [159.37, 668.61, -41.11],
    ];
    let [e, f, g, h] = [
        [247.04, 502.24, 84.71],
        [213.24, 520.86, -70.57],
        [159.74, 668.77, -41.18],
        [193.17, 649.99, 114.16],
    ];
    let faces = [
        [a, b, c],
        [d, e, f],
        [b, a, g],
        [g, f, b],
        [d, f, g],
        [h, e, d],
        [d, g, h],
        [h, g, a],
        [f, e, c],
        [c, e, h],
    ];
    is_true("a turned plank with two decimals", &brush(&faces));
}

/// Faces that are doubled a hundredth of a unit apart meet in corners that are closer than rounding
/// can distinguish. The sum with a box once did not close.
#[test]
fn a_brush_with_doubled_faces_has_a_sum_that_closes() {
    let faces = [
        [[-98.72, -194.51, 215.64], [-59.30, -150.15, 174.87], [-47.21, -151.32, 185.28]],
        [[-98.72, -194.51, 215.64], [-59.30, -150.15, 174.87], [-47.21, -151.32, 185.28]],
        [[-62.47, -155.84, 165.62], [-59.30, -150.15, 174.87], [-98.72, -194.51, 215.64]],
        [[-47.21, -151.32, 185.28], [-38.29, -158.18, 186.44], [-73.33, -197.61, 222.68]],
        [[-47.21, -151.32, 185.28], [-38.29, -158.18, 186.44], [-73.33, -197.61, 222.69]],
        [[-56.72, -168.38, 157.52], [-62.47, -155.84, 165.62], [-97.51, -195.27, 201.86]],
        [[-38.29, -158.18, 186.44], [-62.47, -155.84, 165.62], [-47.80, -175.24, 158.69]],
        [[-38.29, -158.18, 186.44], [-62.47, -155.84, 165.62], [-47.79, -175.24, 158.68]],
        [[-38.29, -158.18, 186.44], [-32.54, -170.73, 178.35], [-58.81, -200.30, 205.53]],
        [[-83.00, -197.96, 184.71], [-86.63, -195.68, 226.05], [-58.81, -200.30, 205.53]],
        [[-83.00, -197.96, 184.71], [-86.63, -195.68, 226.05], [-58.82, -200.30, 205.53]],
        [[-47.80, -175.24, 158.69], [-56.72, -168.38, 157.52], [-83.00, -197.96, 184.71]],
        [[-32.54, -170.73, 178.35], [-35.71, -176.41, 169.10], [-57.60, -201.06, 191.75]],
        [[-32.54, -170.73, 178.35], [-35.71, -176.41, 169.10], [-57.60, -201.06, 191.75]],
        [[-35.71, -176.41, 169.10], [-47.80, -175.24, 158.69], [-69.69, -199.89, 181.34]],
    ];
    is_true("a brush with doubled faces", &brush(&faces));
}

/// A quarter of a pipe, and a dome of which one side is a point, rotated and written with three
/// decimals.
#[test]
fn curves_are_as_solid_as_brushes() {
    let arc = |y: f64| [[-60.0, y, 90.0], [-60.0, y, 0.0], [30.0, y, 0.0]];
    let pipe = [arc(-100.0), arc(0.0), arc(120.0)];
    let dome = [
        [[0.0, 0.0, 160.0]; 3],
        [[50.0, 0.0, 160.0], [50.0, 50.0, 160.0], [0.0, 50.0, 160.0]],
        [[50.0, 0.0, 110.0], [50.0, 50.0, 110.0], [0.0, 50.0, 110.0]],
    ];
    for seed in 0..2 {
        let turn = Turn::any(&mut Random::new(seed));
        let curve = |columns: &[&[[f64; 3]]]| {
            let (width, height) = (columns.len(), columns[0].len());
            let mut text = format!("{{\npatchDef2\n{{\nwall\n( {width} {height} 0 0 0 )\n(\n");
            for column in columns {
                text += "( ";
                for &point in *column {
                    let [x, y, z] = turn.apply(point);
                    text += &format!("( {x:.3} {y:.3} {z:.3} 0 0 ) ");
                }
                text += ")\n";
            }
            text + ")\n}\n}\n"
        };
        let mut text = String::from("{\n\"classname\" \"worldspawn\"\n");
        text += &curve(&pipe.each_ref().map(|column| &column[..]));
        text += &curve(&dome.each_ref().map(|column| &column[..]));
        is_true(&format!("curves, turn {seed}"), &(text + "}\n"));
    }
}

/// The faults that `judge` finds in the map with this name and text, or those in `WORLD_RESULTS`.
fn recorded(name: &str, text: &str, judge: impl FnOnce() -> Vec<String>) -> Vec<String> {
    let faults = remembered(name, judge);
    if let Some(folder) = std::env::var_os("WORLD_KEEP")
        && !faults.is_empty()
    {
        let file = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_") + ".map";
        let path = Path::new(&folder).join(file);
        std::fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    faults
}

fn remembered(name: &str, judge: impl FnOnce() -> Vec<String>) -> Vec<String> {
    let Some(path) = std::env::var_os("WORLD_RESULTS") else {
        let faults = judge();
        eprintln!("{name}: {} faults", faults.len());
        return faults;
    };
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let head = format!("{name}: ");
    let mut lines = known.lines().skip_while(|line| !line.starts_with(&head));
    if lines.next().is_some() {
        let faults = lines.take_while(|line| line.starts_with("    "));
        return faults.map(|fault| fault.trim().to_owned()).collect();
    }
    let begun = std::time::Instant::now();
    let faults = judge();
    let seconds = begun.elapsed().as_secs();
    let mut outcome = format!("{head}{} faults ({seconds} s)\n", faults.len());
    for fault in &faults {
        writeln!(outcome, "    {fault}").expect("writing to a String cannot fail");
    }
    eprint!("{outcome}");
    let file = std::fs::File::options().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(outcome.as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    faults
}

fn samples() -> Samples {
    Samples { points: setting("WORLD_POINTS", 1_500), traces: setting("WORLD_TRACES", 800) }
}

/// The default sizes, or up to five random sizes in any order. Some random sizes are as flat as a
/// plank, and the size of a point may be missing.
fn some_sizes(random: &mut Random) -> Spaces {
    if random.one_in(2) {
        return Spaces::default();
    }
    let mut text = String::new();
    for index in 0..1 + random.below(5) {
        let [x, y, z] = match random.below(4) {
            0 => [0.0; 3],
            1 => [random.between(0.5, 48.0).round(); 3],
            _ => [(); 3].map(|()| (random.between(0.5, 48.0) * 4.0).round() / 4.0),
        };
        writeln!(text, "[[size]]\nname = \"size {index}\"\nhalf_extents = [{x}, {y}, {z}]")
            .expect("writing to a String cannot fail");
    }
    Spaces::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn generated_worlds_match_their_brushes() {
    let count = setting("WORLD_WORLDS", World::ALL.len());
    let samples = samples();
    let seed = setting("WORLD_SEED", 1) as u64;
    let mut wrong = Vec::new();
    for index in 0..count {
        let kind = World::ALL[index % World::ALL.len()];
        let mut random = Random::new(seed << 32 | index as u64);
        let brushes = if count > World::ALL.len() { [20, 60, 200][random.below(3)] } else { 24 };
        let name = format!("{kind:?} {index} of seed {seed}, {brushes} brushes");
        let text = kind.text(brushes, &mut random);
        let spaces = some_sizes(&mut random);
        wrong.extend(recorded(&name, &text, || faults_for(&spaces, &name, &text, samples, seed)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The chosen maps of a folder, or all of them if `WORLD_TURNS` is set, the smallest first.
fn maps_of(folder: &Path, chosen: &[&str]) -> Vec<PathBuf> {
    let wanted = std::env::var("WORLD_MAP").unwrap_or_default();
    let files = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut maps: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    maps.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let few = setting("WORLD_TURNS", 0) > 0 || chosen.contains(&&*name);
        name.ends_with(".map") && few && path.display().to_string().contains(&wanted)
    });
    maps.sort_by_key(|path| (path.metadata().map_or(0, |file| file.len()), path.clone()));
    maps
}

/// Judges the maps of a folder unrotated, and `WORLD_TURNS` times rotated. Rotated maps are written
/// with 2, 3, 6 and 9 decimals in turn.
fn turned_maps_are_true(folder: &Path, chosen: &[&str]) {
    let turns = setting("WORLD_TURNS", 0);
    let seed = setting("WORLD_SEED", 1) as u64;
    let maps = maps_of(folder, chosen);
    let mut wrong = Vec::new();
    // By default the unrotated maps are skipped, because `world_truth` judges them.
    for round in usize::from(turns == 0)..=turns.max(1) {
        for path in &maps {
            let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let drawn = String::from_utf8_lossy(&bytes);
            let map = path.file_name().unwrap_or_default().to_string_lossy();
            let number = map.bytes().map(usize::from).sum::<usize>();
            let (name, text) = match round.checked_sub(1) {
                None => (format!("{map} as drawn"), drawn.into_owned()),
                Some(index) => {
                    // Twelve turns combine each number of decimals with each kind of faces.
                    let places = [2, 3, 6, 9][(number + index) % 4];
                    let doubled = Faces::Doubled(0.003);
                    let faces = [Faces::Once, Faces::Triangles, doubled][(number + index) % 3];
                    let entities = map_text::parse(&drawn).expect("the text is a map");
                    let turn =
                        Turn::any(&mut Random::new(seed << 32 | (number << 8 | index) as u64));
                    let name =
                        format!("{map}, turn {index} of seed {seed}, {places} decimals, {faces:?}");
                    (name, rotated(&entities, &turn, places, faces))
                }
            };
            wrong.extend(recorded(&name, &text, || faults(&name, &text, samples(), seed)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rotated_id_software_maps_match_their_brushes() {
    if let Some(folder) = shared("maps/id-gpl") {
        turned_maps_are_true(&folder, &["dm4.map"]);
    }
}

#[test]
fn rotated_libre_quake_maps_match_their_brushes() {
    if let Some(folder) = shared("maps/librequake") {
        turned_maps_are_true(&folder, &["lqdm13.map"]);
    }
}

#[test]
fn rotated_ericw_test_maps_match_their_brushes() {
    if let Some(folder) = shared("maps/ericw-tools") {
        let chosen = ["q1_detail_wall.map", "q1_hull1_content_types.map", "q1_rocks.map"];
        turned_maps_are_true(&folder, &chosen);
    }
}
