//! Counts the files and sockets that this process may still open, for programs that check the limit
//! before they run into it. A library that runs out of them later may panic.

/// How many of `wanted` more files and sockets the system grants this process.
#[cfg(unix)]
pub fn granted(wanted: usize) -> usize {
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
            // Duplicating standard error failed for another reason, so descriptors cannot be
            // counted this way. The check passes.
            Err(_) => return wanted,
        }
    }
    held.len()
}

/// Returns `wanted`, because this system has no such limit.
#[cfg(not(unix))]
pub fn granted(wanted: usize) -> usize {
    wanted
}
