//! Which fronts are solved with in one task.
//!
//! Takes the tree and what each front costs; gives bundles of fronts. Knows no value and no task. A front by itself is
//! mostly too little: its factors are read once, in microseconds. So fronts are bundled from the leaves up, a front with
//! its children where they are small enough, and siblings with each other where their parent has enough to do:
//!
//! ```text
//!                 f                       the tops of a bundle are children of one front, or roots: so bundles form
//!         +----+--+--+--------+           a tree too, and what goes along an edge of it is one buffer
//!        [a    b]   [c       [g]
//!        /\    |     |\       |
//!       [ bundle ]  [d e]    [h]
//! ```
//!
//! Bundles are numbered so that all that a front needs on the way up is in bundles before. For Q that is what lies below it. For
//! R it may be more: a front that leaves no row has no parent, but its rows of R may have columns of any later tree. Such
//! *loose* fronts are roots; so trees are kept in their order, and only whole trees that follow each other share a bundle.
//!
//! The bundling changes who does what when, never what is computed.

use crate::symbolic::Front;

/// A partition of the fronts, children first.
#[derive(Debug)]
pub(super) struct Bundles {
    /// Of every front.
    of: Vec<u32>,
    /// Fronts by bundle, increasing: a postorder.
    fronts: Vec<u32>,
    start: Vec<usize>,
    parent: Vec<Option<u32>>,
    children: Vec<Vec<u32>>,
    cost: Vec<f64>,
    loose: Vec<bool>,
}

/// Whether a front leaves columns but no row: a root of the forest whose rows of R reach into later trees.
pub(super) fn is_loose(front: &Front) -> bool {
    front.parent.is_none() && front.cb_cols() > 0
}

/// A bundle of less than this part of the limit goes to its parent, whatever that has already.
const SMALL: f64 = 0.25;

impl Bundles {
    /// Bundles of a cost up to `limit`, or little more; a front above it is a bundle by itself, with what is small below
    /// it. O(fronts), but for the sorting of children.
    pub fn new(fronts: &[Front], cost: &[f64], limit: f64) -> Self {
        const OPEN: u32 = u32::MAX;
        let mut of = vec![OPEN; fronts.len()];
        let mut closed = 0u32;
        // Of the part that the front is the top of, so far, and whether that is all below the front.
        let mut open = cost.to_vec();
        let mut whole = vec![true; fronts.len()];
        let mut parts: Vec<u32> = Vec::new();
        // Whole trees that follow each other share a bundle: its number, and the room that is left.
        let mut grove: Option<(u32, f64)> = None;
        for (f, front) in fronts.iter().enumerate() {
            parts.clear();
            parts.extend(&front.children);
            let size = |c: &u32| open[*c as usize];
            parts.sort_by(|a, b| size(a).total_cmp(&size(b)).then(a.cmp(b)));
            let mut own = cost[f];
            let mut rest = &parts[..];
            while let [c, others @ ..] = rest
                && own + size(c) <= limit
            {
                own += size(c);
                rest = others;
            }
            while !rest.is_empty() {
                let mut sum = size(&rest[0]);
                let mut len = 1;
                while len < rest.len() && sum + size(&rest[len]) <= limit {
                    sum += size(&rest[len]);
                    len += 1;
                }
                let (bin, others) = rest.split_at(len);
                if sum < SMALL * limit {
                    own += sum;
                } else {
                    bin.iter().for_each(|&c| of[c as usize] = closed);
                    closed += 1;
                }
                rest = others;
            }
            open[f] = own;
            let stays = |&c: &u32| whole[c as usize] && of[c as usize] == OPEN;
            whole[f] = front.children.iter().all(stays);
            if front.parent.is_some() {
                continue;
            }
            grove = match grove {
                Some((number, room)) if whole[f] && own <= room => {
                    of[f] = number;
                    Some((number, room - own))
                }
                _ => {
                    of[f] = closed;
                    closed += 1;
                    whole[f].then_some((closed - 1, limit - own))
                }
            };
        }
        for f in (0..fronts.len()).rev() {
            if of[f] == OPEN {
                let parent = fronts[f].parent.expect("roots are in closed bundles");
                of[f] = of[parent as usize];
            }
        }
        Self::list(fronts, cost, of, closed as usize)
    }

    fn list(fronts: &[Front], cost: &[f64], of: Vec<u32>, count: usize) -> Self {
        let mut start = vec![0usize; count + 1];
        of.iter().for_each(|&u| start[u as usize + 1] += 1);
        for u in 0..count {
            start[u + 1] += start[u];
        }
        let mut next = start.clone();
        let mut out = Bundles {
            fronts: vec![0; fronts.len()],
            start,
            parent: vec![None; count],
            children: vec![Vec::new(); count],
            cost: vec![0.0; count],
            loose: vec![false; count],
            of,
        };
        for (f, front) in fronts.iter().enumerate() {
            let u = out.of[f] as usize;
            out.fronts[next[u]] = f as u32;
            next[u] += 1;
            out.cost[u] += cost[f];
            out.loose[u] |= is_loose(front);
            out.parent[u] = match front.parent {
                Some(p) if out.of[p as usize] as usize == u => out.parent[u],
                above => above.map(|p| out.of[p as usize]),
            };
        }
        for u in 0..count {
            if let Some(parent) = out.parent[u] {
                out.children[parent as usize].push(u as u32);
            }
        }
        out
    }

    pub fn len(&self) -> usize {
        self.parent.len()
    }

    pub fn of(&self, f: usize) -> usize {
        self.of[f] as usize
    }

    /// In postorder.
    pub fn fronts(&self, u: usize) -> &[u32] {
        &self.fronts[self.start[u]..self.start[u + 1]]
    }

    /// Has a higher number, if there is one.
    pub fn parent(&self, u: usize) -> Option<u32> {
        self.parent[u]
    }

    /// Whether it has a loose front.
    pub fn is_loose(&self, u: usize) -> bool {
        self.loose[u]
    }

    /// Increasing.
    pub fn children(&self, u: usize) -> &[u32] {
        &self.children[u]
    }

    /// The cost from every bundle to its root, both included: what follows it on the way up.
    pub fn to_root(&self) -> Vec<f64> {
        let mut out = self.cost.clone();
        for u in (0..self.len()).rev() {
            if let Some(parent) = self.parent[u] {
                out[u] += out[parent as usize];
            }
        }
        out
    }

    /// The cost from every bundle to the leaf that is farthest, both included: what follows it on the way down.
    pub fn to_leaf(&self) -> Vec<f64> {
        let mut out = self.cost.clone();
        for u in 0..self.len() {
            let below = self.children[u].iter().map(|&c| out[c as usize]);
            out[u] += below.fold(0.0, f64::max);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, analyse};
    use treeqr_matrices::gallery;

    #[test]
    fn bundles_are_a_tree_of_siblings_with_all_below_them() {
        for name in [
            "grid3d-8",
            "lp-400",
            "pose-40",
            "ba-6x60",
            "survey-20x10",
            "conv2d-12",
        ] {
            let a = gallery::make(name).expect("gallery").matrix;
            let symbolic = analyse(a.pattern(), &Options::default()).expect("analysis");
            let fronts = symbolic.fronts();
            let cost: Vec<f64> = fronts.iter().map(|f| f64::from(f.m * f.n)).collect();
            let total: f64 = cost.iter().sum();
            for limit in [0.0, total / 50.0, total / 7.0, total, 2.0 * total] {
                let bundles = Bundles::new(fronts, &cost, limit);
                let mut seen = vec![false; fronts.len()];
                for u in 0..bundles.len() {
                    let members = bundles.fronts(u);
                    assert!(!members.is_empty() && members.is_sorted());
                    let mut above = Vec::new();
                    for &f in members {
                        assert_eq!(bundles.of(f as usize), u);
                        assert!(!std::mem::replace(&mut seen[f as usize], true));
                        let parent = fronts[f as usize].parent;
                        if parent.is_none_or(|p| bundles.of(p as usize) != u) {
                            above.push(parent);
                        }
                    }
                    above.dedup();
                    assert_eq!(above.len(), 1, "{name}: tops of one bundle are siblings");
                    let parent = above[0].map(|p| bundles.of(p as usize) as u32);
                    assert_eq!(bundles.parent(u), parent);
                    assert!(parent.is_none_or(|p| p as usize > u));
                    assert!(
                        parent.is_none_or(|p| bundles.children(p as usize).contains(&(u as u32)))
                    );
                }
                assert!(seen.iter().all(|&s| s));
                // A later tree has later bundles, or all is in one.
                let mut trees = vec![0; fronts.len()];
                for f in (0..fronts.len()).rev() {
                    trees[f] = fronts[f].parent.map_or(f, |p| trees[p as usize]);
                }
                for f in 1..fronts.len() {
                    assert!(trees[f - 1] == trees[f] || bundles.of(f - 1) <= bundles.of(f));
                    let root = fronts[f - 1].parent.is_none();
                    assert!(!root || (f..fronts.len()).all(|g| bundles.of(g) >= bundles.of(f - 1)));
                }
                let expected = if limit >= total { 1 } else { 2 };
                assert!(
                    bundles.len().min(2) == expected,
                    "{name}: {}",
                    bundles.len()
                );
                let longest = bundles.to_root().into_iter().fold(0.0, f64::max);
                assert_eq!(longest, bundles.to_leaf().into_iter().fold(0.0, f64::max));
            }
        }
    }
}
