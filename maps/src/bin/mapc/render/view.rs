use glam::{DVec2, DVec3};
use obsp::geometry::Aabb;

/// Margin in pixels: around the map for the coordinates, and beside the map for the legend.
const MARGIN: u32 = 44;
const LEGEND: u32 = 270;

/// Minimum height of the picture, in pixels, so that the legend fits.
const LEAST_HEIGHT: u32 = 600;

/// Space around the map that is also shown, as a fraction of its size.
const AROUND: f64 = 0.02;

/// The part of the world that is shown, and its position in the picture. North, +y, is
/// up.
pub(super) struct View {
    /// World coordinates of the upper left corner of the map.
    corner: DVec2,
    pub(super) units_per_pixel: f64,
    /// Size of the map in pixels.
    pub(super) width: u32,
    pub(super) height: u32,
}

impl View {
    pub(super) fn new(bounds: &Aabb, longer_side: u32) -> Self {
        let extent = (bounds.max - bounds.min).truncate();
        let around = extent.max_element().max(1.0) * AROUND;
        let shown = extent + 2.0 * around;
        let units_per_pixel = shown.max_element() / f64::from(longer_side);
        let pixels = |units: f64| ((units / units_per_pixel).ceil() as u32).max(1);
        let corner = DVec2::new(bounds.min.x - around, bounds.max.y + around);
        Self { corner, units_per_pixel, width: pixels(shown.x), height: pixels(shown.y) }
    }

    pub(super) fn picture_width(&self) -> u32 {
        self.width + 2 * MARGIN + LEGEND
    }

    pub(super) fn picture_height(&self) -> u32 {
        (self.height + 2 * MARGIN).max(LEAST_HEIGHT)
    }

    /// The left edge of the legend.
    pub(super) fn legend_left(&self) -> f64 {
        f64::from(self.width + 2 * MARGIN)
    }

    /// Upper left corner of the map in the picture.
    pub(super) fn map_corner(&self) -> DVec2 {
        DVec2::splat(f64::from(MARGIN))
    }

    /// World x and y of the middle of a pixel of the map.
    pub(super) fn world(&self, column: u32, row: u32) -> DVec2 {
        let pixel = DVec2::new(f64::from(column) + 0.5, -(f64::from(row) + 0.5));
        self.corner + pixel * self.units_per_pixel
    }

    /// The position in the picture of a point of the world.
    pub(super) fn picture(&self, place: DVec3) -> DVec2 {
        let offset = (place.truncate() - self.corner) / self.units_per_pixel;
        self.map_corner() + DVec2::new(offset.x, -offset.y)
    }

    pub(super) fn pixels(&self, units: f64) -> f64 {
        units / self.units_per_pixel
    }

    /// A round distance in units that is at least `pixels` long.
    pub(super) fn round_distance(&self, pixels: f64) -> f64 {
        let mut distance = 16.0;
        while self.pixels(distance) < pixels {
            distance *= 2.0;
        }
        distance
    }
}
