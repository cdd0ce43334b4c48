//! Boundary maps of the chessboard and the matching complex (JGD_Homology in the SuiteSparse collection).
//!
//! A simplex is a set of pieces (rooks, edges) of which no two are in each other's way. The map has a row for every set of
//! k + 1 pieces and a column for every set of k, in lexicographic order; taking away the i-th piece (from 0) of a row's set
//! gives a column with the entry (-1)^i. The product of consecutive maps is zero.
//! A. Björner, L. Lovász, S. Vrećica, R. Živaljević, *Chessboard complexes and matching complexes*, 1994.

use super::build::{Built, Triplets, choose};

/// All sets of `size` pieces, lexicographic; `size` pieces each, one set after another.
struct Sets {
    size: usize,
    pieces: Vec<u32>,
    count: usize,
}

impl Sets {
    fn all(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.count).map(|s| &self.pieces[s * self.size..(s + 1) * self.size])
    }

    /// Position of a set, by bisection.
    fn position(&self, set: &[u32]) -> usize {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = (low + high) / 2;
            match self.pieces[middle * self.size..(middle + 1) * self.size].cmp(set) {
                std::cmp::Ordering::Less => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }
}

/// The boundary map between sets of one more and one less piece.
fn boundary(high: &Sets, low: &Sets) -> Built {
    let mut out = Triplets::with_capacity(high.pieces.len());
    let mut face = Vec::new();
    for (row, set) in high.all().enumerate() {
        for without in 0..set.len() {
            face.clear();
            face.extend_from_slice(&set[..without]);
            face.extend_from_slice(&set[without + 1..]);
            let sign = if without % 2 == 0 { 1.0 } else { -1.0 };
            out.push(row, low.position(&face), sign);
        }
    }
    out.finish(high.count, low.count)
}

/// Placements of `size` rooks that can't take each other on a board of `p` x `q`; a rook is the number of its square,
/// row by row.
fn rooks(p: usize, q: usize, size: usize) -> Sets {
    struct Search {
        p: usize,
        q: usize,
        taken: Vec<bool>,
        chosen: Vec<u32>,
        found: Sets,
    }
    fn extend(s: &mut Search, first_row: usize) {
        let missing = s.found.size - s.chosen.len();
        if missing == 0 {
            s.found.pieces.extend_from_slice(&s.chosen);
            s.found.count += 1;
            return;
        }
        // As many rows must be left as rooks are missing.
        for row in first_row..=s.p - missing {
            for col in 0..s.q {
                if s.taken[col] {
                    continue;
                }
                s.taken[col] = true;
                s.chosen.push((row * s.q + col) as u32);
                extend(s, row + 1);
                s.chosen.pop();
                s.taken[col] = false;
            }
        }
    }
    let mut search = Search {
        p,
        q,
        taken: vec![false; q],
        chosen: Vec::new(),
        found: Sets {
            size,
            pieces: Vec::new(),
            count: 0,
        },
    };
    if size <= p.min(q) {
        extend(&mut search, 0);
    }
    search.found
}

/// Matchings of `size` edges of the complete graph on `n` nodes; an edge is its position in lexicographic order.
fn matchings(n: usize, size: usize) -> Sets {
    struct Search {
        ends: Vec<(u32, u32)>,
        covered: Vec<bool>,
        chosen: Vec<u32>,
        found: Sets,
    }
    fn extend(s: &mut Search, first: usize) {
        if s.chosen.len() == s.found.size {
            s.found.pieces.extend_from_slice(&s.chosen);
            s.found.count += 1;
            return;
        }
        for e in first..s.ends.len() {
            let (a, b) = (s.ends[e].0 as usize, s.ends[e].1 as usize);
            if s.covered[a] || s.covered[b] {
                continue;
            }
            (s.covered[a], s.covered[b]) = (true, true);
            s.chosen.push(e as u32);
            extend(s, e + 1);
            s.chosen.pop();
            (s.covered[a], s.covered[b]) = (false, false);
        }
    }
    let mut search = Search {
        ends: (0..n as u32)
            .flat_map(|a| (a + 1..n as u32).map(move |b| (a, b)))
            .collect(),
        covered: vec![false; n],
        chosen: Vec::new(),
        found: Sets {
            size,
            pieces: Vec::new(),
            count: 0,
        },
    };
    extend(&mut search, 0);
    search.found
}

/// `ch<p>-<q>-b<k>`.
pub(super) fn chessboard(args: &[usize], _seed: u64) -> Built {
    let (p, q, k) = (args[0], args[1], args[2]);
    boundary(&rooks(p, q, k + 1), &rooks(p, q, k))
}

pub(super) fn chessboard_rule(args: &[usize]) -> Option<&'static str> {
    let fits = args[2] < args[0].min(args[1]);
    (!fits).then_some("k + 1 rooks must fit on the board of p x q")
}

pub(super) fn chessboard_work(args: &[usize]) -> f64 {
    let (p, q, k) = (args[0] as f64, args[1] as f64, args[2]);
    // Rook placements are pairs of a choice of rows and a sequence of columns; the search passes through all smaller ones.
    let mut ways = 1.0;
    let mut total = p * q;
    for i in 0..=k {
        let i = i as f64;
        ways *= (p - i) * (q - i) / (i + 1.0);
        total += ways * (i + 1.0);
        if total > 1e30 {
            break;
        }
    }
    total
}

/// `mk<n>-b<k>`.
pub(super) fn matching(args: &[usize], _seed: u64) -> Built {
    let (n, k) = (args[0], args[1]);
    boundary(&matchings(n, k + 1), &matchings(n, k))
}

pub(super) fn matching_rule(args: &[usize]) -> Option<&'static str> {
    let fits = args[1] < args[0] / 2;
    (!fits).then_some("n nodes must have a matching of k + 1 edges")
}

pub(super) fn matching_work(args: &[usize]) -> f64 {
    let (n, k) = (args[0] as f64, args[1]);
    let mut ways = 1.0;
    let mut total = 0.0;
    for i in 0..=k {
        let i = i as f64;
        // Every set of i edges looks at all edges once.
        total += ways * choose(n, 2.0) / 8.0;
        ways *= choose(n - 2.0 * i, 2.0) / (i + 1.0);
        total += ways * (i + 1.0);
        if total > 1e30 {
            break;
        }
    }
    total
}
