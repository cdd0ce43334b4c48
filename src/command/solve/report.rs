//! The outcome as a page of text.

use super::super::analyse::{describe, describe_tree};
use super::super::bars::{bar, split};
use super::super::input::Precision;
use super::super::page::{FAINT, Page, TITLE, WARN, WORK};
use super::super::units::{count, norm, percent, plural, si, three, time};
use super::Outcome;
use std::time::Duration;
use treeqr::profiling::WorkerSummary;
use treeqr::solver::Priorities;

/// Columns of a bar.
const BAR: usize = 24;
/// Columns of a worker's bar.
const WIDE: usize = 36;
/// More workers than this are shown as one.
const WORKERS: usize = 16;

impl Outcome {
    /// The page.
    pub fn text(&self) -> String {
        let mut page = Page::default();
        page.title("Solved", &self.source.to_string());
        page.gap();
        self.problem(&mut page);
        page.gap();
        self.times(&mut page);
        page.gap();
        self.speed_and_memory(&mut page);
        self.priorities(&mut page);
        self.devices(&mut page);
        page.gap();
        self.tasks(&mut page);
        page.gap();
        self.workers(&mut page);
        page.gap();
        self.refined(&mut page);
        self.x(&mut page);
        page.text()
    }

    fn problem(&self, page: &mut Page) {
        let symbolic = &self.symbolic;
        describe(page, symbolic);
        self.terms(page);
        let b = match &self.rhs.source {
            None => format!(
                "all ones ({}), since no --rhs was given",
                count(self.rhs.nrows)
            ),
            Some(source) => match self.rhs.ncols {
                1 => source.to_string(),
                n => format!("{source}, {n} columns"),
            },
        };
        let split = match self.rhs.split {
            true => "; complex, solved as two real right-hand sides each",
            false => "",
        };
        page.row("b", &format!("{b}{split}"));
        if self.scalar != "f64" || self.precision != Precision::Double {
            page.row("Numbers", &self.numbers());
        }
        describe_tree(page, symbolic);
    }

    /// What was minimised besides.
    fn terms(&self, page: &mut Page) {
        let terms = &self.terms;
        if let Some(weights) = &terms.weights {
            page.row("Weights", &weights.to_string());
        }
        if let Some(damping) = terms.damping {
            let (m, n) = (count(terms.nrows), count(terms.ncols));
            let text = format!("λ = {damping}, λ² ‖x‖² beside the residuals of {m} x {n}");
            page.row("Damping", &text);
        }
        if terms.scale_columns {
            page.row("Scaling", "columns to norms of about 1");
        }
    }

    /// The scalar, and how the precisions share the work.
    fn numbers(&self) -> String {
        let how = match (self.precision, &self.fallback) {
            (Precision::Mixed, None) => ", factorized in single precision and refined",
            (Precision::Mixed, Some(_)) => ", factorized in double precision at last",
            _ => "",
        };
        let field = match self.scalar {
            "f64" => "real, double precision",
            "f32" => "real, single precision",
            "c64" => "complex, double precision",
            _ => "complex, single precision",
        };
        format!("{} ({field}){how}", self.scalar)
    }

    /// How x was refined, or why that failed.
    fn refined(&self, page: &mut Page) {
        if let Some(refinement) = &self.refinement
            && let Some(column) = refinement.columns.iter().max_by_key(|c| c.corrections)
        {
            let sizes = column.steps.iter().map(|s| format!("{:.0e}", s.correction));
            let steps = plural(refinement.corrections(), "correction", "corrections");
            let sizes: Vec<_> = sizes.collect();
            page.prose("Refined", &format!("{steps}: {}", sizes.join(", ")));
        }
        if let Some(why) = &self.fallback {
            page.row(
                "",
                &format!("{WARN}factorized again in double{WARN:#}: {why}"),
            );
        }
    }

    fn times(&self, page: &mut Page) {
        let phases = [
            ("read", self.read),
            ("analyse", self.analysed),
            ("factorize", self.factorize_time),
            ("solve", self.solve_time),
        ];
        let mut label = "Time";
        for (name, t) in phases {
            let part = ratio(t, self.total);
            let shown = percent(part);
            page.row(
                label,
                &format!(
                    "{name:<10} {:>8}  {WORK}{}{WORK:#} {shown:>6}",
                    time(t),
                    bar(part, BAR)
                ),
            );
            label = "";
        }
        let total = format!("{:>8}", time(self.total));
        let total = total.trim_end();
        page.row("", &format!("{:<10} {TITLE}{total}{TITLE:#}", "total"));
    }

    fn speed_and_memory(&self, page: &mut Page) {
        let run = &self.run;
        let (predicted, done) = (run.prediction().flops, self.summary.flops);
        let flops = if predicted == done {
            format!("{}, exactly as predicted", si(done as f64, "flop"))
        } else {
            format!(
                "{}, predicted {}",
                si(done as f64, "flop"),
                si(predicted as f64, "flop")
            )
        };
        page.row("Work", &flops);
        let threads = run.stats().threads;
        page.row(
            "Speed",
            &format!(
                "{TITLE}{}{TITLE:#}, {} of {} (matrix products here on {}, measured)",
                si(1e9 * self.gflops(), "Flop/s"),
                percent(self.gflops() / self.peak),
                si(1e9 * self.peak, "Flop/s"),
                plural(threads, "thread", "threads"),
            ),
        );
        page.row(
            "Memory",
            &format!(
                "{} at the peak, predicted {} for a sequential run",
                si(run.stats().peak_bytes as f64, "B"),
                si(run.prediction().peak_bytes as f64, "B"),
            ),
        );
    }

    /// Where priorities came from, if that was asked for.
    fn priorities(&self, page: &mut Page) {
        let run = &self.run;
        let report = run.priorities();
        if report.by == Priorities::Models {
            let (known, all) = (report.from_models, run.stats().tasks);
            let text = format!(
                "from cost models for {} of {} tasks",
                count(known),
                count(all)
            );
            page.row("Priority", &text);
        }
        if let Some(reason) = &report.ignored {
            page.row(
                "",
                &format!("{WARN}the models are not used{WARN:#}: {reason}"),
            );
        }
    }

    /// What ran where; what was emulated is said before any figure that depends on it is believed.
    fn devices(&self, page: &mut Page) {
        let stats = self.run.stats();
        for device in &stats.devices {
            let link = &device.link;
            let word = if device.emulated { ", emulated" } else { "" };
            let model = device.model.as_ref().map(|m| format!(" ({m})"));
            page.row(
                "Device",
                &format!(
                    "{}{}{WARN}{word}{WARN:#}: {} tasks, {} to it, {} back, {} evictions, {} at the peak",
                    device.name,
                    model.unwrap_or_default(),
                    count(device.tasks),
                    si((link.fetched_bytes + link.prefetched_bytes) as f64, "B"),
                    si((link.returned_bytes + link.written_back_bytes) as f64, "B"),
                    count(link.evictions),
                    si(link.peak_bytes as f64, "B"),
                ),
            );
        }
        if stats.time_scale > 1.0 {
            let emulated = stats.elapsed.div_f64(stats.time_scale);
            page.row(
                "",
                &format!(
                    "in slow motion by {}: on the emulated machine the tasks take {}",
                    three(stats.time_scale),
                    time(emulated)
                ),
            );
        }
    }

    fn tasks(&self, page: &mut Page) {
        let head = format!(
            "{FAINT}{:<12} {:>10} {:>8} {:>7} {:>14}{FAINT:#}",
            "", "count", "time", "share", "speed"
        );
        page.row("Tasks", &head);
        for c in &self.summary.codelets {
            let speed = if c.flops == 0 {
                "–".to_owned()
            } else {
                si(1e9 * c.gflops(), "Flop/s")
            };
            page.row(
                "",
                &format!(
                    "{:<12} {:>10} {:>8} {:>7} {speed:>14}  {WORK}{}{WORK:#}",
                    c.name,
                    count(c.count),
                    time(Duration::from_nanos(c.time_ns)),
                    percent(c.share),
                    bar(c.share, BAR).trim_end(),
                ),
            );
        }
    }

    fn workers(&self, page: &mut Page) {
        let summary = &self.summary;
        page.row(
            "Workers",
            &format!(
                "{} by the scheduler {}, {} of their time in tasks",
                summary.workers.len(),
                summary.scheduler,
                percent(summary.occupancy)
            ),
        );
        if summary.workers.len() <= WORKERS {
            for w in &summary.workers {
                page.row("", &format!("{:>3}  {}", w.worker, occupancy(&[w])));
            }
        } else {
            let all: Vec<_> = summary.workers.iter().collect();
            page.row("", &format!("all  {}", occupancy(&all)));
        }
        let tasks: u64 = summary.codelets.iter().map(|c| c.count).sum();
        let in_tasks: u64 = summary.codelets.iter().map(|c| c.time_ns).sum();
        let cost = tasks as f64 * summary.ns_per_record / (in_tasks as f64).max(1.0);
        let mut more = match summary.spilled_bytes {
            0 => String::new(),
            n => format!("; {} through a file", si(n as f64, "B")),
        };
        if summary.dropped > 0 {
            let reason = summary.drop_reason.as_ref();
            let reason = reason.map_or(String::new(), |reason| format!(", since {reason}"));
            more += &format!("; {WARN}{} dropped{WARN:#}{reason}", count(summary.dropped));
        }
        page.row(
            "Recorder",
            &format!(
                "{} records, {}, {} ns a task: {} of the time in tasks{more}",
                count(summary.kept),
                si(summary.record_bytes as f64, "B"),
                three(summary.ns_per_record),
                percent(cost),
            ),
        );
    }

    fn x(&self, page: &mut Page) {
        let q = &self.verdict.worst;
        let each = match self.rhs.ncols {
            1 => String::new(),
            n => format!("   {FAINT}the largest of {} columns{FAINT:#}", count(n)),
        };
        let relative = if q.consistent {
            "‖r‖ / (‖A‖ ‖x‖ + ‖b‖)"
        } else {
            "‖Aᵀr‖ / (‖A‖ ‖r‖)"
        };
        if self.rank.is_remarkable() {
            let rank = &self.rank.rank;
            let all = rank.rank + rank.dead.len();
            let mut text = format!("{} of {}", count(rank.rank), count(all));
            if !rank.is_full() {
                text += &format!(", ‖dropped‖ {}", norm_short(rank.dropped_norm));
            }
            text += &format!(
                ", smallest pivot {}, tolerance {}",
                norm_short(rank.smallest_pivot),
                norm_short(rank.tolerance)
            );
            page.row("Rank", &text);
            if let Some(checked) = self.rank.checked() {
                page.row("", &checked);
            }
        }
        let mut figure = |label, what: &str, value: &str, end: &str| {
            page.row(label, &format!("{what:<22} {TITLE}{value}{TITLE:#}{end}"));
        };
        figure("x", "‖x‖", &norm(q.solution_norm), &each);
        figure("", "‖r‖, r = b − A x", &norm(q.residual_norm), "");
        if let Some(condition) = self.verdict.condition {
            figure("", "condition of A, about", &norm_short(condition), "");
        }
        if let Some(r_squared) = self.r_squared {
            figure("", "R²", &format!("{r_squared:.6}"), "");
        }
        figure("", relative, &norm_short(q.normal_residual), "");
        if let Some(path) = &self.output {
            page.row("", &format!("{:<22} {}", "written to", path.display()));
        }
        if let Some((path, manifest)) = &self.kept.traced {
            let bytes: u64 = manifest.tables.iter().map(|table| table.bytes).sum();
            let size = si(bytes as f64, "B");
            page.row("trace", &format!("{:<22} {}", size, path.display()));
        }
        if let Some((path, bytes)) = &self.kept.reported {
            let size = si(*bytes as f64, "B");
            page.row("report", &format!("{:<22} {}", size, path.display()));
        }
        page.gap();
        let (style, sentence) = self.verdict.sentence(&self.doubts());
        page.sentence(style, &sentence);
        if let Some(sentence) = self.rank.sentence() {
            page.sentence(WARN, &sentence);
        }
        for warning in self.warnings() {
            page.sentence(WARN, &warning);
        }
    }
}

fn ratio(part: Duration, whole: Duration) -> f64 {
    part.as_secs_f64() / whole.as_secs_f64().max(1e-9)
}

/// Two digits are enough to judge.
fn norm_short(x: f64) -> String {
    if x == 0.0 {
        "0".to_owned()
    } else {
        format!("{x:.1e}")
    }
}

/// A bar of what workers did, and the parts in figures.
fn occupancy(workers: &[&WorkerSummary]) -> String {
    let sum = |part: fn(&WorkerSummary) -> u64| workers.iter().map(|w| part(w)).sum::<u64>() as f64;
    let tasks = sum(|w| w.executing_ns);
    let runtime = sum(|w| w.runtime_ns);
    let idle = sum(|w| w.idle_ns + w.sleeping_ns);
    let all = (tasks + runtime + idle).max(1.0);
    let [t, r, i] = split([tasks, runtime, idle], WIDE);
    format!(
        "{WORK}{}{WORK:#}{WARN}{}{WARN:#}{FAINT}{}{FAINT:#}  tasks {:>5}, runtime {:>6}, idle {:>6}",
        "█".repeat(t),
        "▒".repeat(r),
        "░".repeat(i),
        percent(tasks / all),
        percent(runtime / all),
        percent(idle / all),
    )
}
