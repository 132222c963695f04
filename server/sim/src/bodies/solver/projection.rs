//! Displacements that keep the gap: the approach that few velocity passes leave
//! over is removed from the displacements.
//!
//! The guard stops a body where it stands if its motion would go below the guard's
//! margin, so a heap whose every contact lacks a hundredth of a unit would not
//! move at all. The displacements of a tick are therefore projected on those that
//! keep the gap (a position-based solve, Müller et al. 2007, with impulses
//! accumulated as in a velocity solve).

use super::body::{Bodies, Twist, unpadded};
use super::constraint::{ConstraintPoint, ContactConstraint};
use super::contacts::Contacts;
use super::lanes::{LANES, Lanes, Vec3Lanes, inverse_or_zero, positive_part};
use crate::collision::distances::REST_GAP;

/// Most passes over an island's points, in either of the two solves.
pub(super) const PASSES: u32 = 15;

/// The gap that is kept, in units: nearly the rest gap, and many times the guard's
/// margin.
const TARGET_GAP: f32 = 0.9 * REST_GAP as f32;

/// Farthest that two bodies are pushed apart within a tick, in units.
const MAX_PUSH: f32 = 0.5 * REST_GAP as f32;

/// Points that lack less than this, in units, are not corrected.
const TOLERANCE: f32 = 0.004;

/// Share of its mobility that the lower of two bodies has: a body that carries
/// others moves less, so that a heap is corrected from its ground up in few
/// passes.
const LOWER_MOBILITY: f32 = 0.25;

/// A point that is this near to what it aims for, in units, stays as it is: passes then
/// look only at the bodies around those that lack something.
const SETTLED: f32 = 0.25 * TOLERANCE;

/// In a contact whose normal has at least this height, one body carries the other.
const CARRYING_SLOPE: f32 = 0.3;

/// Stands for a body that a lane has not looked at yet: no body changes so often.
const NEVER_SEEN: u32 = u32::MAX;

/// The contacts of one constraint as the projection sees them.
struct ProjectedConstraint {
    inverse_masses: [Lanes; 2],
    /// Numbers of the lanes' islands.
    islands: [u32; LANES],
    /// How often the bodies of each lane had changed when it was last looked at: a lane
    /// waits until one of them does again, whatever the others do.
    seen: [[u32; LANES]; 2],
}

/// One contact point of each lane.
struct ProjectedPoint {
    /// As the point's, by the share of the mobility.
    spins: [Vec3Lanes; 2],
    effective_mass: Lanes,
    /// Missing distance before any correction, in units.
    missing: Lanes,
    /// Distance by which the bodies are pushed apart beyond that, in units.
    push: Lanes,
    impulse: Lanes,
}

/// The greatest distances that the points of an island lack, in units.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lack {
    missing: f32,
    /// The same with the push.
    with_push: f32,
}

impl Lack {
    pub(super) fn max(self, other: Self) -> Self {
        Self {
            missing: self.missing.max(other.missing),
            with_push: self.with_push.max(other.with_push),
        }
    }

    /// Whether anything is to be corrected.
    pub(super) fn needs_correction(self) -> bool {
        self.missing >= TOLERANCE || self.needs_push()
    }

    /// Whether bodies are to be pushed apart.
    pub(super) fn needs_push(self) -> bool {
        self.with_push >= TOLERANCE
    }
}

/// How far an island is.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    lack: Lack,
    /// Whether it gets another pass: islands end one by one, so that none depends on another.
    goes_on: bool,
}

/// The projection of the islands of a block.
#[derive(Default)]
pub(super) struct Projection {
    /// One for each constraint.
    constraints: Vec<ProjectedConstraint>,
    /// One for each point.
    points: Vec<ProjectedPoint>,
    /// By island.
    progress: Vec<Progress>,
    /// The displacements that the projection adds to the bodies' motions.
    corrections: Vec<Twist>,
    /// How often the correction of each body has changed.
    changes: Vec<u32>,
    /// The index behind the last body that can be corrected.
    movable_end: usize,
}

impl Projection {
    /// Corrects the displacements of whole islands so that the points keep the gap. They
    /// are prepared.
    pub(super) fn project(&mut self, bodies: &mut Bodies, contacts: &Contacts, seconds: f32) {
        // First without the push: displacement that is removed is no velocity either.
        if !self.passes(contacts, Lack::needs_correction) {
            return;
        }
        self.add_velocities(bodies, seconds);
        self.add_push(contacts);
        self.passes(contacts, Lack::needs_push);
        self.displace(bodies);
    }

    /// Prepares all points. `islands` are the numbers of the islands, below `island_count`, of
    /// the bodies that impulses move.
    pub(super) fn prepare(
        &mut self,
        bodies: &Bodies,
        contacts: &Contacts,
        islands: &[u32],
        island_count: usize,
    ) {
        self.progress = vec![Progress::default(); island_count];
        self.corrections = vec![Twist::default(); bodies.list.len()];
        self.changes = vec![0; bodies.list.len()];
        self.movable_end = islands.len();
        self.constraints.reserve(contacts.constraints.len());
        self.points.reserve(contacts.points.len());
        for constraint in &contacts.constraints {
            let shares = constraint.shares();
            let inverse_masses = [0, 1].map(|k| constraint.inverse_masses[k] * shares[k]);
            let (mut missing, mut with_push) = (Lanes::ZERO, Lanes::ZERO);
            for point in &contacts.points[constraint.points.clone()] {
                let projected = ProjectedPoint::new(point, shares, inverse_masses);
                missing = missing.fast_max(projected.missing);
                with_push = with_push.fast_max(projected.missing + projected.push);
                self.points.push(projected);
            }
            // Of a pair with a kinematic body, that of the other one.
            let [first, second] = &constraint.bodies;
            let islands: [u32; LANES] = std::array::from_fn(|lane| {
                let island = islands.get(first[lane] as usize);
                *island.unwrap_or_else(|| &islands[second[lane] as usize])
            });
            let (missing, with_push) = (missing.to_array(), with_push.to_array());
            for (lane, &island) in islands.iter().enumerate() {
                if let Some(progress) = self.progress.get_mut(island as usize) {
                    let lack = Lack { missing: missing[lane], with_push: with_push[lane] };
                    progress.lack = progress.lack.max(lack);
                }
            }
            // Lanes that lack nothing wait until one of their bodies is moved.
            let first = missing.map(|missing| if missing > SETTLED { NEVER_SEEN } else { 0 });
            let seen = [first, [0; LANES]];
            self.constraints.push(ProjectedConstraint { inverse_masses, islands, seen });
        }
    }

    /// Passes over all islands whose lack `needs` them, each until its points lack no more
    /// than the tolerance. Returns whether there were any.
    fn passes(&mut self, contacts: &Contacts, needs: impl Fn(Lack) -> bool) -> bool {
        self.progress.iter_mut().for_each(|progress| progress.goes_on = needs(progress.lack));
        let any = self.goes_on();
        for _ in 0..PASSES {
            if !self.goes_on() {
                break;
            }
            self.pass(contacts);
        }
        any
    }

    /// One pass over all islands that go on; those that lack no more than the tolerance then
    /// go on no further.
    pub(super) fn pass(&mut self, contacts: &Contacts) {
        let mut lacks = vec![false; self.progress.len()];
        for (projected, constraint) in self.constraints.iter_mut().zip(&contacts.constraints) {
            let changes = constraint.bodies.map(|lanes| lanes.map(|b| self.changes[b as usize]));
            let waits = |lane: usize| (0..2).all(|k| changes[k][lane] == projected.seen[k][lane]);
            if (0..LANES).all(waits) {
                continue;
            }
            let islands = projected.islands.map(|island| island as usize);
            let active: [bool; LANES] =
                std::array::from_fn(|lane| !waits(lane) && self.progress[islands[lane]].goes_on);
            let mask = Lanes::new(active.map(|is| f32::from_bits(if is { u32::MAX } else { 0 })));
            let own = constraint.points.clone();
            let (missing, moved) = constraint.push_apart(
                &contacts.points[own.clone()],
                &mut self.points[own],
                projected.inverse_masses,
                &mut self.corrections,
                mask,
            );
            let missing = missing.simd_ge(TOLERANCE).to_bitmask();
            for lane in (0..LANES).filter(|&lane| active[lane]) {
                lacks[islands[lane]] |= missing & 1 << lane != 0;
                for (bodies, seen) in constraint.bodies.iter().zip(&mut projected.seen) {
                    let body = bodies[lane] as usize;
                    if moved & 1 << lane != 0 && (1..self.movable_end).contains(&body) {
                        self.changes[body] += 1;
                    }
                    seen[lane] = self.changes[body];
                }
            }
        }
        for (progress, lacks) in self.progress.iter_mut().zip(lacks) {
            progress.goes_on &= lacks;
        }
    }

    /// Whether any island gets another pass.
    pub(super) fn goes_on(&self) -> bool {
        self.progress.iter().any(|progress| progress.goes_on)
    }

    /// Sets that of all islands.
    pub(super) fn set_goes_on(&mut self, goes_on: bool) {
        self.progress.iter_mut().for_each(|progress| progress.goes_on = goes_on);
    }

    /// The greatest lack of all islands.
    pub(super) fn greatest_lack(&self) -> Lack {
        self.progress.iter().fold(Lack::default(), |most, progress| most.max(progress.lack))
    }

    /// Takes the correction of a body from another block's projection, given its index here
    /// and there.
    pub(super) fn copy_from(&mut self, other: &Self, [own, theirs]: [usize; 2]) {
        self.corrections[own] = other.corrections[theirs];
        self.changes[own] = other.changes[theirs];
    }

    /// Adds the corrections to the velocities, too.
    pub(super) fn add_velocities(&self, bodies: &mut Bodies, seconds: f32) {
        for (body, correction) in self.changed() {
            let velocity = &mut bodies.velocities[body];
            velocity.linear += correction.linear * (1.0 / seconds);
            velocity.angular += correction.angular * (1.0 / seconds);
        }
    }

    /// Adds the push to what the points lack.
    pub(super) fn add_push(&mut self, contacts: &Contacts) {
        for (projected, constraint) in self.constraints.iter_mut().zip(&contacts.constraints) {
            for point in &mut self.points[constraint.points.clone()] {
                let pushed = point.push.simd_gt(Lanes::ZERO).to_bitmask();
                if pushed != 0 {
                    point.missing += point.push;
                    for lane in (0..LANES).filter(|&lane| pushed & 1 << lane != 0) {
                        projected.seen[0][lane] = NEVER_SEEN;
                    }
                }
            }
        }
    }

    /// Adds the corrections to the motions.
    pub(super) fn displace(&self, bodies: &mut Bodies) {
        for (body, Twist { linear, angular }) in self.changed() {
            bodies.displace(body, linear, unpadded(angular));
        }
    }

    /// The bodies with a correction.
    fn changed(&self) -> impl Iterator<Item = (usize, Twist)> {
        let all = self.corrections.iter().zip(&self.changes).enumerate();
        let changed = all.filter(|(_, (_, changes))| **changes > 0);
        changed.map(|(body, (correction, _))| (body, *correction))
    }
}

impl ProjectedPoint {
    fn new(point: &ConstraintPoint, shares: [Lanes; 2], inverse_masses: [Lanes; 2]) -> Self {
        let target = point.gap.fast_min(Lanes::splat(TARGET_GAP));
        let push = (TARGET_GAP - target).fast_min(Lanes::splat(MAX_PUSH));
        let exists = point.exists();
        let spins = [0, 1].map(|k| point.spins[k] * shares[k]);
        let response = inverse_masses[0]
            + inverse_masses[1]
            + point.torques[0].dot(spins[0])
            + point.torques[1].dot(spins[1]);
        let missing = (target - (point.separation + REST_GAP as f32)) & exists;
        Self {
            spins,
            effective_mass: inverse_or_zero(response) & exists,
            missing,
            push: push & exists,
            impulse: Lanes::ZERO,
        }
    }
}

impl ContactConstraint {
    /// Shares of their mobility that the two bodies of each lane have in the projection.
    fn shares(&self) -> [Lanes; 2] {
        if !self.is_mutual {
            return [Lanes::ONE; 2];
        }
        let up = self.axes[0].z();
        let lower = Lanes::splat(LOWER_MOBILITY);
        let carries = |up: Lanes| up.simd_ge(CARRYING_SLOPE).select(lower, Lanes::ONE);
        [carries(up), carries(-up)]
    }

    /// Pushes the bodies of the lanes in the mask `active` apart until each point lacks
    /// nothing. Returns the distance that was missing in each lane, and the mask of lanes
    /// whose bodies moved.
    fn push_apart(
        &self,
        points: &[ConstraintPoint],
        rows: &mut [ProjectedPoint],
        inverse_masses: [Lanes; 2],
        corrections: &mut [Twist],
        active: Lanes,
    ) -> (Lanes, u32) {
        let normal = self.axes[0];
        let mut sum = self.velocities(corrections);
        let (mut worst, mut moved) = (Lanes::ZERO, Lanes::ZERO);
        for (row, point) in rows.iter_mut().zip(points) {
            let apart = normal.dot(sum.linear[1] - sum.linear[0])
                + point.torques[1].dot(sum.angular[1])
                - point.torques[0].dot(sum.angular[0]);
            let missing = row.missing - apart;
            // A lane may have fewer points than others.
            worst = worst.fast_max(missing & row.effective_mass.simd_gt(Lanes::ZERO));
            let corrected = missing.abs().simd_ge(SETTLED) & active;
            let impulse = positive_part(row.impulse + (missing & corrected) * row.effective_mass);
            let change = impulse - row.impulse;
            row.impulse = impulse;
            moved |= change.simd_ne(Lanes::ZERO);
            sum.linear[0] -= normal * (change * inverse_masses[0]);
            sum.angular[0] -= row.spins[0] * change;
            sum.linear[1] += normal * (change * inverse_masses[1]);
            sum.angular[1] += row.spins[1] * change;
        }
        let moved = moved.to_bitmask();
        if moved != 0 {
            self.store::<true>(corrections, &sum);
        }
        (worst, moved)
    }
}
