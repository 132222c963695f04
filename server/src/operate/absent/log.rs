//! Without the feature `cli`, the events of `tracing` go to the subscriber of the embedding
//! program, if it has one.

/// The options of the feature: none.
pub(crate) mod options {
    /// How the program logs.
    #[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
    pub struct LogOptions {}
}

/// A type without values, in place of the error of a log filter.
#[derive(Debug, thiserror::Error)]
#[error("there is no log")]
pub(crate) enum FilterError {}

/// This build starts no log, so there is no filter to change.
pub(crate) fn set_filter(_: &str) -> Option<Result<(), FilterError>> {
    None
}

/// A type without values, because this build starts no log that could lose lines.
#[derive(Clone, Copy)]
pub(crate) enum LostLine {}

impl LostLine {
    pub(crate) const ALL: [Self; 0] = [];

    pub(crate) fn label(self) -> &'static str {
        match self {}
    }

    pub(crate) fn counted(self) -> u64 {
        match self {}
    }
}
