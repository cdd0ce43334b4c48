//! Nullstellensatz matrices of 3-colourability (JGD_Margulies in the SuiteSparse collection).
//!
//! A graph has no 3-colouring when the polynomials x0^3 + 1 (one vertex is enough, up to scaling) and
//! xi^2 + xi xj + xj^2 (for every edge) combine to 1. Rows are the monomials of degree 0, 3, ..., D + 2. Columns are
//! x0^3 + 1 times each monomial of degree 0, 3, ..., D - 1, and the polynomial of each edge times each monomial of degree
//! 1, 4, ..., D. All entries are 1.
//! J. A. De Loera, J. Lee, P. Malkin, S. Margulies, *Hilbert's Nullstellensatz and an algorithm for proving combinatorial
//! infeasibility*, 2008.

use super::build::{Built, Triplets, choose};

/// `flower_<n>_<D>`: the antiprism on 2n vertices.
pub(super) fn flower(args: &[usize], _seed: u64) -> Built {
    let n = args[0];
    let mut edges = Vec::new();
    for i in 0..n {
        let next = (i + 1) % n;
        edges.extend([(i, next), (i, n + i), (i, n + next), (n + i, n + next)]);
    }
    certificate(2 * n, &edges, args[1])
}

/// `cat_ears_<k>_<D>`: a strip of triangles on 3k + 1 vertices with a closing edge.
pub(super) fn cat_ears(args: &[usize], _seed: u64) -> Built {
    let k = args[0];
    let mut edges = vec![(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)];
    let mut a = 1;
    for c in (1..k).map(|b| 3 * b) {
        let tail = [(a, c + 1), (c, c + 1), (c + 1, c + 2), (c, c + 2)];
        edges.extend(tail);
        edges.extend([(c + 1, c + 3), (c + 2, c + 3)]);
        a = c + 1;
    }
    edges.push((0, 3 * k));
    certificate(3 * k + 1, &edges, args[1])
}

pub(super) fn flower_rule(args: &[usize]) -> Option<&'static str> {
    if args[0] < 3 {
        return Some("n must be at least 3");
    }
    degree_rule(args[1])
}

pub(super) fn cat_ears_rule(args: &[usize]) -> Option<&'static str> {
    if args[0] < 1 {
        return Some("k must be at least 1");
    }
    degree_rule(args[1])
}

fn degree_rule(degree: usize) -> Option<&'static str> {
    (degree % 3 != 1).then_some("D must be one of 1, 4, 7, ...")
}

pub(super) fn flower_work(args: &[usize]) -> f64 {
    let n = args[0] as f64;
    work(2.0 * n, 4.0 * n, args[1])
}

pub(super) fn cat_ears_work(args: &[usize]) -> f64 {
    let k = args[0] as f64;
    work(3.0 * k + 1.0, 6.0 * k, args[1])
}

fn work(vertices: f64, edges: f64, degree: usize) -> f64 {
    let d = degree as f64;
    // The largest degree has the most monomials by far, and each takes a number per degree.
    let rows = choose(vertices + d + 1.0, d + 2.0) * (d + 2.0) / 2.0;
    rows + 3.0 * edges * choose(vertices + d - 1.0, d)
}

/// Monomials are non-decreasing lists of variables, and ordered by degree and then lexicographically.
fn certificate(vertices: usize, edges: &[(usize, usize)], degree: usize) -> Built {
    let rows: Vec<Vec<Vec<u32>>> = (0..=degree + 2)
        .step_by(3)
        .map(|d| monomials(vertices, d))
        .collect();
    let mut first = vec![0];
    for list in &rows {
        first.push(first[first.len() - 1] + list.len());
    }
    let mut out = Triplets::default();
    // Adds the entry of `factor` times `monomial` in column `col`.
    let mut product = Vec::new();
    let mut put = |out: &mut Triplets, col: usize, monomial: &[u32], factor: &[usize]| {
        product.clear();
        product.extend_from_slice(monomial);
        product.extend(factor.iter().map(|&v| v as u32));
        product.sort_unstable();
        let d = product.len() / 3;
        let place = rows[d]
            .binary_search(&product)
            .expect("all monomials of the degree");
        out.push(first[d] + place, col, 1.0);
    };
    let mut col = 0;
    for monomial in rows[..rows.len() - 1].iter().flatten() {
        put(&mut out, col, monomial, &[]);
        put(&mut out, col, monomial, &[0, 0, 0]);
        col += 1;
    }
    let multipliers: Vec<Vec<u32>> = (1..=degree)
        .step_by(3)
        .flat_map(|d| monomials(vertices, d))
        .collect();
    for &(i, j) in edges {
        for monomial in &multipliers {
            for factor in [[i, i], [i, j], [j, j]] {
                put(&mut out, col, monomial, &factor);
            }
            col += 1;
        }
    }
    out.finish(first[first.len() - 1], col)
}

/// All monomials of a degree, lexicographic.
fn monomials(vertices: usize, degree: usize) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    let mut current = vec![0u32; degree];
    loop {
        all.push(current.clone());
        let Some(i) = current.iter().rposition(|&v| (v as usize) < vertices - 1) else {
            return all;
        };
        let raised = current[i] + 1;
        current[i..].fill(raised);
    }
}
