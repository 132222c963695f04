//! A reader of Quake `.map` text that keeps every coordinate exact: decimals
//! are integers over a power of ten, however long.

mod number;

pub use number::Decimal;

/// One entity: its keys, and its brushes in their order.
#[derive(Clone, Debug, Default)]
pub struct Entity {
    /// Keys and values as written.
    pub pairs: Vec<(String, String)>,
    /// The entity's brushes.
    pub brushes: Vec<Brush>,
}

/// One brush: its faces as written, and where it begins.
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

/// Reads a map. Faces are one to a line, as every editor writes them; what
/// follows the texture's name on the line does not bear on solidity.
///
/// # Panics
/// On text of any other form, with the line: an oracle has no use for a guess.
pub fn parse(text: &str) -> Vec<Entity> {
    let mut entities: Vec<Entity> = Vec::new();
    let mut depth = 0;
    for (number, line) in text.lines().enumerate() {
        let (number, line) = (number + 1, line.trim());
        let current = || panic!("line {number}: nothing is open here: {line}");
        match line.chars().next() {
            None | Some('/') => {}
            Some('{') => {
                depth += 1;
                match depth {
                    1 => entities.push(Entity::default()),
                    2 => entities
                        .last_mut()
                        .unwrap_or_else(current)
                        .brushes
                        .push(Brush { line: number, faces: Vec::new() }),
                    _ => panic!("line {number}: a brace too many"),
                }
            }
            Some('}') => depth -= 1,
            Some('"') => {
                let mut parts = line.split('"');
                let pair = (parts.nth(1), parts.nth(1));
                let (Some(key), Some(value)) = pair else { panic!("line {number}: no pair") };
                let entity = entities.last_mut().unwrap_or_else(|| panic!("line {number}"));
                entity.pairs.push((key.to_owned(), value.to_owned()));
            }
            Some('(') => {
                let brush = entities.last_mut().and_then(|e| e.brushes.last_mut());
                let face = face(line).unwrap_or_else(|| panic!("line {number}: no face: {line}"));
                brush.unwrap_or_else(|| panic!("line {number}: no brush")).faces.push(face);
            }
            Some(_) => panic!("line {number}: neither key, face, brace nor comment: {line}"),
        }
    }
    assert_eq!(depth, 0, "braces do not balance");
    entities
}

fn face(line: &str) -> Option<FaceText> {
    let mut words = line.split_whitespace();
    let mut point = || {
        (words.next()? == "(").then_some(())?;
        let point = [(); 3].map(|()| words.next().and_then(Decimal::parse));
        (words.next()? == ")").then_some(())?;
        let [x, y, z] = point;
        Some([x?, y?, z?])
    };
    let points = [point()?, point()?, point()?];
    Some(FaceText { points, texture: words.next()?.to_owned() })
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
        let entities = parse(text);
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
    #[should_panic(expected = "line 4: no face")]
    fn a_broken_face_is_named() {
        parse("{\n{\n\n( 0 0 ) ( 0 1 0 ) ( 1 0 0 ) tex\n}\n}\n");
    }
}
