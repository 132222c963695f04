//! The player count that the fleet sees: players in the match, and places that an allocation has
//! reserved.

use std::time::Duration;

/// The places of a match as its fleet counts them: the places that players take, and the places
/// that an allocation has reserved for players who have not joined yet.
///
/// The count is shared: an allocation raises it (`action: Increment`), and this server reports only
/// differences. Places that are counted beyond the players must be reservations. A player who joins
/// takes a reserved place if there is one. A player who leaves gives a place back. Reservations
/// that nobody takes lapse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// The players that the count includes.
    players: u32,
    reserved: u32,
    /// How long places stay reserved.
    reservation: Duration,
    /// The time at which the reserved places lapse.
    lapse_at: Duration,
    /// The count that was read last, minus the players and the reserved places.
    difference: i64,
}

/// A change of the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The number that is added to the count.
    pub(super) by: i64,
    players: u32,
    reserved: u32,
}

impl Places {
    /// The places of a match in which no place is taken or reserved yet.
    pub(super) fn new(reservation: Duration) -> Self {
        let lapse_at = Duration::ZERO;
        Self { players: 0, reserved: 0, reservation, lapse_at, difference: 0 }
    }

    /// Notes the count that was read from the fleet. A difference counts only once it is read twice
    /// in a row. The sidecar passes changes on in batches, so its count may lack a change for a
    /// moment.
    pub(super) fn counted(&mut self, now: Duration, count: u32) {
        let difference = i64::from(count) - i64::from(self.players) - i64::from(self.reserved);
        if self.difference != difference || difference == 0 {
            self.difference = difference;
            return;
        }
        self.difference = 0;
        if difference > 0 {
            self.lapse_at = now + self.reservation;
        }
        // Players and reserved places add up to the count, and neither is negative.
        self.players = self.players.min(count);
        self.reserved = count - self.players;
    }

    /// The change of the count to report while this many `players` are in the match.
    pub(super) fn change(&mut self, now: Duration, players: u32) -> Option<Change> {
        let joined = players.saturating_sub(self.players);
        let left = self.players.saturating_sub(players);
        let taken = joined.min(self.reserved);
        let lapsed = if now >= self.lapse_at { self.reserved - taken } else { 0 };
        let reserved = self.reserved - taken - lapsed;
        let by = i64::from(joined - taken) - i64::from(left) - i64::from(lapsed);
        let change = Change { by, players, reserved };
        if by == 0 {
            self.made(change);
            return None;
        }
        Some(change)
    }

    /// Notes that a change was reported to the fleet.
    pub(super) fn made(&mut self, change: Change) {
        (self.players, self.reserved) = (change.players, change.reserved);
    }

    /// Whether players may still come: places are reserved, or the count that was read last is
    /// higher than the players and the reserved places together.
    pub(super) fn is_reserved(&self) -> bool {
        self.reserved > 0 || self.difference > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fleet's counter and the match that shares it.
    struct Fleet {
        places: Places,
        count: i64,
    }

    impl Fleet {
        fn new() -> Self {
            Self { places: Places::new(Duration::from_secs(60)), count: 0 }
        }

        /// Polls the match at `second`, with this many players. Returns the count after that.
        fn poll(&mut self, second: u64, players: u32) -> i64 {
            let now = Duration::from_secs(second);
            self.places.counted(now, u32::try_from(self.count).unwrap());
            if let Some(change) = self.places.change(now, players) {
                self.count += change.by;
                self.places.made(change);
            }
            self.count
        }
    }

    #[test]
    fn players_without_an_allocation_are_counted() {
        let mut fleet = Fleet::new();
        let counted = [0, 1, 5, 5, 2, 0].map(|players| fleet.poll(1, players));
        assert_eq!(counted, [0, 1, 5, 5, 2, 0]);
    }

    /// If the server reported the number of its players, it would take back the places that an
    /// allocation has reserved. The next allocation would then send more players than there is room
    /// for.
    #[test]
    fn reserved_places_are_kept_until_their_players_come() {
        let mut fleet = Fleet::new();
        fleet.poll(0, 1);
        fleet.count += 4;
        let seen = [(1, 1), (2, 1), (3, 2), (4, 5), (5, 6), (6, 4), (200, 4)];
        let counted = seen.map(|(second, players)| fleet.poll(second, players));
        assert_eq!(counted, [5, 5, 5, 5, 6, 4, 4]);
    }

    #[test]
    fn reservations_lapse_when_nobody_comes() {
        let mut fleet = Fleet::new();
        fleet.count += 4;
        let seen = [(0, 0), (1, 0), (20, 1), (60, 1), (61, 1), (62, 0)];
        let counted = seen.map(|(second, players)| fleet.poll(second, players));
        assert_eq!(counted, [4, 4, 4, 4, 1, 0]);
        assert!(!fleet.places.is_reserved());
    }

    #[test]
    fn places_of_an_earlier_server_lapse() {
        let mut fleet = Fleet { count: 7, ..Fleet::new() };
        fleet.poll(0, 0);
        fleet.poll(1, 0);
        assert_eq!(fleet.poll(70, 0), 0);
    }

    #[test]
    fn a_count_that_lags_for_a_moment_is_not_believed() {
        let mut fleet = Fleet::new();
        fleet.poll(1, 3);
        fleet.count -= 3;
        assert_eq!(fleet.poll(2, 3), 0);
        fleet.count += 3;
        assert_eq!([3, 4].map(|second| fleet.poll(second, 3)), [3, 3]);
        // Somebody else lowers the count. The server corrects it after it has read the lower count
        // twice.
        fleet.count -= 2;
        assert_eq!([5, 6].map(|second| fleet.poll(second, 3)), [1, 3]);
    }

    /// Random allocations, joins and leaves. The count is never below the number of players, and
    /// equals it once all reservations have lapsed.
    #[test]
    fn the_count_is_right_in_the_end() {
        for seed in 0..1_000_u64 {
            let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut draw = |below: u64| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                random % below
            };
            let (mut fleet, mut players) = (Fleet::new(), 0);
            for second in 0..100 {
                match draw(4) {
                    0 => fleet.count += draw(4) as i64,
                    1 => players = draw(9) as u32,
                    _ => {}
                }
                let count = fleet.poll(second, players);
                assert!(count >= i64::from(players), "seed {seed}: {count} of {players}");
            }
            for second in [101, 102, 200, 201] {
                fleet.poll(second, players);
            }
            assert_eq!(fleet.count, i64::from(players), "seed {seed}");
        }
    }
}
