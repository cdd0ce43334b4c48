//! One block of reflectors in compact WY form, applied: the products that hold nearly all flops.

use crate::panel::line;
use crate::products::Product;
use crate::scalar::{Beta, KernelScalar};
use crate::simd::arch;
use crate::strips::{self, Strips, WIDE, leading, strips_scratch};
use crate::view::{MatMut, MatRef};

/// Which of the two: Q or its adjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// C becomes Q C.
    NoTrans,
    /// C becomes Q^H C.
    ConjTrans,
}

/// Elements of scratch that [`apply`] needs for `kb` reflectors on m x n.
pub(crate) fn apply_scratch<T>(m: usize, n: usize, kb: usize) -> usize {
    let products = leading::<T>(kb) * 2 * n.next_multiple_of(4);
    let strips = if n > FEW {
        strips_scratch::<T>(m, kb)
    } else {
        0
    };
    leading::<T>(kb) * (kb + WIDE) + products.max(strips) + line::<T>()
}

/// Where T is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// By V^H C, column by column of C.
    Between,
    /// By V, once for all columns of C. Only without C1, which needs the product with V^H C.
    IntoV,
}

impl Factor {
    /// What is less work on `rows` x `columns`. All parts of these columns must be updated alike: their bits depend on it.
    pub(crate) fn of(rows: usize, columns: usize) -> Self {
        match columns >= rows {
            true => Factor::IntoV,
            false => Factor::Between,
        }
    }
}

/// Up to so many columns a library's products are quicker anyway: they pack none of V.
pub(crate) const FEW: usize = 4;

/// `[C1; C2] = op(I - [I; V] T [I; V]^H) [C1; C2]`; without C1 it is `C2 = op(I - V T V^H) C2`.
///
/// | argument | size |
/// | --- | --- |
/// | `v` | m x k, all entries are read; zeros from row `rows` on |
/// | `rows` | of C2, what V reaches; those behind stay as they are, and let whole vectors be written: see [`whole_vectors`] |
/// | `t` | k x k, the upper triangle is read |
/// | `c1` | k x n |
/// | `c2` | m x n |
pub(crate) fn apply<T: KernelScalar>(
    op: Op,
    v: MatRef<T>,
    rows: usize,
    t: MatRef<T>,
    c1: Option<MatMut<T>>,
    c2: MatMut<T>,
    scratch: &mut [T],
) {
    T::apply_block(op, Factor::Between, v, rows, t, c1, c2, scratch);
}

/// The rows from `from` on, up to `to` and on to the next whole vector where there are so many.
pub(crate) fn whole_vectors<T>(from: usize, to: usize, most: usize) -> usize {
    to.max(from).next_multiple_of(line::<T>()).min(most) - from
}

#[allow(clippy::too_many_arguments)] // those of `apply`, and how
pub(crate) fn apply_here<T: KernelScalar>(
    op: Op,
    place: Factor,
    v: MatRef<T>,
    rows: usize,
    t: MatRef<T>,
    c1: Option<MatMut<T>>,
    mut c2: MatMut<T>,
    scratch: &mut [T],
) {
    let (k, n) = (v.ncols(), c2.ncols());
    if k == 0 || n == 0 {
        return;
    }
    let ld = leading::<T>(k);
    let skip = scratch.as_ptr().align_offset(64).min(line::<T>());
    let (factor, scratch) = scratch[skip..].split_at_mut(ld * (k + WIDE));
    factor.fill(T::zero());
    if n > FEW && strips::pay() {
        match (place, op) {
            (Factor::Between, _) => fill_factor(op, T::one(), t, factor, ld),
            (Factor::IntoV, Op::ConjTrans) => fill_factor(Op::NoTrans, -T::one(), t, factor, ld),
            (Factor::IntoV, Op::NoTrans) => fill_factor(Op::ConjTrans, -T::one(), t, factor, ld),
        }
        arch().dispatch(Strips {
            op,
            place,
            v,
            rows,
            factor,
            c1,
            c2,
            scratch,
        });
        return;
    }
    fill_factor(op, T::one(), t, factor, ld);
    let v = v.submatrix(0, 0, rows, k);
    c2 = c2.submatrix(0, 0, rows, n);
    let wide = n.next_multiple_of(4);
    let (w, rest) = scratch.split_at_mut(ld * wide);
    let tw = &mut rest[..ld * wide];

    let mut beta = Beta::Zero;
    if let Some(c1) = &c1 {
        for (j, w) in w.chunks_exact_mut(ld).take(n).enumerate() {
            w[..k].copy_from_slice(c1.col(j));
        }
        beta = Beta::One;
    }
    let whole = MatMut::new(w, k, n, ld);
    T::gemm_adjoint(beta, whole, T::one(), v, c2.rb());
    triangle(op, factor, ld, k, w, tw, wide);
    if let Some(mut c1) = c1 {
        for (j, tw) in tw.chunks_exact(ld).take(n).enumerate() {
            for (c, &x) in c1.col_mut(j).iter_mut().zip(tw) {
                *c -= x;
            }
        }
    }
    let tw = MatRef::new(tw, k, n, ld);
    T::gemm(Beta::One, c2.rb_mut(), -T::one(), v, tw);
}

/// sign op(T) into zeros.
fn fill_factor<T: KernelScalar>(op: Op, sign: T, t: MatRef<T>, factor: &mut [T], ld: usize) {
    for j in 0..t.ncols() {
        for (i, &x) in t.col(j)[..=j].iter().enumerate() {
            match op {
                Op::NoTrans => factor[j * ld + i] = sign * x,
                Op::ConjTrans => factor[i * ld + j] = sign * x.conj(),
            }
        }
    }
}

/// TW = op(T) W, by strips of two lines of rows, each with the part of T that is not zero.
fn triangle<T: KernelScalar>(
    op: Op,
    factor: &[T],
    ld: usize,
    k: usize,
    w: &[T],
    tw: &mut [T],
    q: usize,
) {
    let arch = arch();
    for start in (0..ld).step_by(2 * line::<T>()) {
        let end = (start + 2 * line::<T>()).min(ld);
        let inner = match op {
            Op::NoTrans => start.min(k)..k,
            Op::ConjTrans => 0..end.min(k),
        };
        arch.dispatch(Product {
            replace: true,
            a: &factor[inner.start * ld..],
            lda: ld,
            b: &w[inner.start..],
            ldb: ld,
            c: tw,
            ldc: ld,
            rows: start..end,
            k: inner.len(),
            q,
        });
    }
}
