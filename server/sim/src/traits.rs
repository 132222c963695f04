//! The traits of an entity that seldom change: which others it may meet, whether clients draw it,
//! and whether it is solid.

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

use crate::state::EntityId;

/// The layers on which an entity is, and the layers whose entities it may meet: one bit each, so
/// there are 32. Two entities may meet if each is on a layer that the other may meet
/// ([`CollisionLayers::may_meet`]). The map is on no layer, and is solid for all.
///
/// ```
/// use obsp_sim::CollisionLayers;
///
/// const EVERYONE: u32 = 1 << 0;
/// const RED: u32 = 1 << 1;
/// // Members of the red team pass through each other, and through nobody else.
/// let red = CollisionLayers { layers: RED, mask: !RED };
/// assert!(!red.may_meet(red));
/// assert!(red.may_meet(CollisionLayers::default()));
/// // A door through which they pass as well.
/// let door = CollisionLayers { layers: EVERYONE, mask: !RED };
/// assert!(!door.may_meet(red) && door.may_meet(CollisionLayers::default()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CollisionLayers {
    /// The layers on which the entity is.
    pub layers: u32,
    /// The layers whose entities it may meet.
    pub mask: u32,
}

impl Default for CollisionLayers {
    /// On the first layer, and may meet all layers.
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl CollisionLayers {
    /// On the first layer, and may meet all layers.
    pub const DEFAULT: Self = Self { layers: 1, mask: u32::MAX };

    /// Number of layers.
    pub const COUNT: u32 = u32::BITS;

    /// Whether two entities with these layers may meet. If not, they pass through each other.
    #[must_use]
    pub const fn may_meet(self, other: Self) -> bool {
        self.layers & other.mask != 0 && other.layers & self.mask != 0
    }
}

/// The traits of an entity that seldom change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traits {
    /// Which other entities the entity may meet.
    pub layers: CollisionLayers,
    /// Whether clients draw the entity.
    pub visible: bool,
    /// Whether the entity is solid.
    pub substance: Substance,
}

impl Default for Traits {
    /// Visible, solid, and on the usual layers.
    fn default() -> Self {
        Self { layers: CollisionLayers::default(), visible: true, substance: Substance::Solid }
    }
}

impl Traits {
    /// Whether the entity is solid.
    #[must_use]
    pub fn is_solid(&self) -> bool {
        self.substance == Substance::Solid
    }
}

/// Whether an entity is solid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Substance {
    /// It takes room: the guard keeps it apart from all that it may meet.
    #[default]
    Solid,
    /// It is a picture without a body. It takes no room, and nothing moves it but its game.
    Intangible,
    /// It is a picture that follows another entity.
    Attached(Attachment),
}

/// How a picture follows its carrier.
///
/// The carrier's frame has its origin at the carrier's position: the centre of a player's box, or
/// the centre of mass of a body. The frame turns with a body, and by the heading about +Z with a
/// player on foot. A player who crouches lowers the box, and so the frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// The carrier.
    pub to: EntityId,
    /// Position in the carrier's frame, in units.
    pub offset: DVec3,
    /// Rotation from the entity's axes to the carrier's.
    pub rotation: DQuat,
}

impl Attachment {
    /// Maximum number of attachments from an entity to the carrier that carries all others.
    pub const MAX_CHAIN: usize = 4;

    /// Maximum component of an offset, in units. The wire has bits for no more.
    pub const MAX_OFFSET: f64 = 1023.0;

    /// Position and orientation of an entity whose carrier has this position and orientation.
    #[must_use]
    pub fn pose(&self, position: DVec3, orientation: DQuat) -> (DVec3, DQuat) {
        let turned = (orientation * self.rotation).normalize();
        (position + orientation * self.offset, turned)
    }
}
