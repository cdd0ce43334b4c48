//! Weights, damping and column scaling: the least-squares problem that is meant, as one that is factorized.
//!
//! Takes A and what is to be minimised; gives the matrix to factorize, and the way of right-hand sides into it and of
//! solutions out of it. The pattern depends on whether there is damping and on nothing else, so that one analysis serves
//! for all weights, all dampings, and all values of A.

use std::sync::Arc;
use treeqr_matrices::{Csc, Pattern, RealScalar, Scalar, SparseError, norm2};

/// What is minimised besides or instead of ||b - A x||.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Terms {
    /// A weight w for each row: the sum of w |b - A x|^2 is minimised. 1 over the variance of the observation, where errors
    /// are independent. A row of weight 0 has no part.
    pub weights: Option<Vec<f64>>,
    /// lambda, for lambda^2 ||x||^2 beside the residuals (Tikhonov; ridge regression). Some(0) keeps the room for it.
    pub damping: Option<f64>,
    /// Columns of A (rows, where A is wide) are scaled to norms of about 1, by powers of two: x is the same, what counts as a
    /// negligible pivot is not.
    pub scale_columns: bool,
}

/// Why terms make no problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PosedError {
    /// Not a weight for every row.
    #[error("there are {found} weights for {expected} rows")]
    WeightsLength {
        /// Weights given.
        found: usize,
        /// Rows of A.
        expected: usize,
    },
    /// A weight that is negative, or not a finite number.
    #[error("weight {row} is {weight}: weights are finite and not negative")]
    Weight {
        /// Its row, from 1.
        row: usize,
        /// What it is.
        weight: f64,
    },
    /// A damping that is negative, or not a finite number.
    #[error("a damping of {0}: it must be finite and not negative")]
    Damping(f64),
    /// Another damping for a problem that was posed without one, or other values than the pattern has entries.
    #[error("{0}")]
    OtherPattern(&'static str),
    /// More rows and columns than can be.
    #[error(transparent)]
    Sparse(#[from] SparseError),
}

/// A problem with terms, as one without.
///
/// ```text
///  tall or square A           wide A
///  [ S A D    ]               [ S A   lambda Z ]      S = roots of the weights (and Z where A is wide)
///  [ lambda D ]                                       D, Z = scales of columns, of rows
/// ```
///
/// The shortest (x, y) with A x + lambda y = b has the x that minimises ||b - A x||^2 + lambda^2 ||x||^2, and its R has the
/// order of the rows. A. Björck, *Numerical Methods for Least Squares Problems*, 1996, sections 2.7 and 4.4.
///
/// ```
/// use treeqr::{Csc, Posed, Settings, Terms, solve};
///
/// let a = Csc::from_triplets(3, 1, &[0, 1, 2], &[0, 0, 0], &[1.0, 1.0, 1.0])?;
/// let weights = Some(vec![1.0, 1.0, 2.0]);
/// let mean = Posed::new(&a, &Terms { weights, ..Terms::default() })?;
/// let y = solve(mean.matrix(), &mean.rhs(&[0.0, 0.0, 2.0], 1), 1, &Settings::default())?.x;
/// assert!((mean.solution(&y, 1)[0] - 1.0_f64).abs() < 1e-15);
/// # Ok::<(), treeqr::Error>(())
/// ```
///
/// The pattern does not depend on lambda, so that a path of dampings (the points of an L-curve) takes one analysis:
///
/// ```
/// use treeqr::matrices::norm2;
/// use treeqr::{FactorOptions, Options, Posed, Terms, analyse, factorize, matrices, weighted_residual};
///
/// let a = matrices::load::<f64>("gallery:survey-6x5")?.matrix;
/// let b = vec![1.0; a.nrows()];
/// let damped = Terms { damping: Some(1.0), ..Terms::default() };
/// let mut posed = Posed::new(&a, &damped)?;
/// let symbolic = analyse(posed.matrix().pattern(), &Options::default())?;
/// for lambda in [1e-2, 1e-1, 1.0, 1e1, 1e2] {
///     posed.set_damping(lambda)?;
///     let qr = factorize(&symbolic, posed.matrix(), &FactorOptions::default())?;
///     let x = posed.solution(&qr.solve(&posed.rhs(&b, 1))?, 1);
///     let r = weighted_residual(&a, &x, &b, None);
///     println!("{lambda}: {:.3} {:.3}", norm2(&r), norm2(&x));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Posed<T> {
    matrix: Csc<T>,
    nrows: usize,
    ncols: usize,
    /// Entries of A; those of the damping follow in each column, or at the end.
    entries: usize,
    /// What each row of A is multiplied by; none without terms.
    rows: Vec<f64>,
    /// What each column of W is multiplied by, for its scale alone; none without terms.
    scales: Vec<f64>,
    roots: Option<Vec<f64>>,
    damping: Option<f64>,
    scale_columns: bool,
}

impl<T: Scalar> Posed<T> {
    /// Poses it. O(nnz); without terms it shares A's values.
    ///
    /// # Errors
    /// [`PosedError`]: weights or a damping that can't be.
    pub fn new(a: &Csc<T>, terms: &Terms) -> Result<Self, PosedError> {
        let (m, n) = (a.nrows(), a.ncols());
        let roots = terms.weights.as_deref().map(|w| roots(w, m)).transpose()?;
        if let Some(damping) = terms.damping {
            check_damping(damping)?;
        }
        let matrix = match terms.damping {
            Some(_) => {
                let pattern = damped(a.pattern())?;
                let values = vec![T::zero(); pattern.nnz()];
                Csc::new(pattern, values).expect("a value for each")
            }
            None => a.clone(),
        };
        let mut posed = Posed {
            matrix,
            nrows: m,
            ncols: n,
            entries: a.nnz(),
            rows: Vec::new(),
            scales: Vec::new(),
            roots,
            damping: terms.damping,
            scale_columns: terms.scale_columns,
        };
        if posed.has_terms() {
            posed.fill(a);
        }
        Ok(posed)
    }

    /// What is to be analysed and factorized.
    pub fn matrix(&self) -> &Csc<T> {
        &self.matrix
    }

    /// Whether it is another problem, or another matrix, than without terms.
    pub fn has_terms(&self) -> bool {
        self.roots.is_some() || self.damping.is_some() || self.scale_columns
    }

    /// Other values for A, in the order of its entries. The pattern of [`Self::matrix`] stays.
    ///
    /// # Errors
    /// [`PosedError::OtherPattern`] when A has another shape, or another number of entries.
    pub fn set_values(&mut self, a: &Csc<T>) -> Result<(), PosedError> {
        if (a.nrows(), a.ncols(), a.nnz()) != (self.nrows, self.ncols, self.entries) {
            return Err(PosedError::OtherPattern(
                "A has another pattern than before",
            ));
        }
        if self.has_terms() {
            self.fill(a);
        } else {
            self.matrix.values_mut().copy_from_slice(a.values());
        }
        Ok(())
    }

    /// Another damping. The pattern of [`Self::matrix`] stays.
    ///
    /// # Errors
    /// [`PosedError`]: one that can't be, or one where there was none.
    pub fn set_damping(&mut self, damping: f64) -> Result<(), PosedError> {
        check_damping(damping)?;
        if self.damping.is_none() {
            return Err(PosedError::OtherPattern(
                "the problem was posed without damping",
            ));
        }
        self.damping = Some(damping);
        self.fill_damping();
        Ok(())
    }

    /// Right-hand sides of [`Self::matrix`] from those of A.
    ///
    /// # Panics
    /// When b has not `nrhs` columns of as many entries as A has rows.
    pub fn rhs(&self, b: &[T], nrhs: usize) -> Vec<T> {
        assert_eq!(b.len(), self.nrows * nrhs, "b: shape");
        let more = self.matrix.nrows() - self.nrows;
        let mut out = Vec::with_capacity((self.nrows + more) * nrhs);
        for b in b.chunks_exact(self.nrows.max(1)) {
            out.extend(
                b.iter()
                    .zip(or_ones(&self.rows))
                    .map(|(&v, by)| times(v, by)),
            );
            out.resize(out.len() + more, T::zero());
        }
        out
    }

    /// x from the solutions of [`Self::matrix`].
    ///
    /// # Panics
    /// When y has not `nrhs` columns of as many entries as that has columns.
    pub fn solution(&self, y: &[T], nrhs: usize) -> Vec<T> {
        let columns = self.matrix.ncols();
        assert_eq!(y.len(), columns * nrhs, "y: shape");
        let mut x = Vec::with_capacity(self.ncols * nrhs);
        for y in y.chunks_exact(columns.max(1)) {
            let y = &y[..self.ncols];
            if self.wide() {
                x.extend_from_slice(y);
            } else {
                x.extend(
                    y.iter()
                        .zip(or_ones(&self.scales))
                        .map(|(&v, by)| times(v, by)),
                );
            }
        }
        x
    }

    fn wide(&self) -> bool {
        self.nrows < self.ncols
    }

    fn fill(&mut self, a: &Csc<T>) {
        let (m, n, wide) = (self.nrows, self.ncols, self.wide());
        self.rows = self.roots.clone().unwrap_or_else(|| vec![1.0; m]);
        self.scales = if self.scale_columns {
            scales(a, &self.rows, wide)
        } else {
            vec![1.0; m.min(n)]
        };
        if wide {
            self.rows
                .iter_mut()
                .zip(&self.scales)
                .for_each(|(row, s)| *row *= s);
        }
        let colptr = self.matrix.pattern().colptr().to_vec();
        let values = self.matrix.values_mut();
        for j in 0..n {
            let (rows, from) = a.col(j);
            let by = if wide { 1.0 } else { self.scales[j] };
            let to = &mut values[colptr[j]..];
            for ((to, &i), &v) in to.iter_mut().zip(rows).zip(from) {
                *to = times(v, self.rows[i as usize] * by);
            }
        }
        self.fill_damping();
    }

    fn fill_damping(&mut self) {
        let Some(damping) = self.damping else {
            return;
        };
        // The last entry of every column of A, or the columns behind them.
        let first = if self.wide() { self.ncols } else { 0 };
        let ends: Vec<usize> = self.matrix.pattern().colptr()[first + 1..].to_vec();
        let values = self.matrix.values_mut();
        for (end, &scale) in ends.into_iter().zip(&self.scales) {
            values[end - 1] = T::from_f64(damping * scale, 0.0);
        }
    }
}

/// The weighted residual S (b - A x) of one right-hand side, with S the roots of the weights (1 where there are none).
///
/// # Panics
/// When a vector has the wrong length.
pub fn weighted_residual<T: Scalar>(
    a: &Csc<T>,
    x: &[T],
    b: &[T],
    weights: Option<&[f64]>,
) -> Vec<T> {
    let mut r = b.to_vec();
    a.mul_add(-T::one(), x, &mut r);
    if let Some(weights) = weights {
        assert_eq!(weights.len(), r.len(), "weights: length");
        let each = r.iter_mut().zip(weights);
        each.for_each(|(r, w)| *r = times(*r, w.sqrt()));
    }
    r
}

/// R^2: the part of the (weighted) variation of b about its (weighted) mean that A x explains,
/// 1 - ||S (b - A x)||^2 / ||S (b - mean)||^2. Negative where the mean alone does better, which a model without a constant
/// may do; not a number where b does not vary.
///
/// # Panics
/// When a vector has the wrong length.
pub fn r_squared<T: Scalar>(a: &Csc<T>, x: &[T], b: &[T], weights: Option<&[f64]>) -> f64 {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let all: f64 = (0..b.len()).map(weight).sum();
    let each = b.iter().enumerate();
    let sum: T = each.clone().map(|(i, &v)| times(v, weight(i))).sum();
    let mean = times(sum, 1.0 / all);
    let about: Vec<T> = each
        .map(|(i, &v)| times(v - mean, weight(i).sqrt()))
        .collect();
    let left = norm2(&weighted_residual(a, x, b, weights)).to_f64();
    let all = norm2(&about).to_f64();
    1.0 - (left / all).powi(2)
}

/// Factors, or ones where there are none.
fn or_ones(factors: &[f64]) -> impl Iterator<Item = f64> {
    factors.iter().copied().chain(std::iter::repeat(1.0))
}

/// v times a real number.
fn times<T: Scalar>(v: T, by: f64) -> T {
    v.scale(T::from_f64(by, 0.0).re())
}

fn roots(weights: &[f64], nrows: usize) -> Result<Vec<f64>, PosedError> {
    if weights.len() != nrows {
        return Err(PosedError::WeightsLength {
            found: weights.len(),
            expected: nrows,
        });
    }
    let root = |(i, &weight): (usize, &f64)| {
        if weight >= 0.0 && weight.is_finite() {
            Ok(weight.sqrt())
        } else {
            let row = i + 1;
            Err(PosedError::Weight { row, weight })
        }
    };
    weights.iter().enumerate().map(root).collect()
}

fn check_damping(damping: f64) -> Result<(), PosedError> {
    if damping >= 0.0 && damping.is_finite() {
        Ok(())
    } else {
        Err(PosedError::Damping(damping))
    }
}

/// A diagonal below a tall pattern, or beside a wide one.
fn damped(pattern: &Pattern) -> Result<Arc<Pattern>, SparseError> {
    let (m, n) = (pattern.nrows(), pattern.ncols());
    let (nrows, ncols) = if m >= n { (m + n, n) } else { (m, n + m) };
    let mut colptr = vec![0];
    let mut rows = Vec::with_capacity(pattern.nnz() + m.min(n));
    for j in 0..n {
        rows.extend_from_slice(pattern.col(j));
        if m >= n {
            // Does not fit only where the pattern is refused below.
            rows.push((m + j) as u32);
        }
        colptr.push(rows.len());
    }
    if m < n {
        for i in 0..m {
            rows.push(i as u32);
            colptr.push(rows.len());
        }
    }
    Ok(Arc::new(Pattern::new(nrows, ncols, colptr, rows)?))
}

/// Powers of two that bring the columns of W to norms of about 1. `rows` multiply the rows of A before.
fn scales<T: Scalar>(a: &Csc<T>, rows: &[f64], wide: bool) -> Vec<f64> {
    let mut norms = vec![0f64; a.nrows().min(a.ncols())];
    for j in 0..a.ncols() {
        let (indices, values) = a.col(j);
        for (&i, v) in indices.iter().zip(values) {
            let column = if wide { i as usize } else { j };
            norms[column] = norms[column].hypot(v.abs().to_f64() * rows[i as usize]);
        }
    }
    let scale = |norm: f64| {
        let exponent = -norm.log2().round();
        if norm > 0.0 && exponent.abs() < 1000.0 {
            exponent.exp2()
        } else {
            1.0
        }
    };
    norms.into_iter().map(scale).collect()
}
