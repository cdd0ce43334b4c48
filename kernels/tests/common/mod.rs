//! Blocks with values drawn from a seed, and the norms that the tests ask for.
#![allow(dead_code)] // every test file uses a part

use treeqr_kernels::{KernelScalar, MatMut, MatRef, Stair};
use treeqr_matrices::{RealScalar, Scalar};

/// A block with its leading dimension; what lies between the columns is NaN.
#[derive(Clone, Debug)]
pub struct Block<T> {
    pub data: Vec<T>,
    pub m: usize,
    pub n: usize,
    pub ld: usize,
}

/// A small linear congruential generator, good enough for values.
pub struct Rng(pub u64);

impl Rng {
    pub fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    pub fn below(&mut self, n: usize) -> usize {
        (((self.unit() + 1.0) / 2.0) * n as f64) as usize
    }
}

pub fn nan<T: Scalar>() -> T {
    T::from_f64(f64::NAN, f64::NAN)
}

/// Of what `tpqrt` leaves: nobody wrote below the diagonal of R, nor below the staircase of V.
pub fn below_is_untouched<T: KernelScalar>(r: &Block<T>, v: &Block<T>, stair: Stair) {
    let untouched = |x: &[T]| x.iter().all(|x| x.re().to_f64().is_nan());
    for j in 0..r.n {
        let lower = &r.view().col(j)[j + 1..];
        assert!(untouched(lower), "the lower triangle of R");
        let below = &v.view().col(j)[stair.rows(j, v.m)..];
        assert!(untouched(below), "below the staircase");
    }
}

impl<T: KernelScalar> Block<T> {
    pub fn filled(m: usize, n: usize, pad: usize, value: T) -> Self {
        let ld = (m + pad).max(1);
        let mut b = Self {
            data: vec![nan(); ld * n + pad],
            m,
            n,
            ld,
        };
        for j in 0..n {
            b.view_mut().col_mut(j).fill(value);
        }
        b
    }
    pub fn random(m: usize, n: usize, pad: usize, rng: &mut Rng) -> Self {
        let mut b = Self::filled(m, n, pad, T::zero());
        for j in 0..n {
            for x in b.view_mut().col_mut(j) {
                *x = T::from_f64(rng.unit(), rng.unit());
            }
        }
        b
    }
    /// Writes `value` below the staircase of the first columns.
    pub fn below(mut self, stair: &[u32], value: T) -> Self {
        for (j, &h) in stair.iter().enumerate().take(self.n) {
            self.view_mut().col_mut(j)[h as usize..].fill(value);
        }
        self
    }
    pub fn view(&self) -> MatRef<'_, T> {
        MatRef::new(&self.data, self.m, self.n, self.ld)
    }
    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::new(&mut self.data, self.m, self.n, self.ld)
    }
    pub fn map(mut self, f: impl Fn(usize, usize, T) -> T) -> Self {
        for j in 0..self.n {
            for i in 0..self.m {
                let x = self.view().at(i, j);
                self.view_mut().set(i, j, f(i, j, x));
            }
        }
        self
    }
    /// Its upper triangle or trapezoid, zeros below.
    pub fn upper(self) -> Self {
        self.map(|i, j, x| if i <= j { x } else { T::zero() })
    }
    pub fn stack(&self, below: &Self) -> Self {
        let mut s = Self::filled(self.m + below.m, self.n, 0, T::zero());
        for j in 0..self.n {
            s.view_mut().col_mut(j)[..self.m].copy_from_slice(self.view().col(j));
            s.view_mut().col_mut(j)[self.m..].copy_from_slice(below.view().col(j));
        }
        s
    }
    pub fn cols(&self, n: usize) -> Self {
        let mut s = Self::filled(self.m, n, 0, T::zero());
        for j in 0..n {
            s.view_mut().col_mut(j).copy_from_slice(self.view().col(j));
        }
        s
    }
    pub fn identity(m: usize, pad: usize) -> Self {
        Self::filled(m, m, pad, T::zero()).map(|i, j, _| if i == j { T::one() } else { T::zero() })
    }
    /// Bits of all entries and all that lies between them.
    pub fn bits(&self) -> Vec<u64> {
        let bits = |x: T| [x.re().to_f64().to_bits(), x.im().to_f64().to_bits()];
        (0..self.n)
            .flat_map(|j| self.view().col(j).to_vec())
            .flat_map(bits)
            .collect()
    }
    /// True when what lies between the columns is still NaN.
    pub fn padding_is_untouched(&self) -> bool {
        (0..self.n).all(|j| {
            let end = ((j + 1) * self.ld).min(self.data.len());
            self.data[j * self.ld + self.m..end]
                .iter()
                .all(|x| x.re().to_f64().is_nan())
        })
    }
}

/// Scaled Frobenius norm, in doubles.
pub fn norm<T: KernelScalar>(a: MatRef<T>) -> f64 {
    let abs = |x: &T| x.re().to_f64().hypot(x.im().to_f64());
    let cols = || (0..a.ncols()).flat_map(|j| a.col(j));
    let top = cols()
        .map(abs)
        .fold(0.0, |a: f64, b| if b.is_nan() || b > a { b } else { a });
    if top == 0.0 || !top.is_finite() {
        return top;
    }
    top * cols().map(|x| (abs(x) / top).powi(2)).sum::<f64>().sqrt()
}

/// Norm of the difference; NaN when there is a NaN.
pub fn distance<T: KernelScalar>(a: MatRef<T>, b: MatRef<T>) -> f64 {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    let mut d = Block::filled(a.nrows(), a.ncols(), 0, T::zero());
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            d.view_mut().set(i, j, a.at(i, j) - b.at(i, j));
        }
    }
    norm(d.view())
}

pub fn eps<T: KernelScalar>() -> f64 {
    T::Real::EPSILON.to_f64()
}

/// Panics unless `distance <= factor * eps * size * scale`.
#[track_caller]
pub fn assert_small<T: KernelScalar>(what: &str, distance: f64, scale: f64, size: usize) {
    let ratio = if distance == 0.0 {
        0.0
    } else {
        distance / scale / (eps::<T>() * size.max(1) as f64)
    };
    assert!(
        ratio < 30.0,
        "{what}: ratio {ratio} ({}, distance {distance:e}, scale {scale:e})",
        T::NAME
    );
}

/// The difference of Q^H Q from the identity.
pub fn orthogonality<T: KernelScalar>(q: &Block<T>) -> f64 {
    let mut g = Block::filled(q.n, q.n, 0, T::zero());
    for j in 0..q.n {
        for i in 0..q.n {
            let dot: T = q
                .view()
                .col(i)
                .iter()
                .zip(q.view().col(j))
                .map(|(&a, &b)| a.conj() * b)
                .sum();
            g.view_mut().set(i, j, dot);
        }
    }
    distance(g.view(), Block::identity(q.n, 0).view())
}

/// A non-decreasing staircase; some steps may lie above the diagonal.
pub fn staircase(m: usize, n: usize, rng: &mut Rng) -> Vec<u32> {
    let mut s: Vec<u32> = (0..n).map(|_| rng.below(m + 1) as u32).collect();
    s.sort_unstable();
    s
}

pub fn stair_of(s: &Option<Vec<u32>>) -> Stair<'_> {
    match s {
        None => Stair::Full,
        Some(s) => Stair::Rows(s),
    }
}

/// Runs a generic test for the four scalars.
#[macro_export]
macro_rules! four_scalars {
    ($f:ident($($arg:expr),*)) => {{
        $f::<f32>($($arg),*);
        $f::<f64>($($arg),*);
        $f::<treeqr_matrices::c32>($($arg),*);
        $f::<treeqr_matrices::c64>($($arg),*);
    }};
}
