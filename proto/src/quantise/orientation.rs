//! Orientations in 35 bits.

use glam::DQuat;

/// Bits of a component of a quantised orientation.
pub const COMPONENT_BITS: u32 = 11;

/// Maximum magnitude of a quantised component. It stands for √½, which no component except the
/// largest can exceed.
pub const COMPONENT_LIMIT: i16 = (1 << (COMPONENT_BITS - 1)) - 1;

/// An orientation as the three smallest components of its unit quaternion. The largest component
/// follows from them, and is positive because q and -q are the same rotation. The error is greatest
/// if all four components are equal: under 0.0025 radians, which is 0.07 units at the corner of a
/// crate of 32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QuantisedOrientation {
    largest: u8,
    components: [i16; 3],
}

impl QuantisedOrientation {
    /// The orientation whose component number `largest` (0 to 3 for x, y, z, w) is left out.
    /// `components` are the other three, in that order. `None` if a number is out of range.
    pub fn new(largest: u8, components: [i16; 3]) -> Option<Self> {
        let possible = largest < 4
            && components.iter().all(|c| (-COMPONENT_LIMIT..=COMPONENT_LIMIT).contains(c));
        possible.then_some(Self { largest, components })
    }

    /// The nearest orientation that can be encoded.
    pub fn quantise(orientation: DQuat) -> Self {
        let all = orientation.to_array();
        let mut largest = 0;
        for index in 1..4 {
            if all[index].abs() > all[largest].abs() {
                largest = index;
            }
        }
        let sign = if all[largest] < 0.0 { -1.0 } else { 1.0 };
        let scale = sign * std::f64::consts::SQRT_2 * f64::from(COMPONENT_LIMIT);
        let components = others(largest).map(|index| {
            // `as` saturates and turns NaN into 0.
            ((all[index] * scale).round() as i16).clamp(-COMPONENT_LIMIT, COMPONENT_LIMIT)
        });
        Self { largest: largest as u8, components }
    }

    /// The orientation as a unit quaternion.
    pub fn orientation(&self) -> DQuat {
        let scale = std::f64::consts::SQRT_2 * f64::from(COMPONENT_LIMIT);
        let mut all = [0.0; 4];
        let mut rest: f64 = 1.0;
        for (index, component) in others(usize::from(self.largest)).into_iter().zip(self.components)
        {
            all[index] = f64::from(component) / scale;
            rest -= all[index] * all[index];
        }
        all[usize::from(self.largest)] = rest.max(0.0).sqrt();
        DQuat::from_array(all).normalize()
    }

    /// The component that is left out: 0 to 3 for x, y, z, w.
    pub fn largest(&self) -> u8 {
        self.largest
    }

    /// The other components in the order x, y, z, w, within ±[`COMPONENT_LIMIT`].
    pub fn components(&self) -> [i16; 3] {
        self.components
    }
}

/// The component numbers other than `largest`, ascending.
fn others(largest: usize) -> [usize; 3] {
    std::array::from_fn(|index| if index < largest { index } else { index + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orientations_round_by_little() {
        let mut worst: f64 = 0.0;
        for step in 0..20_000 {
            let angle = f64::from(step) * 0.37;
            let axis = glam::DVec3::new(
                (angle * 1.3).sin(),
                (angle * 0.7).cos(),
                (angle * 2.1).sin() + 0.01,
            );
            let orientation = DQuat::from_axis_angle(axis.normalize(), angle);
            let back = QuantisedOrientation::quantise(orientation).orientation();
            // The test does not use `angle_between`, whose arc cosine is imprecise near zero.
            let turn = (orientation.inverse() * back).xyz().length();
            worst = worst.max(2.0 * turn.asin());
        }
        assert!(worst < 0.0025, "{worst}");
        assert!(worst > 0.001, "the greatest error is {worst}, so the test measures nothing");
    }

    #[test]
    fn both_signs_of_a_quaternion_are_one_orientation() {
        let orientation = DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.0, 2.0);
        assert_eq!(
            QuantisedOrientation::quantise(orientation),
            QuantisedOrientation::quantise(-orientation)
        );
    }

    #[test]
    fn impossible_orientations_are_rejected_or_normalised() {
        assert_eq!(QuantisedOrientation::new(4, [0; 3]), None);
        assert_eq!(QuantisedOrientation::new(0, [COMPONENT_LIMIT + 1, 0, 0]), None);
        let overlong = QuantisedOrientation::new(3, [COMPONENT_LIMIT; 3]).unwrap();
        assert!(overlong.orientation().is_normalized());
        let nothing = QuantisedOrientation::quantise(DQuat::from_array([f64::NAN; 4]));
        assert!(nothing.orientation().is_normalized());
    }
}
