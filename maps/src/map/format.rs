//! The `.obsp` file: magic, version, content hash, then a bincode body and sections.
//!
//! `body` holds the parts that every map has; `shift` and `surface` are in it. `sections` holds the
//! parts that only some maps have. `list` reads sequences whose claimed length is not trusted.
//! `error` has the errors.

mod body;
mod error;
mod list;
mod sections;
mod shift;
mod surface;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::liquid::Liquid;
use super::{Map, MapParts};
use body::Body;
pub(crate) use body::MAX_FACES;
pub use error::{FormatError, LoadMapError, SaveMapError};
use error::{MAX_BYTES, VERSION};
pub(super) use sections::{Section, Sections};

const MAGIC: [u8; 4] = *b"OBSP";
const HASH_AT: usize = MAGIC.len() + size_of::<u32>();
pub(super) const BODY_AT: usize = HASH_AT + blake3::OUT_LEN;

pub(super) fn content_hash(parts: &MapParts, sections: &Sections) -> [u8; 32] {
    hash(&content(parts, &sections.liquids, &sections.unknown))
}

/// All that follows the hash: the body and the sections.
fn content(parts: &MapParts, liquids: &[Liquid], unknown: &[Section]) -> Vec<u8> {
    let mut bytes = Body::of(parts).encode();
    sections::append(liquids, unknown, &mut bytes);
    bytes
}

fn hash(content: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&VERSION.to_le_bytes());
    hasher.update(content);
    *hasher.finalize().as_bytes()
}

pub(super) fn load(path: &Path) -> Result<Map, LoadMapError> {
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let path_buf = || path.to_owned();
    let bytes = read().map_err(|reason| LoadMapError::Read { path: path_buf(), reason })?;
    from_bytes(&bytes).map_err(|reason| LoadMapError::Format { path: path_buf(), reason })
}

pub(super) fn from_bytes(bytes: &[u8]) -> Result<Map, FormatError> {
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
    let Some((stored, content)) = rest.split_first_chunk::<{ blake3::OUT_LEN }>() else {
        return Err(FormatError::Damaged);
    };
    if *stored != hash(content) {
        return Err(FormatError::Damaged);
    }
    // The hash detects accidents, not attacks, so the content is also checked.
    let (body, rest) = Body::decode(content)?;
    let (parts, sections) = (body.into_parts()?, sections::read(rest)?);
    if self::content(&parts, &sections.liquids, &sections.unknown) != content {
        return Err(FormatError::Form);
    }
    Ok(Map::with_hash(parts, sections, *stored))
}

/// The hash that is stored in the first bytes of an `.obsp` file, unchecked.
pub(super) fn hash_at_start(bytes: &[u8]) -> Option<[u8; 32]> {
    let hash = bytes.strip_prefix(&MAGIC)?.strip_prefix(&VERSION.to_le_bytes())?;
    hash.first_chunk().copied()
}

pub(super) fn to_bytes(map: &Map) -> Vec<u8> {
    let content = content(&map.parts, map.liquids(), &map.unknown);
    let mut bytes = Vec::with_capacity(BODY_AT + content.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&map.hash);
    bytes.extend_from_slice(&content);
    bytes
}

pub(super) fn save(map: &Map, path: &Path) -> Result<(), SaveMapError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = PathBuf::from(beside);
    let written =
        std::fs::write(&beside, to_bytes(map)).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|reason| {
        // If removing the file also fails, somebody has to remove it by hand.
        let _ = std::fs::remove_file(&beside);
        SaveMapError { path: path.to_owned(), reason }
    })
}
