//! DOT, the language of Graphviz: the task graph or the elimination tree, in the codelets' colours.
//!
//! Programs that place graphs need minutes for some thousands of nodes: larger task graphs are refused, and one tree node
//! can be asked for instead.

use super::view::View;
use super::{ExportEntry, ExportError, ExportOptions, Form, Graph};
use crate::palette;
use crate::trace::Trace;
use crate::trace::schema::{Front, FrontKind};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

pub(super) const ENTRY: ExportEntry = ExportEntry {
    name: "dot",
    about: "The task graph or the elimination tree, for Graphviz",
    ending: "dot",
    form: Form::File(write),
};

fn write(trace: &Trace, options: &ExportOptions, out: &mut dyn Write) -> Result<(), ExportError> {
    let view = View::new(trace);
    match options.what {
        Graph::Tasks => tasks(&view, options, out),
        Graph::Tree => Ok(tree(&view, out)?),
    }
}

/// What a drawing says of a task, run or not.
struct Drawn {
    codelet: u16,
    node: u32,
    panel: Option<u32>,
    tile_row: Option<u32>,
    tile_col: Option<u32>,
    child: Option<u32>,
}

fn drawn(view: &View<'_>) -> BTreeMap<u32, Drawn> {
    macro_rules! drawn {
        ($row:ident) => {
            (
                $row.task,
                Drawn {
                    codelet: $row.codelet,
                    node: $row.node,
                    panel: $row.panel,
                    tile_row: $row.tile_row,
                    tile_col: $row.tile_col,
                    child: $row.child,
                },
            )
        };
    }
    let tables = &view.trace.tables;
    let run = tables.tasks.iter().map(|row| drawn!(row));
    run.chain(tables.graph.iter().map(|row| drawn!(row)))
        .collect()
}

fn tasks(view: &View<'_>, options: &ExportOptions, out: &mut dyn Write) -> Result<(), ExportError> {
    let all = drawn(view);
    let edges = &view.trace.tables.dependencies;
    let shown: BTreeSet<u32> = match options.node {
        None => all.keys().copied().collect(),
        Some(node) => {
            let own = all.iter().filter(|(_, task)| task.node == node);
            let own: BTreeSet<u32> = own.map(|(number, _)| *number).collect();
            if own.is_empty() {
                return Err(ExportError::NoSuchNode { node });
            }
            let before = edges.iter().filter(|edge| own.contains(&edge.task));
            let before = before.map(|edge| edge.predecessor);
            let before: Vec<u32> = before.filter(|task| all.contains_key(task)).collect();
            own.into_iter().chain(before).collect()
        }
    };
    if shown.len() > options.task_limit {
        return Err(ExportError::TooManyTasks {
            tasks: shown.len(),
            limit: options.task_limit,
        });
    }
    head("tasks", view, out)?;
    for number in &shown {
        let task = &all[number];
        let name = view.codelet(task.codelet);
        let place: Vec<String> = [
            ("front", Some(task.node)),
            ("panel", task.panel),
            ("row", task.tile_row),
            ("column", task.tile_col),
            ("child", task.child),
        ]
        .iter()
        .filter_map(|(word, value)| Some(format!("{word} {}", (*value)?)))
        .collect();
        let label = format!("{}\\n{}", escaped(name), place.join(", "));
        let style = match options.node {
            Some(node) if task.node != node => "filled,dashed",
            _ => "filled",
        };
        node(
            &format!("t{number}"),
            &label,
            view.colour(task.codelet),
            style,
            out,
        )?;
    }
    for edge in edges {
        let inside = shown.contains(&edge.task) && shown.contains(&edge.predecessor);
        // Around one tree node only the arrows that end there.
        let asked = options
            .node
            .is_none_or(|node| all.get(&edge.task).is_some_and(|t| t.node == node));
        if inside && asked {
            writeln!(out, "  t{} -> t{};", edge.predecessor, edge.task)?;
        }
    }
    writeln!(out, "}}")?;
    Ok(())
}

/// Tiled fronts by themselves, groups as boxes with the colour of `do_subtree`. Arrows point to parents.
fn tree(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    head("tree", view, out)?;
    let fronts = &view.trace.tables.fronts;
    let label = |front: &Front| {
        let (node, rows, cols, pivots) = (front.node, front.rows, front.cols, front.pivots);
        let flops = front.flops as f64;
        format!("{node}\\n{rows} x {cols}, {pivots} pivots\\n{flops:.2e} flops")
    };
    for front in fronts {
        let (colour, style) = match front.kind {
            FrontKind::Tiled => (palette::codelet("gemqrt"), "filled"),
            FrontKind::GroupTop => (palette::codelet("do_subtree"), "filled"),
            FrontKind::Grouped => (palette::codelet("do_subtree"), "filled,dashed"),
        };
        node(
            &format!("n{}", front.node),
            &label(front),
            colour,
            style,
            out,
        )?;
    }
    for front in fronts {
        if let Some(parent) = front.parent {
            writeln!(out, "  n{} -> n{parent};", front.node)?;
        }
    }
    writeln!(out, "}}")
}

fn head(graph: &str, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph {graph} {{")?;
    writeln!(out, "  label=\"{}\";", escaped(&view.title()))?;
    if graph == "tree" {
        writeln!(out, "  rankdir=BT;")?;
    }
    writeln!(
        out,
        "  node [shape=box, fontname=\"sans-serif\", fontsize=10];"
    )
}

fn node(
    id: &str,
    label: &str,
    colour: palette::Colour,
    style: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let text = if colour.is_dark() { "white" } else { "black" };
    writeln!(
        out,
        "  {id} [label=\"{label}\", style=\"{style}\", fillcolor=\"{colour}\", fontcolor={text}];"
    )
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', " ")
}
