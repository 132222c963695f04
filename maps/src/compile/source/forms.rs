//! Rewrites forms of brushes that the parser does not know into one that it does.
//!
//! The rewritten source keeps its line numbers, so that messages stay correct. Only planes
//! and the names of textures matter here; texture alignment does not.

use thiserror::Error;

use super::curves::Curve;
use super::tokens::{Token, tokens};

/// A map in Standard or Valve 220 form.
#[derive(Debug, Default)]
pub(super) struct Plain {
    pub(super) text: Vec<u8>,
    /// The curves that were taken out.
    pub(super) curves: Vec<CurveText>,
}

/// A curve of the source.
#[derive(Debug)]
pub(super) struct CurveText {
    /// Line of its opening brace.
    pub(super) line: u64,
    /// Position of the entity that it belongs to.
    pub(super) entity: usize,
    /// The curve, if it could be read.
    pub(super) curve: Option<Curve>,
}

/// A form of brush that cannot be rewritten.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("{form} brushes are not supported; save the map in Valve 220 or Quake 3 format")]
pub(super) struct UnknownForm {
    /// Line of its keyword.
    pub(super) line: u64,
    form: String,
}

/// Words of a texture's matrix: two rows of three, each in parentheses, and a pair
/// around them.
const MATRIX: usize = 12;

/// Rewrites `brushDef` in Standard form, takes curves out, and drops the flags of
/// Quake 2's and 3's surfaces, which some editors write as decimals.
pub(super) fn plain(text: &[u8]) -> Result<Plain, UnknownForm> {
    let words: Vec<Token<'_>> = tokens(text).collect();
    let mut plain = Plain { text: text.to_vec(), curves: Vec::new() };
    let mut depth = 0;
    let mut at = 0;
    let mut entities: usize = 0;
    while let Some(word) = words.get(at) {
        match word.text {
            b"{" => {
                entities += usize::from(depth == 0);
                depth += 1;
            }
            b"}" => depth -= 1,
            _ => (),
        }
        at += 1;
        if word.text != b"{" || depth != 2 {
            continue;
        }
        depth -= 1;
        let end = at + closing(&words[at..]);
        let name = words.get(at).map(|name| name.text.to_ascii_lowercase()).unwrap_or_default();
        match name.as_slice() {
            b"patchdef2" | b"patchdef3" => {
                let curve = Curve::read(word.line, &words[at..end]);
                let entity = entities.saturating_sub(1);
                plain.curves.push(CurveText { line: word.line, entity, curve });
                blank(&mut plain.text, &words[at - 1..(end + 1).min(words.len())]);
            }
            b"brushdef" => {
                // The name and the braces inside the brush's own.
                let first = (at + 2).min(end);
                let last = end.saturating_sub(1).max(first);
                blank(&mut plain.text, &words[at..first]);
                faces(&mut plain.text, &words[first..last]);
                blank(&mut plain.text, &words[last..end]);
            }
            name if name.starts_with(b"brushdef") || name.starts_with(b"patchdef") => {
                let form = String::from_utf8_lossy(words[at].text).into_owned();
                return Err(UnknownForm { line: words[at].line, form });
            }
            _ => faces(&mut plain.text, &words[at..end]),
        }
        at = end + 1;
    }
    Ok(plain)
}

/// The number of words before the brace that closes the block they are in.
fn closing(words: &[Token<'_>]) -> usize {
    let mut depth = 1;
    for (index, word) in words.iter().enumerate() {
        match word.text {
            b"{" => depth += 1,
            b"}" => depth -= 1,
            _ => (),
        }
        if depth == 0 {
            return index;
        }
    }
    words.len()
}

fn blank(text: &mut [u8], words: &[Token<'_>]) {
    for word in words {
        for byte in &mut text[word.at..word.at + word.text.len()] {
            if !byte.is_ascii_whitespace() {
                *byte = b' ';
            }
        }
    }
}

/// Rewrites the faces of a brush; malformed ones are left for the parser to report.
fn faces(text: &mut [u8], words: &[Token<'_>]) {
    let mut rest = words;
    // Three points of five words each, and a texture.
    while rest.len() > 15 && [0, 5, 10].iter().all(|&i| rest[i].text == b"(") {
        let after = &rest[15..];
        let next_face = |from: usize| {
            let next = after[from..].iter().position(|word| word.text == b"(");
            next.map_or(after.len(), |next| from + next)
        };
        let end = if after[0].text == b"(" {
            // The alignment of Standard form replaces the texture's matrix.
            let Some(name) = after.get(MATRIX) else { return };
            let end = next_face(MATRIX);
            blank(text, &after[..end]);
            // A matrix takes more bytes than the name and its alignment.
            let flat = [name.text, b" 0 0 0 1 1"].concat();
            text[after[0].at..after[0].at + flat.len()].copy_from_slice(&flat);
            end
        } else {
            let aligned = if after.get(1).is_some_and(|word| word.text == b"[") { 15 } else { 5 };
            let end = next_face(1);
            blank(text, &after[(1 + aligned).min(end)..end]);
            end
        };
        rest = &after[end..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        let plain = plain(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        let text = String::from_utf8(plain.text).expect("it was text");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    const POINTS: &str = "( 0 0 1 ) ( 0 1 0 ) ( 1 0 0 )";

    #[test]
    fn known_forms_are_not_changed() {
        let text = format!(
            "{{\n{{\n{POINTS} {{tex 0 0 0 1 1\n{POINTS} t [ 1 0 0 0 ] [ 0 1 0 0 ] 0 1 1\n}}\n}}\n"
        );
        assert_eq!(plain(text.as_bytes()).expect("it is plain").text, text.as_bytes());
    }

    #[test]
    fn surface_flags_are_dropped() {
        let text = format!(
            "{{ {{ {POINTS} t 0 0 0 1 1 134217728 0.5 0\n{POINTS} u [ 1 0 0 0 ] [ 0 1 0 0 ] 0 1 1 0.000 0 0 }} }}"
        );
        let known =
            format!("{{ {{ {POINTS} t 0 0 0 1 1 {POINTS} u [ 1 0 0 0 ] [ 0 1 0 0 ] 0 1 1 }} }}");
        assert_eq!(rewritten(&text), known);
    }

    #[test]
    fn brush_def_is_rewritten_in_standard_form_on_the_same_lines() {
        let face = format!("{POINTS} ( ( 0.03 0 0 ) ( 0 0.03 0 ) ) base/wall 0 0 0\n");
        let text = format!("{{\n{{\nbrushDef\n{{\n{face}{face}}}\n}}\n}}\n");
        let flat = format!("{POINTS} base/wall 0 0 0 1 1");
        assert_eq!(rewritten(&text), format!("{{ {{ {flat} {flat} }} }}"));
        let plain = plain(text.as_bytes()).expect("it is read");
        assert_eq!(plain.text.iter().filter(|&&b| b == b'\n').count(), 9);
    }

    #[test]
    fn curves_are_taken_out_and_counted() {
        let curve = "{\npatchDef2\n{\nbase/wall\n( 3 3 0 0 0 )\n(\n( ( 0 0 0 0 0 ) )\n)\n}\n}\n";
        let text = format!("{{\n{curve}{{\n{POINTS} t 0 0 0 1 1\n}}\n{curve}}}\n");
        assert_eq!(rewritten(&text), format!("{{ {{ {POINTS} t 0 0 0 1 1 }} }}"));
        let curves = plain(text.as_bytes()).expect("it is read").curves;
        assert_eq!(
            curves.iter().map(|c| (c.line, c.entity)).collect::<Vec<_>>(),
            [(2, 0), (15, 0)]
        );
    }

    #[test]
    fn unsupported_forms_are_rejected_by_name() {
        let error = plain(b"{\n{\nbrushDef3\n{\n} } }").expect_err("it is not read");
        assert_eq!((error.line, error.form.as_str()), (3, "brushDef3"));
    }

    #[test]
    fn broken_text_never_panics() {
        let text = format!(
            "{{ {{ brushDef {{ {POINTS} ( ( 1 0 0 ) ( 0 1 0 ) ) t 0 0 0 }} }} {{ patchDef2 {{ ( 1 ) }} }} }}"
        );
        for end in 0..text.len() {
            let _ = plain(&text.as_bytes()[..end]);
            let _ = plain(&text.as_bytes()[end..]);
        }
    }
}
