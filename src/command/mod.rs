//! The command line: one file a subcommand, and what they share.
//!
//! | file | subject |
//! | --- | --- |
//! | `cli` | subcommands, flags and help texts |
//! | `solve` | `treeqr solve`: the whole way, with its summary and JSON |
//! | `bench` | `treeqr bench`: schedulers compared, with statistics, table, JSON and CSV |
//! | `plot`, `report`, `findings`, `hints` | `treeqr plot`: pictures of a trace; `treeqr report`: a run on one screen, with what it could have been and why it was not |
//! | `compared` | `treeqr report A B`: two runs side by side |
//! | `html` | the report as a page for a browser, by `treeqr report` and `treeqr solve` |
//! | `trace` | `treeqr trace`: what is in a trace, its rules, parts and differences |
//! | `dense` | dense rows and columns, as `solve` and `analyse` tell them |
//! | `analyse`, `info`, `gallery`, `lists` | the other subcommands |
//! | `input` | matrices, right-hand sides and orders from the words of the command line |
//! | `failure` | what went wrong, with exit code and hint |
//! | `stop` | Ctrl-C |
//! | `log` | TREEQR_LOG |
//! | `limits` | sizes and limits as words |
//! | `bar` | the progress bar |
//! | `peak` | the machine's matrix-product speed |
//! | `processors` | one for each thread that reads and analyses |
//! | `page`, `units`, `bars` | text: lines with labels, numbers with units, bars of blocks |

mod analyse;
mod bar;
mod bars;
mod bench;
mod cli;
mod compared;
mod dense;
mod failure;
mod findings;
mod gallery;
mod hints;
mod html;
mod info;
mod input;
mod limits;
mod lists;
mod log;
mod page;
mod peak;
mod plot;
mod processors;
mod report;
mod solve;
mod stop;
mod trace;
mod units;

use clap::Parser;
use cli::{Cli, Command};
use failure::Failure;
use std::process::ExitCode;

/// Solved.
const SOLVED: u8 = 0;
/// Bad input or use.
const BAD_INPUT: u8 = 1;
/// Could not be solved.
const UNSOLVED: u8 = 2;
/// Stopped from outside.
const STOPPED: u8 = 3;

/// Reads the command line and does what it says.
pub fn run() -> ExitCode {
    failure::catch_panics(|| {
        let mut cli = match Cli::try_parse() {
            Ok(cli) => cli,
            // Help and version come this way too.
            Err(message) => {
                let code = if message.use_stderr() {
                    BAD_INPUT
                } else {
                    SOLVED
                };
                // A closed pipe is no reason to complain.
                let _ = message.print();
                return code;
            }
        };
        let threads = cli.command.threads();
        treeqr::runtime::keep_freed_memory(threads);
        treeqr::runtime::leave_hwloc_plugins_out();
        processors::spread(threads);
        if let Err(failure) = log::start() {
            return failure.report();
        }
        for source in cli.command.sources() {
            if let Err(error) = source.hold() {
                return Failure::from(treeqr::Error::from(treeqr::matrices::LoadError::from(
                    error,
                )))
                .report();
            }
        }
        let done = match cli.command {
            Command::Solve(args) => solve::run(&args),
            Command::Analyse(args) => analyse::run(&args),
            Command::Info(args) => info::run(&args),
            Command::Gallery(args) => gallery::run(&args),
            Command::Bench(args) => bench::run(&args),
            Command::Trace(command) => trace::run(&command),
            Command::Plot(args) => plot::run(&args),
            Command::Report(args) => report::run(&args),
            Command::Topology => lists::topology(),
            Command::Schedulers => lists::schedulers(),
            Command::Orderings => lists::orderings(),
            Command::Completions { shell } => lists::completions(shell),
        };
        stop::over();
        done.map_or_else(|failure: Failure| failure.report(), |()| SOLVED)
    })
}
