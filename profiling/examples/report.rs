//! The page of a random trace of any size: for trying how large it becomes and how a browser takes it.
//!
//! `cargo run -p treeqr-profiling --example report -- FILE.html [TASKS [WORKERS [SEED]]]` writes it, and prints size and seconds.

#[path = "../tests/common/mod.rs"]
mod common;

use common::Shape;
use std::path::PathBuf;
use std::time::Instant;
use treeqr_profiling::report::{Options, page, write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("a file to write to")?);
    let mut number = |otherwise: u64| match arguments.next() {
        Some(word) => word.parse(),
        None => Ok(otherwise),
    };
    let shape = Shape {
        tasks: number(1_000_000)? as usize,
        cpus: number(32)? as u16,
        devices: 0,
        seed: number(1)?,
    };
    let trace = common::random(shape);
    let begin = Instant::now();
    let text = page(&[&trace], &Options::default())?;
    let seconds = begin.elapsed().as_secs_f64();
    write(&path, &text, true)?;
    let (tasks, edges) = (trace.tables.tasks.len(), trace.tables.dependencies.len());
    println!(
        "{tasks} tasks, {edges} dependencies: {:.1} MB in {seconds:.1} s",
        text.len() as f64 / 1e6
    );
    Ok(())
}
