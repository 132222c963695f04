//! Servers with bad lines and hostile peers. These tests mostly wait for time limits, and few need
//! much processor time. So they are one program, in which many tests wait at once.

mod bad_line;
#[cfg(target_os = "linux")]
mod siege;
mod wire_hostile;

use tokio::sync::Semaphore;

/// Places for the scenarios that measure rates or delays. Each takes a tenth of two processors, so
/// that others hardly disturb it. Scenarios that measure neither take no place.
static PLACES: Semaphore = Semaphore::const_new(4);

/// Places that a hostile peer takes: a flood takes a whole processor while it lasts.
const HOSTILE: u32 = 2;
