//! Supernodes: chains of columns with the same structure, or nearly.
//!
//! Takes a postordered elimination tree with |R(k, :)|; gives ranges of columns. Liu, Ng, Peyton, "On finding supernodes
//! for sparse matrix computations" (SIAM J. Matrix Anal. Appl. 14, 1993), for fundamental ones; Ashcraft and Grimes, "The influence of
//! relaxed supernode partitions on the multifrontal method" (ACM TOMS 15, 1989), for the others.

use super::etree::NONE;

/// Starts of the supernodes, and the number of columns: supernode s holds the columns `start[s]..start[s + 1]`. Column
/// k joins k - 1 when it is its parent, has no other child, and R(k, :) is R(k - 1, :) without its diagonal. O(columns).
pub(crate) fn fundamental(parent: &[u32], counts: &[u32]) -> Vec<u32> {
    let n = parent.len();
    let children = children(parent);
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

/// Children of each column.
fn children(parent: &[u32]) -> Vec<u32> {
    let mut children = vec![0; parent.len()];
    for &p in parent.iter().filter(|&&p| p != NONE) {
        children[p as usize] += 1;
    }
    children
}

/// Zeros in R that a relaxed supernode may have, as a part of its other entries. In the fronts of so few zeros the amalgamation would
/// find nothing else, but build a front for each step on the way, which takes most of the analysis where a large dense front grows by single columns.
const ZEROS: f64 = 1.0 / 64.0;

/// As [`fundamental`], whose starts are given, with those joined that follow each other in a chain and have hardly more columns one than the
/// other. O(columns).
pub(crate) fn relaxed(parent: &[u32], counts: &[u32], fundamental: &[u32]) -> Vec<u32> {
    let children = children(parent);
    let mut start = Vec::with_capacity(fundamental.len());
    // Entries of R in the supernode at hand.
    let mut entries = 0.0;
    for bounds in fundamental.windows(2) {
        let (begin, end) = (bounds[0] as usize, bounds[1] as usize);
        let own: f64 = counts[begin..end].iter().map(|&c| f64::from(c)).sum();
        let goes_on = begin > 0 && parent[begin - 1] == begin as u32 && children[begin] == 1;
        let first = start.last().map_or(0, |&s: &u32| s as usize);
        let rows = (end - first) as f64;
        let trapezoid = rows * (f64::from(counts[end - 1]) - 1.0) + 0.5 * rows * (rows + 1.0);
        if goes_on && trapezoid <= (1.0 + ZEROS) * (entries + own) {
            entries += own;
        } else {
            start.push(bounds[0]);
            entries = own;
        }
    }
    start.push(parent.len() as u32);
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

    #[test]
    fn a_chain_that_hardly_grows_is_one_relaxed_supernode() {
        // 0 -> 1 -> 2 -> 3 with a column more at 1: one zero beside 393 entries; with five more five zeros, with eleven too many.
        let chain = [1, 2, 3, NONE];
        let counts = [99, 99, 98, 97];
        let start = fundamental(&chain, &counts);
        assert_eq!(start, [0, 1, 4]);
        assert_eq!(relaxed(&chain, &counts, &start), [0, 4]);
        let counts = [99, 103, 102, 101];
        assert_eq!(relaxed(&chain, &counts, &[0, 1, 4]), [0, 4]);
        let counts = [99, 109, 108, 107];
        assert_eq!(relaxed(&chain, &counts, &[0, 1, 4]), [0, 1, 4]);
        // What has another child stays on its own.
        let counts = [99, 99, 99, 98];
        let tree = [2, 2, 3, NONE];
        let start = fundamental(&tree, &counts);
        assert_eq!(relaxed(&tree, &counts, &start), start);
        assert_eq!(relaxed(&[], &[], &[0]), [0]);
    }
}
