//! The words of a map.

/// A word, separated by the rules of the parser.
#[derive(Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    pub(super) line: u64,
}

/// The words of a map. A brace may also be part of a texture's name, so it counts as a
/// brace only if it is a word of its own.
pub(super) fn tokens(text: &[u8]) -> impl Iterator<Item = Token<'_>> {
    let (mut at, mut line) = (0, 1);
    std::iter::from_fn(move || {
        while let Some(&byte) = text.get(at) {
            let rest = &text[at..];
            let (length, is_word) = match byte {
                b if b.is_ascii_whitespace() => (1, false),
                b'"' => {
                    let inside = rest[1..].iter().position(|&b| b == b'"');
                    (inside.map_or(rest.len(), |p| p + 2), true)
                }
                b'/' if rest.get(1) == Some(&b'/') => {
                    let end = rest.iter().position(|&b| b == b'\r' || b == b'\n');
                    (end.unwrap_or(rest.len()), false)
                }
                _ => {
                    let end = rest.iter().position(u8::is_ascii_whitespace);
                    (end.unwrap_or(rest.len()), true)
                }
            };
            let token = Token { text: &rest[..length], at, line };
            line += token.text.iter().filter(|&&b| b == b'\n').count() as u64;
            at += length;
            if is_word {
                return Some(token);
            }
        }
        None
    })
}
