//! Removes comments, indentation and empty lines from the page's files. Comments alone would be a
//! third of the bytes that a browser loads.

/// The text without empty lines, indentation, and comments that fill whole lines. A comment beside
/// code stays.
pub(super) fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.lines() {
        let code = line.trim();
        let begins = !inside && code.starts_with("/*");
        // A comment that ends before the end of its line has code behind it.
        let ends = code.find("*/").map(|at| at + 2 == code.len());
        let is_comment = inside || code.starts_with("//") || (begins && ends != Some(false));
        if begins || inside {
            inside = ends.is_none();
        }
        if !is_comment && !code.is_empty() {
            kept.extend([code, "\n"]);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lines_and_comments_that_fill_lines_are_left_out() {
        let text = "/** What\n * it does. */\nlet a = 1; // one\n  // alone\n  /* b */ let b = 2;\n\
                    const c = '/*';\n/* short */\nlet d;\n";
        let expected = "let a = 1; // one\n/* b */ let b = 2;\nconst c = '/*';\nlet d;\n";
        assert_eq!(without_comments(text), expected);
    }
}
