use crate::common::error::StartError;

/// Descriptors that a server needs to start and to answer a few pages: sockets,
/// event loops, standard streams, a recording, and room for what libraries open.
const NEEDED: usize = 40;

/// Checks that the system lets this process open enough files and sockets for a server. Without
/// this check, a library that lacks them later may panic.
///
/// # Errors
/// [`StartError::Descriptors`].
pub(crate) fn check() -> Result<(), StartError> {
    let granted = granted(NEEDED);
    let lacking = granted < NEEDED;
    if lacking { Err(StartError::Descriptors { granted, needed: NEEDED }) } else { Ok(()) }
}

/// How many of `wanted` more descriptors the system grants.
#[cfg(unix)]
fn granted(wanted: usize) -> usize {
    use std::io;
    use std::os::fd::AsFd;

    /// The errors that the system returns if this process, or all processes together, have too many
    /// descriptors.
    const TOO_MANY: [i32; 2] = [libc::EMFILE, libc::ENFILE];
    let mut held = Vec::new();
    while held.len() < wanted {
        match io::stderr().as_fd().try_clone_to_owned() {
            Ok(descriptor) => held.push(descriptor),
            Err(error) if error.raw_os_error().is_some_and(|code| TOO_MANY.contains(&code)) => {
                break;
            }
            // Duplicating standard error failed for another reason, so descriptors cannot be
            // counted this way. The check passes.
            Err(_) => return wanted,
        }
    }
    held.len()
}

/// Returns `wanted`, because this system has no such limit.
#[cfg(not(unix))]
fn granted(wanted: usize) -> usize {
    wanted
}
