//! Faults of a map's text.

use std::fmt;

use thiserror::Error;

use super::tokens::{Token, TokenKind};
use crate::text::position;

/// Maximum number of characters of the text that an error repeats.
const SHOWN: usize = 40;

/// A word that is not allowed at its place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{seen} where {expected} is expected; {hint}")]
pub(super) struct SyntaxError {
    pub(super) line: u64,
    pub(super) column: u64,
    seen: Seen,
    expected: &'static str,
    hint: &'static str,
}

/// The offending text, shortened; `None` stands for the end of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen(Option<String>);

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(text) => write!(f, "{text:?} was seen"),
            None => f.write_str("the text ends"),
        }
    }
}

impl SyntaxError {
    /// A fault at a word of `text`, or at its end.
    pub(super) fn new(
        text: &[u8],
        token: Option<Token<'_>>,
        expected: &'static str,
        hint: &'static str,
    ) -> Self {
        let (line, column) = position(text, token.map_or(text.len(), |token| token.at));
        let seen = Seen(token.map(|token| shortened(token.text)));
        let hint = match token.map(|token| token.kind) {
            None => CUT_OFF,
            Some(TokenKind::Unclosed) => UNCLOSED,
            Some(_) => hint,
        };
        Self { line, column, seen, expected, hint }
    }

    /// A fault at the byte `at` of `text`, which is NUL.
    pub(super) fn at_nul(text: &[u8], at: usize) -> Self {
        let (line, column) = position(text, at);
        let seen = Seen(Some("\0".to_owned()));
        let hint = "the file may be binary, damaged, or encoded as UTF-16: save it as UTF-8";
        Self { line, column, seen, expected: "text", hint }
    }
}

const CUT_OFF: &str =
    "a closing brace may be missing, or the file may be cut off: save it again from the editor";

const UNCLOSED: &str =
    "a closing quotation mark may be missing; one inside a string is written as \\\"";

fn shortened(text: &[u8]) -> String {
    // A character has at most four bytes.
    let start = String::from_utf8_lossy(&text[..text.len().min(4 * SHOWN)]);
    let short: String = start.chars().take(SHOWN).collect();
    let whole = short == start && start.len() >= text.len();
    if whole { short } else { short + "…" }
}
