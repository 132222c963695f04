//! Chooses the snapshots that carry the client's own motion.

use std::num::NonZeroU16;

use crate::Tick;
use crate::snapshot::{AuthoritativeMotion, Lead, TouchedBody};

/// How many times a second a moving player's motion is sent to its client while the client can
/// predict it.
const RATE: u32 = 10;

/// How many times a second a player's motion is sent while the player is pushed or shoves a body.
/// The client cannot predict a push, and knows a body's motion less exactly than the player's.
const TOUCHING_RATE: u32 = 30;

/// The data of a snapshot about the client's own player, besides the entity that all clients are
/// sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnPlayer {
    /// The lead of the player's commands.
    pub lead: Option<Lead>,
    /// The player's motion, if the player is in the world.
    pub motion: Option<AuthoritativeMotion>,
    /// Whether the tick was simulated with a command that the client did not send, so that the
    /// client has certainly predicted wrongly.
    pub command_substituted: bool,
}

/// Decides which snapshots carry the client's own motion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MotionSchedule {
    sent: Option<(Tick, AuthoritativeMotion)>,
    /// The tick of the latest motion known to have arrived.
    arrived: Option<Tick>,
}

impl MotionSchedule {
    /// Takes the motion to be sent at `tick`, if it is due. `lacks_traits` says whether the client
    /// lacks the present traits of its player.
    pub(super) fn take_due(
        &mut self,
        tick: Tick,
        own: &OwnPlayer,
        lacks_traits: bool,
        tick_rate: NonZeroU16,
    ) -> Option<AuthoritativeMotion> {
        let motion = own.motion?;
        if let Some((sent, last)) = self.sent {
            // The client must know the state of each touched body. It need not know that a body is
            // no longer touched.
            let is_sent = |body: &TouchedBody| last.touched.contains(&Some(*body));
            let known = self.arrived == Some(sent)
                && last.motion == motion.motion
                && motion.touched.iter().flatten().all(is_sent);
            let since = tick.distance(sent);
            let was_pushed = i64::from(motion.since_pushed) < since;
            // A body that waits until the player sets it off is sent again only in case of a loss.
            let waits = |body: &TouchedBody| body.asleep && body.armed.is_some() && is_sent(body);
            let touches = was_pushed || !motion.touched.iter().flatten().all(waits);
            let rate = if touches { TOUCHING_RATE } else { RATE };
            let interval = i64::from((u32::from(tick_rate.get()) / rate).max(1));
            // With the old parameters or layers, the client would predict every further tick
            // wrongly. From the motion that comes with the new ones it predicts these ticks again.
            let is_changed = last.motion.walker.movement != motion.motion.walker.movement;
            let is_urgent = own.command_substituted || is_changed || lacks_traits;
            if (known && !lacks_traits) || (!is_urgent && since < interval) {
                return None;
            }
        }
        self.sent = Some((tick, motion));
        Some(motion)
    }

    /// Records that the motion of `tick` has arrived.
    pub(super) fn on_arrival(&mut self, tick: Tick) {
        self.arrived = self.arrived.max(Some(tick));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{TouchedArmedMove, UNKNOWN_BODY};
    use glam::Vec3;
    use obsp_sim::{PlayerMotion, Walker};

    /// A player has shoved a crate and stands still. The state of the crate is sent to the client
    /// until the client knows where the crate came to rest.
    #[test]
    fn a_touched_body_is_sent_for_as_long_as_it_moves() {
        let rate = NonZeroU16::new(60).unwrap();
        let touched =
            |x: f32| TouchedBody { slot: 9, position: Vec3::new(x, 0.0, 0.0), ..UNKNOWN_BODY };
        let at = |crate_at: Option<f32>| {
            let motion = PlayerMotion {
                position: Vec3::ZERO,
                velocity: Vec3::ZERO,
                walker: Walker::default(),
            };
            let mut motion = AuthoritativeMotion::new(motion, Tick(0), None);
            motion.touched[0] = crate_at.map(touched);
            OwnPlayer { motion: Some(motion), ..OwnPlayer::default() }
        };
        let mut schedule = MotionSchedule::default();
        let mut sent = |tick: u32, crate_at| {
            let sent = schedule.take_due(Tick(tick), &at(crate_at), false, rate).is_some();
            schedule.on_arrival(if sent { Tick(tick) } else { Tick(0) });
            sent
        };
        let slides = (0..60).filter(|&tick| sent(tick, Some(tick as f32))).count();
        assert_eq!(slides, 30);
        assert!(sent(60, Some(59.0)), "the place at which the body came to rest is sent");
        assert!((61..100).all(|tick| !sent(tick, Some(59.0))), "known");
        assert!((100..140).all(|tick| !sent(tick, None)), "no player touches the body any more");
        assert!(sent(140, Some(60.0)), "the body has moved again");
    }

    /// A player runs about near a lift that waits below.
    #[test]
    fn a_body_that_waits_for_the_player_is_sent_soon_and_then_seldom() {
        let rate = NonZeroU16::new(60).unwrap();
        let zone = [Vec3::ZERO, Vec3::ONE];
        let armed = Some(TouchedArmedMove { zone, goal: Vec3::Z, speed: 150.0, delay: 0 });
        let at = |x: u32, slot: Option<u16>| {
            let position = Vec3::new(x as f32, 0.0, 0.0);
            let motion = PlayerMotion { position, velocity: Vec3::ZERO, walker: Walker::default() };
            let mut motion = AuthoritativeMotion::new(motion, Tick(0), None);
            motion.touched[0] =
                slot.map(|slot| TouchedBody { slot, asleep: true, armed, ..UNKNOWN_BODY });
            OwnPlayer { motion: Some(motion), ..OwnPlayer::default() }
        };
        let mut schedule = MotionSchedule::default();
        let mut is_sent =
            |tick, slot| schedule.take_due(Tick(tick), &at(tick, slot), false, rate).is_some();
        assert!(is_sent(0, None));
        assert!(!is_sent(1, Some(9)) && is_sent(2, Some(9)), "it is new");
        assert_eq!((3..63).filter(|&tick| is_sent(tick, Some(9))).count(), 10);
        assert!(is_sent(64, Some(8)), "another one");
    }

    #[test]
    fn it_is_sent_at_once_after_a_substituted_command_and_never_again_at_rest() {
        let rate = NonZeroU16::new(60).unwrap();
        let at = |x: f32, command_substituted| {
            let position = Vec3::new(x, 0.0, 0.0);
            let motion = PlayerMotion { position, velocity: Vec3::ZERO, walker: Walker::default() };
            let motion = Some(AuthoritativeMotion::new(motion, Tick(0), None));
            OwnPlayer { lead: None, motion, command_substituted }
        };
        let mut schedule = MotionSchedule::default();
        let mut is_sent =
            |tick, own: &OwnPlayer| schedule.take_due(Tick(tick), own, false, rate).is_some();
        let count = (0..60).filter(|&tick| is_sent(tick, &at(tick as f32, false))).count();
        assert_eq!(count, 10);
        assert!(is_sent(60, &at(60.0, true)));
        assert!(!is_sent(61, &at(60.0, false)), "too soon");
        assert!(is_sent(66, &at(60.0, false)), "the first record may be lost");
        schedule.on_arrival(Tick(66));
        let mut is_sent =
            |tick, own: &OwnPlayer| schedule.take_due(Tick(tick), own, false, rate).is_some();
        assert!((67..200).all(|tick| !is_sent(tick, &at(60.0, true))));
        assert!(is_sent(200, &at(61.0, false)));
        let mut pushed = at(62.0, false);
        assert!(!is_sent(202, &pushed), "too soon");
        pushed.motion.as_mut().unwrap().since_pushed = 1;
        assert!(is_sent(202, &pushed), "pushed");
        assert!(!is_sent(203, &pushed), "the client knows the motion");
    }
    /// A change of layers may leave the player where it is, in a body that it no longer meets.
    #[test]
    fn it_is_sent_at_once_with_changed_traits_even_if_it_is_known() {
        let rate = NonZeroU16::new(60).unwrap();
        let at = |x: f32| {
            let position = Vec3::new(x, 0.0, 0.0);
            let motion = PlayerMotion { position, velocity: Vec3::ZERO, walker: Walker::default() };
            let motion = Some(AuthoritativeMotion::new(motion, Tick(0), None));
            OwnPlayer { motion, ..OwnPlayer::default() }
        };
        let mut schedule = MotionSchedule::default();
        let mut is_sent = |tick, x, lacks_traits| {
            schedule.take_due(Tick(tick), &at(x), lacks_traits, rate).is_some()
        };
        assert!(is_sent(0, 0.0, false));
        assert!(!is_sent(1, 1.0, false), "too soon");
        assert!(is_sent(2, 2.0, true), "the traits have changed");
        assert!(!is_sent(3, 3.0, false), "too soon");
        schedule.on_arrival(Tick(2));
        assert!(schedule.take_due(Tick(3), &at(2.0), false, rate).is_none(), "known");
        assert!(schedule.take_due(Tick(3), &at(2.0), true, rate).is_some());
    }
}
