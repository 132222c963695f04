use num_bigint::BigInt;

/// An exact decimal number: `digits · 10^-places`.
#[derive(Clone, Debug)]
pub struct Decimal {
    digits: BigInt,
    places: u32,
}

impl Decimal {
    /// Reads a number such as `-12`, `0.125` or `1.5e-07`; `None` for other text. An exponent
    /// beyond 400 either way counts as 400: such a number is zero, or far beyond every world.
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
                    return None;
                }
                let size = digits.parse().unwrap_or(i32::MAX).min(400);
                (mantissa, if exponent.starts_with('-') { -size } else { size })
            }
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let places = i32::try_from(fraction.len()).ok()? - exponent;
        let mut digits: BigInt = format!("{whole}{fraction}").parse().ok()?;
        if places < 0 {
            digits *= BigInt::from(10).pow(places.unsigned_abs());
        }
        Some(Self { digits, places: u32::try_from(places).unwrap_or(0) })
    }

    /// The nearest float, or one next to it.
    pub fn rounded(&self) -> f64 {
        format!("{}e-{}", self.digits, self.places).parse().unwrap_or(f64::NAN)
    }

    /// The number of digits after the point.
    pub fn places(&self) -> u32 {
        self.places
    }

    /// The number times `10^places`, which must be an integer.
    ///
    /// # Panics
    /// If the product is not an integer.
    pub fn scaled(&self, places: u32) -> BigInt {
        let more = places.checked_sub(self.places).expect("the scale holds every digit");
        &self.digits * BigInt::from(10).pow(more)
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        let places = self.places.max(other.places);
        self.scaled(places) == other.scaled(places)
    }
}
