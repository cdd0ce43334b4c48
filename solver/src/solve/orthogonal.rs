//! Q^H b and Q c, front by front: up the tree for Q^H, down for Q.
//!
//! A front's reflectors act on its own rows of the matrix and on the rows that its children left; what they leave below
//! the pivots goes to the parent, and what lies below the contribution block is done with.

use crate::analysis::groups::Unit;
use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use crate::plan::Plan;
use crate::plan::panel::{Step, steps, tile_stair, triangle_stair};
use treeqr_kernels::{MatMut, MatRef, Op, Stair, apply_packed, gemqrt, tpmqrt};

/// Q^H b in its two parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotated<T> {
    /// The part that R belongs to, in elimination order: as many entries as the factorized matrix has columns.
    pub head: Vec<T>,
    /// The rest: its norm is the norm of the least-squares residual.
    pub rest: Vec<T>,
}

impl<T: FactorScalar> Factors<T> {
    /// Q^H b for `nrhs` columns of as many entries as the factorized matrix has rows. 4 nnz(H) flops a column.
    ///
    /// # Errors
    /// [`SolveError::NoQ`] when Q was not kept.
    pub fn apply_q_adjoint(&self, b: &[T], nrhs: usize) -> Result<Rotated<T>, SolveError> {
        let (m, n) = (self.symbolic.work_rows(), self.symbolic.work_cols());
        assert_eq!(b.len(), m * nrhs, "Q^H b: shape of b");
        let mut walk = Walk::new(self, nrhs, "Q^H b")?;
        let mut head = vec![T::zero(); n * nrhs];
        let mut rest = vec![T::zero(); (m - n) * nrhs];
        let singles = self.symbolic.singletons.len();
        for (s, single) in self.symbolic.singletons.iter().enumerate() {
            for k in 0..nrhs {
                head[k * n + s] = b[k * m + single.row as usize];
            }
        }
        let mut rest_at = 0;
        for (f, front) in self.symbolic.tree.fronts.iter().enumerate() {
            let rows = front.m as usize;
            let mut z = vec![T::zero(); rows * nrhs];
            walk.gather(f, &mut z, |row, k| b[k * m + row]);
            walk.apply(Op::ConjTrans, f, &mut z);
            let (npiv, kept) = (front.npiv as usize, front.reflectors());
            let first = singles + front.first_pivot as usize;
            for k in 0..nrhs {
                let column = &z[k * rows..(k + 1) * rows];
                head[k * n + first..k * n + first + npiv].copy_from_slice(&column[..npiv]);
                rest[k * (m - n) + rest_at..][..rows - kept].copy_from_slice(&column[kept..]);
                walk.left[f].extend_from_slice(&column[npiv..kept]);
            }
            rest_at += rows - kept;
        }
        for row in self.empty_rows() {
            for k in 0..nrhs {
                rest[k * (m - n) + rest_at] = b[k * m + row];
            }
            rest_at += 1;
        }
        Ok(Rotated { head, rest })
    }

    /// Q c, the inverse of [`Self::apply_q_adjoint`]; an empty `rest` counts as zero. 4 nnz(H) flops a column.
    ///
    /// # Errors
    /// [`SolveError::NoQ`] when Q was not kept.
    pub fn apply_q(&self, c: &Rotated<T>, nrhs: usize) -> Result<Vec<T>, SolveError> {
        let (m, n) = (self.symbolic.work_rows(), self.symbolic.work_cols());
        assert_eq!(c.head.len(), n * nrhs, "Q c: shape of c");
        assert!(
            c.rest.is_empty() || c.rest.len() == (m - n) * nrhs,
            "Q c: shape of the rest"
        );
        let rest = |k: usize, i: usize| {
            if c.rest.is_empty() {
                T::zero()
            } else {
                c.rest[k * (m - n) + i]
            }
        };
        let mut walk = Walk::new(self, nrhs, "Q c")?;
        let mut out = vec![T::zero(); m * nrhs];
        let singles = self.symbolic.singletons.len();
        for (s, single) in self.symbolic.singletons.iter().enumerate() {
            for k in 0..nrhs {
                out[k * m + single.row as usize] = c.head[k * n + s];
            }
        }
        let fronts = &self.symbolic.tree.fronts;
        let mut rest_at: usize = fronts.iter().map(|f| f.m as usize - f.reflectors()).sum();
        for (i, row) in self.empty_rows().into_iter().enumerate() {
            for k in 0..nrhs {
                out[k * m + row] = rest(k, rest_at + i);
            }
        }
        for (f, front) in fronts.iter().enumerate().rev() {
            let rows = front.m as usize;
            let (npiv, kept) = (front.npiv as usize, front.reflectors());
            rest_at -= rows - kept;
            let first = singles + front.first_pivot as usize;
            let from_parent = std::mem::take(&mut walk.left[f]);
            let mut z = vec![T::zero(); rows * nrhs];
            for k in 0..nrhs {
                let column = &mut z[k * rows..(k + 1) * rows];
                column[..npiv].copy_from_slice(&c.head[k * n + first..k * n + first + npiv]);
                if kept > npiv {
                    column[npiv..kept]
                        .copy_from_slice(&from_parent[k * (kept - npiv)..(k + 1) * (kept - npiv)]);
                }
                for (i, value) in column[kept..].iter_mut().enumerate() {
                    *value = rest(k, rest_at + i);
                }
            }
            walk.apply(Op::NoTrans, f, &mut z);
            walk.scatter(f, &z, |row, k, value| out[k * m + row] = value);
        }
        Ok(out)
    }

    /// Rows of the factorized matrix without entries.
    fn empty_rows(&self) -> Vec<usize> {
        let mut used = vec![false; self.symbolic.work_rows()];
        self.symbolic
            .singletons
            .iter()
            .for_each(|s| used[s.row as usize] = true);
        self.symbolic
            .tree
            .own
            .row
            .iter()
            .for_each(|&i| used[i as usize] = true);
        (0..used.len()).filter(|&i| !used[i]).collect()
    }
}

/// A walk over the tree with what fronts leave to their parents (or take from them).
struct Walk<'a, T> {
    factors: &'a Factors<T>,
    plan: Plan<'a>,
    nrhs: usize,
    /// Per front, rows of its contribution block, a right-hand side after the other.
    left: Vec<Vec<T>>,
    scratch: Vec<T>,
}

impl<'a, T: FactorScalar> Walk<'a, T> {
    fn new(factors: &'a Factors<T>, nrhs: usize, what: &'static str) -> Result<Self, SolveError> {
        if !factors.has_q() {
            return Err(SolveError::NoQ { what });
        }
        let plan = factors.plan();
        // The kernels' scratch grows with the columns they are applied to: that of this many right-hand sides.
        let mut wide = factors.plan();
        wide.shape.nrhs = nrhs;
        let scratch = vec![T::zero(); wide.scratch_for::<T>().kernel];
        let left = vec![Vec::new(); factors.symbolic.tree.fronts.len()];
        Ok(Walk {
            factors,
            plan,
            nrhs,
            left,
            scratch,
        })
    }

    /// Rows of front f from the matrix's own rows and from its children.
    fn gather(&mut self, f: usize, z: &mut [T], b: impl Fn(usize, usize) -> T) {
        let tree = &self.factors.symbolic.tree;
        let front = &tree.fronts[f];
        let rows = front.m as usize;
        for p in front.own_start..front.own_end {
            for k in 0..self.nrhs {
                z[k * rows + tree.own.local[p] as usize] = b(tree.own.row[p] as usize, k);
            }
        }
        for &c in &front.children {
            let from = std::mem::take(&mut self.left[c as usize]);
            let map = tree.rowmap(c as usize);
            for k in 0..self.nrhs {
                for (&to, &value) in map.iter().zip(&from[k * map.len()..]) {
                    z[k * rows + to as usize] = value;
                }
            }
        }
    }

    /// The reverse of `gather`.
    fn scatter(&mut self, f: usize, z: &[T], mut out: impl FnMut(usize, usize, T)) {
        let tree = &self.factors.symbolic.tree;
        let front = &tree.fronts[f];
        let rows = front.m as usize;
        for p in front.own_start..front.own_end {
            for k in 0..self.nrhs {
                out(
                    tree.own.row[p] as usize,
                    k,
                    z[k * rows + tree.own.local[p] as usize],
                );
            }
        }
        for &c in &front.children {
            let map = tree.rowmap(c as usize);
            let to = &mut self.left[c as usize];
            for k in 0..self.nrhs {
                to.extend(map.iter().map(|&from| z[k * rows + from as usize]));
            }
        }
    }

    /// The front's Q or Q^H on its m x nrhs block.
    fn apply(&mut self, op: Op, f: usize, z: &mut [T]) {
        let plan = &self.plan;
        let front = plan.front(f);
        let rows = front.m as usize;
        if rows == 0 {
            return;
        }
        let mut z = MatMut::new(z, rows, self.nrhs, rows);
        match plan.unit(plan.unit_of(f)) {
            Unit::Group(_) => {
                let factors = self.factors.block_factors(plan, f);
                let tau = &factors[factors.len() - front.reflectors()..];
                let start = factors.len() - tau.len() - plan.block_v_entries(f);
                let v = &factors[start..factors.len() - tau.len()];
                apply_packed(op, v, Stair::Rows(plan.sym.tree.stair(f)), tau, z);
            }
            Unit::Tiled(_) => {
                let t = plan.tiling(f);
                let mut order: Vec<(usize, Step)> = (0..t.panels)
                    .flat_map(|k| steps(t, k).into_iter().map(move |s| (k, s)))
                    .collect();
                if op == Op::NoTrans {
                    order.reverse();
                }
                for (k, step) in order {
                    self.apply_step(op, f, k, step, z.rb_mut());
                }
            }
        }
    }

    fn apply_step(&mut self, op: Op, f: usize, k: usize, step: Step, z: MatMut<'_, T>) {
        let plan = &self.plan;
        let t = plan.tiling(f);
        let (w, ib, nrhs) = (t.width(k), t.ib as usize, self.nrhs);
        let front_stair = plan.sym.tree.stair(f);
        let get = |handle| {
            self.factors
                .store
                .get_as::<T>(handle)
                .expect("reflectors are kept")
        };
        let factor = get(plan.step_factor(f, k, step).0);
        match step {
            Step::Head { i } => {
                let rows = t.height(i) - t.offset(i, k);
                let reflectors = rows.min(w);
                let stair = tile_stair(t, front_stair, i, k);
                let (v, tf) = factor.split_at(rows * reflectors);
                let (v, tf) = (
                    MatRef::new(v, rows, reflectors, rows),
                    MatRef::new(tf, ib, reflectors, ib),
                );
                let c = z.submatrix(t.rows[i] as usize + t.offset(i, k), 0, rows, nrhs);
                gemqrt(op, v, Stair::Rows(&stair), ib, tf, c, &mut self.scratch);
            }
            Step::Flat { a, i } => {
                let stair = tile_stair(t, front_stair, i, k);
                let v = MatRef::new(get(plan.tile(f, i, k)), t.height(i), w, t.height(i));
                let tf = MatRef::new(factor, ib, w, ib);
                let (c1, c2) = two_blocks(
                    z,
                    t.rows[a] as usize + t.offset(a, k),
                    w,
                    t.rows[i] as usize,
                    t.height(i),
                );
                tpmqrt(
                    op,
                    v,
                    Stair::Rows(&stair),
                    ib,
                    tf,
                    c1,
                    c2,
                    &mut self.scratch,
                );
            }
            Step::Tree { a, b } => {
                let stair = triangle_stair(t, front_stair, b, k);
                let (v, tf) = factor.split_at(w * w);
                let (v, tf) = (MatRef::new(v, w, w, w), MatRef::new(tf, ib, w, ib));
                let (c1, c2) = two_blocks(
                    z,
                    t.rows[a] as usize + t.offset(a, k),
                    w,
                    t.rows[b] as usize,
                    w,
                );
                tpmqrt(
                    op,
                    v,
                    Stair::Rows(&stair),
                    ib,
                    tf,
                    c1,
                    c2,
                    &mut self.scratch,
                );
            }
        }
    }
}

/// Rows `r1..r1 + n1` and `r2..r2 + n2` of a block, where the second lie below the first.
fn two_blocks<T>(
    z: MatMut<'_, T>,
    r1: usize,
    n1: usize,
    r2: usize,
    n2: usize,
) -> (MatMut<'_, T>, MatMut<'_, T>) {
    let cols = z.ncols();
    let (upper, lower) = z.split_at_row_mut(r2);
    (
        upper.submatrix(r1, 0, n1, cols),
        lower.submatrix(0, 0, n2, cols),
    )
}
