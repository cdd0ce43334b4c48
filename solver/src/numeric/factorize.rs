//! Checks the input, makes the plan, runs the tasks.

use super::FactorScalar;
use super::app::App;
use super::factors::{Factors, hash_of_values};
use super::limit::{Gate, MemoryLimit, check_available};
use super::magnitude::{ordinary, ordinary_columns, shift};
use super::priorities::{Priorities, PriorityReport, priorities};
use crate::error::SolveError;
use crate::plan::{Layout, Plan, Prediction, RunShape, codelet};
use crate::rank::{Deficient, find};
use crate::split::{bring_in, sparse_options};
use crate::symbolic::Symbolic;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use treeqr_matrices::{Csc, RealScalar, first_non_finite};
use treeqr_runtime::{
    Config, DataStore, Limit, Observer, RunStats, Submitter, run, run_sequential,
};

/// So many values are looked at by two threads: a thread that has slept takes some ten microseconds to come.
const MANY: usize = 1 << 17;

/// Options of a factorization.
#[derive(Clone, Debug, Default)]
pub struct FactorOptions {
    /// Keep the reflectors, so that Q can be applied later: needed for right-hand sides that come later. For a wide A R alone gives them,
    /// too ([`Shortest`](crate::Shortest)).
    pub keep_q: bool,
    /// A column of which no more than this is left when its turn comes depends on those before it. Default:
    /// 20 (m + n) eps max_j ||A(:, j)||_2. With a negative one nobody looks: a matrix that lacks rank then gives an x that is
    /// good for nothing.
    pub tolerance: Option<f64>,
    /// What is done where columns depend on each other.
    pub deficient: Deficient,
    /// Threads, scheduler, binding.
    pub run: Config,
    /// A limit on the memory for fronts and factors. Where it is not a user's, the prediction must fit into the memory that the system
    /// has available.
    pub memory_limit: MemoryLimit,
    /// Workers that may be in `do_subtree` tasks at the same time: these press the memory and the caches more than others.
    pub subtree_workers: Option<NonZeroUsize>,
    /// From what durations the priorities of tasks are computed.
    pub priorities: Priorities,
    /// Run the tasks in the order of submission on the calling thread, without a scheduler.
    pub sequential: bool,
    /// Keep what fronts leave free for the next [`Factors::refactorize`], as the store of the factors then does: the fronts' memory
    /// stays taken, and a run may need more than it predicts, as blocks of one size wait while others are needed. A memory limit holds
    /// for all of it. Without this the run takes no more for it than its buffers take anyway, and gives it back in the end.
    pub keep_storage: bool,
}

/// A factorization and what it took.
pub struct Factored<T> {
    /// The factors.
    pub factors: Factors<T>,
    /// What the analysis said this run would do.
    pub prediction: Prediction,
    /// What the runtime says of it.
    pub stats: RunStats,
    /// How the priorities of the tasks came about.
    pub priorities: PriorityReport,
    /// The tolerance that the pivots were held against.
    pub tolerance: f64,
}

/// Factorizes A = Q R (A^H = Q R for a wide A), with `rhs` carried along: `nrhs` columns of as many entries as A has
/// rows, of which Q^H b is kept. For a wide A nothing of them is kept: b tells whether solutions will need what is asked for where A x = b has no
/// solution, which otherwise is made when one needs it.
///
/// Where columns depend on each other, that is found out afterwards: see [`Factors::rank_details`].
///
/// # Errors
/// [`SolveError`]: another pattern than the analysed one, values that are not finite, a wrong length, a negligible pivot where
/// that is to be an error, and whatever ends the run.
pub fn factorize<T: FactorScalar, O: Observer>(
    symbolic: &Arc<Symbolic>,
    a: &Csc<T>,
    rhs: &[T],
    nrhs: usize,
    options: &FactorOptions,
    observer: &O,
) -> Result<Factored<T>, SolveError> {
    if !symbolic.transposed {
        let done = factorize_once(symbolic, a, rhs, nrhs, options, observer)?;
        complete_deficient(&done.factors, options, observer)?;
        return Ok(done);
    }
    check_rhs(rhs, a.nrows(), nrhs)?;
    let done = factorize_once(symbolic, a, &[], 0, options, observer)?;
    if let (Some(deficiency), None) = (&done.factors.deficiency, &done.factors.split) {
        let (b, _) = ordinary_columns(rhs, a.nrows());
        let tried = deficiency.try_adjoint(&done.factors, &b, nrhs);
        if tried.solved.contains(&false) {
            deficiency.completed(&done.factors, options, observer)?;
        }
    }
    Ok(done)
}

/// What the shortest solutions for a tall or square A ask for, where the options want these.
pub(super) fn complete_deficient<T: FactorScalar, O: Observer>(
    factors: &Factors<T>,
    options: &FactorOptions,
    observer: &O,
) -> Result<(), SolveError> {
    let shortest = !factors.symbolic.transposed && options.deficient == Deficient::MinimumNorm;
    if let (true, Some(deficiency), None) = (shortest, &factors.deficiency, &factors.split) {
        deficiency.completed(factors, options, observer)?;
    }
    Ok(())
}

/// The same without the second factorization that solutions of minimum norm ask for.
pub(crate) fn factorize_once<T: FactorScalar, O: Observer>(
    symbolic: &Arc<Symbolic>,
    a: &Csc<T>,
    rhs: &[T],
    nrhs: usize,
    options: &FactorOptions,
    observer: &O,
) -> Result<Factored<T>, SolveError> {
    let task = Task {
        symbolic,
        a,
        rhs,
        nrhs,
        options,
    };
    factorize_in(&mut DataStore::new(0), None, &task, observer)
}

/// What is to be factorized.
pub(super) struct Task<'a, T> {
    pub symbolic: &'a Arc<Symbolic>,
    pub a: &'a Csc<T>,
    pub rhs: &'a [T],
    pub nrhs: usize,
    pub options: &'a FactorOptions,
}

/// Factorizes with the memory of `store`, which has no buffers; the factors take the store with them. After an error it is where it
/// was. `layout` is that of an earlier run with this shape.
pub(super) fn factorize_in<T: FactorScalar, O: Observer>(
    store: &mut DataStore,
    layout: Option<Arc<Layout>>,
    task: &Task<'_, T>,
    observer: &O,
) -> Result<Factored<T>, SolveError> {
    let &Task {
        symbolic,
        a,
        rhs,
        nrhs,
        options,
    } = task;
    let preparing = tracing::info_span!("prepare").entered();
    let look = || (check_matrix(symbolic, a), ordinary(a));
    let ((checked, (scaled, exponent)), values_hash) = match a.nnz() {
        MANY.. => rayon::join(look, || hash_of_values(a)),
        _ => (look(), hash_of_values(a)),
    };
    checked?;
    check_rhs(rhs, a.nrows(), nrhs)?;
    let (rhs, rhs_exponents) = ordinary_columns(rhs, a.nrows());
    let (a, rhs) = (scaled.as_ref(), rhs.as_ref());
    check_norms(symbolic, a, exponent)?;
    assert!(
        nrhs == 0 || !symbolic.transposed,
        "a wide matrix takes its right-hand sides after the factorization"
    );
    let shape = RunShape::of::<T>(nrhs, options.keep_q);
    drop(preparing);
    let planning = tracing::info_span!("plan").entered();
    let plan = match layout {
        Some(layout) => Plan::with_layout(symbolic, shape, layout),
        None => Plan::new(symbolic, shape),
    };
    let prediction = symbolic.predict_plan(&plan);
    check_tasks(&prediction)?;
    let workers = options.run.threads;
    let streams = options.run.accelerators.iter().map(|a| a.streams);
    let ahead = workers + streams.sum::<usize>();
    let limit = options.memory_limit.bytes(&prediction, ahead)?;
    if !options.memory_limit.is_asked_for() {
        check_available(&prediction, workers, store.pooled_bytes())?;
    }
    drop(planning);
    let gate = limit.map(Gate::new);
    let asked = limit.filter(|_| options.memory_limit.is_asked_for());
    store.expect(prediction.peak_bytes as u64, limit.unwrap_or(u64::MAX));
    store.keep_up_to(match (asked, options.keep_storage) {
        (Some(limit), _) => limit,
        (None, true) => u64::MAX,
        (None, false) => prediction.peak_bytes as u64,
    });
    let _span = tracing::info_span!(
        "factorize",
        scheduler = options.run.scheduler.name,
        threads = options.run.threads,
        tasks = prediction.task_count(),
        flops = prediction.flops,
    )
    .entered();
    let (levels, priorities) = {
        let _span = tracing::info_span!("priorities").entered();
        priorities(&plan, options.priorities, T::NAME, &options.run)
    };
    let layout = plan.layout().clone();
    store.grow(plan.handles());
    let app = App::new(plan, a.values(), rhs, gate);
    let mut config = options.run.clone();
    config.learn |= priorities.by == Priorities::Models;
    if let Some(at_once) = options.subtree_workers {
        config.limits.push(Limit {
            codelet: codelet::DO_SUBTREE,
            at_once,
        });
    }
    let submit = |submitter: &mut Submitter<'_>| {
        let mut tasks = Vec::new();
        let mut levels = levels.iter();
        for u in 0..symbolic.units.len() {
            app.plan.unit_tasks(u, &mut tasks);
            for task in tasks.drain(..) {
                if let Some(gate) = &app.gate {
                    match app.plan.memory_of(&task).allocated_bytes as u64 {
                        0 => (),
                        bytes => submitter.wait_until(|wait| gate.reserve(bytes, wait))?,
                    }
                }
                submitter.submit(task.priority(*levels.next().expect("a level for every task")))?;
            }
        }
        Ok(())
    };
    let ((), stats) = if options.sequential {
        run_sequential(&config, &app, store, observer, submit)?
    } else {
        run(&config, &app, store, observer, submit)?
    };

    let mut factors = Factors {
        symbolic: symbolic.clone(),
        shape,
        layout,
        store: std::mem::replace(store, DataStore::new(0)),
        singleton_rows: singleton_rows(symbolic, a),
        singleton_rhs: singleton_rhs(symbolic, rhs, a.nrows(), nrhs),
        values_hash,
        exponent,
        rhs_exponents,
        entries: OnceLock::new(),
        rank: None,
        deficiency: None,
        split: None,
    };
    // All is found for the matrix as it is computed with, and told for the one that was given.
    let scaled_options = FactorOptions {
        tolerance: options.tolerance.map(|t| shift(t, -exponent)),
        ..options.clone()
    };
    let looking = tracing::info_span!("rank").entered();
    let found = if symbolic.dense_rows.is_empty() {
        find(&factors, a, &scaled_options, observer)
    } else {
        let options = sparse_options(a, symbolic.transposed, &scaled_options);
        find(&factors, a, &options, observer)
    };
    if !options.keep_storage {
        factors.store.release_pool();
    }
    let found = found.and_then(|(rank, deficiency)| {
        (factors.rank, factors.deficiency) = (Some(rank), deficiency);
        bring_in(&mut factors, a, rhs, &scaled_options, observer)
    });
    drop(looking);
    if let Err(error) = found {
        *store = factors.store;
        return Err(error.shifted(exponent));
    }
    factors.rank = factors.rank.take().map(|rank| rank.shifted(exponent));
    let tolerance = factors.rank_details().tolerance;
    Ok(Factored {
        factors,
        prediction,
        stats,
        priorities,
        tolerance,
    })
}

/// R has columns of the norms of W's: they have to be numbers of the format, though they are computed with as others. `a` is what
/// the matrix is over 2 to the power `exponent`.
fn check_norms<T: FactorScalar>(
    symbolic: &Symbolic,
    a: &Csc<T>,
    exponent: i32,
) -> Result<(), SolveError> {
    if exponent <= 0 {
        return Ok(());
    }
    let (transposed, most) = (symbolic.transposed, T::Real::MAX.to_f64());
    let mut squares = vec![0f64; symbolic.work_cols()];
    for j in 0..a.ncols() {
        let (rows, values) = a.col(j);
        for (&i, v) in rows.iter().zip(values) {
            squares[if transposed { i as usize } else { j }] += v.abs2().to_f64();
        }
    }
    let overflows = |&square: &f64| shift(square.sqrt(), exponent) > most;
    match squares.iter().position(overflows) {
        Some(k) => Err(SolveError::Overflow {
            what: if transposed { "row" } else { "column" },
            index: k + 1,
        }),
        None => Ok(()),
    }
}

/// Tasks have numbers of 32 bits. The analysis has refused by the updates alone what is far beyond them.
fn check_tasks(prediction: &Prediction) -> Result<(), SolveError> {
    let tasks = prediction.task_count();
    match u32::try_from(tasks) {
        Ok(_) => Ok(()),
        Err(_) => Err(SolveError::TooManyTasks { tasks }),
    }
}

/// Whether `a` has the pattern that was analysed.
pub(super) fn check_pattern<T: FactorScalar>(
    symbolic: &Symbolic,
    a: &Csc<T>,
) -> Result<(), SolveError> {
    if Arc::ptr_eq(&symbolic.pattern, a.pattern()) || symbolic.pattern == *a.pattern() {
        return Ok(());
    }
    Err(SolveError::OtherPattern {
        nrows: a.nrows(),
        ncols: a.ncols(),
        nnz: a.nnz(),
    })
}

fn check_matrix<T: FactorScalar>(symbolic: &Symbolic, a: &Csc<T>) -> Result<(), SolveError> {
    check_pattern(symbolic, a)?;
    match a.first_non_finite() {
        Some((row, col)) => Err(SolveError::MatrixNotFinite {
            row: row + 1,
            col: col + 1,
        }),
        None => Ok(()),
    }
}

/// Checks right-hand sides before the work begins: `nrhs` columns of `nrows` finite values.
///
/// # Errors
/// [`SolveError::RhsLength`] and [`SolveError::RhsNotFinite`].
pub fn check_rhs<T: FactorScalar>(rhs: &[T], nrows: usize, nrhs: usize) -> Result<(), SolveError> {
    if rhs.len() != nrows * nrhs {
        return Err(SolveError::RhsLength {
            found: rhs.len(),
            expected: nrows * nrhs,
            nrhs,
            nrows,
        });
    }
    match first_non_finite(rhs) {
        Some(p) => Err(SolveError::RhsNotFinite {
            row: p % nrows + 1,
            col: p / nrows + 1,
        }),
        None => Ok(()),
    }
}

/// Rows of W on which singletons pivot.
fn singleton_rows<T: FactorScalar>(symbolic: &Symbolic, a: &Csc<T>) -> Vec<Vec<(u32, T)>> {
    if symbolic.singletons.is_empty() {
        return Vec::new();
    }
    if symbolic.transposed {
        // The rows of W are the columns of A.
        let row_of = |row: u32| {
            let (idx, values) = a.col(row as usize);
            let entries = idx.iter().zip(values);
            entries.map(|(&i, v)| (i, v.conj())).collect()
        };
        return symbolic.singletons.iter().map(|s| row_of(s.row)).collect();
    }
    let mut at = vec![u32::MAX; symbolic.work_rows()];
    for (k, s) in symbolic.singletons.iter().enumerate() {
        at[s.row as usize] = k as u32;
    }
    let mut rows: Vec<Vec<(u32, T)>> = vec![Vec::new(); symbolic.singletons.len()];
    for j in 0..a.ncols() {
        let (idx, values) = a.col(j);
        for (&i, &v) in idx.iter().zip(values) {
            // A row that is no singleton's has a place beyond all of them.
            if let Some(row) = rows.get_mut(at[i as usize] as usize) {
                row.push((j as u32, v));
            }
        }
    }
    rows
}

fn singleton_rhs<T: FactorScalar>(
    symbolic: &Symbolic,
    rhs: &[T],
    nrows: usize,
    nrhs: usize,
) -> Vec<T> {
    (0..nrhs)
        .flat_map(|c| {
            symbolic
                .singletons
                .iter()
                .map(move |s| rhs[s.row as usize + c * nrows])
        })
        .collect()
}
