use serde::{Deserialize, Serialize};

/// An obstacle that a body meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Blocker {
    /// A solid of the world, by index.
    Solid(u32),
    /// The entity in this slot.
    Entity(u16),
}

impl Blocker {
    /// The slot of the entity; `None` for a solid of the world.
    pub(crate) fn entity(self) -> Option<u16> {
        match self {
            Self::Solid(_) => None,
            Self::Entity(slot) => Some(slot),
        }
    }
}
