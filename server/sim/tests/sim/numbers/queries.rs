//! The questions that need no match: about solids, contacts, cuts, and the audits.

use std::sync::OnceLock;

use glam::{DQuat, DVec3};
use obsp::geometry::Aabb;
use obsp_sim::audit::{Audit, Passages};
use obsp_sim::query::{self, ContactSearch, Contacts, Cut, Heat, Passing, Solid, Thing, Way};
use obsp_sim::{
    EntityId, EntityState, Kind, ModelId, Posture, Relocation, Resolution, Stages, State, Traits,
};

use super::{map, models, turn, vector};
use crate::extremes::Numbers;

fn state(n: &mut Numbers) -> State {
    let kinds = [Kind::Prop { model: ModelId(0) }, Kind::Player { posture: Posture::Standing }];
    let entities = (0..).zip(kinds).map(|(slot, kind)| EntityState {
        id: EntityId { slot, generation: 0 },
        kind,
        position: vector(n, [100.0 * f64::from(slot), 200.0, 100.0]),
        orientation: turn(n),
        velocity: vector(n, [1.0; 3]),
        asleep: false,
        traits: Traits::default(),
    });
    State { tick: 1, entities: entities.collect() }
}

/// Asks the question of this name, if it needs no match. Returns whether there is such a question.
pub(crate) fn query(name: &str, n: &mut Numbers) -> bool {
    let solid = Solid::new(&models()[0]);
    match name {
        "separation" | "are_clear" => {
            let (a, b) = ((vector(n, [0.0; 3]), turn(n)), (vector(n, [90.0, 0.0, 0.0]), turn(n)));
            let gap = query::separation(&solid, a, &solid, b);
            assert!(gap.is_none_or(|gap| gap.is_finite() && gap >= 0.0), "{gap:?}");
            let clear = query::are_clear(&solid, a, &solid, b, Stages::default());
            assert!(!clear || gap.is_some(), "{a:?} {b:?}");
        }
        "passing" | "Way::at" => {
            let at = |n: &mut Numbers, x| (vector(n, [x, 0.0, 0.0]), turn(n));
            let way = Way { from: at(n, 0.0), to: at(n, 20.0) };
            let still = (DVec3::X * 90.0, DQuat::IDENTITY);
            let other = Way { from: still, to: still };
            let parts = Resolution::default();
            let passed = query::passing((&solid, &way), (&solid, &other), Stages::default(), parts);
            assert!(!matches!(passed, Passing::Until(time) if !(0.0..=1.0).contains(&time)));
            way.at(n.f64(0.5));
        }
        "grid" => {
            let bounds = Aabb { min: vector(n, [-64.0; 3]), max: vector(n, [64.0; 3]) };
            let (_, _, cells) = query::grid(&bounds);
            assert!(cells.iter().all(|&count| count >= 1), "{cells:?}");
        }
        "Cut::through" => assert!(Cut::through(&map(), n.f64(60.0)).rows.len() < 600),
        "Heat::of" => {
            static HEAT: OnceLock<Heat> = OnceLock::new();
            let heat = || Heat::new(map(), &models()).expect("the map can be played");
            HEAT.get_or_init(heat).of(&state(n));
        }
        "ContactSearch::find" => {
            static SEARCH: OnceLock<ContactSearch> = OnceLock::new();
            let search = || ContactSearch::new(map(), &models()).expect("the map can be played");
            let search = SEARCH.get_or_init(search);
            let thing = Thing {
                model: ModelId(0),
                at: (vector(n, [100.0, 200.0, 16.01]), turn(n)),
                velocity: vector(n, [1.0; 3]),
                angular: vector(n, [1.0; 3]),
            };
            let seconds = n.f64(0.02);
            let found = search.find(&[thing], &Contacts::default(), seconds, Stages::default());
            for manifold in found.iter().flat_map(Contacts::manifolds) {
                assert!(manifold.normal.is_finite(), "{manifold:?}");
                assert!(manifold.points.iter().all(|(at, gap)| at.is_finite() && gap.is_finite()));
            }
        }
        "Audit::check" => {
            let mut audit = Audit::new(&map(), &models()).expect("the map can be audited");
            let state = state(n);
            let found = audit.check(&state);
            let sound = |entity: &EntityState| {
                entity.position.is_finite()
                    && entity.velocity.is_finite()
                    && entity.orientation.is_normalized()
            };
            assert!(state.entities.iter().all(sound) || !found.is_empty(), "{state:?}");
        }
        "Passages::check" => {
            let mut passages =
                Passages::new(&map(), &models(), 60).expect("the map can be audited");
            passages.check(&state(n));
            passages.check(&state(n));
        }
        "Audit::note_pockets" | "Passages::note_pockets" => {
            let mut audit = Audit::new(&map(), &models()).expect("the map can be audited");
            let mut passages =
                Passages::new(&map(), &models(), 60).expect("the map can be audited");
            let state = state(n);
            let (min, max) = (vector(n, [-400.0; 3]), vector(n, [400.0; 3]));
            let pockets: Vec<_> =
                state.entities.iter().map(|entity| (entity.id, Aabb { min, max })).collect();
            audit.note_pockets(&pockets);
            audit.check(&state);
            passages.note_pockets(&pockets);
            (0..2).for_each(|_| drop(passages.check(&state)));
        }
        "Passages::with_step_height" => {
            let passages = Passages::new(&map(), &models(), 60).expect("the map can be audited");
            passages.with_step_height(n.f64(18.0)).check(&state(n));
        }
        "Passages::judge" => {
            let mut passages =
                Passages::new(&map(), &models(), 60).expect("the map can be audited");
            let state = state(n);
            let entity = state.entities[0].id;
            let places = [vector(n, [1.0; 3]), vector(n, [2.0; 3])].map(Some);
            let put = Relocation { number: 0, entity, from: places[0], to: places[1] };
            passages.judge(&state, &[put]);
            passages.judge(&state, &[Relocation { number: 1, ..put }]);
        }
        "Passages::new" => {
            let rate = n.whole(60, u32::MAX.into()) as u32;
            assert!(Passages::new(&map(), &models(), rate).is_ok());
        }
        _ => return false,
    }
    true
}
