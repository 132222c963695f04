//! The maps of `../shared/maps`, which come from other projects.

use std::io::Write;
use std::path::{Path, PathBuf};

use glam::Vec3;

use super::judge::{Judge, Random};
use crate::{Source, Trace};

fn each_map(check: impl Fn(&str, Judge)) {
    each_source(|name, source| check(name, Judge::new(&source)));
}

pub(super) fn each_source(check: impl Fn(&str, Source)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/maps");
    let mut maps: Vec<PathBuf> = Vec::new();
    for collection in ["ericw-tools", "id-gpl", "librequake"] {
        let Ok(files) = std::fs::read_dir(folder.join(collection)) else { continue };
        let files = files.filter_map(|file| Some(file.ok()?.path()));
        maps.extend(files.filter(|path| path.extension().is_some_and(|e| e == "map")));
    }
    maps.sort();
    if maps.is_empty() {
        let needed = std::env::var_os("ARENA_NEED_SHARED").is_some_and(|value| value == "1");
        assert!(!needed, "there are no maps in {}", folder.display());
        // The output of `eprintln!` is captured, and not shown for tests that pass.
        let _ = writeln!(std::io::stderr(), "SKIPPED: there are no maps in {}", folder.display());
    }
    for path in maps {
        let name = path.display().to_string();
        let source = Source::read(&path).unwrap_or_else(|error| panic!("{error}"));
        check(&name, source);
    }
}

pub(super) fn count(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn points_match_the_brushes() {
    let samples = count("MAPS_POINTS", 2_000);
    each_map(|name, judge| {
        let mut random = Random(1);
        let bounds = judge.bounds();
        for (size, _) in judge.spaces.iter() {
            let (mut judged, mut wrong) = (0, 0);
            for _ in 0..samples {
                let point = random.within(&bounds).as_vec3();
                if let Some(expected) = judge.is_solid(size, point.as_dvec3()) {
                    judged += 1;
                    if judge.map.is_solid(size, point) != expected {
                        wrong += 1;
                        println!("{name}: size {}: {point}: expected {expected}", size.index());
                    }
                }
            }
            assert_eq!(wrong, 0, "{name}: points are wrong, of {judged} judged");
            assert!(
                judged * 10 > samples * 9,
                "{name}: only {judged} of {samples} points are outside the shell"
            );
        }
    });
}

#[test]
fn traces_match_the_brushes() {
    let samples = count("MAPS_TRACES", 1_000);
    each_map(|name, judge| {
        let mut random = Random(2);
        let bounds = judge.bounds();
        for (size, _) in judge.spaces.iter() {
            let mut kinds = [0; 3];
            for i in 0..samples {
                let mut start = random.within(&bounds).as_vec3();
                let length = 4.0 * 256_f64.powf(random.unit());
                let mut end = start + (random.direction() * length).as_vec3();
                if i % 4 == 0 {
                    // As in real matches, the start is on the grid, and the motion is along an axis
                    // or horizontal.
                    start = start.round();
                    end = start
                        + (end - start).round()
                            * [Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(1.0, 1.0, 0.0)][i / 4 % 4];
                }
                match judge.check_trace(size, start, end) {
                    Trace::Clear => kinds[0] += 1,
                    Trace::Hit(_) => kinds[1] += 1,
                    Trace::StartSolid => kinds[2] += 1,
                }
            }
            println!("{name}: size {}: clear, hit, start solid: {kinds:?}", size.index());
        }
    });
}

#[test]
fn slide_moves_never_end_in_solid() {
    let samples = count("MAPS_SLIDES", 2_000);
    each_map(|name, judge| {
        let mut random = Random(3);
        let bounds = judge.bounds();
        for (size, _) in judge.spaces.iter() {
            let mut moved = 0;
            while moved < samples {
                let mut position = random.within(&bounds).as_vec3();
                if judge.map.is_solid(size, position) {
                    continue;
                }
                // The mover walks at different speeds and is always pulled down.
                for _ in 0..100 {
                    let speed = 600.0 * random.unit() * random.unit();
                    let step = (random.direction() * speed).as_vec3() + Vec3::NEG_Z * 40.0;
                    position = judge.check_slide(size, position, step / 10.0);
                    moved += 1;
                }
            }
            assert!(moved >= samples, "{name}");
        }
    });
}
