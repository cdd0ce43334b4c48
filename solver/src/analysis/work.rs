//! The matrix that is factorized: W = A when A is square or tall, W = A^H when it is wide.
//!
//! Takes the pattern of A; gives the patterns of the columns and of the rows of W, and for every entry of a row its
//! position among the values of A. Knows nothing of orderings.

use crate::positions::Positions;
use std::sync::Arc;
use treeqr_matrices::Pattern;

/// Both directions of the pattern of W.
pub(crate) struct Work {
    /// True when W = A^H.
    pub transposed: bool,
    /// Pattern of W by columns.
    pub cols: Arc<Pattern>,
    /// Pattern of W by rows (that is, of W^T by columns).
    pub rows: Arc<Pattern>,
    /// Position among the values of A for every entry of `rows`; none when it is the same position.
    positions: Option<Positions>,
}

impl Work {
    /// O(nnz + m + n).
    pub fn new(a: &Arc<Pattern>) -> Self {
        let transposed = a.nrows() < a.ncols();
        if transposed {
            return Work {
                transposed,
                cols: Arc::new(a.transposed()),
                rows: a.clone(),
                positions: None,
            };
        }
        let mut from = Positions::zeros(a.nnz(), a.nnz());
        let mut rest = Some(from.as_mut());
        let part = |len| {
            let (part, others) = rest.take().expect("the rest of them").split_at(len);
            rest = Some(others);
            part
        };
        let rows = a.transposed_telling(part, |part, slot, p| part.set(slot, p));
        Work {
            transposed,
            cols: a.clone(),
            rows: Arc::new(rows),
            positions: Some(from),
        }
    }

    /// Position among the values of A of the entry at `p` of the rows of W.
    pub fn position(&self, p: usize) -> usize {
        self.positions.as_ref().map_or(p, |from| from.at(p))
    }
}
