//! Servers among bad lines and hostile peers. These tests mostly wait for limits of time, and few need
//! much processor time, so they are one program, in which many wait at once.

mod bad_line;
#[cfg(target_os = "linux")]
mod siege;
mod wire_hostile;

use tokio::sync::Semaphore;

/// Places for the scenarios that measure rates or delays. Each takes a tenth of two processors, so
/// that others hardly disturb it. Scenarios without a place measure neither.
static PLACES: Semaphore = Semaphore::const_new(4);

/// Places that a hostile peer takes: a flood takes a whole processor while it lasts.
const HOSTILE: u32 = 2;
