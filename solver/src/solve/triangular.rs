//! Triangular systems with R, front by front.

use crate::numeric::{FactorScalar, Factors};

impl<T: FactorScalar> Factors<T> {
    /// R x = c. `c` is in elimination order, the result in the numbering of the columns of the factorized matrix.
    /// 2 nnz(R) flops per right-hand side.
    pub(crate) fn solve_r(&self, c: &[T], nrhs: usize) -> Vec<T> {
        let n = self.symbolic.work_cols();
        let singles = self.symbolic.singletons.len();
        let plan = self.plan();
        let tree = &self.symbolic.tree;
        let mut x = vec![T::zero(); n * nrhs];
        let mut right = Vec::new();
        for (f, front) in tree.fronts.iter().enumerate().rev() {
            let npiv = front.npiv as usize;
            let r = self.r(&plan, f);
            right.clear();
            for k in 0..nrhs {
                let first = k * n + singles + front.first_pivot as usize;
                right.extend_from_slice(&c[first..first + npiv]);
            }
            for (j, &position) in tree.cols(f).iter().enumerate().rev() {
                let column = tree.col_order[position as usize] as usize;
                if j < npiv {
                    let diagonal = r.diagonal(j);
                    for k in 0..nrhs {
                        right[k * npiv + j] /= diagonal;
                        x[k * n + column] = right[k * npiv + j];
                    }
                }
                r.column(j, |row, values| {
                    // The diagonal entry itself was used above.
                    let len = if row + values.len() == j + 1 {
                        values.len() - 1
                    } else {
                        values.len()
                    };
                    for k in 0..nrhs {
                        let xj = x[k * n + column];
                        let part = &mut right[k * npiv + row..k * npiv + row + len];
                        for (t, &v) in part.iter_mut().zip(&values[..len]) {
                            *t -= v * xj;
                        }
                    }
                });
            }
        }
        for (s, single) in self.symbolic.singletons.iter().enumerate().rev() {
            for k in 0..nrhs {
                let mut value = c[k * n + s];
                let mut pivot = T::one();
                for &(col, v) in &self.singleton_rows[s] {
                    if col == single.col {
                        pivot = v;
                    } else {
                        value -= v * x[k * n + col as usize];
                    }
                }
                x[k * n + single.col as usize] = value / pivot;
            }
        }
        x
    }

    /// R^H y = c. `c` is in the numbering of the columns of the factorized matrix, the result in elimination order.
    /// 2 nnz(R) flops per right-hand side.
    pub(crate) fn solve_r_adjoint(&self, c: &[T], nrhs: usize) -> Vec<T> {
        let n = self.symbolic.work_cols();
        let singles = self.symbolic.singletons.len();
        let plan = self.plan();
        let tree = &self.symbolic.tree;
        let mut left = c.to_vec();
        let mut y = vec![T::zero(); n * nrhs];
        for (s, single) in self.symbolic.singletons.iter().enumerate() {
            let row = &self.singleton_rows[s];
            let pivot = row
                .iter()
                .find(|e| e.0 == single.col)
                .expect("a singleton has its pivot")
                .1;
            for k in 0..nrhs {
                let value = left[k * n + single.col as usize] / pivot.conj();
                y[k * n + s] = value;
                for &(col, v) in row.iter().filter(|e| e.0 != single.col) {
                    left[k * n + col as usize] -= v.conj() * value;
                }
            }
        }
        for (f, front) in tree.fronts.iter().enumerate() {
            let npiv = front.npiv as usize;
            let r = self.r(&plan, f);
            let first = singles + front.first_pivot as usize;
            for (j, &position) in tree.cols(f).iter().enumerate() {
                let column = tree.col_order[position as usize] as usize;
                let diagonal = (j < npiv).then(|| r.diagonal(j));
                for k in 0..nrhs {
                    let mut value = left[k * n + column];
                    r.column(j, |row, values| {
                        let len = if row + values.len() == j + 1 {
                            values.len() - 1
                        } else {
                            values.len()
                        };
                        let known = &y[k * n + first + row..k * n + first + row + len];
                        let dot: T = values[..len]
                            .iter()
                            .zip(known)
                            .map(|(&v, &t)| v.conj() * t)
                            .sum();
                        value -= dot;
                    });
                    match diagonal {
                        Some(d) => y[k * n + first + j] = value / d.conj(),
                        None => left[k * n + column] = value,
                    }
                }
            }
        }
        y
    }
}
