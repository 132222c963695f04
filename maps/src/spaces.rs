//! The sizes (configuration spaces) for which a map is compiled.

use std::path::{Path, PathBuf};

use glam::Vec3;
use serde::Deserialize;
use thiserror::Error;

/// The sizes if no other file is given.
const DEFAULT: &str = include_str!("../spaces.toml");

/// Maximum number of sizes per map. A leaf has one bit for each size, inside a 32-bit child index
/// whose highest bit marks a leaf.
pub const MAX_SIZES: usize = 31;

/// Maximum length of the name of a size, in bytes.
const MAX_NAME: usize = 64;

/// Largest half extent, in units. A larger body would fit into no level. The limit also keeps
/// expanded coordinates inside the universe.
const MAX_HALF_EXTENT: f32 = 4096.0;

/// One box that moves through the world, given about its centre.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// The name of the size in `spaces.toml` and on command lines.
    pub name: String,
    /// Half of the box's sides, in units, none negative.
    pub half_extents: Vec3,
}

impl Size {
    /// Whether this is the bare point, for which Quake's clip brushes are not
    /// solid.
    pub fn is_point(&self) -> bool {
        self.half_extents == Vec3::ZERO
    }
}

/// Identifies a size of a map in queries; see
/// [`Map::size`](crate::Map::size).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeId(u8);

impl SizeId {
    /// The size at this position of [`Map::sizes`](crate::Map::sizes).
    pub(crate) fn from_index(index: usize) -> Self {
        debug_assert!(index < MAX_SIZES);
        Self(index as u8)
    }

    /// Position in [`Map::sizes`](crate::Map::sizes).
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A checked list of sizes: at least one, uniquely named, finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Spaces(Vec<Size>);

/// Reasons why a list of sizes is rejected.
#[derive(Debug, Error)]
pub enum SpacesError {
    /// The file could not be read.
    #[error("cannot read {path}: {reason}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: std::io::Error,
    },
    /// Not TOML, or not of this form.
    #[error("not a list of sizes: {0}")]
    Syntax(toml::de::Error),
    /// The list is empty or too long.
    #[error("the list has {0} sizes; it must have from 1 to {MAX_SIZES}")]
    Count(usize),
    /// A name is empty or too long.
    #[error("the name {0:?} of a size must have from 1 to {MAX_NAME} bytes")]
    Name(String),
    /// Two sizes share a name.
    #[error("two sizes have the name {0:?}")]
    Repeated(String),
    /// A half extent is negative, not finite or too large.
    #[error("the half extents of size {0:?} must be from 0 to {MAX_HALF_EXTENT} units")]
    HalfExtents(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    size: Vec<Size>,
}

impl Spaces {
    /// Checks a list of sizes.
    ///
    /// # Errors
    /// [`SpacesError`] names the size that is wrong.
    pub fn new(sizes: Vec<Size>) -> Result<Self, SpacesError> {
        if sizes.is_empty() || sizes.len() > MAX_SIZES {
            return Err(SpacesError::Count(sizes.len()));
        }
        for (i, size) in sizes.iter().enumerate() {
            let name = || size.name.clone();
            if size.name.is_empty() || size.name.len() > MAX_NAME {
                return Err(SpacesError::Name(name()));
            }
            if sizes[..i].iter().any(|other| other.name == size.name) {
                return Err(SpacesError::Repeated(name()));
            }
            let fits = |e: f32| (0.0..=MAX_HALF_EXTENT).contains(&e);
            if !size.half_extents.to_array().into_iter().all(fits) {
                return Err(SpacesError::HalfExtents(name()));
            }
        }
        Ok(Self(sizes))
    }

    /// Reads a text in the form of `maps/spaces.toml`.
    ///
    /// ```
    /// use obsp::Spaces;
    ///
    /// let spaces = Spaces::parse("[[size]]\nname = \"crate\"\nhalf_extents = [8, 8, 8]\n")?;
    /// let size = spaces.find("crate").expect("the size is in the list");
    /// assert_eq!(spaces.sizes()[size.index()].half_extents.z, 8.0);
    /// # Ok::<(), obsp::SpacesError>(())
    /// ```
    ///
    /// # Errors
    /// [`SpacesError`] if the text is not a valid list.
    pub fn parse(text: &str) -> Result<Self, SpacesError> {
        Self::new(toml::from_str::<File>(text).map_err(SpacesError::Syntax)?.size)
    }

    /// Reads a file in the form of `maps/spaces.toml`.
    ///
    /// # Errors
    /// [`SpacesError`] if the file cannot be read, or is not a valid list.
    pub fn load(path: &Path) -> Result<Self, SpacesError> {
        let text = crate::text::read(path)
            .map_err(|reason| SpacesError::Io { path: path.to_owned(), reason })?;
        Self::parse(&text)
    }

    /// The sizes, in the order of their ids.
    pub fn sizes(&self) -> &[Size] {
        &self.0
    }

    /// The size with this name.
    pub fn find(&self, name: &str) -> Option<SizeId> {
        self.0.iter().position(|s| s.name == name).map(SizeId::from_index)
    }

    /// Every size with its id, in order.
    pub fn iter(&self) -> impl Iterator<Item = (SizeId, &Size)> {
        self.0.iter().enumerate().map(|(i, size)| (SizeId::from_index(i), size))
    }
}

impl Default for Spaces {
    /// The sizes of `maps/spaces.toml`.
    fn default() -> Self {
        Self::parse(DEFAULT).expect("the embedded spaces.toml is tested")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_has_four_sizes() {
        let spaces = Spaces::default();
        let names: Vec<&str> = spaces.sizes().iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["point", "crouching", "standing", "large"]);
        let standing = spaces.find("standing").expect("the embedded list has the size");
        assert_eq!(spaces.sizes()[standing.index()].half_extents, Vec3::new(16.0, 16.0, 28.0));
        assert!(spaces.sizes()[0].is_point());
    }

    #[test]
    fn invalid_lists_are_rejected_by_name() {
        let size = |name: &str, x: f32| Size { name: name.into(), half_extents: Vec3::splat(x) };
        assert!(matches!(Spaces::new(vec![]), Err(SpacesError::Count(0))));
        assert!(matches!(Spaces::new(vec![size("a", 1.0); 32]), Err(SpacesError::Count(32))));
        let twice = Spaces::new(vec![size("a", 1.0), size("a", 2.0)]);
        assert!(matches!(twice, Err(SpacesError::Repeated(name)) if name == "a"));
        let named = |length: usize| Spaces::new(vec![size(&"n".repeat(length), 1.0)]);
        assert!(named(MAX_NAME).is_ok());
        assert!(matches!(named(MAX_NAME + 1), Err(SpacesError::Name(_))));
        let many = |count: usize| {
            Spaces::new((0..count).map(|i| size(&i.to_string(), i as f32)).collect())
        };
        assert!(many(MAX_SIZES).is_ok() && many(MAX_SIZES + 1).is_err());
        assert!(Spaces::new(vec![size("a", MAX_HALF_EXTENT)]).is_ok());
        for x in [-1.0, MAX_HALF_EXTENT.next_up(), f32::NAN, f32::INFINITY] {
            assert!(matches!(Spaces::new(vec![size("a", x)]), Err(SpacesError::HalfExtents(_))));
        }
        assert!(Spaces::parse("size = 3").is_err());
    }
}
