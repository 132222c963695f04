use std::num::NonZeroU16;

use crate::Tick;
use crate::snapshot::{Answer, Lead, Touched};

/// How many times a second its own motion is told to a player who moves, while
/// all goes as its client must have predicted.
const RATE: u32 = 10;

/// How many times a second while it is pushed, which its client cannot predict,
/// or shoves something, of which its client knows less than of itself.
const TOUCHING_RATE: u32 = 30;

/// What a snapshot tells a client about its own player, besides the entity
/// that everybody sees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnPlayer {
    /// How early its commands come.
    pub lead: Option<Lead>,
    /// How it moves, if it is in the world.
    pub answer: Option<Answer>,
    /// Whether the tick was played with another command than the client's own
    /// for it, so that the client has certainly predicted wrongly.
    pub surprised: bool,
}

/// Decides which snapshots carry the client's own motion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnMotion {
    sent: Option<(Tick, Answer)>,
    /// Tick of the latest motion known to have arrived.
    arrived: Option<Tick>,
}

impl OwnMotion {
    /// The motion to be told at `tick`, if any is due; it then counts as sent.
    pub(super) fn take_due(
        &mut self,
        tick: Tick,
        own: &OwnPlayer,
        tick_rate: NonZeroU16,
    ) -> Option<Answer> {
        let answer = own.answer?;
        if let Some((sent, last)) = self.sent {
            // That something is touched no longer is no news; where it is, is.
            let is_told = |body: &Touched| last.touched.contains(&Some(*body));
            let known = self.arrived == Some(sent)
                && last.motion == answer.motion
                && answer.touched.iter().flatten().all(is_told);
            let since = tick.distance(sent);
            let was_pushed = i64::from(answer.since_pushed) < since;
            let touches = was_pushed || answer.touched[0].is_some();
            let rate = if touches { TOUCHING_RATE } else { RATE };
            let interval = i64::from((u32::from(tick_rate.get()) / rate).max(1));
            if known || (!own.surprised && since < interval) {
                return None;
            }
        }
        self.sent = Some((tick, answer));
        Some(answer)
    }

    /// Notes that the motion of `tick` has arrived.
    pub(super) fn arrived(&mut self, tick: Tick) {
        self.arrived = self.arrived.max(Some(tick));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Quat, Vec3};
    use sim::{PlayerMotion, Walker};

    /// Who stands still hears where the crate goes that they gave a shove, until
    /// they know where it came to rest.
    #[test]
    fn what_was_touched_is_told_of_for_as_long_as_it_moves() {
        let rate = NonZeroU16::new(60).unwrap();
        let touched = |x: f32| Touched {
            slot: 9,
            asleep: false,
            position: Vec3::new(x, 0.0, 0.0),
            orientation: Quat::IDENTITY,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
        };
        let at = |crate_at: Option<f32>| {
            let motion = PlayerMotion {
                position: Vec3::ZERO,
                velocity: Vec3::ZERO,
                walker: Walker::default(),
            };
            let mut answer = Answer::new(motion, Tick(0), None);
            answer.touched[0] = crate_at.map(touched);
            OwnPlayer { lead: None, answer: Some(answer), surprised: false }
        };
        let mut own = OwnMotion::default();
        let mut told = |tick: u32, crate_at| {
            let told = own.take_due(Tick(tick), &at(crate_at), rate).is_some();
            own.arrived(if told { Tick(tick) } else { Tick(0) });
            told
        };
        let slides = (0..60).filter(|&tick| told(tick, Some(tick as f32))).count();
        assert_eq!(slides, 30);
        assert!(told(60, Some(59.0)), "where it came to rest");
        assert!((61..100).all(|tick| !told(tick, Some(59.0))), "known");
        assert!((100..140).all(|tick| !told(tick, None)), "touched no longer");
        assert!(told(140, Some(60.0)), "and once more");
    }

    #[test]
    fn it_is_told_at_once_when_surprising_seldom_when_not_and_never_again_at_rest() {
        let rate = NonZeroU16::new(60).unwrap();
        let at = |x: f32, surprised| {
            let position = Vec3::new(x, 0.0, 0.0);
            let motion = PlayerMotion { position, velocity: Vec3::ZERO, walker: Walker::default() };
            let answer = Answer::new(motion, Tick(0), None);
            OwnPlayer { lead: None, answer: Some(answer), surprised }
        };
        let mut own = OwnMotion::default();
        let count =
            (0..60).filter(|&n| own.take_due(Tick(n), &at(n as f32, false), rate).is_some());
        assert_eq!(count.count(), 10);
        assert!(own.take_due(Tick(60), &at(60.0, true), rate).is_some());
        assert!(own.take_due(Tick(61), &at(60.0, false), rate).is_none(), "too soon");
        assert!(own.take_due(Tick(66), &at(60.0, false), rate).is_some(), "may be lost");
        own.arrived(Tick(66));
        assert!((67..200).all(|n| own.take_due(Tick(n), &at(60.0, true), rate).is_none()));
        assert!(own.take_due(Tick(200), &at(61.0, false), rate).is_some());
        let mut pushed = at(62.0, false);
        assert!(own.take_due(Tick(202), &pushed, rate).is_none(), "too soon");
        pushed.answer.as_mut().unwrap().since_pushed = 1;
        assert!(own.take_due(Tick(202), &pushed, rate).is_some(), "pushed");
        assert!(own.take_due(Tick(203), &pushed, rate).is_none(), "that is known");
    }
}
