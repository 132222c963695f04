//! The state machine of rounds: warm-up, play, intermission, and the map that comes next.
//! It reads no clock and loads nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use obsp_proto::Time;
use obsp_proto::control::RoundPhase;

/// How long a map that could not be loaded is left out.
const RETRY: Duration = Duration::from_secs(30);

/// The rules by which rounds begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Time before the first round, from the first player on; zero for none.
    pub(crate) warm_up: Duration,
    /// How long a round lasts. `None` means for ever.
    pub(crate) round: Option<Duration>,
    /// The score that ends a round.
    pub(crate) score_limit: Option<i16>,
    /// Time between a round and the next.
    pub(crate) intermission: Duration,
}

impl Rules {
    /// Whether rounds end by time or by score.
    pub(crate) fn ends(&self) -> bool {
        self.round.is_some() || self.score_limit.is_some()
    }
}

/// The input of the state machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundInput {
    pub(crate) now: Time,
    /// Players in the world.
    pub(crate) players: usize,
    /// The highest score of any player.
    pub(crate) best: Option<i16>,
    /// Whether a player has come to the exit of the map.
    pub(crate) exited: bool,
}

/// Something that the director has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FlowAction {
    /// Prepare a world of this map; [`Flow::prepared`] or [`Flow::failed`] follows.
    Prepare(String),
    /// Let the match go on in the world that was prepared last.
    Enter,
    /// The round is over: nobody moves in this world any more.
    Freeze {
        /// The map of the next round.
        next: Option<String>,
    },
    /// The match is in this phase, for this long if the phase ends by time.
    Phase(RoundPhase, Option<Duration>),
}

/// The world that comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Next {
    Unknown,
    Preparing(String),
    Ready(String),
}

/// The state machine of a match: which phase it is in, which map comes next, and
/// when the match goes on there. It reads no clock and loads nothing.
#[derive(Debug)]
pub(crate) struct Flow {
    rules: Rules,
    /// The maps of the rotation, of which there is at least one.
    maps: Vec<String>,
    /// The map that is played.
    current: String,
    /// Where in the rotation the match is.
    place: usize,
    phase: RoundPhase,
    /// When the phase ends by time.
    ends: Option<Time>,
    next: Next,
    /// A map that an operator or a vote asks for now, in the rotation or not.
    wanted: Option<String>,
    /// Maps that could not be loaded. They are left out until `retry`.
    failed: BTreeSet<String>,
    retry: Time,
}

impl Flow {
    /// A match on the first of `maps`.
    pub(crate) fn new(rules: Rules, maps: Vec<String>) -> Self {
        let phase = if rules.warm_up.is_zero() { RoundPhase::Playing } else { RoundPhase::WarmUp };
        Self {
            rules,
            current: maps.first().cloned().unwrap_or_default(),
            maps,
            place: 0,
            phase,
            ends: None,
            next: Next::Unknown,
            wanted: None,
            failed: BTreeSet::new(),
            retry: Time::ZERO,
        }
    }

    /// The phase of the match, and when it ends, if it ends by time.
    pub(crate) fn phase(&self) -> (RoundPhase, Option<Time>) {
        (self.phase, self.ends)
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Plays by other rules from now on. If they change the time of a round, the current round's
    /// time starts again.
    pub(crate) fn change_rules(&mut self, rules: Rules) {
        if rules.round != self.rules.round && self.phase == RoundPhase::Playing {
            self.ends = None;
        }
        self.rules = rules;
    }

    /// The map that comes next, as far as that is known.
    pub(crate) fn next_map(&self) -> Option<String> {
        self.wanted.clone().or_else(|| self.rules.ends().then(|| self.follower()).flatten())
    }

    /// Goes on to `map` as soon as it is ready.
    pub(crate) fn change_map(&mut self, map: String) {
        self.failed.remove(&map);
        self.wanted = Some(map);
    }

    /// Begins the round again, on the same map.
    pub(crate) fn restart(&mut self) {
        self.change_map(self.current.clone());
    }

    /// Notes that a world of `map` is prepared. Returns false if the flow waits for another map.
    pub(crate) fn prepared(&mut self, map: &str) -> bool {
        let is_next = self.next == Next::Preparing(map.to_owned());
        if is_next {
            self.next = Next::Ready(map.to_owned());
        }
        is_next
    }

    /// Notes that `map` cannot be played.
    pub(crate) fn failed(&mut self, map: &str, now: Time) {
        if self.next == Next::Preparing(map.to_owned()) {
            self.next = Next::Unknown;
        }
        if self.wanted.as_deref() == Some(map) {
            self.wanted = None;
        }
        self.failed.insert(map.to_owned());
        self.retry = now + RETRY;
    }

    /// Returns the actions that are due, in order. After [`FlowAction::Enter`], the next input must
    /// be of the new world.
    pub(crate) fn update(&mut self, input: &RoundInput) -> Vec<FlowAction> {
        let mut actions = Vec::new();
        if input.now >= self.retry {
            self.failed.clear();
        }
        self.run_phase(input, &mut actions);
        let coming = self.coming();
        if let Some(map) = &coming {
            let under_way = match &self.next {
                Next::Preparing(next) | Next::Ready(next) => next == map,
                Next::Unknown => false,
            };
            if !under_way {
                self.next = Next::Preparing(map.clone());
                actions.push(FlowAction::Prepare(map.clone()));
            }
        }
        if let (Some(map), true) = (coming, self.is_due(input.now))
            && self.next == Next::Ready(map.clone())
        {
            self.enter(map);
            actions.push(FlowAction::Enter);
            actions.push(FlowAction::Phase(self.phase, None));
        }
        actions
    }

    /// Begins and ends phases.
    fn run_phase(&mut self, input: &RoundInput, actions: &mut Vec<FlowAction>) {
        let lasts = match self.phase {
            RoundPhase::WarmUp => Some(self.rules.warm_up),
            RoundPhase::Playing => self.rules.round,
            RoundPhase::Intermission => return,
        };
        if input.players == 0 {
            // Without players, the phase's time does not run. It begins anew with the next player.
            self.ends = None;
            return;
        }
        if let (None, Some(lasts)) = (self.ends, lasts) {
            self.ends = Some(input.now + lasts);
            actions.push(FlowAction::Phase(self.phase, Some(lasts)));
        }
        let score = self.rules.score_limit.zip(input.best);
        let over = self.ends.is_some_and(|ends| input.now >= ends)
            || score.is_some_and(|(limit, best)| best >= limit)
            || (input.exited && self.rules.ends());
        if self.phase == RoundPhase::Playing && over {
            self.phase = RoundPhase::Intermission;
            self.ends = Some(input.now + self.rules.intermission);
            actions.push(FlowAction::Freeze { next: self.next_map() });
            actions.push(FlowAction::Phase(self.phase, Some(self.rules.intermission)));
        }
    }

    /// Whether the next world is to be entered once it is ready.
    fn is_due(&self, now: Time) -> bool {
        let over = self.ends.is_some_and(|ends| now >= ends);
        self.wanted.is_some() || (self.phase != RoundPhase::Playing && over)
    }

    /// The map of the next world, if there will be one.
    fn coming(&self) -> Option<String> {
        match self.phase {
            _ if self.wanted.is_some() => self.wanted.clone(),
            RoundPhase::WarmUp => Some(self.current.clone()),
            RoundPhase::Playing if !self.rules.ends() => None,
            RoundPhase::Playing | RoundPhase::Intermission => self.follower(),
        }
    }

    /// The map that follows in the rotation. If no other map can be loaded, it is the current map.
    fn follower(&self) -> Option<String> {
        let rotation = (1..=self.maps.len()).map(|step| (self.place + step) % self.maps.len());
        let mut playable = rotation.map(|place| &self.maps[place]);
        playable.find(|map| !self.failed.contains(*map)).or(Some(&self.current)).cloned()
    }

    fn enter(&mut self, map: String) {
        // The search for the map's place begins after the current place, because a map may be in
        // the rotation twice.
        let mut rotation = (1..=self.maps.len()).map(|step| (self.place + step) % self.maps.len());
        let place = rotation.find(|&place| self.maps[place] == map);
        let again = self.maps.get(self.place) == Some(&map) && self.wanted.is_some();
        if let (Some(place), false) = (place, again || self.phase == RoundPhase::WarmUp) {
            self.place = place;
        }
        (self.current, self.next, self.wanted) = (map, Next::Unknown, None);
        (self.phase, self.ends) = (RoundPhase::Playing, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        warm_up: Duration::ZERO,
        round: Some(Duration::from_secs(60)),
        score_limit: Some(10),
        intermission: Duration::from_secs(5),
    };

    fn flow(rules: Rules) -> Flow {
        Flow::new(rules, ["a", "b", "c"].map(String::from).to_vec())
    }

    fn seen(seconds: u64, players: usize, best: i16) -> RoundInput {
        let now = Time::ZERO + Duration::from_secs(seconds);
        RoundInput { now, players, best: Some(best), exited: false }
    }

    /// The actions of an update. Every map that they ask for is prepared at once.
    fn play(flow: &mut Flow, seconds: u64, players: usize, best: i16) -> Vec<FlowAction> {
        let actions = flow.update(&seen(seconds, players, best));
        for step in &actions {
            if let FlowAction::Prepare(map) = step {
                flow.prepared(map);
            }
        }
        actions
    }

    fn prepare(map: &str) -> FlowAction {
        FlowAction::Prepare(map.to_owned())
    }

    #[test]
    fn the_exit_of_the_map_ends_a_round_if_rounds_end() {
        let timeless = Rules { round: None, score_limit: None, ..RULES };
        for (rules, ends) in [(RULES, true), (timeless, false)] {
            let mut flow = flow(rules);
            play(&mut flow, 0, 1, 0);
            flow.update(&RoundInput { exited: true, ..seen(1, 1, 0) });
            assert_eq!(flow.phase().0 == RoundPhase::Intermission, ends);
        }
    }

    #[test]
    fn rounds_end_by_time_or_score_and_maps_follow_one_another() {
        let mut flow = flow(RULES);
        assert_eq!(play(&mut flow, 0, 0, 0), [prepare("b")]);
        let minute = Some(Duration::from_secs(60));
        assert_eq!(play(&mut flow, 100, 1, 0), [FlowAction::Phase(RoundPhase::Playing, minute)]);
        assert_eq!(play(&mut flow, 159, 1, 9), []);
        let pause = Some(Duration::from_secs(5));
        let over = [
            FlowAction::Freeze { next: Some("b".into()) },
            FlowAction::Phase(RoundPhase::Intermission, pause),
        ];
        assert_eq!(play(&mut flow, 160, 1, 9), over);
        assert_eq!(play(&mut flow, 164, 1, 9), []);
        let begin = [FlowAction::Enter, FlowAction::Phase(RoundPhase::Playing, None)];
        assert_eq!(play(&mut flow, 165, 1, 9), begin);
        play(&mut flow, 166, 2, 0);
        let actions = play(&mut flow, 170, 2, 10);
        assert_eq!(actions[0], FlowAction::Freeze { next: Some("c".into()) }, "{actions:?}");
        // The next round begins even if everybody leaves meanwhile.
        assert_eq!(play(&mut flow, 175, 0, 0), begin);
        play(&mut flow, 176, 1, 0);
        assert_eq!(flow.next_map().as_deref(), Some("a"));
    }

    #[test]
    fn an_empty_server_stays_where_it_is() {
        let mut flow = flow(RULES);
        play(&mut flow, 0, 1, 0);
        for seconds in 1..1000 {
            assert_eq!(play(&mut flow, seconds, 0, 0), []);
        }
        assert_eq!(play(&mut flow, 1000, 1, 0).len(), 1, "a whole round begins");
    }

    #[test]
    fn a_warm_up_is_forgotten() {
        let mut flow = flow(Rules { warm_up: Duration::from_secs(20), ..RULES });
        assert_eq!(play(&mut flow, 0, 0, 0), [prepare("a")]);
        let warm_up = FlowAction::Phase(RoundPhase::WarmUp, Some(Duration::from_secs(20)));
        assert_eq!(play(&mut flow, 5, 1, 0), [warm_up]);
        assert_eq!(play(&mut flow, 24, 1, 50), [], "scores do not count");
        let begin = [FlowAction::Enter, FlowAction::Phase(RoundPhase::Playing, None)];
        assert_eq!(play(&mut flow, 25, 1, 50), begin);
        play(&mut flow, 26, 1, 0);
        assert_eq!(flow.next_map().as_deref(), Some("b"));
    }

    #[test]
    fn a_match_without_rounds_goes_on_for_ever_and_changes_when_it_is_told_to() {
        let endless = Rules { round: None, score_limit: None, ..RULES };
        let mut flow = flow(endless);
        assert_eq!(play(&mut flow, 1000, 8, 1000), []);
        flow.change_map("elsewhere".into());
        assert_eq!(play(&mut flow, 1000, 8, 1000), [prepare("elsewhere")]);
        let begin = [FlowAction::Enter, FlowAction::Phase(RoundPhase::Playing, None)];
        assert_eq!(play(&mut flow, 1001, 8, 1000), begin);
        flow.restart();
        assert_eq!(play(&mut flow, 1002, 8, 0), [prepare("elsewhere")]);
        assert_eq!(play(&mut flow, 1003, 8, 0), begin);
        assert_eq!(play(&mut flow, 2000, 8, 0), []);
    }

    #[test]
    fn a_map_that_cannot_be_loaded_is_left_out_for_a_while() {
        let mut flow = flow(RULES);
        assert_eq!(flow.update(&seen(0, 1, 0))[1], prepare("b"));
        flow.failed("b", seen(0, 1, 0).now);
        assert_eq!(flow.update(&seen(1, 1, 0)), [prepare("c")]);
        flow.failed("c", seen(1, 1, 0).now);
        assert_eq!(flow.update(&seen(2, 1, 0)), [prepare("a")], "the same map again");
        flow.prepared("a");
        // After a while, the next map of the rotation is tried again.
        assert_eq!(flow.update(&seen(40, 1, 0)), [prepare("b")]);
        // A request for a map that cannot be loaded is forgotten.
        flow.change_map("none".into());
        assert_eq!(flow.update(&seen(41, 1, 0)), [prepare("none")]);
        flow.failed("none", seen(41, 1, 0).now);
        assert_eq!(flow.update(&seen(42, 1, 0)), [prepare("b")]);
    }

    #[test]
    fn a_slow_map_is_waited_for() {
        let mut flow = flow(RULES);
        flow.update(&seen(0, 1, 0));
        flow.update(&seen(60, 1, 0));
        assert_eq!(flow.update(&seen(65, 1, 0)), []);
        assert_eq!(flow.update(&seen(90, 1, 0)), []);
        flow.prepared("b");
        assert_eq!(flow.update(&seen(91, 1, 0))[0], FlowAction::Enter);
    }

    /// Random operations in any order: a world is entered only if it was prepared and nothing else
    /// was requested since, players are frozen only at the end of a round, and the match never
    /// stands still for good.
    #[test]
    fn a_hundred_thousand_operations_never_enter_what_is_not_there() {
        let seed = 7;
        let mut random = obsp_sim::Random::new(seed);
        let mut flow = flow(Rules { warm_up: Duration::from_secs(3), ..RULES });
        let (mut now, mut asked, mut ready) = (0, None::<String>, None::<String>);
        let (mut entered, mut frozen) = (0, false);
        for operation in 0..100_000 {
            match random.below(12) {
                0 => flow.change_map(["a", "x", "y"][random.below(3) as usize].to_owned()),
                1 => flow.restart(),
                2 => {
                    let round = Some(random.below(60)).filter(|&time| time > 0);
                    let round = round.map(Duration::from_secs);
                    flow.change_rules(Rules { round, ..*flow.rules() });
                }
                3 | 4 => {
                    if let Some(map) = asked.take() {
                        flow.failed(&map, seen(now, 0, 0).now);
                    }
                }
                5..8 => {
                    if let Some(map) = asked.take() {
                        flow.prepared(&map);
                        ready = Some(map);
                    }
                }
                _ => now += random.below(20),
            }
            let players = random.below(4) as usize;
            for step in flow.update(&seen(now, players, random.below(12) as i16)) {
                match step {
                    FlowAction::Prepare(map) => (asked, ready) = (Some(map), None),
                    FlowAction::Enter => {
                        assert!(ready.take().is_some(), "seed {seed}, {operation}");
                        (entered, frozen) = (entered + 1, false);
                    }
                    FlowAction::Freeze { .. } => {
                        assert!(!frozen && players > 0, "seed {seed}, {operation}");
                        frozen = true;
                    }
                    FlowAction::Phase(phase, _) => {
                        let over = phase == RoundPhase::Intermission;
                        assert_eq!(over, frozen, "seed {seed}, {operation}: {phase:?}");
                    }
                }
            }
        }
        assert!(entered > 1000, "seed {seed}: {entered} worlds");
    }
}
