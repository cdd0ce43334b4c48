//! What can be chosen for a solve. Results never depend on it.

use crate::numeric::FactorOptions;
use treeqr_runtime::Config;

/// Options of a solve with factors.
///
/// The default runs on as many of the available threads as the work is worth; for little of it, such as one right-hand
/// side and factors of some megabytes, that is the calling thread alone.
#[derive(Clone, Debug, Default)]
pub struct SolveOptions {
    /// Threads, scheduler, binding, and the handle that cancels. Emulated devices take no part: no codelet of a solve runs
    /// there. Limits count the codelets of [`SOLVE_CODELETS`](crate::SOLVE_CODELETS).
    pub run: Config,
    /// Whether the tasks run in the order of submission on the calling thread, without a scheduler. When it is not said,
    /// the predicted time decides: a worker is started for every half millisecond of it, up to `run.threads`, and
    /// none instead of one.
    pub sequential: Option<bool>,
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
        }
    }
}
