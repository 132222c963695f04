/// A seeded random number generator (SplitMix64, Steele et al. 2014). It is the only
/// randomness of the simulation, and gives the same numbers on every machine.
///
/// ```
/// use obsp_sim::Random;
///
/// let mut random = Random::new(7);
/// assert!((0.0..1.0).contains(&random.unit()));
/// // A second stream goes on where the first one is.
/// let mut other = Random::new(random.state());
/// assert_eq!(random.bits(), other.bits());
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The state of the stream. [`Random::new`] with this number goes on from here.
    pub fn state(&self) -> u64 {
        self.0
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number that is uniformly distributed in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        // A mantissa has 53 bits.
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A number that is uniformly distributed in `low..high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A number that is uniformly distributed in `0..count`; `count` must not be zero.
    pub fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(count)) >> 64) as u64
    }
}
