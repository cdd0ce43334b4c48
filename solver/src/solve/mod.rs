//! Solving with the factors. The vectors of the elimination order have the singletons first, then the pivots of the
//! fronts; several right-hand sides are columns, one after the other.
//!
//! | file | subject |
//! | --- | --- |
//! | `triangular` | R x = c and R^H y = c |
//! | `orthogonal` | Q^H b and Q c |
//! | `system` | x for least squares, square and minimum-norm problems |
//! | `quality` | residuals of a solution, from A itself |

mod orthogonal;
mod quality;
mod system;
mod triangular;

pub use orthogonal::Rotated;
pub use quality::{Quality, quality};
