//! The outcome as a page of text.

use super::super::analyse::{describe, describe_tree};
use super::super::bars::{bar, split};
use super::super::input::Precision;
use super::super::page::{FAINT, Page, TITLE, WARN, WORK};
use super::super::units::{count, percent, plural, si, three, time};
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
        self.answer.refined(&mut page);
        self.x(&mut page);
        page.text()
    }

    fn problem(&self, page: &mut Page) {
        let symbolic = &self.symbolic;
        describe(page, symbolic);
        self.terms(page);
        self.rhs.row(page);
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
        let how = match (self.precision, &self.answer.fallback) {
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

    fn times(&self, page: &mut Page) {
        let phases = [
            ("read", Some(self.read)),
            ("analyse", Some(self.analysed)),
            ("factorize", Some(self.factorize_time)),
            // A part of the one above.
            ("  rank", self.rank_time()),
            ("solve", Some(self.solve_time)),
            ("condition", self.condition_time),
        ];
        let mut label = "Time";
        for (name, t) in phases {
            let Some(t) = t else { continue };
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
        if let Some(page_time) = run.stats().allocations.dear_huge_page {
            let text = format!(
                "huge pages came slowly, one took {}: from then on small ones",
                time(page_time)
            );
            page.row("", &text);
        }
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
        if let Some(failure) = self.run.device_failure() {
            let text = format!("{failure}; {WARN}everything was computed again on the CPU{WARN:#}");
            page.prose("Device", &text);
        }
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
                    si((link.fetched_bytes + link.prefetched_bytes + link.peer_bytes) as f64, "B"),
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
        self.answer.figures(page, self.rhs.ncols);
        if let Some(path) = &self.output {
            page.row("", &format!("{:<22} {}", "written to", path.display()));
        }
        if let Some((path, bytes)) = &self.saved {
            let size = si(*bytes as f64, "B");
            page.row("factors", &format!("{:<22} {}", size, path.display()));
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
        self.answer.sentences(page);
    }
}

fn ratio(part: Duration, whole: Duration) -> f64 {
    part.as_secs_f64() / whole.as_secs_f64().max(1e-9)
}

/// A bar of what workers did, and the parts in figures.
fn occupancy(workers: &[&WorkerSummary]) -> String {
    let sum = |part: fn(&WorkerSummary) -> u64| workers.iter().map(|w| part(w)).sum::<u64>() as f64;
    let tasks = sum(|w| w.executing_ns);
    let runtime = sum(|w| w.runtime_ns);
    let idle = sum(|w| w.idle_ns + w.sleeping_ns);
    let all = (tasks + runtime + idle).max(1.0);
    let [t, r, i] = split([tasks, runtime, idle], WIDE);
    // In tasks too, but in those of others.
    let helping = match sum(|w| w.helping_ns) {
        0.0 => String::new(),
        ns => format!(", helping {:>6}", percent(ns / all)),
    };
    format!(
        "{WORK}{}{WORK:#}{WARN}{}{WARN:#}{FAINT}{}{FAINT:#}  tasks {:>5}, runtime {:>6}, idle {:>6}{helping}",
        "█".repeat(t),
        "▒".repeat(r),
        "░".repeat(i),
        percent(tasks / all),
        percent(runtime / all),
        percent(idle / all),
    )
}
