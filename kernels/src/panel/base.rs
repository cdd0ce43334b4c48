//! Eight columns, factorized in one pass over memory for each of them.
//!
//! The pass that applies reflector j finishes column j + 1, so it can also take, of the column that is still in registers, its
//! norm, its products with the columns to the right (which reflector j + 1 needs) and with those to the left (which T needs).
//! The products are those of the unscaled column; the scale comes out of the norm and is put in afterwards.
#![allow(clippy::needless_range_loop)] // an index runs over several arrays at once

use super::Heads;
use crate::householder::{careful, is_safe, reflector};
use crate::scalar::KernelScalar;
use crate::simd::lanes;
use pulp::{Simd, WithSimd};

/// The number of columns; narrower panels are filled up with zeros.
pub(super) const WIDTH: usize = 8;

/// A small square, column by column.
pub(super) type Square<T> = [[T; WIDTH]; WIDTH];

/// The arguments of the base case.
pub(super) struct Base<'a, T> {
    pub mode: Heads,
    /// Columns that are there; those that fill up are zero, and stay so.
    pub width: usize,
    /// Eight columns with leading dimension `ld`, whole vectors long and zero where nothing is.
    pub cols: &'a mut [T],
    pub ld: usize,
    /// The rows in use, a whole number of cache lines.
    pub rows: usize,
    /// The row of the first head, if the heads are inside; all above it is zero.
    pub row0: usize,
    /// The triangle above before (if the heads are there), R after.
    pub heads: &'a mut Square<T>,
    /// Gets the triangular factor, with zeros below the diagonal.
    pub t: &'a mut Square<T>,
}

impl<T: KernelScalar> WithSimd for Base<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let mut chunks = self.cols.chunks_mut(self.ld);
        // The first row in use, at a vector's edge.
        let from = match self.mode {
            Heads::Inside => self.row0 / lanes::<S, T>() * lanes::<S, T>(),
            Heads::Above => 0,
        };
        let mut cols: [&mut [T]; WIDTH] =
            std::array::from_fn(|_| &mut chunks.next().expect("eight columns")[from..self.rows]);
        let head = match self.mode {
            Heads::Inside => Some(self.row0 - from),
            Heads::Above => None,
        };
        let mut state = State {
            width: self.width,
            with: [T::zero(); WIDTH],
            heads: self.heads,
            taus: [T::zero(); WIDTH],
            gram: [[T::zero(); WIDTH]; WIDTH],
            head,
        };
        if let Some(row) = head {
            for (c, col) in cols.iter_mut().enumerate() {
                state.heads[c][0] = std::mem::replace(&mut col[row], T::zero());
            }
        }
        state.with = products::<S, T>(s, &cols, 0);
        step::<S, T, 0>(s, &mut cols, &mut state);
        step::<S, T, 1>(s, &mut cols, &mut state);
        step::<S, T, 2>(s, &mut cols, &mut state);
        step::<S, T, 3>(s, &mut cols, &mut state);
        step::<S, T, 4>(s, &mut cols, &mut state);
        step::<S, T, 5>(s, &mut cols, &mut state);
        step::<S, T, 6>(s, &mut cols, &mut state);
        step::<S, T, 7>(s, &mut cols, &mut state);
        *self.t = triangular_factor(&state.taus, &state.gram);
    }
}

struct State<'a, T> {
    /// As in [`Base`].
    width: usize,
    /// For the column x that comes next: v^H x left of it, |x|^2 at its place, x^H a right of it.
    with: [T; WIDTH],
    heads: &'a mut Square<T>,
    taus: [T; WIDTH],
    /// v_i^H v_j at \[j\]\[i\], i < j.
    gram: Square<T>,
    /// The row of the first head, if inside.
    head: Option<usize>,
}

/// Makes reflector J and applies it, if column J is there.
#[inline(always)]
fn step<S: Simd, T: KernelScalar, const J: usize>(
    s: S,
    cols: &mut [&mut [T]; WIDTH],
    state: &mut State<T>,
) {
    if J >= state.width {
        return;
    }
    let mut scale = T::one();
    let (alpha, square) = (state.heads[J][J], state.with[J].re());
    let tau;
    if is_safe(square) && is_safe(square + alpha.abs2()) && state.with.iter().all(|x| x.is_finite())
    {
        let h = reflector(alpha, square);
        state.heads[J][J] = h.beta;
        (tau, scale) = (h.tau, h.scale);
    } else {
        tau = careful(&mut state.heads[J][J], cols[J]);
        state.with = if tau == T::zero() {
            [T::zero(); WIDTH]
        } else {
            products::<S, T>(s, cols, J)
        };
    }
    state.taus[J] = tau;
    for i in 0..J {
        state.gram[J][i] = state.with[i] * scale;
        if let Some(row) = state.head {
            state.gram[J][i] += cols[i][row + J].conj();
        }
    }
    let mut w = [T::zero(); WIDTH];
    for c in J + 1..WIDTH {
        w[c] = tau.conj() * (state.heads[c][J] + scale.conj() * state.with[c]);
        state.heads[c][J] -= w[c];
    }
    // The next head leaves the panel before the pass, so that the pass needs no special row.
    let mut own = T::zero();
    if let (Some(row), true) = (state.head, J + 1 < WIDTH) {
        own = std::mem::replace(&mut cols[J][row + J + 1], T::zero()) * scale;
        for c in J + 1..WIDTH {
            let x = std::mem::replace(&mut cols[c][row + J + 1], T::zero());
            state.heads[c][J + 1] = x - own * w[c];
        }
    }
    if J + 1 < state.width {
        state.with = pass::<S, T, J>(s, cols, scale, &w);
    } else {
        scale_column(s, cols[J], scale);
    }
    if let Some(row) = state.head {
        cols[J][row + J] = T::one();
        if J + 1 < WIDTH {
            cols[J][row + J + 1] = own;
        }
    }
}

/// v = x scale: the last column has none to its right.
#[inline(always)]
fn scale_column<S: Simd, T: KernelScalar>(s: S, column: &mut [T], scale: T) {
    let scale = T::splat(s, scale);
    for x in T::vectors_mut::<S>(column).0 {
        *x = T::vmul(s, scale, *x);
    }
}

/// v = x scale in column J, a -= v w in those to the right; gives the products of column J + 1 with all others.
#[inline(always)]
fn pass<S: Simd, T: KernelScalar, const J: usize>(
    s: S,
    cols: &mut [&mut [T]; WIDTH],
    scale: T,
    w: &[T; WIDTH],
) -> [T; WIDTH] {
    let scale = T::splat(s, scale);
    let mut minus_w = [scale; WIDTH];
    for c in J + 1..WIDTH {
        minus_w[c] = T::splat(s, -w[c]);
    }
    let w = minus_w;
    let mut acc = [T::splat(s, T::zero()); WIDTH];
    let n = T::vectors::<S>(cols[0]).0.len();
    let [a, b, c, d, e, f, g, h] = cols;
    let cols = [
        &mut T::vectors_mut::<S>(a).0[..n],
        &mut T::vectors_mut::<S>(b).0[..n],
        &mut T::vectors_mut::<S>(c).0[..n],
        &mut T::vectors_mut::<S>(d).0[..n],
        &mut T::vectors_mut::<S>(e).0[..n],
        &mut T::vectors_mut::<S>(f).0[..n],
        &mut T::vectors_mut::<S>(g).0[..n],
        &mut T::vectors_mut::<S>(h).0[..n],
    ];
    for i in 0..n {
        let v = T::vmul(s, scale, cols[J][i]);
        cols[J][i] = v;
        // Always so: without a column J + 1 there is no pass. The compiler has to know.
        if J + 1 < WIDTH {
            let x = T::fma(s, w[J + 1], v, cols[J + 1][i]);
            cols[J + 1][i] = x;
            acc[J + 1] = T::conj_fma(s, x, x, acc[J + 1]);
            for c in J + 2..WIDTH {
                let a = T::fma(s, w[c], v, cols[c][i]);
                cols[c][i] = a;
                acc[c] = T::conj_fma(s, x, a, acc[c]);
            }
            acc[J] = T::conj_fma(s, x, v, acc[J]);
            for c in 0..J {
                acc[c] = T::conj_fma(s, x, cols[c][i], acc[c]);
            }
        }
    }
    let mut with = [T::zero(); WIDTH];
    for c in 0..WIDTH {
        with[c] = T::reduce(s, acc[c]);
        if c <= J {
            with[c] = with[c].conj();
        }
    }
    with
}

/// The products of column j with all others, by themselves.
#[inline(always)]
fn products<S: Simd, T: KernelScalar>(s: S, cols: &[&mut [T]; WIDTH], j: usize) -> [T; WIDTH] {
    let mut acc = [T::splat(s, T::zero()); WIDTH];
    let x = T::vectors::<S>(cols[j]).0;
    let [a, b, c, d, e, f, g, h] = cols;
    let cols = [
        &T::vectors::<S>(a).0[..x.len()],
        &T::vectors::<S>(b).0[..x.len()],
        &T::vectors::<S>(c).0[..x.len()],
        &T::vectors::<S>(d).0[..x.len()],
        &T::vectors::<S>(e).0[..x.len()],
        &T::vectors::<S>(f).0[..x.len()],
        &T::vectors::<S>(g).0[..x.len()],
        &T::vectors::<S>(h).0[..x.len()],
    ];
    for (i, &x) in x.iter().enumerate() {
        for c in 0..WIDTH {
            acc[c] = T::conj_fma(s, x, cols[c][i], acc[c]);
        }
    }
    let mut with = [T::zero(); WIDTH];
    for c in 0..WIDTH {
        with[c] = T::reduce(s, acc[c]);
        if c < j {
            with[c] = with[c].conj();
        }
    }
    with
}

/// T(0..j, j) = -tau_j T(0..j, 0..j) (V^H v_j), T(j, j) = tau_j.
#[inline(always)]
fn triangular_factor<T: KernelScalar>(taus: &[T; WIDTH], gram: &Square<T>) -> Square<T> {
    let mut t = [[T::zero(); WIDTH]; WIDTH];
    for j in 0..WIDTH {
        let mut column = [T::zero(); WIDTH];
        for l in 0..j {
            let x = -taus[j] * gram[j][l];
            for i in 0..=l {
                column[i] += t[l][i] * x;
            }
        }
        column[j] = taus[j];
        t[j] = column;
    }
    t
}
