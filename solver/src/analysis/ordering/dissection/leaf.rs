//! Minimum degree on a small part of a graph, with the vertices around it that are eliminated later.
//!
//! The elimination graph is a matrix of bits: eliminating v joins the rows of its neighbours.

use super::graph::Weighted;

/// The surroundings are left out where they have more vertices than this.
const SURROUNDINGS: usize = 1024;

/// Writes `vertices` of g, increasing, into `out` in an order of minimum degree. Their neighbours outside come later in the whole order.
pub(crate) fn order(g: &Weighted, vertices: &[u32], out: &mut [u32]) {
    let n = vertices.len();
    let degrees = vertices.iter().map(|&v| g.of(v).len());
    let mut around = Vec::with_capacity(degrees.sum());
    vertices
        .iter()
        .for_each(|&v| around.extend_from_slice(g.of(v)));
    around.sort_unstable();
    around.dedup();
    around.retain(|v| vertices.binary_search(v).is_err());
    if around.len() > SURROUNDINGS {
        around.clear();
    }
    let words = (n + around.len()).div_ceil(64);
    let mut bits = vec![0u64; n * words];
    for (&v, row) in vertices.iter().zip(bits.chunks_exact_mut(words)) {
        for u in g.of(v) {
            let inside = vertices.binary_search(u);
            let place = inside.or_else(|_| around.binary_search(u).map(|k| n + k));
            if let Ok(l) = place {
                row[l / 64] |= 1 << (l % 64);
            }
        }
    }
    let degree_of = |row: &[u64]| row.iter().map(|w| w.count_ones()).sum::<u32>();
    let mut degree: Vec<u32> = bits.chunks_exact(words).map(degree_of).collect();
    let mut eliminated = vec![0u64; words];
    let mut clique = vec![0u64; words];
    for place in out.iter_mut() {
        let v = (0..n).min_by_key(|&v| degree[v]).expect("one is left");
        degree[v] = u32::MAX;
        *place = vertices[v];
        eliminated[v / 64] |= 1 << (v % 64);
        let row = &bits[v * words..][..words];
        for (c, (&r, &e)) in clique.iter_mut().zip(row.iter().zip(&eliminated)) {
            *c = r & !e;
        }
        for w in 0..n.div_ceil(64) {
            let mut rest = clique[w];
            if w == n / 64 {
                rest &= (1u64 << (n % 64)) - 1;
            }
            while rest != 0 {
                let u = 64 * w + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let row = &mut bits[u * words..][..words];
                let mut count = 0;
                for (r, (&c, &e)) in row.iter_mut().zip(clique.iter().zip(&eliminated)) {
                    *r = (*r | c) & !e;
                    count += r.count_ones();
                }
                bits[u * words + u / 64] &= !(1 << (u % 64));
                degree[u] = count - 1;
            }
        }
    }
}
