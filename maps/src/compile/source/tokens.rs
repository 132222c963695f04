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
        (self.kind == TokenKind::Quoted).then(|| text_of(quoted::decoded(inside)))
    }

    /// The name of a texture, quoted or not.
    pub(super) fn name(&self) -> String {
        self.string().unwrap_or_else(|| text_of(self.text.to_vec()))
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

    /// Whether the word may be a number of the alignment of a texture. Editors also write numbers
    /// that are not finite, such as `-nan` for the scale of a face without area.
    pub(super) fn is_aligning(&self) -> bool {
        self.number().is_some() || (self.kind == TokenKind::Word && is_not_finite(self.text))
    }
}

/// Whether a word is the C library's text for a number that is not finite: `nan`, `-nan(ind)` or
/// `inf`, or `-1.#IND` and `1.#QNAN0` of older libraries.
fn is_not_finite(word: &[u8]) -> bool {
    let word = word.to_ascii_lowercase();
    let word = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(&word);
    word == b"inf"
        || word == b"infinity"
        || word == b"nan"
        || (word.starts_with(b"nan(") && word.ends_with(b")"))
        || word.starts_with(b"1.#")
}

/// Whether a byte separates words: blanks, the ends of lines and every other control character, as
/// in the tools of all games of the family. Editors of DOS end a file with Ctrl-Z.
pub(super) fn is_blank(byte: &u8) -> bool {
    *byte <= b' '
}

/// The text of these bytes, in UTF-8 or in another encoding of single bytes. Bytes that are not
/// UTF-8 are read as Latin-1, in which each byte is a character of its own. So two names that
/// differ are still different.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect())
}

/// Splits a map into words. Names of textures may contain braces. So a brace counts as one only if
/// it is a word of its own. A byte order mark between words counts as a blank, because joined files
/// have such marks. A comment begins with `//`. QuArK writes comments that begin with `;`.
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
                b if is_blank(&b) => (1, None),
                0xef if rest.starts_with(b"\xef\xbb\xbf") => (3, None),
                b'"' => match quoted::end(self.text, self.at, &mut self.ahead) {
                    Some(end) => (end - self.at, Some(TokenKind::Quoted)),
                    None => (rest.len(), Some(TokenKind::Unclosed)),
                },
                b'/' | b';' if byte == b';' || rest.get(1) == Some(&b'/') => {
                    let end = rest.iter().position(|&b| b == b'\r' || b == b'\n');
                    (end.unwrap_or(rest.len()), None)
                }
                _ => {
                    let end = rest.iter().position(is_blank);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[u8]) -> Vec<String> {
        tokens(text).map(|token| token.name()).collect()
    }

    /// In an earlier version, the Ctrl-Z with which programs of DOS end a text counted as a word,
    /// and no word is allowed there.
    #[test]
    fn every_control_character_is_a_blank() {
        assert_eq!(words(b"{\x0b\"a\"\x0c\x01\"b\"\x1f}\n\x1a"), ["{", "a", "b", "}"]);
        assert_eq!(words(b"\"C:\\\"\x0b}\x1a"), ["C:\\", "}"], "the string ends before a brace");
    }

    /// In an earlier version, a comment in the form of QuArK made the map unreadable.
    #[test]
    fn a_comment_begins_with_two_slashes_or_a_semicolon() {
        assert_eq!(words(b"; a\n{ ;TX1 b\r\n}// c\n x;y //"), ["{", "}//", "c", "x;y"]);
        assert_eq!(words(b"\"C:\\\" ; a comment\n}"), ["C:\\", "}"]);
    }

    /// In an earlier version, all letters beyond ASCII of an older encoding became the same letter,
    /// so that two names became one.
    #[test]
    fn names_in_older_encodings_stay_apart() {
        assert_eq!(words(b"\"K\xe4se\" \xf6 \"\xc3\xa4\""), ["K\u{e4}se", "\u{f6}", "\u{e4}"]);
    }

    #[test]
    fn only_numbers_align_and_need_not_be_finite() {
        let aligning = |text: &str| tokens(text.as_bytes()).all(|token| token.is_aligning());
        let odd = "nan -nan -nan(ind) NaN(0x1) inf -INF +infinity 1.#IND -1.#IND00 1.#QNAN 1e999";
        for word in odd.split(' ').chain(["0", "-1.5", "2e-7"]) {
            assert!(aligning(word), "{word}");
        }
        for word in ["nana", "info", "-", "1.#", "\"nan\"", "n", "base/nan"] {
            assert_eq!(aligning(word), word == "1.#", "{word}");
        }
        assert!(
            tokens(b"nan").all(|token| token.number().is_none()),
            "the word is not a \
            coordinate"
        );
    }
}
