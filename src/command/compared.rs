//! `treeqr report A B` in a terminal: two runs side by side, in tables of at most 80 columns.
//!
//! Takes two traces; gives rows of a page. The figures are those of `profiling::compare`.

use super::failure::Failure;
use super::page::{FAINT, Page, TITLE, WARN};
use super::trace::diff::{judged, relative, shown, signed};
use super::units::{count, plural, three};
use anstyle::Style;
use std::path::Path;
use treeqr::profiling::compare::{
    AnomaliesCompared, CodeletCompared, Comparison, MatchedBy, NodeCompared, PairedTask, compare,
};
use treeqr::profiling::inspect::Figure;
use treeqr::profiling::trace::Trace;

/// Tree nodes that are told, and tasks of a list.
const TOLD: usize = 8;
/// Less of both runs' time than this part is not told of a cause.
const SMALL: f64 = 0.001;

/// Adds the rows.
pub fn rows(page: &mut Page, names: [&Path; 2], traces: [&Trace; 2]) -> Result<(), Failure> {
    let found = compare(traces[0], traces[1]).map_err(Failure::input)?;
    page.title(
        "Compared",
        &format!("{} with {}", names[0].display(), names[1].display()),
    );
    page.gap();
    for (label, trace) in ["First", "Second"].into_iter().zip(traces) {
        let run = &trace.manifest.run;
        let workers = plural(trace.tables.workers.len(), "worker", "workers");
        let name = trace.manifest.matrix_name();
        page.row(label, &format!("{name}, {workers}, {}", run.scheduler));
    }
    for note in &found.notes {
        page.prose("Note", note);
    }
    matched(page, &found);
    page.gap();
    headline(page, &found.headline);
    page.gap();
    codelets(page, &found.codelets);
    if !found.nodes.is_empty() {
        page.gap();
        nodes(page, &found.nodes);
    }
    if found.matched.by != MatchedBy::Nothing {
        page.gap();
        anomalies(page, &found.anomalies);
    }
    Ok(())
}

fn matched(page: &mut Page, found: &Comparison) {
    let m = &found.matched;
    let how = match m.by {
        MatchedBy::Number => "they submitted the same tasks",
        MatchedBy::Place => "by node, codelet and tile",
        MatchedBy::Nothing => return,
    };
    let mut text = format!("{} ({how})", plural(m.tasks as usize, "task", "tasks"));
    if m.only != [0, 0] {
        let [a, b] = m.only.map(count);
        text += &format!("; {a} only in the first, {b} only in the second");
    }
    page.prose("Shared", &text);
}

fn head(page: &mut Page, label: &str, text: &str) {
    page.row(label, &format!("{FAINT}{text}{FAINT:#}"));
}

fn headline(page: &mut Page, figures: &[Figure]) {
    let [a, b, d] = ["first", "second", "difference"];
    head(
        page,
        "Whole",
        &format!("{:<20} {a:>12} {b:>12} {d:>12}", ""),
    );
    let time = figures.iter().find(|f| f.name == "time in tasks");
    let all = time.map_or(0.0, |f| f.a.max(f.b));
    for figure in figures {
        let small = figure.name.starts_with("idle") && figure.a.max(figure.b) < SMALL * all;
        if small || (figure.a, figure.b) == (0.0, 0.0) {
            continue;
        }
        let [a, b] = [figure.a, figure.b].map(|x| shown(figure.unit, x));
        let worse = match figure.unit {
            "ns" | "bytes" => judged(figure.difference(), figure.relative()),
            "GFlop/s" => judged(-figure.difference(), figure.relative()),
            _ => FAINT,
        };
        let difference = match figure.unit {
            // Parts of a whole differ by parts.
            "1" => signed(figure.unit, figure.difference()),
            _ => format!("{:>9}", relative(figure.relative())),
        };
        let name = &figure.name;
        page.row(
            "",
            &format!("{name:<20} {a:>12} {b:>12} {worse}{difference:>12}{worse:#}"),
        );
    }
}

fn both(tasks: [u64; 2]) -> String {
    match tasks {
        [a, b] if a == b => count(a),
        [a, b] => format!("{}→{}", count(a), count(b)),
    }
}

/// Time in both, and what is between them.
fn times(time_ns: [u64; 2], difference_ns: i64) -> String {
    let [a, b] = time_ns.map(|ns| shown("ns", ns as f64));
    let part = (time_ns[0] > 0).then(|| difference_ns as f64 / time_ns[0] as f64);
    let style = judged(difference_ns as f64, part);
    let difference = signed("ns", difference_ns as f64);
    format!("{a:>9} {b:>9} {style}{difference:>10}{style:#}")
}

fn codelets(page: &mut Page, codelets: &[CodeletCompared]) {
    let [n, a, b, d, m] = ["tasks", "first", "second", "difference", "median"];
    head(
        page,
        "Codelets",
        &format!("{:<12} {n:>10} {a:>9} {b:>9} {d:>10} {m:>8}", ""),
    );
    for c in codelets {
        let median = c
            .median_ratio
            .map_or(String::new(), |r| format!("x {r:.2}"));
        let style = c
            .median_ratio
            .map_or(FAINT, |r| judged(r - 1.0, Some(r - 1.0)));
        let (n, t) = (both(c.tasks), times(c.time_ns, c.difference_ns));
        page.row(
            "",
            &format!("{:<12} {n:>10} {t} {style}{median:>8}{style:#}", c.codelet),
        );
    }
    if codelets.iter().any(|c| c.pairs > 0) {
        head(
            page,
            "",
            "median: of the same task in the second run over the first",
        );
    }
}

fn nodes(page: &mut Page, nodes: &[NodeCompared]) {
    let [n, a, b, d, l] = ["tasks", "first", "second", "difference", "life"];
    head(
        page,
        "Tree nodes",
        &format!("{:<12} {n:>10} {a:>9} {b:>9} {d:>10} {l:>10}", ""),
    );
    for node in nodes.iter().take(TOLD) {
        let life = node
            .life_difference_ns()
            .map_or(String::new(), |ns| signed("ns", ns as f64));
        let (n, t) = (both(node.tasks), times(node.time_ns, node.difference_ns));
        page.row("", &format!("{:<12} {n:>10} {t} {life:>10}", node.node));
    }
    more(page, nodes.len());
}

fn more(page: &mut Page, all: usize) {
    if all > TOLD {
        head(page, "", &format!("and {} more", count(all - TOLD)));
    }
}

fn anomalies(page: &mut Page, found: &AnomaliesCompared) {
    let text = format!(
        "{} in both ({:.1} by chance), {} only in the first, {} only in the second",
        count(found.both.len()),
        found.by_chance,
        count(found.only_first.len()),
        count(found.only_second.len()),
    );
    page.styled("Slow tasks", &text, TITLE);
    if found.unmatched != [0, 0] {
        let [a, b] = found.unmatched.map(count);
        page.prose(
            "",
            &format!("{a} and {b} more in tasks that are not shared"),
        );
    }
    let lists = [
        (
            "in both",
            "the same tile: a cause in the numbers or the shapes",
            &found.both,
        ),
        ("first only", "perturbed there", &found.only_first),
        ("second only", "perturbed there", &found.only_second),
    ];
    for (label, why, list) in lists {
        if list.is_empty() {
            continue;
        }
        head(page, label, why);
        for task in list.iter().take(TOLD / 2) {
            page.row("", &paired(task));
        }
        if list.len() > TOLD / 2 {
            head(
                page,
                "",
                &format!("and {} more", count(list.len() - TOLD / 2)),
            );
        }
    }
}

fn paired(task: &PairedTask) -> String {
    let tile = match (task.tile_row, task.tile_col, task.panel) {
        (Some(i), Some(j), Some(k)) => format!(" ({i}, {j}, {k})"),
        (Some(i), None, Some(k)) => format!(" ({i}, -, {k})"),
        _ => String::new(),
    };
    let side = |k: usize| {
        let took = shown("ns", task.duration_ns[k] as f64);
        match task.ratio[k] {
            Some(ratio) => (format!("{} x {}", took.trim_end(), three(ratio)), WARN),
            None => (took, Style::new()),
        }
    };
    let ((a, x), (b, y)) = (side(0), side(1));
    let name = format!("{}{tile} of {}", task.codelet, task.node);
    let name: String = name.chars().take(33).collect();
    format!("{name:<33} {x}{a:>15}{x:#} {y}{b:>15}{y:#}")
}
