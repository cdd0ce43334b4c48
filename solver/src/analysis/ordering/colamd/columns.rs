//! Columns of the elimination: their rows, and which of them go together.
//!
//! A list of rows lies where the pattern has it and never grows: the element that is put in takes the place of a row that it took in.

use treeqr_matrices::Pattern;

/// The absence of a column.
pub(super) const NONE: u32 = u32::MAX;
/// The stamp of a column that is eliminated, or one with another.
const GONE: u32 = u32::MAX;

/// A supercolumn, or what is left of one that went into another.
#[derive(Clone, Copy)]
pub(super) struct Column {
    /// Where its list of rows starts, and how many there are.
    start: usize,
    len: u32,
    /// Columns of W that it stands for.
    pub weight: u32,
    /// The bound on its degree, in columns of W.
    pub score: u32,
    /// Its neighbours in the list of that score.
    pub prev: u32,
    pub next: u32,
    /// The last element that it was found in, [`GONE`] when it takes no more part.
    stamp: u32,
}

/// All columns.
pub(super) struct Columns {
    pub of: Vec<Column>,
    lists: Vec<u32>,
    /// The columns that a supercolumn stands for: the next of each, and of each supercolumn the last.
    member: Vec<u32>,
    last_member: Vec<u32>,
}

impl Columns {
    /// Columns with the rows that `lives` says, without scores.
    pub fn new(cols: &Pattern, lives: impl Fn(u32) -> bool) -> Self {
        let n = cols.ncols();
        let mut lists = Vec::with_capacity(cols.nnz());
        let column = |j| {
            let start = lists.len();
            lists.extend(cols.col(j).iter().copied().filter(|&r| lives(r)));
            Column {
                start,
                len: (lists.len() - start) as u32,
                weight: 1,
                score: 0,
                prev: NONE,
                next: NONE,
                stamp: 0,
            }
        };
        Columns {
            of: (0..n).map(column).collect(),
            lists,
            member: vec![NONE; n],
            last_member: (0..n as u32).collect(),
        }
    }

    /// Rows of column c.
    pub fn rows(&self, c: u32) -> &[u32] {
        let column = &self.of[c as usize];
        &self.lists[column.start..][..column.len as usize]
    }

    /// Leaves in column c the rows that `stays` says, in their order.
    pub fn retain(&mut self, c: u32, mut stays: impl FnMut(u32) -> bool) {
        let column = &mut self.of[c as usize];
        let list = &mut self.lists[column.start..][..column.len as usize];
        let mut kept = 0;
        for k in 0..list.len() {
            let row = list[k];
            list[kept] = row;
            kept += usize::from(stays(row));
        }
        column.len = kept as u32;
    }

    /// Puts a row at the end of column c, one of whose rows went before.
    pub fn push(&mut self, c: u32, row: u32) {
        let column = &mut self.of[c as usize];
        self.lists[column.start + column.len as usize] = row;
        column.len += 1;
    }

    /// Whether c still takes part and was not found with this stamp before; stamps grow.
    pub fn is_new(&mut self, c: u32, stamp: u32) -> bool {
        let column = &mut self.of[c as usize];
        let is_new = column.stamp < stamp;
        if is_new {
            column.stamp = stamp;
        }
        is_new
    }

    /// Column c takes no more part.
    pub fn leave(&mut self, c: u32) {
        self.of[c as usize].stamp = GONE;
    }

    pub fn is_gone(&self, c: u32) -> bool {
        self.of[c as usize].stamp == GONE
    }

    /// Makes `c` part of `into`.
    pub fn join(&mut self, into: u32, c: u32) {
        self.of[into as usize].weight += self.of[c as usize].weight;
        self.leave(c);
        let its_last = self.last_member[c as usize];
        let last = std::mem::replace(&mut self.last_member[into as usize], its_last);
        self.member[last as usize] = c;
    }

    /// Puts the columns that c stands for at the end of `order`.
    pub fn emit(&mut self, c: u32, order: &mut Vec<u32>) {
        self.leave(c);
        let next = |&c: &u32| Some(self.member[c as usize]).filter(|&c| c != NONE);
        order.extend(std::iter::successors(Some(c), next));
    }
}
