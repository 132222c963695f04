/// Health and score of a player, as a game tells them: what all clients are shown of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vitals {
    /// Health left; zero while dead.
    pub health: u16,
    /// Other players killed, less own deaths by the own hand.
    pub score: i16,
}
