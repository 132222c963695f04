//! Writes a generated map to standard output: `generate rotate IN.map SEED PLACES
//! once|triangles|UNITS`, `generate KIND COUNT SEED` or `generate wide COUNT SEED`.

use oracle::Random;
use oracle::generate::{Faces, Turn, World, rotated, wide};
use oracle::map_text;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u64>().expect("a number");
    match words[..] {
        ["rotate", path, seed, places, faces] => {
            let text = std::fs::read(path).expect("a file");
            let entities = map_text::parse(&String::from_utf8_lossy(&text)).expect("a map");
            let turn = Turn::any(&mut Random::new(number(seed)));
            let faces = match faces {
                "once" => Faces::Once,
                "triangles" => Faces::Triangles,
                fine => Faces::Doubled(
                    fine.parse().expect("`once`, `triangles` or a distance in units"),
                ),
            };
            print!("{}", rotated(&entities, &turn, number(places) as usize, faces));
        }
        ["wide", count, seed] => {
            print!("{}", wide(number(count) as usize, &mut Random::new(number(seed))));
        }
        [kind, count, seed] => {
            let kind = World::ALL.into_iter().find(|k| format!("{k:?}").eq_ignore_ascii_case(kind));
            let text = kind.expect("a kind of world");
            print!("{}", text.text(number(count) as usize, &mut Random::new(number(seed))));
        }
        _ => panic!(
            "usage: generate rotate IN.map SEED PLACES once|triangles|UNITS, \
             generate KIND COUNT SEED, or generate wide COUNT SEED"
        ),
    }
}
