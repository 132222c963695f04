//! The text of a map, and its parts as written.
//!
//! `tokens` splits the text into words, and `quoted` finds the ends of strings. `reader` makes a
//! `map` of the words, with its entities and brushes, or fails with the place of the fault
//! (`syntax_error`). `layers` leaves out the layers that TrenchBroom does not export. `curves`
//! turns curves into brushes. `summary` counts the parts of a map.

mod curves;
mod layers;
pub(super) mod map;
mod quoted;
mod reader;
mod summary;
mod syntax_error;
mod tokens;

use std::path::{Path, PathBuf};

use super::error::CompileError;
use super::game_form::{GameForm, RecognisedForm, Signs};
use crate::text;
pub use curves::CURVE_BOUND;
use curves::MAX_CURVE_SOLIDS;
pub use layers::OmittedLayers;
use map::SourceMap;
use reader::Read;
pub use summary::SourceSummary;

/// Maximum length of a source, in bytes: ten times the largest known map.
const MAX_BYTES: u64 = 64 << 20;

/// The text of a map and its origin.
///
/// ```
/// use obsp::Source;
///
/// let text = "{ \"classname\" \"worldspawn\" }\n{ \"classname\" \"light\" \"origin\" \"0 0 9\" }";
/// let source = Source::from_text("lamp", text);
/// assert_eq!((source.name(), source.summary()?.entities.len()), ("lamp", 2));
///
/// // A fault has its line and column.
/// let error = Source::from_text("lamp", "{\n  lamp }").check_syntax().unwrap_err();
/// assert!(error.to_string().starts_with("lamp:2:3: \"lamp\" was seen"));
/// # Ok::<(), obsp::CompileError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    path: PathBuf,
    text: Vec<u8>,
    form: Option<GameForm>,
}

impl Source {
    /// Reads a `.map` file. The map is named after the file.
    ///
    /// # Errors
    /// [`CompileError::Read`] if the file cannot be read or is too large.
    pub fn read(path: &Path) -> Result<Self, CompileError> {
        let failed = |reason| CompileError::Read { path: path.to_owned(), reason };
        let length = std::fs::metadata(path).map_err(failed)?.len();
        if length > MAX_BYTES {
            return Err(failed(std::io::Error::other(format!(
                "the file is larger than {MAX_BYTES} bytes"
            ))));
        }
        let text = std::fs::read(path).map_err(failed)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, path: path.to_owned(), text, form: None })
    }

    /// A map with this text. Messages refer to it by `name`.
    pub fn from_text(name: &str, text: impl Into<Vec<u8>>) -> Self {
        let (path, text) = (PathBuf::from(name), text.into());
        Self { name: name.to_owned(), path, text, form: None }
    }

    /// This map, read by the rules of `form`. With `None` the form is recognised from the map.
    #[must_use]
    pub fn with_form(self, form: Option<GameForm>) -> Self {
        Self { form, ..self }
    }

    /// The name of the compiled map.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path by which messages refer to the source.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the text is a map, without compiling it.
    ///
    /// # Errors
    /// [`CompileError::Syntax`] if the text is not a map.
    pub fn check_syntax(&self) -> Result<(), CompileError> {
        self.parse(Curves::default()).map(drop)
    }

    #[cfg(test)]
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// Entities and brushes as written, with the lines of their opening braces. If curves are to be
    /// solid, brushes take the place of the curves.
    pub(super) fn parse(&self, curves: Curves) -> Result<SourceMap, CompileError> {
        let (form, omitted, read) = self.read_all()?;
        let mut map = SourceMap {
            form,
            omitted,
            entities: read.entities,
            left_out: Vec::new(),
            unreadable: Vec::new(),
        };
        let mut room = MAX_CURVE_SOLIDS;
        for text in read.curves {
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

    /// The form of the map, and the parts of the text as written without the layers that are
    /// omitted from export.
    fn read_all(&self) -> Result<(RecognisedForm, Option<OmittedLayers>, Read), CompileError> {
        let refused = |line, column, reason| CompileError::Syntax {
            path: self.path.clone(),
            line,
            column,
            reason,
        };
        let text =
            text::bytes_without_mark(&self.text).map_err(|wide| refused(1, 1, wide.to_string()))?;
        let mut read = reader::read(text)
            .map_err(|error| refused(error.line, error.column, error.to_string()))?;
        let (entities, primitives) = (read.entities.as_slice(), read.primitives);
        let signs = Signs { given: self.form, text, entities, primitives };
        let form = signs.form().map_err(|(line, unknown)| {
            let key = "the entity that begins here has a wrong value of the key _game_form";
            refused(line, 1, format!("{key}: {unknown}"))
        })?;
        let omitted = layers::leave_out(&mut read);
        Ok((form, omitted, read))
    }
}

/// Whether Quake III's curves (`patchDef2`) are solid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "mapc", derive(clap::ValueEnum))]
pub enum Curves {
    /// The curves are left out, with one warning that counts them.
    #[default]
    LeftOut,
    /// The curves are replaced by solids 4 units thick; no point of a curve is farther than 2 units
    /// from its solids.
    Solid,
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
        assert_eq!(entities[0].brushes[0].faces[1].texture.name, "{fence");
    }

    #[test]
    fn malformed_text_is_refused_with_its_line() {
        for (text, expected) in [
            ("{\n{\n( 0 0 zero ) ( 0 1 0 ) ( 1 0 0 ) x 0 0 0 1 1\n}\n}", (3, 7)),
            ("{\n\"classname\" \"worldspawn\"\n", (3, 1)),
            ("{\n\"classname", (2, 1)),
            ("}", (1, 1)),
            ("{\n\"classname\" \"worldspawn\"\n\"_game_form\" \"doom\"\n}", (1, 1)),
        ] {
            match Source::from_text("bad.map", text).parse(Curves::Solid) {
                Err(CompileError::Syntax { line, column, path, .. }) => {
                    assert_eq!((line, column), expected, "{text:?}");
                    assert_eq!(path.as_path(), Path::new("bad.map"));
                }
                Err(other) => panic!("{other}"),
                Ok(_) => panic!("accepted {text:?}"),
            }
        }
    }
}
