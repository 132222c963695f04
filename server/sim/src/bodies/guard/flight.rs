//! The motion of a missile. Against the world, its bounding ball is swept through the shifted
//! planes (Melax 2000), so the missile may turn freely. Other bodies stand while the missile moves,
//! and its own shape is tested against them.

use glam::DVec3;
use obsp::Trace;
use obsp::body::Sphere;

use super::{Placement, Seeker, Space};
use crate::collision::cascade::{Body, first_impact};
use crate::collision::distances::MARGIN;
use crate::collision::pose::{Pose, share_of_way};
use crate::collision::shape::Shape;
use crate::collision::time_of_impact::TimeOfImpact;
use crate::context::StepContext;

/// How far a missile may move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// The end of the missile's motion, or the place where it is stopped; `None` if it overlapped
    /// something before it moved.
    pub(crate) placement: Option<Placement>,
    /// The share of the motion that leads to the placement.
    pub(crate) time: f64,
    /// The obstacle that stops the missile.
    pub(crate) stop: Option<Stop>,
}

/// An obstacle that stops a missile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// The slot of the entity, or `None` for the world.
    pub(crate) entity: Option<u16>,
    /// Unit normal of the surface, towards the missile.
    pub(crate) normal: DVec3,
    /// Closest point on the missile.
    pub(crate) point: DVec3,
}

impl Space<'_> {
    /// Follows the missile in `slot` towards `target`. `None` if the slot holds no placed entity.
    pub(crate) fn fly(&self, slot: u16, target: Pose, context: &mut StepContext) -> Option<Flight> {
        let missile = self.entities.get(slot)?;
        let placement = missile.placement()?;
        let (id, start) = (placement.shape(), *placement.pose());
        let shape = self.shape(id);
        let way = self.fly_as_ball(shape, start, target, context);
        let mut overlapping = way.is_none();
        let (mut end, mut time, mut stop) = way.unwrap_or((start, 0.0, None));
        let body = Body::moving(shape, start, end);
        let (mut share, mut met) = (1.0, None);
        self.visit_entities(
            &body.speedbox().inflated(MARGIN),
            Seeker::of(missile),
            &mut |other, obstacle| match first_impact(
                &body,
                &obstacle,
                (0.0, 1.0),
                MARGIN,
                None,
                context,
            ) {
                TimeOfImpact::Free => {}
                TimeOfImpact::Overlapping => overlapping = true,
                TimeOfImpact::Blocked(impact) if impact.time < share => {
                    share = impact.time;
                    met = Some(Stop {
                        entity: Some(other),
                        normal: -impact.axis,
                        point: impact.point,
                    });
                }
                TimeOfImpact::Blocked(_) => {}
            },
        );
        if met.is_some() {
            (end, time, stop) = (body.motion.at(share), time * share, met);
        }
        let placement = (!overlapping).then(|| self.placement(id, end));
        Some(Flight { placement, time, stop })
    }

    /// Follows the missile's bounding ball past the world alone. Returns the end of its motion, the
    /// share of the motion that is free, and the obstacle that stops it. `None` if the ball starts
    /// in solid.
    fn fly_as_ball(
        &self,
        shape: &Shape,
        start: Pose,
        target: Pose,
        context: &mut StepContext,
    ) -> Option<(Pose, f64, Option<Stop>)> {
        let way = [start.position.as_vec3(), target.position.as_vec3()];
        let ball = Sphere::new((shape.radius + MARGIN) as f32);
        match ball.map_or(Trace::StartSolid, |ball| self.map.cast(&ball, way[0], way[1])) {
            Trace::Clear => Some((target, 1.0, None)),
            Trace::Hit(hit) => {
                let end = hit.end.as_dvec3();
                let normal = hit.normal.as_dvec3();
                let point = end - normal * shape.radius;
                let time = share_of_way([start.position, target.position], end);
                let stop = Stop { entity: None, normal, point };
                Some((Pose { position: end, ..target }, time, Some(stop)))
            }
            // The ball is too near to an edge for the shifted planes: the missile's own shape is
            // swept instead, without turning.
            Trace::StartSolid => self.fly_past_solids(shape, start, target, context),
        }
    }

    fn fly_past_solids(
        &self,
        shape: &Shape,
        start: Pose,
        target: Pose,
        context: &mut StepContext,
    ) -> Option<(Pose, f64, Option<Stop>)> {
        let body = Body::moving(shape, start, Pose { position: target.position, ..start });
        let (mut time, mut stop, mut overlapping) = (1.0, None, false);
        self.visit_solids(&body.speedbox().inflated(MARGIN), |_, solid| {
            match first_impact(&body, &solid, (0.0, 1.0), MARGIN, None, context) {
                TimeOfImpact::Free => {}
                TimeOfImpact::Overlapping => overlapping = true,
                TimeOfImpact::Blocked(impact) if impact.time < time => {
                    time = impact.time;
                    stop = Some(Stop { entity: None, normal: -impact.axis, point: impact.point });
                }
                TimeOfImpact::Blocked(_) => {}
            }
        });
        (!overlapping).then(|| (body.motion.at(time), time, stop))
    }
}
