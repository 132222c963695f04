//! The traced segments: recorded steps, random steps and long traces.

use glam::Vec3;
use obsp::{Map, Trace};
use tests::harness::Random;

use crate::contestants::Subject;

/// Segments of a random workload.
const COUNT: usize = 4096;

/// A recorded step longer than this, in units, is a teleport or a respawn.
const LONGEST_STEP: f32 = 48.0;

/// Offset from the origin of Quake's player box to its centre.
const RECORDED_RISE: Vec3 = Vec3::new(0.0, 0.0, 4.0);

/// Start and end of a body's centre.
pub(crate) type Segment = (Vec3, Vec3);

/// The segments for a map, and the size that moves along them.
pub(crate) struct Workload {
    what: &'static str,
    /// The name in `spaces.toml` of the size that moves.
    pub(crate) space: &'static str,
    pub(crate) segments: Vec<Segment>,
}

impl Workload {
    pub(crate) fn all(subject: &Subject) -> Vec<Self> {
        let mut all = Vec::new();
        if let Some(segments) = recorded(subject) {
            all.push(Self { what: "recorded human steps", space: "standing", segments });
        }
        let random = |space, shortest, longest, seed| {
            random(subject.world(), space, shortest, longest, &mut Random::new(seed))
        };
        for (what, space, shortest, longest) in [
            ("random steps of 1 to 16 units", "standing", 1.0, 16.0),
            ("long traces of 256 to 4096 units", "standing", 256.0, 4096.0),
            ("long rays of 256 to 4096 units", "point", 256.0, 4096.0),
        ] {
            all.push(Self { what, space, segments: random(space, shortest, longest, 1) });
        }
        all
    }

    pub(crate) fn description(&self) -> String {
        format!("{}, {}", self.what, self.space)
    }
}

/// Recorded steps of five people on dm4, without steps of length zero. `None` for other maps, and
/// if the record is absent.
fn recorded(subject: &Subject) -> Option<Vec<Segment>> {
    if subject.world().name() != "dm4" {
        return None;
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces/dm4.csv");
    let text = std::fs::read_to_string(path).ok()?;
    let mut last: Vec<(String, Vec3)> = Vec::new();
    let mut segments = Vec::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [_, slot, x, y, z] = fields[..] else { panic!("{path}: {line:?} is not five fields") };
        let number = |s: &str| -> f32 { s.parse().unwrap_or_else(|_| panic!("{path}: {line:?}")) };
        let at = Vec3::new(number(x), number(y), number(z)) + RECORDED_RISE;
        match last.iter_mut().find(|(known, _)| known == slot) {
            Some((_, from)) => {
                let way = at.distance(*from);
                if way > 0.0 && way < LONGEST_STEP {
                    segments.push((*from, at));
                }
                *from = at;
            }
            None => last.push((slot.to_owned(), at)),
        }
    }
    Some(segments)
}

/// A distance longer than any map, in units.
const FAR: f32 = 100_000.0;

/// Segments in random directions from random positions in play space: free positions with a solid
/// in each direction along the axes.
fn random(
    world: &Map,
    space: &str,
    shortest: f64,
    longest: f64,
    random: &mut Random,
) -> Vec<Segment> {
    let size = world.size(space).expect("every map is compiled for the default sizes");
    let bounds = world.bounds();
    let mut segments = Vec::with_capacity(COUNT);
    while segments.len() < COUNT {
        let mut within = |axis: usize| random.between(bounds.min[axis], bounds.max[axis]) as f32;
        let start = Vec3::new(within(0), within(1), within(2));
        let open = |way: Vec3| {
            let trace = world.find_first_transition(size, start, start + way * FAR);
            !matches!(trace, Trace::Hit(_))
        };
        if Vec3::AXES.into_iter().any(|axis| open(axis) || open(-axis)) {
            continue;
        }
        let length = shortest * (longest / shortest).powf(random.unit());
        segments.push((start, start + direction(random) * length as f32));
    }
    segments
}

fn direction(random: &mut Random) -> Vec3 {
    loop {
        let mut next = || random.between(-1.0, 1.0) as f32;
        let v = Vec3::new(next(), next(), next());
        if (0.01..1.0).contains(&v.length_squared()) {
            return v.normalize();
        }
    }
}
