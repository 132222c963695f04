//! Assembles the programs of the guides in `server/game`, one for each of their steps, so that they
//! are compiled with the tests (`tests/system/guide.rs`).
//!
//! A comment before each block of code says where the block goes: `file` makes the block the whole
//! program, `impl` adds it to the `impl` of the game, and `end` appends it to the file. `replace
//! WORDS` replaces the item that begins with these words by the block; `before WORDS` and `after
//! WORDS` put the block beside this item. `replace use` replaces all lines before the first derive.

use std::path::Path;
use std::{env, fs};

/// Each guide, the name of its programs, and the map that its readers copy into their own package.
const GUIDES: [(&str, &str, &str); 2] =
    [("GUIDE", "step", "sumo"), ("CAPTURE_THE_FLAG", "flag", "capture_the_flag")];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var("OUT_DIR").expect("cargo names a folder");
    for (page, name, map) in GUIDES {
        let page = format!("../server/game/{page}.md");
        println!("cargo::rerun-if-changed={page}");
        let text = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{page}: {error}"));
        let programs = assemble(&text);
        assert_eq!(programs.len(), 10, "{page} must have ten steps");
        for (index, program) in programs.iter().enumerate() {
            let path = Path::new(&folder).join(format!("{name}_{}.rs", index + 1));
            // Here the map is with the examples.
            let there = format!("\"/../server/examples/{map}.map\"");
            let program = program.replace(&format!("\"/{map}.map\""), &there);
            fs::write(path, program).expect("the folder can be written");
        }
    }
}

/// The program of each step of a guide.
fn assemble(text: &str) -> Vec<String> {
    let mut program = String::new();
    let mut programs = Vec::new();
    for (index, step) in text.split("\n### ").skip(1).enumerate() {
        assert!(
            step.starts_with(&format!("{}. ", index + 1)),
            "a step of the guide lacks its number: {step}"
        );
        let step = step.split("\n## ").next().unwrap_or(step);
        for part in step.split("<!-- guide: ").skip(1) {
            let (place, rest) = part.split_once(" -->").expect("the comment ends");
            let block = rest.split_once("```rust").expect("a block of code follows").1;
            let block = block.split_once('\n').expect("the fence ends").1;
            let block = block.split_once("```").expect("the block ends").0;
            program = apply(&program, place, block);
        }
        programs.push(program.clone());
    }
    programs
}

/// Returns the program with a block of code at this place.
fn apply(program: &str, place: &str, block: &str) -> String {
    let (from, to) = match place.split_once(' ').unwrap_or((place, "")) {
        ("file", _) => return block.to_owned(),
        ("end", _) => return format!("{program}\n{block}"),
        ("impl", _) => {
            let start = program.find("impl Game for").expect("the game");
            let end = start + program[start..].find("\n}\n").expect("the impl ends") + 1;
            return format!("{}\n{block}{}", &program[..end], &program[end..]);
        }
        ("replace", "use") => (0, program.find("\n#[derive").expect("a derive") + 1),
        ("replace", words) => item(program, words),
        ("before", words) => (item(program, words).0, item(program, words).0),
        ("after", words) => (item(program, words).1, item(program, words).1),
        _ => panic!("a comment `guide: {place}` is unknown; see tests/build.rs"),
    };
    let gap = if place == "replace use" { "\n" } else { "" };
    format!("{}{block}{gap}{}", &program[..from], &program[to..])
}

/// Start and end of the item that begins with these words, with its attributes and comments.
fn item(program: &str, words: &str) -> (usize, usize) {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in program.split_inclusive('\n') {
        lines.push((at, line));
        at += line.len();
    }
    let begins = |line: &str| {
        let rest = line.trim_start().strip_prefix(words);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    };
    let first = lines.iter().position(|(_, line)| begins(line));
    let first = first.unwrap_or_else(|| panic!("there is no '{words}' in:\n{program}"));
    let (_, line) = lines[first];
    let indent = &line[..line.len() - line.trim_start().len()];
    // A longer item ends with the brace that is indented like its first line.
    let closed = line.trim_end().ends_with([';', ',', '}']);
    let ends = |line: &str| line.trim_end() == format!("{indent}}}");
    let length = if closed { Some(0) } else { lines[first..].iter().position(|(_, l)| ends(l)) };
    let last = first + length.expect("the item ends");
    let above = lines[..first].iter().rev();
    let decorated = above.take_while(|(_, line)| line.trim_start().starts_with(['#', '/'])).count();
    (lines[first - decorated].0, lines[last].0 + lines[last].1.len())
}
