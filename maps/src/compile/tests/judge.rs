//! Verification by brute force: every expanded brush is tested, without a tree. Within a shell
//! about surfaces, either answer is right.

use glam::{DVec3, Vec3};

use crate::compile::expand::expanded;
use crate::compile::parsed_map::ParsedMap;
use crate::compile::{CompileOptions, Source, compile};
use crate::geometry::{Aabb, ConvexSolid, Plane};
use crate::{Map, SizeId, Spaces, Trace};

/// Half the thickness of the shell, in units.
const SHELL: f64 = 0.01;

/// Half the thickness of the shell in which a face is searched for at the point of a hit. The
/// coordinates of that point are only `f32`.
const NORMAL_SHELL: f64 = 0.03;

/// A path that stays in the shell for this many units before it leaves or
/// enters solid runs along a surface.
const GRAZING: f64 = 1.0;

/// A map and its expanded brushes.
pub(super) struct Judge {
    pub(super) map: Map,
    pub(super) spaces: Spaces,
    brushes: Vec<Vec<ConvexSolid>>,
}

/// A generator with a printable seed (SplitMix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn within(&mut self, bounds: &Aabb) -> DVec3 {
        let unit = DVec3::new(self.unit(), self.unit(), self.unit());
        bounds.min + (bounds.max - bounds.min) * unit
    }

    pub(super) fn direction(&mut self) -> DVec3 {
        let ball = Aabb::from_centre(DVec3::ZERO, DVec3::ONE);
        loop {
            let v = self.within(&ball);
            if (0.01..1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }
}

impl Judge {
    pub(super) fn new(source: &Source) -> Self {
        let spaces = Spaces::default();
        // The outside is not filled, because the brushes alone have no outside.
        let options = CompileOptions { keep_outside: true, ..CompileOptions::default() };
        let map = compile(source, &spaces, &options, &mut |_, _, _| ())
            .unwrap_or_else(|error| panic!("{error}"))
            .map;
        let parsed = ParsedMap::read(source, &options).expect("the source was read before");
        let brushes = spaces.sizes().iter().map(|size| {
            let half = size.half_extents.as_dvec3();
            let statics = parsed.statics.iter().filter(|b| !(b.clip && size.is_point()));
            statics
                .map(|b| expanded(&b.solid, half).expect("the brush was expanded before"))
                .collect()
        });
        Self { brushes: brushes.collect(), map, spaces }
    }

    /// The box around all brushes, and some space outside it.
    pub(super) fn bounds(&self) -> Aabb {
        self.map.bounds().inflated(48.0)
    }

    /// Whether `point` is in solid; `None` within the shell.
    pub(super) fn is_solid(&self, size: SizeId, point: DVec3) -> Option<bool> {
        let near = Aabb::from_centre(point, DVec3::splat(SHELL));
        let mut undecided = false;
        for brush in &self.brushes[size.index()] {
            if !brush.bounds().overlaps(&near) {
                continue;
            }
            let distances = brush.faces().iter().map(|f| f.plane.signed_distance(point));
            let outside = distances.fold(f64::NEG_INFINITY, f64::max);
            if outside < -SHELL {
                return Some(true);
            }
            undecided |= outside <= SHELL;
        }
        (!undecided).then_some(false)
    }

    /// The time at which the segment first enters a brush that is grown by `margin`. A negative
    /// margin shrinks the brush.
    fn entry(&self, size: SizeId, start: DVec3, end: DVec3, margin: f64) -> Option<f64> {
        let reach = Aabb::around([start, end]).inflated(margin.max(0.0));
        let near = self.brushes[size.index()].iter().filter(|b| b.bounds().overlaps(&reach));
        let entries = near.filter_map(|brush| {
            let planes = brush.faces().iter().map(|f| f.plane);
            first_inside(planes, start, end, margin)
        });
        entries.min_by(f64::total_cmp)
    }

    /// Checks one trace and returns it.
    pub(super) fn check_trace(&self, size: SizeId, start: Vec3, end: Vec3) -> Trace {
        let trace = self.map.find_first_transition(size, start, end);
        let (s, e) = (start.as_dvec3(), end.as_dvec3());
        let earliest = self.entry(size, s, e, SHELL);
        let latest = self.entry(size, s, e, -SHELL);
        let context = || {
            let name = &self.spaces.sizes()[size.index()].name;
            format!(
                "{name}, from {start} to {end}: the trace gives {trace:?}, not {earliest:?} to \
                     {latest:?}"
            )
        };
        let slack = 0.01 / (e - s).length().max(0.01);
        match trace {
            Trace::Clear => assert!(latest.is_none_or(|t| t > 1.0 - slack), "{}", context()),
            Trace::StartSolid => assert_eq!(earliest, Some(0.0), "{}", context()),
            Trace::Hit(hit) => {
                let time = f64::from(hit.time);
                assert!((0.0..=1.0).contains(&time), "{}", context());
                assert!(earliest.is_some_and(|t| time >= t - slack), "{}", context());
                assert!(latest.is_none_or(|t| time <= t + slack), "{}", context());
                assert!(!self.map.is_solid(size, hit.end), "{}", context());
                assert!(hit.normal.dot(end - start) <= 0.0, "{}", context());
                // A path along the shell may be stopped by any plane in it.
                let length = (e - s).length();
                let in_shell = latest.unwrap_or(2.0) - earliest.unwrap_or(0.0);
                let grazes = in_shell * length > GRAZING;
                assert!(grazes || self.is_surface(size, hit.point, hit.normal), "{}", context());
                let stop = hit.end.as_dvec3();
                let along = (stop - s).dot(e - s) / (e - s).length_squared();
                assert!(along <= time + slack && along >= -slack, "{}", context());
                assert!(self.is_solid(size, stop) != Some(true), "{}", context());
            }
        }
        trace
    }

    /// Moves from `start` by `delta`, sliding along surfaces, and checks
    /// that no position on the path is in solid. Returns the end.
    pub(super) fn check_slide(&self, size: SizeId, start: Vec3, mut delta: Vec3) -> Vec3 {
        let mut position = start;
        for _ in 0..4 {
            let from = position;
            match self.map.find_first_transition(size, position, position + delta) {
                Trace::StartSolid => panic!(
                    "a trace from {start} ended at {from}, which is in \
                    solid"
                ),
                Trace::Clear => {
                    position += delta;
                    delta = Vec3::ZERO;
                }
                Trace::Hit(hit) => {
                    position = hit.end;
                    delta *= 1.0 - hit.time;
                    delta -= hit.normal * delta.dot(hit.normal);
                }
            }
            let solid = self.map.is_solid(size, position);
            assert!(
                !solid,
                "a trace from {from} by {delta} ended at {position}, which the tree \
                             says is in solid"
            );
            let truth = self.is_solid(size, position.as_dvec3());
            assert!(
                truth != Some(true),
                "a trace from {from} by {delta} ended at {position}, \
                which is in solid"
            );
        }
        position
    }

    /// Whether some brush has a face with this normal at the point.
    fn is_surface(&self, size: SizeId, point: Vec3, normal: Vec3) -> bool {
        let (point, normal) = (point.as_dvec3(), normal.as_dvec3());
        self.brushes[size.index()].iter().any(|brush| {
            let mut planes = brush.faces().iter().map(|f| &f.plane);
            planes.clone().all(|p| p.signed_distance(point) < NORMAL_SHELL)
                && planes.any(|p| {
                    p.normal.dot(normal) > 1.0 - 1e-5
                        && p.signed_distance(point).abs() < NORMAL_SHELL
                })
        })
    }
}

fn first_inside(
    planes: impl Iterator<Item = Plane>,
    start: DVec3,
    end: DVec3,
    margin: f64,
) -> Option<f64> {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for plane in planes {
        let (a, b) = (plane.signed_distance(start) - margin, plane.signed_distance(end) - margin);
        if a >= 0.0 && b >= 0.0 {
            return None;
        }
        if a > 0.0 {
            enter = enter.max(a / (a - b));
        } else if b > 0.0 {
            leave = leave.min(a / (a - b));
        }
    }
    (enter < leave).then_some(enter)
}
