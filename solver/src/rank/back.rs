//! R z = 0 for vectors that are 1 at one dead pivot and 0 at the others: the null space's, before they are made orthonormal.
//!
//! Takes the nodes and a component; gives a block of its vectors. Only nodes that they reach are looked at.

use super::nodes::Nodes;
use super::reach::{Component, NONE, Reach};
use super::rework::Reworked;
use super::rows::{Live, Source, Trapezoid, divide, take, take_all};
use super::run::Deficiency;
use super::zeros;
use crate::numeric::{FactorScalar, RBlock};
use crate::solve::solve_tiles;
use std::ops::Range;

/// What the solves read.
pub(super) struct Back<'a, T: FactorScalar> {
    pub nodes: &'a Nodes<'a, T>,
    pub deficiency: &'a Deficiency<T>,
    pub reach: &'a Reach,
}

/// Working memory of one worker, grown as it is needed.
#[derive(Default)]
pub(super) struct BackScratch<T> {
    /// The block, its rows one after the other, `w` entries each.
    x: Vec<T>,
    w: usize,
    /// Rows that may have entries.
    touched: Vec<bool>,
    z: Vec<T>,
    panel: Vec<T>,
    /// Columns of a node beside its pivots that have entries, and their rows.
    others: Vec<(u32, u32)>,
}

impl<T: FactorScalar> BackScratch<T> {
    /// The first `h` entries of vectors from number `first` of the block on, column by column.
    pub fn copy(&self, first: usize, h: usize, out: &mut [T]) {
        // A cache line of a row goes to as many columns.
        const LINE: usize = 8;
        for (k, columns) in out.chunks_mut(LINE * h).enumerate() {
            let rows = self.x.chunks_exact(self.w).take(h);
            let count = columns.len() / h;
            for (i, row) in rows.enumerate() {
                let from = &row[first + k * LINE..][..count];
                (columns[i..].iter_mut().step_by(h).zip(from)).for_each(|(to, &x)| *to = x);
            }
        }
    }
}

impl<T: FactorScalar> Back<'_, T> {
    /// Rows of the vectors of dead pivots up to number `last` of a component.
    pub fn height(&self, component: &Component, last: usize) -> usize {
        let place = self.deficiency.dead[component.dead[last] as usize];
        self.reach.row[place as usize] as usize + 1
    }

    /// Entries of R in the nodes of a component.
    pub fn entries(&self, component: &Component) -> u64 {
        let entries = |&node: &u32| {
            let node = node as usize;
            match &self.deficiency.nodes[node] {
                Some(done) => done.entries(),
                None => match self.nodes.front_r(node) {
                    None => 1,
                    Some(_) => {
                        let (npiv, n) = (self.nodes.npiv(node), self.nodes.width(node));
                        npiv * (npiv + 1) / 2 + npiv * (n - npiv)
                    }
                },
            }
        };
        component.nodes.iter().map(entries).sum::<usize>() as u64
    }

    /// The vectors of dead pivots number `range` of a component, for [`BackScratch::copy`].
    pub fn solve(&self, component: &Component, range: Range<usize>, scratch: &mut BackScratch<T>) {
        let w = range.len();
        let h = self.height(component, range.end - 1);
        let BackScratch { x, touched, .. } = scratch;
        zeros(x, w * h);
        touched.clear();
        touched.resize(h, false);
        for (k, &d) in component.dead[range].iter().enumerate() {
            let row = self.reach.row[self.deficiency.dead[d as usize] as usize] as usize;
            x[row * w + k] = T::one();
            touched[row] = true;
        }
        let last = component.rows[h - 1];
        let end =
            (component.nodes).partition_point(|&node| self.nodes.first(node as usize) <= last);
        for &node in component.nodes[..end].iter().rev() {
            self.node(component, node as usize, w, scratch);
        }
        scratch.w = w;
    }

    /// The entries at the pivots of one node.
    fn node(&self, component: &Component, node: usize, w: usize, scratch: &mut BackScratch<T>) {
        let BackScratch {
            x,
            touched,
            z,
            panel,
            others,
            ..
        } = scratch;
        let npiv = self.nodes.npiv(node);
        let first = self.reach.row[self.nodes.first(node) as usize] as usize;
        let done = self.deficiency.nodes[node].as_deref();
        others.clear();
        let mut j = 0;
        let mut other = |place: u32| {
            let row = self.reach.row[place as usize];
            if j >= npiv && row != NONE && touched.get(row as usize) == Some(&true) {
                others.push((j as u32, row));
            }
            j += 1;
        };
        match done {
            Some(done) => (done.cols.iter()).for_each(|&c| other(self.nodes.place(c))),
            None => self.nodes.for_each_place(node, other),
        }
        let n = j;
        let Some(done) = done else {
            if others.is_empty() {
                return;
            }
            touched[first..first + npiv].fill(true);
            let (pivots, beyond) = x[first * w..].split_at_mut(npiv * w);
            let beyond = Rows {
                x: beyond,
                first: first + npiv,
                w,
            };
            match self.nodes.front_r(node) {
                None => self.singleton(node, others, pivots, &beyond),
                Some(RBlock::Packed { data, .. }) => {
                    let (triangle, beside) = data.split_at(npiv * (npiv + 1) / 2);
                    beyond.take_from(pivots, beside, npiv, others, npiv..n, z);
                    let triangle = Trapezoid {
                        r: Source::Packed(triangle),
                        live: Live::All,
                    };
                    triangle.solve(npiv, w, pivots, |_, _| (), panel);
                }
                Some(tiled) => {
                    z.clear();
                    z.resize(n * w, T::zero());
                    for &(j, row) in &*others {
                        z[j as usize * w..][..w].copy_from_slice(beyond.row(row));
                    }
                    solve_tiles(&tiled, n, w, z);
                    pivots.copy_from_slice(&z[..npiv * w]);
                }
            }
            return;
        };
        let top = if others.is_empty() {
            // Of what is touched here there are only dead pivots yet. Pivots behind the last of all have no row.
            let places = self.nodes.first(node)..;
            let rows = component.rows[first..touched.len()].iter().take(npiv);
            let own = rows.zip(places).take_while(|&(&row, place)| row == place);
            let end = first + own.count();
            match touched[first..end].iter().rposition(|&t| t) {
                None => return,
                // The column of that one is known too.
                Some(last) => last + 1,
            }
        } else {
            npiv
        };
        self.reworked(done, (first, top), others, n, w, (x, touched, z, panel));
    }

    fn reworked(
        &self,
        done: &Reworked<T>,
        (first, top): (usize, usize),
        others: &[(u32, u32)],
        n: usize,
        w: usize,
        (x, touched, z, panel): (&mut [T], &mut [bool], &mut Vec<T>, &mut Vec<T>),
    ) {
        let live = done.live.partition_point(|&l| (l as usize) < top);
        let own = &done.live[..live];
        let mut part = vec![T::zero(); live * w];
        let view = done.view(&self.deficiency.store);
        if !others.is_empty() {
            let all = Rows { x, first: 0, w };
            let mut rest = others;
            for columns in view.cut(done.npiv..n, 0) {
                let end = rest.partition_point(|other| (other.0 as usize) < columns.end);
                let (r, ld) = view.from(&columns, 0);
                all.take_from(&mut part, r, ld, &rest[..end], columns, z);
                rest = &rest[end..];
            }
        }
        let trapezoid = Trapezoid {
            r: Source::Blocks(view),
            live: Live::These(own),
        };
        let given = |j: usize, to: &mut [T]| {
            if touched[first + j] {
                to.copy_from_slice(&x[(first + j) * w..][..w]);
            }
        };
        trapezoid.solve(top, w, &mut part, given, panel);
        for (&j, part) in own.iter().zip(part.chunks_exact(w)) {
            let row = first + j as usize;
            touched[row] = true;
            x[row * w..][..w].copy_from_slice(part);
        }
    }

    fn singleton(&self, node: usize, others: &[(u32, u32)], own: &mut [T], beyond: &Rows<'_, T>) {
        let mut next = others.iter().peekable();
        let mut pivot = T::one();
        self.nodes.row_parts(node, |j, _, values| {
            if j == 0 {
                pivot = values[0];
            } else if let Some(&(_, row)) = next.next_if(|other| other.0 as usize == j) {
                take(own, values, beyond.row(row));
            }
        });
        divide(own, pivot);
    }
}

/// Rows of a block, from row `first` on.
struct Rows<'a, T> {
    x: &'a [T],
    first: usize,
    w: usize,
}

impl<T: FactorScalar> Rows<'_, T> {
    fn row(&self, row: u32) -> &[T] {
        &self.x[(row as usize - self.first) * self.w..][..self.w]
    }

    /// Takes R times the rows `others`, (column, row), from `to`. R has the columns `range`, `ld` apart.
    fn take_from(
        &self,
        to: &mut [T],
        r: &[T],
        ld: usize,
        others: &[(u32, u32)],
        range: Range<usize>,
        z: &mut Vec<T>,
    ) {
        if ld == 0 {
            return;
        }
        if self.w == 1 || 2 * others.len() < range.len() {
            for &(j, row) in others {
                let column = &r[(j as usize - range.start) * ld..][..to.len() / self.w];
                take(to, column, self.row(row));
            }
            return;
        }
        z.clear();
        z.resize(range.len() * self.w, T::zero());
        for &(j, row) in others {
            let to = (j as usize - range.start) * self.w;
            z[to..to + self.w].copy_from_slice(self.row(row));
        }
        take_all(to, r, ld, z, self.w);
    }
}
