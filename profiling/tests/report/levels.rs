//! Levels of detail: no time is lost in them, and an anomaly is in every one.

use crate::common::Shape;
use crate::common::samples::{helped, worked};
use crate::decoder::{Run, run_of};
use crate::{anomalies, with_anomalies};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;
use treeqr_profiling::trace::Trace;
use treeqr_profiling::trace::schema::Task;

/// A fill or a load is rounded to so much, and at least this where there is any.
const ROUNDING: f64 = 1.0 / 255.0;

/// A trace, its page, and its anomalies.
struct Sample {
    trace: Trace,
    run: Run,
    slow: HashSet<u32>,
}

static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    let large = Shape {
        seed: 3,
        tasks: 30_000,
        cpus: 5,
        devices: 1,
    };
    let traces = (0..6).map(Shape::small).chain([large]).map(with_anomalies);
    let sample = |trace: Trace| Sample {
        run: run_of(&trace),
        slow: anomalies(&trace),
        trace,
    };
    let helped = (0..3).map(helped);
    traces.chain(helped).map(sample).collect()
});

fn begin(trace: &Trace) -> u64 {
    let submits = trace.tables.tasks.iter().map(|task| task.submit_ns);
    submits.chain([trace.manifest.run.begin_ns]).min().unwrap()
}

fn span(run: &Run) -> f64 {
    run.head["span_ns"].as_f64().unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// The bins that a task touches, of so many.
fn touched(run: &Run, trace: &Trace, task: &Task, bins: usize) -> (usize, usize) {
    let width = span(run) / bins as f64;
    let at = |time: u64| (((time - begin(trace)) as f64 / width) as usize).min(bins - 1);
    (at(task.start_ns), at(task.end_ns))
}

#[test]
fn fills_of_the_gantt_chart_add_up_to_the_time_in_tasks_at_every_level() {
    for Sample { trace, run, .. } in &*SAMPLES {
        let levels = list(&run.panel("gantt").unwrap()["levels"]);
        assert!(levels.len() > 2);
        for level in levels {
            let bins = level["bins"].as_u64().unwrap() as usize;
            let fill = run.named(&level["fill"]);
            let codelet = run.named(&level["codelet"]);
            assert_eq!(fill.len(), bins * trace.tables.workers.len());
            let width = span(run) / bins as f64;
            for (worker, fill) in fill.chunks_exact(bins).enumerate() {
                let mine = worked(trace).filter(|w| usize::from(w.0) == worker);
                let busy: u64 = mine.map(|w| w.2).sum();
                let drawn: f64 = fill.iter().map(|f| f / 255.0 * width).sum();
                let used = fill.iter().filter(|f| **f > 0.0).count();
                let most = ROUNDING * width * used as f64 + 1e-6;
                assert!((drawn - busy as f64).abs() <= most, "{drawn} for {busy}");
            }
            let same = fill
                .iter()
                .zip(codelet)
                .all(|(f, c)| (*f > 0.0) == (*c > 0.0));
            assert!(same, "a codelet where there is a task");
        }
    }
}

#[test]
fn a_coarser_level_is_the_finer_one_with_pairs_put_together() {
    for Sample { run, .. } in &*SAMPLES {
        let levels = list(&run.panel("gantt").unwrap()["levels"]);
        for pair in levels.windows(2) {
            let bins = |k: usize| pair[k]["bins"].as_u64().unwrap();
            assert_eq!(bins(0), 2 * bins(1));
            let of = |k: usize, name: &str| run.named(&pair[k][name]);
            for (k, two) in of(0, "mark").chunks_exact(2).enumerate() {
                assert_eq!(of(1, "mark")[k], two[0].max(two[1]));
            }
            for (k, two) in of(0, "fill").chunks_exact(2).enumerate() {
                let both = 0.5 * (two[0] + two[1]);
                assert!((of(1, "fill")[k] - both).abs() <= 1.5);
            }
            // One that has most of both has most of their sum.
            for (k, two) in of(0, "codelet").chunks_exact(2).enumerate() {
                let sum = of(1, "codelet")[k];
                assert!(two[0] != two[1] || sum == two[0]);
                assert!(two[0] == 0.0 || sum > 0.0);
            }
        }
    }
}

#[test]
fn no_anomaly_disappears_at_any_level_of_the_gantt_chart() {
    let mut checked = 0;
    for Sample { trace, run, slow } in &*SAMPLES {
        for level in list(&run.panel("gantt").unwrap()["levels"]) {
            let bins = level["bins"].as_u64().unwrap() as usize;
            let mark = run.named(&level["mark"]);
            let mut expected = vec![0.0; mark.len()];
            for task in trace.tables.tasks.iter().filter(|t| slow.contains(&t.task)) {
                let (first, last) = touched(run, trace, task, bins);
                let at = usize::from(task.worker) * bins;
                assert_eq!(mark[at + first], 1.0, "task {}", task.task);
                expected[at + first..=at + last].fill(1.0);
                checked += 1;
            }
            // None without a reason either.
            assert!(mark.iter().zip(&expected).all(|(mark, most)| mark <= most));
        }
    }
    assert!(checked > 1000, "{checked}");
}

#[test]
fn loads_of_tree_rows_add_up_to_the_time_in_their_tasks() {
    for Sample { trace, run, .. } in &*SAMPLES {
        let panel = run.panel("tree").unwrap();
        let workers = trace.tables.workers.len() as f64;
        let of_node = row_of_node(run, panel);
        let codelets = &trace.tables.codelets;
        // By row: in its own tasks, in groups, in assemblies.
        let mut times: BTreeMap<(usize, u64), f64> = BTreeMap::new();
        for (worker, task, time) in worked(trace) {
            let row = of_node[&task.node];
            let own = worker == task.worker;
            let kinds: &[u64] = match &*codelets[usize::from(task.codelet)].name {
                "do_subtree" => &[1],
                // The mark of an assembly is where the task was.
                "init_block" | "block_copy" if own => &[0, 2],
                _ => &[0],
            };
            for &kind in kinds {
                *times.entry((row, kind)).or_default() += time as f64;
            }
        }
        let levels = list(&panel["levels"]);
        let mut whole = 0;
        for level in levels {
            let cells = cells(run, level);
            assert!(cells.is_sorted_by_key(|c| (c.0, c.1, c.2)));
            let places: BTreeSet<_> = cells.iter().map(|c| (c.0, c.1, c.2)).collect();
            assert_eq!(places.len(), cells.len(), "a cell twice");
            if level["each"] != 1 {
                continue;
            }
            whole += 1;
            let width = span(run) / level["bins"].as_f64().unwrap() * workers;
            let mut drawn: BTreeMap<(usize, u64), (f64, f64)> = BTreeMap::new();
            for (band, _, kind, load) in cells.into_iter().filter(|c| c.2 < 3) {
                let sum = drawn.entry((band, kind)).or_default();
                *sum = (sum.0 + load / 255.0 * width, sum.1 + ROUNDING * width);
            }
            for (key, time) in &times {
                let (sum, most) = drawn.get(key).copied().unwrap_or_default();
                assert!(
                    (sum - time).abs() <= most + 1e-6,
                    "{key:?}: {sum} for {time}"
                );
            }
        }
        assert!(whole > 0);
    }
}

/// Band, bin, kind, load.
fn cells(run: &Run, level: &Value) -> Vec<(usize, usize, u64, f64)> {
    let of = |name: &str| run.named(&level["cells"][name]);
    let count = of("load").len();
    let cell = |k: usize| {
        let (band, bin) = (of("band")[k] as usize, of("bin")[k] as usize);
        assert!(band < level["rows"].as_u64().unwrap() as usize);
        assert!(bin < level["bins"].as_u64().unwrap() as usize);
        (band, bin, of("kind")[k] as u64, of("load")[k])
    };
    (0..count).map(cell).collect()
}

fn row_of_node(run: &Run, panel: &Value) -> BTreeMap<u32, usize> {
    let nodes = run.column("nodes.id").iter().map(|id| *id as u32);
    let rows = run.named(&panel["row_of_node"]);
    let known = nodes.zip(rows).filter(|(_, row)| **row > 0.0);
    known.map(|(node, row)| (node, *row as usize - 1)).collect()
}

#[test]
fn no_anomaly_disappears_at_any_level_of_the_tree() {
    for Sample { trace, run, slow } in &*SAMPLES {
        let panel = run.panel("tree").unwrap();
        let of_node = row_of_node(run, panel);
        for level in list(&panel["levels"]) {
            let each = level["each"].as_u64().unwrap() as usize;
            let bins = level["bins"].as_u64().unwrap() as usize;
            let marked: BTreeSet<_> = cells(run, level)
                .into_iter()
                .filter(|cell| cell.2 == 3)
                .map(|cell| (cell.0, cell.1))
                .collect();
            for task in trace.tables.tasks.iter().filter(|t| slow.contains(&t.task)) {
                let (first, _) = touched(run, trace, task, bins);
                let band = of_node[&task.node] / each;
                assert!(marked.contains(&(band, first)), "task {}", task.task);
            }
            assert!(marked.is_empty() == slow.is_empty());
        }
    }
}

#[test]
fn rows_of_the_tree_are_in_the_order_of_submission_and_live_as_long_as_their_tasks() {
    for Sample { trace, run, .. } in &*SAMPLES {
        let panel = run.panel("tree").unwrap();
        let of_node = row_of_node(run, panel);
        let of = |name: &str| run.named(&panel["rows"][name]);
        let mut first = vec![u64::MAX; of("node").len()];
        for task in &trace.tables.tasks {
            let row = of_node[&task.node];
            first[row] = first[row].min(task.submit_ns);
            let at = |time: u64| (time - begin(trace)) as f64;
            assert!(of("born")[row] <= at(task.start_ns), "row {row}");
            assert!(of("died")[row] >= at(task.end_ns), "row {row}");
        }
        assert!(first.is_sorted());
        for (row, &node) in of("node").iter().enumerate() {
            assert_eq!(of_node[&(node as u32)], row);
            if let Some(parent) = (of("parent")[row] as usize).checked_sub(1) {
                // Above in the tree, if not its direct parent.
                let mut above = trace.tables.fronts[node as usize].parent;
                while above.is_some_and(|a| of_node.get(&a) != Some(&parent)) {
                    above = trace.tables.fronts[above.unwrap() as usize].parent;
                }
                assert!(above.is_some(), "row {row}: {parent} is not above");
            }
        }
    }
}
