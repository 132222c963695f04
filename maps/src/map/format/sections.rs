//! The sections that follow the body of an `.obsp` file.
//!
//! A section is a tag of four capital letters, the version of its content, the length of its
//! content, and the content. Tags are in ascending order. A reader that does not know a tag, or its
//! version, skips the section and keeps its bytes, so that it writes the same file as it read. A
//! map without content for a section lacks the section.

use bincode::{BorrowDecode, Encode};

use super::body::{SolidRecord, decode, encode};
use super::error::FormatError;
use super::list::List;
use crate::map::liquid::{Liquid, LiquidKind, MAX_LIQUIDS};

const TAG: usize = 4;
const NUMBER: usize = size_of::<u32>();
/// Length of the part before the content.
const HEADER: usize = TAG + 2 * NUMBER;

const LIQUIDS: [u8; TAG] = *b"LIQD";
const LIQUIDS_VERSION: u32 = 1;

/// A section as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::map) struct Section {
    tag: [u8; TAG],
    version: u32,
    content: Vec<u8>,
}

/// The content of all sections.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::map) struct Sections {
    pub(in crate::map) liquids: Vec<Liquid>,
    /// The sections that this reader does not know.
    pub(in crate::map) unknown: Vec<Section>,
}

#[derive(Encode, BorrowDecode)]
struct LiquidRecord {
    kind: u8,
    solid: SolidRecord,
}

impl Section {
    /// The first section of `bytes`, and the bytes after it. `None` if no section is there.
    fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (tag, rest) = bytes.split_first_chunk::<TAG>()?;
        let (version, rest) = rest.split_first_chunk::<NUMBER>()?;
        let (length, rest) = rest.split_first_chunk::<NUMBER>()?;
        if !tag.iter().all(u8::is_ascii_uppercase) {
            return None;
        }
        let length = u32::from_le_bytes(*length) as usize;
        let (content, rest) = rest.split_at_checked(length)?;
        let version = u32::from_le_bytes(*version);
        Some((Self { tag: *tag, version, content: content.to_vec() }, rest))
    }

    fn append_to(&self, bytes: &mut Vec<u8>) {
        bytes.reserve(HEADER + self.content.len());
        bytes.extend_from_slice(&self.tag);
        bytes.extend_from_slice(&self.version.to_le_bytes());
        // If the length does not fit, the file is too long, and every reader refuses it.
        bytes.extend_from_slice(&(self.content.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.content);
    }
}

/// The bytes of all sections, in the order of their tags.
pub(super) fn append(liquids: &[Liquid], unknown: &[Section], bytes: &mut Vec<u8>) {
    let mut sections: Vec<Section> = unknown.to_vec();
    if !liquids.is_empty() {
        let record = |liquid: &Liquid| LiquidRecord {
            kind: liquid.kind().code(),
            solid: SolidRecord::of(liquid.solid()),
        };
        let content = encode(&List(liquids.iter().map(record).collect()));
        sections.push(Section { tag: LIQUIDS, version: LIQUIDS_VERSION, content });
    }
    sections.sort_by_key(|section| section.tag);
    sections.iter().for_each(|section| section.append_to(bytes));
}

/// The sections of the bytes that follow a body.
pub(super) fn read(mut bytes: &[u8]) -> Result<Sections, FormatError> {
    let mut sections = Sections::default();
    let mut last = None;
    while !bytes.is_empty() {
        let Some((section, rest)) = Section::split(bytes) else {
            return Err(FormatError::Trailing(bytes.len()));
        };
        if last >= Some(section.tag) {
            return Err(FormatError::Form);
        }
        (last, bytes) = (Some(section.tag), rest);
        if (section.tag, section.version) == (LIQUIDS, LIQUIDS_VERSION) {
            sections.liquids = liquids(&section.content)?;
        } else {
            sections.unknown.push(section);
        }
    }
    Ok(sections)
}

fn liquids(content: &[u8]) -> Result<Vec<Liquid>, FormatError> {
    let (records, rest): (List<LiquidRecord>, _) = decode(content)?;
    if !rest.is_empty() {
        return Err(FormatError::Trailing(rest.len()));
    }
    if records.0.is_empty() {
        return Err(FormatError::Form);
    }
    if records.0.len() > MAX_LIQUIDS {
        return Err(FormatError::Liquids(records.0.len()));
    }
    let liquid = |(index, record): (usize, LiquidRecord)| {
        let kind = LiquidKind::of_code(record.kind);
        let solid = record.solid.into_solid();
        kind.zip(solid)
            .map(|(kind, solid)| Liquid::new(kind, solid))
            .ok_or(FormatError::Liquid(index))
    };
    records.0.into_iter().enumerate().map(liquid).collect()
}
