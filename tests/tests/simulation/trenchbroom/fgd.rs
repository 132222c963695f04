//! A reader of entity definitions. It reads only the syntax that `arena.fgd` uses.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

/// The kind of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The entities of the class consist of brushes.
    Solid,
    /// The entities of the class are points.
    Point,
    /// The class has no entities; other classes build on it.
    Base,
}

/// All classes of a file, by name.
#[derive(Debug, Default)]
pub(crate) struct Definitions(BTreeMap<String, Class>);

#[derive(Debug)]
struct Class {
    kind: Kind,
    bases: Vec<String>,
    /// The keys of the class, each with the values to choose from.
    keys: BTreeMap<String, Vec<String>>,
}

impl Definitions {
    /// Reads all classes. Each must have a unique name and build only on earlier ones.
    pub(crate) fn read(text: &str) -> Self {
        let mut tokens = tokens(text).into_iter().peekable();
        let mut definitions = Self::default();
        while let Some(kind) = tokens.next() {
            let kind = match kind.as_str() {
                "@SolidClass" => Kind::Solid,
                "@PointClass" => Kind::Point,
                "@BaseClass" => Kind::Base,
                other => panic!("{other} is not a kind of class"),
            };
            let bases = header(&mut tokens);
            for base in &bases {
                assert_eq!(definitions.kind(base), Some(Kind::Base), "base {base}");
            }
            let name = tokens.next().expect("a class has a name");
            let text = until(&mut tokens, "[");
            let said = text.iter().any(|token| token.len() > 1 && token.starts_with('"'));
            assert!(said || kind == Kind::Base, "{name} is not described");
            let class = Class { kind, bases, keys: keys(&mut tokens) };
            assert!(definitions.0.insert(name.clone(), class).is_none(), "{name} is read twice");
        }
        definitions
    }

    /// The kind of a class; `None` if the file does not describe it.
    pub(crate) fn kind(&self, class: &str) -> Option<Kind> {
        self.0.get(class).map(|class| class.kind)
    }

    /// The keys of a class and of the classes that it builds on, each with the values to choose
    /// from.
    pub(crate) fn keys(&self, class: &str) -> BTreeMap<String, Vec<String>> {
        let class = &self.0[class];
        let mut keys = class.keys.clone();
        for base in &class.bases {
            keys.extend(self.keys(base));
        }
        keys
    }
}

type Tokens = Peekable<IntoIter<String>>;

/// Splits a text into words, marks of one character, and strings with their opening quote.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '/' => {
                rest = rest.split_once('\n').map_or("", |(_, after)| after).trim_start();
                continue;
            }
            '"' => 1 + rest[1..].find('"').expect("a string ends"),
            '(' | ')' | '[' | ']' | '=' | ':' | ',' | '+' => 1,
            _ => {
                let ends = |c: char| c.is_whitespace() || "()[]=:,+\"".contains(c);
                rest.find(ends).unwrap_or(rest.len())
            }
        };
        tokens.push(rest[..end].to_owned());
        rest = rest[end..].strip_prefix('"').filter(|_| first == '"').unwrap_or(&rest[end..]);
        rest = rest.trim_start();
    }
    tokens
}

fn until(tokens: &mut Tokens, end: &str) -> Vec<String> {
    let mut passed = Vec::new();
    loop {
        let token = tokens.next().unwrap_or_else(|| panic!("no {end} after {passed:?}"));
        if token == end {
            return passed;
        }
        passed.push(token);
    }
}

/// The classes on which a class builds. Its size and colour are for the editor, and skipped.
fn header(tokens: &mut Tokens) -> Vec<String> {
    let mut bases = Vec::new();
    while let Some(property) = tokens.next().filter(|token| token != "=") {
        assert_eq!(tokens.next().as_deref(), Some("("), "after {property}");
        let values = until(tokens, ")");
        match property.as_str() {
            "base" => bases.extend(values.into_iter().filter(|value| value != ",")),
            "size" | "color" => {}
            other => panic!("{other} is not a property of a class"),
        }
    }
    bases
}

fn keys(tokens: &mut Tokens) -> BTreeMap<String, Vec<String>> {
    let mut keys = BTreeMap::new();
    while let Some(key) = tokens.next().filter(|token| token != "]") {
        assert_eq!(tokens.next().as_deref(), Some("("), "after {key}");
        until(tokens, ")");
        // A colon comes before every part of the description, and a plus sign before the parts of a
        // continued string.
        while tokens.next_if(|token| token == ":" || token == "+").is_some() {
            let is_part = |token: &String| ![":", "+", "=", "]"].contains(&token.as_str());
            let _ = tokens.next_if(is_part);
        }
        let mut choices = Vec::new();
        if tokens.next_if(|token| token == "=").is_some() {
            assert_eq!(tokens.next().as_deref(), Some("["), "choices of {key}");
            let mut after_colon = false;
            for token in until(tokens, "]") {
                let colon = token == ":";
                if !colon && !after_colon {
                    choices.push(token.trim_start_matches('"').to_owned());
                }
                after_colon = colon;
            }
        }
        assert!(keys.insert(key.clone(), choices).is_none(), "{key} is read twice");
    }
    keys
}
