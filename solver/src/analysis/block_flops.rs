//! Flops of every front as one block. Tiles, groups, predictions and tasks ask for them, and each count goes over the whole staircase.

use crate::symbolic::Tree;
use rayon::prelude::*;
use treeqr_kernels::{Stair, front_qr_flops};

/// Fronts that are worth another thread.
const FRONTS: usize = 64;

/// Those of one front, in real arithmetic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockFlops {
    pub without_rhs: u64,
    /// For each right-hand side.
    rhs: u64,
}

impl BlockFlops {
    pub fn with(self, nrhs: usize) -> u64 {
        self.without_rhs
            .saturating_add(self.rhs.saturating_mul(nrhs as u64))
    }
}

/// By front. O(columns of all fronts), on all threads.
pub(crate) fn of(tree: &Tree) -> Vec<BlockFlops> {
    let of_front = |f: usize| {
        let (front, stair) = (&tree.fronts[f], Stair::Rows(tree.stair(f)));
        let (m, n) = (front.m as usize, front.n as usize);
        let flops = |nrhs| front_qr_flops::<f64>(m, n, nrhs, stair);
        let without_rhs = flops(0);
        BlockFlops {
            without_rhs,
            rhs: flops(1) - without_rhs,
        }
    };
    let fronts = 0..tree.fronts.len();
    fronts
        .into_par_iter()
        .with_min_len(FRONTS)
        .map(of_front)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, analyse};
    use treeqr_matrices::gallery;

    #[test]
    fn right_hand_sides_add_the_same_each() {
        let a = gallery::make("lp-300").expect("gallery").matrix;
        let symbolic = analyse(a.pattern(), &Options::default()).expect("analysis");
        let tree = &symbolic.tree;
        for (f, flops) in of(tree).iter().enumerate() {
            for nrhs in [0, 1, 2, 17] {
                let front = &tree.fronts[f];
                let (m, n, stair) = (front.m as usize, front.n as usize, tree.stair(f));
                let counted = front_qr_flops::<f64>(m, n, nrhs, Stair::Rows(stair));
                assert_eq!(
                    flops.with(nrhs),
                    counted,
                    "front {f}, {nrhs} right-hand sides"
                );
            }
        }
    }
}
