//! Sparse linear least squares by a task-based multifrontal QR factorization, with a profiler that is always on.
//!
//! For a tall A the x that minimises ||b - A x||, for a square A the x with A x = b, for a wide A the shortest such x; and a
//! least-squares solution where the columns (rows, for a wide A) depend on each other ([`Rank`], [`Deficient`]).
//! The way has three steps, and each can be taken again without those before it: [`analyse`] reads the pattern of A
//! alone, [`factorize`] computes A = Q R for its values, [`Factorization::solve`] takes right-hand sides.
//!
//! ```
//! use treeqr::{Csc, FactorOptions, Options, analyse, factorize};
//!
//! // x0 = 1, x1 = 2 and x0 + x1 = 2.7 can't all hold. One triplet (row, column, value) per entry.
//! let a = Csc::from_triplets(3, 2, &[0, 1, 2, 2], &[0, 1, 0, 1], &[1.0_f64, 1.0, 1.0, 1.0])?;
//! let symbolic = analyse(a.pattern(), &Options::default())?;
//! let qr = factorize(&symbolic, &a, &FactorOptions::default())?;
//! let x = qr.solve(&[1.0, 2.0, 2.7])?;
//! assert!((x[0] - 0.9).abs() < 1e-14 && (x[1] - 1.9).abs() < 1e-14);
//!
//! // New values, same pattern: the analysis serves again. (Values go column by column.)
//! let a = Csc::new(a.pattern().clone(), vec![1.0_f64, 9.0, 1.0, 9.0])?;
//! let x = factorize(&symbolic, &a, &FactorOptions::default())?.solve(&[1.0, 2.0, 27.0])?;
//! assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 2.0).abs() < 1e-14);
//!
//! // What ran, on which worker and for how long, is always known.
//! println!("{}", qr.run().summary());
//! # Ok::<(), treeqr::Error>(())
//! ```
//!
//! Matrices come from files (`treeqr::matrices::read_sparse`), from the gallery, and from `sprs`:
//!
//! ```
//! use treeqr::{Csc, Settings, matrices, solve};
//!
//! let mut triplets = sprs::TriMat::new((3, 2));
//! for (row, col, value) in [(0, 0, 1.0), (1, 1, 1.0), (2, 0, 1.0), (2, 1, 1.0)] {
//!     triplets.add_triplet(row, col, value);
//! }
//! let a = Csc::try_from(&triplets.to_csc::<usize>())?;
//!
//! // All three steps in one, with nothing kept but x.
//! let solution = solve(&a, &[1.0, 2.0, 2.7], 1, &Settings::default())?;
//! assert!((solution.x[1] - 1.9_f64).abs() < 1e-14);
//!
//! let network = matrices::load::<f64>("gallery:survey-6x5")?;
//! let b = network.rhs.expect("surveys have observations");
//! let heights = solve(&network.matrix, &b, 1, &Settings::default())?.x;
//! assert_eq!(heights.len(), 30);
//! # Ok::<(), treeqr::Error>(())
//! ```
//!
//! | crate | subject |
//! | --- | --- |
//! | [`matrices`] | sparse types, Matrix Market files in and out, the gallery |
//! | [`solver`] | analysis, factorization, solve |
//! | [`runtime`] | tasks, workers, schedulers |
//! | [`profiling`] | the recorder and what it tells |
//!
//! This crate puts them together: it attaches the recorder, counts the flops of a run while it goes on ([`Progress`]), and
//! has one [`Error`] for all that can go wrong.
#![forbid(unsafe_code)]

mod accelerators;
mod error;
mod factorization;
mod mixed;
mod posed;
mod progress;
mod run;
mod seminormal;
#[cfg(debug_assertions)]
#[doc(hidden)]
pub mod shared;
mod solution;
mod stored;
mod trace;
mod watch;

/// Devices beside the CPU.
pub use treeqr_devices as devices;
/// Sparse types, Matrix Market files in and out, and the gallery of generated matrices.
pub use treeqr_matrices as matrices;
/// The recorder and what it tells.
pub use treeqr_profiling as profiling;
/// The task runtime: workers and schedulers.
pub use treeqr_runtime as runtime;
/// Analysis, factorization and solve, with every detail.
pub use treeqr_solver as solver;

pub use accelerators::{
    DEFAULT_STREAMS, DeviceChoice, DeviceOptions, OpenDevices, device_lines, scalar_kind,
};
pub use error::Error;
pub use factorization::{Factorization, factorize, factorize_watched};
pub use mixed::{Fallback, MixedScalar, MixedSolution, solve_mixed};
pub use posed::{Posed, PosedError, Terms, r_squared, weighted_residual};
pub use progress::{Progress, RecordOptions};
pub use run::{Record, Run, RunKind, SystemRecord};
pub use seminormal::{SeminormalFactorization, factorize_seminormal};
pub use solution::{Settings, Solution, solve, solve_analysed, solve_then};
pub use stored::{LoadFactorsError, load_factors, save_factors, scalar_of_factors_file};
pub use trace::{TraceNotes, fingerprint, graph_trace, trace};
pub use treeqr_matrices::{Csc, Dense, Pattern, Scalar, c32, c64, read_dense, read_sparse};
pub use treeqr_runtime::Config;
pub use treeqr_solver::{
    Deficient, DenseRows, FactorOptions, FactorScalar, Factors, Householder, InverseSubset,
    Options, Prediction, Problem, Quality, Rank, RankCheck, RankVerdict, RefineEnd, RefineMethod,
    RefineOptions, RefineStep, RefinedColumn, Refinement, RunShape, Scaled, SmallSingularValues,
    SolveOptions, SolvePlan, Symbolic, quality, quality_deficient, refine,
};

use std::sync::Arc;

/// The version of treeqr.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Analyses a pattern, on the threads of the rayon pool that it is called in: ordering, tree, fronts, tiles. What it gives serves for any values, and for any
/// scalar type.
///
/// # Errors
/// [`Error::Analyse`]: an unknown ordering, a given order that is no permutation, tile sizes that do not fit, a matrix
/// without rows or columns.
pub fn analyse(pattern: &Arc<Pattern>, options: &Options) -> Result<Arc<Symbolic>, Error> {
    Ok(Arc::new(treeqr_solver::analyse(pattern, options)?))
}
