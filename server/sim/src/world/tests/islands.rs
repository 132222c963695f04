//! The motion of a heap does not depend on other heaps, not even in its last bit.

use super::*;

/// The models of a heap, in turns.
const MODELS: [&str; 4] = ["crate", "barrel", "small_crate", "l_block"];

/// Drops a heap onto ground around `x`. Returns the slots of its bodies.
fn drop_heap(world: &mut World, x: f64, bodies: u16, columns: u16) -> Vec<u16> {
    let middle = 28.0 * f64::from(columns - 1);
    let body = |index: u16| {
        let (layer, cell) = (index / (columns * columns), index % (columns * columns));
        // The bodies of every other layer lie in the gaps of the layer below.
        let aside = if layer % 2 == 0 { -7.0 } else { 7.0 };
        let along = |cell: u16| 56.0 * f64::from(cell) + aside - middle;
        let position = DVec3::new(
            x + along(cell % columns),
            along(cell / columns),
            40.0 + 56.0 * f64::from(layer),
        );
        let spin = DVec3::new(0.0, 0.3, f64::from(index % 7) - 3.0);
        world.throw(MODELS[usize::from(index) % MODELS.len()], position, DVec3::ZERO, spin)
    };
    (0..bodies).map(body).collect()
}

/// The poses and velocities of the bodies in `slots`, to the bit.
fn bits(world: &World, slots: &[u16]) -> Vec<[u64; 13]> {
    let body = |&slot: &u16| {
        let entity = world.entities.get(slot).expect("the entity exists");
        let pose = entity.placement().expect("the entity is in the world").pose();
        let [x, y, z, w] = pose.orientation.to_array();
        let numbers = [pose.position, entity.velocity, entity.angular].map(|v| v.to_array());
        let mut all = [0; 13];
        let all_numbers = numbers.as_flattened().iter().chain([&x, &y, &z, &w]);
        all.iter_mut().zip(all_numbers).for_each(|(bits, number)| *bits = number.to_bits());
        all
    };
    slots.iter().map(body).collect()
}

/// Symptom: a heap fell differently while another heap fell elsewhere. Cause: the projection went
/// on for all islands until the worst of them was finished, and it tested a contact again when
/// another contact in the same group of lanes had changed.
#[test]
fn an_island_alone_does_what_it_does_beside_others() {
    // A heap of one block, a heap that is cut into blocks, and several small heaps.
    for (bodies, columns) in [(70, 4), (250, 6), (9, 3)] {
        let mut alone = empty_room();
        let own = drop_heap(&mut alone, 250.0, bodies, columns);
        let mut beside = empty_room();
        drop_heap(&mut beside, -250.0, 130, 5);
        let same = drop_heap(&mut beside, 250.0, bodies, columns);
        for tick in 1..=150 {
            alone.step(&[]);
            beside.step(&[]);
            let [left, right] = [bits(&alone, &own), bits(&beside, &same)];
            let differs = left.iter().zip(&right).position(|(a, b)| a != b);
            let both = differs.map(|at| [left[at], right[at]].map(|of| of.map(f64::from_bits)));
            assert_eq!(both, None, "body {differs:?} of {bodies}, tick {tick}");
        }
        assert!(alone.counters().blocked_moves > 0 || bodies < 20);
    }
}
