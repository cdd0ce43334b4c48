//! The steps of `treeqr solve`, for any numbers.

use super::super::bar::Bar;
use super::super::cli::SolveArgs;
use super::super::failure::Failure;
use super::super::input::{read_matrix, read_rhs};
use super::super::{peak, stop};
use super::verdict::Verdict;
use super::{Outcome, RhsFacts, trace};
use std::sync::Arc;
use std::time::Instant;
use treeqr::matrices::RealScalar;
use treeqr::profiling::trace::Status;
use treeqr::{
    Csc, Dense, Error, FactorOptions, FactorScalar, Fallback, Progress, Refinement, Scalar,
    Solution, Symbolic, analyse,
};

/// In what numbers is solved, and how.
pub trait Numbers {
    /// Of A.
    type Matrix: FactorScalar;
    /// Of b and x: the same, or complex where A is real.
    type Vector: Scalar;

    /// From the analysis to x.
    fn solve(
        symbolic: &Arc<Symbolic>,
        a: &Csc<Self::Matrix>,
        b: &Dense<Self::Matrix>,
        options: &FactorOptions,
        progress: &Progress,
    ) -> Result<(Solution<Self::Matrix>, Option<Refinement>, Option<Fallback>), Error>;
}

/// Reads, solves, and writes x.
pub fn solve_in<N: Numbers>(args: &SolveArgs) -> Result<Outcome, Failure> {
    let options = args.analysis.options()?;
    trace::check(args)?;
    let output = stop::output(args.output.as_ref())?;
    let mut factor = args.run.options(args.analysis.threads.into());

    let bar = Bar::new();
    bar.phase("reading");
    let begin = Instant::now();
    let problem = read_matrix::<N::Matrix>(&args.matrix)?;
    let a = &problem.loaded.matrix;
    let rhs = read_rhs::<N::Vector>(args.rhs.as_ref(), &problem.source, a.nrows())?;
    let (read, read_at) = (begin.elapsed(), Instant::now());

    let about = |e: Error| Failure::from(e).about(&problem.source);
    bar.phase("analysing");
    let symbolic = analyse(a.pattern(), &options).map_err(about)?;
    let (analysed, analysed_at) = (begin.elapsed() - read, Instant::now());

    let progress = Progress::new(trace::record_options(args));
    let cancellable = stop::Cancellable::begin();
    factor.run.cancel = cancellable.handle();
    bar.factorize(&progress);
    let b = parts::<N>(&rhs.b);
    let solved = N::solve(&symbolic, a, &b, &factor, &progress);
    let mut steps = trace::Steps {
        begin,
        read: read_at,
        analysed: analysed_at,
        factorized: None,
        solved: None,
    };
    let (solution, refinement, fallback) = match solved {
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
    let factorized = analysed_at + solution.factorize_time;
    steps.factorized = Some(factorized);
    steps.solved = Some(factorized + solution.solve_time);
    bar.phase("checking");
    let Solution {
        x,
        run,
        factorize_time,
        solve_time,
        ..
    } = solution;
    let x = whole::<N>(x, a.ncols(), rhs.b.ncols());
    let verdict = Verdict::of(symbolic.problem(), &a.to_precision(), &x, &rhs.b);
    let total = begin.elapsed();

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
    let peak = peak::measure::<N::Matrix>(run.stats().threads, single);
    drop(bar);
    Ok(Outcome {
        rhs: RhsFacts {
            source: rhs.source,
            nrows: rhs.b.nrows(),
            ncols: rhs.b.ncols(),
            split: split::<N>(),
        },
        source: problem.source,
        scalar: N::Vector::NAME,
        precision: args.precision,
        symbolic,
        run,
        factorize_time,
        solve_time,
        refinement,
        fallback,
        summary,
        verdict,
        read,
        analysed,
        total,
        peak,
        output: args.output.clone(),
        kept,
    })
}

/// Whether b is complex and A is not.
fn split<N: Numbers>() -> bool {
    N::Vector::IS_COMPLEX && !N::Matrix::IS_COMPLEX
}

/// b in the numbers of A: all real parts, then all imaginary parts where it is split.
fn parts<N: Numbers>(b: &Dense<N::Vector>) -> Dense<N::Matrix> {
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
fn whole<N: Numbers>(x: Vec<N::Matrix>, nrows: usize, ncols: usize) -> Dense<N::Vector> {
    let (first, second) = x.split_at(nrows * ncols);
    let values = first.iter().enumerate().map(|(k, v)| {
        let im = second.get(k).map_or(v.im().to_f64(), |im| im.re().to_f64());
        N::Vector::from_f64(v.re().to_f64(), im)
    });
    Dense::new(nrows, ncols, values.collect()).expect("a solution for each")
}
