use std::path::{Path, PathBuf};

/// A file with the token of one administrator. The file is removed when this value is dropped.
pub struct Administrators(PathBuf);

impl Administrators {
    /// Writes the file; `test` is part of its name.
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("{test}-{}", std::process::id()));
        std::fs::write(&path, "ann 0123456789abcdef01234567\n").unwrap();
        Self(path)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Administrators {
    fn drop(&mut self) {
        // The test may have removed the file itself.
        let _ = std::fs::remove_file(&self.0);
    }
}
