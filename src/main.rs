//! The command `treeqr`: from a Matrix Market file to x, with a summary of where the time went.
//!
//! Everything is in [`command`]; here is the way in and out.
#![forbid(unsafe_code)]

mod command;

fn main() -> std::process::ExitCode {
    command::run()
}
