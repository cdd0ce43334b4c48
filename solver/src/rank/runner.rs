//! Where the tasks of this part run: on the workers of the factorization, or on the calling thread; and what they work on, by their
//! parameters.
//!
//! | parameter | |
//! | --- | --- |
//! | 0, 1, 2 | which one, as the codelet likes |
//! | 3, 4, 5 | rows and columns of what it writes, and how many reflectors or vectors it takes; 0 where that is not known before |

use crate::error::SolveError;
use crate::numeric::FactorOptions;
use crate::plan::TaskGeometry;
use treeqr_runtime::{
    Application, Config, DataStore, Observer, Stopped, Submitter, run, run_sequential,
};

/// Threads, and who watches.
pub(crate) struct Runner<'a, O> {
    config: Config,
    sequential: bool,
    /// Whether memory that the first pass has freed is to stay for the next factorization.
    pub(super) keep_storage: bool,
    observer: &'a O,
}

impl<'a, O: Observer> Runner<'a, O> {
    /// The workers of a factorization with these options.
    pub fn new(options: &FactorOptions, observer: &'a O) -> Self {
        Runner {
            config: Config {
                // They are for the codelets of the factorization.
                limits: Vec::new(),
                devices: Vec::new(),
                accelerators: Vec::new(),
                learn: false,
                ..options.run.clone()
            },
            sequential: options.sequential || options.run.threads < 2,
            keep_storage: options.keep_storage,
            observer,
        }
    }

    /// Runs the tasks, so many, on workers if these are worth their threads.
    pub fn run<A: Application>(
        &self,
        app: &A,
        store: &mut DataStore,
        (tasks, worth): (usize, bool),
        submit: impl FnOnce(&mut Submitter<'_>) -> Result<(), Stopped>,
    ) -> Result<(), SolveError> {
        let config = Config {
            tasks: Some(tasks),
            ..self.config.clone()
        };
        if self.sequential || !worth {
            run_sequential(&config, app, store, self.observer, submit)?;
        } else {
            run(&config, app, store, self.observer, submit)?;
        }
        Ok(())
    }
}

impl Runner<'static, ()> {
    /// The calling thread.
    pub fn alone() -> Self {
        Runner {
            config: Config::with_threads(1),
            sequential: true,
            keep_storage: false,
            observer: &(),
        }
    }
}

/// What a task of [`RANK_CODELETS`](crate::RANK_CODELETS) or [`NULL_SPACE_CODELETS`](crate::NULL_SPACE_CODELETS) works on, by its
/// parameters.
pub fn rank_geometry(params: &[u32; 6]) -> TaskGeometry {
    let [_, _, _, rows, cols, inner] = *params;
    TaskGeometry {
        rows,
        cols,
        inner,
        ..TaskGeometry::default()
    }
}
