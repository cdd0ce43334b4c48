//! The null space of R, as an orthonormal basis.
//!
//! Takes R in trapezoidal form; gives Z with as many columns as there are dead pivots, R Z = 0. Column j of R that is dead is a
//! combination of the live ones, R x = R(:, j), so e_j - x is in the null space; a dense QR factorization makes these orthonormal.
//! Good where the live columns are well conditioned and few are dead; otherwise R's adjoint is factorized (`trapezoid`).

use super::run::Deficiency;
use super::tolerance::is_well_conditioned;
use crate::numeric::{FactorScalar, Factors};
use treeqr_kernels::{MatMut, Op, Stair, apply_packed, front_qr, front_qr_scratch};

/// The basis takes no more entries than this.
const MOST_ENTRIES: usize = 1 << 25;

/// Z as reflectors: Z = H_0 H_1 ... on the first unit vectors.
pub(crate) struct NullSpace<T> {
    pub(super) rows: usize,
    /// By packed columns, without the unit diagonal.
    pub(super) v: Vec<T>,
    pub(super) tau: Vec<T>,
}

impl<T: FactorScalar> NullSpace<T> {
    /// The basis, where it is the right way: `None` else. `condition` is that of the live columns.
    pub fn new(
        factors: &Factors<T>,
        deficiency: &Deficiency<T>,
        condition: Option<f64>,
    ) -> Option<Self> {
        let (n, d) = (deficiency.order.len(), deficiency.dead.len());
        let good = condition.is_some_and(is_well_conditioned::<T>);
        (good && d <= n / 2 && n * d <= MOST_ENTRIES).then(|| Self::build(factors, deficiency))
    }

    /// The basis, whatever its quality. 2 nnz(R) flops for each dead column, and 2 n d^2.
    pub fn build(factors: &Factors<T>, deficiency: &Deficiency<T>) -> Self {
        let (n, d) = (deficiency.order.len(), deficiency.dead.len());
        let columns = factors.dead_parts();
        let heads = deficiency.with_dead(&columns, d);
        let mut z = deficiency.solve_r(factors, &heads, d);
        for (column, &place) in z.chunks_exact_mut(n).zip(&deficiency.dead) {
            column.iter_mut().for_each(|x| *x = -*x);
            column[deficiency.order[place as usize] as usize] = T::one();
        }
        Self::orthonormal(n, z)
    }

    /// The basis of what vectors of `n` entries span, by a dense QR factorization. 2 n d^2 flops.
    pub fn orthonormal(n: usize, mut z: Vec<T>) -> Self {
        let d = z.len() / n;
        let mut tau = vec![T::zero(); d];
        let mut scratch = vec![T::zero(); front_qr_scratch::<T>(n, d, 0)];
        let block = MatMut::new(&mut z, n, d, n);
        front_qr(block, d, Stair::Full, &mut tau, &mut scratch);
        let tails = z.chunks_exact(n).enumerate();
        NullSpace {
            rows: n,
            v: tails
                .flat_map(|(j, column)| &column[j + 1..])
                .copied()
                .collect(),
            tau,
        }
    }

    /// Takes from vectors their part in the null space: x - Z Z^H x. 8 n d flops each.
    pub fn project(&self, x: &mut [T], nrhs: usize) {
        let (n, d) = (self.rows, self.tau.len());
        self.apply(Op::ConjTrans, x, nrhs);
        x.chunks_exact_mut(n).for_each(|x| x[..d].fill(T::zero()));
        self.apply(Op::NoTrans, x, nrhs);
    }

    /// Z, column by column.
    pub fn basis(&self) -> Vec<T> {
        let (n, d) = (self.rows, self.tau.len());
        let mut z = vec![T::zero(); n * d];
        z.chunks_exact_mut(n)
            .enumerate()
            .for_each(|(j, column)| column[j] = T::one());
        self.apply(Op::NoTrans, &mut z, d);
        z
    }

    /// Whether it can be of vectors of so many entries.
    pub fn fits(&self, rows: usize) -> bool {
        let d = self.tau.len();
        let below: usize = (0..d.min(rows)).map(|j| rows - j - 1).sum();
        self.rows == rows && d <= rows && self.v.len() == below
    }

    pub fn bytes(&self) -> usize {
        (self.v.len() + self.tau.len()) * size_of::<T>()
    }

    fn apply(&self, op: Op, x: &mut [T], nrhs: usize) {
        let x = MatMut::new(x, self.rows, nrhs, self.rows);
        apply_packed(op, &self.v, Stair::Full, &self.tau, x);
    }
}

impl<T: FactorScalar> Factors<T> {
    /// An orthonormal basis of the null space of the factorized matrix: a column for every dead one, of as many entries as that
    /// has columns. A Z = 0 for a tall or square A, A^H Z = 0 for a wide one, to within rounding and what was dropped. Empty when the
    /// rank is full. 2 nnz(R) d + 6 n d^2 flops for d of n columns.
    ///
    /// # Panics
    /// When the last refactorization failed.
    pub fn null_space(&self) -> Vec<T> {
        self.rank_details();
        match (&self.split, &self.deficiency) {
            (Some(_), _) => {
                let vectors = self.null_vectors().expect("a run of solves as before");
                NullSpace::orthonormal(self.symbolic.work_cols(), vectors).basis()
            }
            (None, None) => Vec::new(),
            (None, Some(deficiency)) => NullSpace::build(self, deficiency).basis(),
        }
    }

    /// The dead columns of R, in the order of their places: entries at the live pivots.
    pub(crate) fn dead_parts(&self) -> Vec<T> {
        let Some(deficiency) = &self.deficiency else {
            return Vec::new();
        };
        let r = self.kept_trapezoid();
        let live = deficiency.order.len() - deficiency.dead.len();
        let mut columns = vec![T::zero(); live * deficiency.dead.len()];
        for (to, &place) in columns.chunks_exact_mut(live.max(1)).zip(&deficiency.dead) {
            let (rows, values) = r.col(deficiency.order[place as usize] as usize);
            for (&i, &v) in rows.iter().zip(values) {
                to[i as usize] = v;
            }
        }
        columns
    }
}
