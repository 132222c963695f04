//! The common parts of all checked texts of the control stream: names, chat lines, means of death.

/// Implements `as_str`, `Display` and `Decode` for a structure of one `String`. `checked` makes the
/// structure from a received text, or returns `None` if the text is not valid. `fault` is the error
/// in that case.
macro_rules! checked_text {
    ($type:ident, $checked:expr, $fault:literal) => {
        impl $type {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl<Context> bincode::Decode<Context> for $type {
            fn decode<D: bincode::de::Decoder<Context = Context>>(
                decoder: &mut D,
            ) -> Result<Self, bincode::error::DecodeError> {
                let checked: fn(String) -> Option<Self> = $checked;
                let text: String = bincode::Decode::decode(decoder)?;
                checked(text).ok_or(bincode::error::DecodeError::Other($fault))
            }
        }

        bincode::impl_borrow_decode!($type);
    };
}
pub(super) use checked_text;
