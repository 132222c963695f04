//! A reader of Quake `.map` text that keeps every coordinate exact: decimals of any length are
//! integers over a power of ten.

mod curve;
mod export;
mod number;
mod strings;
mod words;

pub use number::Decimal;
use strings::inside;
use thiserror::Error;
use words::Words;

use crate::game::Game;

/// One entity: its keys, and its brushes in their order.
#[derive(Clone, Debug, Default)]
pub struct Entity {
    /// Keys and values as written.
    pub pairs: Vec<(String, String)>,
    /// The entity's brushes.
    pub brushes: Vec<Brush>,
    /// The game for which the map was made; the same for all entities of a map.
    pub game: Game,
}

/// One brush.
#[derive(Clone, Debug)]
pub struct Brush {
    /// Line of the opening brace, counted from 1.
    pub line: usize,
    /// The brush's faces.
    pub faces: Vec<FaceText>,
}

/// One face of a brush, which is a line of the text.
#[derive(Clone, Debug)]
pub struct FaceText {
    /// Three points of the plane.
    pub points: [[Decimal; 3]; 3],
    /// Name of the texture.
    pub texture: String,
    /// The numbers after the texture's alignment, rounded toward zero.
    pub numbers: Vec<i64>,
}

impl Entity {
    /// The value of a key, the last if it is repeated.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// The key `origin` as three numbers.
    pub fn origin(&self) -> Option<[f64; 3]> {
        let numbers: Vec<f64> =
            self.get("origin")?.split_whitespace().map_while(|n| n.parse().ok()).collect();
        numbers.try_into().ok()
    }
}

/// A syntax error of a map.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {expected} expected, not {found:?}")]
pub struct MapTextError {
    /// Line, counted from 1.
    pub line: usize,
    /// The expected word.
    pub expected: &'static str,
    /// The word that was found; empty at the end of the text.
    pub found: String,
}

/// Reads a map: Standard, Valve 220 or `brushDef`, without the layers that TrenchBroom omits from
/// export. The alignment of textures does not affect solidity and is skipped.
///
/// # Errors
/// [`MapTextError`] on text of any other form. The oracle never guesses the meaning of such text.
pub fn parse(text: &str) -> Result<Vec<Entity>, MapTextError> {
    parse_as(text, None, false)
}

/// Like [`parse`], with brushes instead of Quake III's curves, which [`parse`] skips.
///
/// # Errors
/// [`MapTextError`], as for [`parse`].
pub fn parse_with_curves(text: &str) -> Result<Vec<Entity>, MapTextError> {
    parse_as(text, None, true)
}

/// Like [`parse`], for a map of this game (guessed if `None`), and with brushes instead of curves
/// if `curves`.
///
/// # Errors
/// [`MapTextError`], as for [`parse`].
pub fn parse_as(text: &str, game: Option<Game>, curves: bool) -> Result<Vec<Entity>, MapTextError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut words = Words::new(text, curves);
    let mut entities = Vec::new();
    while !words.peek().is_empty() {
        words.expect("{", "an entity's brace")?;
        entities.push(entity(&mut words)?);
    }
    let game = game.unwrap_or_else(|| Game::guess(text, &entities));
    for entity in &mut entities {
        entity.game = game;
    }
    Ok(export::exported(entities))
}

fn entity(words: &mut Words<'_>) -> Result<Entity, MapTextError> {
    let mut entity = Entity::default();
    let mut curves = Vec::new();
    loop {
        let word = words.peek();
        if let Some(key) = inside(word) {
            words.take();
            let value = inside(words.peek()).ok_or_else(|| words.error("a quoted value"))?;
            entity.pairs.push((key, value));
            words.take();
        } else if word == "{" {
            let line = words.line;
            words.take();
            match words.peek().to_ascii_lowercase().as_str() {
                "patchdef2" | "patchdef3" if words.curves => {
                    let begin = words.clone();
                    if let Ok(brushes) = curve(words, line) {
                        curves.extend(brushes);
                    } else {
                        // A curve that is not a grid of control points has no brushes.
                        *words = begin;
                        pass_over(words)?;
                    }
                }
                "patchdef2" | "patchdef3" => pass_over(words)?,
                "brushdef" => {
                    words.take();
                    words.expect("{", "the brace of a brushDef")?;
                    entity.brushes.push(Brush { line, faces: faces(words)? });
                    words.expect("}", "a closing brace")?;
                }
                _ => entity.brushes.push(Brush { line, faces: faces(words)? }),
            }
        } else {
            words.expect("}", "a key, a brush or a closing brace")?;
            entity.brushes.append(&mut curves);
            return Ok(entity);
        }
    }
}

/// The brushes instead of a curve.
fn curve(words: &mut Words<'_>, line: usize) -> Result<Vec<Brush>, MapTextError> {
    words.take();
    words.expect("{", "the brace of a curve")?;
    let texture = words.peek();
    let texture = inside(texture).unwrap_or_else(|| texture.to_owned());
    words.take();
    let head = numbers(words)?;
    words.expect("(", "a grid of control points")?;
    let mut columns = Vec::new();
    while words.peek() == "(" {
        words.take();
        let mut column = Vec::new();
        while words.peek() == "(" {
            let [x, y, z, ..] = numbers(words)?[..] else { return Err(words.error("a point")) };
            column.push([x, y, z]);
        }
        words.expect(")", "a control point or a closing parenthesis")?;
        columns.push(column);
    }
    words.expect(")", "a column or a closing parenthesis")?;
    let whole = |n: usize| n >= 3 && n % 2 == 1;
    let rows = columns.first().map_or(0, Vec::len);
    let even = columns.iter().all(|column| column.len() == rows);
    if head.len() < 2 || head[..2] != [columns.len() as f64, rows as f64] || !even {
        return Err(words.error("as many control points as are announced"));
    }
    if !whole(columns.len()) || !whole(rows) {
        return Err(words.error("an odd number of control points each way"));
    }
    words.expect("}", "a closing brace")?;
    words.expect("}", "a closing brace")?;
    Ok(curve::brushes(line, &texture, &columns).unwrap_or_default())
}

fn numbers(words: &mut Words<'_>) -> Result<Vec<f64>, MapTextError> {
    words.expect("(", "an opening parenthesis")?;
    let mut numbers = Vec::new();
    while words.peek() != ")" {
        numbers.push(words.peek().parse::<f64>().map_err(|_| words.error("a number"))?);
        words.take();
    }
    words.take();
    Ok(numbers)
}

/// Skips a curve, up to the brace that closes the block around it.
fn pass_over(words: &mut Words<'_>) -> Result<(), MapTextError> {
    let mut depth = 1;
    while depth > 0 {
        match words.peek() {
            "" => return Err(words.error("a closing brace")),
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => (),
        }
        words.take();
    }
    Ok(())
}

/// The faces of a brush, up to its closing brace.
fn faces(words: &mut Words<'_>) -> Result<Vec<FaceText>, MapTextError> {
    let mut faces = Vec::new();
    loop {
        match words.peek() {
            "(" => {
                let points = [point(words)?, point(words)?, point(words)?];
                // In a `brushDef`, a matrix is the whole alignment.
                let matrix = words.peek() == "(";
                while matrix && is_alignment(words.peek(), "()") {
                    words.take();
                }
                let texture = words.peek();
                if texture.is_empty() {
                    return Err(words.error("a texture's name"));
                }
                words.take();
                let texture = inside(texture).unwrap_or_else(|| texture.to_owned());
                let mut left = if matrix { 0 } else { 5 };
                if !matrix && words.peek() == "[" {
                    // Valve 220: two axes, each of four numbers and two brackets, then three
                    // numbers.
                    left = 2 * 6 + 3;
                }
                let mut numbers = Vec::new();
                while is_alignment(words.peek(), "[]") {
                    if left == 0 {
                        numbers.push(words.peek().parse::<f64>().map_or(0, |n| n as i64));
                    } else {
                        left -= 1;
                    }
                    words.take();
                }
                faces.push(FaceText { points, texture, numbers });
            }
            "}" => {
                words.take();
                return Ok(faces);
            }
            _ => return Err(words.error("a face or a closing brace")),
        }
    }
}

/// Whether a word is a number or one of these brackets. Numbers that are not finite count, too:
/// programs in C print some of them as `nan(ind)` or `1.#IND`.
fn is_alignment(word: &str, brackets: &str) -> bool {
    let odd = word.trim_start_matches(['+', '-']).to_ascii_lowercase();
    word.parse::<f64>().is_ok()
        || ["nan(", "1.#"].iter().any(|start| odd.starts_with(start))
        || (word.len() == 1 && brackets.contains(word))
}

fn point(words: &mut Words<'_>) -> Result<[Decimal; 3], MapTextError> {
    words.expect("(", "a point")?;
    let mut number = || {
        let number = Decimal::parse(words.peek()).ok_or_else(|| words.error("a number"))?;
        words.take();
        Ok(number)
    };
    let point = [number()?, number()?, number()?];
    words.expect(")", "a closing parenthesis")?;
    Ok(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let text = "// a comment\n{\n\"classname\" \"worldspawn\"\n\"a b\" \"\"\n// b\n{\n\
            ( 0 0 1 ) ( 0 1 0 ) ( 1 -0.5 1e2 ) {tex 0 0 0 1 1\n\
            ( 0 0 1 ) ( 0 1 0 ) ( 1 0 0 ) *slime [ 1 0 0 4 ] [ 0 -1 0 3 ] 0 1 1\n}\n}\n\
            {\n\"classname\"\t\"light\"\n\"origin\"\t\"1 2.5 -3\"\n}\n";
        let entities = parse(text).expect("a map");
        assert_eq!(entities.len(), 2);
        assert_eq!(entities[0].get("a b"), Some(""));
        let brush = &entities[0].brushes[0];
        assert_eq!((brush.line, brush.faces.len()), (6, 2));
        assert_eq!(brush.faces[0].points[2][1], Decimal::parse("-0.50").expect("a number"));
        assert_eq!(brush.faces[0].points[2][2], Decimal::parse("100").expect("a number"));
        assert_eq!((&*brush.faces[0].texture, &*brush.faces[1].texture), ("{tex", "*slime"));
        assert_eq!(entities[1].origin(), Some([1.0, 2.5, -3.0]));
    }

    #[test]
    fn quake_3_brushes_are_read_and_curves_are_skipped() {
        let face = "( 0 0 1 ) ( 0 1 0 ) ( 1 0 0 ) ( ( 0.1 0 0 ) ( 0 0.1 0 ) ) base/wall 0 0 0\n";
        let curve = "{\npatchDef2 { base/wall ( 3 3 0 0 0 ) ( ( ( 0 0 0 0 0 ) ) ) }\n}\n";
        let text = format!("{{ {{\nbrushDef\n{{\n{face}{face}}}\n}}\n{curve}{{ {face} }} }}");
        let brushes = &parse(&text).expect("a map")[0].brushes;
        assert_eq!(brushes.iter().map(|b| b.faces.len()).collect::<Vec<_>>(), [2, 1]);
        assert_eq!((brushes[1].line, &*brushes[0].faces[1].texture), (11, "base/wall"));
    }

    /// In an earlier version, a map with a curve of four columns could be compiled and not be
    /// verified.
    #[test]
    fn a_curve_that_is_no_grid_has_no_brushes() {
        let column = "( ( 0 0 0 0 0 ) ( 0 9 0 0 0 ) ( 0 18 0 0 0 ) )\n";
        let face = "( 0 0 1 ) ( 0 1 0 ) ( 1 0 0 ) t 0 0 0 1 1\n";
        for (head, columns) in [("( 4 3 0 0 0 )", 4), ("( 5 3 0 0 0 )", 3), ("( x )", 3)] {
            let columns = column.repeat(columns);
            let curve = format!("{{\npatchDef2\n{{\nt\n{head}\n(\n{columns})\n}}\n}}\n");
            let text = format!("{{\n{curve}{{\n{face}}}\n}}\n");
            let entities = parse_with_curves(&text).unwrap_or_else(|e| panic!("{head}: {e}"));
            assert_eq!(entities[0].brushes.len(), 1, "{head}");
        }
    }

    /// In an earlier version, the oracle judged brushes of layers that TrenchBroom omits from
    /// export.
    #[test]
    fn layers_that_are_omitted_from_export_are_left_out() {
        let face = "{ ( 0 0 1 ) ( 0 1 0 ) ( 1 0 0 ) t 0 0 0 1 1 }";
        let map = |world: &str, layer: &str| {
            let text = format!(
                "{{ \"classname\" \"worldspawn\" {world} {face} }}\n\
                 {{ \"_tb_type\" \"_tb_layer\" \"_tb_id\" \"2\" {layer} {face} }}\n\
                 {{ \"_tb_type\" \"_tb_group\" \"_tb_id\" \"3\" \"_tb_group\" \"4\" {face} }}\n\
                 {{ \"_tb_type\" \"_tb_group\" \"_tb_id\" \"4\" \"_tb_layer\" \"2\" {face} }}\n\
                 {{ \"classname\" \"light\" }}\n"
            );
            let entities = parse(&text).unwrap_or_else(|error| panic!("{error}"));
            entities.iter().map(|entity| entity.brushes.len()).collect::<Vec<_>>()
        };
        let omit = "\"_tb_layer_omit_from_export\" \"1\"";
        assert_eq!(map("", ""), [1, 1, 1, 1, 0]);
        assert_eq!(map("", omit), [1, 0]);
        assert_eq!(map(omit, ""), [0, 1, 1, 1]);
        assert_eq!(map(omit, omit), [0]);
    }

    /// In an earlier version, files that were joined, each with its byte order mark, could not be
    /// verified.
    #[test]
    fn words_are_separated_as_in_the_games_tools() {
        let text = "\u{feff}{ ; QuArK\n}\n\u{feff}{\x0b\"a\"\x01\"b\" // c\n}\n\u{feff}\x1a\0";
        let entities = parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(entities.len(), 2);
        assert_eq!(entities[1].get("a"), Some("b"));
    }

    #[test]
    fn line_breaks_do_not_matter() {
        let faces = "( 0 0 1 )\n( 0 1 0 ) ( 1 0 0 ) t 0 0 0 1 1 0 0 0 ";
        let text = format!("{{ \"k\" \"v\" {{ {faces}{faces} }} // x }}\n {{ {faces} }} }}");
        let entities = parse(&text).expect("a map");
        let faces = |i: usize| entities[0].brushes[i].faces.len();
        assert_eq!((faces(0), faces(1), entities[0].brushes[1].line), (2, 1, 4));
        let macs = text.replace('\n', "\r");
        assert_eq!(parse(&macs).expect("a map")[0].brushes[1].line, 4);
        let windows = text.replace('\n', "\r\n");
        assert_eq!(parse(&windows).expect("a map")[0].brushes[1].line, 4);
    }

    #[test]
    fn numbers_behind_the_alignment_are_kept() {
        let points = "( 0 0 1 ) ( 0 1 0 ) ( 1 0 0 )";
        let text = format!(
            "\u{feff}{{ {{ {points} a 0 0 0 1 1 32 128.0 -5 {points} 7 [ 1 0 0 4 ] [ 0 -1 0 3 ] 0 1 1 \
             65536 0 0 {points} c 0 0 0 1 1 }} {{ brushDef {{ {points} ( ( 1 0 0 ) ( 0 1 0 ) ) d \
             134217728 1 2 }} }} }}"
        );
        let brushes = &parse(&text).expect("a map")[0].brushes;
        let faces = brushes.iter().flat_map(|brush| &brush.faces);
        let numbers: Vec<_> = faces.map(|f| (&*f.texture, &f.numbers[..])).collect();
        let expected: [(&str, &[i64]); 4] =
            [("a", &[32, 128, -5]), ("7", &[65536, 0, 0]), ("c", &[]), ("d", &[134_217_728, 1, 2])];
        assert_eq!(numbers, expected);
    }

    #[test]
    fn syntax_errors_have_their_line() {
        for (text, line, expected) in [
            ("{\n{\n\n( 0 0 ) ( 0 1 0 ) ( 1 0 0 ) tex\n}\n}\n", 4, "a number"),
            ("{\n", 2, "a key, a brush or a closing brace"),
            ("{\n\"key\"\n}", 3, "a quoted value"),
            ("}", 1, "an entity's brace"),
            ("{ {\nbrushDef3 { } } }", 2, "a face or a closing brace"),
            ("{ {\npatchDef2 { } }", 2, "a key, a brush or a closing brace"),
            ("{ \"unclosed", 1, "a key, a brush or a closing brace"),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!((error.line, error.expected), (line, expected), "{text}");
        }
    }
}
