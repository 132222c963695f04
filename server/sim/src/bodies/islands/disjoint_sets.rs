/// Disjoint sets of the numbers below a count. The lowest number of a set names it.
pub(crate) struct DisjointSets {
    /// For each number: a number of the same set that is no higher.
    parents: Vec<u16>,
}

impl DisjointSets {
    /// Sets of one number each.
    pub(crate) fn new(count: usize) -> Self {
        Self { parents: (0..count).map(|number| number as u16).collect() }
    }

    /// The lowest number of the set that `number` belongs to. Shortens the path to that number.
    pub(crate) fn root(&mut self, number: u16) -> u16 {
        let mut root = number;
        while self.parents[usize::from(root)] != root {
            let above = self.parents[usize::from(root)];
            self.parents[usize::from(root)] = self.parents[usize::from(above)];
            root = above;
        }
        root
    }

    /// Merges the sets of two numbers.
    pub(crate) fn join(&mut self, a: u16, b: u16) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[usize::from(a.max(b))] = a.min(b);
    }

    /// For each number: the lowest number of its set.
    pub(crate) fn into_roots(mut self) -> Vec<u16> {
        for number in 0..self.parents.len() {
            // The parent is no higher than the number, so its entry is its root already.
            self.parents[number] = self.parents[usize::from(self.parents[number])];
        }
        self.parents
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_lowest_number_of_a_set_names_it() {
        let mut random = Random::new(4);
        for joins in [0, 3, 30, 300] {
            let mut sets = DisjointSets::new(100);
            let mut names: Vec<u16> = (0..100).collect();
            for _ in 0..joins {
                let [a, b] = [0, 1].map(|_| random.below(100) as u16);
                sets.join(a, b);
                let [a, b] = [a, b].map(|number| names[usize::from(number)]);
                names
                    .iter_mut()
                    .filter(|name| **name == a.max(b))
                    .for_each(|name| *name = a.min(b));
            }
            assert!((0..100).all(|number| sets.root(number) == names[usize::from(number)]));
            assert_eq!(sets.into_roots(), names);
        }
    }
}
