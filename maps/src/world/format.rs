//! The `.obsp` file: magic, version, content hash, then a bincode body.

mod body;
mod shift;
mod surface;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::onion::InvalidTree;
use super::shift::InvalidShiftTree;
use super::surface::MAX_CORNERS;
use super::{World, WorldParts};
use crate::spaces::SpacesError;
use body::Body;
pub(crate) use body::MAX_FACES;

const MAGIC: [u8; 4] = *b"OBSP";
const VERSION: u32 = 3;
const HASH_AT: usize = MAGIC.len() + size_of::<u32>();
const BODY_AT: usize = HASH_AT + blake3::OUT_LEN;

/// Largest file that is read: twice the budget of the largest map.
const MAX_BYTES: usize = 128 << 20;

/// Why a file gave no world.
#[derive(Debug, Error)]
pub enum LoadError {
    /// It could not be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// What it holds is no world.
    #[error("{path}: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: FormatError,
    },
}

/// Why bytes are no world.
#[derive(Debug, Error)]
pub enum FormatError {
    /// Some other kind of file.
    #[error("this is no .obsp file; compile a .map with `mapc compile`")]
    Magic,
    /// Written by another version of the compiler.
    #[error("format version {0}, but this build reads {VERSION}; compile the .map again")]
    Version(u32),
    /// Larger than any world may be.
    #[error("larger than {MAX_BYTES} bytes")]
    TooLarge,
    /// Cut short or altered.
    #[error("the content does not match its hash: the file is damaged")]
    Damaged,
    /// The body is not of the format's form.
    #[error("malformed body: {0}")]
    Body(bincode::error::DecodeError),
    /// Bytes after the end of the body.
    #[error("{0} bytes after the end")]
    Trailing(usize),
    /// Numbers written longer than they need to be, or things twice or in
    /// another order: one world has one file.
    #[error("malformed body: not in its shortest form")]
    Form,
    /// The sizes are not valid.
    #[error("sizes: {0}")]
    Sizes(SpacesError),
    /// The onion BSP is no tree.
    #[error("onion BSP: {0}")]
    Tree(InvalidTree),
    /// Sealed for sizes that there are not.
    #[error("it is sealed for a size that it does not have")]
    Sealed,
    /// The shift tree is no tree.
    #[error("shift tree: {0}")]
    Shift(InvalidShiftTree),
    /// A polygon is no part of the solid's face that it names.
    #[error("polygon {0} lies on no face of a solid")]
    Polygon(usize),
    /// More corners than a surface may have.
    #[error("the surface has more than {MAX_CORNERS} corners")]
    Corners,
    /// A convex solid is none.
    #[error("solid {0} is no convex solid")]
    Solid(usize),
}

/// Why a world was not written.
#[derive(Debug, Error)]
#[error("cannot write {path}: {reason}")]
pub struct SaveError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub reason: io::Error,
}

pub(super) fn content_hash(parts: &WorldParts) -> [u8; 32] {
    hash(&Body::of(parts).encode())
}

fn hash(body: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&VERSION.to_le_bytes());
    hasher.update(body);
    *hasher.finalize().as_bytes()
}

pub(super) fn load(path: &Path) -> Result<World, LoadError> {
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let path_buf = || path.to_owned();
    let bytes = read().map_err(|reason| LoadError::Read { path: path_buf(), reason })?;
    from_bytes(&bytes).map_err(|reason| LoadError::Format { path: path_buf(), reason })
}

pub(super) fn from_bytes(bytes: &[u8]) -> Result<World, FormatError> {
    if bytes.len() > MAX_BYTES {
        return Err(FormatError::TooLarge);
    }
    let Some((magic, rest)) = bytes.split_first_chunk::<{ MAGIC.len() }>() else {
        return Err(FormatError::Magic);
    };
    if *magic != MAGIC {
        return Err(FormatError::Magic);
    }
    let Some((version, rest)) = rest.split_first_chunk() else { return Err(FormatError::Damaged) };
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(FormatError::Version(version));
    }
    let Some((stored, body)) = rest.split_first_chunk::<{ blake3::OUT_LEN }>() else {
        return Err(FormatError::Damaged);
    };
    if *stored != hash(body) {
        return Err(FormatError::Damaged);
    }
    // The hash keeps accidents out, not enemies: the body is checked too.
    let parts = Body::decode(body)?.into_parts()?;
    if Body::of(&parts).encode() != body {
        return Err(FormatError::Form);
    }
    Ok(World::with_hash(parts, *stored))
}

pub(super) fn to_bytes(world: &World) -> Vec<u8> {
    let body = Body::of(&world.parts).encode();
    let mut bytes = Vec::with_capacity(BODY_AT + body.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&world.hash);
    bytes.extend_from_slice(&body);
    bytes
}

pub(super) fn save(world: &World, path: &Path) -> Result<(), SaveError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = PathBuf::from(beside);
    let written =
        std::fs::write(&beside, to_bytes(world)).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|reason| {
        // Nothing is lost if the leftover cannot be removed either.
        let _ = std::fs::remove_file(&beside);
        SaveError { path: path.to_owned(), reason }
    })
}
