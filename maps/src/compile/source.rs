//! The text of a map, and its parts as written.
//!
//! `forms` rewrites brushes into the form that the parser reads and takes out curves,
//! which `curves` turns into brushes; `tokens` splits text into words; `map` is the result.

mod curves;
mod forms;
pub(super) mod map;
mod tokens;

use std::path::{Path, PathBuf};

use glam::DVec3;
use quake_map::TextParseError;

use super::error::CompileError;
pub use curves::CURVE_BOUND;
use curves::MAX_CURVE_SOLIDS;
use map::{SourceBrush, SourceEntity, SourceFace, SourceMap};
use tokens::tokens;

/// Largest source that is read: ten times the largest known map.
const MAX_BYTES: u64 = 64 << 20;

/// The text of a map and its origin.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    path: PathBuf,
    text: Vec<u8>,
}

impl Source {
    /// Reads a `.map` file; the world is named after it.
    ///
    /// # Errors
    /// [`CompileError::Read`] if it cannot be read or is too large.
    pub fn read(path: &Path) -> Result<Self, CompileError> {
        let failed = |reason| CompileError::Read { path: path.to_owned(), reason };
        let length = std::fs::metadata(path).map_err(failed)?.len();
        if length > MAX_BYTES {
            return Err(failed(std::io::Error::other(format!("larger than {MAX_BYTES} bytes"))));
        }
        let text = std::fs::read(path).map_err(failed)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, path: path.to_owned(), text })
    }

    /// A map with this text; messages refer to it by `name`.
    pub fn from_text(name: &str, text: impl Into<Vec<u8>>) -> Self {
        Self { name: name.to_owned(), path: PathBuf::from(name), text: text.into() }
    }

    /// The name of the compiled world.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path by which messages refer to the source.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the text is that of a map, without compiling it.
    ///
    /// # Errors
    /// [`CompileError::Syntax`] if it is not.
    pub fn check_syntax(&self) -> Result<(), CompileError> {
        self.parse(Curves::default()).map(drop)
    }

    #[cfg(test)]
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// Entities and brushes as written, with the lines of their opening braces, and with
    /// brushes in place of curves if those are to be solid.
    pub(super) fn parse(&self, curves: Curves) -> Result<SourceMap, CompileError> {
        let plain = forms::plain(&self.text).map_err(|error| CompileError::Syntax {
            path: self.path.clone(),
            line: error.line,
            reason: error.to_string(),
        })?;
        let map = quake_map::parse(&mut plain.text.as_slice()).map_err(|error| {
            let (line, reason) = match error {
                TextParseError::Lexer(l) | TextParseError::Parser(l) => (l.line_number, l.message),
                TextParseError::Io(error) => (None, error.to_string()),
            };
            let line = line.map_or_else(|| self.last_line(), |line| line.get());
            CompileError::Syntax { path: self.path.clone(), line, reason }
        })?;
        let (entity_lines, brush_lines) = opening_lines(&plain.text);
        let (mut entity_lines, mut brush_lines) =
            (entity_lines.into_iter(), brush_lines.into_iter());
        let entities = map.entities.into_iter().map(|entity| {
            let text = |s: std::ffi::CString| String::from_utf8_lossy(s.as_bytes()).into_owned();
            let brushes = entity.brushes.into_iter().map(|surfaces| SourceBrush {
                line: brush_lines.next().unwrap_or(0),
                faces: surfaces
                    .into_iter()
                    .map(|s| SourceFace {
                        points: s.half_space.map(DVec3::from),
                        texture: text(s.texture),
                    })
                    .collect(),
            });
            SourceEntity {
                line: entity_lines.next().unwrap_or(0),
                brushes: brushes.collect(),
                pairs: entity.edict.into_iter().map(|(k, v)| (text(k), text(v))).collect(),
            }
        });
        let mut map = SourceMap { entities: entities.collect(), ..SourceMap::default() };
        let mut room = MAX_CURVE_SOLIDS;
        for text in plain.curves {
            if curves == Curves::LeftOut {
                map.left_out.push(text.line);
                continue;
            }
            let entity = map.entities.get_mut(text.entity);
            match (entity, text.curve.and_then(|curve| curve.brushes(room))) {
                (Some(entity), Some(brushes)) => {
                    room -= brushes.len();
                    entity.brushes.extend(brushes);
                }
                _ => map.unreadable.push(text.line),
            }
        }
        Ok(map)
    }

    fn last_line(&self) -> u64 {
        1 + self.text.iter().filter(|&&b| b == b'\n').count() as u64
    }
}

/// Whether Quake 3's curves (`patchDef2`) are solid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Curves {
    /// They are left out, with one warning that counts them.
    #[default]
    LeftOut,
    /// They are replaced by solids 4 units thick, whose fronts are nowhere farther than
    /// [`CURVE_BOUND`] from the surface.
    Solid,
}

/// Lines of the opening braces of entities, and of those of brushes, in order. The parser
/// does not report them.
fn opening_lines(text: &[u8]) -> (Vec<u64>, Vec<u64>) {
    let (mut entities, mut brushes) = (Vec::new(), Vec::new());
    let mut depth = 0_u32;
    for token in tokens(text) {
        match token.text {
            b"{" => {
                depth += 1;
                match depth {
                    1 => entities.push(token.line),
                    2 => brushes.push(token.line),
                    _ => (),
                }
            }
            b"}" => depth = depth.saturating_sub(1),
            _ => (),
        }
    }
    (entities, brushes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACE: &str = "( 0 0 0 ) ( 0 1 0 ) ( 1 0 0 ) {fence 0 0 0 1 1\n";

    #[test]
    fn brushes_know_their_lines() {
        let text = format!(
            "// {{ no brush\r\n{{\n\"classname\" \"world {{ spawn\"\n{{\n{FACE}{FACE}}}\n{{ \n{FACE}}}\n}}\n{{\n{{\n}}}}"
        );
        let entities = Source::from_text("x", text.replace("}}", "}\n}")).parse(Curves::LeftOut);
        let entities = entities.unwrap_or_else(|e| panic!("{e}")).entities;
        let lines: Vec<u64> =
            entities.iter().flat_map(|e| e.brushes.iter().map(|b| b.line)).collect();
        assert_eq!(lines, [4, 8, 13]);
        assert_eq!(entities.iter().map(|e| e.line).collect::<Vec<_>>(), [2, 12]);
        assert_eq!(entities[0].brushes[0].faces[1].texture, "{fence");
    }

    #[test]
    fn malformed_text_is_refused_with_its_line() {
        for (text, expected) in [
            ("{\n{\n( 0 0 zero ) ( 0 1 0 ) ( 1 0 0 ) x 0 0 0 1 1\n}\n}", 3),
            ("{\n\"classname\" \"worldspawn\"\n", 3),
            ("{\n\"classname", 2),
            ("}", 1),
        ] {
            match Source::from_text("bad.map", text).parse(Curves::Solid) {
                Err(CompileError::Syntax { line, path, .. }) => {
                    assert_eq!(
                        (line, path.as_path()),
                        (expected, Path::new("bad.map")),
                        "{text:?}"
                    );
                }
                Err(other) => panic!("{other}"),
                Ok(_) => panic!("accepted {text:?}"),
            }
        }
    }
}
