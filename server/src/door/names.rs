//! Keeps players' names apart: if two look alike, the later one gets a number.

use obsp_proto::control::{MAX_NAME_CHARS, PlayerName};
use unicode_normalization::UnicodeNormalization;
use unicode_security::confusable_detection::skeleton;

/// The numbers that are tried for a name. There are more of them than there can be players.
const NUMBERS: std::ops::RangeInclusive<u32> = 2..=9_999;

/// The selectors of an emoji's presentation: as a text, or as a picture.
const PRESENTATIONS: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];

/// Reduces a name to its looks. Names that differ only in width, case, white space, or letters of
/// the same shape (UTS 39) become equal, and so do the two presentations of an emoji.
fn looks(name: &str) -> String {
    let folded: String = name.nfkc().flat_map(char::to_lowercase).collect();
    let skeleton: String = skeleton(&folded).collect();
    // The skeleton may replace a letter by a capital that looks like it, so the case is folded
    // again.
    let skeleton = skeleton.nfkc().flat_map(char::to_lowercase);
    let is_seen = |letter: &char| !letter.is_whitespace() && !PRESENTATIONS.contains(letter);
    skeleton.filter(is_seen).collect()
}

/// Returns `wanted`. If it looks like one of `others`, returns it with the first number that makes
/// it look like none of them.
pub(crate) fn unlike<'a>(
    wanted: &PlayerName,
    others: impl Iterator<Item = &'a PlayerName>,
) -> PlayerName {
    let taken: Vec<String> = others.map(|name| looks(name.as_str())).collect();
    let is_free = |name: &PlayerName| !taken.contains(&looks(name.as_str()));
    if is_free(wanted) {
        return wanted.clone();
    }
    let numbered = |number: u32| {
        let number = format!(" ({number})");
        let room = MAX_NAME_CHARS - number.chars().count();
        let kept = wanted.beginning(room);
        PlayerName::new(&(kept.trim_end().to_owned() + &number)).ok()
    };
    NUMBERS.filter_map(numbered).find(is_free).unwrap_or_else(|| wanted.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> PlayerName {
        PlayerName::new(text).unwrap()
    }

    #[test]
    fn names_that_look_alike_get_numbers_and_others_do_not() {
        let others = [name("Admin"), name("paypal"), name("Ann"), name("Ann (2)")];
        let unlike = |text: &str| unlike(&name(text), others.iter()).as_str().to_owned();
        // The imitations use a Cyrillic letter, full-width letters, another case, and a space.
        for imitation in ["Аdmin", "Ａｄｍｉｎ", "aDMIN", "A dmin"] {
            assert!(unlike(imitation).ends_with(" (2)"), "{imitation}: {}", unlike(imitation));
        }
        assert_eq!(unlike("pаypаl"), "pаypаl (2)");
        assert_eq!(unlike("Ann"), "Ann (3)");
        let hearts = [name("♥"), name("♥\u{fe0f} (2)")];
        assert_eq!(super::unlike(&name("♥\u{fe0f}"), hearts.iter()).as_str(), "♥\u{fe0f} (3)");
        for own in ["Anna", "名前", "Jürgen", "bot 7"] {
            assert_eq!(unlike(own), own);
        }
    }

    #[test]
    fn a_number_has_room_in_the_longest_name() {
        let long = name(&"x".repeat(MAX_NAME_CHARS));
        let numbered = unlike(&long, std::iter::once(&long));
        assert!(numbered.as_str().ends_with("x (2)"), "{numbered}");
        assert_eq!(numbered.as_str().chars().count(), MAX_NAME_CHARS);
        // A family of four is not cut in two.
        let family = name(&("x".repeat(17) + "👨\u{200d}👩\u{200d}👧\u{200d}👦"));
        let numbered = unlike(&family, std::iter::once(&family));
        assert_eq!(numbered.as_str(), "x".repeat(17) + " (2)");
    }
}
