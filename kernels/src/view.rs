//! Column-major views of dense blocks: a pointer, two dimensions and a leading dimension.
//!
//! A view is made from a slice and can be cut into disjoint parts, by columns and by rows; that is what a slice alone cannot do
//! and why this file, and no algorithm, holds the unsafe code. It knows no arithmetic.
//!
//! Entry (i, j) of a view lies `i + j * ld` elements after its first entry. The rows between `nrows` and `ld` belong to
//! somebody else: no view ever reads or writes them.

use std::marker::PhantomData;
use std::ops::Range;

/// A read-only `nrows x ncols` block, column-major with leading dimension `ld`.
pub struct MatRef<'a, T> {
    ptr: *const T,
    nrows: usize,
    ncols: usize,
    ld: usize,
    marker: PhantomData<&'a [T]>,
}

/// A writable `nrows x ncols` block, column-major with leading dimension `ld`.
pub struct MatMut<'a, T> {
    ptr: *mut T,
    nrows: usize,
    ncols: usize,
    ld: usize,
    marker: PhantomData<&'a mut [T]>,
}

impl<T> Clone for MatRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for MatRef<'_, T> {}

// SAFETY: a MatRef is a set of shared references to its entries, and nothing else; `&T` is Send when T is Sync.
unsafe impl<T: Sync> Send for MatRef<'_, T> {}
// SAFETY: as above; a shared MatRef gives out nothing but `&T`.
unsafe impl<T: Sync> Sync for MatRef<'_, T> {}
// SAFETY: a MatMut is a set of exclusive references to its entries, and nothing else; `&mut T` is Send when T is Send.
unsafe impl<T: Send> Send for MatMut<'_, T> {}
// SAFETY: through `&MatMut` only `&T` can be reached.
unsafe impl<T: Sync> Sync for MatMut<'_, T> {}

/// Panics unless `len` elements hold an `nrows x ncols` block with leading dimension `ld`.
fn check_len(len: usize, nrows: usize, ncols: usize, ld: usize) {
    assert!(
        ld >= nrows,
        "leading dimension {ld} is less than the {nrows} rows of the view"
    );
    let need = if nrows == 0 || ncols == 0 {
        Some(0)
    } else {
        ld.checked_mul(ncols - 1).and_then(|x| x.checked_add(nrows))
    };
    assert!(
        need.is_some_and(|need| need <= len),
        "a {nrows} x {ncols} view with leading dimension {ld} does not fit into {len} elements"
    );
}

impl<'a, T> MatRef<'a, T> {
    /// A view of the first `nrows x ncols` entries of `data`.
    ///
    /// # Panics
    /// When `ld < nrows`, or `data` is shorter than `ld * (ncols - 1) + nrows`.
    #[track_caller]
    pub fn new(data: &'a [T], nrows: usize, ncols: usize, ld: usize) -> Self {
        check_len(data.len(), nrows, ncols, ld);
        Self {
            ptr: data.as_ptr(),
            nrows,
            ncols,
            ld,
            marker: PhantomData,
        }
    }

    /// Number of rows.
    #[inline(always)]
    pub fn nrows(self) -> usize {
        self.nrows
    }

    /// Number of columns.
    #[inline(always)]
    pub fn ncols(self) -> usize {
        self.ncols
    }

    /// Leading dimension: the distance between neighbours in a row, in elements.
    #[inline(always)]
    pub fn ld(self) -> usize {
        self.ld
    }

    /// Column `j`.
    ///
    /// # Panics
    /// When there is no such column.
    #[inline(always)]
    #[track_caller]
    pub fn col(self, j: usize) -> &'a [T] {
        assert!(j < self.ncols, "column {j} of {}", self.ncols);
        if self.nrows == 0 {
            return &[];
        }
        // SAFETY: the constructor saw that column j < ncols lies in the borrowed block, and the borrow lasts for 'a.
        unsafe { std::slice::from_raw_parts(self.ptr.add(j * self.ld), self.nrows) }
    }

    /// Some rows of the columns from `first` on, one column after the other: one check for all of them.
    ///
    /// # Panics
    /// When there are fewer rows or columns.
    #[inline(always)]
    pub fn columns(self, first: usize, rows: Range<usize>) -> impl Iterator<Item = &'a [T]> {
        assert!(
            first <= self.ncols && rows.start < rows.end && rows.end <= self.nrows,
            "columns of a view"
        );
        (first..self.ncols).map(move |j| {
            // SAFETY: the constructor saw that column j < ncols lies in the borrowed block, all nrows >= rows.end > 0 rows of it, and the borrow lasts
            // for 'a.
            unsafe {
                std::slice::from_raw_parts(self.ptr.add(j * self.ld + rows.start), rows.len())
            }
        })
    }

    /// Entry (i, j).
    ///
    /// # Panics
    /// When there is no such entry.
    #[inline(always)]
    #[track_caller]
    pub fn at(self, i: usize, j: usize) -> T
    where
        T: Copy,
    {
        self.col(j)[i]
    }

    /// The `nrows x ncols` block whose first entry is (r0, c0).
    ///
    /// # Panics
    /// When the block reaches over the edge.
    #[inline(always)]
    #[track_caller]
    pub fn submatrix(self, r0: usize, c0: usize, nrows: usize, ncols: usize) -> Self {
        check_block(self.nrows, self.ncols, r0, c0, nrows, ncols);
        Self {
            // The offset stays inside the block when the part has entries; wrapping_add keeps the empty parts sound too.
            ptr: self.ptr.wrapping_add(r0 + c0 * self.ld),
            nrows,
            ncols,
            ld: self.ld,
            marker: PhantomData,
        }
    }

    /// The view as faer sees it.
    pub(crate) fn to_faer(self) -> faer::MatRef<'a, T> {
        // SAFETY: the constructor saw that all entries lie in one block borrowed for 'a.
        unsafe {
            faer::MatRef::from_raw_parts(self.ptr, self.nrows, self.ncols, 1, self.ld as isize)
        }
    }
}

#[inline(always)]
#[track_caller]
fn check_block(rows: usize, cols: usize, r0: usize, c0: usize, nrows: usize, ncols: usize) {
    assert!(
        r0 <= rows && nrows <= rows - r0 && c0 <= cols && ncols <= cols - c0,
        "a {nrows} x {ncols} block at ({r0}, {c0}) reaches over a {rows} x {cols} view"
    );
}

impl<'a, T> MatMut<'a, T> {
    /// A view of the first `nrows x ncols` entries of `data`.
    ///
    /// # Panics
    /// When `ld < nrows`, or `data` is shorter than `ld * (ncols - 1) + nrows`.
    #[track_caller]
    pub fn new(data: &'a mut [T], nrows: usize, ncols: usize, ld: usize) -> Self {
        check_len(data.len(), nrows, ncols, ld);
        Self {
            ptr: data.as_mut_ptr(),
            nrows,
            ncols,
            ld,
            marker: PhantomData,
        }
    }

    /// Number of rows.
    #[inline(always)]
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Number of columns.
    #[inline(always)]
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// Leading dimension: the distance between neighbours in a row, in elements.
    #[inline(always)]
    pub fn ld(&self) -> usize {
        self.ld
    }

    /// Column `j`, to read.
    ///
    /// # Panics
    /// When there is no such column.
    #[inline(always)]
    #[track_caller]
    pub fn col(&self, j: usize) -> &[T] {
        self.rb().col(j)
    }

    /// Column `j`, to write.
    ///
    /// # Panics
    /// When there is no such column.
    #[inline(always)]
    #[track_caller]
    pub fn col_mut(&mut self, j: usize) -> &mut [T] {
        assert!(j < self.ncols, "column {j} of {}", self.ncols);
        if self.nrows == 0 {
            return &mut [];
        }
        // SAFETY: the constructor saw that column j < ncols lies in the block, which `&mut self` borrows exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.add(j * self.ld), self.nrows) }
    }

    /// Entry (i, j).
    ///
    /// # Panics
    /// When there is no such entry.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, i: usize, j: usize) -> T
    where
        T: Copy,
    {
        self.col(j)[i]
    }

    /// Writes entry (i, j).
    ///
    /// # Panics
    /// When there is no such entry.
    #[inline(always)]
    #[track_caller]
    pub fn set(&mut self, i: usize, j: usize, value: T) {
        self.col_mut(j)[i] = value;
    }

    /// The view, to read, for as long as `self` is borrowed.
    #[inline(always)]
    pub fn rb(&self) -> MatRef<'_, T> {
        MatRef {
            ptr: self.ptr,
            nrows: self.nrows,
            ncols: self.ncols,
            ld: self.ld,
            marker: PhantomData,
        }
    }

    /// The view once more, for as long as `self` is borrowed.
    #[inline(always)]
    pub fn rb_mut(&mut self) -> MatMut<'_, T> {
        MatMut {
            ptr: self.ptr,
            nrows: self.nrows,
            ncols: self.ncols,
            ld: self.ld,
            marker: PhantomData,
        }
    }

    /// The `nrows x ncols` block whose first entry is (r0, c0).
    ///
    /// # Panics
    /// When the block reaches over the edge.
    #[inline(always)]
    #[track_caller]
    pub fn submatrix(self, r0: usize, c0: usize, nrows: usize, ncols: usize) -> Self {
        check_block(self.nrows, self.ncols, r0, c0, nrows, ncols);
        Self {
            // As in MatRef::submatrix.
            ptr: self.ptr.wrapping_add(r0 + c0 * self.ld),
            nrows,
            ncols,
            ld: self.ld,
            marker: PhantomData,
        }
    }

    /// The columns before `j`, and those from `j` on.
    ///
    /// # Panics
    /// When `j > ncols`.
    #[inline(always)]
    #[track_caller]
    pub fn split_at_col_mut(self, j: usize) -> (MatMut<'a, T>, MatMut<'a, T>) {
        check_block(self.nrows, self.ncols, 0, j, self.nrows, 0);
        let right = MatMut {
            ptr: self.ptr.wrapping_add(j * self.ld),
            ncols: self.ncols - j,
            ..self
        };
        (MatMut { ncols: j, ..self }, right)
    }

    /// The columns of a view that has N of them.
    ///
    /// # Panics
    /// When it has another number.
    #[inline(always)]
    #[track_caller]
    pub fn into_columns<const N: usize>(self) -> [&'a mut [T]; N] {
        assert!(self.ncols == N, "{} columns, not {N}", self.ncols);
        let mut columns: [&'a mut [T]; N] = std::array::from_fn(|_| Default::default());
        for (j, column) in columns.iter_mut().enumerate() {
            if self.nrows > 0 {
                // SAFETY: the constructor saw that column j < ncols lies in the block, borrowed exclusively for 'a; `self` is
                // given up, and columns share no entry.
                *column = unsafe {
                    std::slice::from_raw_parts_mut(self.ptr.add(j * self.ld), self.nrows)
                };
            }
        }
        columns
    }

    /// The rows before `i`, and those from `i` on. The two share columns but no entry.
    ///
    /// # Panics
    /// When `i > nrows`.
    #[inline(always)]
    #[track_caller]
    pub fn split_at_row_mut(self, i: usize) -> (MatMut<'a, T>, MatMut<'a, T>) {
        check_block(self.nrows, self.ncols, i, 0, 0, self.ncols);
        let below = MatMut {
            ptr: self.ptr.wrapping_add(i),
            nrows: self.nrows - i,
            ..self
        };
        (MatMut { nrows: i, ..self }, below)
    }

    /// The view as faer sees it.
    pub(crate) fn into_faer(self) -> faer::MatMut<'a, T> {
        // SAFETY: the constructor saw that all entries lie in one block borrowed exclusively for 'a, and `self` is given up.
        unsafe {
            faer::MatMut::from_raw_parts_mut(self.ptr, self.nrows, self.ncols, 1, self.ld as isize)
        }
    }
}
