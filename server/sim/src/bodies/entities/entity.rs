//! One body: its role, its place, its motion and its rest.

use glam::{DVec3, Vec3};
use obsp::geometry::Aabb;
use serde::{Deserialize, Serialize};

use crate::bodies::blocker::Blocker;
use crate::bodies::dynamics::{Buoyancy, Dynamics};
use crate::bodies::guard::Placement;
use crate::bodies::linear_move::LinearMove;
use crate::bodies::mobility::{Mobility, Pace};
use crate::bodies::near_solids::NearSolids;
use crate::bodies::roles::{
    Hovertank, Kinematic, Missile, MissileMotion, PlayerBody, Role, Walker,
};
use crate::bodies::swing::Swing;
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::counters::AwakeReason;
use crate::state::EntityId;
use crate::traits::{Attachment, CollisionLayers, Substance, Traits};

/// One body. Its placement changes only by [`Entities::commit`](super::Entities::commit), which
/// takes a checked [`Placement`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entity {
    pub(crate) id: EntityId,
    pub(crate) role: Role,
    /// Which other entities the entity may meet.
    pub(crate) layers: CollisionLayers,
    /// The entity's shape. In limbo it is the shape that the entity will have when it comes back.
    pub(crate) shape: ShapeId,
    pub(crate) velocity: DVec3,
    /// Angular velocity in radians per second, world axes.
    pub(crate) angular: DVec3,
    /// The parameters and forces that the body has of its own.
    pub(crate) dynamics: Dynamics,
    pub(crate) sleep: SleepState,
    pub(crate) record: Record,
    /// Whether clients draw the entity.
    pub(crate) visible: bool,
    /// What the entity is while it has no placement.
    pub(crate) outside: Outside,
    /// The placement. Not saved, because only the guard makes a placement.
    #[serde(skip)]
    pub(super) placed: Option<Placement>,
}

/// What an entity without a placement is. To the guard, the solver and the grid it does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum Outside {
    /// In limbo, until there is a free place.
    #[default]
    Waits,
    /// In limbo, until a game brings it back.
    TakenOut,
    /// A picture at a pose that its game has set.
    Intangible(Pose),
    /// A picture that follows its carrier. The pose is that at the end of the last tick.
    Attached(Attachment, Pose),
}

/// The notes that one phase of a tick, or one tick, leaves on a body for the next.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    /// How the current tick simulates the body. Between two ticks it is [`Pace::Full`].
    pub(crate) pace: Pace,
    /// Whether the last tick left the body out because of overload.
    pub(crate) skipped: bool,
    /// The state of the body at the last search for contacts.
    #[serde(skip)]
    pub(crate) searched_as: Option<SearchState>,
    /// How far the body's surface may move, in units, before it may meet something that the last
    /// search for contacts did not find. Two bodies share the sum of their free distances.
    pub(crate) free_distance: f64,
    /// Upper bound of how far the body's surface has moved since that search, in units.
    pub(crate) moved: f64,
    /// The slot of the player whose shove moves the body, if nothing else has moved the body since
    /// the shove. The simulation does not depend on this slot. The slot only shows which bodies
    /// players have pushed.
    pub(crate) shoved_by: Option<u16>,
    /// The velocity that the body gets from a kinematic body that pushes or carries it, directly or
    /// through other bodies. Between two ticks it is zero.
    #[serde(skip)]
    pub(crate) driven_velocity: DVec3,
    /// The effect of liquids on the body within the tick. Each tick finds it anew. Between two
    /// ticks it is `None`.
    #[serde(skip)]
    pub(crate) buoyancy: Option<Buoyancy>,
    /// The last stop of the body by the guard in this tick, if there was one. The simulation does
    /// not depend on this field.
    #[serde(skip)]
    pub(crate) stopped: Option<Stopped>,
    /// A cache of the solids around the body.
    #[serde(skip)]
    pub(crate) near_solids: NearSolids,
}

/// The last stop of a body by the guard in a tick: the obstacle, and the place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stopped {
    pub(crate) by: Blocker,
    /// Normal of the plane between the body and the obstacle. It points from the body to the
    /// obstacle.
    pub(crate) normal: DVec3,
    /// The share of the tick's motion that the body had completed, 0 to 1.
    pub(crate) share: f64,
}

/// The state of a body on which a search for contacts depends, as long as the body hardly moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SearchState {
    pub(crate) shape: ShapeId,
    pub(crate) pose: Pose,
    pub(crate) awake: bool,
}

/// Whether a prop sleeps, and how long it has rested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SleepState {
    pub(crate) asleep: bool,
    /// Number of ticks in a row in which the body was still.
    pub(crate) still_ticks: u16,
    /// The ticks in a row in which the body stayed near its anchor. A tick in which it balances
    /// counts as one, and any other as [`JITTER_WEIGHT`](crate::bodies::sleep::JITTER_WEIGHT).
    pub(crate) jitter_ticks: u16,
    /// Whether the solver or the guard held the body in this tick.
    pub(crate) held: bool,
    /// Whether the solver held the body: its contacts cancel all other forces.
    pub(crate) held_by_solver: bool,
    /// Number of ticks in a row in which the body was held.
    pub(crate) held_ticks: u16,
    /// The pose from which the body's jitter is measured. When the body has moved too far from the
    /// anchor, its pose becomes the new anchor.
    #[serde(skip)]
    pub(crate) anchor: Option<Pose>,
    /// The reason why the body is awake, if it is awake. The simulation does not depend on this
    /// field.
    pub(crate) awake_because: AwakeReason,
    /// The number of the body's island. Bodies that fell asleep together share an island and wake
    /// together.
    pub(crate) island: u16,
}

impl SleepState {
    /// Sets the counts of ticks to zero.
    pub(crate) fn reset_timers(&mut self) {
        self.still_ticks = 0;
        self.jitter_ticks = 0;
        self.held_ticks = 0;
    }
}

impl SearchState {
    /// Where a point, given in the body's own axes, was in the world at the search.
    pub(crate) fn point_to_world(&self, local: DVec3) -> DVec3 {
        self.pose.position + self.pose.rotation() * local
    }
}

impl Entity {
    /// The box in which the static world does not stop the body.
    pub(crate) fn pocket(&self) -> Option<Aabb> {
        match &self.role {
            Role::Kinematic(kinematic) => kinematic.pocket,
            _ => None,
        }
    }

    /// The entity's place in the world; `None` in limbo.
    pub(crate) fn placement(&self) -> Option<&Placement> {
        self.placed.as_ref()
    }

    /// The traits of the entity.
    pub(crate) fn traits(&self) -> Traits {
        let substance = match (self.placement(), self.outside) {
            (None, Outside::Intangible(_)) => Substance::Intangible,
            (None, Outside::Attached(attachment, _)) => Substance::Attached(attachment),
            _ => Substance::Solid,
        };
        Traits { layers: self.layers, visible: self.visible, substance }
    }

    /// How the entity follows its carrier, if it is attached to one.
    pub(crate) fn attachment(&self) -> Option<Attachment> {
        match (self.placement(), self.outside) {
            (None, Outside::Attached(attachment, _)) => Some(attachment),
            _ => None,
        }
    }

    /// Whether the entity is in limbo.
    pub(crate) fn is_in_limbo(&self) -> bool {
        let is_picture = matches!(self.outside, Outside::Intangible(_) | Outside::Attached(..));
        self.placement().is_none() && !is_picture
    }

    /// Whether the entity is in limbo, and waits for a free place.
    pub(crate) fn waits_for_room(&self) -> bool {
        self.placement().is_none() && self.outside == Outside::Waits
    }

    /// The present state of the body, for a search for contacts; `None` in limbo.
    pub(crate) fn search_state(&self) -> Option<SearchState> {
        let pose = *self.placement()?.pose();
        Some(SearchState { shape: self.shape, pose, awake: self.mobility().is_guarded() })
    }

    /// Where a point, given in the body's own axes, was in the world at the last search for
    /// contacts. If that search found the body overlapping something, the result is the present
    /// position of the point. `None` in limbo.
    pub(crate) fn searched_point(&self, local: Vec3) -> Option<DVec3> {
        let state = self.record.searched_as.or_else(|| self.search_state())?;
        Some(state.point_to_world(local.as_dvec3()))
    }

    /// How far the body has moved beyond its free distance since the last search for contacts, in
    /// units; below zero if it is still within that distance.
    pub(crate) fn excess_travel(&self) -> f64 {
        self.record.moved - self.record.free_distance
    }

    /// Whether the two entities may meet. If not, they pass through each other.
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        self.layers.may_meet(other.layers)
    }

    /// Whether impulses move the body.
    pub(crate) fn is_rigid(&self) -> bool {
        match self.role {
            Role::Prop(_) => true,
            Role::Missile(_) => self.is_ball(),
            Role::Player(body) => matches!(body, PlayerBody::Hovertank(_)),
            Role::Kinematic(_) => false,
        }
    }

    /// The body as a kinematic one; `None` if it is not.
    pub(crate) fn kinematic_mut(&mut self) -> Option<&mut Kinematic> {
        match &mut self.role {
            Role::Kinematic(kinematic) => Some(kinematic),
            _ => None,
        }
    }

    /// Whether nothing moves the body except the velocity that a game has set.
    pub(crate) fn is_kinematic(&self) -> bool {
        matches!(self.role, Role::Kinematic(_))
    }

    /// The linear and the angular velocity with which the body really moves. After something has
    /// stopped a kinematic body, it moves more slowly than its game has set.
    pub(crate) fn motion(&self) -> [DVec3; 2] {
        let share = match &self.role {
            Role::Kinematic(kinematic) => kinematic.share(),
            _ => return [self.velocity, self.angular],
        };
        [self.velocity, self.angular].map(|velocity| velocity * share)
    }

    /// The velocity of the body's surface relative to the body; zero for all bodies except
    /// conveyors.
    pub(crate) fn surface(&self) -> DVec3 {
        match &self.role {
            Role::Kinematic(kinematic) => kinematic.surface,
            _ => DVec3::ZERO,
        }
    }

    /// The part of [`surface`](Self::surface) along a face of this normal.
    pub(crate) fn surface_along(&self, normal: DVec3) -> DVec3 {
        self.surface().reject_from_normalized(normal)
    }

    /// The velocity that clients see, and whether they see the body rest. A body that rests has the
    /// velocity of its surface.
    pub(crate) fn seen_motion(&self) -> (DVec3, bool) {
        let velocity = self.motion()[0];
        let stands = velocity == DVec3::ZERO && self.angular == DVec3::ZERO;
        match self.surface() {
            surface if stands && surface != DVec3::ZERO => (surface, true),
            _ => (velocity, self.sleep.asleep),
        }
    }

    /// The move of a kinematic body that waits to start or is on its way; `None` for others.
    pub(crate) fn linear_move(&self) -> Option<LinearMove> {
        match &self.role {
            Role::Kinematic(kinematic) => kinematic.linear_move,
            _ => None,
        }
    }

    /// The swing of a kinematic body; `None` for others.
    pub(crate) fn swing(&self) -> Option<Swing> {
        match &self.role {
            Role::Kinematic(kinematic) => kinematic.swing,
            _ => None,
        }
    }

    /// Resets the body's sleep. A kinematic body sleeps if its velocities and that of its surface
    /// are zero, and is alone in its island.
    pub(crate) fn reset_sleep(&mut self) {
        self.sleep = SleepState::default();
        if self.is_kinematic() {
            let velocities = [self.velocity, self.angular, self.surface()];
            self.sleep.asleep = velocities == [DVec3::ZERO; 3];
            self.sleep.island = self.id.slot;
        }
    }

    /// Whether the body is a ball: a bouncing missile. A ball moves by its own rules, and the
    /// solver changes nothing except its velocity.
    pub(crate) fn is_ball(&self) -> bool {
        matches!(self.role, Role::Missile(Missile { motion: MissileMotion::Bouncing, .. }))
    }

    /// The cause of the body's motion in this tick.
    pub(crate) fn mobility(&self) -> Mobility {
        let is_placed = self.placement().is_some();
        if !self.is_rigid() && !self.is_kinematic() {
            return if is_placed { Mobility::OwnRules } else { Mobility::Absent };
        }
        match (self.sleep.asleep, self.record.pace) {
            (true, _) | (_, Pace::Skips) if self.is_kinematic() => Mobility::Parked,
            (true, _) => Mobility::Asleep,
            (false, Pace::Skips) => Mobility::Skips,
            _ if !is_placed => Mobility::Absent,
            _ if self.is_kinematic() => Mobility::Kinematic,
            _ if self.is_ball() => Mobility::Ball,
            _ => Mobility::Dynamic,
        }
    }

    /// Whether ticks leave the entity as it is. This holds for a body that sleeps or that a game
    /// has taken out of the world, and for a picture that follows nothing, if nothing about the
    /// entity has changed since the last search for contacts.
    pub(super) fn is_idle(&self) -> bool {
        let stays = match (&self.placed, self.outside) {
            (Some(_), _) => self.sleep.asleep,
            (None, outside) => matches!(outside, Outside::TakenOut | Outside::Intangible(_)),
        };
        let acts = match &self.role {
            Role::Prop(_) => self.dynamics.has_forces_of_tick(),
            Role::Kinematic(Kinematic { linear_move, swing, .. }) => {
                linear_move.is_some() || swing.is_some() || self.sleep.held
            }
            Role::Player(_) | Role::Missile(_) => true,
        };
        let Record { pace, skipped, searched_as, moved, stopped, .. } = &self.record;
        let is_noted = *moved == 0.0 && stopped.is_none() && *pace == Pace::Full && !skipped;
        stays && !acts && is_noted && *searched_as == self.search_state()
    }

    /// The reason why the body is awake; `None` if it is not.
    pub(crate) fn awake_because(&self) -> Option<AwakeReason> {
        let missile = self.is_ball().then_some(AwakeReason::IsMissile);
        let awake = self.mobility().has_velocity();
        awake.then(|| missile.unwrap_or(self.sleep.awake_because))
    }

    /// Makes a body that stands still move in this tick. A kinematic body is not changed, because
    /// only its game moves it.
    pub(crate) fn resume(&mut self) {
        if self.is_kinematic() {
            return;
        }
        if self.sleep.asleep {
            self.sleep.asleep = false;
            self.sleep.reset_timers();
            self.record.shoved_by = None;
        }
        if self.record.pace == Pace::Skips {
            self.record.pace = Pace::Full;
        }
    }

    pub(crate) fn player(&self) -> Option<&PlayerBody> {
        match &self.role {
            Role::Player(body) => Some(body),
            _ => None,
        }
    }

    fn player_mut(&mut self) -> Option<&mut PlayerBody> {
        match &mut self.role {
            Role::Player(body) => Some(body),
            _ => None,
        }
    }

    /// How the entity flies, if it is a missile.
    pub(crate) fn missile(&self) -> Option<MissileMotion> {
        match &self.role {
            Role::Missile(missile) => Some(missile.motion),
            _ => None,
        }
    }

    /// The state of a player on foot, if the entity is one.
    pub(crate) fn walker(&self) -> Option<&Walker> {
        match self.player()? {
            PlayerBody::Box(walker) => Some(walker),
            PlayerBody::Hovertank(_) => None,
        }
    }

    pub(crate) fn walker_mut(&mut self) -> Option<&mut Walker> {
        match self.player_mut()? {
            PlayerBody::Box(walker) => Some(walker),
            PlayerBody::Hovertank(_) => None,
        }
    }

    /// The state of a hovertank, if the entity is one.
    pub(crate) fn hovertank(&self) -> Option<&Hovertank> {
        match self.player()? {
            PlayerBody::Box(_) => None,
            PlayerBody::Hovertank(tank) => Some(tank),
        }
    }

    pub(crate) fn hovertank_mut(&mut self) -> Option<&mut Hovertank> {
        match self.player_mut()? {
            PlayerBody::Box(_) => None,
            PlayerBody::Hovertank(tank) => Some(tank),
        }
    }
}
