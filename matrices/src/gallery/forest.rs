//! Trees against forests of two trees (JGD_Forest in the SuiteSparse collection).
//!
//! Every tree is known by the number of a rooted tree, and every rooted tree by the sorted numbers of its children's
//! subtrees, so that two are isomorphic exactly when their numbers are equal. A free tree is rooted at its centroid (the
//! node, or the two neighbours, whose removal leaves no part with more than half of the nodes), which makes the trees
//! easy to list: a centroid with subtrees of fewer than n/2 nodes each, or two rooted trees of n/2 nodes joined by an edge.

use super::build::{Built, Triplets};
use std::collections::HashMap;

/// The number of a rooted tree.
type Id = u32;

/// Rooted trees by number, made as they are met.
#[derive(Default)]
struct Rooted {
    by_children: HashMap<Box<[Id]>, Id>,
    children: Vec<Box<[Id]>>,
    nodes: Vec<u32>,
    /// The position among the free trees of the same number of nodes, where known.
    free: Vec<Option<u32>>,
}

impl Rooted {
    /// The tree whose root has these children, in any order.
    fn join(&mut self, mut children: Vec<Id>) -> Id {
        children.sort_unstable();
        if let Some(&id) = self.by_children.get(children.as_slice()) {
            return id;
        }
        let id = self.children.len() as Id;
        let nodes = children
            .iter()
            .map(|&c| self.nodes[c as usize])
            .sum::<u32>();
        let children = children.into_boxed_slice();
        self.by_children.insert(children.clone(), id);
        self.children.push(children);
        self.nodes.push(nodes + 1);
        self.free.push(None);
        id
    }

    /// The tree without its `at`-th child's subtree, and with another child if one is given.
    fn exchange(&mut self, tree: Id, at: usize, with: Option<Id>) -> Id {
        let mut children = self.children[tree as usize].to_vec();
        children.swap_remove(at);
        children.extend(with);
        self.join(children)
    }

    /// The same free tree with its `at`-th child as the root.
    fn reroot(&mut self, tree: Id, at: usize) -> Id {
        let child = self.children[tree as usize][at];
        let rest = self.exchange(tree, at, None);
        let mut children = self.children[child as usize].to_vec();
        children.push(rest);
        self.join(children)
    }

    /// The same free tree rooted at its centroid; of two centroids, the one that gives the smaller number.
    fn centre(&mut self, mut tree: Id) -> Id {
        let nodes = self.nodes[tree as usize];
        loop {
            let children = &self.children[tree as usize];
            let heavy = children
                .iter()
                .position(|&c| 2 * self.nodes[c as usize] >= nodes);
            let Some(at) = heavy else { return tree };
            let child = children[at];
            let moved = self.reroot(tree, at);
            if 2 * self.nodes[child as usize] == nodes {
                return tree.min(moved);
            }
            tree = moved;
        }
    }

    /// The position of the tree among the free trees of its number of nodes.
    fn free_position(&mut self, tree: Id) -> usize {
        if let Some(position) = self.free[tree as usize] {
            return position as usize;
        }
        let centre = self.centre(tree);
        let position = self.free[centre as usize].expect("all free trees were listed");
        self.free[tree as usize] = Some(position);
        position as usize
    }

    /// Lists the free trees of `n` nodes, given `by_size`, the rooted trees of 0, 1, ..., at least n/2 nodes.
    fn list_free(&mut self, n: usize, by_size: &[Vec<Id>]) -> Vec<Id> {
        let mut found = Vec::new();
        let light: Vec<Id> = by_size[..=(n - 1) / 2].concat();
        self.multisets(&light, n - 1, &mut Vec::new(), &mut found);
        if n.is_multiple_of(2) {
            let halves = &by_size[n / 2];
            for (k, &one) in halves.iter().enumerate() {
                for &other in &halves[..=k] {
                    let mut children = self.children[one as usize].to_vec();
                    children.push(other);
                    let tree = self.join(children);
                    found.push(self.centre(tree));
                }
            }
        }
        for (position, &tree) in found.iter().enumerate() {
            self.free[tree as usize] = Some(position as u32);
        }
        found
    }

    /// Trees whose root has children out of `choices` (by number of nodes, rising) with `missing` nodes in all, in
    /// addition to `chosen`.
    fn multisets(
        &mut self,
        choices: &[Id],
        missing: usize,
        chosen: &mut Vec<Id>,
        found: &mut Vec<Id>,
    ) {
        if missing == 0 {
            found.push(self.join(chosen.clone()));
            return;
        }
        for k in (0..choices.len()).rev() {
            let nodes = self.nodes[choices[k] as usize] as usize;
            if nodes <= missing {
                chosen.push(choices[k]);
                self.multisets(&choices[..=k], missing - nodes, chosen, found);
                chosen.pop();
            }
        }
    }

    /// Calls `cut` with the two rooted trees that remain without an edge, for every edge below the root of `tree`;
    /// `above` is what hangs above the root, rooted at its parent.
    fn cuts(&mut self, tree: Id, above: Option<Id>, cut: &mut impl FnMut(&mut Self, Id, Id)) {
        for at in 0..self.children[tree as usize].len() {
            let child = self.children[tree as usize][at];
            let rest = self.exchange(tree, at, above);
            cut(self, child, rest);
            self.cuts(child, Some(rest), cut);
        }
    }
}

/// `TF<n>`: rows are the forests of two trees on n nodes, by the size of the smaller tree; columns the trees on n nodes and
/// an empty one; entries the number of edges of the tree whose removal leaves the forest.
pub(super) fn forest(args: &[usize], _seed: u64) -> Built {
    let n = args[0];
    let mut trees = Rooted::default();
    let mut by_size: Vec<Vec<Id>> = vec![Vec::new()];
    for size in 1..=n / 2 {
        let mut found = Vec::new();
        let choices = by_size.concat();
        trees.multisets(&choices, size - 1, &mut Vec::new(), &mut found);
        by_size.push(found);
    }
    let free: Vec<Vec<Id>> = (0..=n)
        .map(|size| match size {
            0 => Vec::new(),
            _ => trees.list_free(size, &by_size),
        })
        .collect();

    // Where the forests with a smaller tree of each size begin.
    let mut first = vec![0; n / 2 + 2];
    for small in 1..=n / 2 {
        let (a, b) = (free[small].len(), free[n - small].len());
        let pairs = if 2 * small == n {
            a * (a + 1) / 2
        } else {
            a * b
        };
        first[small + 1] = first[small] + pairs;
    }
    let mut out = Triplets::default();
    for (col, &tree) in free[n].iter().enumerate() {
        trees.cuts(tree, None, &mut |trees, one, other| {
            let sizes = [one, other].map(|t| trees.nodes[t as usize] as usize);
            let (small, large) = if sizes[0] <= sizes[1] {
                (one, other)
            } else {
                (other, one)
            };
            let size = sizes[0].min(sizes[1]);
            let (a, b) = (trees.free_position(small), trees.free_position(large));
            let place = if 2 * size == n {
                let (a, b) = (a.min(b), a.max(b));
                b * (b + 1) / 2 + a
            } else {
                a * free[n - size].len() + b
            };
            out.push(first[size] + place, col, 1.0);
        });
    }
    let empty = usize::from(n <= 17);
    out.finish(first[n / 2 + 1], free[n].len() + empty)
}

pub(super) fn rule(args: &[usize]) -> Option<&'static str> {
    (args[0] < 2).then_some("n must be at least 2")
}

/// The number of trees grows by 2.9557 with every node (R. Otter, 1948); each edge is worth some hash look-ups.
pub(super) fn work(args: &[usize]) -> f64 {
    let n = args[0] as f64;
    5.0 * n * 0.535 * 2.9557f64.powf(n.min(100.0)) / n.powf(2.5)
}
