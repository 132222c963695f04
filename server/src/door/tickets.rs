//! Reconnection: a player whose connection is lost keeps body, score and place for a while
//! (`--rejoin`). The ticket in the player's hello gives them back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use obsp_proto::control::Ticket;
use ring::rand::{SecureRandom, SystemRandom};

/// The tickets of players. `C` is the connection of a player who is connected; `A` is what a player
/// who is away has left behind.
#[derive(Debug)]
pub(crate) struct Tickets<A, C> {
    /// How long the body and the places of a player who is away are kept.
    keep: Duration,
    /// Whether players get tickets. They do if they may come back, or if they leave a body behind
    /// in a fight.
    draws: bool,
    table: Mutex<HashMap<Ticket, State<A, C>>>,
}

#[derive(Debug)]
enum State<A, C> {
    /// The player is connected, by this connection.
    Here(Arc<C>),
    /// The connection is lost.
    Away { left: A, until: Instant },
}

/// The answer to a client that presents a ticket.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Presented<A, C> {
    /// The ticket is unknown, or too old.
    Unknown,
    /// The body that the ticket's player left.
    Back(A),
    /// The ticket's player still seems to be connected. The older connection has to end first. Then
    /// it leaves behind the body that the newer one takes over.
    Here(Arc<C>),
}

impl<A, C> Tickets<A, C> {
    /// A table that keeps the body and the places of an absent player for the time `keep`. If that
    /// is zero, the table keeps nothing.
    pub(crate) fn new(keep: Duration) -> Self {
        Self { keep, draws: !keep.is_zero(), table: Mutex::default() }
    }

    /// Lets bodies stay for `time` after a fight, even if nobody may come back.
    pub(crate) fn with_combat_time(self, time: Duration) -> Self {
        Self { draws: self.draws || !time.is_zero(), ..self }
    }

    /// How long the body and the places of a player who is away are kept.
    pub(crate) fn keep(&self) -> Duration {
        self.keep
    }

    /// Draws a ticket for a player who has just come. Returns [`Ticket::NONE`] if no body is ever
    /// kept, or if the system gives no random bytes.
    pub(crate) fn draw(&self, connection: &Arc<C>) -> Ticket {
        let mut bytes = [0; 16];
        if !self.draws || SystemRandom::new().fill(&mut bytes).is_err() {
            return Ticket::NONE;
        }
        let ticket = Ticket(bytes);
        self.lock().insert(ticket, State::Here(Arc::clone(connection)));
        ticket
    }

    /// Notes that the player of a ticket is back, by this connection. The ticket stays the same,
    /// because the connection may be lost before another ticket reaches the client.
    pub(crate) fn renew(&self, ticket: Ticket, connection: &Arc<C>) {
        self.lock().insert(ticket, State::Here(Arc::clone(connection)));
    }

    /// Answers a client that presents a ticket. The body that its player left behind is given out
    /// only once.
    pub(crate) fn present(&self, ticket: Ticket, now: Instant) -> Presented<A, C> {
        let mut table = self.lock();
        match table.get(&ticket) {
            Some(State::Here(connection)) => Presented::Here(Arc::clone(connection)),
            Some(State::Away { until, .. }) if now < *until => match table.remove(&ticket) {
                Some(State::Away { left, .. }) => Presented::Back(left),
                _ => Presented::Unknown,
            },
            // An expired body stays in the table until [`Tickets::expired`] takes it out, because
            // that function's caller gives it up properly.
            Some(State::Away { .. }) | None => Presented::Unknown,
        }
    }

    /// Notes that the connection of a ticket has ended, and keeps what its player `left` behind
    /// until the moment `until`. Returns `left` if it cannot be kept.
    pub(crate) fn lose(&self, ticket: Ticket, left: A, until: Instant) -> Option<A> {
        let mut table = self.lock();
        match table.get_mut(&ticket) {
            Some(state @ State::Here(_)) => {
                *state = State::Away { left, until };
                None
            }
            _ => Some(left),
        }
    }

    /// Notes that the player of a ticket has left for good.
    pub(crate) fn forget(&self, ticket: Ticket) {
        self.lock().remove(&ticket);
    }

    /// Takes out the bodies whose players did not come back in time.
    pub(crate) fn expired(&self, now: Instant) -> Vec<A> {
        let is_old = |_: &Ticket, state: &mut State<A, C>| matches!(state, State::Away { until, .. } if now >= *until);
        let old = self.lock().extract_if(is_old).collect::<Vec<_>>();
        let left = |state| match state {
            State::Away { left, .. } => Some(left),
            State::Here(_) => None,
        };
        old.into_iter().filter_map(|(_, state)| left(state)).collect()
    }

    /// Takes out the bodies of players who may not come back.
    pub(crate) fn withdraw(&self, is_unwanted: impl Fn(&A) -> bool) -> Vec<A> {
        let mut table = self.lock();
        let unwanted = table.extract_if(|_, state| match state {
            State::Away { left, .. } => is_unwanted(left),
            State::Here(_) => false,
        });
        let left = |(_, state)| match state {
            State::Away { left, .. } => Some(left),
            State::Here(_) => None,
        };
        unwanted.filter_map(left).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Ticket, State<A, C>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use obsp_sim::Random;

    use super::*;

    const KEEP: Duration = Duration::from_secs(30);

    #[test]
    fn a_player_who_comes_back_in_time_gets_the_body_once() {
        let tickets = Tickets::<&str, u32>::new(KEEP);
        let now = Instant::now();
        let ticket = tickets.draw(&Arc::new(1));
        assert_eq!(tickets.present(ticket, now), Presented::Here(Arc::new(1)));
        assert_eq!(tickets.lose(ticket, "seat", now + KEEP), None);
        assert_eq!(tickets.expired(now + KEEP / 2), Vec::<&str>::new());
        assert_eq!(tickets.present(ticket, now + KEEP / 2), Presented::Back("seat"));
        assert_eq!(tickets.present(ticket, now + KEEP / 2), Presented::Unknown);
        tickets.renew(ticket, &Arc::new(3));
        assert_eq!(tickets.present(ticket, now), Presented::Here(Arc::new(3)));
        let other = tickets.draw(&Arc::new(2));
        tickets.lose(other, "seat", now + KEEP);
        assert_eq!(tickets.present(Ticket::NONE, now), Presented::Unknown);
        assert_eq!(tickets.present(other, now + KEEP), Presented::Unknown, "too late");
        assert_eq!(
            tickets.expired(now + KEEP),
            ["seat"],
            "a body whose player comes too late is given up"
        );
        assert_eq!(tickets.present(other, now + KEEP), Presented::Unknown);
    }

    #[test]
    fn a_removed_player_cannot_come_back() {
        let tickets = Tickets::<&str, u32>::new(KEEP);
        let now = Instant::now();
        let [kicked, other, here] = [1, 2, 3].map(|number| tickets.draw(&Arc::new(number)));
        tickets.lose(kicked, "kicked", now + KEEP);
        tickets.lose(other, "other", now + KEEP);
        assert_eq!(tickets.withdraw(|left| *left == "kicked"), ["kicked"]);
        assert_eq!(tickets.present(kicked, now), Presented::Unknown);
        assert_eq!(tickets.present(other, now), Presented::Back("other"));
        assert_eq!(tickets.present(here, now), Presented::Here(Arc::new(3)));
    }

    #[test]
    fn a_player_who_leaves_or_was_replaced_leaves_nothing_behind() {
        let tickets = Tickets::<&str, u32>::new(KEEP);
        let ticket = tickets.draw(&Arc::new(1));
        tickets.forget(ticket);
        assert_eq!(tickets.lose(ticket, "seat", Instant::now()), Some("seat"));
        let none = Tickets::<&str, u32>::new(Duration::ZERO);
        assert_eq!(none.draw(&Arc::new(1)), Ticket::NONE);
        let fights = none.with_combat_time(KEEP);
        assert_ne!(fights.draw(&Arc::new(1)), Ticket::NONE);
    }

    /// Random operations in any order: each body is given back once, to the client that comes in
    /// time, or else it expires. A model that remembers everything predicts each answer.
    #[test]
    fn a_hundred_thousand_operations_agree_with_a_model() {
        let seed = 29;
        let mut random = Random::new(seed);
        let tickets = Tickets::<u64, u64>::new(KEEP);
        let mut now = Instant::now();
        let mut known = Vec::new();
        // The body behind each ticket, and until when it is kept.
        let mut model = HashMap::<Ticket, Option<(u64, Instant)>>::new();
        let mut given = [0; 2];
        for number in 0..100_000_u64 {
            let at = format!("seed {seed}, operation {number}");
            let any = |random: &mut Random, known: &[Ticket]| {
                known.get(random.below(known.len().max(1) as u64) as usize).copied()
            };
            let ticket = any(&mut random, &known).unwrap_or(Ticket::NONE);
            let expected = model.get(&ticket).copied();
            match random.below(8) {
                0 | 1 if model.len() < 50 => {
                    let ticket = tickets.draw(&Arc::new(number));
                    assert!(
                        model.insert(ticket, None).is_none(),
                        "{at}: the ticket was drawn twice"
                    );
                    known.push(ticket);
                }
                2 | 3 => {
                    let kept = tickets.lose(ticket, number, now + KEEP).is_none();
                    assert_eq!(kept, expected == Some(None), "{at}");
                    if kept {
                        model.insert(ticket, Some((number, now + KEEP)));
                    }
                }
                4 => match (tickets.present(ticket, now), expected) {
                    (Presented::Here(_), Some(None)) => {}
                    (Presented::Back(left), Some(Some((known, until)))) => {
                        assert!(left == known && now < until, "{at}");
                        model.remove(&ticket);
                        given[0] += 1;
                    }
                    (Presented::Unknown, Some(Some((_, until)))) => assert!(now >= until, "{at}"),
                    (Presented::Unknown, None) => {}
                    other => panic!("{at}: {other:?}"),
                },
                5 => {
                    let is_old = |_: &Ticket, state: &mut Option<(u64, Instant)>| {
                        state.is_some_and(|(_, until)| now >= until)
                    };
                    let old = model.extract_if(is_old).filter_map(|(_, state)| state);
                    let mut expected: Vec<_> = old.map(|(left, _)| left).collect();
                    let mut expired = tickets.expired(now);
                    expected.sort_unstable();
                    expired.sort_unstable();
                    assert_eq!(expired, expected, "{at}");
                    given[1] += expired.len();
                }
                // Only a player who is connected says goodbye.
                6 if expected == Some(None) => {
                    tickets.forget(ticket);
                    model.remove(&ticket);
                }
                _ => now += Duration::from_millis(random.below(5_000)),
            }
            known.retain(|ticket| model.contains_key(ticket) || random.below(20) > 0);
            assert_eq!(tickets.lock().len(), model.len(), "{at}");
        }
        assert!(given.iter().all(|given| *given > 1000), "seed {seed}: {given:?}");
    }
}
