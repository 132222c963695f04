//! Saved worlds that are broken on purpose.

use super::*;

/// Two crates. In the saved bytes one is moved into the other.
#[test]
fn a_saved_world_in_which_two_bodies_overlap_is_refused() {
    let mut world = empty_room();
    let crate_model = world.shipped_model("crate");
    let place = |world: &mut World, x: f64| {
        let at = DVec3::new(x, -200.0, 40.0);
        world.spawn_body(crate_model, at, DQuat::IDENTITY).expect("the room is empty")
    };
    let first = place(&mut world, -300.0);
    let apart = world.save();
    // In the bytes of a world with the first crate alone, the bytes of its place occur once.
    let pattern = |x: f64| {
        let saved = |number: f64| {
            let bits = number.to_bits() as i64;
            // A varint of eight bytes, with the sign at its end.
            [&[253][..], &((bits << 1 ^ bits >> 63) as u64).to_le_bytes()].concat()
        };
        [x, -200.0, 40.0].map(saved).concat()
    };
    let second = place(&mut world, -200.0);
    let both = world.save();
    let digest = world.digest();
    for (from, to, refused) in [(-200.0, -290.0, true), (-200.0, -100.0, false)] {
        let (from, to) = (pattern(from), pattern(to));
        let mut bytes = both.clone();
        let places: Vec<usize> =
            (0..bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(&from)).collect();
        assert_eq!(places.len(), 1, "the pose occurs once in the save");
        bytes[places[0]..places[0] + to.len()].copy_from_slice(&to);
        match world.restore(&bytes) {
            Err(LoadWorldError::Overlap(id)) => assert!(refused && id == second, "{id:?}"),
            other => assert!(!refused && other.is_ok(), "{other:?}"),
        }
        if refused {
            assert_eq!(world.digest(), digest, "a refused save changes nothing");
        }
    }
    world.restore(&apart).expect("a saved match can be loaded");
    assert!(world.entity(first).is_some() && world.entity(second).is_none());
}

/// The bytes contain lengths that are greater than the rest of the bytes.
#[test]
fn a_short_save_does_not_allocate_what_it_claims() {
    let world = empty_room();
    let saved = world.save();
    for at in 0..saved.len() {
        let mut bytes = saved[..at].to_vec();
        // A varint of eight bytes. As a length it is absurd anywhere.
        bytes.extend([253, 255, 255, 255, 255, 255, 255, 255, 127]);
        assert!(world.clone().restore(&bytes).is_err(), "at {at}");
    }
}
