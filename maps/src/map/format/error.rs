//! The errors of reading and writing `.obsp` files, and the limits that they state.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::map::liquid::MAX_LIQUIDS;
use crate::map::onion::InvalidTree;
use crate::map::shift::InvalidShiftTree;
use crate::map::surface::MAX_CORNERS;
use crate::spaces::SpacesError;

/// Version of the format. A change of the body increments it; a new section does not.
pub(super) const VERSION: u32 = 3;

/// Maximum length of a file that is read, in bytes: twice the budget of the largest map.
pub(super) const MAX_BYTES: usize = 128 << 20;

/// Reasons why a file cannot be loaded.
#[derive(Debug, Error)]
pub enum LoadMapError {
    /// The file could not be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// The content is not a valid map.
    #[error("{path}: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: FormatError,
    },
}

/// Reasons why bytes are not a valid map.
#[derive(Debug, Error)]
pub enum FormatError {
    /// Another kind of file.
    #[error("this is not an .obsp file; compile a .map with `mapc compile`")]
    Magic,
    /// Written by another version of the compiler.
    #[error(
        "the file has format version {0}, but this build reads {VERSION}; compile the .map again"
    )]
    Version(u32),
    /// Larger than any map may be.
    #[error("the file is larger than {MAX_BYTES} bytes")]
    TooLarge,
    /// Cut short or altered.
    #[error(
        "the content does not match its hash; the file may be cut short or altered: copy it \
         again, or compile the .map again"
    )]
    Damaged,
    /// The body could not be decoded.
    #[error("malformed body: {0}")]
    Body(bincode::error::DecodeError),
    /// Bytes after the end of the body that are no section, or after the end of a section's list.
    #[error("{0} bytes follow the end of the map")]
    Trailing(usize),
    /// A number is encoded longer than necessary, or items are repeated or in another order. One
    /// map has exactly one file.
    #[error("malformed body: it is not in the form that mapc writes; compile the .map again")]
    Form,
    /// The sizes are not valid.
    #[error("the sizes are not valid: {0}")]
    Sizes(SpacesError),
    /// The onion BSP is not a valid tree.
    #[error("the onion BSP is not valid: {0}")]
    Tree(InvalidTree),
    /// The map is sealed for a size that it does not have.
    #[error("the map is sealed for a size that it does not have")]
    Sealed,
    /// The shift tree is not a valid tree.
    #[error("the tree of the shifted planes is not valid: {0}")]
    Shift(InvalidShiftTree),
    /// A polygon is not part of the solid's face that it refers to.
    #[error("polygon {0} lies on no face of a solid")]
    Polygon(usize),
    /// More corners than a surface may have.
    #[error("the surface has more than {MAX_CORNERS} corners")]
    Corners,
    /// A solid is not convex or not closed.
    #[error("solid {0} is not a valid convex solid")]
    Solid(usize),
    /// A liquid is of no known kind, or its volume is not convex or not closed.
    #[error("liquid {0} is of no known kind, or no valid convex solid")]
    Liquid(usize),
    /// More liquids than a map may have.
    #[error("the map has {0} volumes of liquids; at most {MAX_LIQUIDS} are read")]
    Liquids(usize),
}

/// A map could not be written.
#[derive(Debug, Error)]
#[error("cannot write {path}: {reason}")]
pub struct SaveMapError {
    /// The file.
    pub path: PathBuf,
    /// The system's error.
    pub reason: io::Error,
}
