//! The words of a map's text.

use super::MapTextError;
use super::strings::{is_comment, length};

/// Splits a text into words. A quoted string is one word, and comments are left out. A brace
/// counts only if it is a word of its own, because names of textures may begin with one.
#[derive(Clone)]
pub(super) struct Words<'a> {
    text: &'a str,
    /// Line of the next word.
    pub(super) line: usize,
    next: Option<&'a str>,
    /// Whether curves are solid.
    pub(super) curves: bool,
}

/// Whether a character separates words. In Quake's tools, every character whose code is not above
/// that of the blank separates words.
fn separates(letter: char) -> bool {
    letter <= ' '
}

/// Whether a character before a word does not count: a blank, or the byte order mark of a file that
/// was joined to another.
fn is_passed_over(letter: char) -> bool {
    separates(letter) || letter == '\u{feff}'
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str, curves: bool) -> Self {
        Self { text, line: 1, next: None, curves }
    }

    /// The next word; empty at the end.
    pub(super) fn peek(&mut self) -> &'a str {
        if let Some(word) = self.next {
            return word;
        }
        loop {
            let blank = self.text.len() - self.text.trim_start_matches(is_passed_over).len();
            self.skip(blank);
            if !is_comment(self.text) {
                break;
            }
            self.skip(self.text.find(['\r', '\n']).unwrap_or(self.text.len()));
        }
        let length = match self.text.strip_prefix('"') {
            Some(inside) => length(inside).map(|length| length + 2),
            None => self.text.find(separates),
        };
        let word = &self.text[..length.unwrap_or(self.text.len())];
        self.next = Some(word);
        word
    }

    pub(super) fn take(&mut self) {
        let length = self.peek().len();
        self.next = None;
        self.skip(length);
    }

    pub(super) fn expect(&mut self, word: &str, what: &'static str) -> Result<(), MapTextError> {
        if self.peek() != word {
            return Err(self.error(what));
        }
        self.take();
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.text.split_at(bytes);
        let breaks = skipped.replace("\r\n", "\n").replace('\r', "\n");
        self.line += breaks.matches('\n').count();
        if skipped.ends_with('\r') && rest.starts_with('\n') {
            // The line feed of this line break follows and counts the line.
            self.line -= 1;
        }
        self.text = rest;
    }

    pub(super) fn error(&mut self, expected: &'static str) -> MapTextError {
        let found = self.peek().to_owned();
        MapTextError { line: self.line, expected, found }
    }
}
