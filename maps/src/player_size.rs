//! The size of players on foot, which the table `[player]` of a `game.toml` sets. Maps are compiled
//! for this size and contain it, so servers and clients read it from the map.

use std::fmt;

use glam::Vec3;
use serde::Deserialize;
use toml::Spanned;

use crate::game_file_error::GameFileError;
use crate::spaces::{Size, Spaces, SpacesError};

/// The names of the sizes of `spaces.toml` that players have.
const STANDING: &str = "standing";
const CROUCHING: &str = "crouching";

/// The size of players on foot, in units.
///
/// ```
/// use obsp::{PlayerSize, Spaces};
///
/// let small = PlayerSize::parse("[player]\nheight = 40\ncrouched_height = 20")?;
/// let small = small.expect("the text asks for a size");
/// assert_eq!((small.width, small.height), (32.0, 40.0));
/// let spaces = Spaces::default().with_players(&small)?;
/// assert_eq!(PlayerSize::among(spaces.sizes()), Some(small));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerSize {
    /// Length of the sides of the box, seen from above.
    pub width: f32,
    /// Height of a player who stands.
    pub height: f32,
    /// Height of a player who crouches.
    pub crouched_height: f32,
}

impl Default for PlayerSize {
    /// The box of Quake's player, which fits into a tunnel 40 units high when crouched.
    fn default() -> Self {
        Self { width: 32.0, height: 56.0, crouched_height: 36.0 }
    }
}

/// The part of a `game.toml` that the map compiler needs. The game checks the other parts.
#[derive(Deserialize)]
struct File {
    player: Option<RawPlayer>,
}

/// The table `[player]` before its values are checked.
#[derive(Deserialize)]
struct RawPlayer {
    width: Option<Spanned<f64>>,
    height: Option<Spanned<f64>>,
    crouched_height: Option<Spanned<f64>>,
}

impl PlayerSize {
    /// The keys of `[player]` that set a size, each with its range in units. The greatest width is
    /// the width of the size `large`.
    pub const RANGES: [(&str, f64, f64); 3] =
        [("width", 8.0, 64.0), ("height", 16.0, 96.0), ("crouched_height", 16.0, 96.0)];

    /// The size that the text of a `game.toml` sets. A key that is left out has its default. `None`
    /// if all these keys are left out.
    ///
    /// # Errors
    /// [`GameFileError`] with the place in the text if it is not TOML, or if a size is out of its
    /// range.
    pub fn parse(text: &str) -> Result<Option<Self>, GameFileError> {
        let file: File = toml::from_str(text).map_err(|error| GameFileError::of(text, &error))?;
        let Some(raw) = file.player else { return Ok(None) };
        let keys = [&raw.width, &raw.height, &raw.crouched_height];
        let Some(last) = keys.into_iter().flatten().map(|key| key.span().start).max() else {
            return Ok(None);
        };
        let usual = Self::default();
        let mut numbers = [usual.width, usual.height, usual.crouched_height];
        for ((number, key), (name, least, most)) in numbers.iter_mut().zip(keys).zip(Self::RANGES) {
            let Some(key) = key else { continue };
            let value = *key.get_ref();
            // NaN is in no range.
            if !(least..=most).contains(&value) {
                let message = format!("{name} is {value}, not between {least} and {most}");
                return Err(GameFileError::at(text, key.span().start, message));
            }
            *number = value as f32;
        }
        let [width, height, crouched_height] = numbers;
        if crouched_height > height {
            let message = format!(
                "crouched_height is {crouched_height}, more than the height, {height}; write a smaller one"
            );
            return Err(GameFileError::at(text, last, message));
        }
        Ok(Some(Self { width, height, crouched_height }))
    }

    /// The size of players in a map that was compiled for these sizes. `None` if `standing` or
    /// `crouching` is missing, or if no `game.toml` can set these two boxes: a player is as wide as
    /// deep, and keeps this width when crouching.
    pub fn among(sizes: &[Size]) -> Option<Self> {
        let half = |name| sizes.iter().find(|size| size.name == name).map(|size| size.half_extents);
        let (standing, crouching) = (half(STANDING)?, half(CROUCHING)?);
        let is_upright = standing.x == standing.y && standing.truncate() == crouching.truncate();
        let [width, height, crouched_height] =
            [standing.x, standing.z, crouching.z].map(|e| 2.0 * e);
        is_upright.then_some(Self { width, height, crouched_height })
    }
}

impl fmt::Display for PlayerSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, height, crouched_height } = self;
        write!(f, "{width} wide, {height} high and {crouched_height} crouched")
    }
}

impl Spaces {
    /// These sizes, with `standing` and `crouching` set for players of this size.
    ///
    /// # Errors
    /// [`SpacesError`] if the result has too many sizes, or if one is out of range.
    pub fn with_players(&self, size: &PlayerSize) -> Result<Self, SpacesError> {
        let mut sizes = self.sizes().to_vec();
        for (name, height) in [(STANDING, size.height), (CROUCHING, size.crouched_height)] {
            let half_extents = Vec3::new(size.width, size.width, height) / 2.0;
            match sizes.iter_mut().find(|known| known.name == name) {
                Some(known) => known.half_extents = half_extents,
                None => sizes.push(Size { name: name.into(), half_extents }),
            }
        }
        Self::new(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_size_is_that_of_spaces_toml() {
        let usual = Spaces::default();
        assert_eq!(PlayerSize::among(usual.sizes()), Some(PlayerSize::default()));
        assert_eq!(usual.with_players(&PlayerSize::default()).unwrap(), usual);
        assert_eq!(PlayerSize::parse("[player]\nwidth = 32").unwrap(), Some(PlayerSize::default()));
        for text in ["", "[player]\nhealth = 5", "[movement]\nwidth = 3"] {
            assert_eq!(PlayerSize::parse(text).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn fields_left_out_have_their_defaults_and_other_sizes_stay() {
        let size = PlayerSize::parse("[player]\nwidth = 20.5\nheight = 40").unwrap().unwrap();
        assert_eq!(size, PlayerSize { width: 20.5, height: 40.0, crouched_height: 36.0 });
        let spaces = Spaces::default().with_players(&size).unwrap();
        let names: Vec<&str> = spaces.sizes().iter().map(|size| size.name.as_str()).collect();
        assert_eq!(names, ["point", "crouching", "standing", "large"]);
        assert_eq!(spaces.sizes()[2].half_extents, Vec3::new(10.25, 10.25, 20.0));
        let bare = Spaces::new(vec![spaces.sizes()[0].clone()]).unwrap();
        assert_eq!(PlayerSize::among(bare.sizes()), None);
        let bare = bare.with_players(&size).unwrap();
        assert_eq!(PlayerSize::among(bare.sizes()), Some(size));
    }

    #[test]
    fn a_size_that_cannot_be_is_told_with_its_place() {
        for (keys, expected) in [
            ("width = 7", "line 2, column 9: width is 7, not between 8 and 64"),
            ("height = 1e9", "line 2, column 10: height is 1000000000, not between 16 and 96"),
            ("height =  nan", "line 2, column 11: height is NaN, not between 16 and 96"),
            ("crouched_height = 0", "line 2, column 19: crouched_height is 0, not between 16"),
            ("height = 20", "line 2, column 10: crouched_height is 36, more than the height, 20"),
            (
                "crouched_height = 60",
                "line 2, column 19: crouched_height is 60, more than the height, 56",
            ),
            ("width = 'wide'", "line 2, column 9: "),
        ] {
            let found = PlayerSize::parse(&format!("[player]\n{keys}")).unwrap_err().to_string();
            assert!(found.starts_with(expected), "{found} instead of {expected}");
        }
    }
}
