//! Tasks, dependencies and tree nodes as columns.
//!
//! Takes a run; appends the columns that every panel of the page refers to. Knows no panel.

use super::columns::{Columns, Type};
use super::run::Run;
use crate::trace::schema::{Front, FrontKind, Task};

const SLOW: u8 = 1;
const ON_PATH: u8 = 2;
const SLOW_TWICE: u8 = 4;

/// All of them. O(n), and O(edges).
pub(super) fn columns(run: &Run<'_>, to: &mut Columns) {
    of_tasks(run, to);
    dependencies(run, to);
    nodes(run, to);
}

fn of_tasks(run: &Run<'_>, to: &mut Columns) {
    let tasks = || run.rows().map(|(_, task)| task);
    let one_more = |value: Option<u32>| value.map_or(0, |value| u64::from(value) + 1);
    to.varint("tasks.lane", Type::U32, run.lanes.iter().map(|&n| n.into()));
    to.delta("tasks.id", Type::U32, tasks().map(|t| t.task.into()));
    to.u8("tasks.codelet", tasks().map(|t| run.position(t.codelet)));
    to.delta("tasks.node", Type::U32, tasks().map(|t| t.node.into()));
    to.zigzag("tasks.gap", Type::F64, gaps(run));
    let mut number = |name: &str, kind, of: &dyn Fn(&Task) -> u64| {
        to.varint(name, kind, tasks().map(of));
    };
    number("tasks.duration", Type::F64, &|t| t.end_ns - t.start_ns);
    number("tasks.ready", Type::F64, &|t| t.start_ns - t.ready_ns);
    number("tasks.flops", Type::F64, &|t| t.flops);
    number("tasks.panel", Type::U32, &|t| one_more(t.panel));
    number("tasks.row", Type::U32, &|t| one_more(t.tile_row));
    number("tasks.col", Type::U32, &|t| one_more(t.tile_col));
    number("tasks.child", Type::U32, &|t| one_more(t.child));
    number("tasks.m", Type::U32, &|t| t.rows.into());
    number("tasks.n", Type::U32, &|t| t.cols.into());
    number("tasks.k", Type::U32, &|t| t.inner.into());
    let mark = |row: usize| {
        SLOW * u8::from(run.slow[row])
            + ON_PATH * u8::from(run.on_path[row])
            + SLOW_TWICE * u8::from(run.slow_twice[row])
    };
    to.u8("tasks.mark", run.rows().map(|(row, _)| mark(row)));
    to.u8(
        "tasks.model",
        tasks().map(|t| run.model(t).map_or(0, |model| model + 1)),
    );
    let in_order = run.by_id.iter().map(|&row| &run.tasks()[row as usize]);
    to.delta(
        "submit.time",
        Type::F64,
        in_order.map(|t| run.ns(t.submit_ns)),
    );
}

/// From the end of the task before on a worker to the start of each.
fn gaps<'r>(run: &'r Run<'_>) -> impl Iterator<Item = i64> + 'r {
    let ns = |time_ns: u64| run.ns(time_ns) as i64;
    run.lanes.windows(2).flat_map(move |lane| {
        let mut end = 0;
        run.order[lane[0] as usize..lane[1] as usize]
            .iter()
            .map(move |&row| {
                let task = &run.tasks()[row as usize];
                let gap = ns(task.start_ns) - end;
                end = ns(task.end_ns);
                gap
            })
    })
}

/// By the order of ids: how many predecessors, and how far back each is.
fn dependencies(run: &Run<'_>, to: &mut Columns) {
    let tasks = run.tasks();
    let id = |k: usize| tasks[run.by_id[k] as usize].task;
    let position = |task: u32| {
        let found = run
            .by_id
            .binary_search_by_key(&task, |&row| tasks[row as usize].task);
        found.ok()
    };
    let known = |edge: &&crate::trace::schema::Dependency| {
        let both = position(edge.task).zip(position(edge.predecessor));
        Some((both?.0, edge.task - edge.predecessor))
    };
    let edges = &run.trace.tables.dependencies;
    let mut first = vec![0_u32; tasks.len() + 1];
    for (k, _) in edges.iter().filter_map(|edge| known(&edge)) {
        first[k + 1] += 1;
    }
    to.varint(
        "deps.count",
        Type::U32,
        first[1..].iter().map(|&n| n.into()),
    );
    for k in 0..tasks.len() {
        first[k + 1] += first[k];
    }
    let mut back = vec![0_u32; first[tasks.len()] as usize];
    let mut next = first.clone();
    for (k, distance) in edges.iter().filter_map(|edge| known(&edge)) {
        back[next[k] as usize] = distance;
        next[k] += 1;
    }
    for k in 0..tasks.len() {
        debug_assert!(
            back[first[k] as usize..first[k + 1] as usize]
                .iter()
                .all(|&d| d <= id(k))
        );
        back[first[k] as usize..first[k + 1] as usize].sort_unstable();
    }
    to.varint("deps.back", Type::U32, back.iter().map(|&d| d.into()));
}

fn nodes(run: &Run<'_>, to: &mut Columns) {
    let mut fronts: Vec<&Front> = run.trace.tables.fronts.iter().collect();
    fronts.sort_unstable_by_key(|front| front.node);
    let all = || fronts.iter();
    let one_more = |value: Option<u32>| value.map_or(0, |value| u64::from(value) + 1);
    to.delta("nodes.id", Type::U32, all().map(|f| f.node.into()));
    to.delta("nodes.parent", Type::U32, all().map(|f| one_more(f.parent)));
    let mut number = |name: &str, kind, of: &dyn Fn(&Front) -> u64| {
        to.varint(name, kind, all().map(|f| of(f)));
    };
    number("nodes.depth", Type::U32, &|f| f.depth.into());
    number("nodes.rows", Type::U32, &|f| f.rows.into());
    number("nodes.cols", Type::U32, &|f| f.cols.into());
    number("nodes.pivots", Type::U32, &|f| f.pivots.into());
    number("nodes.flops", Type::F64, &|f| f.flops);
    number("nodes.tile_rows", Type::U32, &|f| {
        f.tile_rows.unwrap_or(0).into()
    });
    number("nodes.tile_cols", Type::U32, &|f| {
        f.tile_cols.unwrap_or(0).into()
    });
    to.u8("nodes.kind", all().map(|f| kind(f)));
    to.delta("nodes.task", Type::U32, all().map(|f| f.task_node.into()));
}

/// As the format numbers them.
pub(super) fn kind(front: &Front) -> u8 {
    match front.kind {
        FrontKind::Tiled => 0,
        FrontKind::GroupTop => 1,
        FrontKind::Grouped => 2,
    }
}
