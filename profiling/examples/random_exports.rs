//! A random trace and all its exports, for readers that are not ours: `just readers`.
//!
//! `cargo run -p treeqr-profiling --example random_exports -- FOLDER [TASKS] [SEED]` prints the seconds that each took.

#[path = "../tests/common/mod.rs"]
mod common;

use common::Shape;
use std::path::PathBuf;
use std::time::Instant;
use treeqr_profiling::export::{EXPORTS, ExportError, ExportOptions, Form, Graph};
use treeqr_profiling::trace::Overwrite;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("a folder to write to")?);
    let tasks = arguments.next().map_or(Ok(2000), |word| word.parse())?;
    let seed = arguments.next().map_or(Ok(1), |word| word.parse())?;
    let trace = common::random(Shape {
        seed,
        tasks,
        cpus: 6,
        devices: 2,
    });
    println!(
        "{} tasks, {} dependencies",
        trace.tables.tasks.len(),
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
