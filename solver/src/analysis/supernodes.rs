//! Fundamental supernodes, and their amalgamation into the fronts.
//!
//! Takes a postordered elimination tree with |R(k, :)| and the number of rows that start in each column; gives groups of
//! columns that are eliminated together. Knows nothing of orderings, tiles or tasks.
//!
//! A supernode is a chain of columns with the same structure. Fronts as small as that cost more in calls and copies than
//! in flops, so a child is merged into its parent when a model of the time says that the merged front is faster: fewer
//! copies and larger products against the flops on the zeros that it adds. Ashcraft & Grimes (1989) relax by zeros
//! alone; here flops and the size of the fronts decide, with fixed coefficients, so that the result does not depend on
//! the machine.

use super::etree::NONE;

/// Coefficients of the time model, in ns. They were fitted to the block kernel (see docs/performance.md) and need only
/// be right in proportion.
mod model {
    /// Fixed cost of a front: bookkeeping, calls, cache misses on its lists.
    pub const PER_FRONT: f64 = 400.0;
    /// Cost of an entry of a front: zeroed, packed.
    pub const PER_ENTRY: f64 = 0.35;
    /// Cost of an entry of a contribution block: packed, scattered into the parent.
    pub const PER_COPIED: f64 = 0.8;
    /// Rate that large fronts reach, in flops per ns.
    pub const RATE: f64 = 40.0;
    /// Front width at which half of that rate is reached.
    pub const HALF_RATE_WIDTH: f64 = 64.0;
}

/// The amalgamated forest. Node ids increase from children to parents.
pub(crate) struct Forest {
    /// Columns of each node, increasing.
    pub pivots: Vec<Vec<u32>>,
}

/// A group of columns while it grows.
struct Node {
    /// Pivot columns.
    npiv: f64,
    /// Columns of the front.
    ncols: f64,
    /// Rows that start in the pivot columns, those from children included.
    rows: f64,
    /// Sum over the pivots of the height h_k of their reflector, and of k h_k: the flops of the pivots of a front of n
    /// columns are then 4 (n S0 - S1).
    s0: f64,
    s1: f64,
    /// Merged into another node.
    gone: bool,
}

impl Node {
    fn contribution_rows(&self) -> f64 {
        (self.rows.min(self.ncols) - self.npiv).max(0.0)
    }

    /// Sums over the pivots when reflector k has the height `rows - k`.
    fn set_heights(&mut self) {
        let k = self.npiv.min(self.rows);
        // sum of (rows - i) and of i (rows - i) for i < k
        self.s0 = k * self.rows - k * (k - 1.0) / 2.0;
        self.s1 = self.rows * k * (k - 1.0) / 2.0 - (k - 1.0) * k * (2.0 * k - 1.0) / 6.0;
    }

    fn time_ns(&self) -> f64 {
        let pivots = 4.0 * (self.ncols * self.s0 - self.s1);
        let flops = pivots + dense_qr_flops(self.rows - self.npiv, self.ncols - self.npiv);
        let width = self.ncols.min(self.rows);
        let rate = model::RATE * width / (width + model::HALF_RATE_WIDTH);
        let cb = self.contribution_rows();
        let copied = cb * (self.ncols - self.npiv - 0.5 * cb);
        model::PER_FRONT
            + model::PER_ENTRY * self.rows * self.ncols
            + flops / rate.max(0.5)
            + model::PER_COPIED * copied
    }

    /// The front of a parent with this child's pivots put before its own.
    fn absorb(&self, child: &Node) -> Node {
        // Rows of the child that its own trapezoidal form would have dropped now stay for the parent's pivots.
        let extra = (child.rows - child.npiv).max(0.0) - child.contribution_rows();
        let ncols = self.ncols + child.npiv;
        let shifted = self.s1 + child.npiv * self.s0;
        let extra_s0 = extra * self.npiv;
        let extra_s1 = extra * self.npiv * (child.npiv + 0.5 * (self.npiv - 1.0));
        Node {
            npiv: self.npiv + child.npiv,
            ncols,
            rows: self.rows + child.npiv.min(child.rows) + extra,
            s0: self.s0 + child.s0 + extra_s0,
            s1: shifted + child.s1 + extra_s1,
            gone: false,
        }
    }
}

/// Flops of the QR factorization of a dense m x n block without a staircase.
fn dense_qr_flops(m: f64, n: f64) -> f64 {
    if m <= 1.0 || n <= 0.0 {
        return 0.0;
    }
    if m >= n {
        2.0 * n * n * (m - n / 3.0)
    } else {
        2.0 * m * m * (n - m / 3.0)
    }
}

/// Fundamental supernodes and their amalgamation; `rows_at[k]` rows of the matrix start in column k. O(columns), nearly.
pub(crate) fn amalgamate(parent: &[u32], counts: &[u32], rows_at: &[usize]) -> Forest {
    let n = parent.len();
    let mut children_of = vec![0u32; n];
    for &p in parent {
        if p != NONE {
            children_of[p as usize] += 1;
        }
    }
    let mut start = Vec::new();
    let mut node_of = vec![0u32; n];
    for k in 0..n {
        let joins = k > 0
            && parent[k - 1] == k as u32
            && children_of[k] == 1
            && counts[k - 1] == counts[k] + 1;
        if !joins {
            start.push(k);
        }
        node_of[k] = start.len() as u32 - 1;
    }
    start.push(n);
    let nodes = start.len() - 1;
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for s in 0..nodes {
        let p = parent[start[s + 1] - 1];
        if p != NONE {
            children[node_of[p as usize] as usize].push(s as u32);
        }
    }
    let mut pivots: Vec<Vec<u32>> = (0..nodes)
        .map(|s| (start[s] as u32..start[s + 1] as u32).collect())
        .collect();
    let mut tree: Vec<Node> = Vec::with_capacity(nodes);
    for s in 0..nodes {
        let own: usize = rows_at[start[s]..start[s + 1]].iter().sum();
        let from_children: f64 = children[s]
            .iter()
            .map(|&c| tree[c as usize].contribution_rows())
            .sum();
        let mut node = Node {
            npiv: (start[s + 1] - start[s]) as f64,
            ncols: f64::from(counts[start[s]]),
            rows: own as f64 + from_children,
            s0: 0.0,
            s1: 0.0,
            gone: false,
        };
        node.set_heights();
        // The child with the widest front first: it is the one whose merging adds least.
        let mut candidates = std::mem::take(&mut children[s]);
        candidates.sort_by(|&a, &b| {
            tree[b as usize]
                .ncols
                .total_cmp(&tree[a as usize].ncols)
                .then(b.cmp(&a))
        });
        let mut kept = Vec::new();
        for c in candidates {
            let child = &tree[c as usize];
            let merged = node.absorb(child);
            if merged.time_ns() <= node.time_ns() + child.time_ns() {
                node = merged;
                tree[c as usize].gone = true;
                let taken = std::mem::take(&mut pivots[c as usize]);
                pivots[s].extend(taken);
                kept.append(&mut children[c as usize]);
            } else {
                kept.push(c);
            }
        }
        children[s] = kept;
        tree.push(node);
    }
    let mut out = Vec::new();
    for (node, mut list) in tree.into_iter().zip(pivots) {
        if !node.gone {
            list.sort_unstable();
            out.push(list);
        }
    }
    Forest { pivots: out }
}
