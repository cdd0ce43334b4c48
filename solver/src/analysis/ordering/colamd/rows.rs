//! Rows of the elimination: rows of W, and elements that took the places of some.
//!
//! Rows of W are read in their pattern; elements lie in an arena, which is packed when it has grown to twice what is alive.

use super::columns::Columns;
use treeqr_matrices::Pattern;

/// What is looked at for every entry.
#[derive(Clone, Copy)]
struct State {
    /// Columns in it, each with its weight.
    degree: u32,
    /// The tag and what is left of the degree without columns of the present element; below the tag: not looked at since then.
    mark: u32,
}

/// The mark of a row that takes no more part.
const GONE: u32 = u32::MAX;

/// Where the columns of an element are: a place in the arena and a length, none for a row of W.
type Place = Option<(usize, u32)>;

pub(super) struct Rows<'a> {
    pattern: &'a Pattern,
    state: Vec<State>,
    place: Vec<Place>,
    arena: Vec<u32>,
    /// The arena is packed when it is longer.
    pack_at: usize,
    tag: u32,
    /// The largest degree that a row ever had.
    most: u32,
}

impl<'a> Rows<'a> {
    /// All rows; those of a single column, which they tie to no other, take no part.
    pub fn new(pattern: &'a Pattern) -> Self {
        let state = |i| {
            let degree = pattern.col(i as usize).len() as u32;
            let mark = if degree < 2 { GONE } else { 0 };
            State { degree, mark }
        };
        let state: Vec<State> = (0..pattern.ncols() as u32).map(state).collect();
        Rows {
            pattern,
            place: vec![None; state.len()],
            arena: Vec::new(),
            pack_at: pattern.nnz() / 4 + 1024,
            tag: 1,
            most: state.iter().map(|s| s.degree).max().unwrap_or(0),
            state,
        }
    }

    pub fn lives(&self, r: u32) -> bool {
        self.state[r as usize].mark != GONE
    }

    pub fn degree(&self, r: u32) -> u32 {
        self.state[r as usize].degree
    }

    pub fn leave(&mut self, r: u32) {
        self.state[r as usize].mark = GONE;
    }

    /// The columns of row r, some of which may be gone.
    pub fn columns(&self, r: u32) -> &[u32] {
        match self.place[r as usize] {
            None => self.pattern.col(r as usize),
            Some((start, len)) => &self.arena[start..][..len as usize],
        }
    }

    /// Takes a column of the present element out of what row r has besides. A row that is left with nothing lies within the
    /// element and leaves. Whether r stays.
    pub fn subtract(&mut self, r: u32, weight: u32) -> bool {
        let State { degree, mark } = &mut self.state[r as usize];
        if *mark == GONE {
            return false;
        }
        if *mark < self.tag {
            *mark = self.tag + *degree;
        }
        *mark -= weight;
        let within = *mark == self.tag;
        if within {
            *mark = GONE;
        }
        !within
    }

    /// What is left of row r, if it stayed.
    pub fn left(&self, r: u32) -> Option<u32> {
        let mark = self.state[r as usize].mark;
        (mark != GONE).then(|| mark - self.tag)
    }

    /// Forgets what was subtracted.
    pub fn forget(&mut self) {
        let next = u64::from(self.tag) + u64::from(self.most) + 1;
        if next + (self.pattern.nrows() as u64) < u64::from(GONE) {
            self.tag = next as u32;
        } else {
            let living = self.state.iter_mut().filter(|s| s.mark != GONE);
            living.for_each(|s| s.mark = 0);
            self.tag = 1;
        }
    }

    /// Makes row r, which is gone, the element with these columns.
    pub fn make_element(&mut self, r: u32, columns: &[u32], degree: u32) {
        self.most = self.most.max(degree);
        self.state[r as usize] = State { degree, mark: 0 };
        self.place[r as usize] = Some((self.arena.len(), columns.len() as u32));
        self.arena.extend_from_slice(columns);
    }

    /// Packs the arena when it is time to.
    pub fn tidy(&mut self, columns: &Columns) {
        if self.arena.len() <= self.pack_at {
            return;
        }
        let elements = (0..self.place.len() as u32).filter(|&r| self.lives(r));
        let elements = elements.filter_map(|r| self.place[r as usize].map(|(start, _)| (start, r)));
        let mut elements: Vec<(usize, u32)> = elements.collect();
        elements.sort_unstable();
        let mut end = 0;
        for (start, r) in elements {
            let len = self.columns(r).len();
            let begin = end;
            for k in start..start + len {
                let c = self.arena[k];
                if !columns.is_gone(c) {
                    self.arena[end] = c;
                    end += 1;
                }
            }
            self.place[r as usize] = Some((begin, (end - begin) as u32));
        }
        self.arena.truncate(end);
        self.pack_at = self.pack_at.max(2 * end);
    }

    /// Tags that soon run out, and an arena that is packed at once.
    #[cfg(test)]
    pub fn be_short_of_room(&mut self, tags: u32) {
        self.tag = GONE - 1 - self.pattern.nrows() as u32 - self.most - tags;
        self.pack_at = 0;
    }
}
