//! A reader of Quake `.map` text that keeps every coordinate exact: decimals
//! are integers over a power of ten, however long.

mod curve;
mod number;

pub use number::Decimal;
use thiserror::Error;

/// One entity: its keys, and its brushes in their order.
#[derive(Clone, Debug, Default)]
pub struct Entity {
    /// Keys and values as written.
    pub pairs: Vec<(String, String)>,
    /// The entity's brushes.
    pub brushes: Vec<Brush>,
}

/// One brush: its faces as written, and its line.
#[derive(Clone, Debug)]
pub struct Brush {
    /// Line of the opening brace, counted from 1.
    pub line: usize,
    /// Its faces.
    pub faces: Vec<FaceText>,
}

/// One line of a brush.
#[derive(Clone, Debug)]
pub struct FaceText {
    /// Three points of the plane.
    pub points: [[Decimal; 3]; 3],
    /// Name of the texture.
    pub texture: String,
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

/// Reads a map, Standard or Valve 220; words after a texture's name do not affect
/// solidity and are skipped.
///
/// # Errors
/// [`MapTextError`] on text of any other form: the oracle never guesses.
pub fn parse(text: &str) -> Result<Vec<Entity>, MapTextError> {
    read(text, false)
}

/// As [`parse`], with brushes in place of Quake 3's curves.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_curves(text: &str) -> Result<Vec<Entity>, MapTextError> {
    read(text, true)
}

fn read(text: &str, curves: bool) -> Result<Vec<Entity>, MapTextError> {
    let mut words = Words { text, line: 1, next: None, curves };
    let mut entities = Vec::new();
    while !words.peek().is_empty() {
        words.expect("{", "an entity's brace")?;
        entities.push(entity(&mut words)?);
    }
    Ok(entities)
}

fn entity(words: &mut Words<'_>) -> Result<Entity, MapTextError> {
    let mut entity = Entity::default();
    let mut curves = Vec::new();
    loop {
        let word = words.peek();
        if let Some(key) = unquoted(word) {
            words.take();
            let value = unquoted(words.peek()).ok_or_else(|| words.error("a quoted value"))?;
            entity.pairs.push((key.to_owned(), value.to_owned()));
            words.take();
        } else if word == "{" {
            let line = words.line;
            words.take();
            match words.peek().to_ascii_lowercase().as_str() {
                "patchdef2" | "patchdef3" if words.curves => curves.extend(curve(words, line)?),
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

/// The brushes in place of a curve.
fn curve(words: &mut Words<'_>, line: usize) -> Result<Vec<Brush>, MapTextError> {
    words.take();
    words.expect("{", "the brace of a curve")?;
    let texture = words.peek();
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
    Ok(curve::brushes(line, texture, &columns).unwrap_or_default())
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
                // A matrix, in Quake 3's form of brushes.
                while words.peek() == "("
                    || words.peek() == ")"
                    || words.peek().parse::<f64>().is_ok()
                {
                    words.take();
                }
                let texture = words.peek();
                if texture.is_empty() {
                    return Err(words.error("a texture's name"));
                }
                words.take();
                let texture = unquoted(texture).unwrap_or(texture).to_owned();
                faces.push(FaceText { points, texture });
            }
            "}" => {
                words.take();
                return Ok(faces);
            }
            // The texture alignment of the last face.
            "[" | "]" if !faces.is_empty() => words.take(),
            word if !faces.is_empty() && word.parse::<f64>().is_ok() => words.take(),
            _ => return Err(words.error("a face or a closing brace")),
        }
    }
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

/// The text between quotes, if the word is quoted.
fn unquoted(word: &str) -> Option<&str> {
    word.strip_prefix('"')?.strip_suffix('"')
}

/// A text word by word: quoted strings whole, comments left out. A brace counts as one
/// only if it is a word of its own, because names of textures may begin with one.
struct Words<'a> {
    text: &'a str,
    /// Line of the next word.
    line: usize,
    next: Option<&'a str>,
    /// Whether curves are solid.
    curves: bool,
}

impl<'a> Words<'a> {
    /// The next word; empty at the end.
    fn peek(&mut self) -> &'a str {
        if let Some(word) = self.next {
            return word;
        }
        loop {
            let blank = self.text.len() - self.text.trim_start().len();
            self.skip(blank);
            if !self.text.starts_with("//") {
                break;
            }
            self.skip(self.text.find(['\r', '\n']).unwrap_or(self.text.len()));
        }
        let length = match self.text.strip_prefix('"') {
            Some(inside) => inside.find('"').map(|length| length + 2),
            None => self.text.find(char::is_whitespace),
        };
        let word = &self.text[..length.unwrap_or(self.text.len())];
        self.next = Some(word);
        word
    }

    fn take(&mut self) {
        let length = self.peek().len();
        self.next = None;
        self.skip(length);
    }

    fn expect(&mut self, word: &str, what: &'static str) -> Result<(), MapTextError> {
        if self.peek() != word {
            return Err(self.error(what));
        }
        self.take();
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.text.split_at(bytes);
        self.line += skipped.matches('\n').count();
        self.text = rest;
    }

    fn error(&mut self, expected: &'static str) -> MapTextError {
        let found = self.peek().to_owned();
        MapTextError { line: self.line, expected, found }
    }
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

    #[test]
    fn line_breaks_do_not_matter() {
        let faces = "( 0 0 1 )\n( 0 1 0 ) ( 1 0 0 ) t 0 0 0 1 1 0 0 0 ";
        let text = format!("{{ \"k\" \"v\" {{ {faces}{faces} }} // x }}\n {{ {faces} }} }}");
        let entities = parse(&text).expect("a map");
        let faces = |i: usize| entities[0].brushes[i].faces.len();
        assert_eq!((faces(0), faces(1), entities[0].brushes[1].line), (2, 1, 4));
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
