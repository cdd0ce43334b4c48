//! The outcome as a table of at most 100 columns: a block per matrix, a group of lines per number of threads.

use super::super::input::AnyProblem;
use super::super::page::{NAME, Page, TITLE, WARN, WORK, table_width};
use super::super::units::{count, plural, si, time};
use super::Plan;
use super::columns::{Column, Columns, Look, SIZES, SPEEDS, Scale, TIMES};
use super::compare::{Compared, Standing};
use super::measure::{Measured, Purpose};
use super::variant::{AXES, varying, words};
use std::time::Duration;
use treeqr::runtime::DeviceSpec;

/// `1`, `1 and 2`, `1, 2 and 4`.
fn listed(words: &[String]) -> String {
    match words {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        words => words.concat(),
    }
}

/// What will be run.
pub fn head(plan: &Plan, matrices: usize) -> String {
    let threads: Vec<_> = plan.threads.iter().map(ToString::to_string).collect();
    let schedulers = match &plan.schedulers[..] {
        [one] => one.name.to_owned(),
        all => format!("{} schedulers", all.len()),
    };
    let threads = format!(
        "{} {}",
        listed(&threads),
        if plan.threads == [1] {
            "thread"
        } else {
            "threads"
        }
    );
    let mut what = vec![plural(matrices, "matrix", "matrices"), schedulers, threads];
    if plan.variants.len() > 1 {
        what.push(plural(plan.variants.len(), "variant", "variants"));
    }
    let mut page = Page::default();
    page.title("Bench", &what.join(", "));
    page.indented_by_two(&format!(
        "{} each after {}",
        plural(plan.reps as usize, "repetition", "repetitions"),
        match plan.warmup {
            0 => "no warm-up".to_owned(),
            1 => "a warm-up".to_owned(),
            n => format!("{n} warm-ups"),
        },
    ));
    let same = AXES.iter().filter(|axis| {
        let differs = varying(&plan.variants).any(|other| other.name == axis.name);
        !differs && (axis.text)(&plan.variants[0]) != axis.usual
    });
    if !plan.share {
        page.indented_by_two("each task is one worker's");
    }
    let same = words(&plan.variants[0], same);
    if !same.is_empty() {
        page.indented_by_two(&format!("with {}", listed(&same)));
    }
    if plan.times_solve() {
        page.indented_by_two("times are those of factorization and solve");
    }
    for device in &plan.devices {
        page.plain(&format!("  {WARN}emulated{WARN:#} {}", described(device)));
    }
    for device in &plan.accelerators {
        let streams = plural(device.streams, "stream", "streams");
        page.indented_by_two(&format!(
            "with {}, {}, {streams}",
            device.name,
            device.device.name()
        ));
    }
    if !plan.devices.is_empty() {
        page.indented_by_two("all times are those of the emulated machine");
    }
    page.text()
}

/// `cuda0: 8 times a CPU worker (geqrt 0.5), 12.0 GB/s, latency 10.0 µs, 512 MB`.
fn described(device: &DeviceSpec) -> String {
    let others = device.speeds.iter();
    let others: Vec<_> = others
        .map(|(codelet, s)| format!("{codelet} {s}"))
        .collect();
    let others = match others.len() {
        0 => String::new(),
        _ => format!(" ({})", others.join(", ")),
    };
    format!(
        "{}: {} times a CPU worker{others}, {}, latency {}, {}",
        device.name,
        device.speed,
        si(device.bandwidth, "B/s"),
        time(Duration::from_nanos(device.latency_ns as u64)).trim_end(),
        si(device.memory_bytes as f64, "B"),
    )
}

/// The block of a matrix.
pub fn matrix(plan: &Plan, problem: &AnyProblem, measured: &Measured, all: &[Compared]) -> String {
    let mut page = Page::default();
    page.gap();
    describe(&mut page, problem, measured, all);
    page.gap();
    let label = all.iter().map(|one| one.scheduler.len()).max().unwrap_or(0);
    // Set in by four, and a mark.
    let columns = Columns::fitting(table_width(), 6 + label, columns(plan, all));
    columns.heads().iter().for_each(|line| page.plain(line));
    let mut number = 0;
    for group in all.chunk_by(|a, b| a.threads == b.threads) {
        let threads = plural(group[0].threads, "thread", "threads");
        page.plain(&format!("  {NAME}{threads}{NAME:#}"));
        let mut above = "";
        for one in group {
            let (style, mark) = match one.standing {
                Standing::Fastest => (WORK.bold(), "●"),
                Standing::NotTold => (WORK, "≈"),
                Standing::Slower | Standing::Alone => (anstyle::Style::new(), " "),
            };
            // Its bounds follow in lines of their own.
            let name = if one.scheduler == above {
                ""
            } else {
                one.scheduler
            };
            above = one.scheduler;
            page.plain(&columns.line(number, &format!("    {mark} {name}"), style));
            number += 1;
        }
    }
    notes(&mut page, plan, measured, all);
    page.text()
}

/// All columns that have something to say. Where the page is too narrow, those go first that others tell too.
fn columns(plan: &Plan, all: &[Compared]) -> Vec<Column> {
    let cells = |cell: &dyn Fn(&Compared) -> String| all.iter().map(cell).collect::<Vec<_>>();
    let times = Scale::of(&TIMES, all.iter().map(Compared::median_s));
    let speeds = Scale::of(&SPEEDS, all.iter().map(Compared::gflops));
    let sizes = Scale::of(&SIZES, all.iter().map(|one| one.peak_bytes as f64));
    let mut columns = Vec::new();
    for axis in varying(&plan.variants) {
        let text = |one: &Compared| (axis.text)(&plan.variants[one.variant]).to_owned();
        columns.push(Column::new(axis.head, "", cells(&text)).look(Look::OfTheLine));
    }
    let median = cells(&|one| times.text(one.median_s()));
    columns.push(Column::new("median", times.unit, median).look(Look::OfTheLine));
    if plan.times_solve() {
        let solve = cells(&|one| times.text(one.median_run.solve.as_secs_f64()));
        columns.push(Column::new("solve", times.unit, solve));
    }
    let range = cells(&|one| {
        let (min, max) = one.range_s();
        format!("{} – {}", times.text(min), times.text(max))
    });
    columns.push(Column::new("min – max", times.unit, range).spare(4));
    let iqr = cells(&|one| {
        let (q1, q3) = one.quartiles_s();
        times.text(q3 - q1)
    });
    columns.push(Column::new("iqr", times.unit, iqr).spare(3));
    if all.iter().any(|one| one.speedup.is_some()) {
        let text = |one: &Compared| one.speedup.map_or(String::new(), |s| format!("{s:.2}"));
        columns.push(Column::new("speedup", "", cells(&text)));
    }
    let gflops = cells(&|one| speeds.text(one.gflops()));
    columns.push(Column::new("GFlop/s", "", gflops).spare(2));
    let busy = cells(&|one| format!("{:.0}", 100.0 * one.median_run.occupancy));
    columns.push(Column::new("busy", "%", busy).spare(1));
    let peak = cells(&|one| sizes.text(one.peak_bytes as f64));
    columns.push(Column::new("peak", sizes.unit, peak));
    type Factor = fn(&Compared) -> Option<f64>;
    let factors: [(&str, Factor); 5] = [
        ("e", |one| one.efficiency.product()),
        ("gran", |one| one.efficiency.granularity),
        ("task", |one| one.efficiency.task),
        ("pipe", |one| one.efficiency.pipeline),
        ("runt", |one| one.efficiency.runtime),
    ];
    for (head, of) in factors {
        if all.iter().any(|one| of(one).is_some()) {
            let text = |one: &Compared| of(one).map_or("–".to_owned(), |f| format!("{f:.2}"));
            let look = if head == "e" { Look::Bold } else { Look::Plain };
            columns.push(Column::new(head, "", cells(&text)).look(look));
        }
    }
    columns
}

fn describe(page: &mut Page, problem: &AnyProblem, measured: &Measured, all: &[Compared]) {
    let s = &measured.symbolic;
    page.plain(&format!("{TITLE}{}{TITLE:#}", problem.source()));
    let flops = all[0].median_run.flops;
    page.plain(&format!(
        "  {} x {}, {}, {}, {}",
        count(s.nrows()),
        count(s.ncols()),
        plural(s.nnz(), "entry", "entries"),
        s.ordering(),
        si(flops as f64, "flop"),
    ));
    let seconds = |ns: u64| time(Duration::from_nanos(ns)).trim_end().to_owned();
    let Some(coarsest) = measured.coarsest_ns() else {
        return;
    };
    let (mut threads, mut times) = (Vec::new(), Vec::new());
    for group in all.chunk_by(|a, b| a.threads == b.threads) {
        if let Some(ns) = measured.one_worker_ns(group[0].threads) {
            threads.push(group[0].threads.to_string());
            times.push(seconds(ns));
        }
    }
    page.indented_by_two(&format!(
        "in tasks on one worker: {} with all fronts whole; as cut for {} {}: {}",
        seconds(coarsest),
        listed(&threads),
        if threads == ["1"] {
            "thread"
        } else {
            "threads"
        },
        listed(&times),
    ));
}

/// One line for each number of threads on who is the fastest, and what else must be known.
fn notes(page: &mut Page, plan: &Plan, measured: &Measured, all: &[Compared]) {
    let name = |one: &Compared| {
        let bounds = words(&plan.variants[one.variant], varying(&plan.variants));
        match (&plan.schedulers[..], &bounds[..]) {
            (_, []) => one.scheduler.to_owned(),
            ([_], bounds) => bounds.join(", "),
            (_, bounds) => format!("{} ({})", one.scheduler, bounds.join(", ")),
        }
    };
    let mut any = false;
    for group in all.chunk_by(|a, b| a.threads == b.threads) {
        let Some(best) = group.iter().find(|one| one.standing == Standing::Fastest) else {
            continue;
        };
        if !any {
            page.gap();
            any = true;
        }
        let not_told = group
            .iter()
            .filter(|one| one.standing == Standing::NotTold)
            .map(name)
            .collect::<Vec<_>>();
        let threads = plural(best.threads, "thread", "threads");
        let reps = plural(best.times_s.len(), "repetition", "repetitions");
        let name = name(best);
        page.indented_by_two(&if not_told.is_empty() {
            format!("{threads}: {name} is the fastest")
        } else if not_told.len() + 1 == group.len() {
            format!("{threads}: no difference that {reps} can show")
        } else {
            let others = not_told.join(", ");
            format!("{threads}: {name}; no difference to {others} that {reps} can show")
        });
    }
    let dropped: u64 = measured.samples.iter().map(|s| s.dropped).sum();
    if dropped > 0 {
        page.plain(&format!(
            "  {WARN}{} records did not fit: the splits lack their times{WARN:#}",
            count(dropped)
        ));
    }
    let mut fallbacks: Vec<_> = measured.samples.iter().filter_map(|s| s.fallback).collect();
    fallbacks.sort_unstable();
    fallbacks.dedup();
    for why in fallbacks {
        page.plain(&format!(
            "  {WARN}mixed precision was factorized again in double{WARN:#} ({why})"
        ));
    }
    let compared_with = |s: &&super::measure::Sample| s.purpose == Purpose::Coarsest;
    if measured.samples.iter().filter(compared_with).count() == 0 {
        page.indented_by_two(if !plan.accelerators.is_empty() {
            "no runs to compare with beside devices: no e, gran and task"
        } else if !plan.devices.is_empty() {
            "no runs to compare with on an emulated machine: no e, gran and task"
        } else if plan.precision().is_none() {
            "no runs to compare with in several precisions: no e, gran and task"
        } else {
            "no runs to compare with (--baselines 0): no e, gran and task"
        });
    }
}

/// What the marks and columns mean.
pub fn legend(plan: &Plan) -> String {
    let mut page = Page::default();
    page.gap();
    let mut faint = |text: &str| page.faint(text);
    if plan.schedulers.len() * plan.variants.len() > 1 {
        faint("● smallest median   ≈ not told from it (rank-sum test, 5 % over all comparisons)");
    }
    faint(
        "iqr: third less first quartile   busy: of the workers' time in tasks   peak: of all runs",
    );
    if plan.baselines > 0 {
        faint("e: time in tasks on one worker with all fronts whole, over workers x wall time");
        faint(
            "e = gran x task x pipe x runt: lost to cutting fronts, slower tasks, waiting, the runtime",
        );
    } else {
        faint("lost to pipe: waiting for ready tasks, runt: the runtime");
    }
    page.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_text() {
        let words = |n: usize| listed(&["1", "2", "4"].map(str::to_owned)[..n]);
        assert_eq!(
            [words(1), words(2), words(3)],
            ["1", "1 and 2", "1, 2 and 4"]
        );
    }
}
