//! Layers that TrenchBroom omits from export.
//!
//! TrenchBroom saves every layer. An export of the map, for example to compile it, leaves out the
//! layers that are marked *Omit From Export*. This module leaves these layers out of the saved map.
//! A layer is a `func_group`; the default layer is `worldspawn`. Groups and entities name their
//! layer, or the group that they are in. Groups and entities that name neither are in the default
//! layer.

use std::collections::HashMap;

use serde::Serialize;
use thiserror::Error;

use super::map::SourceEntity;
use super::reader::Read;
use crate::compile::game_form::is_worldspawn;

/// The parts of a map that are left out, because TrenchBroom omits their layers from export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize)]
#[error(
    "layers that are omitted from export are left out, with {entities} entities and {brushes} \
         brushes"
)]
pub struct OmittedLayers {
    /// Line of the opening brace of the first such layer.
    pub line: u64,
    /// The number of entities, layers and groups included.
    pub entities: usize,
    /// The number of brushes and curves.
    pub brushes: usize,
}

/// The layers and groups of a map.
struct Layers<'a> {
    /// For each layer, by its number, whether the layer is omitted.
    layers: HashMap<&'a str, bool>,
    groups: HashMap<&'a str, &'a SourceEntity>,
    /// Whether the default layer is omitted.
    default: bool,
}

fn is_marked(layer: &SourceEntity) -> bool {
    layer.get("_tb_layer_omit_from_export").trim() == "1"
}

fn is_default(entity: &SourceEntity) -> bool {
    is_worldspawn(entity.get("classname"))
}

fn is_layer(entity: &SourceEntity) -> bool {
    entity.get("_tb_type") == "_tb_layer"
}

impl<'a> Layers<'a> {
    fn of(entities: &'a [SourceEntity]) -> Self {
        let with = |kind| entities.iter().filter(move |entity| entity.get("_tb_type") == kind);
        let layers = with("_tb_layer").map(|layer| (layer.get("_tb_id").trim(), is_marked(layer)));
        let groups = with("_tb_group").map(|group| (group.get("_tb_id").trim(), group));
        let default = entities.iter().find(|entity| is_default(entity)).is_some_and(is_marked);
        Self { layers: layers.collect(), groups: groups.collect(), default }
    }

    fn is_omitted(&self, entity: &'a SourceEntity) -> bool {
        if is_layer(entity) {
            return is_marked(entity);
        }
        let mut outermost = entity;
        // TrenchBroom never writes groups that contain each other. The search ends even in such a
        // file.
        for _ in 0..=self.groups.len() {
            match self.groups.get(outermost.get("_tb_group").trim()) {
                Some(group) => outermost = group,
                None => break,
            }
        }
        let layer = self.layers.get(outermost.get("_tb_layer").trim());
        layer.copied().unwrap_or(self.default)
    }
}

/// Removes the parts in layers that are omitted from export. If the default layer is omitted,
/// `worldspawn` is kept without brushes.
pub(super) fn leave_out(read: &mut Read) -> Option<OmittedLayers> {
    let marked =
        |entity: &&SourceEntity| (is_layer(entity) || is_default(entity)) && is_marked(entity);
    let line = read.entities.iter().find(marked)?.line;
    let layers = Layers::of(&read.entities);
    let omitted: Vec<bool> = read.entities.iter().map(|e| layers.is_omitted(e)).collect();
    let mut left_out = OmittedLayers { line, entities: 0, brushes: 0 };
    // The new index of each entity that is kept.
    let (mut kept, mut places) = (Vec::new(), Vec::new());
    for (mut entity, &omitted) in std::mem::take(&mut read.entities).into_iter().zip(&omitted) {
        let is_kept = !omitted || is_default(&entity);
        places.push(is_kept.then_some(kept.len()));
        if omitted {
            left_out.brushes += entity.brushes.len();
            entity.brushes.clear();
        }
        if is_kept {
            kept.push(entity);
        } else {
            left_out.entities += 1;
        }
    }
    read.entities = kept;
    read.curves.retain_mut(|curve| {
        let place = places.get(curve.entity).copied().flatten();
        match place.filter(|_| !omitted.get(curve.entity).copied().unwrap_or_default()) {
            Some(place) => curve.entity = place,
            None => {
                left_out.brushes += 1;
                return false;
            }
        }
        true
    });
    Some(left_out)
}

#[cfg(test)]
mod tests {
    use crate::compile::source::{Curves, Source};

    const BRUSH: &str = "{\n( 0 0 0 ) ( 0 1 0 ) ( 1 0 0 ) x 0 0 0 1 1\n}\n";
    const CURVE: &str = "{\npatchDef2\n{\nx\n( 3 3 0 0 0 )\n(\n( ( 0 0 0 0 0 ) )\n)\n}\n}\n";

    /// An entity with these keys and values.
    fn entity(keys: &str, brushes: &str) -> String {
        let words: Vec<&str> = keys.split_whitespace().collect();
        let pairs = words.chunks(2).map(|pair| format!("\"{}\" \"{}\"\n", pair[0], pair[1]));
        format!("{{\n{}{brushes}}}\n", pairs.collect::<String>())
    }

    /// The keys `name` of the entities that are kept, with their numbers of brushes. Also the
    /// numbers of curves, entities and brushes that are left out.
    fn left(text: &str) -> (Vec<(String, usize)>, usize, (usize, usize)) {
        let source = Source::from_text("layers", text);
        let map = source.parse(Curves::LeftOut).unwrap_or_else(|error| panic!("{error}"));
        let entities = map.entities.iter();
        let entities = entities.map(|e| (e.get("name").to_owned(), e.brushes.len())).collect();
        let omitted = map.omitted.map_or((0, 0), |omitted| (omitted.entities, omitted.brushes));
        (entities, map.left_out.len(), omitted)
    }

    /// In an earlier version, brushes of a layer that TrenchBroom omits from export were solid, and
    /// no warning said so.
    #[test]
    fn layers_that_are_omitted_from_export_are_left_out() {
        let omit = "_tb_layer_omit_from_export";
        let layers = |world: &str, notes: &str| {
            let both = format!("{BRUSH}{CURVE}");
            entity(&format!("classname worldspawn name world {world}"), &both)
                + &entity(&format!("_tb_type _tb_layer _tb_id 2 name notes {notes}"), &both)
                + &entity("_tb_type _tb_group _tb_id 3 _tb_layer 2 name outer", BRUSH)
                + &entity("_tb_type _tb_group _tb_id 4 _tb_group 3 name inner", BRUSH)
                + &entity("classname light _tb_group 4 name lamp", "")
                + &entity("classname light _tb_layer 2 name torch", "")
                + &entity("classname light _tb_layer 9 name lost", "")
                + &entity("classname func_detail name detail", &both)
        };
        let pairs = |list: &[(&str, usize)]| -> Vec<(String, usize)> {
            list.iter().map(|&(name, brushes)| (name.to_owned(), brushes)).collect()
        };
        let all = pairs(&[
            ("world", 1),
            ("notes", 1),
            ("outer", 1),
            ("inner", 1),
            ("lamp", 0),
            ("torch", 0),
            ("lost", 0),
            ("detail", 1),
        ]);
        assert_eq!(left(&layers("", "")), (all.clone(), 3, (0, 0)));
        assert_eq!(left(&layers("", &format!("{omit} 0"))), (all, 3, (0, 0)));
        let without = pairs(&[("world", 1), ("lost", 0), ("detail", 1)]);
        assert_eq!(left(&layers("", &format!("{omit} 1"))), (without, 2, (5, 4)));
        let only = pairs(&[
            ("world", 0),
            ("notes", 1),
            ("outer", 1),
            ("inner", 1),
            ("lamp", 0),
            ("torch", 0),
        ]);
        assert_eq!(left(&layers(&format!("{omit} 1"), "")), (only, 1, (2, 4)));
    }

    #[test]
    fn a_map_of_omitted_layers_alone_is_told_so() {
        let text = entity("classname worldspawn _tb_layer_omit_from_export 1", BRUSH);
        let (source, spaces) = (Source::from_text("bare", text), crate::Spaces::default());
        let options = crate::CompileOptions::default();
        let error = crate::compile(&source, &spaces, &options, &mut |_, _, _| ());
        let error = error.expect_err("a map without brushes is refused").to_string();
        let told = "bare: no brush is solid; the layer of line 1 is omitted from export";
        assert_eq!(error, told);
    }

    #[test]
    fn groups_in_each_other_do_not_hang() {
        let text = entity("_tb_type _tb_layer _tb_id 1 _tb_layer_omit_from_export 1", "")
            + &entity("_tb_type _tb_group _tb_id 3 _tb_group 4 name a", BRUSH)
            + &entity("_tb_type _tb_group _tb_id 4 _tb_group 3 name b", BRUSH);
        assert_eq!(left(&text).2, (1, 0));
    }
}
