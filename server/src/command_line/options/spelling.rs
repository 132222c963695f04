/// If the likeness of two words, from 0 to 1, is above this, one may be a misspelling of the other.
/// clap's own suggestions use the same limit.
const LIKE: f64 = 0.7;

/// The advice for somebody who wrote `word` in place of one of the `known` words.
pub(super) fn did_you_mean(word: &str, known: &[&str]) -> String {
    let like = known.iter().map(|known| (strsim::jaro(word, known), known));
    match like.max_by(|(a, _), (b, _)| a.total_cmp(b)) {
        Some((likeness, known)) if likeness > LIKE => {
            format!("did you mean {known}? --help lists all options")
        }
        _ => "--help lists all options".to_owned(),
    }
}
