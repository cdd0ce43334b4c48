//! One node: its rows of R and the rows that come from below become one block, which `deflate` reduces.
//!
//! ```text
//!          pivots | others
//!     r    x x x x x x x x         rows sorted by their first column; those of R start on the diagonal, and may have
//!     r    . x x x x x x x         a negligible entry there
//!     +    . x x x x x x x   +: rows from below
//!     r    . . x x x x x x
//!     +    . . . . x x x x
//! ```
//!
//! Every row of R has a *slot* of the elimination order, that of its pivot. A row from below keeps the slot of the dead pivot that left it
//! free, until it ends; so the slots of a block are the same before and after, and Q2 is an orthogonal matrix on the slots.

use super::nodes::Nodes;
use super::packed::PackedR;
use crate::numeric::FactorScalar;
use treeqr_kernels::{MatMut, Stair, deflate, deflate_scratch};

/// Rows that go up, in echelon form.
#[derive(Debug)]
pub(super) struct Rows<T> {
    /// Places of the columns, increasing.
    cols: Vec<u32>,
    /// The first column of each row, among `cols`.
    lead: Vec<u32>,
    slots: Vec<u32>,
    /// Rows x (columns and right-hand sides), column by column.
    data: Vec<T>,
}

impl<T> Rows<T> {
    /// Whether a row starts before the place `end`.
    fn starts_before(&self, end: u32) -> bool {
        self.cols[self.lead[0] as usize] < end
    }
}

/// A node that changed.
#[derive(Debug)]
pub(super) struct Reworked<T> {
    /// Columns of W, pivots first.
    pub cols: Vec<u32>,
    /// Pivots, dead ones too.
    pub npiv: usize,
    /// The pivots that are live, from 0, one for each row of R.
    pub live: Vec<u32>,
    /// The rows of R.
    pub r: PackedR<T>,
    /// Q^H b of the live pivots, column by column.
    pub rhs: Vec<T>,
    /// None when Q is not kept.
    pub q: Option<NodeQ<T>>,
    /// Sum of the squares of what was dropped.
    pub dropped2: f64,
}

/// The reflectors of a node that changed.
#[derive(Debug)]
pub(super) struct NodeQ<T> {
    /// The slot of each row of the block, before and after.
    pub from: Vec<u32>,
    pub to: Vec<u32>,
    /// As `apply_packed` wants them.
    pub ends: Vec<u32>,
    pub v: Vec<T>,
    pub tau: Vec<T>,
}

impl<T: FactorScalar> Reworked<T> {
    /// Where each column of R ends.
    pub fn column_ends(&self, out: &mut Vec<usize>) {
        out.clear();
        let (mut row, mut at) = (0, 0);
        for j in 0..self.cols.len() {
            row += usize::from(self.live.get(row).is_some_and(|&l| l as usize == j));
            at += row;
            out.push(at);
        }
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let q = self.q.as_ref().map_or(0, |q| q.v.len() + q.tau.len());
        (self.r.len() + self.rhs.len() + q) * size_of::<T>()
    }
}

/// Working memory, grown as it is needed.
#[derive(Default)]
pub(super) struct Scratch<T> {
    block: Vec<T>,
    kernel: Vec<T>,
}

/// What is asked of all nodes.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub tolerance: f64,
    pub nrhs: usize,
    pub keep_q: bool,
}

/// Reworks a node, if rows from below start in its pivots or one of these is negligible; gives what goes up, in any case.
/// [`deflate_flops`](treeqr_kernels::deflate_flops) of its block.
pub(super) fn rework<T: FactorScalar>(
    nodes: &Nodes<'_, T>,
    node: usize,
    suspect: bool,
    below: Vec<Rows<T>>,
    asked: Asked,
    scratch: &mut Scratch<T>,
) -> (Option<Reworked<T>>, Vec<Rows<T>>) {
    let (first, npiv) = (nodes.first(node), nodes.npiv(node));
    let end = first + npiv as u32;
    let (taken, mut up): (Vec<_>, Vec<_>) =
        below.into_iter().partition(|rows| rows.starts_before(end));
    if taken.is_empty() && !suspect {
        return (None, up);
    }
    let block = Block::assemble(nodes, node, &taken, asked, scratch);
    let (reworked, rows) = block.reduce(nodes, asked, scratch);
    up.extend(rows);
    (Some(reworked), up)
}

/// A node's block in scratch.
struct Block {
    first: u32,
    npiv: usize,
    /// Places.
    cols: Vec<u32>,
    stair: Vec<u32>,
    slots: Vec<u32>,
}

impl Block {
    fn assemble<T: FactorScalar>(
        nodes: &Nodes<'_, T>,
        node: usize,
        taken: &[Rows<T>],
        asked: Asked,
        scratch: &mut Scratch<T>,
    ) -> Self {
        let (first, npiv) = (nodes.first(node), nodes.npiv(node));
        let own = nodes.cols(node);
        let mut cols: Vec<u32> = own.clone();
        cols.extend(taken.iter().flat_map(|rows| &rows.cols));
        cols.sort_unstable();
        cols.dedup();
        let column = |place: &u32| cols.binary_search(place).expect("a column of the block");

        // Rows by their first column; R's before those from below, these in their order.
        let mut order: Vec<(u32, usize, usize)> = (0..npiv).map(|i| (i as u32, 0, i)).collect();
        for (set, rows) in taken.iter().enumerate() {
            let leads = rows.lead.iter().enumerate();
            order.extend(leads.map(|(row, &lead)| {
                let lead = column(&rows.cols[lead as usize]) as u32;
                (lead, set + 1, row)
            }));
        }
        order.sort_unstable();
        let m = order.len();
        let mut row_of: Vec<Vec<u32>> = std::iter::once(npiv)
            .chain(taken.iter().map(|rows| rows.lead.len()))
            .map(|rows| vec![0; rows])
            .collect();
        let mut stair = vec![0u32; cols.len()];
        let mut slots = Vec::with_capacity(m);
        for (at, &(lead, set, row)) in order.iter().enumerate() {
            row_of[set][row] = at as u32;
            stair[lead as usize] += 1;
            slots.push(match set {
                0 => first + row as u32,
                set => taken[set - 1].slots[row],
            });
        }
        let mut above = 0;
        for s in &mut stair {
            above += *s;
            *s = above;
        }

        let n = cols.len();
        scratch.block.clear();
        scratch.block.resize(m * (n + asked.nrhs), T::zero());
        let block = &mut scratch.block;
        let place_of: Vec<usize> = own.iter().map(column).collect();
        nodes.row_parts(node, |j, row, values| {
            for (&to, &value) in row_of[0][row..].iter().zip(values) {
                block[place_of[j] * m + to as usize] = value;
            }
        });
        for c in 0..asked.nrhs {
            nodes.qhb(node, c, |row, values| {
                for (&to, &value) in row_of[0][row..].iter().zip(values) {
                    block[(n + c) * m + to as usize] = value;
                }
            });
        }
        for (rows, row_of) in taken.iter().zip(&row_of[1..]) {
            let targets = rows.cols.iter().map(column).chain(n..n + asked.nrhs);
            for (j, values) in targets.zip(rows.data.chunks_exact(row_of.len())) {
                for (&to, &value) in row_of.iter().zip(values) {
                    block[j * m + to as usize] = value;
                }
            }
        }
        Block {
            first,
            npiv,
            cols,
            stair,
            slots,
        }
    }

    fn reduce<T: FactorScalar>(
        self,
        nodes: &Nodes<'_, T>,
        asked: Asked,
        scratch: &mut Scratch<T>,
    ) -> (Reworked<T>, Option<Rows<T>>) {
        let (m, n) = (self.slots.len(), self.cols.len());
        let k = m.min(n);
        let (mut live, mut tau) = (vec![0; k], vec![T::zero(); k]);
        let needed = deflate_scratch::<T>(m, n, asked.nrhs);
        if scratch.kernel.len() < needed {
            scratch.kernel.resize(needed, T::zero());
        }
        let found = deflate(
            MatMut::new(&mut scratch.block, m, n + asked.nrhs, m),
            n,
            self.npiv,
            asked.tolerance,
            Stair::Rows(&self.stair),
            &mut live,
            &mut tau,
            &mut scratch.kernel,
        );
        live.truncate(found.rows);
        tau.truncate(found.rows);
        let block = &scratch.block;
        let to = self.slots_after(&live[..found.pivots]);

        let rows = (found.rows > found.pivots).then(|| {
            let from = live[found.pivots] as usize;
            let part = |j: usize| &block[j * m + found.pivots..j * m + found.rows];
            // What lies below the echelon form are reflectors.
            let mut data = Vec::with_capacity((found.rows - found.pivots) * (n - from));
            for j in from..n + asked.nrhs {
                let above = live[found.pivots..].partition_point(|&l| l as usize <= j);
                let zeros = found.rows - found.pivots - above;
                data.extend_from_slice(&part(j)[..above]);
                data.extend(std::iter::repeat_n(T::zero(), zeros));
            }
            Rows {
                cols: self.cols[from..].to_vec(),
                lead: live[found.pivots..]
                    .iter()
                    .map(|&l| l - from as u32)
                    .collect(),
                slots: to[found.pivots..found.rows].to_vec(),
                data,
            }
        });

        let q = asked.keep_q.then(|| {
            let ends: Vec<u32> = live.iter().map(|&j| self.stair[j as usize]).collect();
            let mut v = Vec::new();
            for (i, &j) in live.iter().enumerate() {
                let column = &block[j as usize * m..][..m];
                v.extend_from_slice(&column[i + 1..(ends[i] as usize).max(i + 1)]);
            }
            NodeQ {
                from: self.slots,
                to,
                ends,
                v,
                tau,
            }
        });
        live.truncate(found.pivots);
        let mut reworked = Reworked {
            cols: self.cols.iter().map(|&p| nodes.order[p as usize]).collect(),
            npiv: self.npiv,
            live,
            r: PackedR::whole(Vec::new()),
            rhs: Vec::new(),
            q,
            dropped2: found.dropped2,
        };
        let mut ends = Vec::new();
        reworked.column_ends(&mut ends);
        let mut r = Vec::with_capacity(ends.last().copied().unwrap_or(0));
        for (j, &end) in ends.iter().enumerate() {
            r.extend_from_slice(&block[j * m..j * m + end - r.len()]);
        }
        reworked.r = PackedR::whole(r);
        let rhs = (n..n + asked.nrhs).flat_map(|j| &block[j * m..j * m + found.pivots]);
        reworked.rhs = rhs.copied().collect();
        (reworked, rows)
    }

    /// The slots of the rows afterwards: those of the live pivots, then what is left, increasing.
    fn slots_after(&self, live: &[u32]) -> Vec<u32> {
        let mut out: Vec<u32> = live.iter().map(|&j| self.first + j).collect();
        let is_pivot = |slot: &u32| {
            let own = slot.checked_sub(self.first);
            own.is_some_and(|j| live.binary_search(&j).is_ok())
        };
        let mut others: Vec<u32> = self.slots.clone();
        others.retain(|slot| !is_pivot(slot));
        others.sort_unstable();
        out.extend(others);
        out
    }
}
