//! The reader of maps: entities, brushes in Standard, Valve 220 and `brushDef` form, curves.
//!
//! Of a face, only the plane, the name of the texture and the flags matter here. The alignment of
//! the texture is checked and left out.

use glam::DVec3;

use super::curves::Curve;
use super::map::{CurveText, Flags, SourceBrush, SourceEntity, SourceFace, Texture};
use super::syntax_error::SyntaxError;
use super::tokens::{Token, TokenKind, Tokens, tokens};

/// The parts of a map's text.
#[derive(Default)]
pub(super) struct Read {
    pub(super) entities: Vec<SourceEntity>,
    /// The curves, which become brushes on request.
    pub(super) curves: Vec<CurveText>,
    /// Line of the first `brushDef` or curve, which only Quake III has.
    pub(super) primitives: Option<u64>,
}

type Result<T> = std::result::Result<T, SyntaxError>;

const MAP: &str = "a map is a list of entities in braces, without anything between them; a text \
                   that begins with another word may be of another game: save it in Valve 220 \
                   or Quake 3 format";

const ENTITY: &str = "a quotation mark inside a string may lack the backslash that TrenchBroom \
                      writes before it, or a brace may be missing above";

const BRUSH: &str = "a brush is a list of faces: ( x y z ) ( x y z ) ( x y z ), a texture and its \
                     alignment; a brace may be missing above";

const UNKNOWN_BRUSH: &str =
    "brushes of this kind are not supported; save the map in Valve 220 or Quake 3 format";

/// Beginnings of the names of brushes and curves of other games.
const OTHER_BRUSHES: [&[u8]; 5] =
    [b"brushdef", b"patchdef", b"patchterrain", b"terraindef", b"mesh"];

const NUMBER: &str = "numbers are decimal, such as -12, 0.125 or 1.5e-07, with blanks around them; \
                      a word may be missing before this one";

const TEXTURE: &str =
    "every face has a texture; a name that is a brace or parenthesis alone cannot be read";

const FLAGS: &str = "the first two of the numbers behind the alignment are flags of 32 bits; the \
                     editor may have written another value there: set the face's flags again";

/// Reads a map.
pub(super) fn read(text: &[u8]) -> Result<Read> {
    // Some programs also write the NUL that ends a string of C. Lumps of compiled maps have it.
    let nuls = text.iter().rev().take_while(|&&byte| byte == 0).count();
    let text = &text[..text.len() - nuls];
    if let Some(at) = text.iter().position(|&byte| byte == 0) {
        return Err(SyntaxError::at_nul(text, at));
    }
    let mut words = Words { text, tokens: tokens(text), next: None };
    let mut read = Read::default();
    while words.peek().is_some() {
        let line = words.expect(b"{", "the opening brace of an entity", MAP)?.line;
        let index = read.entities.len();
        let entity = words.entity(line, index, &mut read)?;
        read.entities.push(entity);
    }
    Ok(read)
}

/// The words of a text, with one word of look-ahead.
struct Words<'a> {
    text: &'a [u8],
    tokens: Tokens<'a>,
    next: Option<Token<'a>>,
}

impl<'a> Words<'a> {
    fn peek(&mut self) -> Option<Token<'a>> {
        if self.next.is_none() {
            self.next = self.tokens.next();
        }
        self.next
    }

    fn take(&mut self) -> Option<Token<'a>> {
        let token = self.peek();
        self.next = None;
        token
    }

    /// Whether the next word is `word`, without quotation marks.
    fn is(&mut self, word: &[u8]) -> bool {
        self.peek().is_some_and(|token| token.text == word)
    }

    fn error(&mut self, expected: &'static str, hint: &'static str) -> SyntaxError {
        let token = self.peek();
        SyntaxError::new(self.text, token, expected, hint)
    }

    fn expect(
        &mut self,
        word: &[u8],
        expected: &'static str,
        hint: &'static str,
    ) -> Result<Token<'a>> {
        match self.peek() {
            Some(token) if token.text == word => {
                self.next = None;
                Ok(token)
            }
            _ => Err(self.error(expected, hint)),
        }
    }

    fn string(&mut self, expected: &'static str) -> Result<String> {
        match self.peek().and_then(|token| token.string()) {
            Some(string) => {
                self.next = None;
                Ok(string)
            }
            None => Err(self.error(expected, ENTITY)),
        }
    }

    fn number(&mut self) -> Result<f64> {
        match self.peek().and_then(|token| token.number()) {
            Some(number) => {
                self.next = None;
                Ok(number)
            }
            None => Err(self.error("a number", NUMBER)),
        }
    }

    /// Reads a number of the alignment. The number need not be finite, because the alignment is
    /// left out.
    fn aligning(&mut self) -> Result<()> {
        if self.peek().is_some_and(|token| token.is_aligning()) {
            self.next = None;
            return Ok(());
        }
        Err(self.error("a number", NUMBER))
    }

    /// Reads an entity whose opening brace, on `line`, has already been read.
    fn entity(&mut self, line: u64, index: usize, read: &mut Read) -> Result<SourceEntity> {
        let mut entity = SourceEntity { line, pairs: Vec::new(), brushes: Vec::new() };
        loop {
            match self.peek() {
                Some(token) if token.kind == TokenKind::Quoted => {
                    let key = self.string("a key")?;
                    let value = self.string("the value of the key, in quotation marks,")?;
                    entity.pairs.push((key, value));
                }
                Some(Token { text: b"{", line, .. }) => {
                    self.next = None;
                    if let Some(brush) = self.brush(line, index, read)? {
                        entity.brushes.push(brush);
                    }
                }
                _ => {
                    self.expect(b"}", "a key, a brush or a closing brace", ENTITY)?;
                    return Ok(entity);
                }
            }
        }
    }

    /// Reads a brush whose opening brace, on `line`, has already been read; `None` if it is a
    /// curve.
    fn brush(&mut self, line: u64, entity: usize, read: &mut Read) -> Result<Option<SourceBrush>> {
        let name = self.peek().map(|name| name.text.to_ascii_lowercase()).unwrap_or_default();
        let faces = match name.as_slice() {
            b"patchdef2" | b"patchdef3" => {
                read.primitives.get_or_insert(line);
                let curve = self.block()?;
                let curve = Curve::read(line, &curve);
                read.curves.push(CurveText { line, entity, curve });
                return Ok(None);
            }
            b"brushdef" => {
                read.primitives.get_or_insert(line);
                self.next = None;
                self.expect(b"{", "the opening brace of a brushDef", BRUSH)?;
                let faces = self.faces()?;
                self.expect(b"}", "the closing brace of the brush", BRUSH)?;
                faces
            }
            name if OTHER_BRUSHES.iter().any(|other| name.starts_with(other)) => {
                return Err(self.error("a face, brushDef or patchDef2", UNKNOWN_BRUSH));
            }
            _ => self.faces()?,
        };
        Ok(Some(SourceBrush { line, faces }))
    }

    /// Reads the block and its closing brace. Returns the words before the brace.
    fn block(&mut self) -> Result<Vec<Token<'a>>> {
        let (mut depth, mut words) = (1, Vec::new());
        loop {
            let Some(word) = self.take() else {
                return Err(self.error("the closing brace of a curve", BRUSH));
            };
            match word.text {
                b"{" => depth += 1,
                b"}" => depth -= 1,
                _ => (),
            }
            if depth == 0 {
                return Ok(words);
            }
            words.push(word);
        }
    }

    /// Reads the faces of a brush and its closing brace.
    fn faces(&mut self) -> Result<Vec<SourceFace>> {
        let mut faces = Vec::with_capacity(6);
        while self.is(b"(") {
            faces.push(self.face()?);
        }
        let expected = "a face or the closing brace of the brush";
        self.expect(b"}", expected, BRUSH).map(|_| faces)
    }

    fn face(&mut self) -> Result<SourceFace> {
        let points = [self.point()?, self.point()?, self.point()?];
        let matrix = self.is(b"(");
        if matrix {
            self.list(b"(", 2, b")", &mut |words| words.list(b"(", 3, b")", &mut Self::aligning))?;
        }
        let punctuation = |token: &Token<'_>| b"(){}[]".windows(1).any(|p| p == token.text);
        let name = match self.peek() {
            Some(token) if token.kind != TokenKind::Unclosed && !punctuation(&token) => {
                self.next = None;
                token.name()
            }
            _ => return Err(self.error("the name of a texture", TEXTURE)),
        };
        if !matrix {
            self.alignment()?;
        }
        let flags = self.flags()?;
        Ok(SourceFace { points, texture: Texture { name, flags } })
    }

    fn point(&mut self) -> Result<DVec3> {
        self.expect(b"(", "the opening parenthesis of a point", BRUSH)?;
        let point = DVec3::new(self.number()?, self.number()?, self.number()?);
        self.expect(b")", "the closing parenthesis of a point", BRUSH)?;
        Ok(point)
    }

    /// Reads `count` parts between `open` and `close`.
    fn list(
        &mut self,
        open: &[u8],
        count: usize,
        close: &[u8],
        part: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.expect(open, "an opening parenthesis or bracket of the alignment", BRUSH)?;
        for _ in 0..count {
            part(self)?;
        }
        self.expect(close, "the closing parenthesis or bracket of the alignment", BRUSH)?;
        Ok(())
    }

    /// Reads an alignment: offsets, rotation and scales; or two axes with their offsets,
    /// rotation and scales.
    fn alignment(&mut self) -> Result<()> {
        let axes = self.is(b"[");
        if axes {
            for _ in 0..2 {
                self.list(b"[", 4, b"]", &mut Self::aligning)?;
            }
        }
        for _ in 0..if axes { 3 } else { 5 } {
            self.aligning()?;
        }
        Ok(())
    }

    /// Reads the numbers behind the alignment: flags of the contents, flags of the surface, and
    /// further numbers that do not matter. A single number is no flag: in Hexen 2 it is light.
    fn flags(&mut self) -> Result<Option<Flags>> {
        let (mut flags, mut count) = (Flags::default(), 0);
        while let Some(number) = self.peek().and_then(|token| token.number()) {
            // Numbers are truncated, as by id's tools: 0.5 is 0. The highest bit may be written
            // as a minus sign.
            let whole = number.trunc();
            let bits = if (0.0..=f64::from(u32::MAX)).contains(&whole) {
                Some(whole as u32)
            } else if (f64::from(i32::MIN)..0.0).contains(&whole) {
                Some((whole as i32).cast_unsigned())
            } else {
                None
            };
            match (count, bits) {
                (0, Some(bits)) => flags.contents = bits,
                (1, Some(bits)) => flags.surface = bits,
                (0 | 1, None) => return Err(self.error("flags of the face", FLAGS)),
                _ => (),
            }
            self.next = None;
            count += 1;
        }
        Ok((count > 1).then_some(flags))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: &str = "( 0 0 1 ) ( 0 1 0 ) ( 1 0 0 )";

    /// The name of a texture, and its flags.
    type Drawn = (String, Option<(u32, u32)>);

    /// The faces of all brushes.
    fn faces(text: &str) -> Vec<Vec<Drawn>> {
        let read = read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        let brushes = read.entities.iter().flat_map(|entity| &entity.brushes);
        let face = |face: &SourceFace| {
            assert_eq!(face.points, [DVec3::Z, DVec3::Y, DVec3::X]);
            let flags = face.texture.flags.map(|flags| (flags.contents, flags.surface));
            (face.texture.name.clone(), flags)
        };
        brushes.map(|brush| brush.faces.iter().map(face).collect()).collect()
    }

    #[test]
    fn every_form_of_face_is_read_with_its_flags() {
        let text = format!(
            "{{\n{{\n{POINTS} {{tex 0 0 0 1 1\n{POINTS} t [ 1 0 0 0 ] [ 0 1 0 0 ] 0 1 1\n\
             {POINTS} q2/a 0 0 0 1 1 134217760 0.5 0\n\
             {POINTS} q2/b [ 1 0 0 0 ] [ 0 1 0 0 ] 0 1 1 -2147483648 128.000 0 17 17 17\n\
             {POINTS} hexen2 0 0 0 1 1 0\n{POINTS} 128 +20 20. 2e1 2.0e+001 -.5\n\
             {POINTS} \"a \\\"b\\\" c\" 0 0 0 1 1 4294967295 4294967295\n\
             }}\n{{\nbrushDef\n{{\n{POINTS} ( ( 1 0 0 ) ( 0 1 0 ) ) base/wall 0 0 0\n\
             {POINTS} ( ( 1 0 0 ) ( 0 1 0 ) ) base//wall\n}}\n}}\n}}\n"
        );
        let plain = |name: &str| (name.to_owned(), None);
        let flagged = |name: &str, c, s| (name.to_owned(), Some((c, s)));
        assert_eq!(
            faces(&text),
            [
                vec![
                    plain("{tex"),
                    plain("t"),
                    flagged("q2/a", 134_217_760, 0),
                    flagged("q2/b", 0x8000_0000, 128),
                    plain("hexen2"),
                    plain("128"),
                    flagged("a \"b\" c", u32::MAX, u32::MAX),
                ],
                vec![flagged("base/wall", 0, 0), plain("base//wall")],
            ]
        );
    }

    /// In an earlier version, an alignment that is no number made the map unreadable, although
    /// alignments are left out.
    #[test]
    fn an_alignment_that_is_not_finite_loses_no_brush() {
        let text = format!(
            "{{\n{{\n{POINTS} a -nan nan 0 inf 1\n\
             {POINTS} b [ nan 0 0 0 ] [ 0 -1.#IND 0 0 ] 0 1 -nan(ind) 1 0 0\n}}\n\
             {{\nbrushDef\n{{\n{POINTS} ( ( nan 0 0 ) ( 0 inf 0 ) ) c 0 0 0\n}}\n}}\n}}\0\0"
        );
        let flagged = |name: &str, contents| (name.to_owned(), Some((contents, 0)));
        let brushes = vec![("a".to_owned(), None), flagged("b", 1)];
        assert_eq!(faces(&text), [brushes, vec![flagged("c", 0)]]);
    }

    #[test]
    fn curves_are_taken_out_and_counted() {
        let curve = "{\npatchDef2\n{\nbase/wall\n( 3 3 0 0 0 )\n(\n( ( 0 0 0 0 0 ) )\n)\n}\n}\n";
        let text = format!("{{\n{curve}{{\n{POINTS} t 0 0 0 1 1\n}}\n{curve}}}\n");
        let read = read(text.as_bytes()).expect("the map is read");
        assert_eq!(read.entities[0].brushes.len(), 1);
        let curves = read.curves.iter().map(|c| (c.line, c.entity)).collect::<Vec<_>>();
        assert_eq!((curves, read.primitives), (vec![(2, 0), (15, 0)], Some(2)));
    }

    #[test]
    fn errors_name_the_line_the_column_and_the_text() {
        let face = format!("{POINTS} t 0 0 0 1 1");
        for (text, line, column, seen, expected) in [
            ("}".to_owned(), 1, 1, "\"}\"", "opening brace of an entity"),
            ("Version 2\n{".to_owned(), 1, 1, "\"Version\"", "opening brace of an entity"),
            ("{\n\"a\" \"b\" c".to_owned(), 2, 9, "\"c\"", "a key, a brush"),
            ("{\n\"a\"\n}".to_owned(), 3, 1, "\"}\"", "the value of the key"),
            ("{\n\"ä\" \"b".to_owned(), 2, 5, "\"\\\"b\"", "the value of the key"),
            ("{\n\"a\" \"b\"\n".to_owned(), 3, 1, "the text ends", "closing brace"),
            ("{\r{\r( 0 0 zero )".to_owned(), 3, 7, "\"zero\"", "a number"),
            ("{\r\n{\r\n( 0 0x1 0 )".to_owned(), 3, 5, "\"0x1\"", "a number"),
            ("{ {\n( 0 inf 0 )".to_owned(), 2, 5, "\"inf\"", "a number"),
            ("{ {\n( 0 nan 0 )".to_owned(), 2, 5, "\"nan\"", "a number"),
            ("{ {\n( 0,5 1 0 )".to_owned(), 2, 3, "\"0,5\"", "a number"),
            (format!("{{ {{\n{POINTS} {{ 0 0 0 1 1 }} }}"), 2, 31, "\"{\"", "name of a texture"),
            (format!("{{ {{\n{face} detail }} }}"), 2, 43, "\"detail\"", "a face or the closing"),
            (format!("{{ {{\n{face} 4294967296 0 }} }}"), 2, 43, "\"4294967296\"", "flags"),
            (format!("{{ {{\n{face} 0 -2147483649 }} }}"), 2, 45, "\"-2147483649\"", "flags"),
            (
                "{\n{\nbrushDef3\n{\n} } }".to_owned(),
                3,
                1,
                "\"brushDef3\"",
                "brushDef or patchDef2",
            ),
            ("{ { terrainDef {".to_owned(), 1, 5, "\"terrainDef\"", "brushDef or patchDef2"),
            ("{\n{\npatchDef2 {".to_owned(), 3, 12, "the text ends", "brace of a curve"),
            ("{\n\"a\" \"\0\" }".to_owned(), 2, 6, "\"\\0\"", "text is expected"),
        ] {
            let error = read(text.as_bytes()).map(drop).expect_err(&text);
            assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
            let error = error.to_string();
            assert!(error.starts_with(seen) && error.contains(expected), "{text}: {error}");
            assert!(error.contains("; "), "a cause or way out: {error}");
        }
        let long =
            read(format!("{}\n", "ä".repeat(1000)).as_bytes()).map(drop).expect_err("no map");
        assert!(long.to_string().starts_with(&format!("\"{}…\" was", "ä".repeat(40))), "{long}");
    }

    #[test]
    fn broken_text_never_panics() {
        let text = format!(
            "{{ \"a\\\"\" \"b\\\" {{ brushDef {{ {POINTS} ( ( 1 0 0 ) ( 0 1 0 ) ) t 0 0 0 }} }} \
             {{ patchDef2 {{ ( 1 ) }} }} {{ {POINTS} \"t\" [ 1 0 0 0 ] [ 0 1 0 0 ] 0 1 1 1 }} }}"
        );
        for end in 0..text.len() {
            let _ = read(&text.as_bytes()[..end]);
            let _ = read(&text.as_bytes()[end..]);
        }
    }
}
