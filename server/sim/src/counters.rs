/// What the simulation has done since it began: every field only grows,
/// but for the last three, which say how things stand now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The filter cascade, cheapest stage first.
    pub cascade: [StageCounter; Stage::COUNT],
    /// Time-of-impact queries between a moving body and one obstacle.
    pub impact_queries: u64,
    /// Intervals examined by all of those queries.
    pub impact_iterations: u64,
    /// Guarded moves that an obstacle cut short.
    pub blocked_moves: u64,
    /// Bodies taken out of an overlap and put back elsewhere.
    pub emergency_replacements: u64,
    /// Bodies that fell out of the map and were put back.
    pub fallen: u64,
    /// Props awake after the last tick.
    pub awake: u64,
    /// Players and props in the world after the last tick.
    pub entities: u64,
    /// Entities waiting for a free place after the last tick.
    pub limbo: u64,
}

/// How often a stage was asked, and how often its answer ended the matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageCounter {
    /// Pairs the stage looked at.
    pub tests: u64,
    /// Pairs it decided.
    pub definitive: u64,
}

/// The stages of Blow's filter cascade, cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The uniform 2D grid: who is near at all.
    Grid,
    /// Bounding spheres.
    Spheres,
    /// Oriented bounding boxes.
    Boxes,
    /// The plane that divided the pair last time.
    Plane,
    /// The exact distance between convex parts.
    Exact,
}

impl Stage {
    /// How many stages there are.
    pub const COUNT: usize = 5;

    /// All stages, cheapest first.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Grid, Self::Spheres, Self::Boxes, Self::Plane, Self::Exact];

    /// The name under which the stage is reported.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Spheres => "spheres",
            Self::Boxes => "boxes",
            Self::Plane => "plane",
            Self::Exact => "exact",
        }
    }
}

impl Counters {
    /// Notes that `stage` looked at a pair, and whether it decided it.
    #[inline]
    pub(crate) fn note(&mut self, stage: Stage, definitive: bool) {
        let counter = &mut self.cascade[stage as usize];
        counter.tests += 1;
        counter.definitive += u64::from(definitive);
    }
}
