use glam::Vec3;

use super::{FEW_WAITING, Link, MAX_WAITING, ShiftTree, Visits};
use crate::body::Support;
use crate::map::extent::inside_universe;

impl ShiftTree {
    /// Whether a body whose reference point is `at` overlaps a solid leaf that is grown by the
    /// body. Touching is not an overlap. Everything beyond [`UNIVERSE`](crate::UNIVERSE) is solid,
    /// and so is a position with a coordinate that is not a number.
    pub fn overlaps(&self, body: &impl Support, at: Vec3, visits: &mut impl Visits) -> bool {
        !inside_universe(at) || self.touched(body, at, visits, 1) > 0
    }

    /// The number of solid leaves, grown by the body, that a resting body overlaps. This is Melax's
    /// `F()`, without slicing (section 6) and without stopping at the first leaf.
    pub fn count_touched(&self, body: &impl Support, at: Vec3, visits: &mut impl Visits) -> usize {
        self.touched(body, at, visits, usize::MAX)
    }

    /// The number of solid leaves that the body overlaps, up to `most`.
    fn touched(
        &self,
        body: &impl Support,
        at: Vec3,
        visits: &mut impl Visits,
        most: usize,
    ) -> usize {
        if self.waiting <= FEW_WAITING {
            self.visit_touched::<FEW_WAITING>(body, at, visits, most)
        } else {
            self.visit_touched::<MAX_WAITING>(body, at, visits, most)
        }
    }

    fn visit_touched<const WAITING: usize>(
        &self,
        body: &impl Support,
        at: Vec3,
        visits: &mut impl Visits,
        most: usize,
    ) -> usize {
        let mut waiting = [Link::EMPTY; WAITING];
        let (mut count, mut touched) = (0, 0);
        let mut link = self.root;
        loop {
            while let Some(index) = link.index() {
                visits.branch();
                let branch = &self.branches[index];
                let distance = branch.normal.dot(at) - branch.distance;
                let behind = distance < body.support(-branch.normal);
                let before = distance > -body.support(branch.normal);
                let front = if before { branch.front } else { Link::EMPTY };
                let back = if behind { branch.back } else { Link::EMPTY };
                link = if front == Link::EMPTY { back } else { front };
                if front != Link::EMPTY && back != Link::EMPTY {
                    waiting[count] = back;
                    count += 1;
                }
            }
            touched += usize::from(link == Link::SOLID);
            if count == 0 || touched == most {
                return touched;
            }
            count -= 1;
            link = waiting[count];
        }
    }
}
