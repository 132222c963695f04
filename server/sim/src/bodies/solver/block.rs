//! Bodies that are solved together by one thread: whole islands, or a part of a large island.

use super::body::{Bodies, Twist};
use super::contacts::{Contacts, SubSteps};
use super::division::Place;
use super::projection::Projection;
use super::restitution::keep_energy;
use super::task::{Task, drive};
use super::{BodyIndices, max_spin};
use crate::bodies::contact::Pair;
use crate::bodies::entities::Entities;
use crate::collision::shape::Shapes;

/// Bodies, and the contacts between these bodies.
pub(super) struct Block {
    /// Indices of the members among the bodies of the tick.
    members: Vec<usize>,
    /// For each body of the block: the number of its island within the block. The first entry is
    /// unused.
    islands: Vec<u32>,
    island_count: u32,
    /// Whether the block holds whole islands, which have no bodies in other blocks.
    pub(super) is_whole: bool,
    pub(super) steps: SubSteps,
    /// The members, after the fixed body, and copies of the kinematic bodies that they touch.
    pub(super) bodies: Bodies,
    pub(super) contacts: Contacts,
    pub(super) projection: Projection,
}

impl Block {
    pub(super) fn new(steps: SubSteps, is_whole: bool) -> Self {
        Self {
            members: Vec::new(),
            islands: vec![0],
            island_count: 0,
            is_whole,
            steps,
            bodies: Bodies::default(),
            contacts: Contacts::default(),
            projection: Projection::default(),
        }
    }

    pub(super) fn member_count(&self) -> usize {
        self.members.len()
    }

    /// Begins the next island, and returns its number.
    pub(super) fn begin_island(&mut self) -> u32 {
        self.island_count += 1;
        self.island_count - 1
    }

    /// Adds a body. Returns its index in the block.
    pub(super) fn add_member(&mut self, body: usize, island: u32) -> u32 {
        self.members.push(body);
        self.islands.push(island);
        self.members.len() as u32
    }

    /// Prepares bodies and contacts.
    pub(super) fn prepare(
        &mut self,
        entities: &Entities,
        shapes: &Shapes,
        pairs: &[Pair],
        indices: &BodyIndices,
        places: &[Place],
    ) {
        self.bodies = Bodies::with_capacity(self.members.len(), self.steps.seconds);
        for &body in &self.members {
            self.bodies.add(entities.get(indices.slots[body]), shapes);
        }
        let kinematic = indices.kinematic_of(self.contacts.pairs.iter().map(|&at| &pairs[at]));
        let first = self.bodies.list.len();
        for &body in &kinematic {
            self.bodies.add_kinematic(entities.get(indices.slots[body]), shapes);
        }
        let local = |pair: &Pair| {
            indices.of(pair).map(|body| match kinematic.binary_search(&body) {
                Ok(at) => first + at,
                Err(_) => places[body].local as usize,
            })
        };
        self.contacts.prepare(&mut self.bodies, pairs, local);
    }

    /// Advances whole islands by a tick.
    pub(super) fn solve(&mut self) {
        let begun = self.has_impacts().then(|| self.bodies.velocities.clone());
        drive(self.steps.count, |task| match (task, &begun) {
            (Task::Bounce, None) => {}
            (Task::Bounce, Some(begun)) => self.bounce_keeping_energy(begun),
            _ => task.do_with(self),
        });
    }

    /// Projects the displacements of whole islands.
    pub(super) fn project(&mut self) {
        let supported = self.supported();
        let Self { bodies, contacts, projection, islands, .. } = self;
        projection.prepare(bodies, contacts, islands, &supported);
        projection.project(bodies, contacts, self.steps.seconds as f32);
    }

    /// Lets bodies part by restitution. No island has more energy afterwards than when the tick
    /// began with the velocities `begun`.
    fn bounce_keeping_energy(&mut self, begun: &[Twist]) {
        let met = self.bodies.velocities.clone();
        self.bounce();
        let Self { bodies, contacts, islands, island_count, .. } = self;
        keep_energy(bodies, contacts, [begun, &met], islands, *island_count as usize);
    }

    /// Whether any body of the block may meet another body fast enough to bounce.
    pub(super) fn has_impacts(&self) -> bool {
        !self.contacts.impacts.is_empty()
    }

    fn locals(&self) -> std::ops::RangeInclusive<usize> {
        1..=self.members.len()
    }

    /// Begins the tick: applies forces and the impulses of the last tick.
    pub(super) fn begin(&mut self) {
        let sub_step = self.steps.length() as f32;
        for body in self.locals() {
            self.bodies.integrate_velocity(body, sub_step);
        }
        self.contacts.warm_start(&mut self.bodies);
    }

    /// Ends a sub-step and begins the next one.
    pub(super) fn begin_sub_step(&mut self) {
        let sub_step = self.steps.length() as f32;
        for body in self.locals() {
            self.bodies.end_sub_step(body);
            self.bodies.integrate_velocity(body, sub_step);
        }
    }

    pub(super) fn push(&mut self) {
        self.contacts.push(&mut self.bodies, self.steps);
    }

    pub(super) fn move_and_relax(&mut self) {
        let sub_step = self.steps.length() as f32;
        let max_spin = max_spin(self.steps.seconds) as f32;
        for body in self.locals() {
            self.bodies.integrate_position(body, sub_step, max_spin);
        }
        self.bodies.move_kinematic(sub_step);
        self.contacts.relax(&mut self.bodies, self.steps);
    }

    pub(super) fn bounce(&mut self) {
        self.contacts.bounce(&mut self.bodies);
    }

    /// Prepares the projection of a part of an island. An island that is cut into blocks is large,
    /// and counts as supported.
    pub(super) fn prepare_projection(&mut self) {
        let supported = vec![true; self.island_count as usize];
        let Self { bodies, contacts, projection, islands, .. } = self;
        projection.prepare(bodies, contacts, islands, &supported);
    }

    /// For each island: whether it touches the world or a kinematic body.
    fn supported(&self) -> Vec<bool> {
        let mut supported = vec![false; self.island_count as usize];
        let movable = 1..self.bodies.movable_end() as u32;
        for constraint in &self.contacts.constraints {
            let [first, second] = constraint.bodies;
            for (a, b) in first.into_iter().zip(second) {
                if movable.contains(&a) != movable.contains(&b) {
                    let body = if movable.contains(&a) { a } else { b };
                    supported[self.islands[body as usize] as usize] = true;
                }
            }
        }
        supported
    }
}
