//! Traces: what is left of a run, in tables that other programs read.
//!
//! A trace is a [`Manifest`] and [`Tables`]: in memory, or a folder with `manifest.json` and one Parquet file a table.
//! Measured, simulated and graph-only traces are all of this one type. Everything in the project that reads a trace reads
//! it from here.
//!
//! | file | subject |
//! | --- | --- |
//! | `schema` | the tables, column by column, and their version |
//! | `table`, `value` | rows and cells to Parquet and back |
//! | `manifest` | what a trace says about itself |
//! | `folder` | a trace on disk: complete or absent, checked before it is read |
//! | `measured`, `nodes`, `events` | from the recorder's tables, and the system's, to a trace |
//!
//! ```
//! use treeqr_profiling::trace::{Manifest, Overwrite, Trace, TraceKind, Tables, schema::Phase};
//!
//! let phase = Phase { phase: "read".into(), part_of: None, start_ns: -2000, end_ns: -500 };
//! let trace = Trace {
//!     manifest: Manifest::new(TraceKind::Measured, "example".into()),
//!     tables: Tables { phases: vec![phase], ..Tables::default() },
//! };
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("trace");
//! trace.write(&path, Overwrite::Never)?;
//! assert_eq!(Trace::open(&path)?.tables, trace.tables);
//! # Ok::<(), treeqr_profiling::trace::TraceError>(())
//! ```

mod error;
mod events;
mod folder;
mod manifest;
mod measured;
mod nodes;
pub mod schema;
pub(crate) mod table;
pub(crate) mod value;

pub use error::TraceError;
pub use events::{counters, modules, switches};
pub use folder::{Overwrite, TraceFolder, check_target};
pub use manifest::{
    FACTORIZE, MANIFEST, Manifest, ModuleFacts, NULL_SPACE, RANK, RecorderFacts, RunFacts, RunPart,
    SOLVE, Status, TableFacts, TraceKind,
};
pub use measured::{Meaning, TaskMeaning, codelets, measured, parts};
pub use nodes::node_events;
pub use schema::SCHEMA_VERSION;
pub use table::{Column, Table};
pub use value::Cell;

use schema::{Role, for_each_table};
use std::collections::HashSet;
use std::path::Path;

/// A trace, all of it in memory: some 250 bytes a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// What it is of.
    pub manifest: Manifest,
    /// What was recorded.
    pub tables: Tables,
}

impl Trace {
    /// Reads a trace from its folder.
    ///
    /// # Errors
    /// [`TraceError`]: what is there is no trace, one of another version, or damaged.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let folder = TraceFolder::open(path)?;
        let tables = Tables::read(&folder)?;
        let manifest = folder.manifest().clone();
        Ok(Trace { manifest, tables })
    }

    /// Writes it as a folder that is complete or absent, and returns the manifest with the tables' files.
    ///
    /// # Errors
    /// [`TraceError`]: the target exists, or cannot be written; it is then as it was.
    pub fn write(&self, path: &Path, overwrite: Overwrite) -> Result<Manifest, TraceError> {
        folder::write(self, path, overwrite)
    }
}

/// Goes through tables without knowing them.
pub trait TableVisitor {
    /// The next table, in the order of [`Tables`].
    fn table<T: Table>(&mut self, rows: &[T]);
}

macro_rules! tables {
    ($($field:ident: $row:ident,)+) => {
        /// The tables of a trace; those that were not recorded are empty.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Tables {
            $(#[doc = concat!("Rows of [`", stringify!($row), "`](schema::", stringify!($row), ").")]
            pub $field: Vec<schema::$row>,)+
        }

        impl Tables {
            /// Shows every table to `visitor`.
            pub fn visit(&self, visitor: &mut impl TableVisitor) {
                $(visitor.table(&self.$field);)+
            }

            fn read(folder: &TraceFolder) -> Result<Self, TraceError> {
                Ok(Tables { $($field: folder.table()?,)+ })
            }
        }
    };
}
for_each_table!(tables);

impl Tables {
    /// Numbers of the tasks that work with factors that are there: solves, and what finds the rank.
    pub fn solves(&self) -> HashSet<u32> {
        let roles = self.codelets.iter().filter(|c| c.role == Role::Solve);
        let solve: Vec<u16> = roles.map(|c| c.codelet).collect();
        let tasks = self.tasks.iter().filter(|t| solve.contains(&t.codelet));
        tasks.map(|t| t.task).collect()
    }
}
