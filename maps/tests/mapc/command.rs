//! Runs `mapc` in a folder of its own, on maps of few brushes.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder that is removed when the test is over.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mapc-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the test's folder can be made");
        Self(path)
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("the test can write to its folder");
        path.display().to_string()
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If this fails, the leftovers in the temporary folder do no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the command with this input.
pub(crate) fn mapc(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mapc"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program mapc was built");
    // A command that fails early need not read its input.
    let _ =
        child.stdin.take().expect("the input of the process is a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("mapc ends")
}

/// Runs the command, which has to succeed. Returns its output.
pub(crate) fn done(arguments: &[&str], input: &str) -> String {
    let output = mapc(arguments, input);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("answers are UTF-8")
}

/// Runs the command, which has to end with this code. Returns its messages.
pub(crate) fn refused(arguments: &[&str], input: &str, code: i32) -> String {
    let output = mapc(arguments, input);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    String::from_utf8(output.stderr).expect("messages are UTF-8")
}

/// A cube of 64 units about the origin.
pub(crate) const CUBE: &str = "{
( -32 -32 32 ) ( -32 32 32 ) ( 32 -32 32 ) x 0 0 0 1 1
( -32 -32 -32 ) ( 32 -32 -32 ) ( -32 32 -32 ) x 0 0 0 1 1
( 32 -32 -32 ) ( 32 -32 32 ) ( 32 32 -32 ) x 0 0 0 1 1
( -32 -32 -32 ) ( -32 32 -32 ) ( -32 -32 32 ) x 0 0 0 1 1
( -32 32 -32 ) ( 32 32 -32 ) ( -32 32 32 ) x 0 0 0 1 1
( -32 -32 -32 ) ( -32 -32 32 ) ( 32 -32 -32 ) x 0 0 0 1 1
}
";

/// The text of a map with these brushes.
pub(crate) fn map(brushes: &str) -> String {
    format!("{{\n\"classname\" \"worldspawn\"\n{brushes}}}\n")
}
