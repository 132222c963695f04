//! A judge of whole matches by exact triangles, movers of the map included.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use obsp_sim::{EntityState, Kind, State};

use super::crowd::{FIRST_MODEL_SHAPE, crowd_boxes, model_shape, placed};
use super::own_map;
use crate::oracle::bodies::{Audit, Overlap, Placed, Shape, drawn_bodies};
use crate::oracle::map_text::{self, Entity};

/// The number of a part is in these bits of [`Placed::id`] and above.
const PART: u32 = 32;

/// Judges all solid bodies of a match. It knows shapes from their sources alone: models from their
/// OBJ files, and movers from the brushes of the `.map`.
#[derive(Debug)]
pub struct ExactJudge {
    audit: Audit,
    /// The shapes of each model, by its number. A mover has one for each of its brushes.
    shapes: Vec<Range<usize>>,
    is_mover: Vec<bool>,
    movers: BTreeSet<u64>,
}

impl ExactJudge {
    /// A judge of matches on the map with this text, in which models have these names. Models
    /// without a source are not judged: they are the pictures of items.
    ///
    /// # Panics
    /// If the text cannot be read.
    pub fn new(text: &str, models: &[String]) -> Self {
        let entities: Vec<Entity> = map_text::parse(text).expect("the map can be read");
        let drawn = drawn_bodies(&entities);
        let mut all: Vec<Arc<Shape>> = crowd_boxes();
        assert_eq!(all.len(), FIRST_MODEL_SHAPE, "the boxes come first");
        let (mut shapes, mut is_mover) = (Vec::new(), Vec::new());
        for name in models {
            let first = all.len();
            let number = name.strip_prefix('*');
            match number {
                Some(number) => {
                    let number: usize = number.parse().expect("a drawn model has a number");
                    all.extend(drawn[number - 1].iter().cloned());
                }
                None if own_map(&format!("models/{name}.obj")).exists() => {
                    all.push(model_shape(name));
                }
                None => {}
            }
            shapes.push(first..all.len());
            is_mover.push(number.is_some());
        }
        Self { audit: Audit::new(&entities, all), shapes, is_mover, movers: BTreeSet::new() }
    }

    /// All overlaps of bodies that are new or have moved since the last call. Movers pass through
    /// each other. They also pass through the map where a game lets them, so that is told apart by
    /// [`ExactJudge::is_of_mover_and_map`].
    pub fn judge(&mut self, state: &State) -> Vec<Overlap> {
        let solid = state.entities.iter().filter(|entity| entity.traits.is_solid());
        let things: Vec<Placed> = solid.flat_map(|entity| self.parts(entity)).collect();
        let mut overlaps = self.audit.judge(&things);
        let movers = &self.movers;
        let own = |id: &u64| movers.contains(&(id & ((1 << PART) - 1)));
        overlaps.retain(|found| !matches!(found, Overlap::Bodies(a, b) if own(a) && own(b)));
        overlaps
    }

    /// Whether an overlap is that of a mover and a brush of the map.
    pub fn is_of_mover_and_map(&self, overlap: &Overlap) -> bool {
        let low = |id: u64| id & ((1 << PART) - 1);
        matches!(overlap, Overlap::Brush(id, _) if self.movers.contains(&low(*id)))
    }

    fn parts(&mut self, entity: &EntityState) -> Vec<Placed> {
        let whole = placed(entity);
        let (Kind::Prop { model } | Kind::Vehicle { model }) = entity.kind else {
            return vec![whole];
        };
        let model = usize::from(model.0);
        if self.is_mover[model] {
            self.movers.insert(whole.id);
        }
        let part = |(number, shape): (u64, usize)| Placed {
            id: whole.id | number << PART,
            shape,
            ..whole
        };
        (0..).zip(self.shapes[model].clone()).map(part).collect()
    }
}
