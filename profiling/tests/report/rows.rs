//! Every task, dependency and tree node of a trace is in its page, as it was.

use crate::common::{Shape, random};
use crate::decoder::run_of;
use crate::{anomalies, with_anomalies};
use std::collections::{BTreeMap, BTreeSet};
use treeqr_profiling::account::critical_path;
use treeqr_profiling::trace::Trace;
use treeqr_profiling::trace::schema::{FrontKind, Task};

/// What a page says of a task, by name; none where it says 0 of a number that is one more.
type Row = BTreeMap<&'static str, Option<u64>>;

fn expected(task: &Task, begin: u64, slow: bool) -> Row {
    let some = |value: u64| Some(value);
    BTreeMap::from([
        ("codelet", some(task.codelet.into())),
        ("worker", some(task.worker.into())),
        ("node", some(task.node.into())),
        ("start", some(task.start_ns - begin)),
        ("duration", some(task.end_ns - task.start_ns)),
        ("ready", some(task.start_ns - task.ready_ns)),
        ("submit", some(task.submit_ns - begin)),
        ("flops", some(task.flops)),
        ("panel", task.panel.map(u64::from)),
        ("row", task.tile_row.map(u64::from)),
        ("col", task.tile_col.map(u64::from)),
        ("child", task.child.map(u64::from)),
        ("m", some(task.rows.into())),
        ("n", some(task.cols.into())),
        ("k", some(task.inner.into())),
        ("slow", some(slow.into())),
    ])
}

fn begin(trace: &Trace) -> u64 {
    let submits = trace.tables.tasks.iter().map(|task| task.submit_ns);
    submits.chain([trace.manifest.run.begin_ns]).min().unwrap()
}

#[test]
fn tasks_are_those_of_the_trace() {
    for seed in 0..12 {
        let trace = with_anomalies(Shape::small(seed));
        let run = run_of(&trace);
        let (begin, slow) = (begin(&trace), anomalies(&trace));
        let column = |name: &str| run.column(&format!("tasks.{name}"));
        let lanes = column("lane");
        assert_eq!(lanes.len(), trace.tables.workers.len() + 1);
        let ids = column("id");
        let mut order: Vec<u32> = ids.iter().map(|id| *id as u32).collect();
        order.sort_unstable();
        let submit = run.column("submit.time");
        // The page has those that ran; the trace has numbers of its own.
        let codelet = |position: usize| -> u64 {
            let name = run.head["codelets"][position]["name"].as_str().unwrap();
            let mut rows = trace.tables.codelets.iter();
            rows.find(|row| row.name == name).unwrap().codelet.into()
        };
        let mut found = BTreeMap::new();
        for (lane, pair) in lanes.windows(2).enumerate() {
            let mut end = 0.0;
            for (k, &id) in ids
                .iter()
                .enumerate()
                .take(pair[1] as usize)
                .skip(pair[0] as usize)
            {
                let start = end + column("gap")[k];
                end = start + column("duration")[k];
                let position = order.binary_search(&(id as u32)).unwrap();
                let whole = |name: &str| Some(column(name)[k] as u64);
                let optional = |name: &str| (column(name)[k] as u64).checked_sub(1);
                let row: Row = BTreeMap::from([
                    ("codelet", Some(codelet(column("codelet")[k] as usize))),
                    ("worker", Some(lane as u64)),
                    ("node", whole("node")),
                    ("start", Some(start as u64)),
                    ("duration", whole("duration")),
                    ("ready", whole("ready")),
                    ("submit", Some(submit[position] as u64)),
                    ("flops", whole("flops")),
                    ("panel", optional("panel")),
                    ("row", optional("row")),
                    ("col", optional("col")),
                    ("child", optional("child")),
                    ("m", whole("m")),
                    ("n", whole("n")),
                    ("k", whole("k")),
                    ("slow", Some(column("mark")[k] as u64 & 1)),
                ]);
                found.insert(id as u32, row);
            }
        }
        assert_eq!(found.len(), trace.tables.tasks.len(), "seed {seed}");
        for task in &trace.tables.tasks {
            let expected = expected(task, begin, slow.contains(&task.task));
            assert_eq!(
                found[&task.task], expected,
                "seed {seed}, task {}",
                task.task
            );
        }
        let on_path = (0..ids.len()).filter(|&k| column("mark")[k] as u64 & 2 != 0);
        let on_path: BTreeSet<u32> = on_path.map(|k| ids[k] as u32).collect();
        let path = critical_path(&trace).tasks.into_iter().collect();
        assert_eq!(on_path, path, "seed {seed}");
    }
}

#[test]
fn some_of_them_are_anomalous() {
    let found = (0..12).map(|seed| anomalies(&with_anomalies(Shape::small(seed))).len());
    assert!(found.sum::<usize>() > 10);
}

#[test]
fn a_model_is_that_of_the_codelet_and_the_kind_of_worker() {
    let trace = with_anomalies(Shape::small(5));
    let run = run_of(&trace);
    let workers = run.head["workers"].as_array().unwrap();
    let lanes = run.column("tasks.lane");
    let mut models = 0;
    for k in 0..run.column("tasks.id").len() {
        let lane = lanes.partition_point(|first| *first <= k as f64) - 1;
        let of = run.column("tasks.model")[k] as usize;
        let has_flops = run.column("tasks.flops")[k] > 0.0;
        assert_eq!(of > 0, has_flops);
        if of > 0 {
            let model = &run.head["models"][of - 1];
            assert_eq!(model["codelet"], run.column("tasks.codelet")[k] as u64);
            assert_eq!(model["kind"], workers[lane]["kind"]);
            models += 1;
        }
    }
    assert!(models > 10);
}

#[test]
fn dependencies_are_those_of_the_trace() {
    for seed in 0..12 {
        let trace = random(Shape::small(seed));
        let run = run_of(&trace);
        assert_eq!(edges(&run), edges_of(&trace), "seed {seed}");
    }
}

fn edges(run: &crate::decoder::Run) -> BTreeSet<(u32, u32)> {
    let mut ids: Vec<u32> = run.column("tasks.id").iter().map(|id| *id as u32).collect();
    ids.sort_unstable();
    let mut back = run.column("deps.back").iter();
    let mut out = BTreeSet::new();
    for (&id, &count) in ids.iter().zip(run.column("deps.count")) {
        for back in back.by_ref().take(count as usize) {
            out.insert((id, id - *back as u32));
        }
    }
    assert!(back.next().is_none());
    out
}

fn edges_of(trace: &Trace) -> BTreeSet<(u32, u32)> {
    let edges = trace.tables.dependencies.iter();
    edges.map(|edge| (edge.task, edge.predecessor)).collect()
}

/// A part of a trace has gaps in its numbers, rows in any order, and edges to what is not there.
#[test]
fn parts_of_traces_keep_their_numbers() {
    let mut trace = random(Shape::small(4));
    let all = edges_of(&trace);
    let tasks = &mut trace.tables.tasks;
    tasks.retain(|task| task.task % 3 != 1);
    tasks.reverse();
    let kept: BTreeSet<u32> = tasks.iter().map(|task| task.task).collect();
    let run = run_of(&trace);
    let ids = run.column("tasks.id").iter().map(|id| *id as u32);
    assert_eq!(ids.collect::<BTreeSet<_>>(), kept);
    let inside = |edge: &&(u32, u32)| kept.contains(&edge.0) && kept.contains(&edge.1);
    let expected: BTreeSet<_> = all.iter().filter(inside).copied().collect();
    assert!(!expected.is_empty() && expected.len() < all.len());
    assert_eq!(edges(&run), expected);
}

#[test]
fn tree_nodes_are_those_of_the_trace() {
    for seed in 0..12 {
        let trace = random(Shape::small(seed));
        let run = run_of(&trace);
        let column = |name: &str| run.column(&format!("nodes.{name}"));
        let fronts = &trace.tables.fronts;
        assert_eq!(column("id").len(), fronts.len());
        for (k, front) in fronts.iter().enumerate() {
            let kind = match front.kind {
                FrontKind::Tiled => 0,
                FrontKind::GroupTop => 1,
                FrontKind::Grouped => 2,
            };
            let expected = [
                ("id", u64::from(front.node)),
                (
                    "parent",
                    front.parent.map_or(0, |parent| u64::from(parent) + 1),
                ),
                ("depth", front.depth.into()),
                ("rows", front.rows.into()),
                ("cols", front.cols.into()),
                ("pivots", front.pivots.into()),
                ("flops", front.flops),
                ("kind", kind),
                ("task", front.task_node.into()),
                ("tile_rows", front.tile_rows.unwrap_or(0).into()),
                ("tile_cols", front.tile_cols.unwrap_or(0).into()),
            ];
            for (name, value) in expected {
                assert_eq!(
                    column(name)[k] as u64,
                    value,
                    "seed {seed}, front {k}, {name}"
                );
            }
        }
    }
}
