//! Bodies that hardly moved try a part of their motion.

use super::{Remainder, Rounds};
use crate::bodies::guard::NEGLIGIBLE_SHARE;
use crate::bodies::slots::SlotSet;
use crate::collision::pose::Pose;

impl Rounds<'_> {
    /// For bodies that hardly moved, tries the translation alone, then the rotation alone. Motion
    /// that is impossible is removed from the velocity of supported bodies. Otherwise a wedged body
    /// would gather speed from gravity until it breaks loose, and would never sleep.
    pub(super) fn advance_in_part(&mut self, mut stuck: Vec<Remainder>) {
        self.take_back_gravity(&stuck);
        let is_stuck = |remainder: &Remainder| {
            remainder.stuck || remainder.seconds > (1.0 - NEGLIGIBLE_SHARE) * remainder.whole
        };
        stuck.retain(is_stuck);
        let translated = |start, target: Pose| Pose { position: target.position, ..start };
        let mut still_stuck = self.advance_remainders(&stuck, translated);
        still_stuck.retain(is_stuck);
        let again: SlotSet = still_stuck.iter().map(|remainder| remainder.slot).collect();
        for Remainder { slot, seconds: left, whole, .. } in &stuck {
            let kept = if self.islands.is_supported(*slot) { 1.0 - left / whole } else { 1.0 };
            let Some(entity) = self.entities.get_mut(*slot) else { continue };
            if again.contains(*slot) {
                entity.velocity *= kept;
            } else {
                entity.angular *= kept;
            }
        }
        let turned = |start, target: Pose| Pose { orientation: target.orientation, ..start };
        for remainder in self.advance_remainders(&still_stuck, turned) {
            let is_supported = self.islands.is_supported(remainder.slot);
            let Some(entity) = self.entities.get_mut(remainder.slot) else { continue };
            if is_supported {
                entity.angular *= 1.0 - remainder.seconds / remainder.whole;
                entity.sleep.held |= is_stuck(&remainder);
            }
        }
    }

    /// Removes the gravity of the unspent part of the tick from the velocity of supported bodies
    /// that fall. Otherwise bodies that stop each other while falling would land too fast.
    fn take_back_gravity(&mut self, stopped: &[Remainder]) {
        for Remainder { slot, seconds: left, .. } in stopped {
            if !self.islands.is_supported(*slot) {
                continue;
            }
            let Some(entity) = self.entities.get_mut(*slot) else { continue };
            // The upward acceleration of an engine has already cancelled its share of gravity.
            let falls = entity.gravity(&self.shapes[entity.shape]) - entity.drive().linear.z;
            let rises = falls < 0.0 && entity.player().is_none();
            let speed = &mut entity.velocity.z;
            if falls > 0.0 && *speed < 0.0 {
                *speed = (*speed + falls * left).min(0.0);
            } else if rises && *speed > 0.0 {
                // A body of negative gravity falls upward.
                *speed = (*speed + falls * left).max(0.0);
            }
        }
    }
}
