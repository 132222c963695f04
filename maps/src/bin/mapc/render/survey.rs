//! The floor that is visible in every column of the world.

use glam::{DVec3, Vec3};
use obsp::geometry::{Aabb, ConvexSolid};
use obsp::{Map, Size, SizeId};

use super::view::View;

/// Lowest gap between solids that counts as a room, in units.
const ROOM: f64 = 32.0;

/// Greatest height above a floor, in units, at which a box may find its room on that floor: Quake's
/// step.
const STEP: f64 = 18.0;

/// Number of heights above a floor that are tried, from 0 to [`STEP`].
const TRIES: u32 = 5;

/// Pixels along the longer side of the map in the search for its rooms.
const COARSE: u32 = 160;

/// The part of the world that a pixel shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pixel {
    /// No solid at all, or the filled outside.
    Nothing,
    /// Solid at the cut, or all the way down.
    Solid,
    /// A floor.
    Floor(Floor),
    /// The top of the highest solid, if there is no room below it.
    Top(Floor),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Floor {
    pub(super) height: f64,
    pub(super) normal: DVec3,
    /// The box of the requested size has no room here.
    pub(super) too_narrow: bool,
}

/// Every pixel of the map, row by row.
pub(super) struct Survey {
    width: u32,
    pixels: Vec<Pixel>,
    /// Heights of the lowest and the highest floor.
    pub(super) lowest: f64,
    pub(super) highest: f64,
}

/// The part of a vertical line within a solid, with the `normal` of the solid's top.
struct Span {
    low: f64,
    high: f64,
    normal: DVec3,
}

impl Survey {
    /// Looks down every column, from the cut if there is one. `progress` is called with
    /// every row.
    pub(super) fn take(
        map: &Map,
        view: &View,
        cut: Option<f64>,
        space: Option<SizeId>,
        progress: impl Fn(u32),
    ) -> Self {
        let space = space.map(|id| (id, &map.sizes()[id.index()]));
        let mut pixels = Vec::with_capacity((view.width * view.height) as usize);
        let mut spans = Vec::new();
        for row in 0..view.height {
            progress(row);
            for column in 0..view.width {
                let at = view.world(column, row).extend(0.0);
                collect_spans(map, at, &mut spans);
                pixels.push(look_down(map, at, &spans, cut, space));
            }
        }
        classify_tops(&mut pixels);
        let heights = pixels.iter().filter_map(|seen| match seen {
            Pixel::Floor(floor) => Some(floor.height),
            _ => None,
        });
        let (lowest, highest) = heights
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), h| (low.min(h), high.max(h)));
        Self { width: view.width, pixels, lowest, highest }
    }

    /// The part of the world that has floors, with some space around it. A brush far out is not
    /// part of the picture. A world without floors is shown whole.
    pub(super) fn frame(map: &Map, cut: Option<f64>) -> Aabb {
        let all = map.bounds();
        let coarse = View::new(&all, COARSE);
        let survey = Self::take(map, &coarse, cut, None, |_| ());
        let mut frame = Aabb::EMPTY;
        for (column, row) in (0..coarse.height).flat_map(|y| (0..coarse.width).map(move |x| (x, y)))
        {
            if let Pixel::Floor(floor) = survey.at(column, row) {
                frame = frame.with(coarse.world(column, row).extend(floor.height));
            }
        }
        if frame.is_empty() {
            return all;
        }
        let frame = frame.inflated(2.0 * coarse.units_per_pixel);
        Aabb { min: frame.min.max(all.min), max: frame.max.min(all.max) }
    }

    pub(super) fn at(&self, column: u32, row: u32) -> Pixel {
        self.pixels[(row * self.width + column) as usize]
    }
}

/// Decides whether tops are floors or solid. Under open sky a top is the ground. In a map whose
/// rooms have roofs a top is the top of a wall.
fn classify_tops(pixels: &mut [Pixel]) {
    let count = |kind: fn(&Pixel) -> bool| pixels.iter().filter(|seen| kind(seen)).count();
    let tops = count(|seen| matches!(seen, Pixel::Top(_)));
    let roofed = count(|seen| matches!(seen, Pixel::Floor(_))) > tops;
    for seen in pixels {
        if let Pixel::Top(floor) = *seen {
            *seen = if roofed { Pixel::Solid } else { Pixel::Floor(floor) };
        }
    }
}

/// Collects the spans of all solids on the vertical line through `at`, from the top down. Spans
/// that overlap are united.
fn collect_spans(map: &Map, at: DVec3, spans: &mut Vec<Span>) {
    spans.clear();
    let all = map.bounds();
    let line = Aabb { min: at.with_z(all.min.z), max: at.with_z(all.max.z) };
    map.solids_touching(&line, |index| {
        spans.extend(span(&map.solids()[index as usize], at));
    });
    spans.sort_by(|a, b| b.high.total_cmp(&a.high));
    spans.dedup_by(|lower, upper| {
        let joined = lower.high >= upper.low;
        if joined {
            upper.low = upper.low.min(lower.low);
        }
        joined
    });
}

fn span(solid: &ConvexSolid, at: DVec3) -> Option<Span> {
    let mut span = Span { low: f64::NEG_INFINITY, high: f64::INFINITY, normal: DVec3::Z };
    for face in solid.faces() {
        let plane = face.plane;
        let distance = plane.signed_distance(at.with_z(0.0));
        if plane.normal.z.abs() < 1e-9 {
            if distance > 0.0 {
                return None;
            }
            continue;
        }
        let height = -distance / plane.normal.z;
        if plane.normal.z > 0.0 {
            if height < span.high {
                (span.high, span.normal) = (height, plane.normal);
            }
        } else {
            span.low = span.low.max(height);
        }
    }
    (span.low < span.high).then_some(span)
}

fn look_down(
    map: &Map,
    at: DVec3,
    spans: &[Span],
    cut: Option<f64>,
    space: Option<(SizeId, &Size)>,
) -> Pixel {
    if spans.is_empty() {
        return Pixel::Nothing;
    }
    if let Some(cut) = cut {
        let Some(below) = spans.iter().find(|span| span.low < cut) else { return Pixel::Nothing };
        if below.high > cut {
            return Pixel::Solid;
        }
        if is_outside(map, at.with_z(cut)) {
            return Pixel::Nothing;
        }
        // The centre of the box is at the cut.
        let blocked = |(id, _)| map.is_solid(id, at.with_z(cut).as_vec3());
        return Pixel::Floor(floor(below, space.is_some_and(blocked)));
    }
    // Search the floor below a roof if there is one, otherwise below the sky.
    let under_roof = spans.windows(2).find(|pair| {
        let (roof, ground) = (pair[0].low, pair[1].high);
        roof - ground >= ROOM && !is_outside(map, at.with_z(0.5 * (roof + ground)))
    });
    let floor = |ground: &Span| {
        let narrow = |(id, size)| !has_room(map, at, ground.high, id, size);
        floor(ground, space.is_some_and(narrow))
    };
    match under_roof {
        Some(pair) => Pixel::Floor(floor(&pair[1])),
        None if is_outside(map, at.with_z(spans[0].high + 1.0)) => Pixel::Solid,
        None => Pixel::Top(floor(&spans[0])),
    }
}

fn floor(span: &Span, too_narrow: bool) -> Floor {
    Floor { height: span.high, normal: span.normal, too_narrow }
}

/// Whether a place is solid for the bare point. Everything outside a sealed map is solid, although
/// no brush is there.
fn is_outside(map: &Map, at: DVec3) -> bool {
    let point = map.sizes().iter().find(|size| size.is_point());
    let point = point.and_then(|size| map.size(&size.name));
    point.is_some_and(|point| map.is_solid(point, at.as_vec3()))
}

/// Whether a box has room on the floor at this place.
fn has_room(map: &Map, at: DVec3, floor: f64, id: SizeId, size: &Size) -> bool {
    let lowest = floor + f64::from(size.half_extents.z) + 0.1;
    (0..TRIES).any(|i| {
        let rise = STEP * f64::from(i) / f64::from(TRIES - 1);
        let centre: Vec3 = at.with_z(lowest + rise).as_vec3();
        !map.is_solid(id, centre)
    })
}
