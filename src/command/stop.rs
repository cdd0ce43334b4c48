//! Ctrl-C, and the polite signals of the system: the process ends with its exit code, and leaves no half-written file.

use super::STOPPED;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use treeqr::matrices::Output;

/// What has to go when the process ends before its time.
static TEMPORARIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn temporaries() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on a signal to stop ends the process with exit code 3.
pub fn watch() {
    let stop = || {
        for path in temporaries().iter() {
            // It may have its final name already.
            let _ = fs::remove_file(path);
        }
        // Past what the terminal shows of Ctrl-C.
        let gap = if io::stderr().is_terminal() { "\n" } else { "" };
        anstream::eprintln!("{gap}stopped: nothing was written");
        std::process::exit(STOPPED.into());
    };
    // Where no handler can be had, the system's own way to stop is as good.
    let _ = ctrlc::set_handler(stop);
}

/// The temporary file of `output` goes when the process is stopped.
pub fn remove_at_stop(output: &Output) {
    temporaries().extend(output.temporary_path().map(PathBuf::from));
}
