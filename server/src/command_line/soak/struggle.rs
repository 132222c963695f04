use obsp_sim::{Buttons, Command, EntityId};

use crate::matches::tick_thread::stuck::{DIRECTIONS, StuckWatch};

/// A player who has asked to move for this many seconds without moving begins to struggle.
const IN_VAIN: f64 = 1.0;

/// Seconds for which a struggling player asks for each direction.
const EACH: f64 = 0.13;

/// Seconds between two jumps.
const JUMPS: f64 = 0.3;

/// The struggle of a player of a soak who seems to be stuck. The player asks for all directions in
/// turn and jumps, until the watch knows whether they are stuck. The script goes on when the player
/// has moved or is found stuck.
#[derive(Clone, Debug, Default)]
pub(super) struct Struggle {
    ticks: u32,
}

impl Struggle {
    /// The command of a tick in place of the script's, if the player struggles.
    pub(super) fn next_command(
        &mut self,
        watch: &StuckWatch,
        player: EntityId,
        tick_rate: u32,
    ) -> Option<Command> {
        if !watch.is_in_doubt(player, IN_VAIN) {
            self.ticks = 0;
            return None;
        }
        let seconds = f64::from(self.ticks) / f64::from(tick_rate);
        self.ticks += 1;
        let direction = (seconds / EACH) as u32 % DIRECTIONS;
        let jumps = (seconds / JUMPS).fract() < 0.5;
        let buttons = if jumps { Buttons::JUMP } else { Buttons::default() };
        let yaw = (direction * (65_536 / DIRECTIONS)) as u16;
        Some(Command { forward: 127, yaw, buttons, ..Command::default() })
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};
    use obsp_sim::{EntityState, Kind, MovementParameters, Posture, State, Traits};

    use super::*;

    /// A player who does not move is found stuck within two and a half seconds of struggling. A
    /// player who does not ask to move never struggles.
    #[test]
    fn a_struggle_asks_for_all_that_the_watch_wants_to_know() {
        let id = EntityId { slot: 0, generation: 0 };
        let entity = EntityState {
            id,
            kind: Kind::Player { posture: Posture::Standing },
            position: DVec3::ZERO,
            orientation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            asleep: false,
            traits: Traits::default(),
        };
        let state = State { tick: 0, entities: vec![entity] };
        for rate in [10, 30, 60, 128] {
            for (forward, expected) in [(127, 1), (0, 0)] {
                let mut watch = StuckWatch::new(rate);
                let mut struggle = Struggle::default();
                for _ in 0..rate * 7 / 2 {
                    let script = Command { forward, ..Command::default() };
                    let command = struggle.next_command(&watch, id, rate).unwrap_or(script);
                    watch.judge(&state, &[(id, command)], |_| MovementParameters::default());
                }
                assert_eq!(watch.now(), expected, "{rate} Hz, forward {forward}");
            }
        }
    }
}
