//! Tickets for rejoining.

use std::fmt;

use bincode::{Decode, Encode};

/// The secret with which a client that lost its connection rejoins as the same player. The server
/// draws the ticket at random. It accepts any client that has the ticket as that player.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Ticket(pub [u8; 16]);

impl Ticket {
    /// Stands for no ticket.
    pub const NONE: Self = Self([0; 16]);
}

/// Does not print the secret.
impl fmt::Debug for Ticket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if *self == Self::NONE { "Ticket::NONE" } else { "Ticket(..)" })
    }
}
