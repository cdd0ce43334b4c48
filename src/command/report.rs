//! `treeqr report`: a run on one screen of a terminal: headline, a small Gantt chart, memory and ready tasks over time; or as a page
//! for a browser, which `html` writes.

use super::compared;
use super::failure::Failure;
use super::findings;
use super::hints;
use super::html::HtmlArgs;
use super::page::{self, BAD, FAINT, NAME, Page, TITLE, WARN};
use super::plot;
use super::trace::{failure, open_whole};
use super::units::{count, percent, plural, si, time};
use anstyle::{RgbColor, Style};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use treeqr::profiling::inspect::Balance;
use treeqr::profiling::palette::{Colour, codelet};
use treeqr::profiling::panels::grid::Grid;
use treeqr::profiling::trace::{Status, Trace};

/// Show a run in the terminal, or as a page for a browser: why it took the time it took
#[derive(Args)]
#[command(after_help = "Examples:
  treeqr report A.trace
  treeqr report A.trace | less -R
  treeqr report A.trace -o A.html --open
  treeqr report A.trace B.trace
  treeqr report A.trace B.trace -o compared.html

The page needs no network; docs/report.md tells what one sees. Two traces are shown above each
other, on one axis of time; in the terminal they are compared in tables: whole runs, codelets,
tree nodes, tasks that were slow in both or in one.

In the terminal, a block of the chart is a stretch of time of one worker, with the colour of the
codelet that had most of it; the less of the stretch went into tasks, the lower the block.")]
pub struct ReportArgs {
    /// The trace, or two
    #[arg(value_name = "TRACE", required = true, num_args = 1..=2)]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub html: HtmlArgs,
    /// Print the text also where a page is written
    #[arg(long)]
    pub text: bool,
}

/// Columns left of a chart.
const LABEL: usize = 15;
/// And right of it.
const AFTER: usize = 8;
/// More workers than this are put together in rows.
const ROWS: usize = 32;
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Prints it, or writes the page.
pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    let target = args.html.target()?;
    let traces: Vec<Trace> = (args.traces.iter())
        .map(|path| open_whole(path))
        .collect::<Result<_, _>>()?;
    let mut page = Page::default();
    if let Some(path) = &target {
        let traces: Vec<&Trace> = traces.iter().collect();
        args.html.write(&traces, &args.traces, path, &mut page)?;
    }
    if args.text || target.is_none() {
        if target.is_some() {
            page.gap();
        }
        match (&traces[..], &args.traces[..]) {
            ([a, b], [x, y]) => compared::rows(&mut page, [x, y], [a, b])?,
            (traces, _) => text(&mut page, &traces[0])?,
        }
    }
    page::print(&page.text())
}

/// One run.
fn text(page: &mut Page, trace: &Trace) -> Result<(), Failure> {
    let columns = page::table_width().clamp(60, 200) - LABEL - AFTER;
    let grid = Grid::of(trace, columns).map_err(plot::failure)?;
    page.title("Run", trace.manifest.matrix_name());
    page.gap();
    headline(page, trace)?;
    findings::rows(page, trace);
    hints::rows(page, trace);
    page.gap();
    chart(page, &grid);
    legend(page, &grid);
    page.gap();
    let manifest = &trace.manifest;
    let limit = manifest.run.memory_limit_bytes;
    let peak = grid.memory.iter().copied().fold(0.0, f64::max);
    let mut said = format!("at most {}", si(peak, "B"));
    if let Some(limit) = limit {
        said += &format!(", limit {}", si(limit as f64, "B"));
    }
    if let Some(bytes) = manifest.predicted("peak_bytes") {
        said += &format!("; {} sequentially", si(bytes as f64, "B"));
    }
    spark(page, "Memory", &grid.memory, codelet("tpmqrt"), &said);
    page.gap();
    let most = grid.ready.iter().copied().fold(0.0, f64::max);
    let said = format!(
        "at most {}; {} of the time fewer to do than workers",
        plural(most as usize, "task", "tasks"),
        percent(grid.few)
    );
    spark(page, "Ready", &grid.ready, codelet("init_front"), &said);
    Ok(())
}

fn headline(page: &mut Page, trace: &Trace) -> Result<(), Failure> {
    let manifest = &trace.manifest;
    let side = |key: &str| manifest.matrix.get(key)?.as_u64();
    if let (Some(rows), Some(cols), Some(entries)) = (side("rows"), side("cols"), side("entries")) {
        let text = format!(
            "{} x {}, {} entries",
            count(rows),
            count(cols),
            count(entries)
        );
        page.row("Matrix", &text);
    }
    let tasks = &trace.tables.tasks;
    let balance = Balance::of(trace).map_err(failure)?;
    let took = time(Duration::from_nanos(balance.makespan_ns));
    let run = &manifest.run;
    page.row(
        "Run",
        &format!(
            "{TITLE}{}{TITLE:#} for {}, {} with the scheduler {}",
            took.trim_end(),
            plural(tasks.len(), "task", "tasks"),
            plural(balance.workers.len(), "worker", "workers"),
            run.scheduler,
        ),
    );
    for (k, part) in balance.parts.iter().enumerate() {
        let speed = part.flops as f64 / part.makespan_ns.max(1) as f64 * 1e9;
        let told = match part.flops {
            // They were not known before.
            0 => "flops not counted".to_owned(),
            flops => format!(
                "{TITLE}{}{TITLE:#}, {}",
                si(speed, "Flop/s"),
                si(flops as f64, "flop")
            ),
        };
        let told = match balance.parts.len() {
            1 => told,
            _ => {
                let took = time(Duration::from_nanos(part.makespan_ns));
                format!("{told}: {} in {}", part.name, took.trim_end())
            }
        };
        page.row(if k == 0 { "Speed" } else { "" }, &told);
    }
    let of_all: u64 = balance.workers.iter().map(|w| w.time_ns).sum();
    let part = |of: fn(&treeqr::profiling::inspect::WorkerBalance) -> u64| {
        let sum: u64 = balance.workers.iter().map(of).sum();
        percent(sum as f64 / of_all.max(1) as f64)
    };
    let helping = match balance.workers.iter().any(|w| w.helping_ns > 0) {
        true => format!(" ({} in others')", part(|w| w.helping_ns)),
        false => String::new(),
    };
    let data = match balance.workers.iter().any(|w| w.transferring_ns > 0) {
        true => format!(", {} waiting for data", part(|w| w.transferring_ns)),
        false => String::new(),
    };
    page.row(
        "Workers",
        &format!(
            "{TITLE}{}{TITLE:#} of their time in tasks{helping}, {} idle{data}, {} in the runtime",
            percent(balance.occupancy),
            part(|w| w.idle_ns + w.sleeping_ns + w.scheduling_ns),
            part(|w| w.runtime_ns),
        ),
    );
    for (waited, what) in [
        (balance.window_full_ns, "tasks to become fewer"),
        (balance.memory_full_ns, "memory"),
    ] {
        if waited > 0 {
            let waited = time(Duration::from_nanos(waited));
            let text = format!("the submission waited {} for {what}", waited.trim_end());
            page.row("", &text);
        }
    }
    if run.time_scale != 1.0 {
        let devices = run.devices.join(", ");
        let text = format!(
            "emulated: {devices}; times are stretched by {}",
            run.time_scale
        );
        page.row("Device", &text);
    }
    match &manifest.status {
        Status::Complete => {}
        Status::Cancelled => page.row("Status", &format!("{WARN}cancelled{WARN:#}")),
        Status::Failed(why) => {
            page.row("Status", &format!("{BAD}failed{BAD:#}"));
            page.prose("", why);
        }
    }
    Ok(())
}

fn style(colour: Colour) -> Style {
    let rgb = RgbColor(colour.red, colour.green, colour.blue);
    Style::new().fg_color(Some(rgb.into()))
}

/// A line of the chart: like page rows, but for the label's colour.
fn line(page: &mut Page, label: &str, body: &str, after: &str) {
    let room = LABEL - 3;
    let label: String = label.chars().take(room).collect();
    let text = format!("  {NAME}{label:<room$}{NAME:#} {body} {after}");
    page.plain(text.trim_end());
}

/// One row a worker: a block's colour by the codelet, its height by how much of the time went into tasks.
fn chart(page: &mut Page, grid: &Grid) {
    for row in grid.rows.iter().take(ROWS) {
        let mut body = String::new();
        let mut open: Option<Style> = None;
        for cell in &row.cells {
            let (wanted, block) = match cell.codelet {
                Some(k) if cell.busy > 0.0 => {
                    let eighths = (8.0 * cell.busy).round().clamp(1.0, 8.0) as usize;
                    (Some(style(grid.codelets[k].1)), EIGHTHS[eighths])
                }
                _ => (None, ' '),
            };
            if wanted != open {
                if open.is_some() {
                    body += &format!("{:#}", open.unwrap_or_default());
                }
                if let Some(style) = wanted {
                    body += &style.to_string();
                }
                open = wanted;
            }
            body.push(block);
        }
        if let Some(style) = open {
            body += &format!("{style:#}");
        }
        line(
            page,
            &row.name,
            &body,
            &format!("{FAINT}{:>5}{FAINT:#}", percent(row.busy)),
        );
    }
    if grid.rows.len() > ROWS {
        let text = format!(
            "and {} more",
            plural(grid.rows.len() - ROWS, "worker", "workers")
        );
        page.row("", &text);
    }
    let columns = grid.memory.len();
    let end = time(Duration::from_nanos(grid.run_ns));
    let end = end.trim_end();
    let axis = format!(
        "0{:─^1$}{end}",
        "",
        columns.saturating_sub(1 + end.chars().count())
    );
    line(page, "", &format!("{FAINT}{axis}{FAINT:#}"), "");
}

fn legend(page: &mut Page, grid: &Grid) {
    let room = grid.memory.len() + AFTER;
    let mut body = String::new();
    let mut used = 0;
    for (name, colour) in &grid.codelets {
        let wide = name.chars().count() + 4;
        if used + wide > room {
            line(page, "", body.trim_end(), "");
            (body, used) = (String::new(), 0);
        }
        let style = style(*colour);
        body += &format!("{style}██{style:#} {name} ");
        used += wide;
    }
    line(page, "", &body, "");
}

/// Values over time as blocks, two lines high.
fn spark(page: &mut Page, label: &str, values: &[f64], colour: Colour, said: &str) {
    let most = values
        .iter()
        .copied()
        .fold(0.0, f64::max)
        .max(f64::MIN_POSITIVE);
    let style = style(colour);
    let sixteenths = |value: f64| {
        let height = (16.0 * value / most).round() as usize;
        if value > 0.0 { height.max(1) } else { 0 }
    };
    for (upper, label) in [(true, label), (false, "")] {
        let block = |value: &f64| match (sixteenths(*value), upper) {
            (height, true) => EIGHTHS[height.saturating_sub(8)],
            (height, false) => EIGHTHS[height.min(8)],
        };
        let body: String = values.iter().map(block).collect();
        line(page, label, &format!("{style}{body}{style:#}"), "");
    }
    line(page, "", &format!("{FAINT}{said}{FAINT:#}"), "");
}
