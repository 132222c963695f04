use glam::DVec3;

use crate::geometry::ConvexSolid;

/// One entity of the source map. A brush entity that is not part of the static world, such as a
/// trigger or a door, also has its own brushes.
///
/// ```
/// # let map = obsp::Map::load(std::path::Path::new("arena.obsp"))?;
/// let spawns = map.entities().iter().filter(|e| e.classname() == "info_player_deathmatch");
/// for spawn in spawns {
///     assert!(spawn.origin().is_some() && spawn.get("origin").is_some());
///     assert!(spawn.solids().is_empty(), "it is a point entity");
/// }
/// # Ok::<(), obsp::LoadMapError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Default)]
pub struct MapEntity {
    pub(crate) pairs: Vec<(String, String)>,
    pub(crate) solids: Vec<ConvexSolid>,
}

impl MapEntity {
    /// The keys and values, in the order of the source.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// The value of `key`. If a key is repeated, the last value counts, as in Quake.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// The value of `classname`, or the empty string if there is none.
    pub fn classname(&self) -> &str {
        self.get("classname").unwrap_or("")
    }

    /// The value of `origin`, if it is three finite numbers.
    pub fn origin(&self) -> Option<DVec3> {
        let mut numbers = self.get("origin")?.split_ascii_whitespace().map(str::parse::<f64>);
        let mut next = || numbers.next()?.ok();
        let origin = DVec3::new(next()?, next()?, next()?);
        (numbers.next().is_none() && origin.is_finite()).then_some(origin)
    }

    /// Yaw in radians, counter-clockwise from +x, from the key `angle` (which is in degrees).
    /// `None` if the key is missing, or if it has one of Quake's special values for straight up
    /// (-1) and straight down (-2).
    pub fn angle(&self) -> Option<f64> {
        let degrees: f64 = self.get("angle")?.trim().parse().ok()?;
        let special = degrees == -1.0 || degrees == -2.0;
        (degrees.is_finite() && !special).then(|| degrees.to_radians())
    }

    /// The entity's own brushes, which are not part of the static world.
    pub fn solids(&self) -> &[ConvexSolid] {
        &self.solids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(key: &str, value: &str) -> MapEntity {
        MapEntity { pairs: vec![(key.into(), value.into())], solids: vec![] }
    }

    #[test]
    fn keys_are_read_as_quake_reads_them() {
        assert_eq!(entity("origin", "1 -2.5 3").origin(), Some(DVec3::new(1.0, -2.5, 3.0)));
        for bad in ["1 2", "1 2 3 4", "1 2 x", "1 2 inf", ""] {
            assert_eq!(entity("origin", bad).origin(), None, "{bad:?}");
        }
        assert_eq!(entity("angle", "180").angle(), Some(std::f64::consts::PI));
        assert_eq!(entity("angle", "-1").angle(), None);
        assert_eq!(entity("light", "1").classname(), "");
    }
}
