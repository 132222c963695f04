//! The rule for texts of players, which others read: names and lines of chat.
//!
//! A text is judged by *graphemes*, which readers take for single characters (Unicode Standard
//! Annex 29). An emoji may have the characters that join and vary it. A letter may have marks, but
//! not so many that they cover other lines. No text may change the direction in which it is read.

use unicode_segmentation::UnicodeSegmentation;

/// The joiner of emoji, as between the persons of a family.
const JOINER: char = '\u{200d}';

/// A selector that shows a character as an emoji, or as a text.
const SELECTORS: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];

/// The mark that turns a digit into the emoji of a key.
const KEY_CAP: char = '\u{20e3}';

/// The black flag, which the tags after it turn into the flag of a region, and the last of the
/// tags.
const TAGGED_FLAG: char = '\u{1f3f4}';
const LAST_TAG: char = '\u{e007f}';

/// Maximum number of characters of an emoji, and of any other grapheme. The longest emoji in use
/// are kisses with two skin tones. Other graphemes have marks or, in some scripts, several letters.
const MAX_EMOJI: usize = 10;
const MAX_LETTER: usize = 6;

/// Why a text cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// A character that could forge another line: a control character, a mark that changes the
    /// writing direction, or an invisible character.
    #[error("control characters, direction marks or invisible characters")]
    Unprintable,
    /// A joiner, a variation selector or a tag outside of an emoji.
    #[error("a joiner, a variation selector or a tag outside of an emoji")]
    Loose,
    /// Too many marks on one letter, or an emoji that is too long.
    #[error("a letter with more than {} marks, or an emoji of more than {MAX_EMOJI} characters", MAX_LETTER - 1)]
    Stacked,
}

/// Checks a text.
pub(super) fn check(text: &str) -> Result<(), TextFault> {
    text.graphemes(true).try_for_each(check_grapheme)
}

/// The parts of a text that can be sent, up to `most` characters. No grapheme is cut.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let shown: String = text.chars().filter(|&one| !unprintable(one)).collect();
    let (mut kept, mut length) = (String::new(), 0);
    for grapheme in shown.graphemes(true).filter(|one| check_grapheme(one).is_ok()) {
        length += grapheme.chars().count();
        if length > most {
            break;
        }
        kept += grapheme;
    }
    kept
}

fn check_grapheme(grapheme: &str) -> Result<(), TextFault> {
    if grapheme.chars().any(unprintable) {
        return Err(TextFault::Unprintable);
    }
    let Some(first) = grapheme.chars().next() else { return Ok(()) };
    let is_key = grapheme.ends_with(KEY_CAP) && (first.is_ascii_digit() || "#*".contains(first));
    let mut before = None;
    let mut after = grapheme.chars().skip(1).chain([' ']);
    for one in grapheme.chars() {
        let next = after.next().unwrap_or(' ');
        let fits = match one {
            JOINER => before.is_some() && !extends(next),
            _ if SELECTORS.contains(&one) => is_key || before.is_some_and(is_pictograph),
            _ if is_tag(one) => {
                first == TAGGED_FLAG
                    && grapheme.ends_with(LAST_TAG)
                    && (one != LAST_TAG || next == ' ')
            }
            _ => true,
        };
        if !fits {
            return Err(TextFault::Loose);
        }
        before = Some(one);
    }
    let limit = if is_pictograph(first) { MAX_EMOJI } else { MAX_LETTER };
    if grapheme.chars().count() > limit { Err(TextFault::Stacked) } else { Ok(()) }
}

/// Whether a character is a pictograph. Among the characters that begin a grapheme and are not
/// letters, only a pictograph forms one grapheme with a joiner and a second pictograph.
fn is_pictograph(character: char) -> bool {
    let pair = String::from_iter([character, JOINER, character]);
    !character.is_alphabetic() && !extends(character) && pair.graphemes(true).count() == 1
}

/// Whether a character extends the grapheme before it, or is the blank that ends a grapheme.
fn extends(character: char) -> bool {
    String::from_iter(['a', character]).graphemes(true).count() == 1 || character == ' '
}

/// Whether a character is a tag of a flag.
fn is_tag(character: char) -> bool {
    ('\u{e0020}'..=LAST_TAG).contains(&character)
}

/// Control characters, marks that change the writing direction, and invisible characters: format
/// characters and fillers. Joiners, variation selectors and tags have a rule of their own.
fn unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0d}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{13430}'..='\u{1345f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d159}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e001f}'
                | '\u{e0080}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emoji_are_allowed_whole() {
        for emoji in [
            "😀",
            "❤\u{fe0f}",
            "👍🏽",
            "🇩🇪🇫🇷",
            "1\u{fe0f}\u{20e3}",
            "👨\u{200d}👩\u{200d}👧\u{200d}👦",
            "👩🏽\u{200d}❤\u{fe0f}\u{200d}💋\u{200d}👨🏿",
            "🏳\u{fe0f}\u{200d}🌈",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
            "नमस्ते क्षत्रिय",
            "việt e\u{302}\u{323}",
        ] {
            assert_eq!(check(emoji), Ok(()), "{emoji:?}");
            assert_eq!(check(&format!("a{emoji}b {emoji}{emoji}")), Ok(()), "{emoji:?}");
            assert_eq!(shortened(emoji, 99), emoji);
        }
    }

    #[test]
    fn unseen_characters_are_refused_outside_of_an_emoji() {
        for (text, fault) in [
            ("a\u{200d}b", TextFault::Loose),
            ("\u{200d}", TextFault::Loose),
            ("😀\u{200d}", TextFault::Loose),
            ("😀\u{200d}\u{200d}😀", TextFault::Loose),
            ("😀\u{200d}a", TextFault::Loose),
            ("a\u{200d}\u{301}", TextFault::Loose),
            ("a\u{fe0f}", TextFault::Loose),
            ("1\u{fe0f}", TextFault::Loose),
            ("❤\u{fe0f}\u{fe0f}", TextFault::Loose),
            ("a\u{301}\u{fe0f}", TextFault::Loose),
            ("a\u{e0067}\u{e007f}", TextFault::Loose),
            ("🏴\u{e0067}", TextFault::Loose),
            ("a\u{202e}b", TextFault::Unprintable),
            ("a\u{2066}b\u{2069}", TextFault::Unprintable),
            ("a\u{200f}", TextFault::Unprintable),
            ("a\u{200c}b", TextFault::Unprintable),
            ("a\nb", TextFault::Unprintable),
            ("a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}", TextFault::Stacked),
        ] {
            assert_eq!(check(text), Err(fault), "{text:?}");
            assert!(check(&shortened(text, 99)).is_ok(), "{text:?}");
        }
        assert_eq!(check("a\u{301}\u{301}\u{301}\u{301}\u{301}"), Ok(()));
        assert_eq!(shortened("ab👍🏽", 4), "ab👍🏽");
        assert_eq!(shortened("ab👍🏽", 3), "ab");
    }
}
