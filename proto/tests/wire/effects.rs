//! Effects from one session to the other, over good and bad networks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use glam::DVec3;
use obsp_proto::control::{ClientHello, MapHash, PlayerName};
use obsp_proto::effects::{Effect, TickEffects};
use obsp_proto::quantise::Quantiser;
use obsp_proto::server::OwnPlayer;
use obsp_proto::{Tick, Time, client, server};

use crate::delivery::seeds;
use crate::link::{Impairments, Link};
use crate::random::Random;
use crate::scene::Scene;
use crate::staged_match::{exchange, match_info};

/// A server session, and the session of a spectator, who is sent all effects that happen.
struct Match {
    scene: Scene,
    server: server::Session,
    client: client::Session,
    quantiser: Quantiser,
    down: Link,
    now: Time,
    tick: u32,
    /// Ticks from one snapshot to the next.
    interval: u32,
    recent: Vec<Arc<TickEffects>>,
    /// The effects that the client took, by tick.
    taken: BTreeMap<u32, Vec<Effect>>,
    /// Datagrams of effects so far.
    datagrams: u64,
}

impl Match {
    fn new(seed: u64, impairments: Impairments, asks: bool) -> Self {
        let name = PlayerName::new("tester").unwrap();
        let hello = ClientHello::new(MapHash::ANY, &name).with_effects(asks);
        let mut server = server::Session::new(match_info(), Time::ZERO);
        let mut client = client::Session::with_hello(hello, Time::ZERO);
        exchange(&mut server, &mut client, Time::ZERO);
        server.accept_spectator(Tick(0));
        exchange(&mut server, &mut client, Time::ZERO);
        Self {
            scene: Scene::new(seed, 4, 10),
            server,
            client,
            quantiser: Quantiser::new(Scene::bounds()),
            down: Link::new(seed, impairments),
            now: Time::ZERO,
            tick: 0,
            interval: 1,
            recent: Vec::new(),
            taken: BTreeMap::new(),
            datagrams: 0,
        }
    }

    /// Plays a tick in which these effects happen, and delivers what has arrived.
    fn tick(&mut self, effects: Vec<Effect>) {
        self.scene.step();
        self.tick += 1;
        self.now = self.now + Duration::from_millis(16);
        let tick = Tick(self.tick);
        if !effects.is_empty() {
            self.recent.push(Arc::new(TickEffects { tick, effects }));
        }
        self.recent.retain(|of| tick.distance(of.tick) <= 32);
        let state = Arc::new(self.quantiser.quantise(self.scene.state()).unwrap());
        if self.tick.is_multiple_of(self.interval) {
            let effects = self.server.encode_effects(&state, &self.recent, 900);
            let snapshot = self.server.encode_snapshot(&state, &OwnPlayer::default(), 1200);
            self.down.send(self.now, snapshot.unwrap());
            if let Some(effects) = effects {
                self.datagrams += 1;
                self.down.send(self.now, effects);
            }
        }
        while let Some(datagram) = self.down.receive(self.now) {
            self.client.receive_datagram(self.now, &datagram).unwrap();
        }
        while let Some((tick, effect)) = self.client.next_effect() {
            self.taken.entry(tick.0).or_default().push(effect);
        }
    }
}

/// One to three effects of all kinds, in about one tick of five.
fn some(random: &mut Random) -> Vec<Effect> {
    if !random.chance(0.2) {
        return Vec::new();
    }
    let place = |random: &mut Random| DVec3::splat(random.below(100) as f64);
    let effect = |random: &mut Random| match random.below(4) {
        0 => Effect::Ray { player: 1, from: place(random), to: place(random) },
        1 => Effect::Blast { at: place(random), radius: 120.0 },
        2 => Effect::Hurt { player: 0, by: 2, damage: 40 },
        _ => Effect::Replaced { entity: 0 },
    };
    (0..=random.below(3)).map(|_| effect(random)).collect()
}

/// Plays a thousand ticks, and checks that no effect comes twice or in another tick. Returns how
/// many effects happened and how many of them came.
fn played(seed: u64, impairments: Impairments, interval: u32) -> (usize, usize) {
    let mut random = Random::new(seed);
    let mut game = Match::new(seed, impairments, true);
    game.interval = interval;
    let mut happened = BTreeMap::new();
    for _ in 0..1000 {
        let effects = some(&mut random);
        game.tick(effects.clone());
        if !effects.is_empty() {
            happened.insert(game.tick, effects);
        }
    }
    (0..80).for_each(|_| game.tick(Vec::new()));
    for (tick, effects) in &game.taken {
        assert_eq!(Some(effects), happened.get(tick), "seed {seed}: tick {tick}");
    }
    assert_eq!(game.server.stats().excess_effects, 0, "seed {seed}");
    let count = |ticks: &BTreeMap<u32, Vec<Effect>>| ticks.values().map(Vec::len).sum();
    let all: usize = count(&happened);
    assert_eq!(game.server.stats().effects, all as u64, "seed {seed}");
    assert_eq!(game.client.stats().effects, count(&game.taken) as u64, "seed {seed}");
    (all, count(&game.taken))
}

#[test]
fn every_effect_comes_once_in_its_tick_at_every_rate_of_snapshots() {
    for interval in [1, 2, 3, 7] {
        let (all, came) = played(interval.into(), Impairments::GOOD, interval);
        assert!(all > 200);
        assert_eq!(came, all, "every {interval} ticks");
    }
}

#[test]
fn one_in_a_hundred_effects_is_lost_at_a_loss_of_a_fifth() {
    let lossy = Impairments { loss: 0.2, outage: 0.0, ..Impairments::BAD };
    let (mut all, mut came) = (0, 0);
    for seed in seeds(20) {
        let (happened, taken) = played(seed, lossy, 1);
        all += happened;
        came += taken;
    }
    let lost = (all - came) as f64 / all as f64;
    println!("{lost:.4} of {all} effects were lost");
    // Three datagrams in a row are lost with a probability of 0.008.
    assert!((0.002..0.02).contains(&lost), "{lost}");
}

#[test]
fn nothing_is_sent_without_effects_or_to_a_client_that_does_not_ask() {
    let ray = Effect::Ray { player: 0, from: DVec3::ZERO, to: DVec3::X };
    let mut asks = Match::new(1, Impairments::GOOD, true);
    let mut others = Match::new(1, Impairments::GOOD, false);
    for game in [&mut asks, &mut others] {
        (0..20).for_each(|_| game.tick(Vec::new()));
        assert_eq!(game.datagrams, 0);
        game.tick(vec![ray]);
        (0..20).for_each(|_| game.tick(Vec::new()));
    }
    assert_eq!((asks.datagrams, asks.taken.len()), (3, 1));
    assert_eq!((others.datagrams, others.taken.len()), (0, 0));
}

#[test]
fn the_hello_to_the_next_world_asks_again_and_the_old_effects_are_void() {
    let ray = Effect::Ray { player: 0, from: DVec3::ZERO, to: DVec3::X };
    let mut game = Match::new(1, Impairments::GOOD, true);
    (0..5).for_each(|_| game.tick(Vec::new()));
    game.recent.push(Arc::new(TickEffects { tick: Tick(6), effects: vec![ray] }));
    game.server.change_world(game.now, match_info());
    exchange(&mut game.server, &mut game.client, game.now);
    exchange(&mut game.server, &mut game.client, game.now);
    game.server.accept_spectator(Tick(6));
    exchange(&mut game.server, &mut game.client, game.now);
    (0..5).for_each(|_| game.tick(Vec::new()));
    assert!(game.taken.is_empty());
    game.tick(vec![ray]);
    (0..5).for_each(|_| game.tick(Vec::new()));
    assert_eq!(game.taken.keys().copied().collect::<Vec<_>>(), [11]);
}
