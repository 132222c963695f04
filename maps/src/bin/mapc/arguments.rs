//! Arguments and checks that subcommands share.

use std::path::Path;

use thiserror::Error;

/// Whether Quake 3's curves (`patchDef2`) are solid.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum CurvesArgument {
    /// They are left out, with one warning that counts them
    #[default]
    LeftOut,
    /// They are replaced by solids 4 units thick, within 2 units of the surface
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

/// An argument that turns out to be wrong when a file is read.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Refuses to overwrite the file that is read.
pub(crate) fn keep_apart(read: &Path, written: &Path) -> Result<(), Usage> {
    let same = read.canonicalize().is_ok_and(|a| written.canonicalize().is_ok_and(|b| a == b));
    let refused = || Usage(format!("{}: the input would be overwritten", read.display()));
    if same { Err(refused()) } else { Ok(()) }
}
