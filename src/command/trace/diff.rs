//! `treeqr trace diff`: how two traces differ.

use super::super::failure::Failure;
use super::super::page::{self, FAINT, Page, WARN, WORK};
use super::super::units::{count, percent, si, time};
use super::args::DiffArgs;
use super::{failure, open};
use serde_json::{Value, json};
use std::time::Duration;
use treeqr::profiling::inspect::{Diff, DiffError, Figure, Group, diff};

/// Compares, and tells.
pub fn run(args: &DiffArgs) -> Result<(), Failure> {
    let (a, b) = (open(&args.first)?, open(&args.second)?);
    let found = diff(&a, &b).map_err(|error| match error {
        DiffError::Trace(error) => failure(error),
        other => Failure::input(other),
    })?;
    if args.json {
        return page::print(&format!("{:#}\n", json(args, &found)));
    }
    page::print(&text(args, &found))
}

fn text(args: &DiffArgs, found: &Diff) -> String {
    let mut page = Page::default();
    page.title(
        "Compared",
        &format!("{} with {}", args.first.display(), args.second.display()),
    );
    page.gap();
    for note in &found.notes {
        page.prose("Note", note);
    }
    if !found.notes.is_empty() {
        page.gap();
    }
    let head = |page: &mut Page, label: &str| {
        let [a, b, d, r] = ["first", "second", "difference", "relative"];
        page.row(
            label,
            &format!("{FAINT}{:<28} {a:>11} {b:>11} {d:>12} {r:>9}{FAINT:#}", ""),
        );
    };
    head(&mut page, "Whole");
    for figure in found.totals.iter().filter(|f| (f.a, f.b) != (0.0, 0.0)) {
        page.row("", &line(figure));
    }
    page.gap();
    groups(&mut page, "Codelets", &found.codelets, found.codelets.len());
    if found.same_tree && !found.nodes.is_empty() {
        page.gap();
        groups(&mut page, "Tree nodes", &found.nodes, args.rows.get());
    }
    if !found.phases.is_empty() {
        page.gap();
        head(&mut page, "Phases");
        for figure in &found.phases {
            page.row("", &line(figure));
        }
    }
    page.text()
}

fn line(figure: &Figure) -> String {
    format!("{:<28} {}", figure.name, columns(figure))
}

/// Both numbers, and how they differ.
fn columns(figure: &Figure) -> String {
    let (a, b) = (shown(figure.unit, figure.a), shown(figure.unit, figure.b));
    let difference = figure.difference();
    let size = signed(figure.unit, difference);
    let style = match figure.unit {
        "ns" | "bytes" => judged(difference, figure.relative()),
        _ => FAINT,
    };
    let relative = relative(figure.relative());
    format!("{a:>11} {b:>11} {style}{size:>12} {relative:>9}{style:#}")
}

/// A difference with its sign.
pub fn signed(unit: &str, difference: f64) -> String {
    let sign = if difference < 0.0 { "−" } else { "+" };
    match difference {
        0.0 => "–".to_owned(),
        d => format!("{sign}{}", shown(unit, d.abs()).trim_end()),
    }
}

/// Slower and larger deserve a look, faster and smaller are good; next to nothing is neither.
pub fn judged(difference: f64, relative: Option<f64>) -> anstyle::Style {
    match relative {
        Some(r) if r.abs() < 0.01 => FAINT,
        _ if difference > 0.0 => WARN,
        _ if difference < 0.0 => WORK,
        _ => FAINT,
    }
}

/// A number with its unit.
pub fn shown(unit: &str, x: f64) -> String {
    match unit {
        // Phases before the recorder may end before they begin, in a trace that is no good.
        "ns" => time(Duration::from_nanos(x.max(0.0) as u64)),
        "bytes" => si(x, "B"),
        "flop" => si(x, "flop"),
        "GFlop/s" => si(1e9 * x, "Flop/s"),
        "tasks" | "workers" => count(x.max(0.0) as u64),
        _ => percent(x),
    }
}

/// A difference as a part of the first.
pub fn relative(part: Option<f64>) -> String {
    match part {
        None | Some(0.0) => String::new(),
        Some(part) if part.abs() > 9.995 => format!("x {:.0}", part + 1.0),
        Some(part) => format!("{:+.1} %", 100.0 * part).replace('-', "−"),
    }
}

fn groups(page: &mut Page, label: &str, groups: &[Group], most: usize) {
    let [n, a, b, d, r] = ["tasks", "first", "second", "difference", "relative"];
    page.row(
        label,
        &format!(
            "{FAINT}{:<14} {n:>13} {a:>11} {b:>11} {d:>12} {r:>9}{FAINT:#}",
            ""
        ),
    );
    for g in groups.iter().take(most) {
        let tasks = match g.tasks {
            [a, b] if a == b => count(a),
            [a, b] => format!("{} → {}", count(a), count(b)),
        };
        let figure = Figure {
            name: String::new(),
            unit: "ns",
            a: g.time_ns[0] as f64,
            b: g.time_ns[1] as f64,
        };
        page.row(
            "",
            &format!("{:<14} {tasks:>13} {}", g.name, columns(&figure)),
        );
    }
    if groups.len() > most {
        page.row(
            "",
            &format!("{FAINT}and {} more{FAINT:#}", count(groups.len() - most)),
        );
    }
}

fn json(args: &DiffArgs, found: &Diff) -> Value {
    let figure = |f: &Figure| {
        json!({
            "name": f.name,
            "unit": f.unit,
            "first": f.a,
            "second": f.b,
            "difference": f.difference(),
            "relative": f.relative(),
        })
    };
    let group = |g: &Group| {
        json!({
            "name": g.name,
            "tasks": g.tasks,
            "time_ns": g.time_ns,
            "flops": g.flops,
            "span_ns": g.span_ns,
            "difference_ns": g.difference_ns(),
            "relative": g.relative(),
        })
    };
    json!({
        "first": args.first.to_string_lossy(),
        "second": args.second.to_string_lossy(),
        "notes": found.notes,
        "same_tree": found.same_tree,
        "totals": found.totals.iter().map(figure).collect::<Vec<_>>(),
        "codelets": found.codelets.iter().map(group).collect::<Vec<_>>(),
        "nodes": found.nodes.iter().map(group).collect::<Vec<_>>(),
        "phases": found.phases.iter().map(figure).collect::<Vec<_>>(),
        "version": treeqr::VERSION,
    })
}
