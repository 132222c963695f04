//! Pockets: boxes in which the static world does not stop a kinematic body, such as the gap in a
//! wall into which a door slides. Players and other bodies stop it there as well.
//!
//! A solid is left out if the overlap of its box and the body's box lies within the pocket. So the
//! body may be in a wall there, but no part of it may be in a solid elsewhere.

use obsp::geometry::Aabb;

use super::Space;
use super::advance::MovingBody;
use crate::bodies::blocker::Blocker;
use crate::collision::cascade::first_impact;
use crate::collision::distances::MARGIN;
use crate::collision::time_of_impact::TimeOfImpact;
use crate::context::StepContext;

/// Whether a solid is left out for a body that stays within `bounds`.
pub(super) fn leaves_out(pocket: Option<&Aabb>, bounds: &Aabb, solid: &Aabb) -> bool {
    let shared = Aabb { min: bounds.min.max(solid.min), max: bounds.max.min(solid.max) };
    pocket.is_some_and(|pocket| pocket.encloses(&shared))
}

impl Space<'_> {
    /// Stops a moving body with a pocket at the solids of the world that are not left out. The
    /// search for contacts looks for no solids near such a body.
    pub(super) fn stop_outside_pocket(&self, mover: &mut MovingBody, context: &mut StepContext) {
        let Some(pocket) = mover.pocket else { return };
        let way = mover.body.speedbox().inflated(MARGIN);
        let start = mover.body.stopped(mover.body.motion.start).speedbox();
        let mut met = Vec::new();
        self.visit_solids(&way, |index, solid| {
            let around = self.map.solids()[index as usize].bounds();
            if leaves_out(Some(&pocket), &way, around) {
                return;
            }
            let found = first_impact(&mover.body, &solid, (0.0, 1.0), MARGIN, None, context);
            // The body starts in the solid, but only within its pocket, which is allowed. The
            // motion would leave the pocket, so the body stays where it is.
            let stays =
                found == TimeOfImpact::Overlapping && leaves_out(Some(&pocket), &start, around);
            met.push((Blocker::Solid(index), found, stays));
        });
        for (blocker, found, stays) in met {
            match stays {
                true => mover.stop_time = 0.0,
                false => mover.meet(blocker, found),
            }
        }
    }
}
