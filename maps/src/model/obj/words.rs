//! The words of an OBJ text, and their places.

use std::fmt;

/// Maximum number of characters of a line that an error repeats.
const SHOWN: usize = 40;

/// A place in an OBJ text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjPlace {
    /// Line, counted from 1.
    pub line: usize,
    /// Character in the line, counted from 1.
    pub column: usize,
    /// The text at the place.
    pub seen: String,
}

impl fmt::Display for ObjPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {:?} was seen", self.line, self.column, self.seen)
    }
}

/// A word of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// The line that contains the word.
    within: &'a str,
    /// The byte of the line at which the word begins.
    at: usize,
    /// The number of the line, counted from 1.
    line: usize,
}

impl<'a> Word<'a> {
    /// The whole line of the word, without the blanks around it.
    pub(super) fn whole_line(&self) -> Self {
        let text = self.within.trim();
        let at = self.within.len() - self.within.trim_start().len();
        Self { text, at, ..*self }
    }

    pub(super) fn place(&self) -> ObjPlace {
        let column = 1 + self.within.get(..self.at).map_or(0, |before| before.chars().count());
        ObjPlace { line: self.line, column, seen: self.text.chars().take(SHOWN).collect() }
    }

    /// The place of the whole line.
    pub(super) fn line_place(&self) -> ObjPlace {
        self.whole_line().place()
    }

    /// The words of a line up to a comment.
    fn all(line: usize, within: &'a str) -> impl Iterator<Item = Self> {
        let mut end = 0;
        std::iter::from_fn(move || {
            let rest = within.get(end..)?;
            let at = end + (rest.len() - rest.trim_start().len());
            let rest = within.get(at..)?;
            let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
            end = at + length;
            let text = rest.get(..length)?;
            (!text.is_empty() && !text.starts_with('#')).then_some(Self { text, within, at, line })
        })
    }
}

/// The statements of a text, without empty ones. A statement is a line, joined with the next one if
/// a backslash ends it.
pub(super) fn statements(text: &str) -> impl Iterator<Item = Vec<Word<'_>>> {
    let lines = text.split('\n').flat_map(|line| {
        // A line ends with LF, CR LF or CR.
        line.strip_suffix('\r').unwrap_or(line).split('\r')
    });
    let mut lines = lines.enumerate();
    std::iter::from_fn(move || {
        let mut statement = Vec::new();
        for (index, line) in lines.by_ref() {
            statement.extend(Word::all(index + 1, line));
            let Some(last) = statement.last_mut() else { continue };
            let Some(before) = last.text.strip_suffix('\\') else { return Some(statement) };
            last.text = before;
            if before.is_empty() {
                statement.pop();
            }
        }
        (!statement.is_empty()).then_some(statement)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<Vec<&str>> {
        statements(text).map(|words| words.iter().map(|word| word.text).collect()).collect()
    }

    #[test]
    fn statements_end_with_their_lines_unless_a_backslash_does() {
        assert_eq!(texts("v 1\n\n# a\nf 2 3 # b\n"), [vec!["v", "1"], vec!["f", "2", "3"]]);
        assert_eq!(texts("v 1\rv 2\r\nv 3"), [["v", "1"], ["v", "2"], ["v", "3"]]);
        assert_eq!(texts("f 1 \\\n 2\\\r\n3\nv 1"), [vec!["f", "1", "2", "3"], vec!["v", "1"]]);
        assert_eq!(texts("f 1 \\"), [["f", "1"]]);
        assert_eq!(texts("\\\n\\\n"), [[""; 0]; 0]);
        let places = statements("\u{e4} b\r\n c\\\nd").flatten().map(|word| word.place());
        let places: Vec<_> = places.map(|place| (place.line, place.column)).collect();
        assert_eq!(places, [(1, 1), (1, 3), (2, 2), (3, 1)]);
    }
}
