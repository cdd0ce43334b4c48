//! Ctrl-C, and the polite signals of the system: the process ends with its exit code, and leaves no half-written file.
//!
//! Where a run goes on, the first signal cancels it: its tasks come to an end, its threads are joined, and the command goes
//! its usual way out. A second signal, and any signal where nothing can be cancelled (reading, analysing, writing), ends
//! the process at once.

use super::failure::Failure;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use treeqr::matrices::{Output, WriteError};
use treeqr::runtime::CancelHandle;

/// What a signal has to know.
struct Stops {
    /// What can be cancelled now.
    run: Option<CancelHandle>,
    /// A run was cancelled.
    cancelled: bool,
    /// What has to go when the process ends before its time.
    temporary: Vec<PathBuf>,
    /// The command has done all it will do, and is about to end by itself.
    over: bool,
}

/// What follows from a signal.
#[derive(Debug, PartialEq)]
enum Then {
    /// The command will end by itself.
    Wait,
    /// The process ends here.
    End,
}

impl Stops {
    fn signal(&mut self) -> Then {
        match &self.run {
            Some(run) if !run.is_cancelled() => {
                run.cancel();
                self.cancelled = true;
                Then::Wait
            }
            _ if self.over => Then::Wait,
            _ => Then::End,
        }
    }

    /// Removes what is half-written; what is left to be said.
    fn clean_up(&self) -> Failure {
        let gone =
            |removed: io::Result<()>| removed.is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        // All of them, whatever becomes of the first.
        let gone = self
            .temporary
            .iter()
            .map(fs::remove_file)
            .map(gone)
            .fold(false, |a, b| a | b);
        // What is gone has its final name, unless a cancelled run has removed it on its way out.
        match gone && !self.cancelled {
            true => Failure::stopped_after_writing(),
            false => Failure::stopped(),
        }
    }
}

static STOPS: Mutex<Stops> = Mutex::new(Stops {
    run: None,
    cancelled: false,
    temporary: Vec::new(),
    over: false,
});

fn stops() -> MutexGuard<'static, Stops> {
    STOPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on a signal to stop ends the process with exit code 3.
pub fn watch() {
    let stop = || {
        // Held until the process is gone: nobody else begins or ends anything that matters.
        let mut stops = stops();
        if stops.signal() == Then::End {
            std::process::exit(stops.clean_up().report().into());
        }
    };
    // Where no handler can be had, the system's own way to stop is as good.
    let _ = ctrlc::set_handler(stop);
}

/// The command has nothing left to do but to say how it went. Where a signal is ending the process this never returns.
pub fn over() {
    stops().over = true;
}

/// Opens an output; its temporary file goes when the process is stopped.
pub fn output(path: Option<impl AsRef<Path>>) -> Result<Option<Output>, WriteError> {
    // No signal comes between the file and the note about it.
    let mut stops = stops();
    let output = path.map(Output::create).transpose()?;
    let temporary = output.as_ref().and_then(Output::temporary_path);
    stops.temporary.extend(temporary.map(Path::to_owned));
    Ok(output)
}

/// While it lives, the first signal cancels instead of ending the process.
pub struct Cancellable(CancelHandle);

impl Cancellable {
    /// For runs that are about to begin.
    pub fn begin() -> Self {
        let handle = CancelHandle::new();
        stops().run = Some(handle.clone());
        Cancellable(handle)
    }

    /// For the options of the runs.
    pub fn handle(&self) -> CancelHandle {
        self.0.clone()
    }

    /// The runs are over. A signal that came too late to cancel one counts all the same.
    pub fn end(self) -> Result<(), Failure> {
        let handle = self.handle();
        drop(self);
        if handle.is_cancelled() {
            return Err(Failure::stopped());
        }
        Ok(())
    }
}

impl Drop for Cancellable {
    fn drop(&mut self) {
        stops().run = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Stops {
        Stops {
            run: None,
            cancelled: false,
            temporary: Vec::new(),
            over: false,
        }
    }

    #[test]
    fn the_first_signal_cancels_a_run_and_the_second_ends_the_process() {
        let run = CancelHandle::new();
        let mut stops = Stops {
            run: Some(run.clone()),
            ..nothing()
        };
        assert_eq!(stops.signal(), Then::Wait);
        assert!(run.is_cancelled());
        assert_eq!(stops.signal(), Then::End);
    }

    #[test]
    fn without_a_run_the_first_signal_ends_the_process_unless_it_is_over() {
        let mut stops = nothing();
        assert_eq!(stops.signal(), Then::End);
        stops.over = true;
        assert_eq!(stops.signal(), Then::Wait);
    }

    #[test]
    fn what_is_half_written_goes_and_what_is_complete_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.part");
        fs::write(&path, "half").expect("written");
        let mut stops = Stops {
            temporary: vec![path.clone()],
            ..nothing()
        };
        assert_eq!(stops.clean_up().message(), "nothing was written");
        assert!(!path.exists());
        // Gone without our doing: it was renamed.
        assert_eq!(stops.clean_up().message(), "the output had been written");
        stops.cancelled = true;
        assert_eq!(stops.clean_up().message(), "nothing was written");
    }
}
