//! The entities to draw: the own player is predicted, and everything else is interpolated.

use std::ffi::c_char;

use obsp_client::RosterEntry;
use obsp_sim::{EntityState, Kind, Posture};

use crate::events::ObspId;
use crate::failure::{ObspStatus, guard, guard_status};
use crate::handle::ObspClient;
use crate::raw;

/// Bytes of a player's name, its zero byte included.
pub const OBSP_NAME_BYTES: usize = 100;

/// The own player at a moment.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspOwnPlayer {
    /// The position at which to draw the player: the centre of its box, in units.
    pub position: [f64; 3],
    /// The velocity, in units per second.
    pub velocity: [f64; 3],
    /// Whether the player crouches.
    pub is_crouching: bool,
    /// Whether the player stands on something.
    pub is_grounded: bool,
}

/// Copies the state of the own player to draw at `now`. False while the player is not in the world
/// or drives a vehicle (`obsp_client_own_vehicle`), and while the map is not loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_own_player(
    client: *mut ObspClient,
    now: f64,
    player: *mut ObspOwnPlayer,
) -> bool {
    guard(false, || {
        // SAFETY: the contract of the header.
        let view = unsafe { raw::client(client)? }.client.view(raw::time(now));
        let (Some(position), Some(motion)) = (view.position(), view.motion()) else {
            return Ok(false);
        };
        let own = ObspOwnPlayer {
            position: position.to_array(),
            velocity: motion.velocity.as_dvec3().to_array(),
            is_crouching: motion.walker.posture == Posture::Crouching,
            is_grounded: motion.walker.grounded,
        };
        // SAFETY: the contract of the header.
        unsafe { raw::put(player, own)? };
        Ok(true)
    })
}

/// Copies the state to draw at `now` of the vehicle that the own player drives. False while the
/// player is on foot or not in the world, and while the map is not loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_own_vehicle(
    client: *mut ObspClient,
    now: f64,
    vehicle: *mut ObspEntity,
) -> bool {
    guard(false, || {
        // SAFETY: the contract of the header.
        let view = unsafe { raw::client(client)? }.client.view(raw::time(now));
        let Some(own) = view.vehicle() else { return Ok(false) };
        // SAFETY: the contract of the header.
        unsafe { raw::put(vehicle, ObspEntity::from(own))? };
        Ok(true)
    })
}

/// The kind of an entity.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObspEntityKind {
    /// A player on foot: a box whose size is in `ObspMap`.
    Player,
    /// A vehicle with a player in it.
    Vehicle,
    /// A rigid body.
    Prop,
}

/// An entity at a moment.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspEntity {
    /// Id of the entity.
    pub id: ObspId,
    /// Kind of the entity.
    pub kind: ObspEntityKind,
    /// The model of a vehicle or prop: its index in `obsp_client_models`. 0 for players on foot.
    pub model: u8,
    /// Whether a player on foot crouches.
    pub is_crouching: bool,
    /// Whether the entity rests.
    pub is_asleep: bool,
    /// Whether the entity is to be drawn.
    pub is_visible: bool,
    /// Whether the entity takes room. An entity that takes none is a picture. A picture may follow
    /// another entity, its carrier, and then has the pose in which the carrier is drawn.
    pub is_solid: bool,
    /// The centre of a player's box, or the centre of mass of a body, in units.
    pub position: [f64; 3],
    /// The orientation as a quaternion x, y, z, w. For a player on foot it is only the heading.
    pub orientation: [f64; 4],
    /// The velocity, in units per second.
    pub velocity: [f64; 3],
}

impl From<EntityState> for ObspEntity {
    fn from(entity: EntityState) -> Self {
        let (kind, model, is_crouching) = match entity.kind {
            Kind::Player { posture } => (ObspEntityKind::Player, 0, posture == Posture::Crouching),
            Kind::Vehicle { model } => (ObspEntityKind::Vehicle, model.0, false),
            Kind::Prop { model } => (ObspEntityKind::Prop, model.0, false),
        };
        Self {
            id: entity.id.into(),
            kind,
            model,
            is_crouching,
            is_asleep: entity.asleep,
            is_visible: entity.traits.visible,
            is_solid: entity.traits.is_solid(),
            position: entity.position.to_array(),
            orientation: entity.orientation.to_array(),
            velocity: entity.velocity.to_array(),
        }
    }
}

/// Copies the states to draw at `now` of all entities except the own player, at most `capacity`
/// of them. Returns the number of all these entities.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_entities(
    client: *mut ObspClient,
    now: f64,
    entities: *mut ObspEntity,
    capacity: usize,
) -> usize {
    guard(0, || {
        // SAFETY: the contract of the header.
        let view = unsafe { raw::client(client)? }.client.view(raw::time(now));
        // SAFETY: the contract of the header.
        unsafe { raw::put_all(entities, capacity, view.entities().map(ObspEntity::from)) }
    })
}

/// A player in the match.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspPlayer {
    /// The entity that the player controls.
    pub id: ObspId,
    /// Health left; zero while the player is dead, and until the health is known.
    pub health: u16,
    /// Number of other players killed, less the number of suicides.
    pub score: i16,
    /// The player's name.
    pub name: [c_char; OBSP_NAME_BYTES],
}

impl From<&RosterEntry> for ObspPlayer {
    fn from(entry: &RosterEntry) -> Self {
        Self {
            id: entry.player.into(),
            health: entry.vitals.map_or(0, |vitals| vitals.health),
            score: entry.vitals.map_or(0, |vitals| vitals.score),
            name: raw::fixed(entry.name.as_str()),
        }
    }
}

/// Copies the players in the match, the own player included, at most `capacity` of them. Returns
/// the number of all players.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_players(
    client: *mut ObspClient,
    players: *mut ObspPlayer,
    capacity: usize,
) -> usize {
    guard(0, || {
        // SAFETY: the contract of the header.
        let view = unsafe { raw::client(client)? }.client.view(raw::time(0.0));
        let roster = view.roster().players().map(ObspPlayer::from);
        // SAFETY: the contract of the header.
        unsafe { raw::put_all(players, capacity, roster) }
    })
}

/// Counters of a client.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspStats {
    /// Snapshots that have arrived.
    pub snapshots: u64,
    /// Digests in snapshots that were compared with the decoded state.
    pub digests: u64,
    /// Digests that did not agree: a defect of the library or of the server.
    pub digest_mismatches: u64,
    /// Motions of the own player that the server has sent and that had been predicted.
    pub predictions: u64,
    /// Motions that were predicted wrongly, even if by a tiny amount.
    pub corrections: u64,
    /// The tick of the latest snapshot; 0 before the first.
    pub latest_tick: u32,
}

/// Copies the counters of a client.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_stats(
    client: *mut ObspClient,
    stats: *mut ObspStats,
) -> ObspStatus {
    guard_status(|| {
        // SAFETY: the contract of the header.
        let client = &unsafe { raw::client(client)? }.client;
        let session = client.session().stats();
        let prediction = client.prediction().map(|prediction| *prediction.stats());
        let prediction = prediction.unwrap_or_default();
        let counted = ObspStats {
            snapshots: session.snapshots,
            digests: session.digests,
            digest_mismatches: session.digest_mismatches,
            predictions: prediction.compared,
            corrections: prediction.corrections,
            latest_tick: client.session().latest_tick().map_or(0, |tick| tick.0),
        };
        // SAFETY: the contract of the header.
        unsafe { raw::put(stats, counted) }
    })
}
