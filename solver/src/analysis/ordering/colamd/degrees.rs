//! Columns by score, the least first; among equals the one that came last, which keeps an elimination near where it is.

use super::columns::{Column, NONE};

/// Doubly linked lists through the columns, one for each score.
pub(super) struct Degrees {
    head: Vec<u32>,
    /// No list before this one has a column.
    least: usize,
}

impl Degrees {
    /// Empty lists for scores up to `most`.
    pub fn new(most: usize) -> Self {
        Degrees {
            head: vec![NONE; most + 1],
            least: most,
        }
    }

    /// Puts column c before the others of its score.
    pub fn insert(&mut self, columns: &mut [Column], c: u32) {
        let score = columns[c as usize].score as usize;
        let next = std::mem::replace(&mut self.head[score], c);
        columns[c as usize].next = next;
        columns[c as usize].prev = NONE;
        if next != NONE {
            columns[next as usize].prev = c;
        }
        self.least = self.least.min(score);
    }

    /// Takes column c, which is in, out of the list of its score.
    pub fn remove(&mut self, columns: &mut [Column], c: u32) {
        let Column {
            prev, next, score, ..
        } = columns[c as usize];
        if prev == NONE {
            self.head[score as usize] = next;
        } else {
            columns[prev as usize].next = next;
        }
        if next != NONE {
            columns[next as usize].prev = prev;
        }
    }

    /// Takes a column of least score out, if one is left.
    pub fn pop(&mut self, columns: &mut [Column]) -> Option<u32> {
        let left = &self.head[self.least..];
        self.least += left.iter().position(|&c| c != NONE)?;
        let c = self.head[self.least];
        self.remove(columns, c);
        Some(c)
    }
}
