//! The words of a map.

use super::quoted::{self, LineAhead};
use crate::text::ends_line;

/// A word, separated by blanks, or a quoted string, which may contain blanks and line breaks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    /// The text as written, with the quotation marks.
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    pub(super) line: u64,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Quoted,
    /// A string without a closing quotation mark.
    Unclosed,
}

impl Token<'_> {
    /// The value of a quoted string; `None` for any other word.
    pub(super) fn string(&self) -> Option<String> {
        let inside = self.text.get(1..self.text.len().checked_sub(1)?)?;
        let decoded = || quoted::decoded(inside);
        (self.kind == TokenKind::Quoted).then(|| String::from_utf8_lossy(&decoded()).into_owned())
    }

    /// The name of a texture, quoted or not.
    pub(super) fn name(&self) -> String {
        self.string().unwrap_or_else(|| String::from_utf8_lossy(self.text).into_owned())
    }

    /// A decimal number.
    pub(super) fn number(&self) -> Option<f64> {
        // The parser of the standard library would also read `inf`, `nan` and `infinity`.
        let digits = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        if self.kind != TokenKind::Word || !self.text.iter().all(digits) {
            return None;
        }
        std::str::from_utf8(self.text).ok()?.parse().ok()
    }
}

/// Splits a map into words. A brace may also be part of a texture's name, so it counts as a
/// brace only if it is a word of its own. A byte order mark between words counts as a blank:
/// joined files have such marks.
pub(super) fn tokens(text: &[u8]) -> Tokens<'_> {
    Tokens { text, at: 0, line: 1, ahead: LineAhead::default() }
}

#[derive(Clone)]
pub(super) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
    ahead: LineAhead,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        while let Some(&byte) = self.text.get(self.at) {
            let rest = &self.text[self.at..];
            let (length, kind) = match byte {
                b if b.is_ascii_whitespace() => (1, None),
                0xef if rest.starts_with(b"\xef\xbb\xbf") => (3, None),
                b'"' => match quoted::end(self.text, self.at, &mut self.ahead) {
                    Some(end) => (end - self.at, Some(TokenKind::Quoted)),
                    None => (rest.len(), Some(TokenKind::Unclosed)),
                },
                b'/' if rest.get(1) == Some(&b'/') => {
                    let end = rest.iter().position(|&b| b == b'\r' || b == b'\n');
                    (end.unwrap_or(rest.len()), None)
                }
                _ => {
                    let end = rest.iter().position(u8::is_ascii_whitespace);
                    (end.unwrap_or(rest.len()), Some(TokenKind::Word))
                }
            };
            let (at, line) = (self.at, self.line);
            self.at += length;
            let bytes = self.text[at..self.at].iter().enumerate();
            self.line += bytes.filter(|&(i, &b)| ends_line(self.text, at + i, b)).count() as u64;
            if let Some(kind) = kind {
                return Some(Token { text: &rest[..length], at, line, kind });
            }
        }
        None
    }
}
