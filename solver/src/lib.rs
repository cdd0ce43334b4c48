//! Sparse linear least squares by a multifrontal QR factorization: analysis, factorization, solve.
mod analysis;
mod error;
mod numeric;
mod options;
mod plan;
mod solve;
mod symbolic;

pub use analysis::analyse;
pub use analysis::ordering::{AUTO, ORDERINGS, OrderingEntry, OrderingInput};
pub use error::{AnalyseError, SolveError};
pub use numeric::{FactorOptions, FactorScalar, Factored, Factors, check_rhs, factorize};
pub use options::Options;
pub use plan::{CODELETS, Prediction, RunShape};
pub use solve::{Quality, Rotated, quality};
pub use symbolic::{Front, Problem, Symbolic};
