//! Shifted planes compared with the exact distance from every brush. A body never passes through a
//! solid. The distance by which it stops too early is measured for each bevel angle.
//!
//! `SHIFT_SAMPLES` sets the number of segments for each body on each map.

use std::path::Path;

use glam::{Quat, Vec3};
use obsp::body::{Cuboid, Cylinder, Sphere, Support};
use obsp::{BevelAngle, CompileOptions, Hit, Map, Source, Spaces, Trace};
use oracle::Random;
use oracle::brushes::Brushes;
use oracle::map_text::{self, Entity};
use oracle::sweep::{Body, Solids};
use tests::harness::{foreign_map, own_map};

/// A body that is deeper in a solid than this, in units, counts as inside. An `f32` at 4,096 units
/// is exact to 1/2048.
const SHELL: f64 = 0.01;

/// Tolerance of a contact along the segment, in units.
const ALONG: f64 = 0.02;

/// Once in this many segments, a corner where bevels meet may give a normal far from the true one.
const STRAY_NORMALS: usize = 500;

/// Maximum gap that is measured, in units.
const FAR: f64 = 4096.0;

struct Judge {
    name: String,
    world: Map,
    solids: Solids,
    entities: Vec<Entity>,
}

impl Judge {
    fn new(path: &Path, angle: f64) -> Self {
        let text = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let entities = map_text::parse(&String::from_utf8_lossy(&text)).expect("the text is a map");
        let bevel_angle = BevelAngle::new(angle).expect("in range");
        let options = CompileOptions { bevel_angle, ..CompileOptions::default() };
        let source = Source::read(path).unwrap_or_else(|error| panic!("{error}"));
        // One small size suffices, because the onion is not tested here.
        let spaces = Spaces::parse("[[size]]\nname = \"point\"\nhalf_extents = [0, 0, 0]\n");
        let spaces = spaces.unwrap_or_else(|error| panic!("{error}"));
        let compiled = obsp::compile(&source, &spaces, &options, &mut |_, _, _| {});
        let world = compiled.unwrap_or_else(|error| panic!("{error}")).map;
        let solids = Solids::new(&entities);
        Self { name: format!("{} at {angle}°", world.name()), world, solids, entities }
    }

    /// A random start. Half of the starts are near the map's entities, half anywhere.
    fn start(&self, random: &mut Random) -> Vec3 {
        let origins: Vec<_> = self.entities.iter().filter_map(Entity::origin).collect();
        let (min, max) = self.solids.bounds();
        let at = if random.one_in(2) && !origins.is_empty() {
            origins[random.below(origins.len())].map(|x| x + random.between(-64.0, 64.0))
        } else {
            [0, 1, 2].map(|i| random.between(min[i] - 48.0, max[i] + 48.0))
        };
        Vec3::from(at.map(|x| x as f32))
    }

    /// Casts a body along random segments, and judges the answers with the oracle. `truth` is the
    /// same body for the oracle.
    fn judge(
        &self,
        name: &str,
        body: &impl Support,
        truth: Body,
        samples: usize,
        seed: u64,
    ) -> Early {
        let mut random = Random::new(seed);
        let certain = truth.shrunk(SHELL);
        let mut early = Early::default();
        for sample in 0..samples {
            let start = self.start(&mut random);
            let reach = [8.0, 64.0, 512.0][random.below(3)];
            let mut motion = Vec3::from([(); 3].map(|()| random.between(-reach, reach) as f32));
            match random.below(4) {
                0 => motion.z = 0.0,
                1 => motion = Vec3::new(0.0, 0.0, -reach as f32),
                _ => {}
            }
            let end = start + motion;
            let trace = self.world.cast(body, start, end);
            let place = || format!("{}, seed {seed}, {sample}: {start} to {end}", self.name);
            let (a, b) = (wide(start), wide(end));
            let contact = self.solids.first_contact(&certain, a, b);
            if contact == Some(0.0) {
                assert_eq!(
                    trace,
                    Trace::StartSolid,
                    "{}: the cast starts in solid, but does not say so",
                    place()
                );
            }
            let (time, at) = match trace {
                Trace::Clear => {
                    assert_eq!(
                        contact,
                        None,
                        "{}: the cast is clear, but the body meets a solid",
                        place()
                    );
                    early.clear += 1;
                    continue;
                }
                Trace::StartSolid => (0.0, start),
                Trace::Hit(hit) => {
                    let rest = self.solids.distance(&certain, wide(hit.end), 1.0);
                    assert!(rest > 0.0, "{}: the body ends in solid: {hit:?}", place());
                    assert!(hit.normal.dot(motion) < 0.0, "{}: {hit:?}", place());
                    early.judge_normal(&self.solids, &truth, &hit);
                    (hit.time, hit.point)
                }
            };
            let length = f64::from(motion.length());
            if let Some(contact) = contact {
                let late = (f64::from(time) - contact) * length;
                assert!(
                    late < ALONG,
                    "{}: the body stops {late} units too late: {trace:?}",
                    place()
                );
            }
            let gap = self.solids.distance(&truth, wide(at), FAR);
            early.gaps.push(gap);
        }
        early.gaps.sort_by(f64::total_cmp);
        eprintln!("{:18} {name:14} {early}", self.name);
        let rare = early.stray * STRAY_NORMALS <= samples;
        assert!(rare, "{}, {name}, seed {seed}: {} stray normals", self.name, early.stray);
        assert!(
            early.clear > samples / 20 && early.gaps.len() > samples / 20,
            "too few casts are clear, or too few are stopped"
        );
        early
    }
}

fn wide(v: Vec3) -> [f64; 3] {
    v.to_array().map(f64::from)
}

/// Distances of stopped bodies from the nearest solids, in units, ascending.
#[derive(Default)]
struct Early {
    gaps: Vec<f64>,
    clear: usize,
    /// Contacts whose normal belongs neither to a face nor to an edge.
    stray: usize,
}

impl Early {
    /// Counts the normal as stray if it is far from the true one. The normal of a contact belongs
    /// to a face or a bevel, so it should be within the limit angle of the true one.
    fn judge_normal(&mut self, solids: &Solids, truth: &Body, hit: &Hit) {
        // The body is moved back until it is certainly apart.
        let (at, normal) = (hit.point + hit.normal * 0.05, wide(hit.normal));
        let touches = solids.distance(truth, wide(at), 1.0) < 0.1;
        if touches && solids.agreement(truth, wide(at), normal, 0.1) < 0.5 {
            self.stray += 1;
        }
    }

    fn greatest(&self) -> f64 {
        self.gaps.last().copied().unwrap_or(0.0)
    }
}

impl std::fmt::Display for Early {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.gaps.len();
        let mean = self.gaps.iter().sum::<f64>() / count as f64;
        let worst = self.gaps[count * 99 / 100];
        let (clear, early) = (self.clear, self.gaps.iter().filter(|gap| **gap > SHELL).count());
        let greatest = self.greatest();
        write!(
            f,
            "{clear} clear, {count} stopped, {} stray normals, {early} too early: gap mean {mean:.3}, \
             p99 {worst:.2}, max {greatest:.2}",
            self.stray,
        )
    }
}

fn samples(default: usize) -> usize {
    std::env::var("SHIFT_SAMPLES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Maximum distance of a ball from the solid that stops it, in radii. It occurs at an edge between
/// two planes at the limit angle, or at a corner of three such planes. The compiler's tolerance of
/// half a degree is included.
fn bound(angle: f64) -> f64 {
    let slack = 0.011;
    let edge = (angle.to_radians() / 2.0).cos() - slack;
    let corner = ((1.0 + 2.0 * angle.to_radians().cos()) / 3.0).max(0.0).sqrt() - slack;
    if corner > 0.0 { 1.0 / corner.min(edge) - 1.0 } else { f64::INFINITY }
}

fn bodies_stop_in_time(path: &Path, angle: f64, samples: usize, seed: u64) {
    let judge = Judge::new(path, angle);
    for radius in [4.0_f32, 24.0] {
        let ball = Sphere::new(radius).expect("in range");
        let name = format!("ball {radius}");
        let early = judge.judge(&name, &ball, Body::Ball(f64::from(radius)), samples, seed);
        let most = bound(angle) * f64::from(radius) + SHELL;
        assert!(
            early.greatest() <= most,
            "a ball stops {} units too early, more than {most}",
            early.greatest()
        );
    }
    let cylinder = Cylinder::new(16.0, 28.0).expect("in range");
    judge.judge("cylinder", &cylinder, Body::Cylinder(16.0, 28.0), samples, seed);
    let half_extents = Vec3::new(16.0, 16.0, 28.0);
    let cuboid = Cuboid::new(half_extents).expect("in range");
    let sides = [Vec3::X * 16.0, Vec3::Y * 16.0, Vec3::Z * 28.0];
    judge.judge("box", &cuboid, Body::Cuboid(sides.map(wide)), samples, seed);
    let turn = Quat::from_axis_angle(Vec3::new(0.48, 0.6, 0.64), 1.0);
    let sides = sides.map(|side| wide(turn * side));
    judge.judge(
        "turned box",
        &cuboid.turned(turn).expect("the turn is a rotation"),
        Body::Cuboid(sides),
        samples,
        seed,
    );
}

#[test]
fn bodies_never_pass_through_solids_on_shipped_maps() {
    for name in ["arena.map", "terrain.map", "warren.map"] {
        bodies_stop_in_time(&own_map(name), 95.0, samples(400), 1);
    }
}

#[test]
fn bodies_never_pass_through_solids_on_foreign_maps() {
    for name in ["id-gpl/dm4.map", "librequake/lqdm3.map", "ericw-tools/q1_mountain.map"] {
        if let Some(path) = foreign_map(name) {
            bodies_stop_in_time(&path, 95.0, samples(400), 2);
        }
    }
}

/// The surface at which a box must stop is exact in integers. A box must not stop later.
fn boxes_stop_in_time(path: &Path, samples: usize, seed: u64) {
    let judge = Judge::new(path, 95.0);
    let exact = Brushes::new(&judge.entities, [16.0, 16.0, 28.0]);
    let cuboid = Cuboid::new(Vec3::new(16.0, 16.0, 28.0)).expect("in range");
    let mut random = Random::new(seed);
    let (mut early, mut hits) = (0, 0);
    for sample in 0..samples {
        // Starts and motions are whole, because planes and edges are at whole coordinates.
        let start = judge.start(&mut random).round();
        let motion = Vec3::from([(); 3].map(|()| random.between(-64.0, 64.0) as f32)).round();
        let (a, b) = (wide(start), wide(start + motion));
        let length = f64::from(motion.length());
        let (surely, possibly) =
            (exact.entry_with_margin(a, b, -SHELL), exact.entry_with_margin(a, b, SHELL));
        let time = match judge.world.cast(&cuboid, start, start + motion) {
            Trace::Clear => f64::INFINITY,
            Trace::Hit(hit) => f64::from(hit.time),
            Trace::StartSolid => 0.0,
        };
        let late = surely.map_or(0.0, |surely| (time - surely) * length);
        let place = || format!("{}, seed {seed}, {sample}: {start} by {motion}", judge.name);
        assert!(late < ALONG, "{}: the box stops {late} units too late", place());
        hits += usize::from(time <= 1.0);
        early += usize::from(time <= 1.0 && possibly.is_none_or(|p| (p - time) * length > ALONG));
    }
    eprintln!("{}: exact boxes: {hits} of {samples} stopped, {early} too early", judge.name);
    assert!(hits > samples / 50 && early * 20 < hits, "{hits} stopped, {early} too early");
}

#[test]
fn boxes_on_integer_coordinates_never_pass_through_solids() {
    boxes_stop_in_time(&own_map("arena.map"), samples(4000), 4);
    if let Some(path) = foreign_map("id-gpl/dm4.map") {
        boxes_stop_in_time(&path, samples(4000), 5);
    }
}

#[test]
fn smaller_angles_stop_bodies_later() {
    for angle in [180.0, 120.0, 60.0] {
        bodies_stop_in_time(&own_map("terrain.map"), angle, samples(200), 3);
    }
}
