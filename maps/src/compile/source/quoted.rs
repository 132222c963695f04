//! Quoted strings, in which `\"` stands for a quotation mark.
//!
//! TrenchBroom writes a backslash before a quotation mark, but not before another backslash, so
//! that paths of Windows are not changed. So `\"` is ambiguous: it may also end a value whose last
//! character is a backslash. It closes the string if the rest of the line can follow a string:
//! nothing, braces, a comment, or further closed strings. (TrenchBroom itself looks only for the
//! end of the line or a brace, and so cuts JSON off at its first closing brace.)

use super::tokens::is_blank;

/// The line in which an ambiguous quotation mark was last judged. It is kept so that each line is
/// searched once.
#[derive(Clone, Default)]
pub(super) struct LineAhead {
    /// The position behind the line.
    end: usize,
    /// Each quotation mark of the line from some point on, and whether the mark may close a string.
    marks: Vec<(usize, bool)>,
}

/// The position behind the quoted string that begins at `at`; `None` if it is not closed.
pub(super) fn end(text: &[u8], at: usize, ahead: &mut LineAhead) -> Option<usize> {
    let mut escaped = false;
    for (offset, &byte) in text[at + 1..].iter().enumerate() {
        let here = at + 1 + offset;
        if byte == b'"' && (!escaped || ahead.may_close(text, here)) {
            return Some(here + 1);
        }
        escaped = byte == b'\\' && !escaped;
    }
    None
}

/// The value of a string, decoded from the text between its quotation marks.
pub(super) fn decoded(inside: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(inside.len());
    for (at, &byte) in inside.iter().enumerate() {
        if byte != b'\\' || inside.get(at + 1) != Some(&b'"') {
            decoded.push(byte);
        }
    }
    decoded
}

impl LineAhead {
    /// Whether the quotation mark at `at`, with a backslash before it, may close a string.
    fn may_close(&mut self, text: &[u8], at: usize) -> bool {
        let known = self.marks.binary_search_by_key(&at, |&(mark, _)| mark);
        let index = match known {
            Ok(index) if at < self.end => index,
            _ => {
                *self = Self::from(text, at, |end| begins_below(text, end));
                0
            }
        };
        self.marks.get(index).is_some_and(|&(_, closes)| closes)
    }

    /// Searches a line from `from` on. `below` says whether the text below a position may follow
    /// a string that is the last of its line.
    fn from(text: &[u8], from: usize, below: impl FnOnce(usize) -> bool) -> Self {
        let line_break = text[from..].iter().position(|b| b"\r\n".contains(b));
        let end = line_break.map_or(text.len(), |length| from + length);
        let marks = (from..end).filter(|&at| text[at] == b'"');
        let mut marks: Vec<(usize, bool)> = marks.map(|at| (at, false)).collect();
        let mut below = Some(below);
        // Whether a string that is open before a mark can be closed by that mark or a later one.
        // `here` is the answer for the mark behind the current one, and `next` for the mark after
        // that.
        let (mut here, mut next) = (false, false);
        for index in (0..marks.len()).rev() {
            let mark = marks[index].0;
            let last = index + 1 == marks.len();
            let gap = &text[mark + 1..marks.get(index + 1).map_or(end, |&(at, _)| at)];
            let closes = match between(gap, last) {
                None => false,
                Some(0) if last => below.take().is_some_and(|below| below(end)),
                Some(_) => last || next,
            };
            marks[index].1 = closes;
            let backslashes = text[..mark].iter().rev().take_while(|&&b| b == b'\\').count();
            let goes_on = backslashes % 2 == 1 && here;
            (here, next) = (closes || goes_on, here);
        }
        Self { end, marks }
    }
}

/// The number of braces in `gap`: the text between two strings of a line or, with `last`, the text
/// after the last one. `None` if `gap` has anything except braces and blanks. With `last`, a
/// comment may end it.
fn between(gap: &[u8], last: bool) -> Option<usize> {
    let mut braces = 0;
    let mut rest = gap;
    if rest.first().is_some_and(|b| !is_blank(b) && *b != b'}') {
        return None;
    }
    loop {
        rest = &rest[rest.iter().take_while(|b| is_blank(b)).count()..];
        match rest.first() {
            None => break,
            Some(b'{' | b'}') => {
                let after = rest.get(1);
                if after.map_or(!last, |b| !is_blank(b)) {
                    return None;
                }
                (rest, braces) = (&rest[1..], braces + 1);
            }
            // A comment is looked for only behind the last quotation mark of the line, because
            // comments seldom contain one.
            Some(b'/') if last && rest.starts_with(b"//") => break,
            Some(b';') if last => break,
            Some(_) => return None,
        }
    }
    // Between two strings a blank is required.
    (last || !gap.is_empty()).then_some(braces)
}

/// Whether the text below a line may follow a string.
fn begins_below(text: &[u8], end: usize) -> bool {
    let Some(blank) = text[end..].iter().position(|b| !is_blank(b)) else {
        return true;
    };
    let (at, below) = (end + blank, &text[end + blank..]);
    match below[0] {
        b'{' | b'}' => below.get(1).is_none_or(is_blank),
        b'/' => below.starts_with(b"//"),
        b';' => true,
        b'"' => {
            let LineAhead { marks, end } = LineAhead::from(text, at, |_| true);
            // The string below may be a closed key, followed by at least the beginning of a value.
            let key = text[at + 1..end].split(|&b| b == b'"').next().unwrap_or_default();
            let value = marks.get(1).zip(marks.get(2));
            let value = value.is_some_and(|(&(key_end, _), &(value, _))| {
                let gap = &text[key_end + 1..value];
                !gap.is_empty() && gap.iter().all(is_blank)
            });
            let whole = marks.get(1).is_some_and(|&(_, closes)| closes);
            whole || (value && !key.ends_with(b"\\"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value that the string at the beginning of a text stands for.
    fn read(text: &str) -> Option<String> {
        let end = end(text.as_bytes(), 0, &mut LineAhead::default())?;
        let inside = decoded(&text.as_bytes()[1..end - 1]);
        Some(String::from_utf8(inside).expect("the source was UTF-8"))
    }

    #[test]
    fn a_backslash_before_a_quotation_mark_is_an_escape() {
        for (text, value) in [
            (r#""She said \"go\" twice" "#, r#"She said "go" twice"#),
            (r#""\"" "#, r#"""#),
            (r#""\"all of it\"" }"#, r#""all of it""#),
            (r#""go \" " }"#, r#"go " "#),
            (r#""go \" " "next" "value""#, r#"go " "#),
            (r#""{\"a\":{\"b\":\"c\"}}" "#, r#"{"a":{"b":"c"}}"#),
            ("\"he said \\\"go\\\"\nand left\"", "he said \"go\"\nand left"),
            ("\"he said \\\"go\\\"\n\"\n}", "he said \"go\"\n"),
            (r#""a\\b" "#, r"a\\b"),
            (r#""C:\games\id1\pak0" "#, r"C:\games\id1\pak0"),
            (r#""" "#, ""),
        ] {
            assert_eq!(read(text).as_deref(), Some(value), "{text}");
        }
        for open in [r#"""#, r#""a"#, r#""a\" b"#, "\"a\\\" b\n"] {
            assert_eq!(read(open), None, "{open}");
        }
    }

    #[test]
    fn a_value_may_end_in_backslashes() {
        for (text, value) in [
            (r#""C:\quake\" "#, r"C:\quake\"),
            ("\"C:\\\"\n\"classname\" \"worldspawn\"\n", r"C:\"),
            ("\"C:\\\"\r\n\r\n}", r"C:\"),
            ("\"C:\\\" // a comment\n{\n", r"C:\"),
            (r#""C:\" "classname" "worldspawn""#, r"C:\"),
            (r#""C:\" "d" "D:\" "e" "E:\" }"#, r"C:\"),
            (r#""C:\"}"#, r"C:\"),
            (r#""C:\" } {"#, r"C:\"),
            (r#""C:\" {"#, r"C:\"),
            (r#""C:\""#, r"C:\"),
            (r#""C:\\" "#, r"C:\\"),
            (r#""C:\\\" "#, r"C:\\\"),
            ("\"C:\\\"\n\"message\" \"two\nlines\"", r"C:\"),
        ] {
            assert_eq!(read(text).as_deref(), Some(value), "{text}");
        }
    }

    /// The time to find the ends of strings grows only linearly with their length, no matter what
    /// they contain.
    #[test]
    fn ambiguous_marks_do_not_take_quadratic_time() {
        for unit in [
            r#"\" "#,
            r#"\" "" "#,
            r#""\" ""#,
            r#""C:\" "#,
            r#""\" // x" "#,
            r#"\" // "#,
            r#""\" " " " "#,
            "\\\"\n",
            r#"\" } "#,
        ] {
            let text = format!("\"{}", unit.repeat(200_000));
            let (mut at, mut ahead) = (0, LineAhead::default());
            // Each line is searched once, so this takes far less than the limit below.
            let started = std::time::Instant::now();
            while let Some(mark) = text.as_bytes()[at..].iter().position(|&b| b == b'"') {
                let Some(end) = end(text.as_bytes(), at + mark, &mut ahead) else { break };
                at = end;
            }
            assert!(started.elapsed().as_secs() < 20, "{unit}");
        }
    }
}
