//! Text for a terminal: lines with a label on the left, at most 100 columns wide. Colours are written into it and
//! taken out again where it does not go to a terminal.

use super::failure::Failure;
use anstyle::{AnsiColor, Style};
use std::io::{self, Write};

/// Columns of a page, at most.
const WIDTH: usize = 100;
/// A narrower terminal has to break lines itself.
const NARROWEST: usize = 60;
/// Columns of the labels.
const LABEL: usize = 12;

/// Titles.
pub const TITLE: Style = Style::new().bold();
/// Labels on the left.
pub const NAME: Style = AnsiColor::Cyan.on_default();
/// What is there to be looked up, not to be read.
pub const FAINT: Style = Style::new().dimmed();
/// Bars, and work that was done.
pub const WORK: Style = AnsiColor::Green.on_default();
/// What deserves a second look.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// What is wrong.
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// Columns of the terminal that the standard output goes to, if it is one.
fn terminal() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(width.0).max(NARROWEST))
}

/// Columns of a text.
pub fn width() -> usize {
    terminal().map_or(WIDTH, |columns| columns.min(WIDTH))
}

/// Columns of a table, which may be wider than a text where there is room.
pub fn table_width() -> usize {
    terminal().unwrap_or(WIDTH)
}

/// A text in the making.
#[derive(Default)]
pub struct Page(String);

impl Page {
    /// A line across the page: what was done, and to what.
    pub fn title(&mut self, done: &str, subject: &str) {
        let line = format!("{TITLE}{done}{TITLE:#} {subject}\n");
        self.0.push_str(&line);
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.0.push('\n');
    }

    /// A labelled line; an empty label continues the one above. It must not be too long.
    pub fn row(&mut self, label: &str, body: &str) {
        let line = format!("  {NAME}{label:<LABEL$}{NAME:#} {body}");
        self.0.push_str(line.trim_end());
        self.0.push('\n');
    }

    /// A labelled text without colours, broken into lines where it is too long.
    pub fn prose(&mut self, label: &str, text: &str) {
        let lines = broken(text, width() - LABEL - 3);
        for (i, line) in lines.iter().enumerate() {
            self.row(if i == 0 { label } else { "" }, line);
        }
    }

    /// As [`Self::prose`], in one style.
    pub fn styled(&mut self, label: &str, text: &str, style: Style) {
        for (i, line) in broken(text, width() - LABEL - 3).iter().enumerate() {
            let label = if i == 0 { label } else { "" };
            self.row(label, &format!("{style}{line}{style:#}"));
        }
    }

    /// A text without colours, set in by four columns and broken into lines.
    pub fn indented(&mut self, text: &str) {
        for line in broken(text, width() - 4) {
            self.plain(&format!("    {line}"));
        }
    }

    /// A text without colours, set in as far as labels and broken into lines.
    pub fn indented_by_two(&mut self, text: &str) {
        for line in broken(text, width() - 2) {
            self.plain(&format!("  {line}"));
        }
    }

    /// As [`Self::indented_by_two`], all in one style.
    pub fn sentence(&mut self, style: Style, text: &str) {
        for line in broken(text, width() - 2) {
            self.plain(&format!("  {style}{line}{style:#}"));
        }
    }

    /// As [`Self::indented_by_two`], to be looked up and not to be read.
    pub fn faint(&mut self, text: &str) {
        for line in broken(text, width() - 2) {
            self.plain(&format!("  {FAINT}{line}{FAINT:#}"));
        }
    }

    /// A line without a label, as it is.
    pub fn plain(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// The text.
    pub fn text(&self) -> String {
        self.0.clone()
    }
}

/// Lines of at most `width` columns, broken at blanks.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("never empty");
        if line.is_empty() {
            line.push_str(word);
        } else if columns(line) + 1 + columns(word) <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Columns that a text without colours takes.
fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Prints to the standard output. Nobody listening (`| head`) is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    quietly(|| {
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    })
}

/// Writes somewhere; a reader that has gone is no failure.
pub fn quietly(write: impl FnOnce() -> io::Result<()>) -> Result<(), Failure> {
    match write() {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::input(e).about("the standard output"))
        }
        _ => Ok(()),
    }
}
