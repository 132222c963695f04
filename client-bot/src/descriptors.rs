//! Checks the limit on open files and sockets before a swarm runs into it.

use thiserror::Error;

/// The system lets this process open too few files and sockets.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "the system lets this process open {granted} more files and sockets, but {needed} are needed; \
     raise the limit with `ulimit -n 1024`, or send fewer bots"
)]
pub struct TooFewDescriptors {
    granted: usize,
    needed: usize,
}

/// Checks that `needed` more descriptors can be opened. A library that runs out of them
/// later may panic.
pub(crate) fn check(needed: usize) -> Result<(), TooFewDescriptors> {
    let granted = granted(needed);
    if granted < needed { Err(TooFewDescriptors { granted, needed }) } else { Ok(()) }
}

/// How many of `wanted` more descriptors the system grants.
#[cfg(unix)]
fn granted(wanted: usize) -> usize {
    use std::io;
    use std::os::fd::AsFd;

    /// `EMFILE` and `ENFILE`: this process, or the whole system, has too many open.
    const TOO_MANY: [i32; 2] = [24, 23];
    let mut held = Vec::new();
    while held.len() < wanted {
        match io::stderr().as_fd().try_clone_to_owned() {
            Ok(descriptor) => held.push(descriptor),
            Err(error) if error.raw_os_error().is_some_and(|code| TOO_MANY.contains(&code)) => {
                break;
            }
            // Any other error says nothing about the limit.
            Err(_) => return wanted,
        }
    }
    held.len()
}

/// This system has no such limit, so it grants all.
#[cfg(not(unix))]
fn granted(wanted: usize) -> usize {
    wanted
}
