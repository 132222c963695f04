//! How much is sent on a path, and how often: the estimate of the path from acknowledgements, the
//! congestion window that follows from it, the rate and the size of snapshots, and the pace of map
//! transfers beside them. All of it is tested on lines in virtual time.

pub(crate) mod background;
#[cfg(test)]
pub(crate) mod background_tests;
#[cfg(test)]
pub(crate) mod blackout_tests;
pub(crate) mod congestion;
#[cfg(test)]
pub(crate) mod narrow_tests;
pub(crate) mod path_estimate;
pub(crate) mod rate_adaptation;
pub(crate) mod snapshot_pace;
#[cfg(test)]
pub(crate) mod virtual_line;
