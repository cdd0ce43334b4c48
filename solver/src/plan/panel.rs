//! How the tiles of one panel are reduced to one triangle.
//!
//! Takes a tiling; gives the steps in their order. Groups of `bh` tiles are reduced one tile after the other into the
//! group's head, then the heads by a binary tree (Bouwmeester, Jacquelin, Langou, Robert, "Tiled QR factorization
//! algorithms", 2011; the shape of qr_mumps' panels).
//!
//! ```text
//!   bh = 2:   tile 3  head --flat--> tile 4         3 <-tree- 5     3 <-tree- 7
//!             tile 5  head --flat--> tile 6         7
//!             tile 7  head
//! ```

use super::codelet;
use crate::analysis::partition::Tiling;
use treeqr_runtime::CodeletId;

/// One step of a panel's reduction. Tile rows are absolute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// geqrt of a group's head.
    Head { i: usize },
    /// tpqrt of tile `i` into the triangle of head `a`.
    Flat { a: usize, i: usize },
    /// tpqrt of the triangle of head `b` into that of head `a`.
    Tree { a: usize, b: usize },
}

impl Step {
    /// What a task of a panel does, by its parameters: (panel, step); none for other tasks.
    pub(crate) fn of(
        codelet: CodeletId,
        &[_, k, i, a, _, tree]: &[u32; 6],
    ) -> Option<(usize, Step)> {
        let (i, a) = (i as usize, a as usize);
        let step = match (codelet, tree) {
            (codelet::GEQRT, _) => Step::Head { i },
            (codelet::TPQRT, 0) => Step::Flat { a, i },
            (codelet::TPQRT, _) => Step::Tree { a, b: i },
            _ => return None,
        };
        Some((k as usize, step))
    }
}

impl Tiling {
    /// The place in tile row `i` of the first row of panel `k`: zero but in the tile with the diagonal.
    pub(crate) fn offset(&self, i: usize, k: usize) -> usize {
        self.cols[k].saturating_sub(self.rows[i]) as usize
    }
}

/// The steps of panel k.
pub(crate) fn steps(t: &Tiling, k: usize) -> Vec<Step> {
    let (diagonal, _) = t.diagonal(k);
    let end = t.depth[k] as usize;
    let width = t.width(k);
    let group = if t.bh == 0 { end } else { t.bh as usize };
    let mut heads = Vec::new();
    let mut out = Vec::new();
    for i in diagonal..end {
        // A head must hold a whole triangle: a last tile that is too short joins the group before it.
        if heads.is_empty() || ((i - diagonal) % group == 0 && t.height(i) >= width) {
            heads.push(i);
            out.push(Step::Head { i });
        } else {
            out.push(Step::Flat {
                a: *heads.last().expect("not empty"),
                i,
            });
        }
    }
    let mut distance = 1;
    while distance < heads.len() {
        for g in (0..heads.len() - distance).step_by(2 * distance) {
            out.push(Step::Tree {
                a: heads[g],
                b: heads[g + distance],
            });
        }
        distance *= 2;
    }
    out
}

/// The staircase of panel k within tile row i, for geqrt and for tpqrt in a flat step.
pub(crate) fn tile_stair(t: &Tiling, stair: &[u32], i: usize, k: usize) -> Vec<u32> {
    let columns = 0..t.width(k);
    columns.map(|c| tile_reach(t, stair, i, k, c)).collect()
}

/// One column of it.
pub(crate) fn tile_reach(t: &Tiling, stair: &[u32], i: usize, k: usize, column: usize) -> u32 {
    let top = t.rows[i] + t.offset(i, k) as u32;
    let reach = stair[t.cols[k] as usize + column];
    reach.saturating_sub(top).min(t.rows[i + 1] - top)
}

/// The staircase of the triangle of head i in panel k, for tpqrt in a step of the tree.
pub(crate) fn triangle_stair(t: &Tiling, stair: &[u32], i: usize, k: usize) -> Vec<u32> {
    let columns = &stair[t.cols[k] as usize..t.cols[k + 1] as usize];
    columns
        .iter()
        .zip(1..)
        .map(|(&s, diagonal)| s.saturating_sub(t.rows[i]).min(diagonal))
        .collect()
}
