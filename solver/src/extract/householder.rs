//! Q as a product of reflectors on the rows of A: H, tau and the order in which rows come out.
//!
//! Takes the reflectors where they lie, as packed columns or in tiles; gives them as columns of one sparse matrix. Rows keep their
//! names on the way up the tree: a row of a front is a row of W that starts there, or one of a child's contribution block. A reflector of
//! `tpqrt`, which works on two tiles, is one on these rows like any other.

use crate::analysis::groups::Unit;
use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use crate::plan::Plan;
use crate::plan::kept::VBlock;
use crate::plan::panel::{Step, steps, tile_stair, triangle_stair};
use crate::solve::RestPlaces;
use treeqr_matrices::{Csc, Pattern, Scalar};

/// Q = (I - tau_0 h_0 h_0^H)(I - tau_1 h_1 h_1^H) ... P, with h_k column k of H.
#[derive(Clone, Debug)]
pub struct Householder<T> {
    /// H: a column for each reflector, in the order in which Q^H applies them. Its rows are those of the factorized matrix and, below
    /// them, rows of zeros that the analysis has added. There are more columns than R has where fronts share rows with their
    /// parents, or where fronts are in tiles.
    pub vectors: Csc<T>,
    /// A scalar for each column of H.
    pub tau: Vec<T>,
    /// P: the row of H that becomes each entry of [`Rotated::head`](crate::Rotated::head) and then of [`Rotated::rest`](crate::Rotated::rest).
    /// Without full rank, of the head only the entries at live pivots are rows of R.
    pub row_order: Vec<u32>,
}

impl<T: Scalar> Householder<T> {
    /// Q^H b in elimination order, in place of b, which has a row for each of H. 4 nnz(H) flops.
    ///
    /// # Panics
    /// When b has another length.
    pub fn apply_adjoint(&self, b: &mut Vec<T>) {
        assert_eq!(b.len(), self.vectors.nrows(), "Q^H b: rows of b");
        for (k, tau) in self.tau.iter().enumerate() {
            self.reflect(k, tau.conj(), b);
        }
        *b = self.row_order.iter().map(|&i| b[i as usize]).collect();
    }

    /// The inverse of [`Self::apply_adjoint`].
    ///
    /// # Panics
    /// When c has another length.
    pub fn apply(&self, c: &mut Vec<T>) {
        assert_eq!(c.len(), self.vectors.nrows(), "Q c: rows of c");
        let mut b = vec![T::zero(); c.len()];
        for (&i, &value) in self.row_order.iter().zip(&*c) {
            b[i as usize] = value;
        }
        for (k, &tau) in self.tau.iter().enumerate().rev() {
            self.reflect(k, tau, &mut b);
        }
        *c = b;
    }

    /// b - tau h h^H b.
    fn reflect(&self, k: usize, tau: T, b: &mut [T]) {
        let (rows, values) = self.vectors.col(k);
        let pairs = || rows.iter().map(|&i| i as usize).zip(values);
        let dot: T = pairs().map(|(i, h)| h.conj() * b[i]).sum();
        let by = tau * dot;
        pairs().for_each(|(i, &h)| b[i] -= h * by);
    }
}

impl<T: FactorScalar> Factors<T> {
    /// H, tau and the order of rows. O(nnz(H)), but for the sorting of each column.
    ///
    /// # Errors
    /// [`SolveError::NoQ`] when Q was not kept.
    pub fn householder(&self) -> Result<Householder<T>, SolveError> {
        self.check_whole()?;
        self.check_q("H")?;
        self.check_unsplit("H")?;
        let (sym, plan) = (&self.symbolic, self.plan());
        let (tree, n) = (&sym.tree, sym.work_cols());
        let mut out = Columns::default();
        let mut next_name = sym.work_rows() as u32;
        let mut order = vec![u32::MAX; n + sym.rest_rows];
        for (place, single) in order.iter_mut().zip(&sym.singletons) {
            *place = single.row;
        }
        let rest = RestPlaces::new(self);
        // By front, the names of the rows of its contribution block.
        let mut shared: Vec<Vec<u32>> = vec![Vec::new(); tree.fronts.len()];
        for (f, front) in tree.fronts.iter().enumerate() {
            let mut names = vec![u32::MAX; front.m as usize];
            let own = front.own_start..front.own_end;
            for (&local, &row) in tree.own.local[own.clone()].iter().zip(&tree.own.row[own]) {
                names[local as usize] = row;
            }
            for &c in &front.children {
                let rows = std::mem::take(&mut shared[c as usize]);
                for (&local, name) in tree.rowmap(c as usize).iter().zip(rows) {
                    names[local as usize] = name;
                }
            }
            for name in names.iter_mut().filter(|name| **name == u32::MAX) {
                *name = next_name;
                next_name += 1;
            }
            self.front_reflectors(&plan, f, &names, &mut out);
            let npiv = front.npiv as usize;
            let edge = front.parent.map_or(0, |_| front.cb_rows as usize);
            let at = sym.singletons.len() + front.first_pivot as usize;
            order[at..at + npiv].copy_from_slice(&names[..npiv]);
            let below = &names[npiv + edge..];
            order[n + rest.at[f]..][..below.len()].copy_from_slice(below);
            shared[f] = names[npiv..npiv + edge].to_vec();
        }
        let from = order.len() - rest.empty.len();
        for (place, &row) in order[from..].iter_mut().zip(&rest.empty) {
            *place = row as u32;
        }
        if let Some(deficiency) = &self.deficiency {
            for q in deficiency.reflectors() {
                let names: Vec<u32> = q.from.iter().map(|&slot| order[slot as usize]).collect();
                let mut v = q.v;
                for (j, (&tau, &end)) in q.tau.iter().zip(q.ends).enumerate() {
                    let (own, others) = v.split_at((end as usize).saturating_sub(j + 1));
                    let tail = names[j + 1..].iter().copied().zip(own.iter().copied());
                    out.push(names[j], tail, tau);
                    v = others;
                }
                for (&slot, name) in q.to.iter().zip(names) {
                    order[slot as usize] = name;
                }
            }
        }
        let pattern = Pattern::new(order.len(), out.tau.len(), out.colptr, out.rowidx);
        let pattern = pattern.expect("rows increase");
        Ok(Householder {
            vectors: Csc::new(pattern, out.values).expect("a value for every entry"),
            tau: out.tau,
            row_order: order,
        })
    }

    /// The reflectors of front `f`, in the order in which Q^H applies them.
    fn front_reflectors(&self, plan: &Plan<'_>, f: usize, names: &[u32], out: &mut Columns<T>) {
        if names.is_empty() {
            return;
        }
        let stair = plan.sym.tree.stair(f);
        if let Unit::Group(_) = plan.unit(plan.unit_of(f)) {
            let factors = self.block_factors(plan, f);
            let tau = &factors[factors.len() - plan.front(f).reflectors()..];
            let start = factors.len() - tau.len() - plan.block_v_entries(f);
            let mut v = &factors[start..factors.len() - tau.len()];
            for (j, &tau) in tau.iter().enumerate() {
                let (own, others) = v.split_at((stair[j] as usize).saturating_sub(j + 1));
                let tail = names[j + 1..].iter().copied().zip(own.iter().copied());
                out.push(names[j], tail, tau);
                v = others;
            }
            return;
        }
        let t = plan.tiling(f);
        let ib = t.inner_block(size_of::<T>());
        let get = |handle| self.store.get_as::<T>(handle).expect("reflectors are kept");
        for k in 0..t.panels {
            for step in steps(t, k) {
                let factor = get(plan.step_factor(f, k, step).0);
                let head = |i: usize| t.rows[i] as usize + t.offset(i, k);
                let (top, from, ends) = match step {
                    Step::Head { i } => (head(i), None, tile_stair(t, stair, i, k)),
                    Step::Flat { a, i } => {
                        let from = Some(t.rows[i] as usize);
                        (head(a), from, tile_stair(t, stair, i, k))
                    }
                    Step::Tree { a, b } => {
                        let from = Some(t.rows[b] as usize);
                        (head(a), from, triangle_stair(t, stair, b, k))
                    }
                };
                let v = match step {
                    Step::Flat { i, .. } => get(plan.tile(f, i, k)),
                    _ => factor,
                };
                let blocks = plan.v_blocks(f, k, step);
                let reflectors = blocks.last().map_or(0, |block| block.columns.end);
                // T lies behind V, or alone.
                let tf = &factor[factor.len() - ib * reflectors..];
                for VBlock { columns, rows, at } in blocks {
                    for j in columns.clone() {
                        // Under its own unit entry, or from the top of the other tile on.
                        let skipped = if from.is_none() { j + 1 } else { 0 };
                        let end = (ends[j] as usize).max(skipped);
                        let first = from.unwrap_or(top) + skipped;
                        let column = &v[at + (j - columns.start) * rows.len()..];
                        let values = &column[skipped - rows.start..end - rows.start];
                        let tail = names[first..].iter().copied();
                        let tail = tail.zip(values.iter().copied());
                        out.push(names[top + j], tail, tf[j * ib + j % ib]);
                    }
                }
            }
        }
    }
}

/// H as it is made.
struct Columns<T> {
    colptr: Vec<usize>,
    rowidx: Vec<u32>,
    values: Vec<T>,
    tau: Vec<T>,
    column: Vec<(u32, T)>,
}

impl<T> Default for Columns<T> {
    fn default() -> Self {
        Columns {
            colptr: vec![0],
            rowidx: Vec::new(),
            values: Vec::new(),
            tau: Vec::new(),
            column: Vec::new(),
        }
    }
}

impl<T: Scalar> Columns<T> {
    /// One more reflector: 1 at `head`, and these values.
    fn push(&mut self, head: u32, tail: impl Iterator<Item = (u32, T)>, tau: T) {
        self.column.clear();
        self.column.push((head, T::one()));
        self.column.extend(tail);
        self.column.sort_unstable_by_key(|e| e.0);
        self.rowidx.extend(self.column.iter().map(|e| e.0));
        self.values.extend(self.column.iter().map(|e| e.1));
        self.colptr.push(self.rowidx.len());
        self.tau.push(tau);
    }
}
