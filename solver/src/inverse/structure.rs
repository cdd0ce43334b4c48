//! The nodes of R with a pattern that the recurrence for the inverse does not leave.
//!
//! Takes the nodes; gives parents and columns. Z22 of a node is taken from its parent, the node that pivots on its first column
//! beyond the pivots. Within a tree of fronts the parent has all of the node's other columns. Rows of singletons and of loose fronts
//! reach into nodes whose rows of R do not have these columns: there they are added, as in a symbolic Cholesky factorization.

use crate::numeric::FactorScalar;
use crate::rank::Nodes;

/// The nodes as a forest. Columns are told by their places in the elimination order.
pub(super) struct Structure {
    /// First pivot of every node, and the order at the end.
    pub first: Vec<u32>,
    /// Columns beyond the pivots, increasing.
    pub others: Vec<Vec<u32>>,
    pub parent: Vec<Option<u32>>,
    pub children: Vec<Vec<u32>>,
}

impl Structure {
    /// O(nnz(R)), or of the Cholesky factor where it is filled.
    pub fn new<T: FactorScalar>(nodes: &Nodes<'_, T>) -> Self {
        let count = nodes.len();
        let mut first: Vec<u32> = (0..count).map(|node| nodes.first(node)).collect();
        first.push(nodes.order.len() as u32);
        let mut out = Structure {
            first,
            others: Vec::with_capacity(count),
            parent: vec![None; count],
            children: vec![Vec::new(); count],
        };
        for node in 0..count {
            let mut others = nodes.cols(node).split_off(nodes.npiv(node));
            let end = out.first[node + 1];
            for &c in &out.children[node] {
                others.extend(out.others[c as usize].iter().filter(|&&p| p >= end));
            }
            others.sort_unstable();
            others.dedup();
            if let Some(&next) = others.first() {
                let parent = out.owner(next);
                out.parent[node] = Some(parent as u32);
                out.children[parent].push(node as u32);
            }
            out.others.push(others);
        }
        out
    }

    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// The node that pivots on the column at this place.
    pub fn owner(&self, place: u32) -> usize {
        self.first.partition_point(|&first| first <= place) - 1
    }

    pub fn npiv(&self, node: usize) -> usize {
        (self.first[node + 1] - self.first[node]) as usize
    }

    /// Real operations at a node: two triangular systems, and three products.
    pub fn flops(&self, node: usize) -> f64 {
        let (k, c) = (self.npiv(node) as f64, self.others[node].len() as f64);
        k * k * (k + c) + 2.0 * k * k * k + 2.0 * k * c * c + 2.0 * k * k * c
    }

    /// Entries of the upper triangle.
    pub fn entries(&self) -> u64 {
        let of = |node: usize| {
            let (k, c) = (self.npiv(node) as u64, self.others[node].len() as u64);
            k * (k + 1) / 2 + k * c
        };
        (0..self.len()).map(of).sum()
    }

    /// Places of the other columns of a child among the columns of its parent, pivots first.
    pub fn in_parent(&self, child: usize, parent: usize) -> Vec<u32> {
        let (first, npiv) = (self.first[parent], self.npiv(parent) as u32);
        let mut others = self.others[parent].iter().zip(npiv..);
        let place = |&p: &u32| {
            if p - first < npiv {
                return p - first;
            }
            let found = others.find(|o| *o.0 == p);
            found.expect("a parent has all columns of its child").1
        };
        self.others[child].iter().map(place).collect()
    }
}
