//! The rows of R of a node that changed: packed columns, in pieces of some columns each, so that several tasks can make them.

/// R by packed columns: column j has a row for every live pivot up to j.
#[derive(Debug)]
pub(super) struct PackedR<T> {
    /// Columns of a piece; the last one may have fewer.
    pub(super) width: u32,
    pub(super) pieces: Vec<Vec<T>>,
}

impl<T> PackedR<T> {
    /// Entries.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum()
    }

    /// To read it by columns.
    pub fn view(&self) -> View<'_, T> {
        let mut before = Vec::with_capacity(self.pieces.len());
        let mut at = 0;
        for piece in &self.pieces {
            before.push(at);
            at += piece.len();
        }
        View::Pieces { r: self, before }
    }
}

/// R by packed columns, wherever it lies.
pub(super) enum View<'a, T> {
    Slice(&'a [T]),
    Pieces {
        r: &'a PackedR<T>,
        /// Entries of the pieces before each.
        before: Vec<usize>,
    },
}

impl<'a, T> View<'a, T> {
    /// Column `j`, which has `height` entries, `at` entries after the first of all.
    pub fn column(&self, j: usize, at: usize, height: usize) -> &'a [T] {
        match self {
            View::Slice(r) => &r[at..at + height],
            View::Pieces { r, before } => {
                let piece = j / r.width as usize;
                &r.pieces[piece][at - before[piece]..][..height]
            }
        }
    }

    /// The columns `j` and those after it before `end`, of one height, as far as they lie in one piece: how many, and their entries.
    pub fn columns(&self, j: usize, end: usize, at: usize, height: usize) -> (usize, &'a [T]) {
        let count = match self {
            View::Slice(_) => end - j,
            View::Pieces { r, .. } => {
                let piece = j / r.width as usize;
                ((piece + 1) * r.width as usize).min(end) - j
            }
        };
        (count, self.column(j, at, count * height))
    }
}
