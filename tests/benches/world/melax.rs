//! The tables and figures of Melax (2000), measured again, beside the published ones.
//!
//! The published numbers come from a Pentium III and from geometry that was never published, so
//! only ratios and shapes of curves can be compared. Where the paper has a picture and no number,
//! no published number is printed.

mod slicing;

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use glam::Vec3;
use obsp::body::{Cylinder, LEAST_EXTENT, Sphere, Support};
use obsp::shift::NodeCount;
use obsp::{BevelAngle, CompileOptions, Map, Source, Spaces, Trace, compile};
use tests::harness::Random;

use crate::contestants::{Contestant, onion};
use crate::measure;
use crate::workloads::{Segment, Workload};

/// Number of frames in Figure 8, and how often each is traced for one timing.
const FRAMES: usize = 200;
const REPEATS: usize = 100;

/// Number of timings of each frame; their median counts.
const TIMINGS: usize = 5;

/// Spheres of each diameter in Figure 6.
const SPHERES: usize = 200;

pub(crate) fn print(path: &Path, world: &Map, steps: &Workload) {
    println!("\n== Melax (2000) on {}, {}", world.name(), steps.description());
    table_1(path);
    table_2(&bevelled(path, BevelAngle::default()), world, &steps.segments);
    figure_5(path);
    figure_6(world);
    figure_8(world, &steps.segments);
}

/// A world of this map whose shift tree is bevelled at this angle.
fn bevelled(path: &Path, bevel_angle: BevelAngle) -> Map {
    let source = Source::read(path).unwrap_or_else(|error| panic!("{error}"));
    // The onion is not measured, so one size is enough.
    let default = Spaces::default();
    let spaces =
        Spaces::new(default.sizes()[..1].to_vec()).expect("a list of one valid size is valid");
    let options = CompileOptions { bevel_angle, ..CompileOptions::default() };
    let compiled = compile(&source, &spaces, &options, &mut |_, _, _| ());
    compiled.unwrap_or_else(|error| panic!("{error}")).map
}

fn table_1(path: &Path) {
    let world = bevelled(path, BevelAngle::NONE);
    let cost = slicing::measure(&world);
    println!("\nTable 1: a cube half as wide as the map, in its middle");
    println!(
        "  merging, with {} slices, {:.0} µs; not slicing {:.1} µs: {:.0}x (Melax: 109 slices, 55x)",
        cost.slices,
        cost.merging * 1e6,
        cost.not_slicing * 1e6,
        cost.merging / cost.not_slicing
    );
}

/// Prints Table 2. `points` is a world compiled for the bare point alone, because Melax's ray goes
/// through a BSP without extents.
fn table_2(points: &Map, world: &Map, segments: &[Segment]) {
    let least = Sphere::new(LEAST_EXTENT).expect("the least extent is allowed");
    let sphere = Sphere::new(28.0).expect("the radius is in range");
    let cylinder = Cylinder::new(16.0, 28.0).expect("the size is in range");
    let contestants = [
        onion("ray", points, "point"),
        shifted("least sphere", world, least),
        shifted("sphere 28", world, sphere),
        shifted("cylinder 16,28", world, cylinder),
    ];
    let [ray, least, sphere, cylinder] = measure::interleaved(&contestants, segments)[..] else {
        unreachable!("there is one timing for each contestant")
    };
    println!("\nTable 2: nanoseconds a query, through the bevelled tree");
    println!(
        "  ray {ray:.0}, planes not shifted {least:.0} ({:.1}x), sphere {sphere:.0} ({:.1}x), cylinder {cylinder:.0} ({:.1}x) \
         (Melax: 2.3x to 2.6x and 3.3x to 3.5x)",
        least / ray,
        sphere / ray,
        cylinder / ray
    );
}

fn figure_5(path: &Path) {
    println!("\nFigure 5: nodes against the bevel angle (Melax: twice as many at 90°)");
    let mut unbevelled = 0;
    for degrees in [180.0, 150.0, 120.0, 105.0, 95.0, 90.0, 75.0, 60.0] {
        let angle = BevelAngle::new(degrees).expect("an angle in range");
        let nodes = bevelled(path, angle).counts().shift_nodes;
        if angle == BevelAngle::NONE {
            unbevelled = nodes;
        }
        println!("  {degrees:5}°  {nodes:6} nodes  {:5.2}x", nodes as f64 / unbevelled as f64);
    }
}

fn figure_6(world: &Map) {
    let bounds = world.bounds();
    let extent = (bounds.max - bounds.min).max_element();
    let nodes = world.counts().shift_nodes;
    println!("\nFigure 6: nodes visited by a resting sphere, of {nodes}");
    println!("  (Melax: more with the size; one as large as the map touches every node)");
    println!("  diameter, % of the map   until the first solid   all");
    let mut random = Random::new(6);
    for percent in [0.0_f64, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0] {
        let radius = (extent * percent / 200.0).max(f64::from(LEAST_EXTENT)) as f32;
        let sphere = Sphere::new(radius).expect("maps are smaller than the greatest extent");
        let (mut first, mut all) = (NodeCount::default(), NodeCount::default());
        for _ in 0..SPHERES {
            let mut within = |axis: usize| random.between(bounds.min[axis], bounds.max[axis]);
            let at = Vec3::new(within(0) as f32, within(1) as f32, within(2) as f32);
            black_box(world.shift_tree().overlaps(&sphere, at, &mut first));
            black_box(world.shift_tree().count_touched(&sphere, at, &mut all));
        }
        let mean = |count: NodeCount| count.0 as f64 / SPHERES as f64;
        let share = 100.0 * mean(all) / nodes as f64;
        println!("  {percent:22}   {:21.1}   {:8.1} ({share:5.1} %)", mean(first), mean(all));
    }
}

fn figure_8(world: &Map, segments: &[Segment]) {
    let body = Cylinder::new(16.0, 28.0).expect("the size is in range");
    let cylinder = shifted("cylinder", world, body);
    // The part of the path with the most movement.
    let length = |frames: &[Segment]| frames.iter().map(|(a, b)| a.distance(*b)).sum::<f32>();
    let busiest = segments.windows(FRAMES).max_by(|a, b| length(a).total_cmp(&length(b)));
    let Some(frames) = busiest else { return };
    let mut times: Vec<f64> = frames.iter().map(|frame| time(&cylinder, frame)).collect();
    times.sort_by(f64::total_cmp);
    let quantile = |q: f64| times[((times.len() - 1) as f64 * q).round() as usize];
    println!("\nFigure 8: nanoseconds of each of {FRAMES} successive frames, cylinder 16,28");
    println!(
        "  least {:.0}, median {:.0}, 95 of 100 below {:.0}, most {:.0}: {:.1}x the median \
         (Melax: \"within a small constant\")",
        times[0],
        quantile(0.5),
        quantile(0.95),
        quantile(1.0),
        quantile(1.0) / quantile(0.5)
    );
}

fn time(contestant: &Contestant<'_>, frame: &Segment) -> f64 {
    let timings = (0..TIMINGS).map(|_| {
        let started = Instant::now();
        for _ in 0..REPEATS {
            black_box(contestant.cast(black_box(frame)));
        }
        started.elapsed().as_secs_f64() * 1e9 / REPEATS as f64
    });
    measure::median(timings.collect())
}

/// The map's shifted planes, for one body.
pub(crate) fn shifted<'a>(name: &str, world: &'a Map, body: impl Support + 'a) -> Contestant<'a> {
    Contestant::new(name, move |&(start, end)| match world.cast(&body, start, end) {
        Trace::Clear => None,
        Trace::Hit(hit) => Some(hit.time),
        Trace::StartSolid => Some(0.0),
    })
}
