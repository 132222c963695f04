//! The picture: pixels, lines, polygons and text.

use glam::DVec2;
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// Red, green, blue.
pub(super) type Colour = [u8; 3];

const PAPER: Colour = [250, 249, 246];

/// Height of letters and distance between lines, in pixels.
const LETTERS: RasterHeight = RasterHeight::Size16;
pub(super) const LINE: f64 = 20.0;

/// A picture. Coordinates are in pixels from the upper left
/// corner; parts beyond the edge are not drawn.
pub(super) struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<Colour>,
}

impl Canvas {
    pub(super) fn new(width: u32, height: u32) -> Self {
        Self { width, height, pixels: vec![PAPER; width as usize * height as usize] }
    }

    pub(super) fn width(&self) -> u32 {
        self.width
    }

    pub(super) fn height(&self) -> u32 {
        self.height
    }

    /// The picture, row by row, three bytes a pixel.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.pixels.iter().flatten().copied().collect()
    }

    /// Blends a pixel with a colour by `alpha`, from 0 to 1.
    pub(super) fn blend(&mut self, x: i64, y: i64, colour: Colour, alpha: f64) {
        let inside =
            (0..i64::from(self.width)).contains(&x) && (0..i64::from(self.height)).contains(&y);
        if !inside || alpha <= 0.0 {
            return;
        }
        let pixel = &mut self.pixels[(y * i64::from(self.width) + x) as usize];
        for (old, new) in pixel.iter_mut().zip(colour) {
            let mixed = f64::from(*old) + (f64::from(new) - f64::from(*old)) * alpha.min(1.0);
            *old = mixed.round() as u8;
        }
    }

    pub(super) fn rectangle(&mut self, from: DVec2, to: DVec2, colour: Colour, alpha: f64) {
        let corners = [from, DVec2::new(to.x, from.y), to, DVec2::new(from.x, to.y)];
        self.polygon(&corners, colour, alpha);
    }

    /// Draws a line with round ends.
    pub(super) fn line(&mut self, from: DVec2, to: DVec2, width: f64, colour: Colour) {
        let along = to - from;
        self.shade(
            from.min(to) - width,
            from.max(to) + width,
            |p| {
                let t = if along == DVec2::ZERO {
                    0.0
                } else {
                    ((p - from).dot(along) / along.length_squared()).clamp(0.0, 1.0)
                };
                width * 0.5 - p.distance(from + along * t)
            },
            colour,
            1.0,
        );
    }

    pub(super) fn dashes(&mut self, from: DVec2, to: DVec2, width: f64, colour: Colour) {
        let (length, dash) = (from.distance(to), 4.0 * width);
        let count = (length / (2.0 * dash)).ceil().max(1.0) as u32;
        for i in 0..count {
            let start = f64::from(i) * 2.0 * dash;
            let at = |d: f64| from.lerp(to, (d / length).min(1.0));
            self.line(at(start), at(start + dash), width, colour);
        }
    }

    /// Draws a line with an arrowhead at its end.
    pub(super) fn arrow(&mut self, from: DVec2, to: DVec2, width: f64, colour: Colour) {
        self.line(from, to, width, colour);
        let back = (from - to).normalize_or_zero() * (3.0 * width);
        for side in [back.rotate(DVec2::from_angle(0.5)), back.rotate(DVec2::from_angle(-0.5))] {
            self.line(to, to + side, width, colour);
        }
    }

    pub(super) fn disc(&mut self, centre: DVec2, radius: f64, colour: Colour) {
        self.shade(
            centre - radius - 1.0,
            centre + radius + 1.0,
            |p| radius - p.distance(centre),
            colour,
            1.0,
        );
    }

    /// Fills a convex polygon. Its corners may run in either direction.
    pub(super) fn polygon(&mut self, corners: &[DVec2], colour: Colour, alpha: f64) {
        let low = corners.iter().copied().fold(DVec2::INFINITY, DVec2::min);
        let high = corners.iter().copied().fold(DVec2::NEG_INFINITY, DVec2::max);
        let turn: f64 = edges(corners).map(|(a, b)| a.perp_dot(b)).sum();
        self.shade(
            low - 1.0,
            high + 1.0,
            |p| {
                let inside = edges(corners).map(|(a, b)| {
                    turn.signum() * (b - a).perp_dot(p - a) / (b - a).length().max(1e-9)
                });
                inside.fold(f64::INFINITY, f64::min)
            },
            colour,
            alpha,
        );
    }

    pub(super) fn outline(&mut self, corners: &[DVec2], width: f64, colour: Colour) {
        for (a, b) in edges(corners) {
            self.line(a, b, width, colour);
        }
    }

    /// Blends the pixels between two corners by their coverage.
    fn shade(
        &mut self,
        low: DVec2,
        high: DVec2,
        inside: impl Fn(DVec2) -> f64,
        colour: Colour,
        alpha: f64,
    ) {
        let limit = DVec2::new(f64::from(self.width), f64::from(self.height));
        let (low, high) = (low.floor().max(DVec2::ZERO), high.ceil().min(limit));
        for y in low.y as i64..high.y as i64 {
            for x in low.x as i64..high.x as i64 {
                let covered = inside(DVec2::new(x as f64 + 0.5, y as f64 + 0.5)) + 0.5;
                self.blend(x, y, colour, covered.clamp(0.0, 1.0) * alpha);
            }
        }
    }

    /// Draws text. The upper left corner of its first letter is at `at`.
    pub(super) fn text(&mut self, at: DVec2, text: &str, colour: Colour) {
        let mut left = at.x.round() as i64;
        let top = at.y.round() as i64;
        for letter in text.chars() {
            let raster = get_raster(letter, FontWeight::Regular, LETTERS)
                .or_else(|| get_raster('?', FontWeight::Regular, LETTERS));
            if let Some(raster) = raster {
                for (y, row) in (top..).zip(raster.rows()) {
                    for (x, &covered) in (left..).zip(row.iter()) {
                        self.blend(x, y, colour, f64::from(covered) / 255.0);
                    }
                }
            }
            left += letter_width() as i64;
        }
    }
}

/// Width in pixels of a text.
pub(super) fn text_width(text: &str) -> f64 {
    (text.chars().count() * letter_width()) as f64
}

fn letter_width() -> usize {
    get_raster_width(FontWeight::Regular, LETTERS)
}

fn edges(corners: &[DVec2]) -> impl Iterator<Item = (DVec2, DVec2)> {
    (0..corners.len()).map(|i| (corners[i], corners[(i + 1) % corners.len()]))
}
