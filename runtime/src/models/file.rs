//! Cost models in a file: text, one line a class of one model, complete or not there at all.
//!
//! Takes and gives models by (codelet, kind of worker). Knows no run.
//!
//! ```text
//!   treeqr cost models 1                         format and version
//!   machine Intel(R) Xeon(R) ... x 16            a file of another machine is ignored
//!   geqrt/f64 <tab> cpu <tab> class <tab> count <tab> mean_ns <tab> mean_flops      ...
//!   end 120                                      number of lines between
//! ```
//!
//! A file that says anything else is ignored, with the reason, and replaced at the end of the run.

use super::cell::{Cell, Class};
use super::fingerprint::fingerprint;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const HEADER: &str = "treeqr cost models 1";

/// Models by codelet and kind of worker.
pub(super) type Models = BTreeMap<(String, String), Cell>;

/// Why a file with cost models is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Ignored {
    /// It cannot be read.
    #[error("cannot read it: {0}")]
    Unreadable(io::Error),
    /// It has another format, or another version of it.
    #[error("its first line is `{found}`, not `{HEADER}`")]
    OtherFormat {
        /// The first line, shortened.
        found: String,
    },
    /// It was measured on another machine.
    #[error("it was measured on `{found}`; this is `{here}`")]
    OtherMachine {
        /// The file's machine.
        found: String,
        /// This machine.
        here: String,
    },
    /// A line makes no sense.
    #[error("line {line} is damaged")]
    Damaged {
        /// Which, from 1.
        line: usize,
    },
    /// The end is missing.
    #[error("its end is missing")]
    Truncated,
}

/// The file in the user's cache folder; `None` if neither `$XDG_CACHE_HOME` nor `$HOME` is an absolute path.
pub(super) fn in_cache() -> Option<PathBuf> {
    let absolute = |name| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let cache =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("treeqr").join("models"))
}

/// Reads a file; one that is not there has no models.
pub(super) fn load(path: &Path) -> Result<Models, Ignored> {
    match std::fs::read(path) {
        Ok(bytes) => parse(&String::from_utf8_lossy(&bytes), &fingerprint()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Models::new()),
        Err(error) => Err(Ignored::Unreadable(error)),
    }
}

fn parse(text: &str, here: &str) -> Result<Models, Ignored> {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    if first != HEADER {
        return Err(Ignored::OtherFormat {
            found: first.chars().take(40).collect(),
        });
    }
    let machine = lines.next().unwrap_or_default();
    let machine = machine
        .strip_prefix("machine ")
        .ok_or(Ignored::Damaged { line: 2 })?;
    if machine != here {
        return Err(Ignored::OtherMachine {
            found: machine.chars().take(200).collect(),
            here: here.to_owned(),
        });
    }
    let mut models = Models::new();
    for (read, line) in lines.enumerate() {
        let number = read + 3;
        if let Some(count) = line.strip_prefix("end ") {
            return match count.parse() == Ok(read) {
                true => Ok(models),
                false => Err(Ignored::Damaged { line: number }),
            };
        }
        let (key, class, values) = row(line).ok_or(Ignored::Damaged { line: number })?;
        models.entry(key).or_default().classes.insert(class, values);
    }
    Err(Ignored::Truncated)
}

fn row(line: &str) -> Option<((String, String), u32, Class)> {
    let words: Vec<_> = line.split('\t').collect();
    let [codelet, arch, class, count, mean_ns, mean_flops] = words[..] else {
        return None;
    };
    let number = |word: &str| {
        let x: f64 = word.parse().ok()?;
        (x.is_finite() && x >= 0.0).then_some(x)
    };
    let values = Class {
        count: count.parse().ok().filter(|&count| count > 0)?,
        mean_ns: number(mean_ns)?,
        mean_flops: number(mean_flops)?,
    };
    Some((
        (codelet.to_owned(), arch.to_owned()),
        class.parse().ok()?,
        values,
    ))
}

fn print(models: &Models, here: &str) -> String {
    let mut text = format!("{HEADER}\nmachine {here}\n");
    let mut lines = 0;
    for ((codelet, arch), cell) in models {
        for (class, values) in &cell.classes {
            let Class {
                count,
                mean_ns,
                mean_flops,
            } = values;
            let _ = writeln!(
                text,
                "{codelet}\t{arch}\t{class}\t{count}\t{mean_ns}\t{mean_flops}"
            );
            lines += 1;
        }
    }
    let _ = writeln!(text, "end {lines}");
    text
}

/// Replaces the file by one with `models`, or leaves it as it is.
pub(super) fn save(path: &Path, models: &Models) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // A name of its own: two processes, or two runs of one, may end at the same time.
    static SAVED: AtomicU64 = AtomicU64::new(0);
    let number = SAVED.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.{number}", std::process::id()));
    let temporary = PathBuf::from(name);
    let text = print(models, &fingerprint());
    let write = || {
        let mut file = std::fs::File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    write().inspect_err(|_| {
        let _ = std::fs::remove_file(&temporary);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Models {
        let mut cell = Cell::default();
        for k in 1..40 {
            cell.add(k * k * 1000, k as f64 * 0.3 + 7.0);
        }
        let key = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        [
            (key("geqrt/f64", "cpu"), cell.clone()),
            (key("tpqrt/f64", "cuda emulated"), cell),
        ]
        .into()
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let models = sample();
        assert_eq!(parse(&print(&models, "here"), "here").unwrap(), models);
        assert!(
            parse(&print(&Models::new(), "here"), "here")
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn every_damage_is_found() {
        let text = print(&sample(), "here");
        for cut in 0..text.len() - 1 {
            assert!(parse(&text[..cut], "here").is_err(), "cut at {cut}");
        }
        let errors = [
            (
                "treeqr cost models 2\n",
                "its first line is `treeqr cost models 2`, not `treeqr cost models 1`",
            ),
            (
                "treeqr cost models 1\nmachine there\n",
                "it was measured on `there`; this is `here`",
            ),
            (
                "treeqr cost models 1\nmachine here\nx\ty\t1\t1\tNaN\t0\nend 1\n",
                "line 3 is damaged",
            ),
            (
                "treeqr cost models 1\nmachine here\nend 1\n",
                "line 3 is damaged",
            ),
            ("treeqr cost models 1\nmachine here\n", "its end is missing"),
        ];
        for (text, expected) in errors {
            assert_eq!(parse(text, "here").unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_file_is_complete_or_as_it_was() {
        let folder = std::env::temp_dir().join(format!("treeqr-models-{}", std::process::id()));
        let path = folder.join("deep").join("models");
        assert!(load(&path).unwrap().is_empty());
        save(&path, &sample()).unwrap();
        assert_eq!(load(&path).unwrap(), sample());
        std::fs::write(&path, [0xff, 0x00, 0x80]).unwrap();
        assert!(matches!(load(&path), Err(Ignored::OtherFormat { .. })));
        save(&path, &sample()).unwrap();
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1
        );
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(load(&path), Err(Ignored::Unreadable(_))));
        assert!(save(&path, &sample()).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
