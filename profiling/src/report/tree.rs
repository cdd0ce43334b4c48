//! The elimination tree over time: its rows, and levels of detail of their loads.
//!
//! Takes a run; gives rows in the order of submission and, for each level, the cells that are not empty. Rows are those of the
//! picture (`panels/tree.rs`): a node in tiles with the groups below it, or a group that has no such parent.
//!
//! A level cuts time into stretches and puts neighbouring rows into bands. In a cell a row's load is the time that workers spent
//! in it by what they had; of the rows of a band the largest counts, and an anomaly in any of them is in the band's cell.

use super::columns::{Columns, Type};
use super::format::{Body, TreeCells, TreeLevel, TreeRows};
use super::gantt::part;
use super::run::Run;
use super::tasks;
use crate::panels::tree::rows::home;
use crate::trace::schema::Role;
use std::collections::HashMap;

/// Stretches of the coarsest level.
const FEWEST: usize = 512;
/// And of the finest.
const MOST: usize = 1 << 14;
/// Bands that can be told apart on a screen that shows the whole run.
const BANDS: usize = 512;
/// A screen has hardly more pixels across.
const PIXELS: usize = 2048;

/// Kinds of cells, as the format numbers them.
const OWN: u8 = 0;
const GROUPS: u8 = 1;
const ASSEMBLY: u8 = 2;
const ANOMALY: u8 = 3;

struct Row {
    node: u32,
    born: u64,
    died: u64,
    has_groups: bool,
}

/// A task in its row.
struct Piece {
    row: u32,
    start: u64,
    end: u64,
    kind: u8,
    slow: bool,
}

pub(super) fn body(run: &Run<'_>, to: &mut Columns) -> Body {
    let (rows, of_node, pieces) = rows(run);
    let columns = row_columns(run, &rows, &of_node, to);
    let mut fronts: Vec<u32> = run.trace.tables.fronts.iter().map(|f| f.node).collect();
    fronts.sort_unstable();
    let row_of = |node: &u32| {
        let row = of_node.get(&home(&run.subject, *node));
        row.map_or(0, |&row| u64::from(row) + 1)
    };
    let row_of_node = to.delta("tree.row_of_node", Type::U32, fronts.iter().map(row_of));
    let mut bins = (4 * run.order.len())
        .next_power_of_two()
        .clamp(FEWEST, MOST);
    let mut levels = Vec::new();
    while bins >= FEWEST {
        let each = (rows.len() * PIXELS / (BANDS * bins.max(PIXELS))).max(1);
        let cells = cells(run, &pieces, levels.len(), bins, each, to);
        levels.push(TreeLevel {
            each,
            rows: rows.len().div_ceil(each),
            bins,
            cells,
        });
        bins /= 2;
    }
    Body::Tree {
        rows: columns,
        row_of_node,
        levels,
    }
}

/// By the first submission of a task for the row; where each node's row is; and the tasks by row.
fn rows(run: &Run<'_>) -> (Vec<Row>, HashMap<u32, u32>, Vec<Piece>) {
    let mut rows: Vec<Row> = Vec::new();
    let mut of_home: HashMap<u32, u32> = HashMap::new();
    let mut homes: HashMap<u32, u32> = HashMap::new();
    let mut by_submission: Vec<u32> = run.by_id.clone();
    by_submission.sort_by_key(|&row| run.tasks()[row as usize].submit_ns);
    let mut pieces = Vec::with_capacity(by_submission.len());
    for at in by_submission {
        let task = &run.tasks()[at as usize];
        let kind = match run.subject.role(task.codelet) {
            Role::Subtree => GROUPS,
            Role::Assemble => ASSEMBLY,
            // It comes long after, when the front's life is over.
            Role::Solve => continue,
            _ => OWN,
        };
        let node = *homes
            .entry(task.node)
            .or_insert_with(|| home(&run.subject, task.node));
        let row = *of_home.entry(node).or_insert_with(|| {
            rows.push(Row {
                node,
                born: u64::MAX,
                died: 0,
                has_groups: false,
            });
            rows.len() as u32 - 1
        });
        let (start, end) = (run.ns(task.start_ns), run.ns(task.end_ns));
        let of = &mut rows[row as usize];
        of.has_groups |= kind == GROUPS;
        (of.born, of.died) = (of.born.min(start), of.died.max(end));
        let slow = run.slow[at as usize];
        pieces.push(Piece {
            row,
            start,
            end,
            kind,
            slow,
        });
    }
    for helper in run.subject.pieces().filter(|piece| !piece.own) {
        let kind = match run.subject.role(helper.task.codelet) {
            Role::Subtree => GROUPS,
            Role::Solve => continue,
            _ => OWN,
        };
        // Its task has a row.
        let row = of_home[&homes[&helper.task.node]];
        let (start, length) = run.span(helper.start_ns, helper.end_ns);
        pieces.push(Piece {
            row,
            start,
            end: start + length,
            kind,
            slow: false,
        });
    }
    lives(run, &mut rows, &of_home);
    pieces.sort_unstable_by_key(|piece| (piece.row, piece.start));
    (rows, of_home, pieces)
}

/// Memory is held before the first task and after the last. A release belongs to the node that the memory had been taken for.
fn lives(run: &Run<'_>, rows: &mut [Row], of_home: &HashMap<u32, u32>) {
    let mut owner: HashMap<u32, u32> = HashMap::new();
    for event in &run.trace.tables.memory {
        if event.delta_bytes > 0 {
            owner.insert(event.handle, event.node);
        }
        let node = owner.get(&event.handle).unwrap_or(&event.node);
        // A group's memory is its parent's business: the row says when the front itself had some.
        if let Some(&row) = of_home.get(node) {
            let at = run.ns(event.time_ns).min(run.span_ns);
            let row = &mut rows[row as usize];
            (row.born, row.died) = (row.born.min(at), row.died.max(at));
        }
    }
}

fn row_columns(
    run: &Run<'_>,
    rows: &[Row],
    of_node: &HashMap<u32, u32>,
    to: &mut Columns,
) -> TreeRows {
    let front = |row: &Row| run.subject.front(row.node);
    let parent = |row: &Row| {
        let above = home(&run.subject, front(row)?.parent?);
        of_node.get(&above).map(|&row| u64::from(row) + 1)
    };
    TreeRows {
        node: to.delta("tree.node", Type::U32, rows.iter().map(|r| r.node.into())),
        parent: to.delta(
            "tree.parent",
            Type::U32,
            rows.iter().map(|r| parent(r).unwrap_or(0)),
        ),
        born: to.delta("tree.born", Type::F64, rows.iter().map(|r| r.born)),
        died: to.delta("tree.died", Type::F64, rows.iter().map(|r| r.died)),
        kind: to.u8(
            "tree.kind",
            rows.iter().map(|r| front(r).map_or(0, tasks::kind)),
        ),
        has_groups: to.u8("tree.has_groups", rows.iter().map(|r| r.has_groups.into())),
    }
}

/// A cell that is not empty.
#[derive(Clone, Copy, PartialEq)]
struct Cell {
    band: u32,
    bin: u32,
    kind: u8,
    load: f64,
}

fn cells(
    run: &Run<'_>,
    pieces: &[Piece],
    number: usize,
    bins: usize,
    each: usize,
    to: &mut Columns,
) -> TreeCells {
    let width = run.span_ns as f64 / bins as f64;
    let mut cells: Vec<Cell> = Vec::new();
    let mut mine: Vec<Cell> = Vec::new();
    for row in pieces.chunk_by(|a, b| a.row == b.row) {
        let band = row[0].row / each as u32;
        mine.clear();
        for piece in row {
            add(&mut mine, piece, band, width, bins);
        }
        sum(&mut mine);
        cells.extend(&mine);
    }
    cells.sort_unstable_by_key(|cell| (cell.band, cell.bin, cell.kind));
    // Of the rows of a band the one with most.
    cells.dedup_by(|next, kept| {
        let same = (next.band, next.bin, next.kind) == (kept.band, kept.bin, kept.kind);
        if same {
            kept.load = kept.load.max(next.load);
        }
        same
    });
    let whole = width * run.subject.workers.len() as f64;
    let mut column = |name: &str, of: fn(&Cell) -> u32| {
        let values = cells.iter().map(|cell| of(cell).into());
        to.delta(format!("tree.{number}.{name}"), Type::U32, values)
    };
    let (band, bin) = (column("band", |c| c.band), column("bin", |c| c.bin));
    // What has no length is there all the same.
    let load = cells.iter().map(|cell| part(cell.load / whole).max(1));
    TreeCells {
        band,
        bin,
        load: to.u8(format!("tree.{number}.load"), load),
        kind: to.u8(
            format!("tree.{number}.kind"),
            cells.iter().map(|cell| cell.kind),
        ),
    }
}

/// The cells that a task touches.
fn add(to: &mut Vec<Cell>, piece: &Piece, band: u32, width: f64, bins: usize) {
    let (start, end) = (piece.start as f64, piece.end as f64);
    let first = ((start / width) as usize).min(bins - 1);
    let last = ((end / width) as usize).clamp(first, bins - 1);
    for bin in first..=last {
        let (from, until) = (bin as f64 * width, (bin + 1) as f64 * width);
        let load = (end.min(until) - start.max(from)).max(0.0);
        if load == 0.0 && bin != first {
            continue;
        }
        let cell = |kind| Cell {
            band,
            bin: bin as u32,
            kind,
            load,
        };
        if load > 0.0 {
            to.push(cell(if piece.kind == GROUPS { GROUPS } else { OWN }));
        }
        if piece.kind == ASSEMBLY {
            to.push(cell(ASSEMBLY));
        }
        if piece.slow {
            to.push(cell(ANOMALY));
        }
    }
}

/// Cells of the same place become one with the sum of their loads.
fn sum(cells: &mut Vec<Cell>) {
    cells.sort_unstable_by_key(|cell| (cell.bin, cell.kind));
    cells.dedup_by(|next, kept| {
        let same = (next.bin, next.kind) == (kept.bin, kept.kind);
        if same {
            kept.load += next.load;
        }
        same
    });
}
