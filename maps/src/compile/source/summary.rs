//! The parts of a map, counted without compiling it.

use std::collections::BTreeMap;

use super::{OmittedLayers, Source};
use crate::compile::contents::{Contents, contents};
use crate::compile::error::{CompileError, Unsupported};
use crate::compile::game_form::RecognisedForm;
use crate::map::{LiquidKind, MapEntity};

/// The form of a map and the numbers of its parts. Brushes without volume, which the compiler
/// leaves out, are also counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceSummary {
    /// The form of the map, whose rules decide the contents of brushes.
    pub form: RecognisedForm,
    /// Entities, worldspawn included, without their brushes.
    pub entities: Vec<MapEntity>,
    /// The lines at which the entities begin.
    pub entity_lines: Vec<u64>,
    /// Brushes that are solid for everything.
    pub solid: usize,
    /// Brushes that stop boxes and bodies, but no rays.
    pub clip: usize,
    /// Brushes of the static world that stop nothing: liquids, hints.
    pub passable: usize,
    /// The passable brushes that are liquids, by kind.
    pub liquids: BTreeMap<LiquidKind, usize>,
    /// Brushes that are kept with their entities: triggers, doors.
    pub of_entities: usize,
    /// Curves (`patchDef2`), readable or not.
    pub curves: usize,
    /// The parts that are left out and not counted, because their layers are omitted from export.
    pub omitted: Option<OmittedLayers>,
    /// Names and flags of the map that this world does not support in full, each once.
    pub unsupported: Vec<Unsupported>,
}

impl Source {
    /// The form of the map and the numbers of its parts.
    ///
    /// # Errors
    /// [`CompileError::Syntax`] if the text is not a map.
    pub fn summary(&self) -> Result<SourceSummary, CompileError> {
        let (form, omitted, read) = self.read_all()?;
        let mut summary =
            SourceSummary { curves: read.curves.len(), omitted, ..SourceSummary::default() };
        for entity in &read.entities {
            let pairs = entity.pairs.clone();
            summary.entities.push(MapEntity { pairs, solids: Vec::new() });
            summary.entity_lines.push(entity.line);
            for brush in &entity.brushes {
                let (contents, unsupported) = contents(form.form, entity, brush);
                if let Contents::Liquid(kind) | Contents::Current(kind, _) = contents {
                    *summary.liquids.entry(kind).or_default() += 1;
                }
                *match contents {
                    Contents::Solid => &mut summary.solid,
                    Contents::Clip => &mut summary.clip,
                    Contents::Liquid(_)
                    | Contents::Current(..)
                    | Contents::Passable
                    | Contents::Origin => &mut summary.passable,
                    Contents::Entity => &mut summary.of_entities,
                } += 1;
                Unsupported::count(&mut summary.unsupported, unsupported);
            }
        }
        Ok(SourceSummary { form, ..summary })
    }
}
