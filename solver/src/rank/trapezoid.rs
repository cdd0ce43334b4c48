//! R in trapezoidal form as a sparse matrix; and what solutions of minimum norm ask for.
//!
//! With Z a basis of R2's null space, the shortest least-squares solution for a tall or square A is (I - Z Z^H) x for any such
//! solution x, that for a wide one is Q Q2 R2^{-H} (I - Z Z^H) b. That is quick, and good where the live columns cost no more than half of the
//! digits (`project`). Otherwise, with R2^H = Z S, it is Z S^{-H} c or Q Q2 S^{-1} Z^H b: a complete orthogonal decomposition W = Q Q2 S^H Z^H,
//! stable whatever the live columns are, for which R2^H fills in as it is factorized.

use super::Deficient;
use super::nodes::Nodes;
use super::null_space::NullSpace;
use super::run::Deficiency;
use super::runner::Runner;
use crate::analysis::analyse;
use crate::analysis::ordering::AUTO;
use crate::error::SolveError;
use crate::numeric::magnitude::shifted;
use crate::numeric::{FactorOptions, FactorScalar, Factors, MemoryLimit, factorize_once};
use crate::options::{DenseRows, Options};
use std::sync::Arc;
use treeqr_matrices::{Csc, Pattern};
use treeqr_runtime::Observer;

/// What solutions of minimum norm ask for.
pub(crate) enum Complete<T> {
    /// R has no row: every such solution is zero.
    Zero,
    /// The null space of R.
    Projector(Box<NullSpace<T>>),
    /// R's adjoint, factorized.
    Second(Box<Factors<T>>),
}

impl<T: FactorScalar> Complete<T> {
    pub fn bytes(&self) -> u64 {
        match self {
            Complete::Zero => 0,
            Complete::Projector(space) => space.bytes(),
            Complete::Second(factors) => factors.bytes(),
        }
    }
}

impl<T: FactorScalar> Deficiency<T> {
    /// What solutions of minimum norm ask for, made now if it is not there.
    ///
    /// # Errors
    /// Whatever ends the run.
    pub(crate) fn completed<O: Observer>(
        &self,
        factors: &Factors<T>,
        options: &FactorOptions,
        observer: &O,
    ) -> Result<&Complete<T>, SolveError> {
        if let Some(complete) = self.complete.get() {
            return Ok(complete);
        }
        // Of two threads that come here at the same time one works in vain.
        let made = complete(factors, self, options, observer)?;
        Ok(self.complete.get_or_init(|| made))
    }
}

/// Completes the decomposition, a second factorization with the options of the first. Its rank has been decided: no column is
/// dropped there but one that is zero.
fn complete<T: FactorScalar, O: Observer>(
    factors: &Factors<T>,
    deficiency: &Deficiency<T>,
    options: &FactorOptions,
    observer: &O,
) -> Result<Complete<T>, SolveError> {
    let condition = factors.rank_details().condition;
    let runner = Runner::new(options, observer);
    if let Some(space) = NullSpace::new(factors, deficiency, condition, &runner)? {
        return Ok(Complete::Projector(Box::new(space)));
    }
    let r = factors.kept_trapezoid();
    if r.nrows() == 0 {
        return Ok(Complete::Zero);
    }
    let _span = tracing::info_span!("complete", rows = r.nrows(), entries = r.nnz()).entered();
    let first = factors.symbolic.options();
    let analysis = Options {
        dense_rows: DenseRows::None,
        // What was given orders another matrix.
        ordering: match first.given_order {
            Some(_) => AUTO.to_owned(),
            None => first.ordering.clone(),
        },
        given_order: None,
        ..first.clone()
    };
    let symbolic = analyse(r.pattern(), &analysis).map_err(SolveError::Second)?;
    let options = FactorOptions {
        keep_q: true,
        keep_storage: false,
        tolerance: Some(0.0),
        deficient: Deficient::Basic,
        memory_limit: MemoryLimit::Auto,
        ..options.clone()
    };
    let done = factorize_once(&Arc::new(symbolic), &r, &[], 0, &options, &())?;
    Ok(Complete::Second(Box::new(done.factors)))
}

/// Calls `visit(column of W, first row, values)` for all parts of the live rows of R, which are numbered in elimination order; gives
/// how many they are.
pub(super) fn live_parts<T: FactorScalar>(
    nodes: &Nodes<'_, T>,
    deficiency: Option<&Deficiency<T>>,
    mut visit: impl FnMut(u32, u32, &[T]),
) -> usize {
    let mut row = 0u32;
    for node in 0..nodes.len() {
        let changed = deficiency.and_then(|d| Some((d.nodes[node].as_ref()?, &d.store)));
        if let Some((done, store)) = changed {
            let r = done.view(store);
            let mut rows = 0;
            for (j, &column) in done.cols.iter().enumerate() {
                rows += usize::from(done.is_live(j, rows));
                visit(column, row, r.column(j, rows));
            }
            row += done.live.len() as u32;
        } else {
            let cols = nodes.columns(node);
            nodes.row_parts(node, |j, from, values| {
                visit(cols[j], row + from as u32, values);
            });
            row += nodes.npiv(node) as u32;
        }
    }
    row as usize
}

impl<T: FactorScalar> Factors<T> {
    /// R in trapezoidal form: a row for every live pivot, in elimination order, and the columns of the factorized matrix in
    /// their own numbering, so that W = Q [R; 0] to within rounding and [`Rank::dropped_norm`](super::Rank::dropped_norm). Triangular, after a
    /// permutation of the columns, when the rank is full. Zeros are left out. None where dense rows are split off: there is no such R then.
    /// O(nnz(R)).
    pub fn trapezoid(&self) -> Option<Csc<T>> {
        if self.split.is_some() {
            return None;
        }
        let mut r = self.kept_trapezoid();
        let by = self.exponent;
        r.values_mut().iter_mut().for_each(|v| *v = shifted(*v, by));
        Some(r)
    }

    /// The same of W as it is computed with: without its dense rows, and over its power of two.
    pub(crate) fn kept_trapezoid(&self) -> Csc<T> {
        let nodes = Nodes::new(self);
        let n = nodes.order.len();
        let mut columns: Vec<Vec<(u32, T)>> = vec![Vec::new(); n];
        let count = live_parts(&nodes, self.deficiency.as_ref(), |column, row, values| {
            let rows = (row..).zip(values).filter(|v| *v.1 != T::zero());
            columns[column as usize].extend(rows.map(|(row, &value)| (row, value)));
        });
        let mut colptr = Vec::with_capacity(n + 1);
        colptr.push(0);
        let (mut rowidx, mut values) = (Vec::new(), Vec::new());
        for column in columns {
            rowidx.extend(column.iter().map(|e| e.0));
            values.extend(column.iter().map(|e| e.1));
            colptr.push(rowidx.len());
        }
        let pattern = Pattern::new(count, n, colptr, rowidx).expect("rows increase");
        Csc::new(pattern, values).expect("a value for every entry")
    }
}
