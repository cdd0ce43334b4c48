//! What went wrong: a line for the user, a hint where there is one, and the exit code.

use super::{BAD_INPUT, STOPPED, UNSOLVED};
use anstyle::{AnsiColor, Style};
use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use treeqr::Error;
use treeqr::matrices::gallery::GalleryError;
use treeqr::matrices::{LoadError, ReadErrorKind, WriteError};
use treeqr::runtime::RunError;
use treeqr::solver::{AnalyseError, SolveError};

/// The end of a command that did not do what it should.
#[derive(Debug)]
pub struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// Bad input or use.
    pub fn input(message: impl Display) -> Self {
        Failure {
            message: message.to_string(),
            hint: None,
            code: BAD_INPUT,
        }
    }

    /// A signal came.
    pub fn stopped() -> Self {
        Failure {
            message: "nothing was written".to_owned(),
            hint: None,
            code: STOPPED,
        }
    }

    /// A signal came when the output was complete, and only words were left to be said.
    pub fn stopped_after_writing() -> Self {
        Failure {
            message: "the output had been written".to_owned(),
            ..Failure::stopped()
        }
    }

    /// Whether a signal came: then nothing else is to be begun.
    pub fn is_stop(&self) -> bool {
        self.code == STOPPED
    }

    /// With a line of advice below the message.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With the input that it concerns in front.
    pub fn about(mut self, place: impl Display) -> Self {
        // A signal concerns no input.
        if !self.is_stop() {
            self.message = format!("{place}: {}", self.message);
        }
        self
    }

    /// What went wrong, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Tells the user, and gives the exit code.
    pub fn report(&self) -> u8 {
        if self.is_stop() {
            // Past what the terminal shows of Ctrl-C.
            let gap = if io::stderr().is_terminal() { "\n" } else { "" };
            anstream::eprintln!("{gap}stopped: {}", self.message);
            return self.code;
        }
        let bold = Style::new().bold();
        let error = bold.fg_color(Some(AnsiColor::Red.into()));
        let hint = bold.fg_color(Some(AnsiColor::Cyan.into()));
        anstream::eprintln!("{error}error:{error:#} {}", self.message);
        if let Some(text) = &self.hint {
            anstream::eprintln!("{hint}hint:{hint:#} {text}");
        }
        self.code
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let plain = Failure {
            message: error.to_string(),
            hint: None,
            code: code(&error),
        };
        match &error {
            Error::Load(LoadError::Read(e)) => match &e.kind {
                ReadErrorKind::Io(io) if io.kind() == io::ErrorKind::NotFound => {
                    missing(plain, &e.path.to_string_lossy())
                }
                ReadErrorKind::ComplexIntoReal { .. } => Failure {
                    message: format!("{}:1: the entries are complex", e.path.display()),
                    ..plain
                }
                .hint("only matrices and right-hand sides may be"),
                ReadErrorKind::Gzip(_)
                | ReadErrorKind::TooFewEntries { .. }
                | ReadErrorKind::NoSizeLine => plain.hint("the file looks cut off: fetch it again"),
                _ => plain,
            },
            Error::Load(LoadError::Gallery(GalleryError::Unknown { name })) => {
                Failure::input(format!("the gallery has no '{name}'"))
                    .hint("`treeqr gallery` lists the families and what their names look like")
            }
            Error::Load(LoadError::NoPart { part, .. }) if part == "rhs" => {
                plain.hint("without --rhs, b is all ones")
            }
            Error::Solve(SolveError::Overflow { .. }) => {
                plain.hint("the numbers are too large: divide the matrix by a power of ten")
            }
            Error::Solve(SolveError::Run(RunError::Cancelled)) => Failure::stopped(),
            Error::Solve(
                SolveError::TooLarge { .. } | SolveError::Run(RunError::OutOfMemory { .. }),
            ) => plain
                .hint("`treeqr analyse` tells what is needed; another --ordering may need less"),
            _ => plain,
        }
    }
}

/// A file that is not there may be a name of the gallery.
fn missing(plain: Failure, path: &str) -> Failure {
    let name = path.split(':').next().unwrap_or(path);
    match treeqr::matrices::gallery::make(name) {
        Err(GalleryError::Unknown { .. }) => plain,
        _ => plain.hint(format!(
            "for the matrix of the gallery write gallery:{path}"
        )),
    }
}

fn code(error: &Error) -> u8 {
    match error {
        Error::Solve(
            SolveError::RankDeficient { .. }
            | SolveError::Overflow { .. }
            | SolveError::TooLarge { .. }
            | SolveError::TooManyTasks { .. }
            | SolveError::TooManyColumns { .. }
            | SolveError::SolutionOverflow { .. }
            | SolveError::Second(_)
            | SolveError::Run(_),
        ) => UNSOLVED,
        Error::Analyse(AnalyseError::OrderingFailed { .. } | AnalyseError::TooLarge { .. }) => {
            UNSOLVED
        }
        // A disk that was full at the end, not a name that was wrong from the beginning.
        Error::Write(WriteError::Write { .. } | WriteError::NotFinite { .. }) => UNSOLVED,
        _ => BAD_INPUT,
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Error::from(error).into()
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Error::from(error).into()
    }
}

/// Runs `command`; a panic of it is an error message like any other.
///
/// Panics of workers are silent here: the runtime turns them into errors.
pub fn catch_panics(command: impl FnOnce() -> u8) -> ExitCode {
    let main = std::thread::current().id();
    panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == main {
            let place = info.location().map(|l| format!(" ({l})"));
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let what = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let what = what.unwrap_or("no message");
            Failure::input(format!(
                "a bug in treeqr: {what}{}",
                place.unwrap_or_default()
            ))
            .hint("please report it with the command and the matrix")
            .report();
        }
    }));
    let code = panic::catch_unwind(AssertUnwindSafe(command)).unwrap_or(UNSOLVED);
    ExitCode::from(code)
}
