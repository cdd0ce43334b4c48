//! `treeqr topology`, `treeqr schedulers`, `treeqr orderings`, `treeqr completions`: what the tables hold.

use super::cli::Cli;
use super::failure::Failure;
use super::input::ordering_names;
use super::page::{self, Page};
use clap::CommandFactory;
use clap_complete::Shell;
use treeqr::device_lines;
use treeqr::runtime::{SCHEDULERS, Topology, schedulers};

/// Lists the schedulers.
pub fn schedulers() -> Result<(), Failure> {
    let default = schedulers::default_entry().name;
    let mut page = Page::default();
    for entry in SCHEDULERS {
        let mark = if entry.name == default {
            " (default)"
        } else {
            ""
        };
        page.prose(entry.name, &format!("{}{mark}", entry.about));
    }
    page::print(&page.text())
}

/// Shows the machine.
pub fn topology() -> Result<(), Failure> {
    let mut text = format!("{}\n", Topology::read().to_string().trim_end());
    for (k, line) in device_lines().iter().enumerate() {
        let key = if k == 0 { "Devices" } else { "" };
        text.push_str(&format!("{key:<10} {line}\n"));
    }
    page::print(&text)
}

/// Lists the orderings.
pub fn orderings() -> Result<(), Failure> {
    let mut page = Page::default();
    for (name, about) in ordering_names() {
        let mark = if name == treeqr::solver::AUTO {
            " (default)"
        } else {
            ""
        };
        page.prose(name, &format!("{about}{mark}"));
    }
    page.prose("file:PATH", "your own: a column, counted from 1, per line");
    page::print(&page.text())
}

/// Prints the completion script.
pub fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "treeqr", &mut script);
    page::print(&String::from_utf8_lossy(&script))
}
