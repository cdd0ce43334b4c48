//! Q' and P'^{-1}, and their adjoints, on vectors.
//!
//! A *head* has as many entries as W has columns: those of P' (n - d from the live columns of S, then those of the dead ones that are
//! alive in W), then as many as are dead in W, which belong to the rest. It is in no elimination order: P' is not triangular.

use super::Split;
use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use crate::solve::{Rotated, SolveOptions};
use treeqr_kernels::{MatMut, Op, Stair, apply_packed};
use treeqr_runtime::Observer;

impl<T: FactorScalar> Split<T> {
    /// Rows that Q2 works on: the live ones of S, and the dense ones.
    pub(super) fn rows(&self) -> usize {
        self.live.len() + self.tau.len()
    }

    fn apply_q2(&self, op: Op, frames: &mut [T], nrhs: usize) {
        let m = self.rows();
        let view = MatMut::new(frames, m, nrhs, m);
        apply_packed(op, &self.v, Stair::Rows(&self.ends), &self.tau, view);
    }

    /// From Q^H b of S and b of the dense rows to [Q3^H t; y] for each.
    pub(super) fn up(
        &self,
        heads: &[T],
        mut dense: impl Iterator<Item = T>,
        nrhs: usize,
    ) -> Vec<T> {
        let (n, k) = (self.live.len() + self.dead.len(), self.tau.len());
        let mut frames = Vec::with_capacity(self.rows() * nrhs);
        for c in 0..nrhs {
            let head = &heads[c * n..(c + 1) * n];
            frames.extend(self.live.iter().map(|&p| head[p as usize]));
            frames.extend(dense.by_ref().take(k).map(|v| -v));
        }
        self.apply_q2(Op::ConjTrans, &mut frames, nrhs);
        self.t
            .apply_q(Op::ConjTrans, &mut frames, nrhs, self.rows());
        frames
    }

    /// The inverse: Q^H b of S at the live pivots, and b of the dense rows, for each.
    pub(super) fn down(&self, frames: &mut [T], nrhs: usize) {
        self.t.apply_q(Op::NoTrans, frames, nrhs, self.rows());
        self.apply_q2(Op::NoTrans, frames, nrhs);
        let (m, nl) = (self.rows(), self.live.len());
        for frame in frames.chunks_exact_mut(m.max(1)) {
            frame[nl..].iter_mut().for_each(|v| *v = -*v);
        }
    }

    /// Values at the live pivots, as a vector in elimination order.
    fn spread(&self, frames: &[T], nrhs: usize) -> Vec<T> {
        let n = self.live.len() + self.dead.len();
        let mut out = vec![T::zero(); n * nrhs];
        for (out, frame) in out
            .chunks_exact_mut(n)
            .zip(frames.chunks_exact(self.rows()))
        {
            for (&p, &v) in self.live.iter().zip(frame) {
                out[p as usize] = v;
            }
        }
        out
    }

    /// [Q3^H t; y] as a head. The rest gets the others: what is left of t.
    pub(super) fn head_of(&self, frame: &[T], head: &mut [T]) {
        let (k, nl, alive) = (self.tau.len(), self.live.len(), self.revived());
        head[..nl].copy_from_slice(&frame[k..]);
        head[nl..nl + alive].copy_from_slice(&frame[..alive]);
    }

    fn frame_of(&self, head: &[T], frame: &mut [T]) {
        let (k, nl, alive) = (self.tau.len(), self.live.len(), self.revived());
        frame[k..].copy_from_slice(&head[..nl]);
        frame[..alive].copy_from_slice(&head[nl..nl + alive]);
    }

    /// Where the dense rows are in the rest of S: among the rows of W that are in no front.
    fn slots(factors: &Factors<T>) -> Vec<usize> {
        let symbolic = &factors.symbolic;
        let mut used = vec![false; symbolic.work_rows()];
        let singletons = symbolic.singletons.iter().map(|s| s.row);
        for row in singletons.chain(symbolic.tree.own.row.iter().copied()) {
            used[row as usize] = true;
        }
        let outside: Vec<usize> = (0..used.len()).filter(|&i| !used[i]).collect();
        let first = symbolic.rest_rows - outside.len();
        let dense = symbolic.dense_rows.iter();
        let slot = |&i: &u32| outside.binary_search(&(i as usize)).expect("in no front");
        dense.map(|i| first + slot(i)).collect()
    }
}

impl<T: FactorScalar> Factors<T> {
    /// Q'^H b.
    pub(crate) fn split_apply_q_adjoint<O: Observer>(
        &self,
        split: &Split<T>,
        b: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Rotated<T>, SolveError> {
        let mut out = self.sparse_apply_q_adjoint(b, nrhs, options, observer)?;
        let (n, rows) = (self.symbolic.work_cols(), self.symbolic.rest_rows);
        let slots = Split::slots(self);
        let rest = &out.rest;
        let dense = (0..nrhs).flat_map(|c| slots.iter().map(move |&s| rest[c * rows + s]));
        let frames = split.up(&out.head, dense, nrhs);
        let (nl, alive, m) = (split.live.len(), split.revived(), split.rows());
        let order: Vec<u32> = self.dead_places().to_vec();
        for c in 0..nrhs {
            let frame = &frames[c * m..(c + 1) * m];
            let head = &mut out.head[c * n..(c + 1) * n];
            let rest = &mut out.rest[c * rows..(c + 1) * rows];
            let left: Vec<T> = order.iter().map(|&p| head[p as usize]).collect();
            split.head_of(frame, head);
            // As many entries come to the head as dead ones leave it.
            head[nl + alive..].copy_from_slice(&left[alive..]);
            for (i, &slot) in slots.iter().enumerate() {
                rest[slot] = if i < alive { left[i] } else { frame[i] };
            }
        }
        Ok(out)
    }

    /// Q' c.
    pub(crate) fn split_apply_q<O: Observer>(
        &self,
        split: &Split<T>,
        c: &Rotated<T>,
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        let (n, rows) = (self.symbolic.work_cols(), self.symbolic.rest_rows);
        let slots = Split::slots(self);
        let (nl, alive, m) = (split.live.len(), split.revived(), split.rows());
        let mut rest = c.rest.clone();
        rest.resize(rows * nrhs, T::zero());
        let mut frames = vec![T::zero(); m * nrhs];
        let mut left = Vec::new();
        for j in 0..nrhs {
            let (head, rest) = (&c.head[j * n..(j + 1) * n], &rest[j * rows..(j + 1) * rows]);
            let frame = &mut frames[j * m..(j + 1) * m];
            split.frame_of(head, frame);
            for (i, &slot) in slots.iter().enumerate() {
                if i < alive {
                    left.push(rest[slot]);
                } else {
                    frame[i] = rest[slot];
                }
            }
            left.extend_from_slice(&head[nl + alive..]);
        }
        split.down(&mut frames, nrhs);
        let mut head = split.spread(&frames, nrhs);
        let (places, d) = (self.dead_places(), split.dead.len());
        for j in 0..nrhs {
            for (i, &p) in places.iter().enumerate() {
                head[j * n + p as usize] = left[j * d + i];
            }
            for (i, &slot) in slots.iter().enumerate() {
                rest[j * rows + slot] = frames[j * m + nl + i];
            }
        }
        let c = Rotated { head, rest };
        self.sparse_apply_q(&c, nrhs, options, observer)
    }

    /// The basic solution of P' x = c for heads, in the numbering of W.
    pub(crate) fn split_solve_r(
        &self,
        split: &Split<T>,
        c: &[T],
        nrhs: usize,
        options: &SolveOptions,
    ) -> Result<Vec<T>, SolveError> {
        let n = self.symbolic.work_cols();
        let (nl, alive, m) = (split.live.len(), split.revived(), split.rows());
        let mut frames = vec![T::zero(); m * nrhs];
        let mut revived = Vec::with_capacity(alive * nrhs);
        for j in 0..nrhs {
            let head = &c[j * n..(j + 1) * n];
            let mut w = head[nl..nl + alive].to_vec();
            split.t.solve(&mut w);
            let y = &mut frames[j * m + split.tau.len()..(j + 1) * m];
            y.copy_from_slice(&head[..nl]);
            for (&w, column) in w.iter().zip(split.y.chunks_exact(nl.max(1))) {
                y.iter_mut().zip(column).for_each(|(y, &v)| *y -= v * w);
            }
            revived.extend(w);
        }
        split.apply_q2(Op::NoTrans, &mut frames, nrhs);
        let heads = split.spread(&frames, nrhs);
        let mut x = self.sparse_solve_r(&heads, nrhs, options, &())?;
        for j in 0..nrhs {
            for (i, &e) in split.t.order()[..alive].iter().enumerate() {
                x[j * n + split.dead[e as usize] as usize] = revived[j * alive + i];
            }
        }
        Ok(x)
    }

    /// P'^H y = c in the columns that are alive, for c in the numbering of W; a head, zero behind.
    pub(crate) fn split_solve_r_adjoint<O: Observer>(
        &self,
        split: &Split<T>,
        c: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        let n = self.symbolic.work_cols();
        let (nl, alive, m, k) = (
            split.live.len(),
            split.revived(),
            split.rows(),
            split.tau.len(),
        );
        let v = self.sparse_solve_r_adjoint(c, nrhs, options, observer)?;
        let mut frames = vec![T::zero(); m * nrhs];
        for (frame, v) in frames.chunks_exact_mut(m).zip(v.chunks_exact(n)) {
            for (to, &p) in frame.iter_mut().zip(&split.live) {
                *to = v[p as usize];
            }
        }
        split.apply_q2(Op::ConjTrans, &mut frames, nrhs);
        let mut out = vec![T::zero(); n * nrhs];
        for j in 0..nrhs {
            let y = &frames[j * m + k..(j + 1) * m];
            let head = &mut out[j * n..(j + 1) * n];
            head[..nl].copy_from_slice(y);
            let w = &mut head[nl..nl + alive];
            for (i, (w, &e)) in w.iter_mut().zip(split.t.order()).enumerate() {
                let column = &split.y[i * nl..(i + 1) * nl];
                let known: T = column.iter().zip(y).map(|(v, &y)| v.conj() * y).sum();
                *w = c[j * n + split.dead[e as usize] as usize] - known;
            }
            split.t.solve_adjoint(w);
        }
        Ok(out)
    }

    /// Places of the dead pivots of S in the elimination order.
    fn dead_places(&self) -> &[u32] {
        self.deficiency.as_ref().map_or(&[], |d| &d.dead)
    }
}
