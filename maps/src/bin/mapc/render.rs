//! `mapc render`: a picture of a map from above, for its designer.
//!
//! `survey` finds the floor in every column of the world, and `view` maps pixels to columns.
//! `ground` paints floors, `entities` paints the entities on them, and `legend` explains both at
//! the side. All draw on a `canvas`.

mod canvas;
mod entities;
mod ground;
mod legend;
mod survey;
mod view;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use obsp::Map;

use crate::arguments::keep_apart;
use crate::queries::find;
use canvas::Canvas;
use survey::Survey;
use view::View;

/// Draws an .obsp from above
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The compiled map
    map: PathBuf,
    /// Output file
    #[arg(short, long, value_name = "OUT.png")]
    output: PathBuf,
    /// Mark floors on which a box of the size with this name has no room
    #[arg(long, value_name = "NAME")]
    space: Option<String>,
    /// Cut the world open at this height [default: no cut; roofs are left out]
    #[arg(long, value_name = "Z", allow_negative_numbers = true,
          value_parser = height)]
    height: Option<f64>,
    /// Longer side of the map in the picture, in pixels
    #[arg(long, value_name = "PX", default_value_t = 1024,
          value_parser = clap::value_parser!(u32).range(64..=8192))]
    size: u32,
}

fn height(text: &str) -> Result<f64, String> {
    let height = text.parse().ok().filter(|height: &f64| height.is_finite());
    height.ok_or_else(|| "it must be a finite number of units".to_owned())
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    keep_apart(&arguments.map, &arguments.output)?;
    let map = Map::load(&arguments.map)?;
    let space = arguments.space.as_deref();
    let space = space.map(|name| find(&map, name, &arguments.map)).transpose()?;
    let view = View::new(&Survey::frame(&map, arguments.height), arguments.size);
    // The bar is hidden if standard error is not a terminal.
    let style = ProgressStyle::with_template("surveying {wide_bar} {percent:>3} %  {elapsed}")?;
    let bar = ProgressBar::new(u64::from(view.height)).with_style(style);
    let survey = Survey::take(&map, &view, arguments.height, space, |row| {
        bar.set_position(u64::from(row));
    });
    bar.finish_and_clear();
    let mut canvas = Canvas::new(view.picture_width(), view.picture_height());
    ground::paint(&mut canvas, &view, &survey);
    let counts = entities::paint(&mut canvas, &view, &map, arguments.height);
    let space = space.map(|id| &map.sizes()[id.index()]);
    legend::paint(&mut canvas, &view, &survey, &map, space, arguments.height, &counts);
    save(&canvas, &arguments.output)
        .with_context(|| format!("cannot write {}", arguments.output.display()))?;
    writeln!(
        io::stdout(),
        "{}: {} x {} pixels",
        arguments.output.display(),
        canvas.width(),
        canvas.height()
    )?;
    Ok(())
}

fn save(canvas: &Canvas, path: &Path) -> Result<()> {
    let mut encoder =
        png::Encoder::new(BufWriter::new(File::create(path)?), canvas.width(), canvas.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&canvas.bytes())?;
    writer.finish()?;
    Ok(())
}
