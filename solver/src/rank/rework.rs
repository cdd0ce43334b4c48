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

use super::blocks::{BlockColumn, BlockColumns, Values};
use super::nodes::Nodes;
use super::{room, zeros};
use crate::numeric::FactorScalar;
use std::ops::Range;
use treeqr_kernels::{MatMut, Stair, deflate, deflate_flops, deflate_scratch};
use treeqr_matrices::{RealScalar, Scalar, norm2};

/// Rows that go up, in echelon form.
#[derive(Debug)]
pub(super) struct Rows<T> {
    /// Places of the columns, increasing.
    cols: Vec<u32>,
    /// The first column of each row, among `cols`.
    lead: Vec<u32>,
    slots: Vec<u32>,
    /// By block column of the node that left them: of each of its columns the entries of those rows that begin in it or before.
    parts: Vec<Vec<T>>,
    /// The part and the place in it where a column begins.
    starts: Vec<(u32, u32)>,
    /// The right-hand sides of all rows, one after the other.
    rhs: Vec<T>,
}

impl<T> Rows<T> {
    /// Whether a row starts before the place `end`.
    fn starts_before(&self, end: u32) -> bool {
        self.cols[self.lead[0] as usize] < end
    }

    /// The columns from the first that is not before the place `from`, with their places; no entries for rows that begin further to the right.
    fn columns_from(&self, from: u32) -> impl Iterator<Item = (u32, &[T])> {
        let first = self.cols.partition_point(|&place| place < from);
        let mut rows = self.lead.partition_point(|&l| (l as usize) < first);
        (first..self.cols.len()).map(move |j| {
            rows += self.lead[rows..].partition_point(|&l| l as usize == j);
            let (part, start) = self.starts[j];
            (
                self.cols[j],
                &self.parts[part as usize][start as usize..][..rows],
            )
        })
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
    pub r: BlockColumns<T>,
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
    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let q = self.q.as_ref().map_or(0, |q| q.v.len() + q.tau.len());
        (self.stored() + self.rhs.len() + q) * size_of::<T>()
    }
}

/// Working memory, grown as it is needed.
#[derive(Default)]
pub(super) struct Scratch<T> {
    block: Vec<T>,
    kernel: Vec<T>,
}

impl<T> Scratch<T> {
    pub fn kernel(&mut self) -> &mut Vec<T> {
        &mut self.kernel
    }
}

/// What is asked of all nodes.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub tolerance: f64,
    pub nrhs: usize,
    pub keep_q: bool,
}

/// Sets of rows from below: those that start in the pivots of a node, and the others.
pub(super) fn divide<T: FactorScalar>(
    nodes: &Nodes<'_, T>,
    node: usize,
    below: Vec<Rows<T>>,
) -> (Vec<Rows<T>>, Vec<Rows<T>>) {
    let end = nodes.first(node) + nodes.npiv(node) as u32;
    below.into_iter().partition(|rows| rows.starts_before(end))
}

/// What became of a node.
pub(super) struct Outcome<T> {
    /// None where it stays as it was.
    pub node: Option<Reworked<T>>,
    /// What goes up, in any case.
    pub up: Vec<Rows<T>>,
    pub flops: u64,
}

/// Reworks a node, if rows from below start in its pivots or one of these is negligible. Cost: [`deflate_flops`] of its block.
pub(super) fn rework<T: FactorScalar>(
    nodes: &Nodes<'_, T>,
    node: usize,
    suspect: bool,
    below: Vec<Rows<T>>,
    asked: Asked,
    scratch: &mut Scratch<T>,
) -> Outcome<T> {
    let (taken, mut up) = divide(nodes, node, below);
    if taken.is_empty() && !suspect {
        return Outcome {
            node: None,
            up,
            flops: 0,
        };
    }
    if taken.is_empty()
        && let Some(shorter) = without_last(nodes, node, asked)
    {
        return Outcome {
            node: Some(shorter),
            up,
            flops: 0,
        };
    }
    let block = Block::new(nodes, node, &taken);
    let (m, n) = block.shape();
    zeros(&mut scratch.block, m * (n + asked.nrhs));
    let all = Columns {
        range: 0..n,
        rows: m,
        sides: asked.nrhs,
    };
    block.fill(nodes, node, &taken, &all, &mut scratch.block);
    let reduced = reduce(
        &block,
        &all,
        0,
        asked,
        &mut scratch.block,
        &mut scratch.kernel,
    );
    let flops = reduced.flops;
    let mut piece = block.collect(&scratch.block, &all, &reduced.live, asked.keep_q);
    piece.r = block.copy_r(&scratch.block, &reduced.live);
    let (reworked, rows) = block.finish(nodes, reduced, (n.max(1), vec![piece]), asked);
    up.extend(rows);
    Outcome {
        node: Some(reworked),
        up,
        flops,
    }
}

/// A front at a root of which the last columns are dead and the others are not, as where its columns depend on each other in one way: R without
/// its last rows, which is what [`reduce`] would find. None where it is not so simple. O(n^2).
fn without_last<T: FactorScalar>(
    nodes: &Nodes<'_, T>,
    node: usize,
    asked: Asked,
) -> Option<Reworked<T>> {
    let (r, npiv) = (nodes.front_r(node)?, nodes.npiv(node));
    if nodes.width(node) != npiv {
        return None;
    }
    let is_dead = |&j: &usize| Scalar::abs(r.diagonal(j)).to_f64() <= asked.tolerance;
    let live = (0..npiv).find(is_dead).filter(|&live| live > 0)?;
    let mut values = vec![T::zero(); live * npiv];
    let (mut dropped2, mut all_dead) = (0.0, true);
    let mut left = Vec::with_capacity(npiv - live);
    for (j, to) in values.chunks_exact_mut(live).enumerate() {
        left.clear();
        r.column(j, |row, values| {
            let kept = live.saturating_sub(row).min(values.len());
            to[row.min(live)..][..kept].copy_from_slice(&values[..kept]);
            left.extend_from_slice(&values[kept..]);
        });
        let norm = norm2(&left).to_f64();
        // Not a number is no small one.
        all_dead &= norm <= asked.tolerance;
        dropped2 += norm * norm;
    }
    let mut rhs = Vec::with_capacity(live * asked.nrhs);
    for c in 0..asked.nrhs {
        nodes.qhb(node, c, |row, values| {
            let kept = live.saturating_sub(row).min(values.len());
            rhs.extend_from_slice(&values[..kept]);
        });
    }
    let first = nodes.first(node);
    let slots = || (first..first + npiv as u32).collect();
    all_dead.then(|| Reworked {
        cols: nodes.columns(node),
        npiv,
        live: (0..live as u32).collect(),
        r: BlockColumns {
            width: npiv as u32,
            columns: vec![BlockColumn {
                rows: live,
                values: Values::Own(values),
            }],
        },
        rhs,
        q: asked.keep_q.then(|| NodeQ {
            from: slots(),
            to: slots(),
            ends: (1..=live as u32).collect(),
            v: Vec::new(),
            tau: vec![T::zero(); live],
        }),
        dropped2,
    })
}

/// What the reduction of some columns has found.
#[derive(Debug, Default)]
pub(super) struct Reduced<T> {
    /// The columns of its reflectors, counted in the block.
    pub live: Vec<u32>,
    pub tau: Vec<T>,
    pub dropped2: f64,
    pub flops: u64,
}

/// Reduces some columns of a block, on which the reflectors of those before have been applied; these have the rows before `row`.
pub(super) fn reduce<T: FactorScalar>(
    block: &Block,
    part: &Columns,
    row: usize,
    asked: Asked,
    columns: &mut [T],
    scratch: &mut Vec<T>,
) -> Reduced<T> {
    let (range, m, w) = (&part.range, part.rows, part.range.len());
    let all = w + part.sides;
    let rows = m - row;
    let k = rows.min(w);
    let (mut live, mut tau) = (vec![0; k], vec![T::zero(); k]);
    let needed = deflate_scratch::<T>(rows, w, all - w);
    room(scratch, needed);
    let stair = block.stair_from(range, row);
    let stair = Stair::Rows(&stair);
    let found = deflate(
        MatMut::new(columns, m, all, m).submatrix(row, 0, rows, all),
        w,
        block.npiv.saturating_sub(range.start).min(w),
        asked.tolerance,
        stair,
        &mut live,
        &mut tau,
        scratch,
    );
    live.truncate(found.rows);
    tau.truncate(found.rows);
    let flops = deflate_flops::<T>(rows, w, part.sides, stair, &live);
    live.iter_mut().for_each(|j| *j += range.start as u32);
    Reduced {
        live,
        tau,
        dropped2: found.dropped2,
        flops,
    }
}

/// Some columns of a block.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub range: Range<usize>,
    /// Rows that they have: none of their entries is further below.
    pub rows: usize,
    /// Right-hand sides behind them.
    pub sides: usize,
}

/// Of some columns that are reduced.
#[derive(Debug)]
pub(super) struct Piece<T> {
    /// Rows of R.
    pub r: BlockColumn<T>,
    /// The rows that go up, by packed columns.
    up: Vec<T>,
    /// The reflectors.
    v: Vec<T>,
    /// The same rows of the right-hand sides.
    rhs: Vec<T>,
    up_rhs: Vec<T>,
}

/// The structure of a node's block, and where its entries come from.
#[derive(Debug)]
pub(super) struct Block {
    first: u32,
    pub npiv: usize,
    /// Places.
    cols: Vec<u32>,
    pub stair: Vec<u32>,
    slots: Vec<u32>,
    /// By set of rows, those of the node first: the row of the block that each is.
    row_of: Vec<Vec<u32>>,
    /// By row of the node: the one behind it, or behind those after it, from which on rows from below lie between.
    run_ends: Vec<u32>,
    /// The column of the block that each of the node is; those of a front increase.
    own: Vec<u32>,
}

impl Block {
    pub fn new<T: FactorScalar>(nodes: &Nodes<'_, T>, node: usize, taken: &[Rows<T>]) -> Self {
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
        let own: Vec<u32> = own.iter().map(|place| column(place) as u32).collect();
        let mut run_ends: Vec<u32> = (1..=npiv as u32).collect();
        for i in (1..npiv).rev() {
            if row_of[0][i] == row_of[0][i - 1] + 1 {
                run_ends[i - 1] = run_ends[i];
            }
        }
        debug_assert!(
            nodes.front_r(node).is_none() || own.is_sorted(),
            "a front's columns increase"
        );
        Block {
            first,
            npiv,
            cols,
            stair,
            slots,
            row_of,
            run_ends,
            own,
        }
    }

    /// The staircase of the columns `range`, counted from row `row` on.
    pub fn stair_from(&self, range: &Range<usize>, row: usize) -> Vec<u32> {
        let stair = self.stair[range.clone()].iter();
        stair.map(|&s| s.saturating_sub(row as u32)).collect()
    }

    /// Rows, and columns without right-hand sides.
    pub fn shape(&self) -> (usize, usize) {
        (self.slots.len(), self.cols.len())
    }

    /// The columns `range`: those of the right end have the right-hand sides.
    pub fn columns(&self, range: Range<usize>, nrhs: usize) -> Columns {
        let (m, n) = self.shape();
        let is_last = range.end == n;
        let bottom = range.end.checked_sub(1).map_or(0, |j| self.stair[j]);
        Columns {
            rows: if is_last { m } else { bottom as usize },
            sides: if is_last { nrhs } else { 0 },
            range,
        }
    }

    /// Writes the entries of some columns, and of right-hand sides behind them, into cleared columns.
    pub fn fill<T: FactorScalar>(
        &self,
        nodes: &Nodes<'_, T>,
        node: usize,
        taken: &[Rows<T>],
        part: &Columns,
        out: &mut [T],
    ) {
        let (range, m, nrhs) = (part.range.clone(), part.rows, part.sides);
        let mut put_own = |j: usize, row: usize, values: &[T]| {
            let column = &mut out[j * m..][..m];
            let (mut row, mut rest) = (row, values);
            while !rest.is_empty() {
                let run = (self.run_ends[row] as usize - row).min(rest.len());
                let (values, others) = rest.split_at(run);
                column[self.row_of[0][row] as usize..][..run].copy_from_slice(values);
                (row, rest) = (row + run, others);
            }
        };
        match nodes.front_r(node) {
            Some(r) => {
                let start = self.own.partition_point(|&j| (j as usize) < range.start);
                let own = self.own[start..].iter().enumerate();
                for (j, &to) in own.take_while(|(_, to)| (**to as usize) < range.end) {
                    r.column(start + j, |row, values| {
                        put_own(to as usize - range.start, row, values);
                    });
                }
            }
            None => nodes.row_parts(node, |j, row, values| {
                if range.contains(&(self.own[j] as usize)) {
                    put_own(self.own[j] as usize - range.start, row, values);
                }
            }),
        }
        for c in 0..nrhs {
            nodes.qhb(node, c, |row, values| put_own(range.len() + c, row, values));
        }
        let mut put = |j: usize, rows: &[u32], values: &[T]| {
            let column = &mut out[j * m..][..m];
            for (&to, &value) in rows.iter().zip(values) {
                column[to as usize] = value;
            }
        };
        let bound = |j: usize| self.cols.get(j).copied().unwrap_or(u32::MAX);
        let (low, high) = (bound(range.start), bound(range.end));
        for (rows, row_of) in taken.iter().zip(&self.row_of[1..]) {
            let mut at = range.start;
            for (place, values) in rows.columns_from(low).take_while(|c| c.0 < high) {
                at += self.cols[at..range.end].partition_point(|&p| p < place);
                put(at - range.start, row_of, values);
            }
            for (c, values) in rows.rhs.chunks_exact(row_of.len()).take(nrhs).enumerate() {
                put(range.len() + c, row_of, values);
            }
        }
    }

    /// What goes out of some columns of the block once they are reduced, and of right-hand sides behind them, without R; `live` are
    /// the columns of the reflectors so far, at least those of the range.
    pub fn collect<T: FactorScalar>(
        &self,
        block: &[T],
        part: &Columns,
        live: &[u32],
        keep_q: bool,
    ) -> Piece<T> {
        let (range, m) = (&part.range, part.rows);
        let (mut v, mut up) = (Vec::new(), Vec::new());
        let pivots = live.partition_point(|&l| (l as usize) < self.npiv);
        let mut row = live.partition_point(|&l| (l as usize) < range.start);
        let columns = |at: usize| &block[at * m..][..m];
        let after = live.partition_point(|&l| (l as usize) < range.end);
        up.reserve(range.len() * (after - after.min(pivots)));
        for j in range.clone() {
            let column = columns(j - range.start);
            let is_live = live.get(row).is_some_and(|&l| l as usize == j);
            if is_live && keep_q {
                let end = (self.stair[j] as usize).max(row + 1);
                v.extend_from_slice(&column[row + 1..end]);
            }
            row += usize::from(is_live);
            up.extend_from_slice(&column[row.min(pivots)..row]);
        }
        let sides = (range.len()..range.len() + part.sides).map(columns);
        Piece {
            r: BlockColumn {
                rows: 0,
                values: Values::Own(Vec::new()),
            },
            up,
            v,
            rhs: sides.clone().flat_map(|c| &c[..pivots]).copied().collect(),
            up_rhs: sides
                .flat_map(|c| &c[pivots..live.len()])
                .copied()
                .collect(),
        }
    }

    /// R of all columns of the block, in memory of its own.
    fn copy_r<T: FactorScalar>(&self, block: &[T], live: &[u32]) -> BlockColumn<T> {
        let (m, n) = self.shape();
        let rows = live.partition_point(|&l| (l as usize) < self.npiv);
        let mut out = Vec::with_capacity(rows * n);
        for column in block.chunks_exact(m.max(1)).take(n) {
            out.extend_from_slice(&column[..rows]);
        }
        BlockColumn {
            rows,
            values: Values::Own(out),
        }
    }

    /// The node as it is now, and the rows that go up: from its pieces of `width` columns.
    pub fn finish<T: FactorScalar>(
        self,
        nodes: &Nodes<'_, T>,
        reduced: Reduced<T>,
        (width, pieces): (usize, Vec<Piece<T>>),
        asked: Asked,
    ) -> (Reworked<T>, Option<Rows<T>>) {
        let Reduced {
            mut live,
            tau,
            dropped2,
            ..
        } = reduced;
        let pivots = live.partition_point(|&l| (l as usize) < self.npiv);
        let to = self.slots_after(&live[..pivots]);
        let (mut columns, mut v, mut rhs) = (Vec::new(), Vec::new(), Vec::new());
        let (mut parts, mut up_rhs) = (Vec::new(), Vec::new());
        for piece in pieces {
            columns.push(piece.r);
            rhs.extend(piece.rhs);
            if v.is_empty() {
                v = piece.v;
            } else {
                v.extend_from_slice(&piece.v);
            }
            parts.push(piece.up);
            up_rhs.extend(piece.up_rhs);
        }
        let lead = &live[pivots..];
        let rows = lead.first().map(|&from| Rows {
            cols: self.cols[from as usize..].to_vec(),
            lead: lead.iter().map(|&l| l - from).collect(),
            slots: to[pivots..live.len()].to_vec(),
            starts: self.starts(lead, width),
            parts,
            rhs: up_rhs,
        });
        let q = asked.keep_q.then(|| NodeQ {
            from: self.slots,
            to,
            ends: live.iter().map(|&j| self.stair[j as usize]).collect(),
            v,
            tau,
        });
        live.truncate(pivots);
        let reworked = Reworked {
            cols: self.cols.iter().map(|&p| nodes.order[p as usize]).collect(),
            npiv: self.npiv,
            live,
            r: BlockColumns {
                width: u32::try_from(width).unwrap_or(u32::MAX),
                columns,
            },
            rhs,
            q,
            dropped2,
        };
        (reworked, rows)
    }

    /// The piece of `width` columns, and the place in it, where each column of the rows that go up begins; from the first column that they have.
    fn starts(&self, lead: &[u32], width: usize) -> Vec<(u32, u32)> {
        let (mut above, mut place) = (0, 0);
        let columns = lead[0] as usize..self.cols.len();
        columns
            .map(|j| {
                if j.is_multiple_of(width) {
                    place = 0;
                }
                let start = ((j / width) as u32, place);
                above += u32::from(lead.get(above as usize) == Some(&(j as u32)));
                place += above;
                start
            })
            .collect()
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
