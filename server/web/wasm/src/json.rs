//! The part of JSON that this crate writes.

use std::fmt::{Display, Write};

use obsp_proto::control::RoundPhase;

/// A text with its quotation marks.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            // Writing to a string never fails.
            letter if letter < ' ' => drop(write!(out, "\\u{:04x}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// A list of values that are JSON already.
pub(crate) fn list<T: Display>(values: impl IntoIterator<Item = T>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    format!("[{}]", values.join(","))
}

/// The name of a phase of a match, as `wire/control.js` has it.
pub(crate) fn phase(phase: RoundPhase) -> &'static str {
    match phase {
        RoundPhase::WarmUp => "warm-up",
        RoundPhase::Playing => "playing",
        RoundPhase::Intermission => "intermission",
    }
}

/// The number, or zero if it is not finite, because JSON has only finite numbers.
pub(crate) fn number(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// A list of numbers.
pub(crate) fn numbers(values: impl IntoIterator<Item = f64>) -> String {
    list(values.into_iter().map(number))
}
