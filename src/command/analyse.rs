//! `treeqr analyse`: what a factorization will take, from the pattern alone.

use super::bar::Bar;
use super::cli::AnalyseArgs;
use super::failure::Failure;
use super::input::AnyProblem;
use super::page::{self, FAINT, Page};
use super::stop;
use super::units::{count, plural, si, time};
use super::{bars, dense, page::WORK};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use treeqr::solver::CODELETS;
use treeqr::{Prediction, Symbolic, VERSION, analyse};

/// Analyses the pattern and reports.
pub fn run(args: &AnalyseArgs) -> Result<(), Failure> {
    stop::watch();
    let options = args.analysis.options()?;
    let bar = Bar::new();
    bar.phase("reading");
    let begin = Instant::now();
    let problem = AnyProblem::read(&args.matrix)?;
    let read = begin.elapsed();
    bar.phase("analysing");
    let begin = Instant::now();
    let symbolic = analyse(problem.pattern(), &options)
        .map_err(|e| Failure::from(e).about(problem.source()))?;
    let analysed = begin.elapsed();
    // As `solve` would run: b on the way where A is not wide.
    let wide = symbolic.transposed();
    let prediction = symbolic.predict(problem.shape(usize::from(!wide), symbolic.solves_with_q()));
    let kept = [false, true].map(|keep_q| symbolic.predict(problem.shape(0, keep_q)));
    drop(bar);
    let report = Report {
        problem,
        symbolic,
        prediction,
        kept,
        read,
        analysed,
    };
    page::print(&if args.json {
        format!("{:#}\n", report.json())
    } else {
        report.text()
    })
}

struct Report {
    problem: AnyProblem,
    symbolic: Arc<Symbolic>,
    prediction: Prediction,
    /// For right-hand sides that come later: R alone, and R with Q.
    kept: [Prediction; 2],
    read: Duration,
    analysed: Duration,
}

/// The sentence about what is solved.
pub fn posed(symbolic: &Symbolic) -> &'static str {
    match symbolic.problem() {
        treeqr::Problem::LeastSquares => "least squares: min ‖b − A x‖",
        treeqr::Problem::MinimumNorm => "minimum norm: the shortest x with A x = b",
        treeqr::Problem::Square => "square: A x = b",
    }
}

/// The rows about the problem, its ordering and its tree.
pub fn describe(page: &mut Page, symbolic: &Symbolic) {
    page.row(
        "Problem",
        &format!(
            "{} x {}, {}; {}",
            count(symbolic.nrows()),
            count(symbolic.ncols()),
            plural(symbolic.nnz(), "entry", "entries"),
            posed(symbolic)
        ),
    );
}

/// The rows about ordering, tree and factors.
pub fn describe_tree(page: &mut Page, symbolic: &Symbolic) {
    let why = match symbolic.ordering_why() {
        "" => ", as asked for".to_owned(),
        why => format!(" – {why}"),
    };
    page.prose("Ordering", &format!("{}{why}", symbolic.ordering()));
    dense::describe(page, symbolic);
    let (groups, tiled) = symbolic.unit_counts();
    let fronts = symbolic.fronts().len();
    page.row(
        "Tree",
        &format!(
            "{}, depth {}; {} in tiles, {} whole in {}",
            plural(fronts, "front", "fronts"),
            count(symbolic.depth()),
            count(tiled),
            count(fronts - tiled),
            plural(groups, "task", "tasks"),
        ),
    );
    let largest = symbolic
        .fronts()
        .iter()
        .max_by_key(|f| u64::from(f.m) * u64::from(f.n));
    if let Some(f) = largest {
        let singletons = plural(symbolic.singletons(), "singleton", "singletons");
        page.row(
            "",
            &format!(
                "largest front {} x {} with {}; {singletons}",
                count(f.m),
                count(f.n),
                plural(f.npiv as usize, "pivot", "pivots"),
            ),
        );
    }
    page.row(
        "Factors",
        &format!(
            "nnz(R) {}, nnz(H) {}",
            count(symbolic.nnz_r()),
            count(symbolic.nnz_h())
        ),
    );
}

impl Report {
    fn text(&self) -> String {
        let (s, p) = (&self.symbolic, &self.prediction);
        let mut page = Page::default();
        page.title("Analysed", &self.problem.source().to_string());
        page.gap();
        describe(&mut page, s);
        describe_tree(&mut page, s);
        page.gap();
        page.row("Work", &si(p.flops as f64, "flop"));
        page.row(
            "",
            &format!(
                "{} on the critical path; work for {:.1} workers on average",
                si(p.critical_path_flops as f64, "flop"),
                p.average_parallelism()
            ),
        );
        page.row(
            "Memory",
            &format!(
                "{} at the peak of a sequential run, {} for the factors",
                si(p.peak_bytes as f64, "B"),
                si(p.factor_bytes as f64, "B")
            ),
        );
        page.row(
            "",
            &format!(
                "and {} of scratch per worker",
                si(p.scratch_bytes as f64, "B")
            ),
        );
        if p.update_bytes > 0 {
            let bytes = si(p.update_bytes as f64, "B");
            page.row("", &format!("and {bytes} to bring in the dense rows"));
        }
        let [r, qr] = &self.kept;
        page.row(
            "",
            &format!(
                "kept for later: R alone {}, R and Q {}",
                si(r.factor_bytes as f64, "B"),
                si(qr.factor_bytes as f64, "B")
            ),
        );
        page.gap();
        let mut label = "Tasks";
        for (name, tasks) in self.tasks() {
            let part = tasks as f64 / p.task_count() as f64;
            let bar = bars::bar(part, 20);
            let bar = bar.trim_end();
            page.row(
                label,
                &format!("{name:<12} {:>11}  {WORK}{bar}{WORK:#}", count(tasks)),
            );
            label = "";
        }
        page.row(
            label,
            &format!("{:<12} {:>11}", "all", count(p.task_count())),
        );
        page.gap();
        let total = self.read + self.analysed;
        let mut label = "Time";
        for (name, t) in [("read", self.read)]
            .into_iter()
            .chain(s.steps().iter().copied())
        {
            let bar = bars::bar(t.as_secs_f64() / total.as_secs_f64(), 20);
            let bar = bar.trim_end();
            page.row(
                label,
                &format!("{name:<19} {:>7}  {WORK}{bar}{WORK:#}", time(t)),
            );
            label = "";
        }
        page.row("", &format!("{:<19} {:>7}", "total", time(total)));
        page.gap();
        page.plain(&format!(
            "  {FAINT}For `treeqr solve` with one right-hand side; the prediction is exact for full rank.{FAINT:#}"
        ));
        page.text()
    }

    /// Codelets that occur, with the number of their tasks.
    fn tasks(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = CODELETS.iter().copied().zip(self.prediction.tasks);
        all.filter(|&(_, tasks)| tasks > 0)
    }

    fn json(&self) -> Value {
        let (s, p) = (&self.symbolic, &self.prediction);
        let tasks: Map<_, _> = self
            .tasks()
            .map(|(n, t)| (n.to_owned(), t.into()))
            .collect();
        let steps: Map<_, _> = s
            .steps()
            .iter()
            .map(|(name, t)| ((*name).to_owned(), t.as_secs_f64().into()))
            .collect();
        let (groups, tiled) = s.unit_counts();
        json!({
            "matrix": {"rows": s.nrows(), "cols": s.ncols(), "nnz": s.nnz()},
            "source": self.problem.source().to_string(),
            "problem": s.problem().name(),
            "ordering": s.ordering(),
            "ordering_why": s.ordering_why(),
            "threads": s.options().threads,
            "flops": p.flops,
            "nnz_r": s.nnz_r(),
            "nnz_h": s.nnz_h(),
            "fronts": s.fronts().len(),
            "depth": s.depth(),
            "singletons": s.singletons(),
            "dense_rows": dense::rows_json(s),
            "dense_columns": dense::columns_json(s),
            "groups": groups,
            "tiled_fronts": tiled,
            "predicted_peak_bytes": p.peak_bytes,
            "factor_bytes": p.factor_bytes,
            "kept": {
                "r": {"factor_bytes": self.kept[0].factor_bytes, "peak_bytes": self.kept[0].peak_bytes},
                "qr": {"factor_bytes": self.kept[1].factor_bytes, "peak_bytes": self.kept[1].peak_bytes},
            },
            "scratch_bytes_per_worker": p.scratch_bytes,
            "update_bytes": p.update_bytes,
            "tasks": tasks,
            "task_count": p.task_count(),
            "critical_path_flops": p.critical_path_flops,
            "average_parallelism": p.average_parallelism(),
            "times_s": {
                "read": self.read.as_secs_f64(),
                "analyse": self.analysed.as_secs_f64(),
                "total": (self.read + self.analysed).as_secs_f64(),
                "steps": steps,
            },
            "version": VERSION,
        })
    }
}
