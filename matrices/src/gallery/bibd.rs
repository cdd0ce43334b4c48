//! Pairs against subsets (JGD_BIBD in the SuiteSparse collection).

use super::build::{Built, Triplets, choose};

/// `bibd_<v>_<k>`: rows are the pairs of v points, columns the subsets of k points, both lexicographic; 1 where the pair
/// lies in the subset.
pub(super) fn bibd(args: &[usize], _seed: u64) -> Built {
    let (v, k) = (args[0], args[1]);
    // The pair (a, b) comes after the pairs that begin with 0, ..., a - 1.
    let pair = |a: usize, b: usize| a * (2 * v - a - 1) / 2 + b - a - 1;
    let mut out = Triplets::default();
    let mut subset: Vec<usize> = (0..k).collect();
    let mut col = 0;
    loop {
        for (i, &a) in subset.iter().enumerate() {
            for &b in &subset[i + 1..] {
                out.push(pair(a, b), col, 1.0);
            }
        }
        col += 1;
        // The next subset: raise the last point that can be raised, and put the others right behind it.
        let Some(i) = (0..k).rfind(|&i| subset[i] < v - k + i) else {
            return out.finish(v * (v - 1) / 2, col);
        };
        subset[i] += 1;
        for later in i + 1..k {
            subset[later] = subset[later - 1] + 1;
        }
    }
}

pub(super) fn rule(args: &[usize]) -> Option<&'static str> {
    let fits = 2 <= args[1] && args[1] <= args[0];
    (!fits).then_some("subsets need 2 <= k <= v")
}

pub(super) fn work(args: &[usize]) -> f64 {
    let (v, k) = (args[0] as f64, args[1] as f64);
    choose(v, k) * (choose(k, 2.0) + 1.0) + choose(v, 2.0)
}
