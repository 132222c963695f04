//! A level cut through the onion BSP, for drawings.

use glam::DVec3;
use obsp::Map;
use serde::Serialize;

/// Number of points along the longer side of a cut. On a map of 2048 units this is one point every
/// 8 units.
const POINTS: f64 = 256.0;

/// Minimum distance between the points, in units.
const SPACING: f64 = 4.0;

/// For each point at a height, how many player sizes have no room there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cut {
    /// Height of the cut, in units.
    pub height: f64,
    /// Lower corner of the cut, in units. The first point lies half a spacing inward from it along
    /// both axes.
    pub origin: [f64; 2],
    /// Distance between neighbouring points, in units.
    pub spacing: f64,
    /// The names of the sizes, in the order of `spaces.toml`.
    pub sizes: Vec<String>,
    /// The rows from the south, with a digit for each point: the number of sizes that are in solid
    /// at the point. If the sizes are nested, the largest ones are the ones in solid.
    pub rows: Vec<String>,
}

impl Cut {
    /// Cuts a map at a height, which must be finite.
    pub fn through(map: &Map, height: f64) -> Self {
        let bounds = map.bounds();
        let size = if bounds.is_empty() { DVec3::ONE } else { bounds.max - bounds.min };
        let origin = if bounds.is_empty() { DVec3::ZERO } else { bounds.min };
        let spacing = SPACING.max(size.x.max(size.y) / POINTS);
        let points = |length: f64| 0..(length / spacing).ceil() as u32;
        let digit = |x: u32, y: u32| {
            let middle = |least: f64, n: u32| least + (f64::from(n) + 0.5) * spacing;
            let at = DVec3::new(middle(origin.x, x), middle(origin.y, y), height).as_vec3();
            let solidity = map.solidity(at);
            let sizes = map.sizes().iter().filter_map(|size| map.size(&size.name));
            let solid = sizes.filter(|&size| solidity.contains(size)).count();
            char::from_digit(solid as u32, 36).unwrap_or('z')
        };
        Self {
            height,
            origin: [origin.x, origin.y],
            spacing,
            sizes: map.sizes().iter().map(|size| size.name.clone()).collect(),
            rows: points(size.y).map(|y| points(size.x).map(|x| digit(x, y)).collect()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_shows_rings_about_walls() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../maps/arena.obsp");
        let cut = Cut::through(&Map::load(path.as_ref()).unwrap(), 60.0);
        let all = cut.rows.concat();
        for sizes in 0..=cut.sizes.len() {
            let digit = char::from_digit(sizes as u32, 36).unwrap();
            assert!(all.contains(digit), "no point has {sizes} sizes in solid");
        }
        assert!(cut.rows.iter().all(|row| row.len() == cut.rows[0].len()));
        assert!(cut.rows.len() <= 256 && cut.rows[0].len() <= 256);
        // No size has room in the void around the map.
        assert!(cut.rows[0].chars().all(|digit| digit == '4'), "{}", cut.rows[0]);
    }
}
