//! Finds the place at which a text is not an OBJ file: the OBJ reader's error has no place.

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
    /// The text there.
    pub seen: String,
}

impl fmt::Display for ObjPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {:?} was seen", self.line, self.column, self.seen)
    }
}

impl ObjPlace {
    fn of(line: usize, text: &str, word: &str) -> Self {
        // The word is a slice of `text`.
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        let column = 1 + text[..at].chars().count();
        Self { line, column, seen: word.chars().take(SHOWN).collect() }
    }
}

/// The first line that is neither blank nor a comment.
pub(super) fn first_words(text: &str) -> Option<ObjPlace> {
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
    let mut lines = lines.filter(|(_, line)| !matches!(line.trim().as_bytes(), [] | [b'#', ..]));
    lines.next().map(|(number, line)| ObjPlace::of(number, line, line.trim()))
}

/// The first word that should be a coordinate and is not a number, the first vertex with fewer than
/// three coordinates, or the first face with a vertex that does not exist.
pub(super) fn first_fault(text: &str) -> Option<ObjPlace> {
    let words = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let vertices = text.lines().filter(|line| words(line).as_deref() == Some("v")).count() as i64;
    let mut above = 0;
    for (number, line) in text.lines().enumerate() {
        let place = |word: &str| Some(ObjPlace::of(number + 1, line, word));
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                above += 1;
                let coordinates: Vec<&str> = words.collect();
                let wrong = coordinates.iter().find(|word| word.parse::<f32>().is_err());
                if let Some(wrong) = wrong {
                    return place(wrong);
                }
                if coordinates.len() < 3 {
                    return place(line.trim());
                }
            }
            Some("f" | "l" | "p") => {
                let there = |word: &&str| {
                    let index = word.split('/').next().and_then(|n| n.parse::<i64>().ok());
                    index.is_some_and(|i| (1..=vertices).contains(&i) || (-above..0).contains(&i))
                };
                if let Some(wrong) = words.find(|word| !there(word)) {
                    return place(wrong);
                }
            }
            _ => (),
        }
    }
    None
}
