//! The compiled map compared with the exact brushes, on every available map. The same points must
//! be solid, segments must hit the same surfaces, and a mover that slides along walls must never
//! end up inside one.
//!
//! By default the samples are few. `WORLD_POINTS=1000000 WORLD_TRACES=100000 WORLD_MOVES=1000000
//! cargo test -p tests --test simulation world_truth -- --nocapture` produces the full figures, for
//! each size of each map. `WORLD_SEED` chooses other samples, and `WORLD_MAP` selects the maps
//! whose path contains it.

use std::path::{Path, PathBuf};

use tests::harness::{OneSize, Random, compile, foreign_map, own_map, setting, shared};
use tests::oracle::brushes::Solids;
use tests::oracle::map_text;
use tests::oracle::verify::{Judge, Wrong};

/// Largest share of solid points for which the flood cannot decide whether they are outside. Such
/// points are in narrow gaps that the flood does not enter.
const DOUBTFUL: f64 = 0.01;

/// Largest share of a mover's traces with a stray normal. It is the normal of a plane that is a few
/// thousandths of a unit off any face. A mover that slides along surfaces reaches points where
/// several planes meet within rounding, and gets such normals there. The times of these traces are
/// right, and the mover stays free.
const STRAY_MOVES: f64 = 1e-5;

fn percent(part: usize, of: usize) -> f64 {
    part as f64 / of.max(1) as f64 * 100.0
}

fn is_true(path: &Path) {
    let seed = setting("WORLD_SEED", 1) as u64;
    let points = setting("WORLD_POINTS", 3_000);
    let traces = setting("WORLD_TRACES", 1_000);
    let moves = setting("WORLD_MOVES", 1_000);
    let text = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let entities = map_text::parse(&String::from_utf8_lossy(&text))
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let solids = Solids::new(&entities);
    let world = compile(path);
    let mut faults = Vec::new();
    for size in world.sizes() {
        let name = format!("{} {}, seed {seed}", path.display(), size.name);
        let id = world.size(&size.name).expect("the map has all its sizes");
        let subject = OneSize { map: &world, size: id };
        let judge = Judge::new(&entities, &solids, size.half_extents.to_array().map(f64::from));
        let mut random = Random::new(seed << 8 | id.index() as u64);
        let wanted = [points, traces, moves];
        let points = judge.points(&subject, points, &mut random);
        let traces = judge.traces(&subject, traces, &mut random);
        let walk = judge.walk(&subject, moves, &mut random);
        eprintln!(
            "{name}: {} points, {:.2} % in the shell, {:.1} % filled, {:.2} % in doubt; {} traces, \
             {:.1} % met something, {:.2} % right within the shell; {} moves, {:.1} % blocked, {} \
             ended inside within the shell, {} stray normals",
            points.asked,
            percent(points.shell, points.asked),
            percent(points.filled, points.asked),
            percent(points.doubtful, points.asked),
            traces.asked,
            percent(traces.hits, traces.asked),
            percent(traces.shell, traces.asked),
            walk.moves,
            percent(walk.blocked, walk.moves),
            walk.grazing,
            walk.stray.count,
        );
        let asked = [points.asked, traces.asked, walk.moves];
        if asked != wanted {
            faults.push(format!("{name}: {asked:?} queries were made, not {wanted:?}"));
        }
        let mut check = |what: &str, wrong: &Wrong| {
            if wrong.count > 0 {
                faults.push(format!("{name}: {} wrong {what}: {:#?}", wrong.count, wrong.shown));
            }
        };
        check("points", &points.wrong);
        check("traces", &traces.wrong);
        check("moves", &walk.wrong);
        check("normals of traces", &traces.stray);
        if walk.stray.count as f64 > STRAY_MOVES * moves as f64 {
            check("normals of moves", &walk.stray);
        }
        if points.doubtful as f64 > DOUBTFUL * points.asked as f64 {
            faults.push(format!(
                "{name}: the oracle cannot decide {} of {} points",
                points.doubtful, points.asked
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn all_are_true(folder: &Path) {
    let files = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut maps: Vec<PathBuf> = files
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "map"))
        .collect();
    maps.sort();
    assert!(!maps.is_empty(), "there are no maps in {}", folder.display());
    let wanted = std::env::var("WORLD_MAP").unwrap_or_default();
    for map in maps.iter().filter(|map| map.display().to_string().contains(&wanted)) {
        is_true(map);
    }
}

#[test]
fn shipped_maps_match_their_brushes() {
    all_are_true(&own_map(""));
}

#[test]
fn id_software_maps_match_their_brushes() {
    if let Some(folder) = shared("maps/id-gpl") {
        all_are_true(&folder);
    }
}

#[test]
fn libre_quake_maps_match_their_brushes() {
    if let Some(folder) = shared("maps/librequake") {
        all_are_true(&folder);
    }
}

#[test]
fn ericw_test_maps_match_their_brushes() {
    if let Some(folder) = shared("maps/ericw-tools") {
        all_are_true(&folder);
    }
}

/// A point 0.06 units deep in the wall of q1_mountain was once empty. It was in an empty needle,
/// four thousandths of a unit thick, along a dividing plane. Behind this plane, the tree is divided
/// by another one, which crosses it at a few degrees and so near that both planes counted as
/// passing through the point.
#[test]
fn a_point_beside_two_dividing_planes_at_an_angle_is_solid() {
    let Some(path) = foreign_map("ericw-tools/q1_mountain.map") else { return };
    let world = compile(&path);
    let point = world.size("point").expect("a default size");
    for step in 0..400 {
        let z = -1261.03 + step as f32 * 1e-4;
        for y in [4096.04, 4096.05, 4096.0576, 4096.063] {
            assert!(world.is_solid(point, [-1169.8265, y, z].into()), "{y} {z}");
        }
    }
}
