use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use glam::Vec3;
use maps::{SizeId, Trace, World};
use serde::Serialize;

use crate::Usage;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The compiled world
    world: PathBuf,
    /// The size of the box, as spaces.toml names it
    #[arg(long, value_name = "NAME")]
    space: String,
}

#[derive(Serialize)]
struct Answer {
    result: &'static str,
    time: f32,
    point: Option<Vec3>,
    normal: Option<Vec3>,
    end: Vec3,
}

pub(crate) fn points(arguments: &Arguments) -> Result<()> {
    let (world, size) = open(arguments)?;
    answer_lines(|[x, y, z], output| {
        let solid = world.is_solid(size, Vec3::new(x, y, z));
        writeln!(output, "{}", if solid { "solid" } else { "empty" })
    })
}

pub(crate) fn traces(arguments: &Arguments) -> Result<()> {
    let (world, size) = open(arguments)?;
    answer_lines(|[a, b, c, x, y, z], output| {
        let (start, end) = (Vec3::new(a, b, c), Vec3::new(x, y, z));
        let answer = match world.find_first_transition(size, start, end) {
            Trace::Clear => Answer { result: "clear", time: 1.0, point: None, normal: None, end },
            Trace::Hit(hit) => Answer {
                result: "hit",
                time: hit.time,
                point: Some(hit.point),
                normal: Some(hit.normal),
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

fn open(arguments: &Arguments) -> Result<(World, SizeId)> {
    let path = &arguments.world;
    let world = World::load(path)?;
    let Some(size) = world.size(&arguments.space) else {
        let known: Vec<&str> = world.sizes().iter().map(|size| size.name.as_str()).collect();
        let (space, known) = (&arguments.space, known.join(", "));
        return Err(
            Usage(format!("no space {space:?} in {}; it has {known}", path.display())).into()
        );
    };
    Ok((world, size))
}

/// Reads `N` numbers a line and answers each. What is answered is sent on
/// whenever no more input is there yet, so that another program may converse.
fn answer_lines<const N: usize>(
    mut answer: impl FnMut([f32; N], &mut dyn Write) -> io::Result<()>,
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
        let numbers: Option<Vec<f32>> = line
            .split_ascii_whitespace()
            .map(|word| word.parse().ok().filter(|n: &f32| n.is_finite()))
            .collect();
        let numbers = numbers.and_then(|numbers| <[f32; N]>::try_from(numbers).ok());
        let line = line.trim_end();
        let numbers = numbers
            .ok_or_else(|| anyhow!("standard input:{number}: {line:?} is not {N} numbers"))?;
        answer(numbers, &mut output)?;
    }
    output.flush()?;
    Ok(())
}
