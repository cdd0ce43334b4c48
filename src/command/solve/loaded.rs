//! `--factors`: from factors in a file and right-hand sides to x, without a factorization.
//!
//! Takes a file of factors, in whatever numbers it has, and A if the user gives it: then the factors must be those of A, and
//! residuals are told. Knows no task.

use super::super::analyse::{describe, describe_tree};
use super::super::bar::Bar;
use super::super::cli::SolveArgs;
use super::super::dense;
use super::super::failure::Failure;
use super::super::input::{Problem, read_matrix, read_rhs};
use super::super::page::{self, Page, TITLE};
use super::super::stop;
use super::super::units::{count, si, time};
use super::RhsFacts;
use super::answer::Answer;
use super::numbers::{CHECKED, InOne};
use super::rank::RankReport;
use super::verdict::{Asked, Verdict};
use super::work::{parts, split, whole};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use treeqr::matrices::Source;
use treeqr::runtime::ReadAhead;
use treeqr::{
    Deficient, Error, FactorScalar, Factors, RefineOptions, Scalar, Scaled, SolveOptions, Symbolic,
    VERSION, c32, c64, load_factors, refine, scalar_of_factors_file,
};

/// How no matrix is written.
const NONE: &str = "-";

/// Loads, solves, writes x, and tells how it went.
pub fn run(path: &Path, args: &SolveArgs) -> Result<(), Failure> {
    let outcome = solve(path, args)?;
    page::print(&if args.json {
        format!("{:#}\n", outcome.json())
    } else {
        outcome.text()
    })
}

/// In the numbers of the factors.
fn solve(path: &Path, args: &SolveArgs) -> Result<Loaded, Failure> {
    let scalar = scalar_of_factors_file(path)?;
    let complex = args.rhs.as_ref().is_some_and(Source::is_complex);
    match (scalar.as_str(), complex) {
        ("f64", false) => solve_in::<f64, f64>(path, args),
        ("f64", true) => solve_in::<f64, c64>(path, args),
        ("f32", false) => solve_in::<f32, f32>(path, args),
        ("f32", true) => solve_in::<f32, c32>(path, args),
        ("c32", _) => solve_in::<c32, c32>(path, args),
        // Whatever it is: loading says what it thinks of it.
        _ => solve_in::<c64, c64>(path, args),
    }
}

/// All that is told.
struct Loaded {
    path: PathBuf,
    source: Option<Source>,
    rhs: RhsFacts,
    scalar: &'static str,
    symbolic: Arc<Symbolic>,
    factor_bytes: u64,
    threads: usize,
    read: Duration,
    load: Duration,
    solve: Duration,
    condition_time: Option<Duration>,
    total: Duration,
    answer: Answer,
    output: Option<PathBuf>,
}

fn solve_in<T: FactorScalar, X: Scalar>(path: &Path, args: &SolveArgs) -> Result<Loaded, Failure> {
    let output = stop::output(args.output.as_ref())?;
    let none = Source::from(NONE);
    let matrix = args.matrix.as_ref().filter(|source| **source != none);
    if args.refine && matrix.is_none() {
        return Err(
            Failure::input("--refine needs A, since corrections come from the residual")
                .hint("name the matrix before --factors"),
        );
    }
    let options = SolveOptions::from(&args.run.options(args.analysis.threads.into()));
    let bar = Bar::new();
    bar.phase("loading the factors");
    let begin = Instant::now();
    let _machine = ReadAhead::begin(options.run.threads);
    let factors = load_factors::<T>(path)?;
    let load = begin.elapsed();
    bar.phase("reading");
    let problem = matrix
        .map(|source| {
            let read = || read_matrix::<T>(source);
            checked(source, path, &factors, read)
        })
        .transpose()?;
    let symbolic = factors.symbolic().clone();
    let about = match &problem {
        Some(problem) => problem.source.clone(),
        None => Source::File(path.to_owned()),
    };
    let rhs = read_rhs::<X>(args.rhs.as_ref(), &about, symbolic.nrows())?;
    let read = begin.elapsed() - load;

    bar.phase("solving");
    let b = parts::<InOne<T, X>>(&rhs.b);
    let nrhs = b.ncols();
    let cancellable = stop::Cancellable::begin();
    let mut options = options;
    options.run.cancel = cancellable.handle();
    let failed = |e| Failure::from(Error::Solve(e)).about(&about);
    let solving = Instant::now();
    let mut x = factors
        .solve_with(b.values(), nrhs, &options, &())
        .map_err(failed)?;
    let mut refinement = None;
    if let Some(problem) = problem.as_ref().filter(|_| args.refine) {
        let refine_options = RefineOptions {
            solve: options.clone(),
            ..RefineOptions::default()
        };
        let scaled = Scaled::evenly(&problem.loaded.matrix);
        let (better, report) = refine(
            &scaled,
            &factors,
            b.values(),
            nrhs,
            Some(&x),
            &refine_options,
        )
        .map_err(failed)?;
        (x, refinement) = (better, Some(report));
    }
    let solve = solving.elapsed();
    bar.phase("checking");
    let rank = factors.rank_details().clone();
    let full = rank.is_full();
    let estimating = Instant::now();
    let condition = full.then(|| factors.condition_estimate(&options));
    let condition = condition.transpose().map_err(failed)?;
    let condition_time = condition.map(|_| estimating.elapsed());
    let check = args.rank_check;
    let check = check.then(|| factors.rank_check(CHECKED, &options));
    let check = check.transpose().map_err(failed)?;
    cancellable.end()?;

    let x = whole::<InOne<T, X>>(x, symbolic.ncols(), rhs.b.ncols());
    let kind = symbolic.problem();
    let mut r_squared = None;
    let mut verdict = match &problem {
        None => Verdict::without_matrix(kind, full, &x),
        Some(problem) => {
            let a = &problem.loaded.matrix.to_precision::<X>();
            let verdict = Verdict::of(kind, full, a, &x, &rhs.b);
            if rhs.source.is_some() {
                let weights = None;
                let (x, b) = (&x, &rhs.b);
                r_squared = Asked { a, x, b, weights }.r_squared();
            }
            verdict
        }
    };
    verdict.condition = condition;
    let rank = RankReport {
        all: rank.rank + rank.dead.len(),
        rank,
        problem: kind,
        asked: match factors.gives_shortest() {
            true => Deficient::MinimumNorm,
            false => Deficient::Basic,
        },
        growth: verdict.growth,
        check,
    };
    let total = begin.elapsed();
    if let Some(output) = output {
        bar.phase("writing");
        output.write_dense(&x, &format!("x by treeqr solve {about}"))?;
    }
    drop(bar);
    Ok(Loaded {
        path: path.to_owned(),
        source: problem.map(|problem| problem.source),
        rhs: RhsFacts {
            source: rhs.source,
            nrows: rhs.b.nrows(),
            ncols: rhs.b.ncols(),
            split: split::<InOne<T, X>>(),
        },
        scalar: X::NAME,
        factor_bytes: factors.bytes(),
        threads: options.run.threads,
        symbolic,
        read,
        load,
        solve,
        condition_time,
        total,
        answer: Answer {
            verdict,
            rank,
            refinement,
            fallback: None,
            r_squared,
        },
        output: args.output.clone(),
    })
}

/// The matrix, if the factors are its own.
fn checked<T: FactorScalar>(
    source: &Source,
    path: &Path,
    factors: &Factors<T>,
    read: impl FnOnce() -> Result<Problem<T>, Failure>,
) -> Result<Problem<T>, Failure> {
    if source.is_complex() && !T::IS_COMPLEX {
        let message = format!(
            "the matrix is complex, and the factors in {} are real",
            path.display()
        );
        return Err(Failure::input(message).about(source));
    }
    let problem = read()?;
    match factors.check_matrix(&problem.loaded.matrix) {
        Ok(()) => Ok(problem),
        Err(error) => Err(Failure::from(Error::Solve(error))
            .about(&problem.source)
            .hint(format!(
                "{} has the factors of a {} x {} matrix with {} entries; without a matrix it solves for that one",
                path.display(),
                count(factors.symbolic().nrows()),
                count(factors.symbolic().ncols()),
                count(factors.symbolic().nnz()),
            ))),
    }
}

impl Loaded {
    fn text(&self) -> String {
        let mut page = Page::default();
        let subject = match &self.source {
            Some(source) => format!("{source} with the factors in {}", self.path.display()),
            None => format!("with the factors in {}", self.path.display()),
        };
        page.title("Solved", &subject);
        page.gap();
        describe(&mut page, &self.symbolic);
        self.rhs.row(&mut page);
        describe_tree(&mut page, &self.symbolic);
        let size = si(self.factor_bytes as f64, "B");
        page.row(
            "",
            &format!("R and Q, {size}, in {}", self.scalar_of_factors()),
        );
        page.gap();
        let mut label = "Time";
        for (name, t) in [
            ("load", Some(self.load)),
            ("read", Some(self.read)),
            ("solve", Some(self.solve)),
            ("condition", self.condition_time),
        ] {
            let Some(t) = t else { continue };
            page.row(label, &format!("{name:<10} {:>8}", time(t)));
            label = "";
        }
        let total = format!("{:>8}", time(self.total));
        let total = total.trim_end();
        page.row("", &format!("{:<10} {TITLE}{total}{TITLE:#}", "total"));
        page.gap();
        self.answer.refined(&mut page);
        self.answer.figures(&mut page, self.rhs.ncols);
        if let Some(path) = &self.output {
            page.row("", &format!("{:<22} {}", "written to", path.display()));
        }
        page.gap();
        self.answer.sentences(&mut page);
        page.text()
    }

    /// Of a complex x of a real matrix it is the real one.
    fn scalar_of_factors(&self) -> &'static str {
        match (self.scalar, self.rhs.split) {
            ("c64", true) => "f64",
            ("c32", true) => "f32",
            (scalar, _) => scalar,
        }
    }

    /// The keys of `treeqr solve` that there is a value for.
    fn json(&self) -> Value {
        let s = &self.symbolic;
        let mut object = json!({
            "matrix": {"rows": s.nrows(), "cols": s.ncols(), "nnz": s.nnz()},
            "source": self.source.as_ref().map(ToString::to_string),
            "loaded_factors": self.path.to_string_lossy(),
            "rhs": self.rhs.json(),
            "problem": s.problem().name(),
            "ordering": s.ordering(),
            "ordering_why": s.ordering_why(),
            "threads": self.threads,
            "nnz_r": s.nnz_r(),
            "nnz_h": s.nnz_h(),
            "fronts": s.fronts().len(),
            "depth": s.depth(),
            "singletons": s.singletons(),
            "dense_rows": dense::rows_json(s),
            "dense_columns": dense::columns_json(s),
            "times_s": {
                "load": self.load.as_secs_f64(),
                "read": self.read.as_secs_f64(),
                "solve": self.solve.as_secs_f64(),
                "condition": self.condition_time.map(|t| t.as_secs_f64()),
                "total": self.total.as_secs_f64(),
            },
            "scalar": self.scalar,
            "factors": "qr",
            "factor_bytes": self.factor_bytes,
            "output": self.output.as_ref().map(|p| p.to_string_lossy()),
            "version": VERSION,
        });
        if let Value::Object(object) = &mut object {
            object.extend(self.answer.json());
        }
        object
    }
}
