//! Casts of bodies that are not boxes along the axes, across brushes and elsewhere. The map must
//! also stop these bodies.
//!
//! [`sweep`] has the right answer, from the corners of each single brush. A subject may stop a body
//! too early beside edges and corners, but never late and never in solid.

use super::{ALONG, Wrong, shell, wide};
use crate::Random;
use crate::brushes::Polyhedron;
use crate::map_text::Entity;
use crate::sweep::{self, Body};

/// The answers of a program under test about bodies that move through the world.
pub trait Caster {
    /// The first contact of a body that moves from `start` to `end` without turning: its time as
    /// a fraction of the segment (0 for a start in solid), and the position at which the body
    /// stops. `None` if there is no contact.
    fn cast(&self, body: &Body, start: [f32; 3], end: [f32; 3]) -> Option<(f64, [f32; 3])>;
}

/// Results of casting bodies.
#[derive(Clone, Debug, Default)]
pub struct Casts {
    /// Number of casts.
    pub asked: usize,
    /// Number of casts that met something, by the subject's answers.
    pub stopped: usize,
    /// Wrong answers.
    pub wrong: Wrong,
}

/// The bodies that are cast in turn: a ball, a small ball, a box, a cylinder and an oblique box.
const BODIES: [Body; 5] = [
    Body::Ball(8.0),
    Body::Ball(0.5),
    Body::Cuboid([[16.0, 0.0, 0.0], [0.0, 16.0, 0.0], [0.0, 0.0, 28.0]]),
    Body::Cylinder(16.0, 28.0),
    Body::Cuboid([[3.0, 4.0, 0.0], [-8.0, 6.0, 0.0], [0.0, 0.0, 12.0]]),
];

/// A line across a brush.
struct Crossed {
    middle: [f64; 3],
    /// The normal of the flattest face.
    normal: [f64; 3],
    /// Half of the distance from that face to the farthest corner behind it.
    depth: f64,
}

impl Crossed {
    fn new(polyhedron: &Polyhedron) -> Self {
        let (normal, depth) = polyhedron.flattest();
        Self { middle: polyhedron.middle(), normal, depth }
    }
}

/// Casts `count` times, each time the next body. Every other cast crosses a brush through its
/// middle, along the normal of the brush's flattest face. Each brush is crossed in turn if `count`
/// suffices for all, otherwise brushes are chosen at random. The remaining casts go along random
/// segments, half of them near the map's entities.
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
        (None, Some(time)) => {
            wrong(format!("the cast is clear, but the body meets a brush at {time}"))
        }
        (Some((time, _)), Some(contact)) if (time - contact) * length > ALONG * shell => {
            wrong(format!("the body stops at {time}, but meets a brush at {contact} already"));
        }
        (Some((time, stop)), _)
            if time > 0.0 && truth.distance(&certain, wide(stop), 1.0) <= 0.0 =>
        {
            wrong(format!("the body stops at {time}, in solid at {stop:?}"));
        }
        _ => {}
    }
}
