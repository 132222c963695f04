use glam::{DQuat, DVec3};
use obsp_proto::{Tick, Time};
use obsp_sim::{Attachment, EntityId, EntityState, Kind, PlayerMotion, Substance};

use crate::{Client, Prediction, Roster, interpolate};

/// The match as it is to be drawn at one moment. The client's own player, or the vehicle that it
/// drives, is predicted, and everything else is interpolated at the render tick.
///
/// ```
/// use obsp_client::{Client, Credentials};
/// use obsp_proto::Time;
/// use obsp_proto::control::{MapHash, PlayerName};
///
/// let name = PlayerName::new("Ann")?;
/// let client = Client::new(&name, MapHash::ANY, &Credentials::default(), Time::ZERO);
/// // Before the client has joined, there is nothing to draw.
/// let view = client.view(Time::ZERO);
/// assert_eq!(view.player(), None);
/// assert_eq!(view.position(), None);
/// assert_eq!(view.entities().count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    client: &'a Client,
    now: Time,
    render_tick: Option<f64>,
}

impl<'a> View<'a> {
    pub(crate) fn new(client: &'a Client, now: Time) -> Self {
        Self { client, now, render_tick: client.playout().render_tick(now) }
    }

    /// The moment of the match that is shown, in ticks. It advances evenly, behind the latest
    /// snapshot by [`View::interpolation_delay`]. `None` before the first snapshot.
    pub fn render_tick(self) -> Option<f64> {
        self.render_tick
    }

    /// The number of ticks by which the render tick is behind the latest snapshot.
    pub fn interpolation_delay(self) -> f64 {
        self.client.playout().interpolation_delay()
    }

    /// The entity that the client controls; `None` before it has joined.
    pub fn player(self) -> Option<EntityId> {
        self.client.session().player()
    }

    /// The position at which to draw the client's own player: the predicted centre of its box, in
    /// units, with corrections of the prediction spread over a tenth of a second. `None` while the
    /// player is not in the world, or drives a [vehicle](View::vehicle).
    pub fn position(self) -> Option<DVec3> {
        let motion = self.motion()?;
        Some(motion.position.as_dvec3() + self.client.smoothing().offset(self.now))
    }

    /// The predicted motion of the client's own player after the latest command.
    pub fn motion(self) -> Option<PlayerMotion> {
        self.client.motion().map(|(_, motion)| motion)
    }

    /// The vehicle that the client's own player drives. It is predicted, with corrections spread
    /// over a tenth of a second. While it cannot be predicted, it is interpolated. `None` while the
    /// player is on foot or not in the world.
    pub fn vehicle(self) -> Option<EntityState> {
        let predicted = self.client.prediction().and_then(Prediction::vehicle);
        if let Some((_, vehicle)) = predicted {
            let position = vehicle.position + self.client.smoothing().offset(self.now);
            return Some(EntityState { position, ..vehicle });
        }
        let own = self.entity(self.player()?)?;
        matches!(own.kind, Kind::Vehicle { .. }).then_some(own)
    }

    /// An entity at the render tick; `None` if the client knows no such entity. An entity that is
    /// attached to another is where its carrier is drawn, and `None` as long as the client does not
    /// know the carrier.
    pub fn entity(self, id: EntityId) -> Option<EntityState> {
        self.entity_within(id, Attachment::MAX_CHAIN)
    }

    /// [`View::entity`] with no more than `links` attachments.
    fn entity_within(self, id: EntityId, links: usize) -> Option<EntityState> {
        let render_tick = self.render_tick?;
        let tick = Tick(render_tick as u32);
        let (before, after) = self.client.session().states_around(id, tick)?;
        let entity = interpolate(render_tick, self.client.tick_rate(), before, after);
        let Substance::Attached(attachment) = entity.traits.substance else { return Some(entity) };
        let carrier = self.carrier(attachment.to, links.checked_sub(1)?)?;
        let (position, orientation) = attachment.pose(carrier.position, carrier.orientation);
        Some(EntityState { position, orientation, velocity: carrier.velocity, ..entity })
    }

    /// A carrier as it is drawn: predicted if it is the client's own player.
    fn carrier(self, id: EntityId, links: usize) -> Option<EntityState> {
        let known = self.entity_within(id, links)?;
        if Some(id) != self.player() {
            return Some(known);
        }
        if matches!(known.kind, Kind::Vehicle { .. }) {
            return Some(self.vehicle().unwrap_or(known));
        }
        let (Some(position), Some(motion)) = (self.position(), self.motion()) else {
            return Some(known);
        };
        let turn = f64::from(motion.walker.yaw) / 65_536.0 * std::f64::consts::TAU;
        let (orientation, velocity) = (DQuat::from_rotation_z(turn), motion.velocity.as_dvec3());
        Some(EntityState { position, orientation, velocity, ..known })
    }

    /// All entities except the client's own player, in ascending order of slot.
    pub fn entities(self) -> impl Iterator<Item = EntityState> + 'a {
        let others = self.client.session().entities().map(|entity| entity.id);
        others.filter(move |id| Some(*id) != self.player()).filter_map(move |id| self.entity(id))
    }

    /// The entities within `reach` units of `position` on each axis, without the client's own
    /// player. Entities that are attached to others come last.
    pub fn entities_near(
        self,
        position: DVec3,
        reach: f64,
    ) -> impl Iterator<Item = EntityState> + 'a {
        let session = self.client.session();
        let near = session.entities_near(position, reach).map(|(_, entity)| entity);
        // The session does not know where an attached entity is.
        let others = near.filter(move |it| !is_attached(it) && Some(it.id) != self.player());
        let others = others.filter_map(move |other| self.entity(other.id));
        let attached = session.entities().filter(is_attached);
        let attached = attached.filter_map(move |entity| self.entity(entity.id));
        let is_near = move |it: &EntityState| {
            let away = (it.position - position).abs().max_element();
            away <= reach
        };
        others.chain(attached.filter(is_near))
    }

    /// The value of the field `name` of an entity at the render tick. The entity may be the
    /// client's own player. `None` if the client knows no such entity, or the game gives it no such
    /// field.
    pub fn value(self, id: EntityId, name: &str) -> Option<i32> {
        let session = self.client.session();
        let tick = Tick(self.render_tick? as u32);
        let kind = session.entity(id)?.kind;
        let fields = session.hello()?.schema.of_kind(kind);
        session.values(id, tick)?.get(fields, name)
    }

    /// The latest value of the match's field `name`; `None` if the game has no such field.
    pub fn match_value(self, name: &str) -> Option<i32> {
        let session = self.client.session();
        session.match_values().get(session.hello()?.schema.of_match(), name)
    }

    /// The latest value of the field `name` of the client's own player, which the server sends to
    /// no other client; `None` if the game has no such field.
    pub fn own_value(self, name: &str) -> Option<i32> {
        let session = self.client.session();
        session.own_values().get(session.hello()?.schema.of_own_player(), name)
    }

    /// The players in the match, according to the match events taken so far.
    pub fn roster(self) -> &'a Roster {
        self.client.roster()
    }
}

fn is_attached(entity: &EntityState) -> bool {
    matches!(entity.traits.substance, Substance::Attached(_))
}
