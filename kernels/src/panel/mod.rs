//! The panel: up to ib columns, factorized together with their T.
//!
//! A panel is copied out of its tile into aligned scratch, where its height is a whole number of cache lines and everything
//! below the staircase is zero, whatever the tile holds there. So the arithmetic below sees neither leading dimensions nor
//! alignment nor staircases. Heads (the rows of R) leave the panel as soon as they are final and zeros take their place, so
//! that what remains of the panel is V, written out.
//!
//! The recursion halves the columns down to eight and builds T on its way back (Elmroth and Gustavson 2000):
//! `T = [T1, -T1 (V1^H V2) T2; 0, T2]`.

mod base;

use crate::products::{Adjoint, Product};
use crate::scalar::KernelScalar;
use crate::simd::arch;
use crate::view::{MatMut, MatRef};
use base::{Base, Square, WIDTH};

use pulp::Arch;

/// Where the head of reflector j comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heads {
    /// Row j of the panel itself: `geqrt`.
    Inside,
    /// Row j of the triangle above: `tpqrt`.
    Above,
}

/// Elements in a cache line.
pub(crate) const fn line<T>() -> usize {
    64 / size_of::<T>()
}

/// The leading dimension for `h` rows: an odd number of lines, so that columns don't fall onto the same cache sets.
fn leading<T>(h: usize, w: usize) -> usize {
    (h.max(w).div_ceil(line::<T>()) | 1) * line::<T>()
}

/// Elements of scratch for a panel of at most `h` rows and `w` columns.
pub(crate) fn panel_scratch<T>(h: usize, w: usize) -> usize {
    let (square, w) = (square::<T>(w), w.next_multiple_of(WIDTH));
    leading::<T>(h, w) * w + 2 * square * square + products_scratch(square) + 2 * line::<T>()
}

/// The side of the small squares: whole vectors.
fn square<T>(w: usize) -> usize {
    w.next_multiple_of(WIDTH.max(line::<T>()))
}

/// Three blocks of half the square's columns.
fn products_scratch(square: usize) -> usize {
    3 * square * (square / 2).next_multiple_of(WIDTH)
}

/// One panel in scratch.
pub struct Panel<'a, T> {
    /// The columns, then V.
    store: &'a mut [T],
    ld: usize,
    /// w x w: the triangle above, then R.
    heads: &'a mut [T],
    /// w x w: the triangular factor.
    t: &'a mut [T],
    /// For products of columns.
    w: &'a mut [T],
    /// The leading dimension of the two squares.
    square: usize,
    arch: Arch,
}

impl<'a, T: KernelScalar> Panel<'a, T> {
    /// A panel of at most `h` rows and `w` columns in `scratch`; the rest of the scratch is given back.
    pub fn new(scratch: &'a mut [T], h: usize, w: usize) -> (Self, &'a mut [T]) {
        let (square, w) = (square::<T>(w), w.next_multiple_of(WIDTH));
        let skip = scratch.as_ptr().align_offset(64).min(line::<T>());
        let ld = leading::<T>(h, w);
        let (store, rest) = scratch[skip..].split_at_mut(ld * w);
        let (heads, rest) = rest.split_at_mut(square * square);
        let (t, rest) = rest.split_at_mut(square * square + line::<T>());
        let (w, rest) = rest.split_at_mut(products_scratch(square));
        let panel = Self {
            store,
            ld,
            heads,
            t,
            w,
            square,
            arch: arch(),
        };
        (panel, rest)
    }

    /// Copies the first `rows(j)` entries of each column of `a` in, zeros below, and no heads.
    pub fn load(&mut self, a: MatRef<T>, rows: impl Fn(usize) -> usize) {
        let width = a.ncols().next_multiple_of(WIDTH);
        for (j, to) in self.store.chunks_exact_mut(self.ld).take(width).enumerate() {
            let h = if j < a.ncols() { rows(j) } else { 0 };
            if h > 0 {
                to[..h].copy_from_slice(&a.col(j)[..h]);
            }
            to[h..].fill(T::zero());
        }
        self.heads.fill(T::zero());
        self.t.fill(T::zero());
    }

    /// Copies the upper triangle of `r` into the heads.
    pub fn load_heads(&mut self, r: MatRef<T>) {
        for j in 0..r.ncols() {
            self.heads[j * self.square..][..=j].copy_from_slice(&r.col(j)[..=j]);
        }
    }

    /// V, with its unit diagonal and zeros above it when the heads were inside.
    pub fn v(&self, h: usize, w: usize) -> MatRef<'_, T> {
        MatRef::new(self.store, h, w, self.ld)
    }

    /// Writes R and V back into the tile they came from, the first `rows(j)` entries of each column.
    pub fn store_inside(&self, mut a: MatMut<T>, rows: impl Fn(usize) -> usize) {
        let w = a.ncols();
        for j in 0..w {
            let h = rows(j);
            let top = h.min(j + 1);
            let to = a.col_mut(j);
            to[..top].copy_from_slice(&self.heads[j * self.square..][..top]);
            to[top..h].copy_from_slice(&self.store[j * self.ld..][top..h]);
        }
    }

    /// Writes V back into the tile and R into the triangle above.
    pub fn store_above(&self, mut b: MatMut<T>, mut r: MatMut<T>, rows: impl Fn(usize) -> usize) {
        let w = b.ncols();
        for j in 0..w {
            let h = rows(j);
            b.col_mut(j)[..h].copy_from_slice(&self.store[j * self.ld..][..h]);
            r.col_mut(j)[..=j].copy_from_slice(&self.heads[j * self.square..][..=j]);
        }
    }

    /// Factorizes `w` columns of `h` rows; `t` is w x w and gets zeros below its diagonal.
    pub fn factor(&mut self, mode: Heads, h: usize, w: usize, t: MatMut<T>) {
        T::factor_panel(self, mode, h, w, t);
    }

    pub fn factor_here(&mut self, mode: Heads, h: usize, w: usize, mut t: MatMut<T>) {
        let width = w.next_multiple_of(WIDTH);
        // With the heads inside, even reflectors without rows have their place on the diagonal.
        let least = if mode == Heads::Inside { width } else { 0 };
        let rows = h.max(least).next_multiple_of(line::<T>());
        self.node(mode, rows, 0, w);
        for j in 0..w {
            t.col_mut(j)[..w].copy_from_slice(&self.t[j * self.square..][..w]);
        }
    }

    /// The columns from `q` on, `width` of them and those that fill up.
    fn node(&mut self, mode: Heads, rows: usize, q: usize, width: usize) {
        if width <= WIDTH {
            self.base(mode, rows, q, width);
            return;
        }
        let filled = width.next_multiple_of(WIDTH);
        let p = (filled / 2).next_multiple_of(WIDTH);
        self.node(mode, rows, q, p);
        self.apply(mode, rows, q, p, filled - p);
        self.node(mode, rows, q + p, width - p);
        self.merge(mode, rows, q, p, filled - p);
    }

    fn base(&mut self, mode: Heads, rows: usize, q: usize, width: usize) {
        let mut heads: Square<T> = [[T::zero(); WIDTH]; WIDTH];
        let mut t = heads;
        let at = |j: usize| (q + j) * self.square + q;
        for (j, column) in heads.iter_mut().enumerate() {
            column.copy_from_slice(&self.heads[at(j)..][..WIDTH]);
        }
        self.arch.dispatch(Base {
            mode,
            width,
            cols: &mut self.store[q * self.ld..][..WIDTH * self.ld],
            ld: self.ld,
            rows,
            row0: q,
            heads: &mut heads,
            t: &mut t,
        });
        for j in 0..WIDTH {
            self.heads[at(j)..][..WIDTH].copy_from_slice(&heads[j]);
            self.t[at(j)..][..WIDTH].copy_from_slice(&t[j]);
        }
    }

    /// The rows of V that begins at column q, from the edge of a line on.
    fn span(&self, mode: Heads, rows: usize, q: usize) -> std::ops::Range<usize> {
        match mode {
            Heads::Inside => q / line::<T>() * line::<T>()..rows,
            Heads::Above => 0..rows,
        }
    }

    /// Applies the `p` reflectors from `q` on to the `n` columns right of them.
    fn apply(&mut self, mode: Heads, rows: usize, q: usize, p: usize, n: usize) {
        let span = self.span(mode, rows, q);
        let (left, right) = self.store.split_at_mut((q + p) * self.ld);
        let v = &left[q * self.ld..];
        let ldw = p.next_multiple_of(line::<T>());
        let (w, rest) = self.w.split_at_mut(ldw * n);
        let (tw, rest) = rest.split_at_mut(ldw * n);
        let adjoint = &mut rest[..ldw * p];
        adjoint.fill(T::zero());
        for j in 0..p {
            let t = &self.t[(q + j) * self.square + q..][..=j];
            for (i, t) in t.iter().enumerate() {
                adjoint[i * ldw + j] = t.conj();
            }
        }
        let head = |j: usize| (q + p + j) * self.square + q;
        for (j, w) in w.chunks_exact_mut(ldw).enumerate() {
            // Zeros, if the heads are inside.
            w[..p].copy_from_slice(&self.heads[head(j)..][..p]);
        }
        self.arch.dispatch(Adjoint {
            a: v,
            b: right,
            ld: self.ld,
            rows: span.clone(),
            c: w,
            ldc: ldw,
            p,
            q: n,
        });
        self.arch.dispatch(Product {
            replace: true,
            a: adjoint,
            lda: ldw,
            b: w,
            ldb: ldw,
            c: tw,
            ldc: ldw,
            rows: 0..ldw,
            k: p,
            q: n,
        });
        self.arch.dispatch(Product {
            replace: false,
            a: v,
            lda: self.ld,
            b: tw,
            ldb: ldw,
            c: right,
            ldc: self.ld,
            rows: span,
            k: p,
            q: n,
        });
        for j in 0..n {
            let heads = &mut self.heads[head(j)..][..p];
            if mode == Heads::Inside {
                let rows = &mut right[j * self.ld + q..][..p];
                heads.copy_from_slice(rows);
                rows.fill(T::zero());
            } else {
                for (head, &w) in heads.iter_mut().zip(&tw[j * ldw..]) {
                    *head -= w;
                }
            }
        }
    }

    /// T12 = -T1 (V1^H V2) T2 for the `p` reflectors from `q` on and the `n` after them.
    fn merge(&mut self, mode: Heads, rows: usize, q: usize, p: usize, n: usize) {
        let span = self.span(mode, rows, q + p);
        let ldw = p.next_multiple_of(line::<T>());
        let (w, rest) = self.w.split_at_mut(ldw * n);
        let tw = &mut rest[..ldw * n];
        w.fill(T::zero());
        self.arch.dispatch(Adjoint {
            a: &self.store[q * self.ld..],
            b: &self.store[(q + p) * self.ld..],
            ld: self.ld,
            rows: span,
            c: w,
            ldc: ldw,
            p,
            q: n,
        });
        let at = |i: usize, j: usize| j * self.square + i;
        self.arch.dispatch(Product {
            replace: true,
            a: &self.t[at(q, q)..],
            lda: self.square,
            b: w,
            ldb: ldw,
            c: tw,
            ldc: ldw,
            rows: 0..ldw,
            k: p,
            q: n,
        });
        self.arch.dispatch(Product {
            replace: true,
            a: tw,
            lda: ldw,
            b: &self.t[at(q + p, q + p)..],
            ldb: self.square,
            c: w,
            ldc: ldw,
            rows: 0..ldw,
            k: n,
            q: n,
        });
        for (j, w) in w.chunks_exact(ldw).enumerate() {
            for (t, &w) in self.t[at(q, q + p + j)..][..p].iter_mut().zip(w) {
                *t = -w;
            }
        }
    }
}
