//! Assembles the programs of the guide in `server/game/GUIDE.md`, one for each of its steps,
//! so that they are compiled with the tests (`tests/guide.rs`).
//!
//! A comment before each block of code says where the block goes: `file` makes the block the whole
//! program, `impl` adds it to the `impl` of the game, and `end` appends it to the file. `replace
//! WORDS` puts the block in the place of the item that begins with these words. `replace use`
//! replaces all lines before the first derive.

use std::path::Path;
use std::{env, fs};

fn main() {
    let guide = Path::new("../server/game/GUIDE.md");
    println!("cargo::rerun-if-changed={}", guide.display());
    println!("cargo::rerun-if-changed=build.rs");
    let text = fs::read_to_string(guide).expect("the guide can be read");
    let folder = env::var("OUT_DIR").expect("cargo names a folder");
    let mut program = String::new();
    let steps: Vec<&str> = text.split("\n### ").skip(1).collect();
    for (index, step) in steps.iter().enumerate() {
        assert!(
            step.starts_with(&format!("{}. ", index + 1)),
            "a step of the guide lacks its number: {step}"
        );
        let step = step.split("\n## ").next().unwrap_or(step);
        for part in step.split("<!-- guide: ").skip(1) {
            let (place, rest) = part.split_once(" -->").expect("the comment ends");
            let block = rest.split_once("```rust,ignore\n").expect("a block of code follows").1;
            let block = block.split_once("```").expect("the block ends").0;
            program = apply(&program, place, block);
        }
        let path = Path::new(&folder).join(format!("step_{}.rs", index + 1));
        // A reader of the guide copies the map into their own package. Here the map is with the
        // examples.
        let program = program.replace("\"/sumo.map\"", "\"/../server/examples/sumo.map\"");
        fs::write(path, program).expect("the folder can be written");
    }
    assert_eq!(steps.len(), 10, "the guide must have ten steps");
}

/// Returns the program with a block of code at this place.
fn apply(program: &str, place: &str, block: &str) -> String {
    let (from, to) = match place {
        "file" => return block.to_owned(),
        "end" => return format!("{program}\n{block}"),
        "impl" => {
            let start = program.find("impl Game for").expect("the game");
            let end = start + program[start..].find("\n}\n").expect("the impl ends") + 1;
            return format!("{}\n{block}{}", &program[..end], &program[end..]);
        }
        "replace use" => (0, program.find("\n#[derive").expect("a derive") + 1),
        _ => item(program, place.strip_prefix("replace ").expect("a place")),
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
    let closed = line.trim_end().ends_with([';', '}']);
    let ends = |line: &str| line.trim_end() == format!("{indent}}}");
    let length = if closed { Some(0) } else { lines[first..].iter().position(|(_, l)| ends(l)) };
    let last = first + length.expect("the item ends");
    let above = lines[..first].iter().rev();
    let decorated = above.take_while(|(_, line)| line.trim_start().starts_with(['#', '/'])).count();
    (lines[first - decorated].0, lines[last].0 + lines[last].1.len())
}
