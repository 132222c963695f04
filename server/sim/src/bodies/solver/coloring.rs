//! Colors contacts, so that those of one color can be solved at once.

use arrayvec::ArrayVec;

use super::lanes::LANES;
use crate::bodies::contact::MAX_POINTS;

/// Maximum number of colors: the bits of a mask. The contacts of a body beyond this number are
/// solved one at a time.
const MAX_COLORS: u32 = u64::BITS;

/// A contact's sort key is one number, which compares fastest. The bits from this one upward hold
/// the contact's color and whether both bodies move. The bits below hold the number of the
/// contact's points and, in the last 32 bits, its index.
const ALIKE_SHIFT: u32 = u32::BITS + 6;

const _: () = assert!(MAX_POINTS < 1 << 6);

/// A contact, in the form that the coloring needs.
pub(super) struct Edge {
    /// Indices of the bodies. The second index is 0 if the second body stands still.
    pub(super) bodies: [usize; 2],
    /// Number of contact points.
    pub(super) points: usize,
}

/// Contacts that are solved at once, by index.
pub(super) type Group = ArrayVec<u32, LANES>;

/// Divides contacts into groups of up to [`LANES`] contacts without a common moving body, which can
/// be solved at once (graph coloring, as in Box2D 3). Each contact gets the first color that none
/// of its bodies has. The contacts of a group have one color, are all between two bodies or all
/// with the world, and have about equally many points.
///
/// Impulses move the first `body_count` bodies, except for the very first. Other bodies are
/// kinematic. They may be in any number of contacts of a color, because no contact changes them.
///
/// Contacts of one color do not influence each other. So the result does not depend on how they are
/// grouped, and the result of an island does not depend on other islands.
pub(super) fn group(body_count: usize, edges: &[Edge]) -> Vec<Group> {
    let mut used = vec![0_u64; body_count];
    let of = |used: &[u64], body: usize| used.get(body).copied().unwrap_or(0);
    let mut overflow = MAX_COLORS;
    let keyed = |(index, edge): (usize, &Edge)| {
        let [a, b] = edge.bodies;
        let mut color = (of(&used, a) | of(&used, b)).trailing_ones();
        if color == MAX_COLORS {
            (color, overflow) = (overflow, overflow + 1);
        } else {
            for body in [a, b] {
                if let Some(used) = used.get_mut(body) {
                    *used |= 1 << color;
                }
            }
            // Nothing moves the fixed body, so its contacts use up no color.
            used[0] = 0;
        }
        let alike = u64::from(color) << 1 | u64::from(b > 0);
        alike << ALIKE_SHIFT | (edge.points as u64) << u32::BITS | index as u64
    };
    let mut colored: Vec<u64> = edges.iter().enumerate().map(keyed).collect();
    colored.sort_unstable();
    let alike = colored.chunk_by(|a, b| a >> ALIKE_SHIFT == b >> ALIKE_SHIFT);
    let groups = alike.flat_map(|alike| alike.chunks(LANES));
    groups.map(|group| group.iter().map(|&key| key as u32).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(of: &[[usize; 2]]) -> Vec<Edge> {
        of.iter().map(|&bodies| Edge { bodies, points: 1 }).collect()
    }

    #[test]
    fn no_group_has_a_moving_body_twice_and_every_contact_is_in_one() {
        let mut random = crate::Random::new(5);
        for count in [0, 1, 2, 30, 400] {
            let mut body = || random.between(0.0, 40.0) as usize;
            let pairs: Vec<[usize; 2]> =
                (0..count).map(|_| [1 + body(), body()]).filter(|[a, b]| a != b).collect();
            let groups = group(42, &edges(&pairs));
            for group in &groups {
                assert!((1..=LANES).contains(&group.len()));
                let of = |&index: &u32| pairs[index as usize];
                let mut moving: Vec<_> =
                    group.iter().flat_map(of).filter(|&body| body > 0).collect();
                moving.sort_unstable();
                assert!(moving.windows(2).all(|two| two[0] != two[1]), "{group:?}");
                let mutual = group.iter().filter(|index| of(index)[1] > 0).count();
                assert!([0, group.len()].contains(&mutual));
            }
            let mut all: Vec<u32> = groups.into_iter().flatten().collect();
            all.sort_unstable();
            assert_eq!(all, (0..pairs.len() as u32).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_body_with_more_contacts_than_colors_has_the_rest_solved_alone() {
        let pairs: Vec<_> = (0..100).map(|other| [1, 2 + other]).collect();
        let groups = group(200, &edges(&pairs));
        assert_eq!(groups.len(), pairs.len());
    }
}
