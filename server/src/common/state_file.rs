//! Writes the files of state that must outlive the server: bans, mutes, the reset key.
//!
//! A new file is written beside the old one, handed to the disk, and renamed over it, so the file
//! has its old content or the new one at any moment. A single file that is mounted into a container
//! cannot be renamed over. Such a file is written in place, and gets its old content back if the
//! write fails. A server that is killed meanwhile leaves a damaged file, whose first byte says so
//! ([`is_cut`]).
//!
//! A symbolic link stays a link, and the file keeps the mode that the operator gave it. It also
//! keeps its owner, unless the server may neither give the new file to that owner nor write the old
//! file.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tracing::warn;

use super::regular_file::open_to_write;

/// Links that are followed, one after another, before a path counts as a loop. Linux has the same
/// limit.
const MOST_LINKS: usize = 40;

/// The users who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// All users that the process's `umask` allows.
    Usual,
    /// The server's user alone: the file is a secret.
    Owner,
}

/// The first byte of a file while it is written in place: the control character CAN, with which no
/// text begins.
const BEING_WRITTEN: u8 = 0x18;

/// Whether this content was being written in place when the server was killed.
pub(crate) fn is_cut(content: &[u8]) -> bool {
    content.first() == Some(&BEING_WRITTEN)
}

/// Replaces the content of a file, or makes the file.
///
/// # Errors
/// The system's error. The file then has its old content, unless the error says that the old
/// content could not be put back.
pub(crate) fn write(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    write_by(path, bytes, readers, |from, to| fs::rename(from, to), sync_folder)
}

/// Whether [`write`] could replace the file at `path`, or make it. Nothing is changed.
///
/// # Errors
/// The system's error, with which writing would fail.
pub(crate) fn try_out(path: &Path) -> io::Result<()> {
    let target = behind_links(path)?;
    let beside = beside(&target);
    match write_beside(&beside, &[], true, Readers::Owner) {
        Ok(_) => fs::remove_file(&beside),
        Err(error) => open_to_write(&target).map(|_| ()).map_err(|_| error),
    }
}

/// Like [`write`], with the functions that put the new file in place and sync its folder.
fn write_by(
    path: &Path,
    bytes: &[u8],
    readers: Readers,
    rename: impl Fn(&Path, &Path) -> io::Result<()>,
    sync_folder: impl Fn(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let target = behind_links(path)?;
    let old = match fs::symlink_metadata(&target) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let beside = beside(&target);
    let replaced = write_beside(&beside, bytes, old.is_some(), readers).and_then(|new| {
        let kept =
            old.as_ref().map_or(Ok(Ok(())), |old| take_after(&new, old, &target, readers))?;
        new.sync_all()?;
        rename(&beside, &target)?;
        Ok(kept)
    });
    let error = match replaced {
        Ok(kept) => {
            tell(&target, kept, sync_folder(&target));
            return Ok(());
        }
        Err(error) => error,
    };
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
        // The file is mounted by itself, so no other file can be renamed over it.
        ErrorKind::ResourceBusy
            | ErrorKind::CrossesDevices
            | ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
    )
}

/// The path at the end of the links that begin at `path`. Its last part need not exist.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            // A relative link counts from the folder that holds it.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other(format!(
        "more than {MOST_LINKS} links lead from one to the next; name the file itself"
    )))
}

/// The name of the new file, in the folder of the old one.
fn beside(target: &Path) -> PathBuf {
    let mut name = OsString::from(target);
    name.push(".new");
    name.into()
}

/// Writes the new file. If it replaces another, only its owner may read it at first.
fn write_beside(beside: &Path, bytes: &[u8], replaces: bool, readers: Readers) -> io::Result<File> {
    // A server that was killed while it wrote may have left such a file. If somebody has put a link
    // here, it is removed, so that nothing is written through it.
    match fs::remove_file(beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if readers == Readers::Owner || replaces {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = (readers, replaces);
    let mut file = options.open(beside)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Gives the new file the old one's owner and mode. If the server may not change the owner, and may
/// not write the old file in place either, the new file belongs to the server, and the cause is
/// returned.
fn take_after(
    new: &File,
    old: &Metadata,
    target: &Path,
    readers: Readers,
) -> io::Result<io::Result<()>> {
    let kept = keep_owner(new, old);
    if let Err(error) = &kept
        && (!forbids_replacing(error) || open_to_write(target).is_ok())
    {
        return kept.map(Ok);
    }
    // The mode comes after the owner, because a change of the owner may take bits from it.
    new.set_permissions(permissions(old, readers))?;
    Ok(kept)
}

/// The permissions of the old file, but never such that all users may read a secret.
#[cfg(unix)]
fn permissions(old: &Metadata, readers: Readers) -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    let mode = old.permissions().mode();
    match readers {
        Readers::Usual => Permissions::from_mode(mode),
        Readers::Owner => Permissions::from_mode(mode & !0o007),
    }
}

#[cfg(not(unix))]
fn permissions(old: &Metadata, _: Readers) -> Permissions {
    old.permissions()
}

/// Logs a warning if a replaced file could not keep its owner or group, or if its folder could not
/// be synced.
fn tell(target: &Path, kept: io::Result<()>, synced: io::Result<()>) {
    let target = target.display();
    if let Err(error) = kept {
        warn!(
            "{target} belonged to another user or group, and has a new owner from now on: the \
             server's user. The server may not write the old file, and may not give the new one \
             to the old owner ({error})"
        );
    }
    if let Err(error) = synced {
        warn!(
            "{target} is replaced, but its folder could not be synced to disk: {error}; if the \
             machine crashes now, the file may have its old content again"
        );
    }
}

/// Gives the new file the old one's owner and group, or only its group if no more is allowed.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(file, Some(old.uid()), Some(old.gid())).map_err(|error| {
        // A process may give files only to its own groups. If the old file belongs to another
        // group, the process can read it only because everybody can. Everybody can read the new
        // file, too.
        let _ = fchown(file, None, Some(old.gid()));
        match error.kind() {
            // The user namespace has no number for this owner, as with `PrivateUsers=yes`.
            ErrorKind::InvalidInput => io::Error::new(ErrorKind::PermissionDenied, error),
            _ => error,
        }
    })
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Writes the new name to the disk. Only Unix systems have such a request.
fn sync_folder(target: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    without_need(File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all()))
}

/// The outcome of a sync of a folder, without the errors that mean no harm. The file is already in
/// place, and is not lost only because the folder may not be read or the file system cannot sync
/// folders.
fn without_need(synced: io::Result<()>) -> io::Result<()> {
    match synced {
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
    written.map_err(|error| {
        // The blocks of the old content still belong to the file, so a full disk lets this pass.
        match overwrite(&mut file, &old) {
            Ok(()) => error,
            Err(second) => io::Error::new(
                error.kind(),
                format!(
                    "{error}; its old content could not be put back ({second}), so the file is \
                         damaged"
                ),
            ),
        }
    })
}

/// Replaces the content of a file. Until all of it is there, the file begins with
/// [`BEING_WRITTEN`]. It is not made shorter first, because an empty file may mean something.
fn overwrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    if let Some(first) = bytes.first() {
        begin_overwrite(file, bytes)?;
        write_first(file, *first)?;
    } else {
        file.set_len(0)?;
    }
    file.sync_all()
}

/// Writes all but the first byte. The disk may reorder writes. So the mark is synced before the
/// other bytes are written, and those are synced before the first byte replaces the mark.
fn begin_overwrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    write_first(file, BEING_WRITTEN)?;
    file.sync_data()?;
    file.write_all(bytes.get(1..).unwrap_or_default())?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

fn write_first(file: &mut File, byte: u8) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&[byte])
}

#[cfg(test)]
mod tests;
