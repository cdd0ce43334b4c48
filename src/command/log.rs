//! TREEQR_LOG: what the library says of its steps, on stderr.
//!
//! Takes a level, or levels by crate (`info,treeqr_solver=debug`); without it only warnings are shown. Every step ends with a
//! line that says how long it took.

use super::failure::Failure;
use std::io::{self, IsTerminal};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::fmt::{self, time::Uptime};
use tracing_subscriber::prelude::*;

/// The variable.
const VARIABLE: &str = "TREEQR_LOG";

/// From now on events of the library go to stderr.
pub fn start() -> Result<(), Failure> {
    let wanted = std::env::var(VARIABLE).unwrap_or_else(|_| "warn".to_owned());
    let levels: Targets = wanted.parse().map_err(|error| {
        Failure::input(format!("{VARIABLE}={wanted}: {error}")).hint(
            "a level (error, warn, info, debug, trace), or some by crate: info,treeqr_solver=debug",
        )
    })?;
    let lines = fmt::layer()
        .with_thread_names(true)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_timer(Uptime::default())
        .with_span_events(FmtSpan::CLOSE)
        .with_filter(levels);
    // A second start in one process (tests) finds the first one's.
    let _ = tracing_subscriber::registry().with(lines).try_init();
    Ok(())
}
