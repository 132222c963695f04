//! Writes the shipped models to files, for people who check a match's dump with other programs.

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use obsp::model::{Model, shipped};

/// The options of `server models`.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ModelsOptions {
    /// Write each model to DIR as a Wavefront OBJ file, with its centre of mass at the origin
    #[arg(long, value_name = "DIR")]
    pub obj: PathBuf,
}

/// Writes every shipped model to a file, with its centre of mass at the origin, as in the
/// simulation. Returns the paths of the files.
///
/// The brush models of a map, such as `*3`, are not written: the text of the map has their brushes
/// (`*3` is its third brush entity), and some systems do not allow `*` in the name of a file.
/// Models of items are not written either, because they are pictures without bodies.
///
/// # Errors
/// A file cannot be written.
pub fn write_models(options: &ModelsOptions) -> io::Result<Vec<PathBuf>> {
    std::fs::create_dir_all(&options.obj)?;
    shipped().iter().map(|model| write_model(model, &options.obj)).collect()
}

fn write_model(model: &Model, folder: &Path) -> io::Result<PathBuf> {
    let path = folder.join(format!("{}.obj", model.name()));
    std::fs::write(&path, obj(model))?;
    Ok(path)
}

/// The model as Wavefront OBJ. Reading its numbers gives the same bits again.
fn obj(model: &Model) -> String {
    let mut vertices: Vec<glam::DVec3> = Vec::new();
    let (mut text, mut faces) = (format!("o {}\n", model.name()), String::new());
    for polygon in model.polygons() {
        faces.push('f');
        for corner in &polygon.winding.vertices {
            let known = vertices.iter().position(|vertex| vertex == corner);
            let index = known.unwrap_or_else(|| {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "v {} {} {}", corner.x, corner.y, corner.z);
                vertices.push(*corner);
                vertices.len() - 1
            });
            let _ = write!(faces, " {}", index + 1);
        }
        faces.push('\n');
    }
    text + &faces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_written_text_is_the_model() {
        for model in shipped() {
            let again = Model::from_obj(model.name(), &obj(&model)).unwrap();
            assert_eq!(again.polygons().len(), model.polygons().len(), "{}", model.name());
            assert!((again.volume() - model.volume()).abs() < 1e-3 * model.volume());
        }
    }
}
