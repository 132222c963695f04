/// Likeness, from 0 to 1, from which on one word may have been meant by another:
/// what clap takes for its own suggestions.
const LIKE: f64 = 0.7;

/// The way out for whoever wrote `word` where only those `known` make sense.
pub(super) fn did_you_mean(word: &str, known: &[&str]) -> String {
    let like = known.iter().map(|known| (strsim::jaro(word, known), known));
    match like.max_by(|(a, _), (b, _)| a.total_cmp(b)) {
        Some((likeness, known)) if likeness > LIKE => {
            format!("did you mean {known}? --help lists all")
        }
        _ => "--help lists all".to_owned(),
    }
}
