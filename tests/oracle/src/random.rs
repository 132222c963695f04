/// SplitMix64: a stream of random numbers, the same for the same seed on any machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from `low` to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// An index below `count`, which must not be 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }

    /// True once in `count` times.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_repeats_its_stream_and_stays_in_range() {
        let (mut a, mut b) = (Random::new(7), Random::new(7));
        let mut seen = [0; 10];
        for _ in 0..1000 {
            let x = a.below(10);
            assert_eq!(x, b.below(10));
            seen[x] += 1;
        }
        assert!(seen.iter().all(|&n| n > 50), "{seen:?}");
        assert_ne!(Random::new(1).bits(), Random::new(2).bits());
    }
}
