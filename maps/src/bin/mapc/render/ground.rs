//! Floors: height as colour, slope as light, edges as lines.

use glam::{DVec2, DVec3};

use super::canvas::{Canvas, Colour, text_width};
use super::survey::{Floor, Pixel, Survey};
use super::view::View;

pub(super) const SOLID: Colour = [58, 63, 71];
pub(super) const NARROW: Colour = [214, 84, 60];
const EDGE: Colour = [32, 34, 38];
const COORDINATES: Colour = [110, 110, 110];

/// The colours of heights, from low to high.
const TINTS: [Colour; 5] =
    [[92, 120, 150], [140, 172, 176], [190, 202, 168], [236, 222, 176], [250, 244, 226]];

/// A fall of more than this, in units, is drawn as an edge. A smaller fall is a step.
const STEP: f64 = 18.0;

/// Minimum distance between grid lines, in pixels.
pub(super) const GRID: f64 = 64.0;

pub(super) fn paint(canvas: &mut Canvas, view: &View, survey: &Survey) {
    let corner = view.map_corner();
    for row in 0..view.height {
        for column in 0..view.width {
            let (x, y) =
                ((corner.x as i64) + i64::from(column), (corner.y as i64) + i64::from(row));
            match survey.at(column, row) {
                Pixel::Nothing => (),
                Pixel::Solid => canvas.blend(x, y, SOLID, 1.0),
                Pixel::Floor(floor) | Pixel::Top(floor) => {
                    let tint = tint(floor.height, survey.lowest, survey.highest);
                    canvas.blend(x, y, lit(tint, floor.normal), 1.0);
                    if floor.too_narrow {
                        // The mark is hatched, so that the height is still visible.
                        let stripe = (x + y) % 6 < 2;
                        canvas.blend(x, y, NARROW, if stripe { 0.75 } else { 0.35 });
                    }
                    canvas.blend(x, y, EDGE, edge(view, survey, column, row, &floor));
                }
            }
        }
    }
    grid(canvas, view);
}

/// The colour of a height.
pub(super) fn tint(height: f64, lowest: f64, highest: f64) -> Colour {
    let share = if highest > lowest { (height - lowest) / (highest - lowest) } else { 0.5 };
    let place = share.clamp(0.0, 1.0) * (TINTS.len() - 1) as f64;
    let below = (place as usize).min(TINTS.len() - 2);
    let part = place - below as f64;
    std::array::from_fn(|i| {
        let (a, b) = (f64::from(TINTS[below][i]), f64::from(TINTS[below + 1][i]));
        (a + (b - a) * part).round() as u8
    })
}

/// The colour of a slope that is lit from the north-west, as on maps of mountains.
fn lit(colour: Colour, normal: DVec3) -> Colour {
    let sun = DVec3::new(-1.0, 1.0, 1.6).normalize();
    let light = 1.0 + 0.7 * (normal.dot(sun) - sun.z);
    colour.map(|c| (f64::from(c) * light).clamp(0.0, 255.0).round() as u8)
}

/// Darkness of a floor's edge, by the rise to its highest neighbour.
fn edge(view: &View, survey: &Survey, column: u32, row: u32, floor: &Floor) -> f64 {
    let neighbours = [
        (column > 0).then(|| (column - 1, row)),
        (row > 0).then(|| (column, row - 1)),
        (column + 1 < view.width).then_some((column + 1, row)),
        (row + 1 < view.height).then_some((column, row + 1)),
    ];
    // A slope also rises from one pixel to the next. This rise is subtracted, because it is not an
    // edge.
    let slope = floor.normal.truncate().length() / floor.normal.z.max(0.1);
    let grade = slope * view.units_per_pixel;
    let rise = |(column, row)| match survey.at(column, row) {
        Pixel::Floor(other) => other.height - floor.height - 1.5 * grade,
        _ => 0.0,
    };
    let rise = neighbours.into_iter().flatten().map(rise).fold(0.0, f64::max);
    if rise > STEP {
        0.75
    } else if rise > 0.5 {
        0.3
    } else {
        0.0
    }
}

/// Draws lines at round coordinates, and writes the coordinates at the border.
fn grid(canvas: &mut Canvas, view: &View) {
    let step = view.round_distance(GRID);
    let corner = view.map_corner();
    let far = corner + DVec2::new(f64::from(view.width), f64::from(view.height));
    let frame = [corner, DVec2::new(far.x, corner.y), far, DVec2::new(corner.x, far.y)];
    let (low, high) = (view.world(0, view.height), view.world(view.width, 0));
    let lines = |from: f64, to: f64| {
        let first = (from / step).ceil() as i64;
        let last = (to / step).floor() as i64;
        (first..=last).map(move |i| i as f64 * step)
    };
    for x in lines(low.x, high.x) {
        let at = view.picture(DVec3::new(x, 0.0, 0.0)).x.round();
        for y in corner.y as i64..far.y as i64 {
            canvas.blend(at as i64, y, EDGE, if x == 0.0 { 0.3 } else { 0.1 });
        }
        let label = format!("{x}");
        canvas.text(DVec2::new(at - text_width(&label) * 0.5, far.y + 4.0), &label, COORDINATES);
    }
    for y in lines(low.y, high.y) {
        let at = view.picture(DVec3::new(0.0, y, 0.0)).y.round();
        for x in corner.x as i64..far.x as i64 {
            canvas.blend(x, at as i64, EDGE, if y == 0.0 { 0.3 } else { 0.1 });
        }
        let label = format!("{y}");
        let left = corner.x - text_width(&label) - 5.0;
        canvas.text(DVec2::new(left, at - 8.0), &label, COORDINATES);
    }
    canvas.outline(&frame, 1.0, COORDINATES);
}
