//! What is thrown, on its way: to the world it is the ball around it, whose way
//! the shifted planes know (Melax 2000), to everybody else what it is. A ball
//! may turn as it likes; everybody else stands meanwhile.

use glam::DVec3;
use maps::Trace;
use maps::body::Sphere;

use super::{MARGIN, Placement, Space};
use crate::cascade::{Body, pass};
use crate::counters::Counters;
use crate::impact::Passage;
use crate::pose::Pose;
use crate::shape::Shape;

/// How far something thrown may go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// Where it may be at the end of its way, or where it is stopped; `None` if
    /// it overlapped something before it moved.
    pub(crate) placement: Option<Placement>,
    /// The share of its way that it gets.
    pub(crate) time: f64,
    /// What stops it.
    pub(crate) stop: Option<Stop>,
}

/// What stops something thrown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// The slot of the entity that it is, or `None` for the world.
    pub(crate) entity: Option<u16>,
    /// Unit normal of the surface, towards what was thrown.
    pub(crate) normal: DVec3,
    /// Where the two are closest, on what was thrown.
    pub(crate) point: DVec3,
}

impl Space<'_> {
    /// Follows what is in `slot` on its way to `target`. `None` if nothing
    /// placed is there.
    pub(crate) fn fly(&self, slot: u16, target: Pose, counters: &mut Counters) -> Option<Flight> {
        let placement = self.entities.get(slot)?.placement()?;
        let (id, start) = (placement.shape(), *placement.pose());
        let shape = self.shape(id);
        let way = self.fly_as_ball(shape, start, target, counters);
        let mut overlapping = way.is_none();
        let (mut end, mut time, mut stop) = way.unwrap_or((start, 0.0, None));
        let body = Body::moving(shape, start, end);
        let (mut share, mut met) = (1.0, None);
        self.visit_entities(
            &body.speedbox().inflated(MARGIN),
            Some(slot),
            &mut |other, obstacle| match pass(&body, &obstacle, (0.0, 1.0), MARGIN, None, counters)
            {
                Passage::Free => {}
                Passage::Overlapping => overlapping = true,
                Passage::Blocked(impact) if impact.time < share => {
                    share = impact.time;
                    met = Some(Stop {
                        entity: Some(other),
                        normal: -impact.axis,
                        point: impact.point,
                    });
                }
                Passage::Blocked(_) => {}
            },
        );
        if met.is_some() {
            (end, time, stop) = (body.motion.at(share), time * share, met);
        }
        let placement = (!overlapping).then(|| self.placement(id, end));
        Some(Flight { placement, time, stop })
    }

    /// As far as the world lets it: where it ends, at which share of its way, and
    /// what stops it; `None` if it is in solid.
    fn fly_as_ball(
        &self,
        shape: &Shape,
        start: Pose,
        target: Pose,
        counters: &mut Counters,
    ) -> Option<(Pose, f64, Option<Stop>)> {
        let way = [start.position.as_vec3(), target.position.as_vec3()];
        let ball = Sphere::new((shape.radius + MARGIN) as f32);
        match ball.map_or(Trace::StartSolid, |ball| self.map.cast(&ball, way[0], way[1])) {
            Trace::Clear => Some((target, 1.0, None)),
            Trace::Hit(hit) => {
                let end = hit.end.as_dvec3();
                let normal = hit.normal.as_dvec3();
                let point = end - normal * shape.radius;
                let time = f64::from(hit.time);
                let stop = Stop { entity: None, normal, point };
                Some((Pose { position: end, ..target }, time, Some(stop)))
            }
            // Too near to an edge for the shifted planes to tell: it goes on as
            // what it is, without turning.
            Trace::StartSolid => self.fly_past_solids(shape, start, target, counters),
        }
    }

    fn fly_past_solids(
        &self,
        shape: &Shape,
        start: Pose,
        target: Pose,
        counters: &mut Counters,
    ) -> Option<(Pose, f64, Option<Stop>)> {
        let body = Body::moving(shape, start, Pose { position: target.position, ..start });
        let (mut time, mut stop, mut overlapping) = (1.0, None, false);
        self.visit_solids(&body.speedbox().inflated(MARGIN), |_, solid| {
            match pass(&body, &solid, (0.0, 1.0), MARGIN, None, counters) {
                Passage::Free => {}
                Passage::Overlapping => overlapping = true,
                Passage::Blocked(impact) if impact.time < time => {
                    time = impact.time;
                    stop = Some(Stop { entity: None, normal: -impact.axis, point: impact.point });
                }
                Passage::Blocked(_) => {}
            }
        });
        (!overlapping).then(|| (body.motion.at(time), time, stop))
    }
}
