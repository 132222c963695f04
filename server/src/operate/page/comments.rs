//! Leaves the comments out of the page's files. They are for readers of the sources, and would make
//! a third of what a browser loads.

/// The text without comments that fill whole lines. Empty lines take their places, so line numbers
/// in a browser's errors are those of the sources. A comment beside code stays.
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
        if !is_comment {
            kept.push_str(line);
        }
        kept.push('\n');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_that_fill_lines_are_left_out() {
        let text = "/** What\n * it does. */\nlet a = 1; // one\n  // alone\n  /* b */ let b = 2;\n\
                    const c = '/*';\n/* short */\nlet d;\n";
        let expected = "\n\nlet a = 1; // one\n\n  /* b */ let b = 2;\nconst c = '/*';\n\nlet d;\n";
        assert_eq!(without_comments(text), expected);
        assert_eq!(without_comments(text).lines().count(), text.lines().count());
    }
}
