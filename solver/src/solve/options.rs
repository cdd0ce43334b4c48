//! What can be chosen for a solve. Results never depend on it.

use crate::numeric::FactorOptions;
use std::sync::LazyLock;
use std::time::Duration;
use treeqr_runtime::Config;

/// Options of a solve with factors.
///
/// The default runs on as many of the available threads as the work is worth; for little of it, such as one right-hand
/// side and factors of some ten megabytes, that is the calling thread alone.
#[derive(Clone, Debug, Default)]
pub struct SolveOptions {
    /// Threads, scheduler, binding, and the handle that cancels. Devices take no part: no codelet of a solve runs
    /// there. Limits count the codelets of [`SOLVE_CODELETS`](crate::SOLVE_CODELETS).
    pub run: Config,
    /// Whether the tasks run in the order of submission on the calling thread, without a scheduler. When it is not said,
    /// the predicted time decides: there is a worker for every five milliseconds of it, up to `run.threads`, and none
    /// instead of one.
    pub sequential: Option<bool>,
    /// Predicted time of a task: fronts are bundled up to it. Chosen from the work and the workers when not given; a front
    /// is never divided.
    pub grain: Option<Duration>,
}

impl SolveOptions {
    /// The default, made once: to ask the system how many threads there are takes longer than a small solve.
    pub(crate) fn of_nobody() -> &'static SolveOptions {
        static DEFAULT: LazyLock<SolveOptions> = LazyLock::new(SolveOptions::default);
        &DEFAULT
    }

    /// For what a solve has to factorize: its threads, scheduler and cancel handle.
    pub(crate) fn to_factorize(&self) -> FactorOptions {
        FactorOptions {
            run: Config {
                // They name codelets of the solve, which no device has a part in.
                limits: Vec::new(),
                devices: Vec::new(),
                accelerators: Vec::new(),
                ..self.run.clone()
            },
            sequential: self.sequential == Some(true),
            ..FactorOptions::default()
        }
    }
}

/// The threads, scheduler and cancel handle of a factorization.
impl From<&FactorOptions> for SolveOptions {
    fn from(options: &FactorOptions) -> Self {
        SolveOptions {
            run: Config {
                // They name codelets of the factorization.
                limits: Vec::new(),
                ..options.run.clone()
            },
            sequential: options.sequential.then_some(true),
            grain: None,
        }
    }
}
