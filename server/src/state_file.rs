//! Writes the files of state that must outlive the server: bans, mutes, the reset key.
//!
//! A state file is whole or not there at all. A new file is written beside the old one, handed to
//! the disk, and renamed over it. Where that cannot be done, as with a single file that is mounted
//! into a container, the file is written in place, and gets its old content back if that fails.
//! Either way a symbolic link stays a link, and owner and mode stay what the operator made them.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::regular_file::open_to_write;

/// Links that are followed, one after another, before a path counts as a loop. Linux follows as
/// many.
const MOST_LINKS: usize = 40;

/// The readers of a file that is made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// All that the process's `umask` allows.
    Usual,
    /// The server's user alone: the file is a secret.
    Owner,
}

/// Replaces the content of a file, or makes the file.
///
/// # Errors
/// The system's error. The file then has its old content, unless that could not be restored either.
pub(crate) fn write(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    write_by(path, bytes, readers, |from, to| fs::rename(from, to))
}

fn write_by(
    path: &Path,
    bytes: &[u8],
    readers: Readers,
    rename: impl Fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let target = behind_links(path)?;
    let old = match fs::symlink_metadata(&target) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let beside = beside(&target);
    let replaced = write_beside(&beside, bytes, old.as_ref(), readers)
        .and_then(|()| rename(&beside, &target))
        .and_then(|()| sync_folder(&target));
    let Err(error) = replaced else { return Ok(()) };
    let _ = fs::remove_file(&beside);
    match old {
        Some(_) if forbids_replacing(&error) => write_in_place(&target, bytes),
        _ => Err(error),
    }
}

/// Whether the error is about the folder, or about giving the new file its owner. The file itself
/// may be writable nevertheless.
fn forbids_replacing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        // A file that is mounted alone cannot be renamed over.
        ErrorKind::ResourceBusy
            | ErrorKind::CrossesDevices
            | ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
    )
}

/// The path at the end of the links that begin at `path`. The last part need not exist.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            // A relative link counts from the folder that holds it.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other(format!("more than {MOST_LINKS} links lead from one to the next")))
}

/// The name of the new file, in the folder of the old one.
fn beside(target: &Path) -> PathBuf {
    let mut name = OsString::from(target);
    name.push(".new");
    name.into()
}

/// Writes the new file and hands it to the disk.
fn write_beside(
    beside: &Path,
    bytes: &[u8],
    old: Option<&Metadata>,
    readers: Readers,
) -> io::Result<()> {
    // A server that was killed while it wrote leaves such a file behind. Nothing is written through
    // a link of this name.
    match fs::remove_file(beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if readers == Readers::Owner || old.is_some() {
        // The old file's mode is given below. Until then nobody else reads the new one.
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = readers;
    let mut file = options.open(beside)?;
    file.write_all(bytes)?;
    if let Some(old) = old {
        keep_owner(&file, old)?;
        // The mode comes after the owner, because a change of the owner may take bits from it.
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()
}

/// Gives the new file the old one's owner and group.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(file, Some(old.uid()), Some(old.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Hands the new name to the disk. Other systems than Unix have no such request.
fn sync_folder(target: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    match File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all()) {
        // The file is in place already. A folder that may not be read, or a file system that cannot
        // do this, is no reason to call it lost.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// Writes the file itself. If that fails, the old content is put back.
fn write_in_place(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = open_to_write(target)?;
    let mut old = Vec::new();
    file.read_to_end(&mut old)?;
    let written = overwrite(&mut file, bytes);
    if written.is_err() {
        // The blocks of the old content still belong to the file, so a full disk lets this pass.
        let _ = overwrite(&mut file, &old);
    }
    written
}

fn overwrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
