//! `mapc fgd`: definitions of entities for TrenchBroom.

use std::path::PathBuf;
use std::process::Command;

/// The standard output of `mapc fgd`, and its standard error.
fn fgd(arguments: &[&str]) -> (String, String) {
    let mapc = Command::new(env!("CARGO_BIN_EXE_mapc")).arg("fgd").args(arguments).output();
    let output = mapc.expect("mapc runs");
    let text = |bytes| String::from_utf8(bytes).expect("the answer is UTF-8");
    (text(output.stdout), text(output.stderr))
}

/// The `game.toml` of one test, which is removed at the end.
struct GameToml(PathBuf);

impl GameToml {
    fn new(test: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("{test}-{}.toml", std::process::id()));
        std::fs::write(&path, text).expect("a file");
        Self(path)
    }

    fn fgd(&self) -> (String, String) {
        fgd(&[self.0.to_str().expect("a path")])
    }
}

impl Drop for GameToml {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// `RENEW_FGD=1` writes the committed definitions again.
#[test]
fn the_committed_definitions_are_what_mapc_writes() {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/trenchbroom/arena.fgd");
    let (written, complaints) = fgd(&[]);
    assert_eq!(complaints, "");
    if std::env::var_os("RENEW_FGD").is_some() {
        std::fs::write(committed, &written).expect("a file");
    }
    assert_eq!(
        std::fs::read_to_string(committed).expect("a file"),
        written,
        "arena.fgd is not up to date: renew it with RENEW_FGD=1 cargo test -p obsp --test mapc fgd"
    );
}

#[test]
fn a_game_adds_its_classes_and_models() {
    let text = "[movement]\ngravity = 400\n[models]\ngem = 'models/gem.obj'\n\
                [classes.item_gem]\ndescription = 'A \"gem\".'\ncolor = [9, 8, 7]\n\
                size = [[-8, -8, -8], [8, 8, 8]]\nmodel = 'gem'\n\
                [classes.item_gem.keys.worth]\ntype = 'float'\ntitle = 'Worth'\ndefault = 0.5\n";
    let (written, complaints) = GameToml::new("fgd-game", text).fgd();
    assert_eq!(complaints, "");
    let gem = "@PointClass size(-8 -8 -8, 8 8 8) color(9 8 7) \
               model({ \"path\" : \"models/gem.obj\" }) = item_gem :\n    \"A 'gem'.\"\n[\n    \
               worth(float) : \"Worth\" : \"0.5\" : \"\"\n]\n";
    assert!(written.contains(gem), "{written}");
    assert!(written.contains("\"gem\" : \"gem, models/gem.obj\""), "{written}");
    assert!(written.contains(" = prop :"), "{written}");
}

#[test]
fn a_fault_is_told_with_its_place() {
    for (text, expected) in [
        ("[classes.gem]\ncolour = [1, 2, 3]\n", "line 2, column 1"),
        ("[clases.gem]\n", "unknown field `clases`"),
        ("[classes.prop]\nmodel = 'gem'\n", "the server has a class prop already"),
    ] {
        let (written, complaints) = GameToml::new("fgd-wrong", text).fgd();
        assert_eq!(written, "");
        assert!(complaints.contains(expected), "{complaints}");
    }
}
