//! The outcome as a table of at most 100 columns: a block per matrix, a group of lines per number of threads.

use super::super::input::Problem;
use super::super::page::{FAINT, NAME, Page, TITLE, WARN, WORK};
use super::super::units::{count, plural, si, time};
use super::Plan;
use super::compare::{Compared, Standing};
use super::measure::{Measured, Purpose};
use std::time::Duration;

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    unit: &'static str,
    /// How many of the unit are in one of the base unit.
    factor: f64,
    decimals: usize,
}

const TIMES: [(&str, f64); 3] = [("s", 1.0), ("ms", 1e3), ("µs", 1e6)];
const SPEEDS: [(&str, f64); 1] = [("", 1.0)];
const SIZES: [(&str, f64); 4] = [("GB", 1e-9), ("MB", 1e-6), ("kB", 1e-3), ("B", 1.0)];

impl Scale {
    /// The first unit in which the smallest value is at least 1, and three digits of it.
    fn of(units: &[(&'static str, f64)], values: impl Iterator<Item = f64>) -> Self {
        let smallest = values.fold(f64::INFINITY, f64::min);
        let fits = units.iter().find(|u| smallest * u.1 >= 1.0);
        let &(unit, factor) = fits.unwrap_or(&units[units.len() - 1]);
        let decimals = match smallest * factor {
            x if x >= 99.5 => 0,
            x if x >= 9.95 => 1,
            _ => 2,
        };
        Scale {
            unit,
            factor,
            decimals,
        }
    }

    fn text(&self, value: f64) -> String {
        format!("{:.*}", self.decimals, value * self.factor)
    }
}

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
    let mut page = Page::default();
    page.title(
        "Bench",
        &format!(
            "{}, {schedulers}, {} {}: {} each after {}",
            plural(matrices, "matrix", "matrices"),
            listed(&threads),
            if plan.threads == [1] {
                "thread"
            } else {
                "threads"
            },
            plural(plan.reps as usize, "repetition", "repetitions"),
            match plan.warmup {
                0 => "no warm-up".to_owned(),
                1 => "a warm-up".to_owned(),
                n => format!("{n} warm-ups"),
            },
        ),
    );
    page.text()
}

/// The block of a matrix.
pub fn matrix(problem: &Problem, measured: &Measured, all: &[Compared]) -> String {
    let mut page = Page::default();
    page.gap();
    describe(&mut page, problem, measured, all);
    page.gap();
    let scales = Scales {
        times: Scale::of(&TIMES, all.iter().map(Compared::median_s)),
        speeds: Scale::of(&SPEEDS, all.iter().map(Compared::gflops)),
        sizes: Scale::of(&SIZES, all.iter().map(|one| one.peak_bytes as f64)),
    };
    let heads = ["e", "gran", "task", "pipe", "runt"].map(|head| format!("{head:>5}"));
    page.plain(&format!(
        "{FAINT}{:16}{:>8}{:>18}{:>7}{:>9}{:>6}{:>8} {}{FAINT:#}",
        "",
        "median",
        "min – max",
        "iqr",
        "GFlop/s",
        "busy",
        "peak",
        heads.concat()
    ));
    let (time, size) = (scales.times.unit, scales.sizes.unit);
    page.plain(&format!(
        "{FAINT}{:16}{time:>8}{time:>18}{time:>7}{:>9}{:>6}{size:>8}{FAINT:#}",
        "", "", "%"
    ));
    for group in all.chunk_by(|a, b| a.threads == b.threads) {
        let threads = plural(group[0].threads, "thread", "threads");
        page.plain(&format!("  {NAME}{threads}{NAME:#}"));
        for one in group {
            page.plain(&line(one, &scales));
        }
    }
    notes(&mut page, measured, all);
    page.text()
}

fn describe(page: &mut Page, problem: &Problem, measured: &Measured, all: &[Compared]) {
    let s = &measured.symbolic;
    page.plain(&format!("{TITLE}{}{TITLE:#}", problem.source));
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

/// How the columns of a block are written.
struct Scales {
    times: Scale,
    speeds: Scale,
    sizes: Scale,
}

fn line(one: &Compared, scales: &Scales) -> String {
    let (style, mark) = match one.standing {
        Standing::Fastest => (WORK.bold(), "●"),
        Standing::NotTold => (WORK, "≈"),
        Standing::Slower | Standing::Alone => (anstyle::Style::new(), " "),
    };
    let times = &scales.times;
    let ((min, max), (q1, q3)) = (one.range_s(), one.quartiles_s());
    let range = format!("{} – {}", times.text(min), times.text(max));
    let e = &one.efficiency;
    let parts = [e.granularity, e.task, e.pipeline, e.runtime].map(factor);
    format!(
        "    {style}{mark} {:<10}{:>8}{style:#}{range:>18}{:>7}{:>9}{:>6.0}{:>8} {TITLE}{}{TITLE:#}{}",
        one.scheduler,
        times.text(one.median_s()),
        times.text(q3 - q1),
        scales.speeds.text(one.gflops()),
        100.0 * one.median_run.occupancy,
        scales.sizes.text(one.peak_bytes as f64),
        factor(e.product()),
        parts.concat(),
    )
}

/// ` 0.98`, or a dash for what was not measured; in five columns.
fn factor(value: Option<f64>) -> String {
    value.map_or("    –".to_owned(), |v| format!("{v:>5.2}"))
}

/// One line for each number of threads on who is the fastest, and what else must be known.
fn notes(page: &mut Page, measured: &Measured, all: &[Compared]) {
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
            .map(|one| one.scheduler)
            .collect::<Vec<_>>();
        let threads = plural(best.threads, "thread", "threads");
        let reps = plural(best.times_s.len(), "repetition", "repetitions");
        let name = best.scheduler;
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
    let compared_with = |s: &&super::measure::Sample| s.purpose == Purpose::Coarsest;
    if measured.samples.iter().filter(compared_with).count() == 0 {
        page.indented_by_two("no runs to compare with (--baselines 0): no e, gran and task");
    }
}

/// What the marks and columns mean.
pub fn legend(plan: &Plan) -> String {
    let mut page = Page::default();
    page.gap();
    let mut faint = |text: &str| page.plain(&format!("  {FAINT}{text}{FAINT:#}"));
    if plan.schedulers.len() > 1 {
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
    fn columns_have_a_unit_and_digits_that_suit_their_smallest_value() {
        let of = |units, values: &[f64]| Scale::of(units, values.iter().copied());
        assert_eq!(of(&TIMES, &[12.0, 0.5]).text(12.0), "12000");
        assert_eq!(of(&TIMES, &[12.0]).text(0.25), "0.2");
        assert_eq!(of(&TIMES, &[1e-9]).unit, "µs");
        let size = of(&SIZES, &[2.5e7, 1e9]);
        assert_eq!((size.unit, size.text(1e9).as_str()), ("MB", "1000.0"));
    }

    #[test]
    fn lists_read_as_text() {
        let words = |n: usize| listed(&["1", "2", "4"].map(str::to_owned)[..n]);
        assert_eq!(
            [words(1), words(2), words(3)],
            ["1", "1 and 2", "1, 2 and 4"]
        );
    }
}
