//! Blow's scene of 1997: a hovertank drops a repair pad, turns back and lands in it. The rules of
//! the pads are those of an example game.

mod hard_case;
mod lander;
mod mass;
#[path = "../../../server/examples/repair_pads/rules.rs"]
mod repair_pads;
mod traffic;
mod yard;

use std::fmt;

use glam::{DVec2, DVec3};
use obsp::geometry::PolygonBsp;
use obsp::model::{Model, shipped};
use obsp_game::{Match, RunningMatch};
use obsp_sim::audit::Audit;
use obsp_sim::{Clock, Command, Config, EntityId, EntityState, PlayerKind, Stages};
use serde::Serialize;
use thiserror::Error;

use self::repair_pads::RepairPads;
use super::pilot::{Pilot, points};
use super::{LandingOptions, Table};
use crate::scene::timing::nanoseconds;

pub use hard_case::HardCase;
pub use lander::Leg;
pub use mass::{Landers, MassLanding, Tally, Unfinished, mass_landing};
pub use yard::yard;

/// Ticks per second of the scene.
const RATE: u32 = 60;

/// Longest time of a phase, in ticks. A phase that has not ended by then never will.
const PATIENCE: u32 = 15 * RATE;

/// Longest time of the whole scene, in ticks.
const LONGEST: u64 = 90 * RATE as u64;

/// A tank that is not down in the pad after this many ticks, because it was pushed onto the rim,
/// rises and tries again.
const ATTEMPT: u32 = 4 * RATE;

/// How high above its starting point the tank drops its cargo, in units.
const DROP_HEIGHT: f64 = 140.0;

/// How far the tank flies off while the pad comes to rest, in units.
const OFF: f64 = 320.0;

/// How high above the pad the tank comes back, in units: well over the rim.
const APPROACH: f64 = 90.0;

/// A tank that is nearer than this to a place, in units, has reached it.
const THERE: f64 = 8.0;

/// A tank that is slower than this, in units per second, rests.
const RESTS: f64 = 2.0;

/// A tank is in the pad's hollow if its centre is less than this above the pad's, in units. The
/// centre of a tank is about 10 units above on the floor of the hollow, and about 28 on the rim.
const IN_THE_HOLLOW: f64 = 18.0;

/// How long the tank stays in the pad, in ticks.
const STAY: u32 = RATE;

/// Radius and height of the first other tank's circle, in units.
const CIRCLE: (f64, f64) = (180.0, 110.0);
/// The amounts by which each further circle is wider and higher, in units.
const WIDER: (f64, f64) = (30.0, 25.0);
/// Speed of the other tanks on their circles, in radians per second.
const TURN: f64 = 0.7;

/// The phase of the tank's flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FlightPhase {
    /// Climbs over its starting point.
    Climb,
    /// Has dropped its cargo, flies off, and waits for the pad to rest.
    Drop,
    /// Turns round.
    TurnRound,
    /// Flies back over the pad.
    Return,
    /// Comes down in the hollow and stays a while.
    Land,
    /// Takes off and flies away.
    FlyAway,
    /// The scene is over.
    Done,
}

/// The outcome of the landing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Landing {
    /// The map.
    pub map: String,
    /// Ticks played.
    pub ticks: u64,
    /// Other tanks that flew about.
    pub others: u16,
    /// The phase that the tank reached; `Done` if everything went right.
    pub phase: FlightPhase,
    /// Whether the tank stood in the hollow of the pad.
    pub landed: bool,
    /// Polygons of the tank, the cargo box and the pad, before and after their trees cut them;
    /// Blow's are 97 and 111, 12 and 12, 69 and 76.
    pub polygons: [(usize, usize); 3],
    /// Ticks after which a body overlapped something.
    pub interpenetrations: u64,
    /// The counts of the filters.
    #[serde(flatten)]
    pub table: Table,
}

/// The reason why a scene could not be played.
#[derive(Debug, Error)]
pub enum SceneError {
    /// The compiled map could not be loaded.
    #[error(transparent)]
    Map(obsp::LoadMapError),
    /// The match cannot be set up on the map.
    #[error("the scene cannot be set up on the map: {0}")]
    Setup(#[from] obsp_sim::SetupError),
    /// The map drawn for the scene does not compile.
    #[error("the scene's own map does not compile: {0}")]
    Pen(#[from] obsp::CompileError),
    /// The model drawn for the scene is invalid.
    #[error("the scene's own model is invalid: {0}")]
    Model(#[from] obsp::model::ModelError),
    /// A body of the scene cannot be placed or moved.
    #[error("a body of the scene cannot be placed or moved: {0}")]
    Place(#[from] obsp_sim::PlaceError),
    /// A tank could not join.
    #[error(transparent)]
    Join(#[from] obsp_sim::AddPlayerError),
}

/// Plays Blow's scene. A hovertank drops a cargo box, which becomes a repair pad where it touches
/// the ground. The tank turns round, lands in the pad's hollow, takes off and flies away. Meanwhile
/// other tanks fly about. Every stage of the cascade is on and timed, and every tick audited.
///
/// # Errors
/// The map cannot be loaded, or has no room for the match.
pub fn landing(options: &LandingOptions) -> Result<Landing, SceneError> {
    let map = obsp::Map::load(&options.map).map_err(SceneError::Map)?;
    let name = map.name().to_owned();
    let config =
        Config { tick_rate: RATE, seed: options.seed, objects: 0, max_players: options.others + 1 };
    let models = shipped();
    let mut game = Match::new(RepairPads, map.into(), config)?;
    let world = game.world_mut();
    world.set_stages(Stages::ALL);
    world.set_clock(Some(Clock::new(nanoseconds)));
    let audit = Audit::new(world.map(), &models)?;
    let tank = game.join_as(PlayerKind::Hovertank)?;
    let others = (0..options.others).map(|_| game.join_as(PlayerKind::Hovertank));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    let mut play = Play { game, audit, tank, others, plot: Plot::default(), overlaps: 0 };
    let before = *play.game.world().counters();
    while play.plot.phase != FlightPhase::Done && play.plot.lasted < PATIENCE {
        play.tick();
        if play.game.world().state().tick >= LONGEST {
            break;
        }
    }
    let world = play.game.world();
    Ok(Landing {
        map: name,
        ticks: world.state().tick,
        others: options.others,
        phase: play.plot.phase,
        landed: play.plot.landed,
        polygons: ["hovertank", "cargo_box", "repair_pad"].map(|name| polygons(&models, name)),
        interpenetrations: play.overlaps,
        table: Table::between(&before, world.counters()),
    })
}

fn polygons(models: &[Model], name: &str) -> (usize, usize) {
    let model = models.iter().find(|model| model.name() == name);
    let fragments = |model: &Model| model.bsp().map_or(0, PolygonBsp::fragments);
    model.map_or((0, 0), |model| (model.polygons().len(), fragments(model)))
}

/// The match, its tanks and its audit.
struct Play {
    game: Match<RepairPads>,
    audit: Audit,
    tank: EntityId,
    others: Vec<EntityId>,
    plot: Plot,
    overlaps: u64,
}

/// The phase of the tank's flight, and what the flight has met so far.
struct Plot {
    phase: FlightPhase,
    /// Ticks of the phase so far.
    lasted: u32,
    start: Option<DVec3>,
    pad: Option<EntityId>,
    /// Ticks that the tank has rested in the pad.
    rested: u32,
    landed: bool,
}

impl Default for Plot {
    fn default() -> Self {
        Self {
            phase: FlightPhase::Climb,
            lasted: 0,
            start: None,
            pad: None,
            rested: 0,
            landed: false,
        }
    }
}

impl Play {
    fn tick(&mut self) {
        let state = self.game.world().state();
        let find = |id: EntityId| state.entities.iter().find(|entity| entity.id == id);
        let mut commands = Vec::new();
        if let Some(tank) = find(self.tank) {
            let pad = self.plot.pad.and_then(find);
            commands.push((self.tank, self.plot.direct(tank, pad)));
        }
        let centre = self.plot.start.unwrap_or_default();
        for (number, &id) in self.others.iter().enumerate() {
            if let Some(other) = find(id) {
                commands.push((id, circle(number, self.others.len(), state.tick, centre, other)));
            }
        }
        self.game.step(&commands);
        self.plot.pad = self.game.state().pad(self.tank);
        let overlaps = self.audit.check_match(self.game.world());
        self.overlaps += u64::from(!overlaps.is_empty());
    }
}

impl Plot {
    /// Returns the tank's next command, and begins the next phase if it is time.
    fn direct(&mut self, tank: &EntityState, pad: Option<&EntityState>) -> Command {
        let start = *self.start.get_or_insert(tank.position);
        // The tank flies off towards the middle of the map.
        let heading = DVec2::new(-start.x, -start.y);
        let heading = heading.y.atan2(heading.x);
        let ahead = DVec2::from_angle(heading).extend(0.0);
        let out = Pilot { heading };
        let back = Pilot { heading: heading + std::f64::consts::PI };
        let off = start + ahead * OFF + DVec3::Z * DROP_HEIGHT;
        let pad_rests = pad.filter(|pad| pad.asleep);
        let over = pad.map_or(start, |pad| pad.position);
        let (command, next) = match self.phase {
            FlightPhase::Climb => {
                let command = out.fly(tank, start + DVec3::Z * (DROP_HEIGHT + 40.0), true);
                if tank.position.z > start.z + DROP_HEIGHT {
                    (Pilot::drop_box(command), Some(FlightPhase::Drop))
                } else {
                    (command, None)
                }
            }
            FlightPhase::Drop => {
                let away = (tank.position - off).truncate().length() < OFF * 0.25;
                let next = (away && pad_rests.is_some()).then_some(FlightPhase::TurnRound);
                (out.fly(tank, off, true), next)
            }
            FlightPhase::TurnRound => {
                let turned = points(tank.orientation, back.heading);
                (back.fly(tank, off, true), turned.then_some(FlightPhase::Return))
            }
            FlightPhase::Return => {
                let above = over + DVec3::Z * APPROACH;
                let there = (tank.position - above).truncate().length() < THERE
                    && tank.velocity.truncate().length() < THERE
                    && tank.position.z > over.z + APPROACH * 0.5;
                (back.fly(tank, above, true), there.then_some(FlightPhase::Land))
            }
            FlightPhase::Land => {
                self.landed |= pad.is_some_and(|pad| is_in_hollow(tank, pad));
                let rests = self.landed && tank.velocity.length() < RESTS;
                self.rested += u32::from(rests);
                let next = match self.rested {
                    _ if self.rested > STAY => Some(FlightPhase::FlyAway),
                    0 if self.lasted > ATTEMPT => Some(FlightPhase::Return),
                    _ => None,
                };
                (back.land(tank, over), next)
            }
            FlightPhase::FlyAway | FlightPhase::Done => {
                let away = over - ahead * OFF + DVec3::Z * DROP_HEIGHT;
                let gone = (tank.position - over).truncate().length() > OFF * 0.5;
                (back.fly(tank, away, true), gone.then_some(FlightPhase::Done))
            }
        };
        self.lasted += 1;
        if let Some(next) = next {
            (self.phase, self.lasted) = (next, 0);
        }
        command
    }
}

/// Whether the tank is down in the pad's hollow. Both positions are of centres of mass: the tank's
/// is about 13 units above the bottom of its hull, and the pad's about 9 above its underside.
fn is_in_hollow(tank: &EntityState, pad: &EntityState) -> bool {
    let between = pad.orientation.inverse() * (tank.position - pad.position);
    between.truncate().length() < 24.0 && between.z < IN_THE_HOLLOW
}

/// The command for one of the other tanks, to fly on its circle.
fn circle(number: usize, count: usize, tick: u64, centre: DVec3, tank: &EntityState) -> Command {
    let start = number as f64 / count as f64 * std::f64::consts::TAU;
    let angle = start + tick as f64 / f64::from(RATE) * TURN;
    let (radius, height) = (CIRCLE.0 + WIDER.0 * number as f64, CIRCLE.1 + WIDER.1 * number as f64);
    let place = centre + (DVec2::from_angle(angle) * radius).extend(height);
    let pilot = Pilot { heading: angle + std::f64::consts::FRAC_PI_2 };
    pilot.fly(tank, place, true)
}

impl Landing {
    /// Whether the tank did everything, and nothing overlapped.
    pub fn is_as_meant(&self) -> bool {
        self.phase == FlightPhase::Done && self.landed && self.interpenetrations == 0
    }
}

impl fmt::Display for Landing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { map, ticks, others, phase, landed, polygons, interpenetrations, table } = self;
        writeln!(
            f,
            "landing on {map}: {ticks} ticks, {others} others, came to {phase:?}, {} in the pad, \
             {interpenetrations} interpenetrations",
            if *landed { "stood" } else { "never stood" }
        )?;
        let names = ["hovertank", "cargo box", "repair pad"];
        let paper = [(97, 111), (12, 12), (69, 76)];
        for ((name, ours), paper) in names.iter().zip(polygons).zip(paper) {
            writeln!(
                f,
                "{name:<11} {:>3} polygons, {:>3} after BSP cuts   (Blow: {}, {})",
                ours.0, ours.1, paper.0, paper.1
            )?;
        }
        write!(f, "{table}")?;
        if !self.is_as_meant() {
            write!(
                f,
                "\nThe landing failed: the tank must stand in the pad, leave again, and overlap \
                 nothing. It needs open ground around a place to spawn at, as `terrain` has."
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tank_lands_in_the_pad_and_flies_off_again() {
        let options = LandingOptions { others: 2, ..LandingOptions::default() };
        let outcome = landing(&options).unwrap();
        assert!(outcome.is_as_meant(), "{outcome}");
        let hard = outcome.table.rows.iter().find(|row| row.stage == "bsp_hard").unwrap();
        assert!(hard.definitive > 0 && hard.mean_ns.is_some(), "{outcome}");
        assert_eq!(outcome.polygons.map(|(whole, _)| whole), [97, 12, 69]);
    }
}
