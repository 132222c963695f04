//! Faults of a `game.toml`, with their places. Each crate reads its own part of the file.

use thiserror::Error;

use crate::text::without_mark;

/// A fault of a `game.toml`, and its place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct GameFileError {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The fault at that place.
    pub message: String,
}

impl GameFileError {
    /// A fault at a byte of the text.
    pub fn at(text: &str, byte: usize, message: impl Into<String>) -> Self {
        let before = without_mark(text.get(..byte).unwrap_or(text));
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        Self { line, column, message: message.into() }
    }

    /// The fault that the TOML reader found in `text`.
    pub fn of(text: &str, error: &toml::de::Error) -> Self {
        Self::at(text, error.span().map_or(0, |span| span.start), error.message())
    }
}
