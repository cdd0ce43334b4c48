//! Off vectors, their part in the null space of R: by the basis Z, and where that is not quite one, by what R says of it.
//!
//! R Z is no zero but E, the rounding errors of the vectors that Z was made of, which grow with their lengths: with the condition of the live
//! columns R1. With D = [R1^{-1} E; 0], Z - D is in the null space up to rounding, and orthonormal up to ||D||. Neither it nor D is ever formed:
//!
//! ```text
//!     (Z - D) g    = w - [R1^{-1} R w; 0]   for w = Z g
//!     (Z - D)^H v  = Z^H (v - R^H y)        for R1^H y = v1, the live part of v
//! ```
//!
//! The second one loses digits where v - R^H y is long, as it is while v has much of the null space. So the first time Z^H v stands for it, and a
//! second time takes what that has left ("twice is enough", as with other bases that are nearly orthonormal).

use super::nodes::Nodes;
use super::null_space::NullSpace;
use super::run::Deficiency;
use super::tolerance::is_well_conditioned;
use super::trapezoid::live_parts;
use crate::numeric::{FactorScalar, Factors};

impl<T: FactorScalar> Deficiency<T> {
    /// Takes from vectors in the numbering of W their part in the null space. 8 flops an entry of the basis each; where the live columns are not
    /// well conditioned 16, and 12 nnz(R).
    pub(crate) fn project(
        &self,
        factors: &Factors<T>,
        space: &NullSpace<T>,
        x: &mut [T],
        nrhs: usize,
    ) {
        let condition = factors.rank_details().condition;
        if condition.is_some_and(is_well_conditioned::<T>) {
            space.project(x, nrhs);
            return;
        }
        let nodes = Nodes::new(factors);
        let rows = self.live_places();
        for x in x.chunks_exact_mut(self.order.len().max(1)).take(nrhs) {
            let mut part = x.to_vec();
            for again in [false, true] {
                if again {
                    part.copy_from_slice(x);
                    self.less_range(&nodes, &rows, &mut part);
                }
                space.span(&mut part);
                self.correct(&nodes, &rows, &mut part);
                let both = x.iter_mut().zip(&part);
                both.for_each(|(x, &part)| *x -= part);
            }
        }
    }

    /// The shortest solutions of R x = c, the live part of `c` in elimination order. A basic solution is projected; where the live columns are not
    /// well conditioned it may be much longer than the shortest, and what is left of c for its rounding errors is solved for once more.
    pub(crate) fn shortest(
        &self,
        factors: &Factors<T>,
        space: &NullSpace<T>,
        c: &[T],
        nrhs: usize,
    ) -> Vec<T> {
        let mut x = self.solve_r(factors, c, nrhs);
        self.project(factors, space, &mut x, nrhs);
        let condition = factors.rank_details().condition;
        if condition.is_some_and(is_well_conditioned::<T>) {
            return x;
        }
        let (nodes, rows) = (Nodes::new(factors), self.live_places());
        let n = self.order.len().max(1);
        let mut left = c.to_vec();
        for (left, x) in left.chunks_exact_mut(n).zip(x.chunks_exact(n)) {
            let product = self.product(&nodes, rows.len(), x);
            for (&place, &value) in rows.iter().zip(&product) {
                left[place as usize] -= value;
            }
        }
        let mut more = self.solve_r_of(&nodes, &left, nrhs);
        self.project(factors, space, &mut more, nrhs);
        x.iter_mut().zip(&more).for_each(|(x, &more)| *x += more);
        x
    }

    /// Where the rows of R have their pivots.
    pub(super) fn live_places(&self) -> Vec<u32> {
        let mut dead = self.dead.iter().peekable();
        let places = 0..self.order.len() as u32;
        places.filter(|&p| dead.next_if_eq(&&p).is_none()).collect()
    }

    /// w - \[R1^{-1} R w; 0\]: in the null space if w is nearly so. 4 nnz(R) flops.
    pub(super) fn correct(&self, nodes: &Nodes<'_, T>, rows: &[u32], w: &mut [T]) {
        let product = self.product(nodes, rows.len(), w);
        let mut c = vec![T::zero(); w.len()];
        for (&place, &value) in rows.iter().zip(&product) {
            c[place as usize] = value;
        }
        let back = self.solve_r_of(nodes, &c, 1);
        w.iter_mut().zip(&back).for_each(|(w, &back)| *w -= back);
    }

    /// R w, row by row. 2 nnz(R) flops.
    pub(super) fn product(&self, nodes: &Nodes<'_, T>, rows: usize, w: &[T]) -> Vec<T> {
        let mut out = vec![T::zero(); rows];
        live_parts(nodes, Some(self), |column, row, values| {
            let factor = w[column as usize];
            if factor != T::zero() {
                let sums = out[row as usize..].iter_mut().zip(values);
                sums.for_each(|(sum, &value)| *sum += value * factor);
            }
        });
        out
    }

    /// v - R^H y with R1^H y = v1. 4 nnz(R) flops.
    fn less_range(&self, nodes: &Nodes<'_, T>, rows: &[u32], v: &mut [T]) {
        let y = self.solve_r_adjoint_of(nodes, v, 1);
        let y: Vec<T> = rows.iter().map(|&place| y[place as usize]).collect();
        live_parts(nodes, Some(self), |column, row, values| {
            let terms = values.iter().zip(&y[row as usize..]);
            let sum: T = terms.map(|(value, &y)| value.conj() * y).sum();
            v[column as usize] -= sum;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::Deficient;
    use super::super::trapezoid::Complete;
    use super::Nodes;
    use crate::analyse;
    use crate::numeric::{FactorOptions, factorize};
    use crate::options::Options;
    use std::sync::Arc;
    use treeqr_matrices::{Csc, norm2};

    /// Two live columns that are parallel but for 2^-p, and columns that are told from others by their difference alone: vectors of the null space
    /// of length 2^p that are nearly parallel too. All of it is exact.
    #[test]
    fn nearly_parallel_vectors_of_the_null_space_cost_no_digits() {
        let (m, power) = (40, 2f64.powi(18));
        let mut state = 1u64;
        let mut integer = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 59) as f64 - 15.0
        };
        let mut columns: Vec<Vec<f64>> = (0..5)
            .map(|_| (0..m).map(|_| integer()).collect())
            .collect();
        let sum = |a: &[f64], by: f64, b: &[f64]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| a + by * b).collect()
        };
        let short = columns[1].clone();
        columns[1] = sum(&columns[0], 1.0 / power, &short);
        for k in [2, 3, 4] {
            columns.push(sum(&short, 1.0, &columns[k].clone()));
        }
        let n = columns.len();
        let (rows, cols): (Vec<u32>, Vec<u32>) = (0..(m * n) as u32)
            .map(|k| (k % m as u32, k / m as u32))
            .unzip();
        let a = Csc::from_triplets(m, n, &rows, &cols, &columns.concat()).expect("in range");
        let options = Options {
            ordering: "natural".to_owned(),
            ..Options::default()
        };
        let symbolic = Arc::new(analyse(a.pattern(), &options).expect("an analysis"));
        let b: Vec<f64> = (0..m).map(|_| integer()).collect();
        let options = FactorOptions {
            deficient: Deficient::MinimumNorm,
            ..FactorOptions::default()
        };
        let done = factorize(&symbolic, &a, &b, 1, &options, &()).expect("finite");
        let factors = done.factors;
        assert_eq!(factors.dead_columns(), [5, 6, 7]);
        let complete = factors
            .deficiency
            .as_ref()
            .expect("dead columns")
            .complete
            .get();
        let Some(Complete::Projector(space)) = complete else {
            panic!("a basis serves");
        };
        // x against vectors of the null space that are short: differences of the long ones.
        let x = factors.solution().expect("solved");
        let part = |x: &[f64]| {
            let in_it = |k: usize| (x[k] - x[k + 1] - x[k + 3] + x[k + 4]) / 2.0;
            in_it(2).abs().max(in_it(3).abs()) / norm2(x)
        };
        assert!(part(&x) < 1e-14, "{:e}", part(&x));
        // The test tells: the basis alone is not that good.
        let mut plain = vec![1.0, -2.0, 3.0, 1.0, -1.0, 2.0, 1.0, 1.0];
        let mut refined = plain.clone();
        space.project(&mut plain, 1);
        let deficiency = factors.deficiency.as_ref().expect("dead columns");
        deficiency.project(&factors, space, &mut refined, 1);
        // And as a basic solution is so much longer than x, to project it is not enough.
        let (nodes, rows, c) = (
            Nodes::new(&factors),
            deficiency.live_places(),
            factors.kept_heads(),
        );
        let left = |x: &[f64]| {
            let product = deficiency.product(&nodes, rows.len(), x);
            let left = rows
                .iter()
                .zip(&product)
                .map(|(&place, p)| c[place as usize] - p);
            norm2(&left.collect::<Vec<f64>>()) / (deficiency.norm * norm2(x))
        };
        let shortest = deficiency.shortest(&factors, space, &c, 1);
        let mut projected = deficiency.solve_r(&factors, &c, 1);
        deficiency.project(&factors, space, &mut projected, 1);
        assert!(
            left(&shortest) < 1e-15 && left(&projected) > 30.0 * left(&shortest),
            "{:e} {:e}",
            left(&shortest),
            left(&projected)
        );
        assert!(
            part(&refined) < 1e-14 && part(&plain) > 30.0 * part(&refined),
            "{:e} {:e}",
            part(&plain),
            part(&refined)
        );
    }
}
