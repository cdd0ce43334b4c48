//! Dense rows: left out of the sparse factorization, and brought in after it.
//!
//! W = [S; D] with k dense rows D; S = Q R has been factorized, of rank n - d. With P the live columns of S, E its d dead ones,
//! K = D_P R^{-1} and F = Q^H S_E
//!
//! ```text
//!   [ Q^H     ]   [ S_P  S_E ]   [ I   F    ] [ R    ]       after [  I ]     the QR factorization of  [ K^H ]
//!   [      -I ] * [ D_P  D_E ] = [ -K  -D_E ] [    I ] ,           [ -K ]  with                        [  I  ] = Q2 [ R2; 0 ] is
//!
//!                          [ 0       T ]   k rows                [ B  ]
//!   Q2^H times the above = [ B^-1 R  Y ]   n - d rows ,   Q2 =   [ .. ] with B B^H = (I + K^H K)^{-1} in its upper right corner
//! ```
//!
//! since the first k columns of Q2 span what is orthogonal to [I; -K]. T, with few rows and few columns, has the part of the dead
//! columns that nothing else explains; a QR factorization with column exchanges, T = Q3 R3, finds how many of them are alive in W.
//! So W = Q' P' with an orthogonal Q', made of Q, Q2 and Q3, and with P' = [B^{-1} R  Y; 0  R3]: an orthogonal factorization as any other,
//! whose P' is not sparse and not triangular, and never formed. B is applied as reflectors: no I + K^H K, no inverse of R2.
//! Least squares, shortest solutions and products with Q' and P'^{-1} follow as for QR.
//!
//! Heath 1984 (*Numerical methods for large sparse linear least squares problems*, SIAM J. Sci. Stat. Comput. 5) brings dense rows in
//! by updating; A. Björck 1996 (*Numerical Methods for Least Squares Problems*) has more on it. When S is nearly of lower rank than
//! W, K is large and digits are lost with it: x is corrected by its residual with P' as preconditioner (`solve`).
//!
//! | file | subject |
//! | --- | --- |
//! | `build` | K, Q2, Y and T from the factors of S; the rank of W |
//! | `pivoted` | the QR factorization of T |
//! | `apply` | Q' and P'^{-1}, and their adjoints, on vectors |
//! | `solve` | x, basic or shortest, and its corrections |
//! | `stored` | all that in a file |

mod apply;
mod build;
mod pivoted;
mod solve;
mod stored;

pub(crate) use build::{bring_in, sparse_options};

use crate::numeric::FactorScalar;
use crate::rank::{NullSpace, largest_column};
use pivoted::Pivoted;
use treeqr_matrices::Csc;

/// What dense rows leave besides the factors of the rest.
pub(crate) struct Split<T> {
    /// A, for residuals.
    a: Csc<T>,
    /// Live pivots of S: places in the elimination order, increasing.
    live: Vec<u32>,
    /// Dead columns of S.
    dead: Vec<u32>,
    /// Q2, on n - d + k rows: packed reflectors, where each ends, and their factors.
    v: Vec<T>,
    ends: Vec<u32>,
    tau: Vec<T>,
    /// Y of the dead columns of S in the order of `t`, n - d rows.
    y: Vec<T>,
    /// T.
    t: Pivoted<T>,
    /// Where shortest solutions are wanted of a W without full rank: its null space.
    null: Option<NullSpace<T>>,
    /// The right-hand sides of the factorization.
    b: Vec<T>,
}

impl<T: FactorScalar> Split<T> {
    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        let dense = self.v.len() + self.tau.len() + self.y.len() + self.b.len();
        let values = (dense + self.a.nnz() + self.t.len()) * size_of::<T>();
        values as u64
    }

    /// The largest norm of a column of W.
    pub fn largest_column(&self, transposed: bool) -> f64 {
        largest_column(&self.a, transposed)
    }

    /// Whether solutions are made the shortest.
    pub fn is_projected(&self) -> bool {
        self.null.is_some()
    }

    /// Columns of S that are alive in W.
    fn revived(&self) -> usize {
        self.t.rank()
    }
}
