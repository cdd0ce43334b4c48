//! The null space of R, as an orthonormal basis.
//!
//! Takes what `null_run` has computed; gives projections and the basis. R in trapezoidal form has a vector of its null space for every dead
//! column: 1 there, 0 in the other dead ones, and what R z = 0 makes of it in the live ones. Vectors that hang together are one
//! *part*, a dense matrix with a row for each of their entries, in elimination order; a QR factorization makes it orthonormal. Column k ends at
//! its own dead pivot, so the matrix is a staircase. Good where the live columns are not too ill conditioned (`defect` looks at it)
//! and few are dead; otherwise R's adjoint is factorized (`trapezoid`).
//!
//! ```text
//!     x x x x        Q of a part: panels of WIDTH reflectors, each with the triangular factors of its blocks
//!     1 x x x
//!     . x x x
//!     . 1 x x
//!     . . 1 x
//!     . . . 1
//! ```

use super::room;
use crate::numeric::FactorScalar;
use std::marker::PhantomData;
use std::ops::Range;
use treeqr_kernels::{MatMut, MatRef, Op, Stair, gemqrt, gemqrt_scratch};
use treeqr_runtime::{DataStore, Handle};

/// Columns of a panel.
pub(super) const WIDTH: usize = 48;
/// Of a block in compact WY form.
pub(super) const INNER: usize = 24;

/// Z, part by part. Parts have no row in common.
pub(crate) struct NullSpace<T> {
    /// Entries of a vector.
    pub(super) rows: usize,
    pub(super) parts: Vec<Part>,
    /// V and T of the panels.
    pub(super) store: DataStore,
    pub(super) scalar: PhantomData<T>,
}

/// Vectors that hang together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Which entries of the whole vectors its rows are.
    pub rows: Vec<u32>,
    /// Which vectors of the basis are its columns.
    pub columns: Vec<u32>,
    /// By column: rows up to its last entry, increasing.
    pub ends: Vec<u32>,
    /// The buffer of its first panel; each of the others has the next one.
    pub buffer: u32,
    /// Where the panel begins there, in scalars: small parts share a buffer.
    pub offset: u32,
}

impl Part {
    /// Panels that it has.
    pub fn panels(&self) -> usize {
        self.columns.len().div_ceil(WIDTH)
    }

    /// The first column of a panel, its rows, its columns.
    pub fn panel(&self, p: usize) -> (usize, usize, usize) {
        let first = p * WIDTH;
        let w = WIDTH.min(self.columns.len() - first);
        (first, self.ends[first + w - 1] as usize, w)
    }

    /// Columns of some panels, one after the other.
    pub fn width(&self, panels: &Range<usize>) -> usize {
        panels.clone().map(|p| self.panel(p).2).sum()
    }

    /// Scalars of a panel: V, and T behind it.
    pub fn len(&self, p: usize) -> usize {
        let (_, h, w) = self.panel(p);
        h * w + INNER.min(w) * w
    }

    /// The handle of a panel's buffer, and where the panel begins in it.
    pub fn at(&self, p: usize) -> (Handle, usize) {
        let offset = if p == 0 { self.offset as usize } else { 0 };
        (Handle(self.buffer + p as u32), offset)
    }

    /// The staircase of a panel, from the row of its first column on.
    pub fn stair(&self, p: usize, out: &mut Vec<u32>) {
        let (first, _, w) = self.panel(p);
        out.clear();
        out.extend(
            self.ends[first..first + w]
                .iter()
                .map(|&e| e - first as u32),
        );
    }
}

/// Applies a panel of a part, as it lies in its buffer, to rows of the part: as many as it has, or more.
pub(super) fn apply_panel<T: FactorScalar>(
    (op, part, p): (Op, &Part, usize),
    panel: &[T],
    c: MatMut<'_, T>,
    stair: &mut Vec<u32>,
    scratch: &mut Vec<T>,
) {
    let (first, h, w) = part.panel(p);
    let ib = INNER.min(w);
    part.stair(p, stair);
    let (v, t) = panel.split_at(h * w);
    let v = MatRef::new(v, h, w, h).submatrix(first, 0, h - first, w);
    let t = MatRef::new(t, ib, w, ib);
    let n = c.ncols();
    let needed = gemqrt_scratch::<T>(h - first, n, w, ib);
    room(scratch, needed);
    let c = c.submatrix(first, 0, h - first, n);
    gemqrt(op, v, Stair::Rows(stair), ib, t, c, scratch);
}

impl<T: FactorScalar> NullSpace<T> {
    /// Takes from vectors their part in the null space: x - Z Z^H x. 8 flops an entry of the parts, each.
    pub fn project(&self, x: &mut [T], nrhs: usize) {
        self.sift(x, nrhs, |local, d| local[..d].fill(T::zero()));
    }

    /// Z Z^H x, of one vector. 8 flops an entry of the parts.
    pub fn span(&self, x: &mut [T]) {
        let from = x.to_vec();
        x.fill(T::zero());
        for part in &self.parts {
            for &row in &part.rows {
                x[row as usize] = from[row as usize];
            }
        }
        self.sift(x, 1, |local, d| local[d..].fill(T::zero()));
    }

    /// Q Q^H x of each part, without the rows between that `drop` clears; it is given them, and how many vectors the part has. Entries in no
    /// part stay.
    fn sift(&self, x: &mut [T], nrhs: usize, drop: impl Fn(&mut [T], usize)) {
        let mut local = Vec::new();
        let mut scratch = Scratch::default();
        for part in &self.parts {
            let (m, d) = (part.rows.len(), part.columns.len());
            local.clear();
            for x in x.chunks_exact(self.rows).take(nrhs) {
                local.extend(part.rows.iter().map(|&row| x[row as usize]));
            }
            self.apply(Op::ConjTrans, part, &mut local, nrhs, &mut scratch);
            local.chunks_exact_mut(m).for_each(|c| drop(c, d));
            self.apply(Op::NoTrans, part, &mut local, nrhs, &mut scratch);
            for (x, local) in x.chunks_exact_mut(self.rows).zip(local.chunks_exact(m)) {
                for (&row, &value) in part.rows.iter().zip(local) {
                    x[row as usize] = value;
                }
            }
        }
    }

    /// Z g, with an entry of g for each vector of the basis. 4 flops an entry of the parts.
    pub fn combination(&self, g: impl Fn(usize) -> T) -> Vec<T> {
        let mut z = vec![T::zero(); self.rows];
        let (mut local, mut scratch) = (Vec::new(), Scratch::default());
        for part in &self.parts {
            local.clear();
            local.extend(part.columns.iter().map(|&column| g(column as usize)));
            local.resize(part.rows.len(), T::zero());
            self.apply(Op::NoTrans, part, &mut local, 1, &mut scratch);
            for (&row, &value) in part.rows.iter().zip(&local) {
                z[row as usize] = value;
            }
        }
        z
    }

    /// Z, column by column.
    pub fn basis(&self) -> Vec<T> {
        let n = self.rows;
        let d: usize = self.parts.iter().map(|part| part.columns.len()).sum();
        let mut z = vec![T::zero(); n * d];
        let mut scratch = Scratch::default();
        for part in &self.parts {
            let (m, d) = (part.rows.len(), part.columns.len());
            let mut local = vec![T::zero(); m * d];
            let columns = local.chunks_exact_mut(m).enumerate();
            columns.for_each(|(j, column)| column[j] = T::one());
            self.apply(Op::NoTrans, part, &mut local, d, &mut scratch);
            for (&column, local) in part.columns.iter().zip(local.chunks_exact(m)) {
                let to = &mut z[column as usize * n..][..n];
                for (&row, &value) in part.rows.iter().zip(local) {
                    to[row as usize] = value;
                }
            }
        }
        z
    }

    /// Whether it can be of vectors of so many entries.
    pub fn fits(&self, rows: usize) -> bool {
        let part = |part: &Part| {
            let (m, d) = (part.rows.len(), part.columns.len());
            let last = part.buffer as usize + part.panels();
            let buffer = |p: usize| {
                let (handle, offset) = part.at(p);
                let bytes = self.store.get(handle).map_or(0, <[u8]>::len);
                offset + part.len(p) <= bytes / size_of::<T>()
            };
            d > 0
                && part.ends.len() == d
                && part.ends.is_sorted()
                && part.ends.last() == Some(&(m as u32))
                && part.ends.iter().enumerate().all(|(k, &e)| e as usize > k)
                && part.rows.iter().all(|&row| (row as usize) < rows)
                && part.columns.is_sorted_by(|a, b| a < b)
                && last <= self.store.handles()
                && (0..part.panels()).all(buffer)
        };
        let dim: usize = self.parts.iter().map(|part| part.columns.len()).sum();
        let mut columns = self.parts.iter().flat_map(|part| &part.columns);
        self.rows == rows
            && dim <= rows
            && columns.all(|&column| (column as usize) < dim)
            && self.parts.iter().all(part)
    }

    pub fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn apply(&self, op: Op, part: &Part, c: &mut [T], n: usize, scratch: &mut Scratch<T>) {
        let m = part.rows.len();
        let mut c = MatMut::new(c, m, n, m);
        let count = part.panels();
        for k in 0..count {
            let p = match op {
                Op::ConjTrans => k,
                Op::NoTrans => count - 1 - k,
            };
            let (handle, offset) = part.at(p);
            let buffer = self.store.get_as::<T>(handle).expect("a panel is kept");
            let panel = &buffer[offset..][..part.len(p)];
            let Scratch { stair, kernel } = scratch;
            apply_panel((op, part, p), panel, c.rb_mut(), stair, kernel);
        }
    }
}

#[derive(Default)]
struct Scratch<T> {
    stair: Vec<u32>,
    kernel: Vec<T>,
}
