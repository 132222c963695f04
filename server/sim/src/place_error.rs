use thiserror::Error;

/// Why an operation changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PlaceError {
    /// Something is in the way or nearer than the margin, or the place is far outside the map.
    #[error("there is no room: something is in the way, or the place is far outside of the map")]
    NoRoom,
    /// All slots for entities are taken, or all places for players.
    #[error("the match is full: all slots for entities, or all places for players, are taken")]
    Full,
    /// The entity has left the match, waits outside the world, or is not of the kind that the
    /// operation needs.
    #[error(
        "there is no such entity in the world, or it is of another kind than the operation needs"
    )]
    NoSuchEntity,
    /// The match was set up without the model, or its bodies are not of the kind that the
    /// operation needs.
    #[error("there is no such model, or its bodies are of another kind than the operation needs")]
    NoSuchModel,
    /// The match has no such set of movement parameters.
    #[error(
        "the match has no such set of movement parameters; it must be declared before the match"
    )]
    NoSuchMovement,
    /// The body is intangible. Only `place` makes it solid.
    #[error("the body is intangible; `place` makes it solid")]
    Intangible,
    /// The body is solid, so it has no free pose.
    #[error("the body is solid; move it with `teleport`, or call `make_intangible` first")]
    Solid,
    /// Only bodies can be intangible: neither players nor missiles.
    #[error("a player or a missile is always solid")]
    AlwaysSolid,
    /// The attachment would make a ring, or a chain of more than [`Attachment::MAX_CHAIN`].
    ///
    /// [`Attachment::MAX_CHAIN`]: crate::traits::Attachment::MAX_CHAIN
    #[error(
        "the attachment would lead back to the body, or be one of more than {} in a row",
        crate::traits::Attachment::MAX_CHAIN
    )]
    Chain,
    /// The offset from the carrier is longer than [`Attachment::MAX_OFFSET`] along an axis.
    ///
    /// [`Attachment::MAX_OFFSET`]: crate::traits::Attachment::MAX_OFFSET
    #[error(
        "the offset from the carrier is longer than {} units along an axis",
        crate::traits::Attachment::MAX_OFFSET
    )]
    OffsetTooLong,
    /// A number is infinite, NaN or out of its range, or an orientation has no length.
    #[error("a number is infinite, NaN or out of its range, or an orientation has no length")]
    NotFinite,
}
