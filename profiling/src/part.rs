//! Files and folders that are complete or absent.
//!
//! Takes a target's path; gives a file or folder beside it that takes the target's name at last, or disappears. Knows
//! nothing of what is written, nor whether an existing target may be replaced: its callers decide that.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What is being written: removed unless it becomes its target.
pub(crate) struct Part {
    path: PathBuf,
    target: PathBuf,
}

/// Why it cannot.
#[derive(Debug)]
pub(crate) enum PartError {
    Exists { path: PathBuf },
    Io { path: PathBuf, source: io::Error },
}

fn at<P: Into<PathBuf>>(path: P) -> impl FnOnce(io::Error) -> PartError {
    let path = path.into();
    move |source| PartError::Io { path, source }
}

/// Writes a file: complete or absent.
pub(crate) fn write_file(target: &Path, bytes: &[u8], replace: bool) -> Result<(), PartError> {
    check_file(target, replace)?;
    let (part, mut file) = Part::file(target)?;
    let written = file.write_all(bytes).and_then(|()| file.flush());
    written.map_err(at(part.path()))?;
    drop(file);
    part.become_target(replace)
}

/// Fails, before any work, where [`write_file`] would. A folder is never replaced by a file.
pub(crate) fn check_file(target: &Path, replace: bool) -> Result<(), PartError> {
    match fs::symlink_metadata(target) {
        Ok(facts) if facts.is_dir() || !replace => Err(PartError::Exists {
            path: target.into(),
        }),
        _ => Ok(()),
    }
}

impl Part {
    /// An empty folder beside `target`; folders above it are made.
    pub(crate) fn folder(target: &Path) -> Result<Self, PartError> {
        let part = Self::beside(target)?;
        fs::create_dir(&part.path).map_err(at(&part.path))?;
        Ok(part)
    }

    /// An empty file beside `target`; folders above it are made.
    pub(crate) fn file(target: &Path) -> Result<(Self, File), PartError> {
        let part = Self::beside(target)?;
        let file = File::create_new(&part.path).map_err(at(&part.path))?;
        Ok((part, file))
    }

    fn beside(target: &Path) -> Result<Self, PartError> {
        let parent = match target.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent).map_err(at(parent))?;
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let path = target.with_file_name(name);
        // Left behind by a process of the same number.
        if fs::symlink_metadata(&path).is_ok() {
            remove(&path).map_err(at(&path))?;
        }
        let target = target.to_owned();
        Ok(Part { path, target })
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the target's name; what has it goes if `replace` says so.
    pub(crate) fn become_target(self, replace: bool) -> Result<(), PartError> {
        let target = &self.target;
        let occupied = fs::symlink_metadata(target).is_ok();
        if occupied && !replace {
            return Err(PartError::Exists {
                path: target.clone(),
            });
        }
        if occupied {
            let mut old = self.path.clone().into_os_string();
            old.push(".old");
            let old = PathBuf::from(old);
            fs::rename(target, &old).map_err(at(target))?;
            fs::rename(&self.path, target).map_err(at(target))?;
            return remove(&old).map_err(at(old));
        }
        fs::rename(&self.path, target).map_err(|source| match target.exists() {
            true => PartError::Exists {
                path: target.clone(),
            },
            false => at(target)(source),
        })
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Gone already when it has become the target.
        let _ = remove(&self.path);
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}
