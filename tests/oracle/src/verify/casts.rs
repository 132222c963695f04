//! Bodies of other shapes than boxes along the axes, cast across brushes and anywhere: the
//! same map must stop them too.
//!
//! The truth is [`sweep`], from the corners of each single brush. A subject may stop a body
//! too early beside edges and corners, but never late and never in solid.

use super::{ALONG, Wrong, shell, wide};
use crate::Random;
use crate::brushes::Polyhedron;
use crate::map_text::Entity;
use crate::sweep::{self, Body};

/// The world as a program under test casts bodies through it.
pub trait Caster {
    /// The time of the first contact of a body that moves from `start` to `end` without
    /// turning, as a fraction of the segment: 0 for a start in solid, `None` for none; and
    /// where it stops.
    fn cast(&self, body: &Body, start: [f32; 3], end: [f32; 3]) -> Option<(f64, [f32; 3])>;
}

/// Results of casting bodies.
#[derive(Clone, Debug, Default)]
pub struct Casts {
    /// Bodies cast.
    pub asked: usize,
    /// Bodies that were stopped, by the subject.
    pub stopped: usize,
    /// Wrong answers.
    pub wrong: Wrong,
}

/// The bodies that are cast in turn: a ball, a small one, a box, a cylinder, a box aslant.
const BODIES: [Body; 5] = [
    Body::Ball(8.0),
    Body::Ball(0.5),
    Body::Cuboid([[16.0, 0.0, 0.0], [0.0, 16.0, 0.0], [0.0, 0.0, 28.0]]),
    Body::Cylinder(16.0, 28.0),
    Body::Cuboid([[3.0, 4.0, 0.0], [-8.0, 6.0, 0.0], [0.0, 0.0, 12.0]]),
];

/// How a brush is crossed.
struct Crossed {
    middle: [f64; 3],
    /// Of the flattest side.
    normal: [f64; 3],
    /// Half of the distance to the farthest corner behind that.
    depth: f64,
}

impl Crossed {
    fn new(polyhedron: &Polyhedron) -> Self {
        let (normal, depth) = polyhedron.flattest();
        Self { middle: polyhedron.middle(), normal, depth }
    }
}

/// Casts each body across each brush or `count` of them, at its middle along the normal of
/// its flattest side, and as many along random segments near the map's entities.
pub fn casts(
    entities: &[Entity],
    subject: &dyn Caster,
    count: usize,
    random: &mut Random,
) -> Casts {
    let mut casts = Casts::default();
    let truth = sweep::Solids::new(entities);
    let brushes = crate::brushes::Solids::new(entities);
    let brushes: Vec<Crossed> =
        brushes.iter().map(|solid| Crossed::new(&solid.polyhedron)).collect();
    let origins: Vec<[f64; 3]> =
        super::places::point_entities(entities).filter_map(Entity::origin).collect();
    let (min, max) = truth.bounds();
    for turn in 0..count {
        let body = &BODIES[turn % BODIES.len()];
        let (start, end) = if turn % 2 == 0 && !brushes.is_empty() {
            let chosen =
                if count >= brushes.len() * 2 { turn / 2 } else { random.below(brushes.len()) };
            let Crossed { middle, normal, depth } = brushes[chosen % brushes.len()];
            let sign = if random.one_in(2) { 1.0 } else { -1.0 };
            let away = sign * (depth + 64.0 + random.between(0.0, 64.0));
            let at = |side: f64| [0, 1, 2].map(|i| (middle[i] + normal[i] * away * side) as f32);
            (at(1.0), at(-1.0))
        } else {
            let near = (!origins.is_empty() && random.one_in(2))
                .then(|| origins[random.below(origins.len())]);
            let start = [0, 1, 2].map(|i| match near {
                Some(origin) => origin[i] + random.between(-64.0, 64.0),
                None => random.between(min[i] - 48.0, max[i] + 48.0),
            });
            let reach = [8.0, 64.0, 512.0][random.below(3)];
            let end = start.map(|x| (x + random.between(-reach, reach)) as f32);
            (start.map(|x| x as f32), end)
        };
        judge(&truth, subject, body, [start, end], &mut casts);
    }
    casts
}

fn judge(
    truth: &sweep::Solids,
    subject: &dyn Caster,
    body: &Body,
    [start, end]: [[f32; 3]; 2],
    casts: &mut Casts,
) {
    casts.asked += 1;
    let answer = subject.cast(body, start, end);
    casts.stopped += usize::from(answer.is_some());
    let (a, b) = (wide(start), wide(end));
    let shell = shell(&[a, b]);
    let certain = body.shrunk(shell);
    let length = (0..3).map(|i| (b[i] - a[i]).powi(2)).sum::<f64>().sqrt();
    let mut wrong = |fault: String| {
        casts.wrong.add(|| format!("{body:?} from {start:?} to {end:?}: {fault}"));
    };
    match (answer, truth.first_contact(&certain, a, b)) {
        (None, Some(time)) => wrong(format!("clear, but it meets a brush at {time}")),
        (Some((time, _)), Some(contact)) if (time - contact) * length > ALONG * shell => {
            wrong(format!("stopped at {time}, but it meets a brush at {contact}"));
        }
        (Some((time, stop)), _)
            if time > 0.0 && truth.distance(&certain, wide(stop), 1.0) <= 0.0 =>
        {
            wrong(format!("stopped at {time}, in solid at {stop:?}"));
        }
        _ => {}
    }
}
