//! Projection: changes the displacements of a tick so that bodies keep their gap. A few velocity
//! passes leave some approach, which is removed here.
//!
//! The guard stops a body at once if its motion would go below the guard's margin. A heap in which
//! every contact lacks a hundredth of a unit would not move at all. So the displacements of a tick
//! are projected onto displacements that keep the gap. This is a position-based solve (Müller et
//! al. 2007), with impulses accumulated as in a velocity solve.

use super::body::{Bodies, Twist, unpadded};
use super::constraint::{ConstraintPoint, ContactConstraint};
use super::contacts::Contacts;
use super::lanes::{LANES, Lanes, Vec3Lanes, inverse_or_zero, positive_part};
use crate::collision::distances::REST_GAP;

/// Limit of passes over an island's points, in either of the two solves.
pub(super) const PASSES: u32 = 15;

/// The gap that is kept, in units: nine times the guard's margin, and less than the rest gap. If it
/// were nearly the rest gap, twice as many points would be a little too near, and the passes would
/// take another twentieth of a heap's time without any benefit.
const TARGET_GAP: f32 = 0.7 * REST_GAP as f32;

/// Maximum distance by which two bodies are pushed apart within a tick, in units.
const MAX_PUSH: f32 = 0.5 * REST_GAP as f32;

/// Points that lack less than this, in units, are not corrected.
const TOLERANCE: f32 = 0.004;

/// Share of its mobility that the lower of two bodies keeps. A body that carries others moves less,
/// so that a heap is corrected from its ground up in few passes.
const LOWER_MOBILITY: f32 = 0.25;

/// A point that misses its target by less than this, in units, is left alone. So passes visit only
/// the bodies around points that lack something.
const SETTLED: f32 = 0.25 * TOLERANCE;

/// In a contact whose normal has at least this height, one body carries the other.
const CARRYING_SLOPE: f32 = 0.3;

/// For each combination of the bits of lanes: the mask of the lanes whose bits are set.
const MASKS: [[f32; LANES]; 1 << LANES] = {
    let mut masks = [[0.0; LANES]; 1 << LANES];
    let mut at = 0;
    while at < LANES << LANES {
        let (bits, lane) = (at / LANES, at % LANES);
        if bits & 1 << lane != 0 {
            masks[bits][lane] = f32::from_bits(u32::MAX);
        }
        at += 1;
    }
    masks
};

/// The contacts of one constraint as the projection sees them.
struct ProjectedConstraint {
    inverse_masses: [Lanes; 2],
    /// Numbers of the lanes' islands.
    islands: [u32; LANES],
}

/// A lane of a constraint, which a change of either of its bodies wakes.
#[derive(Clone, Copy, Default)]
struct WokenLane {
    constraint: u32,
    bit: u8,
}

/// For each body: the lanes of constraints to which it belongs.
#[derive(Default)]
struct LanesOfBodies {
    /// For each body: the index at which its lanes begin. The last entry is the number of all
    /// lanes.
    begins: Vec<u32>,
    lanes: Vec<WokenLane>,
}

/// One contact point of each lane.
struct ProjectedPoint {
    /// Angular velocities that a unit impulse gives to the two bodies, each multiplied by the share
    /// of its mobility that the body keeps.
    spins: [Vec3Lanes; 2],
    effective_mass: Lanes,
    /// Missing distance before any correction, in units.
    missing: Lanes,
    /// Distance by which the bodies are pushed apart beyond `missing`, in units.
    push: Lanes,
    impulse: Lanes,
}

/// The shortfall of an island: by how much its points miss their targets, in units. Each field is
/// the greatest value of all its points.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shortfall {
    missing: f32,
    /// The distance that is missing if the push is added.
    with_push: f32,
}

impl Shortfall {
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

/// The progress of the projection of an island.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    shortfall: Shortfall,
    /// Whether the island gets another pass. Each island ends by itself, so that none depends on
    /// another.
    goes_on: bool,
}

/// The projection of the islands of a block.
#[derive(Default)]
pub(super) struct Projection {
    /// The constraints, one for each constraint of the contacts.
    constraints: Vec<ProjectedConstraint>,
    /// For each constraint: the bits of the lanes that are to be solved. A solved lane waits until
    /// another contact changes one of its bodies, even if other lanes go on.
    awake: Vec<u8>,
    /// The points, one for each point of the contacts.
    points: Vec<ProjectedPoint>,
    /// The progress of each island.
    progress: Vec<Progress>,
    /// The displacements that the projection adds to the bodies' motions.
    corrections: Vec<Twist>,
    /// How often the correction of each body has changed.
    changes: Vec<u32>,
    /// The lanes that a change of each body wakes. A body that is never corrected wakes none.
    lanes_of: LanesOfBodies,
}

impl Projection {
    /// Corrects the displacements of whole islands, which are prepared, so that the points keep the
    /// gap.
    pub(super) fn project(&mut self, bodies: &mut Bodies, contacts: &Contacts, seconds: f32) {
        // The first solve is without the push. A displacement that this solve removes is removed
        // from the velocities as well. The push must not become velocity.
        if !self.passes(contacts, Shortfall::needs_correction) {
            return;
        }
        self.add_velocities(bodies, seconds);
        self.add_push(contacts);
        self.passes(contacts, Shortfall::needs_push);
        self.displace(bodies);
    }

    /// Prepares all points. `islands` are the numbers of the islands of the bodies that impulses
    /// move. `supported` says by island whether it touches something that does not yield.
    pub(super) fn prepare(
        &mut self,
        bodies: &Bodies,
        contacts: &Contacts,
        islands: &[u32],
        supported: &[bool],
    ) {
        self.progress = vec![Progress::default(); supported.len()];
        self.corrections = vec![Twist::default(); bodies.list.len()];
        self.changes = vec![0; bodies.list.len()];
        self.lanes_of = LanesOfBodies::new(bodies.list.len(), islands.len(), &contacts.constraints);
        self.constraints.reserve(contacts.constraints.len());
        self.awake.reserve(contacts.constraints.len());
        self.points.reserve(contacts.points.len());
        for constraint in &contacts.constraints {
            // A pair with a kinematic body is in the island of the other body.
            let [first, second] = &constraint.bodies;
            let islands: [u32; LANES] = std::array::from_fn(|lane| {
                let island = islands.get(first[lane] as usize);
                *island.unwrap_or_else(|| &islands[second[lane] as usize])
            });
            let is_supported = islands.map(|island| supported.get(island as usize) == Some(&true));
            let shares = constraint.shares(is_supported);
            let inverse_masses = [0, 1].map(|k| constraint.inverse_masses[k] * shares[k]);
            let along = constraint.shares_along(constraint.axes[0]);
            let linear = inverse_masses[0] * along[0] + inverse_masses[1] * along[1];
            let (mut missing, mut with_push) = (Lanes::ZERO, Lanes::ZERO);
            for point in &contacts.points[constraint.points.clone()] {
                let projected = ProjectedPoint::new(point, shares, linear);
                missing = missing.fast_max(projected.missing);
                with_push = with_push.fast_max(projected.missing + projected.push);
                self.points.push(projected);
            }
            // Lanes whose points lack no distance wait until one of their bodies is moved.
            self.awake.push(missing.simd_gt(SETTLED).to_bitmask() as u8);
            let (missing, with_push) = (missing.to_array(), with_push.to_array());
            for (lane, &island) in islands.iter().enumerate() {
                if let Some(progress) = self.progress.get_mut(island as usize) {
                    let shortfall =
                        Shortfall { missing: missing[lane], with_push: with_push[lane] };
                    progress.shortfall = progress.shortfall.max(shortfall);
                }
            }
            self.constraints.push(ProjectedConstraint { inverse_masses, islands });
        }
    }

    /// Makes passes over each island whose shortfall `needs` accepts, until none of its points
    /// lacks more than [`TOLERANCE`], at most [`PASSES`] passes. Returns whether there was such an
    /// island.
    fn passes(&mut self, contacts: &Contacts, needs: impl Fn(Shortfall) -> bool) -> bool {
        self.progress.iter_mut().for_each(|progress| progress.goes_on = needs(progress.shortfall));
        let any = self.goes_on();
        for _ in 0..PASSES {
            if !self.goes_on() {
                break;
            }
            self.pass(contacts);
        }
        any
    }

    /// Makes one pass over all islands that go on. An island ends once none of its points lacks
    /// more than the tolerance. A contact is solved again only when another contact has moved one
    /// of its bodies.
    pub(super) fn pass(&mut self, contacts: &Contacts) {
        let mut falls_short = vec![false; self.progress.len()];
        let all_go_on = self.progress.iter().all(|progress| progress.goes_on);
        for (at, constraint) in contacts.constraints.iter().enumerate() {
            let awake = u32::from(self.awake[at]);
            if awake == 0 {
                continue;
            }
            let projected = &self.constraints[at];
            let islands = projected.islands;
            let goes_on = |&lane: &usize| self.progress[islands[lane] as usize].goes_on;
            let active = if all_go_on {
                awake
            } else {
                bits(awake).filter(goes_on).fold(0, |active, lane| active | 1 << lane)
            };
            if active == 0 {
                continue;
            }
            let own = constraint.points.clone();
            let points = &contacts.points[own.clone()];
            let rows = &mut self.points[own];
            let (missing, moved) =
                constraint.push_apart(points, rows, projected, &mut self.corrections, active);
            for lane in bits(missing & active) {
                falls_short[islands[lane] as usize] = true;
            }
            for lane in bits(moved) {
                for body in constraint.bodies.map(|bodies| bodies[lane] as usize) {
                    self.change(body);
                }
            }
            self.awake[at] &= !active as u8;
        }
        for (progress, falls_short) in self.progress.iter_mut().zip(falls_short) {
            progress.goes_on &= falls_short;
        }
    }

    /// Whether any island gets another pass.
    pub(super) fn goes_on(&self) -> bool {
        self.progress.iter().any(|progress| progress.goes_on)
    }

    /// Sets for all islands whether they get another pass.
    pub(super) fn set_goes_on(&mut self, goes_on: bool) {
        self.progress.iter_mut().for_each(|progress| progress.goes_on = goes_on);
    }

    /// The greatest shortfall of all islands.
    pub(super) fn greatest_shortfall(&self) -> Shortfall {
        self.progress
            .iter()
            .fold(Shortfall::default(), |most, progress| most.max(progress.shortfall))
    }

    /// Counts a change of a body, and wakes the lanes of all its contacts.
    fn change(&mut self, body: usize) {
        let lanes = self.lanes_of.body(body);
        if !lanes.is_empty() {
            self.changes[body] += 1;
            wake(&mut self.awake, lanes);
        }
    }

    /// Takes the correction of a body from another block's projection. The indices are the body's
    /// here and there.
    pub(super) fn copy_from(&mut self, other: &Self, [own, theirs]: [usize; 2]) {
        if self.changes[own] != other.changes[theirs] {
            self.changes[own] = other.changes[theirs];
            self.corrections[own] = other.corrections[theirs];
            wake(&mut self.awake, self.lanes_of.body(own));
        }
    }

    /// Adds the corrections to the velocities, as displacements that are made within `seconds`.
    pub(super) fn add_velocities(&self, bodies: &mut Bodies, seconds: f32) {
        for (body, correction) in self.changed() {
            let velocity = &mut bodies.velocities[body];
            velocity.linear += correction.linear * (1.0 / seconds);
            velocity.angular += correction.angular * (1.0 / seconds);
        }
    }

    /// Adds the push to the distances that the points lack.
    pub(super) fn add_push(&mut self, contacts: &Contacts) {
        for (awake, constraint) in self.awake.iter_mut().zip(&contacts.constraints) {
            for point in &mut self.points[constraint.points.clone()] {
                let pushed = point.push.simd_gt(Lanes::ZERO).to_bitmask();
                if pushed != 0 {
                    point.missing += point.push;
                    *awake |= pushed as u8;
                }
            }
        }
    }

    /// Adds the corrections to the displacements of the bodies.
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

/// Marks lanes to be solved.
fn wake(awake: &mut [u8], lanes: &[WokenLane]) {
    for lane in lanes {
        awake[lane.constraint as usize] |= lane.bit;
    }
}

/// The lanes whose bits are set.
fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        lane
    })
}

impl LanesOfBodies {
    /// Lists the lanes of `count` bodies. Only the bodies before `movable_end` wake lanes. The
    /// first body is the fixed one, and wakes none.
    fn new(count: usize, movable_end: usize, constraints: &[ContactConstraint]) -> Self {
        let lanes = || {
            let of = |(at, constraint): (usize, &ContactConstraint)| {
                let bodies = constraint.bodies;
                let of_body = move |k: usize| {
                    let lane = WokenLane { constraint: at as u32, bit: 1 << (k % LANES) };
                    (bodies[k / LANES][k % LANES] as usize, lane)
                };
                (0..2 * LANES).map(of_body)
            };
            let all = constraints.iter().enumerate().flat_map(of);
            all.filter(move |(body, _)| (1..movable_end).contains(body))
        };
        let mut begins = vec![0; count + 1];
        lanes().for_each(|(body, _)| begins[body] += 1);
        let mut total = 0;
        for begin in &mut begins {
            total += *begin;
            *begin = total;
        }
        let mut by_body = vec![WokenLane::default(); total as usize];
        for (body, lane) in lanes() {
            begins[body] -= 1;
            by_body[begins[body] as usize] = lane;
        }
        Self { begins, lanes: by_body }
    }

    fn body(&self, body: usize) -> &[WokenLane] {
        &self.lanes[self.begins[body] as usize..self.begins[body + 1] as usize]
    }
}

impl ProjectedPoint {
    /// Prepares a point. `linear` is the response to a unit impulse by translation alone.
    fn new(point: &ConstraintPoint, shares: [Lanes; 2], linear: Lanes) -> Self {
        let target = point.gap.fast_min(Lanes::splat(TARGET_GAP));
        let push = (TARGET_GAP - target).fast_min(Lanes::splat(MAX_PUSH));
        let exists = point.exists();
        let spins = [0, 1].map(|k| point.spins[k] * shares[k]);
        let response = linear + point.torques[0].dot(spins[0]) + point.torques[1].dot(spins[1]);
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
    /// The share of its mobility that each body of a lane has in the projection: less for a body
    /// that carries the other. Bodies in flight carry nothing, and keep their momentum.
    fn shares(&self, is_supported: [bool; LANES]) -> [Lanes; 2] {
        if !self.is_mutual {
            return [Lanes::ONE; 2];
        }
        // Without support the z component counts as zero, and a level normal carries nothing.
        let up = Lanes::new(is_supported.map(|is| f32::from(u8::from(is)))) * self.axes[0].z();
        let lower = Lanes::splat(LOWER_MOBILITY);
        let carries = |up: Lanes| up.simd_ge(CARRYING_SLOPE).select(lower, Lanes::ONE);
        [carries(up), carries(-up)]
    }

    /// Pushes the bodies of the lanes with the bits `active` apart, once for each point, by the
    /// distance that the point lacks. Returns the bits of the lanes that lacked more than the
    /// tolerance, and the bits of the lanes whose bodies moved.
    fn push_apart(
        &self,
        points: &[ConstraintPoint],
        rows: &mut [ProjectedPoint],
        projected: &ProjectedConstraint,
        corrections: &mut [Twist],
        active: u32,
    ) -> (u32, u32) {
        if self.is_mutual {
            self.push_apart_as::<true>(points, rows, projected, corrections, active)
        } else {
            self.push_apart_as::<false>(points, rows, projected, corrections, active)
        }
    }

    #[inline(always)]
    fn push_apart_as<const BOTH: bool>(
        &self,
        points: &[ConstraintPoint],
        rows: &mut [ProjectedPoint],
        projected: &ProjectedConstraint,
        corrections: &mut [Twist],
        active: u32,
    ) -> (u32, u32) {
        let normal = self.axes[0];
        let masses = projected.inverse_masses;
        let active = Lanes::new(MASKS[active as usize]);
        let mut sum = self.velocities::<BOTH>(corrections);
        let (mut worst, mut moved) = (Lanes::ZERO, Lanes::ZERO);
        for (row, point) in rows.iter_mut().zip(points) {
            let own = point.torques[0].dot(sum.angular[0]);
            let apart = if BOTH {
                let linear = normal.dot(sum.linear[1] - sum.linear[0]);
                linear + point.torques[1].dot(sum.angular[1]) - own
            } else {
                -normal.dot(sum.linear[0]) - own
            };
            let missing = row.missing - apart;
            // A lane may have fewer points than others.
            worst = worst.fast_max(missing & row.effective_mass.simd_gt(Lanes::ZERO));
            let corrected = missing.abs().simd_ge(SETTLED) & active;
            let impulse = positive_part(row.impulse + (missing & corrected) * row.effective_mass);
            let change = impulse - row.impulse;
            let changed = change.simd_ne(Lanes::ZERO);
            if !changed.any() {
                continue;
            }
            row.impulse = impulse;
            moved |= changed;
            sum.linear[0] -= normal * (change * masses[0]);
            sum.angular[0] -= row.spins[0] * change;
            if BOTH {
                sum.linear[1] += normal * (change * masses[1]);
                sum.angular[1] += row.spins[1] * change;
            }
            self.keep_locked(&mut sum.linear);
        }
        let moved = moved.to_bitmask();
        if moved != 0 {
            self.store::<BOTH>(corrections, &sum);
        }
        (worst.simd_ge(TOLERANCE).to_bitmask(), moved)
    }
}
