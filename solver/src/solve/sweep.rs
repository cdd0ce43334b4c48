//! The four ways through the tree, as data: which way, over which vectors, what goes along an edge.
//!
//! A front works on a block of vectors with a row for each of its rows (Q) or of its columns (R):
//!
//! ```text
//!   block of a front     head: pivots      edge: what its parent shares      rest (Q only)
//!                        npiv rows         cb rows (Q) or cb columns (R)     rows below min(m, n)
//! ```
//!
//! Upwards (Q^H, R^{-H}) the block is made from the front's own entries of the outer vector (rows of W that start in it,
//! or its pivot columns) and from its children's edges; head and rest are the result, the edge goes to the parent.
//! Downwards (Q, R^{-1}) everything goes the other way.
//!
//! A root has no edge. If it is *loose* (it leaves columns but no row, see `bundles`), its columns beside the pivots belong to
//! later trees: with R it takes them from the outer vector, with R^H it adds to them there.

use crate::symbolic::{Front, Tree};
use treeqr_runtime::CodeletId;

/// A way through the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sweep {
    /// Q^H b.
    QAdjoint,
    /// R x = c.
    R,
    /// Q c.
    Q,
    /// R^H y = c.
    RAdjoint,
}

/// Allocates the vectors of a block of right-hand sides; singletons and empty rows on the way up.
pub(super) const BEGIN: CodeletId = CodeletId(4);
/// Singletons and empty rows on the way down.
pub(super) const END: CodeletId = CodeletId(5);

/// Names of the codelets of a solve, by their numbers.
pub const SOLVE_CODELETS: [&str; 6] = [
    "apply_q_adjoint",
    "solve_r",
    "apply_q",
    "solve_r_adjoint",
    "solve_begin",
    "solve_end",
];

impl Sweep {
    /// By the numbers of their codelets.
    pub const ALL: [Sweep; 4] = [Sweep::QAdjoint, Sweep::R, Sweep::Q, Sweep::RAdjoint];

    pub fn is_up(self) -> bool {
        matches!(self, Sweep::QAdjoint | Sweep::RAdjoint)
    }

    pub fn codelet(self) -> CodeletId {
        CodeletId(self as u16)
    }

    /// Whether it is one of Q, over rows of W; else one of R, over columns.
    pub fn is_q(self) -> bool {
        matches!(self, Sweep::QAdjoint | Sweep::Q)
    }

    /// Rows of a front's block.
    pub fn rows(self, front: &Front) -> usize {
        (if self.is_q() { front.m } else { front.n }) as usize
    }

    /// Rows of a front's edge; a root has none.
    pub fn edge_rows(self, front: &Front) -> usize {
        (match (front.parent, self.is_q()) {
            (None, _) => 0,
            (_, true) => front.cb_rows,
            (_, false) => front.cb_cols(),
        }) as usize
    }

    /// The row of the parent's block for every row of the edge of front `c`.
    pub fn map(self, tree: &Tree, c: usize) -> &[u32] {
        if self.is_q() {
            tree.rowmap(c)
        } else {
            tree.colmap(c)
        }
    }

    /// Calls `visit(row of the block, index in the outer vector)` for the own entries of front `f`.
    pub fn for_own(self, tree: &Tree, f: usize, mut visit: impl FnMut(usize, usize)) {
        let front = &tree.fronts[f];
        if self.is_q() {
            let own = front.own_start..front.own_end;
            for (&local, &row) in tree.own.local[own.clone()].iter().zip(&tree.own.row[own]) {
                visit(local as usize, row as usize);
            }
        } else {
            let pivots = &tree.cols(f)[..front.npiv as usize];
            for (j, &position) in pivots.iter().enumerate() {
                visit(j, tree.col_order[position as usize] as usize);
            }
        }
    }
}
