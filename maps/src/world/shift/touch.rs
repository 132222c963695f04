use glam::Vec3;

use super::{Link, MAX_WAITING, ShiftTree, Visits};
use crate::body::Support;
use crate::world::onion::inside_universe;

/// Solid leaves that a resting body reaches.
struct Touched<'a, S, V> {
    tree: &'a ShiftTree,
    body: &'a S,
    at: Vec3,
    visits: &'a mut V,
    waiting: [Link; MAX_WAITING],
    /// How many of those wait.
    count: usize,
}

impl ShiftTree {
    /// Whether a body whose reference point is `at` reaches into a solid leaf
    /// grown by it. Touching is not reaching in. Everything beyond
    /// [`UNIVERSE`](crate::UNIVERSE) is solid, and so is what is not a number.
    pub fn overlaps(&self, body: &impl Support, at: Vec3, visits: &mut impl Visits) -> bool {
        !inside_universe(at) || Touched::new(self, body, at, visits).next().is_some()
    }

    /// How many solid leaves, grown by the body, a resting body reaches into:
    /// Melax's `F()`, which does not slice (section 6) and does not stop at the
    /// first.
    pub fn count_touched(&self, body: &impl Support, at: Vec3, visits: &mut impl Visits) -> usize {
        Touched::new(self, body, at, visits).count()
    }
}

impl<'a, S: Support, V: Visits> Touched<'a, S, V> {
    fn new(tree: &'a ShiftTree, body: &'a S, at: Vec3, visits: &'a mut V) -> Self {
        let mut touched =
            Self { tree, body, at, visits, waiting: [Link::EMPTY; MAX_WAITING], count: 0 };
        touched.wait(tree.root);
        touched
    }

    fn wait(&mut self, link: Link) {
        if link != Link::EMPTY {
            self.waiting[self.count] = link;
            self.count += 1;
        }
    }
}

impl<S: Support, V: Visits> Iterator for Touched<'_, S, V> {
    type Item = ();

    fn next(&mut self) -> Option<()> {
        while self.count > 0 {
            self.count -= 1;
            let link = self.waiting[self.count];
            let Some(index) = link.index() else { return Some(()) };
            self.visits.branch();
            let branch = &self.tree.branches[index];
            let distance = branch.normal.dot(self.at) - branch.distance;
            if distance < self.body.support(-branch.normal) {
                self.wait(branch.back);
            }
            if distance > -self.body.support(branch.normal) {
                self.wait(branch.front);
            }
        }
        None
    }
}
