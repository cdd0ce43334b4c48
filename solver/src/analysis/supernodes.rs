//! Fundamental supernodes: chains of columns with the same structure.
//!
//! Takes a postordered elimination tree with |R(k, :)|; gives ranges of columns. Liu, Ng, Peyton, "On finding supernodes
//! for sparse matrix computations" (SIAM J. Matrix Anal. Appl. 14, 1993).

use super::etree::NONE;

/// Starts of the supernodes, and the number of columns: supernode s holds the columns `start[s]..start[s + 1]`. Column
/// k joins k - 1 when it is its parent, has no other child, and R(k, :) is R(k - 1, :) without its diagonal. O(columns).
pub(crate) fn fundamental(parent: &[u32], counts: &[u32]) -> Vec<u32> {
    let n = parent.len();
    let mut children = vec![0u32; n];
    for &p in parent {
        if p != NONE {
            children[p as usize] += 1;
        }
    }
    let mut start: Vec<u32> = (0..n)
        .filter(|&k| {
            k == 0
                || parent[k - 1] != k as u32
                || children[k] != 1
                || counts[k - 1] != counts[k] + 1
        })
        .map(|k| k as u32)
        .collect();
    start.push(n as u32);
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_with_one_structure_is_one_supernode() {
        // 0 -> 1 -> 2 -> 3, full upper triangle; then the same with a branch into 2.
        assert_eq!(fundamental(&[1, 2, 3, NONE], &[4, 3, 2, 1]), [0, 4]);
        assert_eq!(fundamental(&[2, 2, 3, NONE], &[3, 3, 2, 1]), [0, 1, 2, 4]);
        assert_eq!(fundamental(&[], &[]), [0]);
    }
}
