//! Solving with the factors, as tasks on the runtime. The vectors of the elimination order have the singletons first, then
//! the pivots of the fronts; several right-hand sides are columns, one after the other.
//!
//! | file | subject |
//! | --- | --- |
//! | `system` | what callers ask for: x for least squares, square and minimum-norm problems; R, Q and their adjoints |
//! | `options` | threads, or none |
//! | `program` | a solve as a sequential program of tasks: **read this first** |
//! | `sparse`, `reach` | right-hand sides with few nonzeros, few entries of x; the part of the tree that they need |
//! | `sweep` | the four ways through the tree |
//! | `bundles`, `costs` | fronts of one task; the model of time behind it |
//! | `plan`, `run` | what a solve will run; a program becomes a run |
//! | `app`, `vectors`, `walk` | the codelets: outside of the tree, what they read and write, and a bundle of fronts |
//! | `triangular`, `tiles`, `orthogonal` | one front: R x = c and R^H y = c, in tiles too; Q^H and Q |
//! | `deficient` | the same where the rank is not full |
//! | `shortest` | x of a wide A from R alone |
//! | `quality` | residuals of a solution, from A itself |

mod app;
mod bundles;
mod costs;
mod deficient;
mod options;
mod orthogonal;
mod plan;
mod program;
mod quality;
mod reach;
mod run;
mod shortest;
mod sparse;
mod sweep;
mod system;
mod tiles;
mod triangular;
mod vectors;
mod walk;

pub(crate) use app::RestPlaces;
pub use options::SolveOptions;
pub use plan::{SolvePlan, solve_geometry};
pub(crate) use quality::CONSISTENT;
pub use quality::{Quality, quality, quality_deficient};
pub use shortest::Shortest;
pub use sweep::SOLVE_CODELETS;
pub(crate) use sweep::Sweep;
pub use system::Rotated;
pub(crate) use tiles::solve_tiles;
pub(crate) use triangular::{solve_front, solve_front_adjoint};
