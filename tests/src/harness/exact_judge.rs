//! A judge of whole matches by exact triangles, movers of the map included.

use std::collections::BTreeSet;
use std::sync::Arc;

use obsp_sim::{EntityId, State, World};

use super::crowd::{crowd_boxes, model_shape, placed};
use super::own_map;
use crate::oracle::bodies::{Audit, Overlap, Placed, Shape, drawn_bodies};
use crate::oracle::map_text::{self, Entity};

/// The number of a part is in these bits of [`Placed::id`] and above.
const PART: u32 = 32;

/// The shape of a thing of a match.
#[derive(Clone, Debug)]
pub enum Form {
    /// A body of one shape.
    Body(Arc<Shape>),
    /// A mover of the map, by its brushes.
    Mover(Vec<Arc<Shape>>),
    /// A picture, such as that of an item. It has no body, so nothing solid may have this form.
    Picture,
}

/// Judges all solid bodies of a match. It knows shapes from their sources alone: models from their
/// OBJ files, and movers from the brushes of the `.map`.
#[derive(Debug)]
pub struct ExactJudge {
    audit: Audit,
    /// The parts of each form, as indices of the audit's shapes.
    parts: Vec<Vec<usize>>,
    /// Whether a form is that of a mover.
    moves: Vec<bool>,
    movers: BTreeSet<u64>,
}

impl ExactJudge {
    /// A judge of matches on the map with this text, in which models have these names. Models
    /// without a source are pictures.
    ///
    /// # Panics
    /// If the text cannot be read.
    pub fn new(text: &str, models: &[String]) -> Self {
        let entities: Vec<Entity> = map_text::parse(text).expect("the map can be read");
        let forms = crowd_boxes().into_iter().map(Form::Body);
        let drawn = drawn_bodies(&entities);
        let models = models.iter().map(|name| match drawn_number(name) {
            Some(number) => Form::Mover(drawn[number - 1].clone()),
            None if own_map(&format!("models/{name}.obj")).exists() => {
                Form::Body(model_shape(name))
            }
            None => Form::Picture,
        });
        Self::of_forms(&entities, forms.chain(models))
    }

    /// A judge of things of these forms in a map. [`Placed::shape`] is the index of a thing's form.
    pub fn of_forms(entities: &[Entity], forms: impl IntoIterator<Item = Form>) -> Self {
        let (mut all, mut parts, mut moves) = (Vec::new(), Vec::new(), Vec::new());
        for form in forms {
            let (shapes, is_mover) = match form {
                Form::Body(shape) => (vec![shape], false),
                Form::Mover(brushes) => (brushes, true),
                Form::Picture => (Vec::new(), false),
            };
            parts.push((all.len()..all.len() + shapes.len()).collect());
            moves.push(is_mover);
            all.extend(shapes);
        }
        Self { audit: Audit::new(entities, all), parts, moves, movers: BTreeSet::new() }
    }

    /// All overlaps of a match that are new or have moved since the last call. In its pocket a
    /// mover passes through the map.
    pub fn judge_match(&mut self, world: &World) -> Vec<Overlap> {
        let number = |(id, _): (EntityId, _)| number_of(id);
        let pockets: BTreeSet<u64> = world.pockets().into_iter().map(number).collect();
        let mut overlaps = self.judge(&world.state());
        overlaps.retain(|found| match found {
            Overlap::Brush(id, _) => !(self.is_of_mover_and_map(found) && pockets.contains(id)),
            _ => true,
        });
        overlaps
    }

    /// As [`ExactJudge::judge_match`], with the movers that are in the map.
    pub fn judge(&mut self, state: &State) -> Vec<Overlap> {
        let solid = state.entities.iter().filter(|entity| entity.traits.is_solid());
        let things: Vec<Placed> = solid.map(placed).collect();
        self.judge_things(&things)
    }

    /// All overlaps of things that are new or have moved since the last call. Movers pass through
    /// each other. They also pass through the map where a game lets them, so that is told apart by
    /// [`ExactJudge::is_of_mover_and_map`].
    pub fn judge_things(&mut self, things: &[Placed]) -> Vec<Overlap> {
        let mut parts = Vec::new();
        let mut overlaps = Vec::new();
        for &thing in things {
            if self.moves[thing.shape] {
                self.movers.insert(thing.id);
            }
            let own = &self.parts[thing.shape];
            if own.is_empty() {
                overlaps.push(Overlap::Nowhere(thing.id));
            }
            let part = |(number, &shape): (u64, &usize)| Placed {
                id: thing.id | number << PART,
                shape,
                ..thing
            };
            parts.extend((0..).zip(own).map(part));
        }
        let whole = |part: u64| part & ((1 << PART) - 1);
        overlaps.extend(self.audit.judge(&parts).into_iter().map(|found| match found {
            Overlap::Bodies(a, b) => Overlap::Bodies(whole(a), whole(b)),
            Overlap::Brush(a, line) => Overlap::Brush(whole(a), line),
            Overlap::Nowhere(a) => Overlap::Nowhere(whole(a)),
        }));
        let moves = |id: &u64| self.movers.contains(id);
        overlaps.retain(|found| !matches!(found, Overlap::Bodies(a, b) if moves(a) && moves(b)));
        overlaps
    }

    /// Whether an overlap is that of a mover and a brush of the map.
    pub fn is_of_mover_and_map(&self, overlap: &Overlap) -> bool {
        matches!(overlap, Overlap::Brush(id, _) if self.movers.contains(id))
    }
}

/// The number of an entity in the overlaps of a judge.
pub fn number_of(id: EntityId) -> u64 {
    u64::from(id.slot) << 16 | u64::from(id.generation)
}

/// The number of a model that is drawn in the map: 3 for `*3`.
///
/// # Panics
/// If a name begins like that of such a model and does not go on with a number.
pub fn drawn_number(model: &str) -> Option<usize> {
    let number = model.strip_prefix('*')?;
    Some(number.parse().unwrap_or_else(|_| panic!("{model}: a drawn model has a number")))
}
