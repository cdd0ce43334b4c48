//! Helpers shared by the solver's tests: random sparse matrices and dense checks.
#![allow(dead_code)]

use std::sync::Arc;
use treeqr_kernels::KernelScalar;
use treeqr_matrices::{Csc, RealScalar, Scalar};
use treeqr_runtime::Config;
use treeqr_solver::{
    FactorOptions, FactorScalar, Factored, Options, Rotated, Symbolic, analyse, factorize,
};

/// A small deterministic generator (SplitMix64), so that a failing case can be told by its seed.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Uniform in (-1, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn scalar<T: Scalar>(&mut self) -> T {
        let re = self.unit();
        T::from_f64(re, self.unit())
    }
}

/// A random m x n matrix with a full structural diagonal (so that it almost surely has full rank) and `extra` further
/// entries.
pub fn random<T: Scalar>(seed: u64, m: usize, n: usize, extra: usize) -> Csc<T> {
    let mut rng = Rng(seed);
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    // The diagonal on shuffled rows and columns.
    let mut rows: Vec<u32> = (0..m as u32).collect();
    let mut cols: Vec<u32> = (0..n as u32).collect();
    for list in [&mut rows, &mut cols] {
        for k in (1..list.len()).rev() {
            list.swap(k, rng.below(k + 1));
        }
    }
    for k in 0..m.min(n) {
        i.push(rows[k]);
        j.push(cols[k]);
        v.push(rng.scalar::<T>() + T::from_f64(2.0, 0.0));
    }
    for _ in 0..extra {
        i.push(rng.below(m) as u32);
        j.push(rng.below(n) as u32);
        v.push(rng.scalar());
    }
    Csc::from_triplets(m, n, &i, &j, &v).expect("valid triplets")
}

pub fn vector<T: Scalar>(seed: u64, len: usize) -> Vec<T> {
    let mut rng = Rng(seed ^ 0xabcd);
    (0..len).map(|_| rng.scalar()).collect()
}

/// All entries of a sparse matrix, column by column.
pub fn entries<T: Scalar>(a: &Csc<T>) -> Vec<T> {
    let m = a.nrows();
    let mut all = vec![T::zero(); m * a.ncols()];
    for j in 0..a.ncols() {
        let (rows, values) = a.col(j);
        for (&i, &v) in rows.iter().zip(values) {
            all[j * m + i as usize] = v;
        }
    }
    all
}

pub fn options(f: impl FnOnce(&mut Options)) -> Options {
    let mut o = Options {
        threads: 2,
        ..Options::default()
    };
    f(&mut o);
    o
}

pub fn run_options(threads: usize, keep_q: bool) -> FactorOptions {
    FactorOptions {
        keep_q,
        run: Config {
            bind: false,
            ..Config::with_threads(threads)
        },
        ..FactorOptions::default()
    }
}

/// Analyses and factorizes with Q kept.
pub fn factor<T: FactorScalar>(a: &Csc<T>, o: &Options) -> (Arc<Symbolic>, Factored<T>) {
    let symbolic = Arc::new(analyse(a.pattern(), o).expect("analysis"));
    let factored = factorize(&symbolic, a, &[], 0, &run_options(2, true), &()).expect("full rank");
    (symbolic, factored)
}

/// LAPACK-style ratios ||W - Q R|| / (||W||_F max(m, n) eps) and ||x - Q Q^H x|| / (||x|| m eps), by applying Q to the
/// columns of W and to random vectors: both must stay below 30.
pub fn ratios<T: FactorScalar>(
    a: &Csc<T>,
    symbolic: &Symbolic,
    factored: &Factored<T>,
) -> (f64, f64) {
    let w = if symbolic.transposed() {
        a.adjoint()
    } else {
        a.clone()
    };
    let (m, n) = (w.nrows(), w.ncols());
    let eps = <T::Real as RealScalar>::EPSILON.to_f64();
    let f = &factored.factors;
    // Q^H W must be R: zero below, upper triangular in the elimination order.
    let mut dense = vec![T::zero(); m * n];
    for j in 0..n {
        let (rows, values) = w.col(j);
        for (&i, &v) in rows.iter().zip(values) {
            dense[j * m + i as usize] = v;
        }
    }
    let r = f.apply_q_adjoint(&dense, n).expect("Q kept");
    let order: Vec<u32> = symbolic.column_order().collect();
    let mut below = 0.0f64;
    for (k, &j) in order.iter().enumerate() {
        let j = j as usize;
        for i in k + 1..n {
            below += r.head[j * n + i].abs2().to_f64();
        }
        for i in 0..m - n {
            below += r.rest[j * (m - n) + i].abs2().to_f64();
        }
    }
    let norm = w.norm_frobenius().to_f64().max(f64::MIN_POSITIVE);
    let backward = below.sqrt() / (norm * m.max(n) as f64 * eps);

    let x: Vec<T> = vector(7, m * 2);
    let y = f.apply_q_adjoint(&x, 2).expect("Q kept");
    let back = f.apply_q(&y, 2).expect("Q kept");
    let error: f64 = x
        .iter()
        .zip(&back)
        .map(|(&a, &b)| (a - b).abs2().to_f64())
        .sum::<f64>()
        .sqrt();
    let length: f64 = x.iter().map(|v| v.abs2().to_f64()).sum::<f64>().sqrt();
    let norm_y: f64 = y
        .head
        .iter()
        .chain(&y.rest)
        .map(|v| v.abs2().to_f64())
        .sum::<f64>()
        .sqrt();
    let loss = error.max((norm_y - length).abs()) / (length * m as f64 * eps);
    (backward, loss)
}

/// The value of y without its rest: for tests that build one by hand.
pub fn head_only<T: KernelScalar>(head: Vec<T>) -> Rotated<T> {
    Rotated {
        head,
        rest: Vec::new(),
    }
}
