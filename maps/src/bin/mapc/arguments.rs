//! Arguments and checks that subcommands share.

use std::path::Path;

use thiserror::Error;

/// Whether Quake III's curves (`patchDef2`) are solid.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum CurvesArgument {
    /// The curves are left out, with one warning that counts them
    #[default]
    LeftOut,
    /// The curves are replaced by solids 4 units thick; no point of a curve is farther than 2 units
    /// from its solids
    Solid,
}

impl From<CurvesArgument> for obsp::Curves {
    fn from(argument: CurvesArgument) -> Self {
        match argument {
            CurvesArgument::LeftOut => Self::LeftOut,
            CurvesArgument::Solid => Self::Solid,
        }
    }
}

/// The game whose rules decide whether a brush is solid, a clip, a liquid or nothing.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum GameFormArgument {
    /// The names of textures decide
    Quake,
    /// The flags of faces decide, and the texture's name for a face without flags
    Quake2,
    /// The names of textures decide, those of the compile tools included
    HalfLife,
    /// The names of shaders decide, with or without common/ and textures/
    Quake3,
}

impl From<GameFormArgument> for obsp::GameForm {
    fn from(argument: GameFormArgument) -> Self {
        match argument {
            GameFormArgument::Quake => Self::Quake,
            GameFormArgument::Quake2 => Self::Quake2,
            GameFormArgument::HalfLife => Self::HalfLife,
            GameFormArgument::Quake3 => Self::Quake3,
        }
    }
}

/// An argument that parses but turns out to be wrong, such as a name that a file lacks.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Refuses to overwrite the input file.
pub(crate) fn keep_apart(read: &Path, written: &Path) -> Result<(), Usage> {
    let same = read.canonicalize().is_ok_and(|a| written.canonicalize().is_ok_and(|b| a == b));
    let refused =
        || Usage(format!("the input {} would be overwritten: name another output", read.display()));
    if same { Err(refused()) } else { Ok(()) }
}
