//! Quoted strings with TrenchBroom's escape: a backslash before a quotation mark inside.
//!
//! A string may also end in a backslash, as paths of Windows folders do. A quotation mark after a
//! backslash ends the string if the rest of the line makes sense then.

/// The length of a string without its quotation marks; `text` begins after the opening one.
pub(super) fn length(text: &str) -> Option<usize> {
    text.match_indices('"').map(|(at, _)| at).find(|&at| {
        let (before, after) = (&text[..at], &text[at + 1..]);
        !is_escaped(before) || ends(after)
    })
}

/// The value of a quoted word.
pub(super) fn inside(word: &str) -> Option<String> {
    let inside = word.strip_prefix('"')?.strip_suffix('"')?;
    Some(inside.replace("\\\"", "\""))
}

/// Whether an odd number of backslashes is before a quotation mark.
fn is_escaped(before: &str) -> bool {
    (before.len() - before.trim_end_matches('\\').len()) % 2 == 1
}

/// Whether a comment begins here, with `//` or as QuArK writes it, with `;`.
pub(super) fn is_comment(text: &str) -> bool {
    text.starts_with("//") || text.starts_with(';')
}

/// Whether a string may end before this text.
fn ends(after: &str) -> bool {
    let line = after.split(['\r', '\n']).next().unwrap_or("");
    let comment = is_comment(line.trim_start()) && !line.contains('"');
    if !line.trim().is_empty() && !comment {
        return is_tidy(line);
    }
    let below = after[line.len()..].trim_start();
    let next = below.split(['\r', '\n']).next().unwrap_or("");
    let words: Vec<&str> = next.split_whitespace().collect();
    match words.first() {
        None | Some(&("{" | "}")) => true,
        Some(word) if word.starts_with('"') => next.matches('"').count() > 1,
        Some(word) => is_comment(word),
    }
}

/// Whether the rest of a line, after a string, consists of braces and closed strings.
fn is_tidy(rest: &str) -> bool {
    if !rest.is_empty() && !rest.starts_with([' ', '\t', '}']) {
        return false;
    }
    let rest = rest.trim_start();
    if rest.is_empty() || (is_comment(rest) && !rest.contains('"')) {
        return true;
    }
    if let Some(behind) = rest.strip_prefix(['{', '}']) {
        return is_tidy(behind);
    }
    let Some(string) = rest.strip_prefix('"') else { return false };
    for (at, _) in string.match_indices('"') {
        let behind = is_tidy(&string[at + 1..]);
        if behind || !is_escaped(&string[..at]) {
            return behind;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_where_trenchbroom_ends_them() {
        for (text, value) in [
            (r#"She said \"go\" twice" "#, r#"She said "go" twice"#),
            (r#"go \" " "next" "value""#, r#"go " "#),
            (r#"C:\quake\" "#, r"C:\quake\"),
            (r#"C:\" "d" "D:\" "e" "E:\" }"#, r"C:\"),
            ("C:\\\"\n\"classname\" \"worldspawn\"", r"C:\"),
            ("he said \\\"go\\\"\nand left\"", "he said \"go\"\nand left"),
            (r#"C:\\" "#, r"C:\\"),
            (r#"" "#, ""),
        ] {
            let length = length(text).expect(text);
            assert_eq!(inside(&format!("\"{}\"", &text[..length])).as_deref(), Some(value));
        }
        assert_eq!(length(r#"a\" b"#), None);
    }
}
