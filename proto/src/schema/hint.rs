use bincode::{Decode, Encode};

/// How a client may show a value of a game that it does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub enum Hint {
    /// The game says nothing. A client may show the name and the number.
    #[default]
    None,
    /// A number, beside its name.
    Counter,
    /// A time in seconds, as minutes and seconds.
    Timer,
    /// A bar, empty at the least value of the range and full at the greatest.
    Bar,
    /// The number of a team. Each team has a colour. If the field is a player's, the colour applies
    /// to everything that shows the player.
    Team,
}

impl Hint {
    /// The name of the hint, as a `game.toml` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Counter => "counter",
            Self::Timer => "timer",
            Self::Bar => "bar",
            Self::Team => "team",
        }
    }

    /// The hint of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::None, Self::Counter, Self::Timer, Self::Bar, Self::Team]
            .into_iter()
            .find(|hint| hint.name() == name)
    }
}
