//! Calls of public functions with extreme numbers: zeros, denormals, numbers whose squares or
//! products overflow, infinities and NaN, alone and in pairs.
//!
//! The list of a crate's functions is read from its sources. So a new function that takes numbers
//! fails the test that includes this file, until the test calls the function. This file depends on
//! the standard library alone, because crates of all layers include it.

use std::collections::BTreeSet;
use std::path::Path;

/// The extreme numbers.
pub(crate) const EXTREMES: [f64; 24] = [
    0.0,
    -0.0,
    // The smallest denormal number, of `f64` and of `f32`, and the smallest normal ones.
    5e-324,
    1e-45,
    f64::MIN_POSITIVE,
    f32::MIN_POSITIVE as f64,
    1e-308,
    -1e-155,
    1e-155,
    1e-30,
    -1e-30,
    -1.0,
    1e30,
    -1e30,
    f32::MAX as f64,
    1e155,
    -1e155,
    1e200,
    1e308,
    -1e308,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// The number of random pairs with which each function is called.
const PAIRS: u64 = 200;

/// The numbers of a call: usual ones, of which some are replaced by extreme ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    /// The replacements: the position of a number in the order in which the call asks for numbers,
    /// and the number that replaces it.
    odd: Vec<(usize, f64)>,
    /// The number that replaces all numbers; `None` if `odd` alone counts.
    all: Option<f64>,
    asked: usize,
}

impl Numbers {
    /// The call's next number: `usual`, unless it is replaced.
    pub(crate) fn f64(&mut self, usual: f64) -> f64 {
        let index = self.asked;
        self.asked += 1;
        let odd = self.odd.iter().find(|(at, _)| *at == index).map(|(_, number)| *number);
        odd.or(self.all).unwrap_or(usual)
    }

    /// [`Self::f64`] rounded to `f32`: the largest numbers become infinite, the smallest zero.
    pub(crate) fn f32(&mut self, usual: f32) -> f32 {
        self.f64(usual.into()) as f32
    }

    /// The next three numbers.
    pub(crate) fn three(&mut self, usual: [f64; 3]) -> [f64; 3] {
        usual.map(|usual| self.f64(usual))
    }

    /// The next three numbers as `f32`.
    pub(crate) fn three_f32(&mut self, usual: [f32; 3]) -> [f32; 3] {
        usual.map(|usual| self.f32(usual))
    }

    /// The next four numbers.
    pub(crate) fn four(&mut self, usual: [f64; 4]) -> [f64; 4] {
        usual.map(|usual| self.f64(usual))
    }

    /// The next number, truncated to a whole one up to `most`: zero if it is negative or NaN.
    pub(crate) fn whole(&mut self, usual: u64, most: u64) -> u64 {
        (self.f64(usual as f64) as u64).min(most)
    }

    /// Whether no number is replaced.
    pub(crate) fn are_usual(&self) -> bool {
        self.odd.is_empty() && self.all.is_none()
    }
}

/// Calls `call` with the usual numbers. Then each extreme number replaces each usual one alone,
/// then all of them together. Then random pairs are replaced. If a call panics, its numbers are
/// printed.
pub(crate) fn exercise(name: &str, seed: u64, mut call: impl FnMut(&mut Numbers)) {
    let mut run = |numbers: Numbers| {
        let mut numbers = numbers;
        let told = Told { name, numbers: numbers.clone() };
        call(&mut numbers);
        drop(told);
        numbers.asked
    };
    let count = run(Numbers::default());
    assert!(count > 0, "the call of {name} takes no number");
    for number in EXTREMES {
        for at in 0..count {
            run(Numbers { odd: vec![(at, number)], ..Numbers::default() });
        }
        run(Numbers { all: Some(number), ..Numbers::default() });
    }
    let mut random = seed;
    let mut below = |count: usize| {
        // SplitMix64.
        random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % count as u64) as usize
    };
    for _ in 0..PAIRS {
        let odd = [(); 2].map(|()| (below(count), EXTREMES[below(EXTREMES.len())]));
        run(Numbers { odd: odd.to_vec(), ..Numbers::default() });
    }
}

/// Prints the numbers of a call that panics.
struct Told<'a> {
    name: &'a str,
    numbers: Numbers,
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{} panicked with {:?}", self.name, self.numbers);
        }
    }
}

/// A public function that takes numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function {
    /// Name of the function; for a method, with the name of the type before it: `World::sweep`.
    pub(crate) name: String,
    /// Parameters of the function, as they stand in the source.
    pub(crate) parameters: String,
}

/// The public functions in a crate's `src` whose parameters name one of `types`. Sources below the
/// paths `skipped` and methods of traits are left out.
pub(crate) fn functions(crate_folder: &str, skipped: &[&str], types: &[&str]) -> Vec<Function> {
    let mut files = Vec::new();
    let source = Path::new(crate_folder).join("src");
    collect(&source, &mut files);
    let mut found = BTreeSet::new();
    for file in files {
        let inside = file.strip_prefix(&source).expect("the file is in the folder");
        let inside = inside.to_str().expect("the name of a source is UTF-8");
        if skipped.iter().any(|skipped| inside.starts_with(skipped)) {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a source can be read");
        read(&text, types, &mut found);
    }
    found.into_iter().collect()
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder of sources can be read") {
        let path = entry.expect("the entry of the folder can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// Adds the functions in the text of a source.
fn read(text: &str, types: &[&str], found: &mut BTreeSet<Function>) {
    let mut owner = String::new();
    let mut rest = text;
    while let Some(line_end) = rest.find('\n') {
        let line = &rest[..line_end];
        // The macro `forward!` defines methods by their signatures.
        let line = line.strip_prefix("forward! { ").unwrap_or(line);
        if line.starts_with("impl") && !line.contains(" for ") {
            owner = owner_of(line);
        } else if line.starts_with('}') {
            owner.clear();
        }
        let declared = line.trim_start();
        if let Some(after) = declaration(declared) {
            let name: String =
                after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let at = rest.find(after).unwrap_or_default();
            let parameters = parenthesised(&rest[at + name.len()..]);
            let words = |c: char| !(c.is_alphanumeric() || c == '_');
            if parameters.split(words).any(|word| types.contains(&word)) {
                let path = if owner.is_empty() { name } else { format!("{owner}::{name}") };
                found.insert(Function { name: path, parameters });
            }
        }
        rest = &rest[line_end + 1..];
    }
}

/// The text after `fn` in the declaration of a public function.
fn declaration(line: &str) -> Option<&str> {
    let after = line.strip_prefix("pub ")?;
    let words = ["const ", "async ", "unsafe ", "extern \"C\" "];
    let mut after = after;
    while let Some(next) = words.iter().find_map(|word| after.strip_prefix(word)) {
        after = next;
    }
    after.strip_prefix("fn ")
}

/// The type of the `impl` block that begins on this line.
fn owner_of(line: &str) -> String {
    let after = line.trim_start_matches("impl");
    let after = match after.strip_prefix('<') {
        // The block's own parameters, in which no angle brackets are nested.
        Some(generic) => generic.split_once('>').map_or("", |(_, after)| after),
        None => after,
    };
    let name = after.trim_start().rsplit("::").next().unwrap_or_default();
    name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The text between the first parenthesis of a text and the one that closes it.
fn parenthesised(text: &str) -> String {
    let Some(begin) = text.find('(') else { return String::new() };
    let mut depth = 0;
    for (at, character) in text[begin..].char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text[begin + 1..begin + at].split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }
    String::new()
}
