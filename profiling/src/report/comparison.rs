//! Two runs side by side: figures, curves and tables of what is between them.
//!
//! Takes a [`Comparison`], which `compare` has made; gives the last section of the head. Knows no trace.

use super::capital;
use super::chart::{self, Axis};
use super::columns::Columns;
use super::format::{Body, ComparisonHead, Fact, Panel};
use super::table;
use crate::account::cause_in_words;
use crate::compare::{Comparison, MatchedBy, PairedTask};
use crate::inspect::Figure;
use crate::palette::Colour;
use crate::panels::axis::{si, time};
use crate::panels::chart::{Chart, ChartForm, Series, Unit};
use serde_json::{Value, json};

/// Rows of a table.
const MOST: usize = 100;
/// A cause of less than this part of the time in tasks is not told.
const SMALL: f64 = 0.001;
/// The first run, the second, and their difference.
const COLOURS: [Colour; 3] = [
    Colour::new(0x33_22_88),
    Colour::new(0xCC_66_77),
    Colour::new(0x11_77_33),
];

/// The section. `names` are what the runs are called.
pub(super) fn head(
    found: &Comparison,
    names: [&str; 2],
    axis: Axis,
    to: &mut Columns,
) -> ComparisonHead {
    let mut panels = curves(found, names, axis, to);
    panels.push(panel(
        "compared-runs",
        "Both runs as wholes",
        "Times without a task are sums over the workers.",
        figures(found, names),
    ));
    panels.push(panel(
        "compared-codelets",
        "Codelets of both runs",
        "The median is of the same task in the second run over the first.",
        codelets(found, names),
    ));
    if !found.nodes.is_empty() {
        let about = "The tree nodes whose time in tasks differs most.";
        let body = nodes(found, names);
        panels.push(panel(
            "compared-nodes",
            "Tree nodes of both runs",
            about,
            body,
        ));
    }
    let lists = [
        (
            "slow-in-both",
            "Tasks that are slow in both runs",
            "The same tile twice: a cause in the numbers or in the shapes.",
            &found.anomalies.both,
        ),
        (
            "slow-in-first",
            "Tasks that are slow in the first run alone",
            "The same task took its time in the second run: it was perturbed here.",
            &found.anomalies.only_first,
        ),
        (
            "slow-in-second",
            "Tasks that are slow in the second run alone",
            "The same task took its time in the first run: it was perturbed here.",
            &found.anomalies.only_second,
        ),
    ];
    for (id, title, about, list) in lists {
        if !list.is_empty() {
            panels.push(panel(id, title, about, tasks(list, names)));
        }
    }
    ComparisonHead {
        headline: headline(found),
        notes: found.notes.clone(),
        panels,
        columns: std::mem::take(&mut to.heads),
    }
}

fn panel(id: &str, title: &str, about: &str, body: Body) -> Panel {
    Panel {
        id: id.to_owned(),
        title: title.to_owned(),
        about: about.to_owned(),
        body,
    }
}

/// Figures in large, by their names in [`Comparison::headline`].
const LARGE: [(&str, &str); 6] = [
    ("makespan", "Time"),
    ("GFlop/s", "Speed"),
    ("occupancy", "Workers in tasks"),
    ("at best", "At best"),
    ("memory peak", "Memory peak"),
    ("slow tasks", "Slow tasks"),
];

fn headline(found: &Comparison) -> Vec<Fact> {
    let large = LARGE.iter().filter_map(|(name, label)| {
        let figure = found.headline.iter().find(|f| f.name == *name)?;
        let text = format!("{} → {}", shown(figure, figure.a), shown(figure, figure.b));
        Some(Fact::new(*label, text).note(difference(figure)))
    });
    let mut out: Vec<Fact> = large.collect();
    let matched = &found.matched;
    let how = match matched.by {
        MatchedBy::Number => "they submitted the same tasks",
        MatchedBy::Place => "matched by node, codelet and tile",
        MatchedBy::Nothing => return out,
    };
    let note = match matched.only {
        [0, 0] => how.to_owned(),
        [a, b] => format!("{how}; {a} only in the first, {b} only in the second"),
    };
    out.push(Fact::new("Shared tasks", matched.tasks.to_string()).note(note));
    let slow = &found.anomalies;
    let note = format!(
        "{:.1} by chance; {} in the first run alone, {} in the second alone",
        slow.by_chance,
        slow.only_first.len(),
        slow.only_second.len()
    );
    out.push(Fact::new("Slow in both", slow.both.len().to_string()).note(note));
    out
}

fn shown(figure: &Figure, x: f64) -> String {
    match figure.unit {
        "ns" => time(x),
        "1" => format!("{:.1} %", 100.0 * x),
        "GFlop/s" => si(1e9 * x, "Flop/s"),
        "bytes" => si(x, "B"),
        "flop" => si(x, "flop"),
        _ => format!("{x}"),
    }
}

/// Second less first, in words.
fn difference(figure: &Figure) -> String {
    match (figure.relative(), figure.unit) {
        (_, "1") => format!("{:+.1} points", 100.0 * figure.difference()),
        (Some(part), _) if part != 0.0 => format!("{:+.1} %", 100.0 * part),
        (None, _) if figure.difference() != 0.0 => format!("{} more", shown(figure, figure.b)),
        _ => "the same".to_owned(),
    }
}

/// All of them, but for causes that cost nothing to speak of.
fn figures(found: &Comparison, [first, second]: [&str; 2]) -> Body {
    let time = found.headline.iter().find(|f| f.name == "time in tasks");
    let small = SMALL * time.map_or(0.0, |f| f.a.max(f.b));
    let told = found.headline.iter().filter(|figure| {
        let is_small = figure.name.starts_with("idle") && figure.a.max(figure.b) < small;
        !is_small && (figure.a, figure.b) != (0.0, 0.0)
    });
    let row = |figure: &Figure| {
        let name = match figure.name.strip_prefix("idle: ") {
            Some(cause) => format!("No task: {}", cause_in_words(cause)),
            None => capital(&figure.name),
        };
        vec![
            json!(name),
            json!(shown(figure, figure.a)),
            json!(shown(figure, figure.b)),
            json!(difference(figure)),
        ]
    };
    Body::Table {
        columns: table::columns(&[
            ("Figure", ""),
            (first, ""),
            (second, ""),
            ("Difference", ""),
        ]),
        rows: told.map(row).collect(),
        nodes: None,
        tasks: None,
    }
}

/// Operations done until a time, and by how many the second run is ahead.
fn curves(found: &Comparison, names: [&str; 2], axis: Axis, to: &mut Columns) -> Vec<Panel> {
    let flops = &found.flops;
    let [first, second] = names;
    let chart = |title, series| Chart {
        series,
        ..Chart::new(ChartForm::Steps, title, Unit::Of("flop"))
    };
    let both = chart(
        "Operations done",
        vec![
            Series::new(first, COLOURS[0], flops.first.clone()),
            Series::new(second, COLOURS[1], flops.second.clone()),
        ],
    );
    let ahead = format!("{second} less {first}");
    let difference = chart(
        "Difference of operations done",
        vec![Series::new(ahead, COLOURS[2], flops.difference.clone())],
    );
    let mut body = |chart, id| chart::body(chart, id, axis, to);
    vec![
        panel(
            "flops-done",
            both.title,
            "Operations of the tasks that have ended, from the beginning of each run.",
            body(both.clone(), "flops-done"),
        ),
        panel(
            "flops-difference",
            difference.title,
            "Above 0 the second run is ahead; where the curve falls the first one gains.",
            body(difference.clone(), "flops-difference"),
        ),
    ]
}

fn codelets(found: &Comparison, [first, second]: [&str; 2]) -> Body {
    let row = |c: &crate::compare::CodeletCompared| {
        vec![
            json!(c.codelet),
            json!(c.tasks[0]),
            json!(c.tasks[1]),
            json!(c.time_ns[0]),
            json!(c.time_ns[1]),
            json!(c.difference_ns),
            table::cell(c.median_ratio),
        ]
    };
    Body::Table {
        columns: table::columns(&[
            ("Codelet", ""),
            (&format!("Tasks: {first}"), ""),
            (&format!("Tasks: {second}"), ""),
            (&format!("Time: {first}"), "ns"),
            (&format!("Time: {second}"), "ns"),
            ("Difference", "ns"),
            ("Median ratio", ""),
        ]),
        rows: found.codelets.iter().map(row).collect(),
        nodes: None,
        tasks: None,
    }
}

fn nodes(found: &Comparison, [first, second]: [&str; 2]) -> Body {
    let told = || found.nodes.iter().take(MOST);
    let row = |n: &crate::compare::NodeCompared| {
        vec![
            json!(n.node),
            json!(n.tasks[0]),
            json!(n.tasks[1]),
            json!(n.time_ns[0]),
            json!(n.time_ns[1]),
            json!(n.difference_ns),
            table::cell(n.life_difference_ns().map(|ns| ns as f64)),
        ]
    };
    Body::Table {
        columns: table::columns(&[
            ("Node", ""),
            (&format!("Tasks: {first}"), ""),
            (&format!("Tasks: {second}"), ""),
            (&format!("Time in tasks: {first}"), "ns"),
            (&format!("Time in tasks: {second}"), "ns"),
            ("Difference", "ns"),
            ("Difference of first start to last end", "ns"),
        ]),
        rows: told().map(row).collect(),
        nodes: Some(told().map(|n| n.node).collect()),
        tasks: None,
    }
}

fn tasks(list: &[PairedTask], [first, second]: [&str; 2]) -> Body {
    let told = || list.iter().take(MOST);
    let number = |value: Option<u32>| value.map_or(json!(""), |value| json!(value));
    let row = |t: &PairedTask| -> Vec<Value> {
        vec![
            json!(t.codelet),
            json!(t.node),
            number(t.panel),
            number(t.tile_row),
            number(t.tile_col),
            json!(t.duration_ns[0]),
            json!(t.duration_ns[1]),
            table::cell(t.ratio[0]),
            table::cell(t.ratio[1]),
            json!(t.lost_ns),
        ]
    };
    Body::Table {
        columns: table::columns(&[
            ("Codelet", ""),
            ("Node", ""),
            ("Panel", ""),
            ("Tile row", ""),
            ("Tile column", ""),
            (&format!("Time: {first}"), "ns"),
            (&format!("Time: {second}"), "ns"),
            (&format!("Of expected: {first}"), ""),
            (&format!("Of expected: {second}"), ""),
            ("Lost", "ns"),
        ]),
        rows: told().map(row).collect(),
        nodes: Some(told().map(|t| t.node).collect()),
        tasks: Some(told().map(|t| t.task).collect()),
    }
}
