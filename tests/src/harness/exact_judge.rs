//! A judge of whole matches by exact triangles, movers of the map included.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use glam::DVec3;
use obsp::geometry::Aabb;
use obsp_sim::{EntityId, State, World};

use super::crowd::{crowd_boxes, model_shape, placed};
use super::own_map;
use crate::oracle::bodies::{Audit, Overlap, Placed, Shape, drawn_bodies};
use crate::oracle::map_text::{self, Entity};

/// The bit of [`Placed::id`] at which the number of a part begins. The bits below have the number
/// of the thing.
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
    /// For each form, whether it is a mover's.
    moves: Vec<bool>,
    /// The numbers of all movers that were judged.
    movers: BTreeSet<u64>,
}

impl ExactJudge {
    /// A judge of matches on the map that has this text. `models` are the names of the match's
    /// models. A model without a source is a picture.
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

    /// All overlaps of a match in which at least one body is new or has moved since the last call.
    /// A mover may pass through the map in its pocket.
    pub fn judge_match(&mut self, world: &World) -> Vec<Overlap> {
        self.judge_in_pockets(&world.state(), &world.pockets())
    }

    /// Like [`ExactJudge::judge_match`], with these pockets. An overlap of a mover and a brush is
    /// excused if it lies in the mover's pocket. Boxes decide this: the box around the part of the
    /// mover and the box around the brush must share only space in the pocket.
    pub fn judge_in_pockets(
        &mut self,
        state: &State,
        pockets: &[(EntityId, Aabb)],
    ) -> Vec<Overlap> {
        let pockets: BTreeMap<u64, [DVec3; 2]> =
            pockets.iter().map(|(id, pocket)| (number_of(*id), [pocket.min, pocket.max])).collect();
        self.judge_parts(&solid_things(state), |audit, part, line| {
            let pocket = pockets.get(&whole(part));
            pocket.is_some_and(|pocket| {
                audit.shared_box(part, line).is_some_and(|shared| is_within(shared, pocket))
            })
        })
    }

    /// Like [`ExactJudge::judge_match`], without pockets: no overlap of a mover and the map is
    /// excused.
    pub fn judge(&mut self, state: &State) -> Vec<Overlap> {
        self.judge_things(&solid_things(state))
    }

    /// All overlaps in which at least one thing is new or has moved since the last call. Overlaps
    /// of two movers are left out, because movers pass through each other. Movers also pass through
    /// the map where a game lets them; [`ExactJudge::is_of_mover_and_map`] recognises these
    /// overlaps.
    pub fn judge_things(&mut self, things: &[Placed]) -> Vec<Overlap> {
        self.judge_parts(things, |_, _, _| false)
    }

    /// Judges things part by part. `is_excused` says which overlaps of a mover's part and the brush on
    /// a line of the map are left out.
    fn judge_parts(
        &mut self,
        things: &[Placed],
        is_excused: impl Fn(&Audit, u64, usize) -> bool,
    ) -> Vec<Overlap> {
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
        let found = self.audit.judge(&parts);
        let moves = |part: u64| self.movers.contains(&whole(part));
        let counts = |found: &Overlap| match *found {
            Overlap::Bodies(a, b) => !(moves(a) && moves(b)),
            Overlap::Brush(part, line) => !(moves(part) && is_excused(&self.audit, part, line)),
            Overlap::Nowhere(_) => true,
        };
        overlaps.extend(found.into_iter().filter(counts).map(|found| match found {
            Overlap::Bodies(a, b) => Overlap::Bodies(whole(a), whole(b)),
            Overlap::Brush(a, line) => Overlap::Brush(whole(a), line),
            Overlap::Nowhere(a) => Overlap::Nowhere(whole(a)),
        }));
        overlaps
    }

    /// Whether a mover and a brush of the map overlap.
    pub fn is_of_mover_and_map(&self, overlap: &Overlap) -> bool {
        matches!(overlap, Overlap::Brush(id, _) if self.movers.contains(id))
    }
}

fn solid_things(state: &State) -> Vec<Placed> {
    state.entities.iter().filter(|entity| entity.traits.is_solid()).map(placed).collect()
}

/// The number of the thing that has a part.
fn whole(part: u64) -> u64 {
    part & ((1 << PART) - 1)
}

/// Rounding of corners of boxes, in units.
const ROUNDING: f64 = 1e-6;

fn is_within([min, max]: [DVec3; 2], outer: &[DVec3; 2]) -> bool {
    (min + ROUNDING).cmpge(outer[0]).all() && (max - ROUNDING).cmple(outer[1]).all()
}

/// The number of an entity in the overlaps of a judge.
pub fn number_of(id: EntityId) -> u64 {
    u64::from(id.slot) << 16 | u64::from(id.generation)
}

/// The number of a model that is drawn in the map: 3 for `*3`.
///
/// # Panics
/// If the name begins with `*`, and no number follows.
pub fn drawn_number(model: &str) -> Option<usize> {
    let number = model.strip_prefix('*')?;
    Some(number.parse().unwrap_or_else(|_| panic!("{model}: a number must follow the `*`")))
}

#[cfg(test)]
mod tests {
    use obsp_game::arena::Arena;
    use obsp_game::{Match, RunningMatch};
    use obsp_sim::Config;

    use super::*;

    /// The arena's lift stands in the floor, and its pocket excuses this overlap. A pocket that
    /// begins a tenth of a unit above the foot of the lift does not, and neither does another
    /// mover's pocket.
    #[test]
    fn a_mover_is_excused_in_its_pocket_alone() {
        let text = std::fs::read_to_string(own_map("arena.map")).expect("the map's source");
        let map = obsp::Map::load(&own_map("arena.obsp")).expect("the map can be loaded");
        let config = Config { objects: 0, ..Config::default() };
        let game = Match::new(Arena, Arc::new(map), config).expect("the map can be played");
        let world = game.world();
        let (state, pockets) = (world.state(), world.pockets());
        let judged = |pockets: &[(EntityId, Aabb)]| {
            let mut judge = ExactJudge::new(&text, world.model_names());
            judge.judge_in_pockets(&state, pockets)
        };
        assert_eq!(judged(&pockets), []);
        let is_lift = |(id, _): &&(EntityId, Aabb)| {
            let bounds = world.bounds_of(*id).expect("the mover is in the world");
            (bounds.max.z - bounds.min.z - 192.0).abs() < 0.01
        };
        let lift = pockets.iter().find(is_lift).expect("the lift is 192 units high").0;
        let only_lift = |found: Vec<Overlap>| {
            let is_it =
                |found: &Overlap| matches!(found, Overlap::Brush(id, _) if *id == number_of(lift));
            !found.is_empty() && found.iter().all(is_it)
        };
        let with_lift = |change: &dyn Fn(Aabb) -> Aabb| {
            let own = |&(id, pocket): &(EntityId, Aabb)| {
                (id, if id == lift { change(pocket) } else { pocket })
            };
            judged(&pockets.iter().map(own).collect::<Vec<_>>())
        };
        let foot = world.bounds_of(lift).expect("the lift is in the world").min.z;
        assert_eq!(with_lift(&|own| Aabb { min: own.min.with_z(foot), ..own }), []);
        assert!(only_lift(with_lift(&|own| Aabb { min: own.min.with_z(foot + 0.1), ..own })));
        let other = pockets.iter().find(|(id, _)| *id != lift).expect("there are doors").1;
        assert!(only_lift(with_lift(&|_| other)));
    }
}
