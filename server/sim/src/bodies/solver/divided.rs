//! An island that is divided into blocks. In each pass threads solve the blocks, and then one
//! thread solves the contacts between blocks. The blocks do not depend on the number of threads, so
//! the result does not depend on it either.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::BodyIndices;
use super::block::Block;
use super::body::Bodies;
use super::contacts::{Contacts, SubSteps};
use super::division::{DividedIsland, Place};
use super::projection::Projection;
use super::task::{Task, drive};
use crate::bodies::contact::Pair;
use crate::threads::{Stages, Threads};

/// The contacts between the blocks of an island, with copies of the bodies that have such contacts.
struct Boundary {
    /// The places of the bodies in their blocks, in order; the first is unused.
    places: Vec<Place>,
    bodies: Bodies,
    contacts: Contacts,
    projection: Projection,
}

/// Rounds of restitution. In each round, passes are repeated first over the points within every
/// block until they agree, then over the points between blocks.
const BOUNCES: u32 = 4;

/// An island that is being solved.
struct Staged<'a> {
    blocks: Vec<Mutex<&'a mut Block>>,
    /// Index of the first block.
    first: u32,
    boundary: Mutex<Boundary>,
}

impl Staged<'_> {
    fn has_impacts(&self) -> bool {
        self.blocks.iter().any(|block| locked(block).has_impacts())
    }
}

/// Advances a divided island by a tick. Its blocks are prepared.
pub(super) fn solve(
    island: &mut DividedIsland,
    blocks: &mut [Block],
    pairs: &[Pair],
    indices: &BodyIndices,
    places: &[Place],
    threads: &Threads,
) {
    let [first, end] = island.blocks;
    let (steps, count) = (blocks[first].steps, end - first);
    let contacts = std::mem::take(&mut island.contacts);
    let boundary = Boundary::new(contacts, blocks, steps.seconds, pairs, indices, places);
    let staged = Staged {
        blocks: blocks[first..end].iter_mut().map(Mutex::new).collect(),
        first: first as u32,
        boundary: Mutex::new(boundary),
    };
    let work = |task: u16, at: usize| {
        Task::of(task).do_with(&mut locked(&staged.blocks[at]));
    };
    threads.in_stages(count, work, |stages| {
        let mut boundary = locked(&staged.boundary);
        drive(steps.count, |task| boundary.run(task, &staged, stages, steps));
    });
    let boundary = staged.boundary.into_inner().unwrap_or_else(PoisonError::into_inner);
    island.contacts = boundary.contacts;
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Boundary {
    fn new(
        contacts: Contacts,
        blocks: &[Block],
        seconds: f64,
        pairs: &[Pair],
        indices: &BodyIndices,
        of_bodies: &[Place],
    ) -> Self {
        let touching = contacts.pairs.iter().flat_map(|&pair| indices.of(&pairs[pair]));
        let mut places: Vec<Place> = touching.map(|body| of_bodies[body]).collect();
        places.push(Place::default());
        places.sort_unstable();
        places.dedup();
        let mut bodies = Bodies::with_capacity(places.len(), seconds);
        for place in &places[1..] {
            bodies.copy(&blocks[place.block as usize].bodies, place.local as usize);
        }
        let local = |body: usize| places.binary_search(&of_bodies[body]).unwrap_or(0);
        let mut boundary =
            Self { bodies, contacts, projection: Projection::default(), places: Vec::new() };
        let Self { bodies, contacts, .. } = &mut boundary;
        contacts.prepare(bodies, pairs, |pair| indices.of(pair).map(local));
        boundary.places = places;
        boundary
    }

    /// Does a task in all blocks, and then between them.
    fn run(&mut self, task: Task, staged: &Staged, stages: &Stages, steps: SubSteps) {
        let run = |task: Task| stages.run(task as u16, staged.blocks.len());
        match task {
            Task::Begin => {
                run(task);
                self.with_motions(staged, |contacts, bodies| contacts.warm_start(bodies));
            }
            Task::MoveAndRelax => {
                run(task);
                self.with_motions(staged, |contacts, bodies| contacts.relax(bodies, steps));
            }
            Task::Project => self.project(staged, stages),
            Task::Bounce => {
                let has_impacts = !self.contacts.impacts.is_empty() || staged.has_impacts();
                for _ in 0..if has_impacts { BOUNCES } else { 0 } {
                    run(task);
                    self.with_velocities(staged, |contacts, bodies| contacts.bounce(bodies));
                }
            }
            // A push, at the beginning of a sub-step.
            _ => {
                run(task);
                self.with_velocities(staged, |contacts, bodies| contacts.push(bodies, steps));
            }
        }
    }

    /// Calls `each` with each block that has bodies in this boundary, and with two indices for each
    /// of these bodies: one in the boundary, and one in the block.
    fn each_block(
        places: &[Place],
        staged: &Staged,
        mut each: impl FnMut(&mut Block, &mut dyn Iterator<Item = [usize; 2]>),
    ) {
        let mut next = 1;
        for own in places[1..].chunk_by(|a, b| a.block == b.block) {
            let mut block = locked(&staged.blocks[(own[0].block - staged.first) as usize]);
            let mut both =
                own.iter().enumerate().map(|(at, place)| [next + at, place.local as usize]);
            each(&mut block, &mut both);
            next += own.len();
        }
    }

    /// Copies the velocities of the bodies from the blocks, lets `solve` change them, and copies
    /// them back.
    fn with_velocities(&mut self, staged: &Staged, solve: impl Fn(&mut Contacts, &mut Bodies)) {
        let Self { places, bodies, contacts, .. } = self;
        Self::each_block(places, staged, |block, both| {
            for [own, theirs] in both {
                bodies.velocities[own] = block.bodies.velocities[theirs];
            }
        });
        solve(contacts, bodies);
        Self::each_block(places, staged, |block, both| {
            for [own, theirs] in both {
                block.bodies.velocities[theirs] = bodies.velocities[own];
            }
        });
    }

    /// Like [`with_velocities`](Self::with_velocities), for a `solve` that needs to know how far
    /// the bodies have moved.
    fn with_motions(&mut self, staged: &Staged, solve: impl Fn(&mut Contacts, &mut Bodies)) {
        let Self { places, bodies, .. } = self;
        Self::each_block(places, staged, |block, both| {
            for [own, theirs] in both {
                bodies.displacements[own] = block.bodies.displacements[theirs];
            }
        });
        self.with_velocities(staged, solve);
    }

    /// Projects the displacements of the whole island.
    fn project(&mut self, staged: &Staged, stages: &Stages) {
        let run = |task: Task| stages.run(task as u16, staged.blocks.len());
        run(Task::PrepareProjection);
        let islands = vec![0; self.places.len()];
        self.projection.prepare(&self.bodies, &self.contacts, &islands, &[true]);
        let shortfall =
            staged.blocks.iter().map(|block| locked(block).projection.greatest_shortfall());
        let shortfall =
            shortfall.fold(self.projection.greatest_shortfall(), super::projection::Shortfall::max);
        if !shortfall.needs_correction() {
            return;
        }
        self.passes(staged, stages);
        run(Task::AddVelocities);
        if shortfall.needs_push() {
            run(Task::AddPush);
            self.projection.add_push(&self.contacts);
            self.passes(staged, stages);
        }
        run(Task::Displace);
    }

    /// Makes passes over the contacts of the island until none is left to solve. A contact is
    /// solved if it lacks distance at first, and again whenever another contact has moved one of
    /// its bodies.
    fn passes(&mut self, staged: &Staged, stages: &Stages) {
        let Self { places, contacts, projection, .. } = self;
        for block in &staged.blocks {
            locked(block).projection.set_goes_on(true);
        }
        projection.set_goes_on(true);
        for _ in 0..super::projection::PASSES {
            stages.run(Task::ProjectionPass as u16, staged.blocks.len());
            Self::each_block(places, staged, |block, both| {
                both.for_each(|bodies| projection.copy_from(&block.projection, bodies));
            });
            projection.pass(contacts);
            let mut goes_on = projection.goes_on();
            Self::each_block(places, staged, |block, both| {
                both.for_each(|[own, theirs]| {
                    block.projection.copy_from(projection, [theirs, own])
                });
            });
            for block in &staged.blocks {
                goes_on |= locked(block).projection.goes_on();
            }
            if !goes_on {
                break;
            }
            // A block whose points are all at their targets may need another pass after its
            // neighbours have moved.
            for block in &staged.blocks {
                locked(block).projection.set_goes_on(true);
            }
            projection.set_goes_on(true);
        }
    }
}
