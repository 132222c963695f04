//! `mapc points` and `mapc traces`: queries from standard input.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use glam::{DVec3, Vec3};
use obsp::body::{Cuboid, Cylinder, Sphere};
use obsp::{Map, Size, SizeId, Trace, clip_to_extent};
use serde::Serialize;

use crate::arguments::Usage;

#[derive(clap::Args)]
pub(crate) struct PointsArguments {
    /// The compiled map
    map: PathBuf,
    /// The name of the box's size in spaces.toml
    #[arg(long, value_name = "NAME")]
    space: String,
}

#[derive(clap::Args)]
pub(crate) struct TracesArguments {
    /// The compiled map
    map: PathBuf,
    #[command(flatten)]
    body: Body,
}

/// The body to trace, described about its centre. All numbers are in units.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Body {
    /// A box of the size with this name, traced exactly
    #[arg(long, value_name = "NAME")]
    space: Option<String>,
    /// A ball of this radius, traced through the shifted planes
    #[arg(long, value_name = "R", value_parser = sphere, allow_negative_numbers = true)]
    sphere: Option<Sphere>,
    /// An upright cylinder, traced through the shifted planes
    #[arg(long, value_name = "R,HALFHEIGHT", value_parser = cylinder)]
    cylinder: Option<Cylinder>,
    /// A box of these half extents, traced through the shifted planes
    #[arg(long, value_name = "X,Y,Z", value_parser = cuboid)]
    r#box: Option<Cuboid>,
}

fn sphere(text: &str) -> Result<Sphere, String> {
    let [radius] = numbers(text)?;
    Sphere::new(radius).map_err(|error| error.to_string())
}

fn cylinder(text: &str) -> Result<Cylinder, String> {
    let [radius, half_height] = numbers(text)?;
    Cylinder::new(radius, half_height).map_err(|error| error.to_string())
}

fn cuboid(text: &str) -> Result<Cuboid, String> {
    let half_extents: [f32; 3] = numbers(text)?;
    Cuboid::new(half_extents.into()).map_err(|error| error.to_string())
}

fn numbers<const N: usize>(text: &str) -> Result<[f32; N], String> {
    let numbers: Option<Vec<f32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
    numbers.ok_or_else(|| format!("expected {N} numbers, separated by commas"))
}

#[derive(Serialize)]
struct Answer {
    result: &'static str,
    time: f32,
    point: Option<Vec3>,
    normal: Option<Vec3>,
    end: Vec3,
}

pub(crate) fn points(arguments: &PointsArguments) -> Result<()> {
    let map = Map::load(&arguments.map)?;
    let size = find(&map, &arguments.space, &arguments.map)?;
    answer_lines(|[x, y, z], output| {
        let solid = map.is_solid(size, DVec3::new(x, y, z).as_vec3());
        writeln!(output, "{}", if solid { "solid" } else { "empty" })
    })
}

pub(crate) fn traces(arguments: &TracesArguments) -> Result<()> {
    let map = Map::load(&arguments.map)?;
    match &arguments.body {
        Body { sphere: Some(sphere), .. } => answer_traces(|a, b| map.cast(sphere, a, b)),
        Body { cylinder: Some(cylinder), .. } => answer_traces(|a, b| map.cast(cylinder, a, b)),
        Body { r#box: Some(cuboid), .. } => answer_traces(|a, b| map.cast(cuboid, a, b)),
        Body { space, .. } => {
            let size = find(&map, space.as_deref().unwrap_or_default(), &arguments.map)?;
            answer_traces(|a, b| map.find_first_transition(size, a, b))
        }
    }
}

fn answer_traces(trace: impl Fn(Vec3, Vec3) -> Trace) -> Result<()> {
    answer_lines(|[a, b, c, x, y, z], output| {
        let (start, end) = (DVec3::new(a, b, c), DVec3::new(x, y, z));
        // An end beyond the extent of maps is moved to the edge of the extent.
        let clipped = clip_to_extent(start, end);
        let (start, end) = (start.as_vec3(), clipped.map_or(end, |clipped| clipped.end).as_vec3());
        let answer = match clipped.map_or(Trace::StartSolid, |_| trace(start, end)) {
            Trace::Clear => Answer { result: "clear", time: 1.0, point: None, normal: None, end },
            Trace::Hit(hit) => Answer {
                result: "hit",
                time: (f64::from(hit.time) * clipped.map_or(1.0, |clipped| clipped.share)) as f32,
                point: Some(hit.point),
                // Adding zero turns a negative zero into zero.
                normal: Some(hit.normal + Vec3::ZERO),
                end: hit.end,
            },
            Trace::StartSolid => {
                Answer { result: "start_solid", time: 0.0, point: None, normal: None, end: start }
            }
        };
        serde_json::to_writer(&mut *output, &answer)?;
        writeln!(output)
    })
}

pub(crate) fn find(map: &Map, space: &str, path: &Path) -> Result<SizeId> {
    let place = path.display().to_string();
    Ok(map.size(space).ok_or_else(|| unknown_space(space, &place, map.sizes()))?)
}

/// The error for a name that is not among the `sizes` of `place`.
pub(crate) fn unknown_space(space: &str, place: &str, sizes: &[Size]) -> Usage {
    let known: Vec<&str> = sizes.iter().map(|size| size.name.as_str()).collect();
    Usage(format!("{place} has no space named {space:?}; it has {}", known.join(", ")))
}

/// Reads `N` numbers per line and answers each line. Answers are flushed before the next input is
/// read, so that another program can ask one question after the other.
fn answer_lines<const N: usize>(
    mut answer: impl FnMut([f64; N], &mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let mut input = BufReader::new(io::stdin().lock());
    let mut output = BufWriter::new(io::stdout().lock());
    let mut line = String::new();
    for number in 1_u64.. {
        if input.buffer().is_empty() {
            output.flush()?;
        }
        line.clear();
        if input.read_line(&mut line)? == 0 {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let numbers: Option<Vec<f64>> = line
            .split_ascii_whitespace()
            .map(|word| word.parse().ok().filter(|n: &f64| n.is_finite()))
            .collect();
        let numbers = numbers.and_then(|numbers| <[f64; N]>::try_from(numbers).ok());
        let line = line.trim_end();
        let numbers = numbers.ok_or_else(|| {
            anyhow!("standard input:{number}: {line:?} is not {N} finite numbers")
        })?;
        answer(numbers, &mut output)?;
    }
    output.flush()?;
    Ok(())
}
