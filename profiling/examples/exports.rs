//! A trace and all its exports, for readers that are not ours: `just readers`.
//!
//! `cargo run -p treeqr-profiling --example exports -- FOLDER [TRACE | TASKS [SEED]]` copies a trace, or makes a random one,
//! and prints the seconds that each export took.

#[path = "../tests/common/mod.rs"]
mod common;

use common::Shape;
use std::path::{Path, PathBuf};
use std::time::Instant;
use treeqr_profiling::export::{EXPORTS, ExportError, ExportOptions, Form, Graph};
use treeqr_profiling::trace::{Overwrite, Trace};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("a folder to write to")?);
    let what = arguments.next().unwrap_or_else(|| "2000".to_owned());
    let trace = match what.parse() {
        Ok(tasks) => {
            let random = common::random(Shape {
                seed: arguments.next().map_or(Ok(1), |word| word.parse())?,
                tasks,
                cpus: 6,
                devices: 2,
            });
            // Who could help is looked for among all tasks: a large trace would take long.
            match tasks {
                ..10_000 => common::samples::with_helpers(random),
                _ => random,
            }
        }
        Err(_) => Trace::open(Path::new(&what))?,
    };
    let tasks = trace.tables.tasks.len();
    println!(
        "{tasks} tasks, {} dependencies",
        trace.tables.dependencies.len()
    );
    let begin = Instant::now();
    trace.write(&folder.join("trace"), Overwrite::Trace)?;
    println!("trace     {:7.2} s", begin.elapsed().as_secs_f64());
    for entry in EXPORTS {
        let name = match entry.form {
            Form::File(_) => format!("{}.{}", entry.name, entry.ending),
            Form::Folder(_) => entry.name.to_owned(),
        };
        let options = ExportOptions {
            overwrite: true,
            what: if tasks > 5000 {
                Graph::Tree
            } else {
                Graph::Tasks
            },
            ..ExportOptions::default()
        };
        let begin = Instant::now();
        match entry.write(&trace, &folder.join(name), &options) {
            Ok(()) => println!("{:9} {:7.2} s", entry.name, begin.elapsed().as_secs_f64()),
            Err(error @ ExportError::TooManyTasks { .. }) => println!("{}: {error}", entry.name),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
