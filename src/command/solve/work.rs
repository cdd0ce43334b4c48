//! The steps of `treeqr solve`, for any numbers.

use super::super::bar::Bar;
use super::super::cli::SolveArgs;
use super::super::failure::Failure;
use super::super::input::{read_matrix, read_rhs, read_weights};
use super::super::{peak, stop};
use super::answer::Answer;
use super::numbers::matrix_of;
use super::rank::RankReport;
use super::verdict::{Asked, Minimised, Verdict};
use super::{Outcome, RhsFacts, TermFacts, trace};
use std::cell::Cell;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use treeqr::devices::ScalarKind;
use treeqr::matrices::{Output, RealScalar};
use treeqr::profiling::trace::Status;
use treeqr::runtime::ReadAhead;
use treeqr::{
    Csc, Dense, Error, FactorOptions, FactorScalar, Fallback, Options, Posed, Progress, RankCheck,
    Refinement, RunShape, Scalar, Solution, Symbolic, Terms, analyse,
};

/// From so many bytes for the factors on, the heap that the analysis leaves is given back before.
const LARGE: usize = 12 << 20;

/// In what numbers is solved, and how.
pub trait Numbers {
    /// Of A.
    type Matrix: FactorScalar;
    /// Of b and x: the same, or complex where A is real.
    type Vector: Scalar;

    /// Kinds of numbers in which is factorized.
    fn scalars() -> Vec<ScalarKind>;

    /// From the analysis to x.
    fn solve(
        task: &Task<'_, Self::Matrix>,
        options: &FactorOptions,
        progress: &Progress,
    ) -> Result<Solved<Self::Matrix>, Error>;
}

/// What is to be solved.
pub struct Task<'a, T> {
    pub symbolic: &'a Arc<Symbolic>,
    pub a: &'a Csc<T>,
    pub b: &'a Dense<T>,
    /// Whether x is to be improved in the precision that it has.
    pub refine: bool,
    /// Whether the rank is to be held against singular values.
    pub rank_check: bool,
    /// Where the factors go, until they are there.
    pub save: Cell<Option<Output>>,
}

/// What came of it.
pub struct Solved<T> {
    pub solution: Solution<T>,
    /// Of R, or of A with scaled columns.
    pub condition: Option<f64>,
    /// What its estimate took by itself.
    pub condition_time: Option<Duration>,
    pub refinement: Option<Refinement>,
    pub fallback: Option<Fallback>,
    pub rank_check: Option<RankCheck>,
}

/// Reads, solves, and writes x.
pub fn solve_in<N: Numbers>(args: &SolveArgs) -> Result<Outcome, Failure> {
    let options = args.analysis.options()?;
    trace::check(args)?;
    let output = stop::output(args.output.as_ref())?;
    let save = stop::output(args.save_factors.as_ref())?;
    let mut factor = args.run.options(args.analysis.threads.into());
    factor.tolerance = args.rank_tolerance;
    factor.deficient = args.solution.into();
    factor.keep_q = args.keep_q || save.is_some();

    let bar = Bar::new();
    bar.phase("reading");
    let begin = Instant::now();
    let devices = args.run.begin_devices(N::scalars());
    let problem = read_matrix::<N::Matrix>(matrix_of(args))?;
    let a = &problem.loaded.matrix;
    let rhs = read_rhs::<N::Vector>(args.rhs.as_ref(), &problem.source, a.nrows())?;
    let weights = args.weights.as_ref().map(read_weights).transpose()?;
    let (weights, weights_source) = weights.unzip();
    let (read, read_at) = (begin.elapsed(), Instant::now());
    // Reading keeps all processors busy, an analysis does not.
    let _machine = ReadAhead::begin(factor.run.threads);

    let about = |e: Error| Failure::from(e).about(&problem.source);
    let terms = Terms {
        weights,
        damping: args.damp,
        scale_columns: args.scale_columns,
    };
    let posed = Posed::new(a, &terms).map_err(|e| match &weights_source {
        Some(source) => Failure::input(e).about(source),
        None => Failure::input(e),
    })?;
    bar.phase("analysing");
    let pattern = posed.matrix().pattern();
    let mut symbolic = analyse(pattern, &options).map_err(about)?;
    let nrhs = rhs.b.ncols() * if split::<N>() { 2 } else { 1 };
    // Of the run that follows, which asks for it again.
    let carried = if symbolic.transposed() { 0 } else { nrhs };
    let keep_q = factor.keep_q || symbolic.solves_with_q() || nrhs == 0;
    let prediction = symbolic.predict(RunShape::of::<N::Matrix>(carried, keep_q));
    let flops = prediction.flops;
    if prediction.peak_bytes >= LARGE {
        treeqr::runtime::give_freed_memory_back();
    }
    let device_notes = devices.join(&mut factor, flops)?;
    if !factor.run.accelerators.is_empty() {
        let for_devices = Options {
            for_devices: true,
            ..options.clone()
        };
        let cut = symbolic.cut_again(&for_devices);
        symbolic = Arc::new(cut.map_err(|e| about(e.into()))?);
    }
    for note in &device_notes {
        tracing::warn!("{note}");
    }
    let (analysed, analysed_at) = (begin.elapsed() - read, Instant::now());

    let progress = Progress::new(trace::record_options(args));
    let cancellable = stop::Cancellable::begin();
    factor.run.cancel = cancellable.handle();
    bar.factorize(&progress);
    let b = posed.rhs(parts::<N>(&rhs.b).values(), nrhs);
    let b = Dense::new(posed.matrix().nrows(), nrhs, b).expect("a value for each");
    let (columns, from_file) = (rhs.b.ncols(), rhs.source.is_some());
    // Without terms that is b itself, of which one is enough.
    let given_b = posed.has_terms().then_some(rhs.b);
    let task = Task {
        symbolic: &symbolic,
        a: posed.matrix(),
        b: &b,
        refine: args.refine,
        rank_check: args.rank_check,
        save: Cell::new(save),
    };
    let solved = N::solve(&task, &factor, &progress);
    let mut steps = trace::Steps {
        begin,
        read: read_at,
        analysed: analysed_at,
        factorized: None,
        solved: None,
    };
    let solved = match solved {
        Ok(solved) => solved,
        Err(error) => {
            if let Some(record) = progress.take_unfinished() {
                let status = trace::status(&error);
                trace::write(args, &problem, &symbolic, &record, status, &steps)?;
            }
            return Err(about(error));
        }
    };
    cancellable.end()?;
    let Solved {
        solution,
        condition,
        condition_time,
        refinement,
        fallback,
        rank_check,
    } = solved;
    let factorized = analysed_at + solution.factorize_time;
    steps.factorized = Some(factorized);
    steps.solved = Some(factorized + solution.solve_time);
    bar.phase("checking");
    let Solution {
        x,
        rank,
        run,
        factorize_time,
        solve_time,
        ..
    } = solution;
    // y is for all that is minimised, x what was asked for.
    let y = x;
    let x = whole::<N>(posed.solution(&y, nrhs), a.ncols(), columns);
    let y = whole::<N>(y, posed.matrix().ncols(), columns);
    let c = whole::<N>(b.into_values(), posed.matrix().nrows(), columns);
    let full = rank.is_full();
    let minimised = posed.matrix().to_precision();
    let mut verdict = Verdict::of(symbolic.problem(), full, &minimised, &y, &c);
    verdict.condition = condition;
    let given = posed.has_terms().then(|| a.to_precision());
    let asked = Asked {
        a: given.as_ref().unwrap_or(&minimised),
        x: &x,
        b: given_b.as_ref().unwrap_or(&c),
        weights: terms.weights.as_deref(),
    };
    if posed.has_terms() {
        verdict.say_of(&asked);
    }
    verdict.minimised = match (args.damp, &weights_source) {
        (Some(damping), _) if damping > 0.0 => Minimised::Damped,
        (_, Some(_)) => Minimised::Weighted,
        _ => Minimised::Residual,
    };
    let r_squared = from_file.then(|| asked.r_squared()).flatten();
    let rank = RankReport {
        all: rank.rank + rank.dead.len(),
        rank,
        problem: symbolic.problem(),
        asked: factor.deficient,
        growth: verdict.growth,
        check: rank_check,
    };
    let total = begin.elapsed();
    let saved = args.save_factors.clone().map(|path| {
        let bytes = fs::metadata(&path).map_or(0, |file| file.len());
        (path, bytes)
    });

    if let Some(output) = output {
        bar.phase("writing");
        output.write_dense(&x, &format!("x by treeqr solve {}", problem.source))?;
    }
    if args.trace.trace.is_some() || args.trace.report.is_some() {
        bar.phase("writing what was recorded");
    }
    let kept = trace::write(
        args,
        &problem,
        &symbolic,
        run.record(),
        Status::Complete,
        &steps,
    )?;
    let summary = run.summary();
    // Of the numbers that were factorized in.
    let single = run.record().shape().scalar_bytes < size_of::<N::Matrix>();
    let peak = peak::measure::<N::Matrix>(run.stats().threads, single, factorize_time);
    drop(bar);
    Ok(Outcome {
        rhs: RhsFacts {
            source: rhs.source,
            nrows: a.nrows(),
            ncols: columns,
            split: split::<N>(),
        },
        terms: TermFacts {
            weights: weights_source,
            damping: args.damp,
            scale_columns: args.scale_columns,
            nrows: a.nrows(),
            ncols: a.ncols(),
            nnz: a.nnz(),
        },
        answer: Answer {
            verdict,
            rank,
            refinement,
            fallback,
            r_squared,
        },
        source: problem.source,
        scalar: N::Vector::NAME,
        precision: args.precision,
        symbolic,
        run,
        factorize_time,
        solve_time,
        condition_time,
        summary,
        read,
        analysed,
        total,
        peak,
        output: args.output.clone(),
        saved,
        kept,
    })
}

/// Whether b is complex and A is not.
pub fn split<N: Numbers>() -> bool {
    N::Vector::IS_COMPLEX && !N::Matrix::IS_COMPLEX
}

/// b in the numbers of A: all real parts, then all imaginary parts where it is split.
pub fn parts<N: Numbers>(b: &Dense<N::Vector>) -> Dense<N::Matrix> {
    let number = |re: f64, im: f64| N::Matrix::from_f64(re, im);
    let each = || {
        b.values()
            .iter()
            .map(|v| (v.re().to_f64(), v.im().to_f64()))
    };
    let mut values: Vec<_> = each().map(|(re, im)| number(re, im)).collect();
    let mut columns = b.ncols();
    if split::<N>() {
        values.extend(each().map(|(_, im)| number(im, 0.0)));
        columns *= 2;
    }
    Dense::new(b.nrows(), columns, values).expect("a value for each")
}

/// x from its parts.
pub fn whole<N: Numbers>(x: Vec<N::Matrix>, nrows: usize, ncols: usize) -> Dense<N::Vector> {
    let (first, second) = x.split_at(nrows * ncols);
    let values = first.iter().enumerate().map(|(k, v)| {
        let im = second.get(k).map_or(v.im().to_f64(), |im| im.re().to_f64());
        N::Vector::from_f64(v.re().to_f64(), im)
    });
    Dense::new(nrows, ncols, values.collect()).expect("a solution for each")
}
