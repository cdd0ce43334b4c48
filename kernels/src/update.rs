//! What of a kernel may be cut by columns: a block of reflectors, and the columns that it is still to be applied to.
//!
//! `geqrt`, `tpqrt` and `front_qr` alternate between a panel, which is one worker's, and its update, which columns have each for
//! themselves. Their `_with` forms hand each update to the caller, who may let others do a part of it. The numbers are the same to the bit,
//! since a column's result depends on that column alone as long as cuts are those of [`column_parts`].

use crate::block::{FEW, Factor, Op, apply_scratch};
use crate::scalar::KernelScalar;
use crate::strips;
use crate::view::{MatMut, MatRef};
use std::ops::Range;

/// A block of reflectors on columns: `[C1; C2] = (I - [I; V] T [I; V]^H)^H [C1; C2]`, or C2 alone.
pub struct Update<'a, T> {
    pub(crate) v: MatRef<'a, T>,
    /// Of V and C2, what is not zero.
    pub(crate) rows: usize,
    pub(crate) t: MatRef<'a, T>,
    /// The same for all parts.
    pub(crate) place: Factor,
    pub(crate) c1: Option<MatMut<'a, T>>,
    pub(crate) c2: MatMut<'a, T>,
}

impl<'a, T: KernelScalar> Update<'a, T> {
    /// Columns that are to be updated.
    pub fn columns(&self) -> usize {
        self.c2.ncols()
    }

    /// Real floating-point operations of it, as if V had no staircase; T's are not counted, as in the kernels.
    pub fn flops(&self) -> u64 {
        let real = if T::IS_COMPLEX { 4 } else { 1 };
        4 * real * (self.rows * self.v.ncols() * self.columns()) as u64
    }

    /// Elements of scratch for [`Self::apply`].
    pub fn scratch(&self) -> usize {
        apply_scratch::<T>(self.c2.nrows(), self.columns(), self.v.ncols())
    }

    /// Does it.
    ///
    /// # Panics
    /// When the scratch is too small.
    pub fn apply(self, scratch: &mut [T]) {
        let Update {
            v,
            rows,
            t,
            place,
            c1,
            c2,
        } = self;
        T::apply_block(Op::ConjTrans, place, v, rows, t, c1, c2, scratch);
    }

    /// The same for the columns before `j`, and for those from `j` on.
    ///
    /// # Panics
    /// When there are fewer columns.
    pub fn split_at(self, j: usize) -> (Self, Self) {
        let (left, right) = self.c2.split_at_col_mut(j);
        let (above_left, above_right) = match self.c1 {
            Some(c1) => {
                let (left, right) = c1.split_at_col_mut(j);
                (Some(left), Some(right))
            }
            None => (None, None),
        };
        let (v, rows, t, place) = (self.v, self.rows, self.t, self.place);
        let part = |c1, c2| Update {
            v,
            rows,
            t,
            place,
            c1,
            c2,
        };
        (part(above_left, left), part(above_right, right))
    }
}

/// Strips of all kinds of scalars and vectors begin at multiples of it.
const STRIPS: usize = 24;
/// The least columns of a part: packing V costs as much as two or so.
const LEAST: usize = 2 * STRIPS;

/// Cuts `columns` into at most `most` ranges, about as wide as each other, that can be updated by themselves (by `gemqrt` and `tpmqrt` too) without a
/// change of any bit: one, where columns are few or the machine's vectors short.
pub fn column_parts(columns: usize, most: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let parts = match strips::pay() {
        true => most.min(columns / LEAST).max(1),
        false => 1,
    };
    let width = columns.div_ceil(parts).next_multiple_of(STRIPS);
    // What would be left of too few columns, which a library's product takes, goes to the one before.
    let parts = match parts {
        1 => 1,
        _ if (1..=FEW).contains(&(columns % width)) => columns / width,
        _ => columns.div_ceil(width),
    };
    (0..parts).map(move |part| {
        let end = if part + 1 == parts {
            columns
        } else {
            (part + 1) * width
        };
        part * width..end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_columns_once_and_none_is_small() {
        for columns in 0..400 {
            for most in [1, 2, 3, 5, 100] {
                let parts: Vec<_> = column_parts(columns, most).collect();
                assert!(parts.len() <= most, "{columns} in {most}: {parts:?}");
                let mut end = 0;
                for part in &parts {
                    assert_eq!((part.start, part.start % STRIPS), (end, 0), "{parts:?}");
                    assert!(parts.len() == 1 || part.len() > FEW, "{parts:?}");
                    end = part.end;
                }
                assert_eq!(end, columns);
            }
        }
    }
}
