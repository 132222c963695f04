/// Health and score of a player, as the game sets them. The server sends them to all clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vitals {
    /// Health left; zero while dead.
    pub health: u16,
    /// Number of other players killed, less the number of suicides.
    pub score: i16,
}
