//! Rank: which pivots are negligible, and what becomes of their rows.
//!
//! Takes the factors of the first pass, which knows no rank: W = Q R with R triangular, some of its diagonal negligible. R has the
//! singular values of W, so Heath's method (1982) can still be run, on R instead of W: a pivot column of which no more
//! than the tolerance is left is *dead*, it has no row of R, and what was left of it is dropped. Rows above the first dead pivot
//! stay as they are. The row that a dead pivot leaves free goes up the tree, and changes R there:
//!
//! ```text
//!     a front of R, second pivot dead        its ancestor                      and so on, up to a root
//!       r r r r r r                            r r r r     R of the ancestor
//!       . 0 r r r r                              r r r
//!       . . r r r r      the row that is           r r
//!                        left goes up:       +   x x x     rows from below
//!       . . . x x x  ------------------->
//! ```
//!
//! So this is a second, small multifrontal QR factorization, over the nodes with a dead pivot and those above them. R = Q2 R2 and
//! W = Q Q2 R2, with orthogonal factors throughout: nothing is lost but what is dropped. A matrix of full rank pays one look
//! at the diagonal. Reference: Davis, "Algorithm 915, SuiteSparseQR", section 2.3, which does it in one pass.
//!
//! | file | subject |
//! | --- | --- |
//! | `tolerance` | what counts as negligible |
//! | `nodes` | R of the first pass as a list of nodes: singletons, then fronts |
//! | `closure` | the nodes that may change, as a forest |
//! | `rework` | one node: its rows of R and those from below, through the kernel `deflate` |
//! | `large` | a large node in several tasks |
//! | `blocks` | the rows of R of a node that changed, in block columns |
//! | `run` | all of them, as tasks; [`Deficiency`], what is left |
//! | `find` | from the diagonal to a rank: the tolerance, and when it is raised |
//! | `inverse_norm` | whether R is singular to working precision |
//! | `small`, `check` | the small singular values of R, and what they say of the rank |
//! | `apply` | R2 and Q2, and their adjoints, on vectors |
//! | `reach` | which rows the vectors of R2's null space have, and which of them hang together |
//! | `rows`, `back` | back substitution for blocks of these vectors |
//! | `null_run`, `null_space` | an orthonormal basis of R2's null space: its tasks; the basis |
//! | `project` | off vectors, their part in the null space; what the basis lacks, R makes up for |
//! | `defect` | how far the basis is from one even so |
//! | `dead` | the dead columns of R, dense |
//! | `runner` | on which threads the tasks run |
//! | `stored` | all that in a file |
//! | `consistent` | R^H y = b by the live columns alone, where the dead ones agree |
//! | `trapezoid` | R2 as a sparse matrix; what solutions of minimum norm ask for, by its null space or its own QR factorization |

mod apply;
mod back;
mod blocks;
mod check;
mod closure;
mod consistent;
mod dead;
mod defect;
mod find;
mod inverse_norm;
mod large;
mod nodes;
mod null_run;
mod null_space;
mod project;
mod reach;
mod rework;
mod rows;
mod run;
mod runner;
mod small;
mod stored;
mod tolerance;
mod trapezoid;

pub use check::{RankCheck, RankVerdict};
pub(crate) use consistent::Tried;
pub(crate) use find::find;
pub(crate) use inverse_norm::inverse_norm;
pub(crate) use nodes::Nodes;
pub use null_run::NULL_SPACE_CODELETS;
pub(crate) use null_space::NullSpace;
pub(crate) use rows::{take, take_all};
pub use run::RANK_CODELETS;
pub(crate) use run::{Deficiency, heads_of_nodes};
pub(crate) use runner::Runner;
pub use runner::rank_geometry;
pub use small::SmallSingularValues;
pub(crate) use tolerance::{default_tolerance, largest_column, rank_deficient};
pub(crate) use trapezoid::Complete;

use crate::numeric::magnitude::shift;
use treeqr_matrices::Scalar;

/// Room for so many scalars, whatever they are. New memory comes from the system with zeros, a page when it is touched.
fn room<T: Scalar>(scratch: &mut Vec<T>, needed: usize) {
    if scratch.len() < needed {
        *scratch = Vec::new();
        *scratch = vec![T::zero(); needed];
    }
}

/// So many zeros, likewise.
fn zeros<T: Scalar>(scratch: &mut Vec<T>, needed: usize) {
    if scratch.capacity() < needed {
        *scratch = Vec::new();
        *scratch = vec![T::zero(); needed];
    } else {
        scratch.clear();
        scratch.resize(needed, T::zero());
    }
}

/// What is done with a matrix whose columns (rows, when it is wide) depend on each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deficient {
    /// It is solved in the sense of least squares; of all solutions the one that is zero in the dead columns. A wide matrix
    /// has no such solution: there it is the one of minimum norm.
    #[default]
    Basic,
    /// It is solved in the sense of least squares; of all solutions the shortest. This takes a basis of R's null space, or a second sparse QR
    /// factorization, that of R's adjoint, where much depends or the rest is ill conditioned; with dense rows split off a dense basis.
    MinimumNorm,
    /// It is an error, [`SolveError::RankDeficient`](crate::SolveError::RankDeficient).
    Refuse,
}

/// The rank of a factorized matrix, and what it was decided by.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    /// Live pivots: rows of R.
    pub rank: usize,
    /// Columns of A (rows, when A is wide) without a pivot, from 0, increasing: those that depend on others to within the
    /// tolerance. Which of several they are depends on the column order.
    pub dead: Vec<u32>,
    /// Frobenius norm of what was dropped from dead columns: the factors are those of a matrix so far from A.
    pub dropped_norm: f64,
    /// What the pivots were held against; negative when rank was not asked for.
    pub tolerance: f64,
    /// The default tolerance, where it was raised because R was singular to working precision with it.
    pub raised_from: Option<f64>,
    /// An estimate from below of ||R^{-1}|| times the largest norm of a column, where there was doubt or a dead column.
    pub condition: Option<f64>,
    /// The smallest |R_kk| that is left; infinity when none is.
    pub smallest_pivot: f64,
    /// Live pivots that are less than [`Rank::DOUBT`] times the tolerance: with many of them, or with a large x, the rank is
    /// in doubt.
    pub doubtful: usize,
}

impl Rank {
    /// How far above the tolerance a pivot is beyond doubt.
    pub const DOUBT: f64 = 1e3;

    /// That of a matrix larger by 2^by.
    pub(crate) fn shifted(self, by: i32) -> Self {
        Rank {
            dropped_norm: shift(self.dropped_norm, by),
            tolerance: shift(self.tolerance, by),
            raised_from: self.raised_from.map(|t| shift(t, by)),
            smallest_pivot: shift(self.smallest_pivot, by),
            ..self
        }
    }

    /// Whether no pivot is dead.
    pub fn is_full(&self) -> bool {
        self.dead.is_empty()
    }
}
