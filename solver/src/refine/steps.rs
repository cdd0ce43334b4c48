//! The corrections, for all right-hand sides side by side; one that is done waits for no other.

use super::inner::{Inner, Solved};
use super::scaled::Scaled;
use super::trust::{Probe, Trust, times_w};
use super::{RefineEnd, RefineMethod, RefineOptions, RefineStep, RefinedColumn, Refinement};
use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors, check_rhs};
use treeqr_matrices::{Csc, RealScalar, Scalar, norm2};

/// Steps without progress after which there will be none.
const PATIENCE: usize = 4;
/// Corrections that shrink by this factor each go on doing so.
const SURE: f64 = 0.01;
/// What rounding explains, in parts of the bound's main term.
const SLACK: f64 = 10.0;

/// Improves the solutions `start` (zero, where there is none) for `nrhs` right-hand sides b: columns of as many entries as
/// A has rows. `factors` are those of `scaled.matrix()` in any precision (or, for [`Scaled::evenly`], of A itself), with or
/// without Q. Where they say too little about A ([`Refinement::trusted`]) nothing is done, and x is `start`.
///
/// Each step costs two products with A, 4 nnz(R) flops in the precision of R, and some vectors. The test of R goes through the tree
/// beside the first two.
///
/// # Errors
/// [`SolveError`]: a wrong length of b, values that are not finite, and whatever ends a run.
///
/// # Panics
/// When the factors are those of a matrix of another shape, or `start` has the wrong length.
pub fn refine<T: FactorScalar, L: FactorScalar>(
    scaled: &Scaled<T>,
    factors: &Factors<L>,
    b: &[T],
    nrhs: usize,
    start: Option<&[T]>,
    options: &RefineOptions,
) -> Result<(Vec<T>, Refinement), SolveError> {
    let a = scaled.matrix();
    let (m, n) = (a.nrows(), a.ncols());
    check_rhs(b, m, nrhs)?;
    let symbolic = factors.symbolic();
    assert_eq!((symbolic.nrows(), symbolic.ncols()), (m, n), "factors");
    assert!(start.is_none_or(|x| x.len() == n * nrhs), "start: shape");
    let inner = Inner {
        factors,
        exponent: scaled.factor_exponent,
        options: &options.solve,
    };
    let norm_a = a.norm_frobenius().to_f64();
    let mut refinement = Refinement {
        method: options.method,
        condition: f64::INFINITY,
        isometry: 0.0,
        columns: Vec::new(),
    };
    let full = factors.rank_details().is_full();
    let mut probe = Probe::new(a);
    let mut problem = Problem {
        a,
        wide: scaled.wide,
        method: options.method,
        norm_a,
        trust: probe.found(),
    };
    // Nothing is to be corrected with an R that lacks rank.
    let mut columns: Vec<Column<T>> = (0..if full { nrhs } else { 0 })
        .map(|k| {
            let (b, common) = scaled.rhs(&b[k * m..(k + 1) * m]);
            let x = start.map(|x| scaled.start(&x[k * n..(k + 1) * n], common));
            Column::new(&problem, b, common, x)
        })
        .collect();
    for step in 0..=options.max_steps.max(1) {
        let open: Vec<usize> = (0..columns.len())
            .filter(|&k| columns[k].end.is_none())
            .collect();
        let probed = probe.wants();
        if open.is_empty() && probed.is_none() {
            break;
        }
        let sides = open.iter().map(|&k| &columns[k].s[..]).chain(probed);
        let s: Vec<T> = sides.flatten().copied().collect();
        let ncols = open.len() + usize::from(probed.is_some());
        let Solved { t_norms, z } = inner.solve(&s, ncols)?;
        let order = m.min(n);
        if probed.is_some() {
            let at = open.len();
            probe.take(a, scaled.wide, &z[at * order..], t_norms[at]);
            problem.trust = probe.found();
            if probe.wants().is_none() {
                let trust = problem.trust;
                refinement.condition = trust.inverse_norm * norm_a / (order as f64).sqrt();
                refinement.isometry = trust.isometry;
                // In R's precision a singular matrix looks like one of this condition.
                let unit = <L::Real as RealScalar>::EPSILON.to_f64();
                let blind =
                    8.0 * unit * trust.inverse_norm > 1.0 && size_of::<L>() < size_of::<T>();
                if blind || !full {
                    refinement.isometry = refinement.isometry.min(0.0);
                }
                if !refinement.trusted() {
                    let x = start.map_or_else(|| vec![T::zero(); n * nrhs], <[T]>::to_vec);
                    return Ok((x, refinement));
                }
            }
        }
        let each = z.chunks_exact(order).zip(t_norms);
        for (&k, (z, size)) in open.iter().zip(each) {
            columns[k].step(&problem, z, size, step >= options.max_steps);
        }
    }
    let mut x = Vec::with_capacity(n * nrhs);
    for column in columns {
        x.extend(scaled.solution(&column.best, column.common));
        refinement.columns.push(RefinedColumn {
            end: column.end.unwrap_or(RefineEnd::NotConverged),
            steps: column.steps,
            corrections: column.corrections,
        });
    }
    Ok((x, refinement))
}

impl<T: FactorScalar> Factors<T> {
    /// The solutions for right-hand sides b that come after a factorization without Q, by corrected semi-normal equations: [`refine`] from zero, with
    /// `a` the matrix that was factorized. The report says how far it came.
    ///
    /// # Errors
    /// As [`refine`].
    ///
    /// # Panics
    /// When A has another shape.
    pub fn solve_seminormal(
        &self,
        a: &Csc<T>,
        b: &[T],
        nrhs: usize,
        options: &RefineOptions,
    ) -> Result<(Vec<T>, Refinement), SolveError> {
        refine(&Scaled::evenly(a), self, b, nrhs, None, options)
    }
}

/// What all right-hand sides share.
struct Problem<'a, T> {
    a: &'a Csc<T>,
    wide: bool,
    method: RefineMethod,
    norm_a: f64,
    trust: Trust,
}

/// One right-hand side.
struct Column<T> {
    b: Vec<T>,
    b_norm: f64,
    common: i32,
    x: Vec<T>,
    /// ||b - A x||.
    residual_norm: f64,
    /// What R^H R z = s is solved for.
    s: Vec<T>,
    /// The last preconditioned residual and direction, with s^H z of that step.
    last: Option<(Vec<T>, Vec<T>, f64)>,
    /// The best x so far, its correction, and the steps since.
    best: Vec<T>,
    best_size: f64,
    waited: usize,
    steps: Vec<RefineStep>,
    corrections: usize,
    end: Option<RefineEnd>,
}

impl<T: FactorScalar> Column<T> {
    fn new(problem: &Problem<'_, T>, b: Vec<T>, common: i32, x: Option<Vec<T>>) -> Self {
        let x = x.unwrap_or_else(|| vec![T::zero(); problem.a.ncols()]);
        let mut column = Column {
            b_norm: norm2(&b).to_f64(),
            b,
            common,
            residual_norm: 0.0,
            s: Vec::new(),
            last: None,
            best: x.clone(),
            best_size: f64::INFINITY,
            waited: 0,
            steps: Vec::new(),
            corrections: 0,
            end: None,
            x,
        };
        column.residual(problem);
        column
    }

    /// r and s, computed from x.
    fn residual(&mut self, problem: &Problem<'_, T>) {
        let mut r = self.b.clone();
        problem.a.mul_add(-T::one(), &self.x, &mut r);
        self.residual_norm = norm2(&r).to_f64();
        self.s = if problem.wide {
            r
        } else {
            let mut s = vec![T::zero(); problem.a.ncols()];
            problem.a.adjoint_mul_add(T::one(), &r, &mut s);
            s
        };
    }

    /// Judges x by the size of its correction, and makes that.
    fn step(&mut self, problem: &Problem<'_, T>, z: &[T], size: f64, last: bool) {
        let x_norm = norm2(&self.x).to_f64();
        let unit = <T::Real as RealScalar>::EPSILON.to_f64();
        let relative_to = if problem.wide && x_norm > 0.0 {
            x_norm
        } else {
            self.b_norm
        };
        let part = |v: f64| if v == 0.0 { 0.0 } else { v / relative_to };
        self.steps.push(RefineStep {
            residual: if self.residual_norm == 0.0 {
                0.0
            } else {
                self.residual_norm / self.b_norm
            },
            correction: part(size),
        });
        // What rounding errors in r and s make of a correction, at most and at least.
        let explained =
            SLACK * unit * problem.trust.inverse_norm * (self.b_norm + problem.norm_a * x_norm);
        let negligible = unit
            * if problem.wide {
                x_norm
            } else {
                x_norm + self.b_norm
            };
        let gain = size / self.best_size;
        if size < self.best_size {
            self.best_size = size;
            self.best.clone_from(&self.x);
        }
        self.waited = if gain < 0.5 { 0 } else { self.waited + 1 };
        self.end = if size <= negligible {
            Some(RefineEnd::Converged)
        } else if self.best_size <= explained && gain > 0.1 {
            Some(RefineEnd::Attained)
        } else if last || self.waited >= PATIENCE || !size.is_finite() {
            Some(RefineEnd::NotConverged)
        } else {
            None
        };
        if self.end.is_none() {
            self.correct(problem, z, size);
            // Each correction shrinks the next by about as much as the last did: the one after this may be nothing.
            if self.steps.len() > 1 && gain < SURE && size * gain <= SURE * negligible {
                self.best.clone_from(&self.x);
                self.end = Some(RefineEnd::Converged);
            }
        }
    }

    /// x moves along z, or along what conjugate gradients make of it.
    fn correct(&mut self, problem: &Problem<'_, T>, z: &[T], size: f64) {
        let gamma = size * size;
        let mut p = z.to_vec();
        if let (RefineMethod::Gradients, Some((z, old, before))) = (problem.method, &self.last) {
            // Polak and Ribiere: z_new^H s_new - z_old^H s_new, over z_old^H s_old.
            let beta = (gamma - dot(z, &self.s)) / before;
            let beta = T::from_f64(beta.max(0.0), 0.0);
            p.iter_mut().zip(old).for_each(|(p, &old)| *p += beta * old);
        }
        let q = (problem.wide || problem.method == RefineMethod::Gradients)
            .then(|| times_w(problem.a, problem.wide, &p));
        let alpha = match (problem.method, &q) {
            (RefineMethod::Gradients, Some(q)) => dot(&p, &self.s) / norm2(q).to_f64().powi(2),
            _ => 1.0,
        };
        let alpha = T::from_f64(alpha, 0.0);
        let along = match &q {
            Some(q) if problem.wide => q,
            _ => &p,
        };
        self.x
            .iter_mut()
            .zip(along)
            .for_each(|(x, &d)| *x += alpha * d);
        self.last = Some((z.to_vec(), p, gamma));
        self.corrections += 1;
        self.residual(problem);
    }
}

/// The real part of x^H y.
fn dot<T: Scalar>(x: &[T], y: &[T]) -> f64 {
    let products = x.iter().zip(y).map(|(&x, &y)| (x.conj() * y).re().to_f64());
    products.sum()
}
