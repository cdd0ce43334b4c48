//! The QR factorization of a small matrix with column exchanges, which reveals its rank (P. Businger and G. Golub 1965).

use crate::disk::stored;
use crate::numeric::FactorScalar;
use treeqr_kernels::{MatMut, Op, Stair, apply_packed, front_qr, front_qr_scratch};
use treeqr_matrices::{RealScalar, Scalar, norm2};

/// T Pi = Q [R R'; 0 0], with `rank` rows in R.
pub(super) struct Pivoted<T> {
    rows: usize,
    rank: usize,
    /// Column of T at every place.
    order: Vec<u32>,
    /// R, packed by columns; of the columns behind, what matters is where they are.
    r: Vec<T>,
    v: Vec<T>,
    tau: Vec<T>,
    /// Columns beyond the rank: their parts in R'.
    beside: Vec<T>,
    /// Frobenius norm of what is left of them.
    dropped_norm: f64,
    /// The largest of their norms.
    next_pivot: f64,
}

stored!(Pivoted<T> {
    rows,
    rank,
    order,
    r as numbers,
    v as numbers,
    tau as numbers,
    beside as numbers,
    dropped_norm,
    next_pivot,
});

/// Between the last pivot and what is rounding.
const GAP: f64 = 1e5;

impl<T: FactorScalar> Pivoted<T> {
    /// Factorizes `t`, with `rows` rows, until no column has more than `tolerance` left; or no more than `doubt` and [`GAP`] times
    /// less than the pivot before: pivots of exchanged columns fall slowly, but for what rounding has left.
    pub fn new(mut t: Vec<T>, rows: usize, cols: usize, tolerance: f64, doubt: f64) -> Self {
        let mut order: Vec<u32> = (0..cols as u32).collect();
        let mut tau = vec![T::zero(); rows.min(cols)];
        let mut scratch = vec![T::zero(); front_qr_scratch::<T>(rows, 1, cols.saturating_sub(1))];
        let left = |t: &[T], rank: usize, j: usize| -> f64 {
            norm2(&t[j * rows + rank.min(rows)..(j + 1) * rows]).to_f64()
        };
        let mut rank = 0;
        let mut before = 0.0;
        while rank < tau.len() {
            let norms = (rank..cols).map(|j| (j, left(&t, rank, j)));
            let Some((best, norm)) = norms.max_by(|a, b| a.1.total_cmp(&b.1)) else {
                break;
            };
            // NaN is alive: whoever reads the diagonal finds it.
            if norm <= tolerance || norm <= doubt && norm * GAP <= before {
                break;
            }
            before = norm;
            order.swap(rank, best);
            for i in 0..rows {
                t.swap(rank * rows + i, best * rows + i);
            }
            let block = MatMut::new(&mut t, rows, cols, rows);
            let block = block.submatrix(rank, rank, rows - rank, cols - rank);
            front_qr(block, 1, Stair::Full, &mut tau[rank..=rank], &mut scratch);
            rank += 1;
        }
        tau.truncate(rank);
        let rest: Vec<f64> = (rank..cols).map(|j| left(&t, rank, j)).collect();
        let column = |j: usize| &t[j * rows..(j + 1) * rows];
        Pivoted {
            rows,
            rank,
            r: (0..rank).flat_map(|j| &column(j)[..=j]).copied().collect(),
            v: (0..rank)
                .flat_map(|j| &column(j)[j + 1..])
                .copied()
                .collect(),
            beside: (rank..cols)
                .flat_map(|j| &column(j)[..rank])
                .copied()
                .collect(),
            order,
            tau,
            dropped_norm: norm2(&rest),
            next_pivot: rest.into_iter().fold(0.0, f64::max),
        }
    }

    /// Q or Q^H on `ncols` columns of `ld` entries, of which the first are meant.
    pub fn apply_q(&self, op: Op, c: &mut [T], ncols: usize, ld: usize) {
        if self.rank > 0 {
            let c = MatMut::new(c, self.rows, ncols, ld);
            apply_packed(op, &self.v, Stair::Full, &self.tau, c);
        }
    }

    /// R x = c.
    pub fn solve(&self, c: &mut [T]) {
        for j in (0..self.rank).rev() {
            let column = &self.r[j * (j + 1) / 2..][..=j];
            c[j] /= column[j];
            let x = c[j];
            c.iter_mut()
                .zip(&column[..j])
                .for_each(|(c, &r)| *c -= r * x);
        }
    }

    /// R^H x = c.
    pub fn solve_adjoint(&self, c: &mut [T]) {
        for j in 0..self.rank {
            let column = &self.r[j * (j + 1) / 2..][..=j];
            let known: T = column.iter().zip(&c[..j]).map(|(r, &x)| r.conj() * x).sum();
            c[j] = (c[j] - known) / column[j].conj();
        }
    }

    /// R' of the column at place `rank + j`.
    pub fn beside(&self, j: usize) -> &[T] {
        &self.beside[j * self.rank..(j + 1) * self.rank]
    }

    /// |R_jj|.
    pub fn diagonal(&self) -> impl Iterator<Item = f64> {
        (0..self.rank).map(|j| Scalar::abs(self.r[j * (j + 1) / 2 + j]).to_f64())
    }
}

impl<T> Pivoted<T> {
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Whether it can be of a matrix with so many rows and columns.
    pub fn fits(&self, rows: usize, cols: usize) -> bool {
        let (rank, order) = (self.rank, &self.order);
        let below: usize = (0..rank.min(rows)).map(|j| rows - j - 1).sum();
        self.rows == rows
            && rank <= rows.min(cols)
            && order.len() == cols
            && order.iter().all(|&e| (e as usize) < cols)
            && self.r.len() == rank * (rank + 1) / 2
            && self.v.len() == below
            && self.tau.len() == rank
            && self.beside.len() == rank * (cols - rank)
    }

    pub fn order(&self) -> &[u32] {
        &self.order
    }

    pub fn dropped_norm(&self) -> f64 {
        self.dropped_norm
    }

    pub fn next_pivot(&self) -> f64 {
        self.next_pivot
    }

    /// Numbers that it has.
    pub fn len(&self) -> usize {
        self.r.len() + self.v.len() + self.tau.len() + self.beside.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pivot_in_doubt_behind_a_gap_is_dead_and_one_without_a_gap_lives() {
        let rank = |diagonal: [f64; 4], doubt: f64| {
            let mut t = vec![0.0; 16];
            (0..4).for_each(|j| t[5 * j] = diagonal[j]);
            let t = Pivoted::new(t, 4, 4, 1e-10, doubt);
            assert_eq!(t.rank() + t.order()[t.rank()..].len(), 4);
            t.rank()
        };
        let gap = [1.0, 2e-10, 1e-3, 1e-11];
        assert_eq!(rank(gap, 1e-7), 2);
        assert_eq!(
            rank(gap, 1e-10),
            3,
            "a tolerance of the user's is what it is"
        );
        assert_eq!(rank([1.0, 1e-4, 1e-6, 5e-9], 1e-7), 4);
    }
}
