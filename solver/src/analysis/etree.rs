//! The column elimination tree and its postorder, without forming W^T W.
//!
//! Takes a pattern and a column order; gives parents in that order. Liu, "The role of elimination trees in sparse
//! factorization" (1990), section 4; for W^T W: Gilbert, Ng, Peyton (1994). Nearly linear in nnz.

use treeqr_matrices::Pattern;

/// Marks a root, and in general the absence of a node.
pub(crate) const NONE: u32 = u32::MAX;

/// Parents in the elimination tree of W^T W, columns numbered by their place in `order`.
pub(crate) fn column_etree(cols: &Pattern, order: &[u32]) -> Vec<u32> {
    let n = order.len();
    let mut parent = vec![NONE; n];
    let mut ancestor = vec![NONE; n];
    // A row is a clique in W^T W: linking each of its columns to the one before is enough to connect it.
    let mut last_in_row = vec![NONE; cols.nrows()];
    let mut before: &[u32] = &[];
    for k in 0..n as u32 {
        let rows = cols.col(order[k as usize] as usize);
        // A column with the rows of the one before it is that one's parent, and finds nothing else.
        if rows == before && !rows.is_empty() {
            ancestor[k as usize - 1] = k;
            parent[k as usize - 1] = k;
            continue;
        }
        before = rows;
        for &i in rows {
            let mut r = std::mem::replace(&mut last_in_row[i as usize], k);
            while r != NONE && r < k {
                let next = std::mem::replace(&mut ancestor[r as usize], k);
                if next == NONE {
                    parent[r as usize] = k;
                }
                r = next;
            }
        }
    }
    parent
}

/// The nodes of a forest, children before their parent and every subtree contiguous; children in increasing order.
pub(crate) fn postorder(parent: &[u32]) -> Vec<u32> {
    let n = parent.len();
    let mut first_child = vec![NONE; n];
    let mut next_sibling = vec![NONE; n];
    let mut roots = Vec::new();
    for v in (0..n as u32).rev() {
        match parent[v as usize] {
            NONE => roots.push(v),
            p => next_sibling[v as usize] = std::mem::replace(&mut first_child[p as usize], v),
        }
    }
    let mut post = Vec::with_capacity(n);
    let mut stack = roots;
    while let Some(&v) = stack.last() {
        match first_child[v as usize] {
            NONE => {
                post.push(v);
                stack.pop();
            }
            c => {
                first_child[v as usize] = next_sibling[c as usize];
                stack.push(c);
            }
        }
    }
    post
}

/// A column order with its elimination tree and the entries of every row of R; columns are numbered by their place in `order`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountedTree {
    pub order: Vec<u32>,
    pub parent: Vec<u32>,
    pub counts: Vec<u32>,
}

impl CountedTree {
    /// With a postorder of the tree for the order.
    pub fn postordered(&self) -> Self {
        let post = postorder(&self.parent);
        CountedTree {
            order: post.iter().map(|&v| self.order[v as usize]).collect(),
            parent: relabelled(&self.parent, &post),
            counts: post.iter().map(|&v| self.counts[v as usize]).collect(),
        }
    }
}

/// An elimination tree whose column order is a postorder of it: `order` and `parent` after relabelling.
pub(crate) fn postordered_etree(cols: &Pattern, order: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let parent = column_etree(cols, order);
    let post = postorder(&parent);
    let new_order = post.iter().map(|&v| order[v as usize]).collect();
    (new_order, relabelled(&parent, &post))
}

/// The parents where the nodes come in the order of `post`.
fn relabelled(parent: &[u32], post: &[u32]) -> Vec<u32> {
    let mut place = vec![NONE; post.len()];
    for (k, &v) in post.iter().enumerate() {
        place[v as usize] = k as u32;
    }
    let above = |&v: &u32| match parent[v as usize] {
        NONE => NONE,
        p => place[p as usize],
    };
    post.iter().map(above).collect()
}
