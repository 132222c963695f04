/// Health and score of a player, as the game sets them. All clients are sent them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vitals {
    /// Health left; zero while dead.
    pub health: u16,
    /// Kills of others, less suicides.
    pub score: i16,
}
