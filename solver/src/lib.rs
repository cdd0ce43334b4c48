//! Sparse linear least squares by a multifrontal QR factorization: analysis, factorization, solve.
//!
//! A factorization is a sequential program of tasks (`plan`) that the runtime runs in parallel; the analysis knows
//! beforehand, to the unit, what it will do.
//!
//! ```
//! use std::sync::Arc;
//! use treeqr_matrices::gallery;
//! use treeqr_solver::{FactorOptions, Options, RunShape, analyse, factorize, quality};
//!
//! let network = gallery::make("survey-20x10").expect("a gallery name");
//! let (a, b) = (network.matrix, network.rhs.expect("a survey has observations"));
//!
//! // The pattern alone decides what will be done ...
//! let symbolic = Arc::new(analyse(a.pattern(), &Options::default())?);
//! let prediction = symbolic.predict(RunShape::of::<f64>(1, false));
//!
//! // ... for any values. b is carried along and nothing of Q is kept; `()` is nobody who observes.
//! let done = factorize(&symbolic, &a, &b, 1, &FactorOptions::default(), &())?;
//! assert_eq!(done.stats.tasks, prediction.task_count());
//! let x = done.factors.solution()?;
//! assert!(quality(&a, &x, &b).normal_residual < 1e-10);
//!
//! // With Q kept, right-hand sides may come later.
//! let keep = FactorOptions { keep_q: true, ..FactorOptions::default() };
//! let factors = factorize(&symbolic, &a, &[], 0, &keep, &())?.factors;
//! let y = factors.solve(&b, 1)?;
//! assert_eq!(y.len(), x.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | subject |
//! | --- | --- |
//! | `analysis` | pattern to [`Symbolic`]: ordering, tree, fronts, tiles, groups |
//! | `plan` | handles and tasks of one run; [`Prediction`] |
//! | `numeric` | the codelets, [`factorize`], [`Factors`] |
//! | `rank` | columns that depend on others: Heath's method, [`Rank`], minimum norm |
//! | `split` | dense rows, brought in after the rest is factorized |
//! | `solve` | R, Q and their adjoints as tasks over the tree; x; [`quality`] |
//! | `refine` | x made better with R as preconditioner; condition numbers |
//! | `disk` | factors in a file |
//! | `covariance`, `inverse` | entries of (A^H A)^{-1}: by solves, and on the pattern of R |
//! | `extract` | R, Q and [`Householder`] vectors as matrices of their own |
//!
//! W is the matrix that is factorized: A when it is square or tall, A^H when it is wide. This crate knows no file, no
//! clock and no recorder.

mod analysis;
mod covariance;
mod disk;
mod error;
mod extract;
mod inverse;
mod numeric;
mod options;
mod plan;
mod positions;
mod rank;
mod refine;
#[cfg(debug_assertions)]
#[doc(hidden)]
pub mod shared;
mod solve;
mod split;
mod symbolic;

pub use analysis::analyse;
pub use analysis::ordering::{AUTO, ORDERINGS, OrderingEntry, OrderingInput};
pub use disk::{FactorsFileError, scalar_of_factors};
pub use error::{AnalyseError, SolveError};
pub use extract::Householder;
pub use inverse::InverseSubset;
pub use numeric::{
    FactorOptions, FactorScalar, Factored, Factors, MemoryLimit, Priorities, PriorityReport,
    Refactored, check_rhs, factorize,
};
pub use options::{DenseRows, Options};
pub use plan::{CODELETS, GraphTask, Prediction, RunShape, TaskGeometry, TaskGraph};
pub use rank::{
    Deficient, NULL_SPACE_CODELETS, RANK_CODELETS, Rank, RankCheck, RankVerdict,
    SmallSingularValues, rank_geometry,
};
pub use refine::{
    RefineEnd, RefineMethod, RefineOptions, RefineStep, RefinedColumn, Refinement, Scaled, refine,
};
pub use solve::{
    Quality, Rotated, SOLVE_CODELETS, Shortest, SolveOptions, SolvePlan, quality,
    quality_deficient, solve_geometry,
};
pub use symbolic::{Front, FrontTiles, Problem, Symbolic};
