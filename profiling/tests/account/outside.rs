//! Against programs that are not ours: networkx for the critical path, scipy's HiGHS for the area bound.
//!
//! `TREEQR_PYTHON` names an interpreter that has them (`python3` if it is not set). Without them the test says that it was
//! skipped.

use crate::hand::{random_graph, random_machine};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};
use treeqr_profiling::account::{area_bound, critical_path};

const SCRIPT: &str = include_str!("oracle.py");

/// What the script says to `cases`; none where it cannot run.
fn oracle(library: &str, cases: &Value) -> Option<Value> {
    let python = std::env::var("TREEQR_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let import = Command::new(&python)
        .args(["-c", &format!("import {library}")])
        .stderr(Stdio::null())
        .status();
    if !import.is_ok_and(|status| status.success()) {
        // Past the capture of tests, so that it is seen.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: {python} cannot import {library} (TREEQR_PYTHON)"
        );
        return None;
    }
    let mut child = Command::new(&python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it ran a moment ago");
    let mut stdin = child.stdin.take().expect("piped");
    stdin
        .write_all(cases.to_string().as_bytes())
        .expect("it reads all");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "the script failed");
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[test]
fn networkx_finds_the_same_path_length() {
    let traces: Vec<_> = (0..40)
        .map(|seed| random_graph(seed, 20 + 7 * seed as u32, 5))
        .collect();
    let case = |trace: &treeqr_profiling::trace::Trace| {
        let tables = &trace.tables;
        let durations: Vec<u64> = tables.tasks.iter().map(|t| t.end_ns - t.start_ns).collect();
        let edges: Vec<_> = tables
            .dependencies
            .iter()
            .map(|e| [e.predecessor, e.task])
            .collect();
        json!({"durations": durations, "edges": edges})
    };
    let cases = json!({"path": traces.iter().map(case).collect::<Vec<_>>()});
    let Some(answer) = oracle("networkx", &cases) else {
        return;
    };
    let lengths = answer["path"].as_array().expect("a list");
    assert_eq!(lengths.len(), traces.len());
    for (trace, length) in traces.iter().zip(lengths) {
        assert_eq!(Some(critical_path(trace).length_ns), length.as_u64());
    }
}

#[test]
fn scipy_finds_the_same_area_bound() {
    let trace = |seed: u64| {
        random_machine(
            seed,
            1 + (seed % 7) as u16,
            (seed % 6) as u16,
            20 + 20 * seed as u32,
        )
    };
    let areas: Vec<_> = (0..40)
        .map(|seed| area_bound(&trace(seed)).unwrap())
        .collect();
    let case = |area: &treeqr_profiling::account::AreaBound| {
        let workers: Vec<u64> = area.resources.iter().map(|r| r.workers).collect();
        let tasks: Vec<u64> = area.classes.iter().map(|c| c.tasks).collect();
        let times: Vec<_> = area.classes.iter().map(|c| &c.mean_ns).collect();
        json!({"workers": workers, "tasks": tasks, "times": times})
    };
    let cases = json!({"area": areas.iter().map(case).collect::<Vec<_>>()});
    let Some(answer) = oracle("scipy.optimize", &cases) else {
        return;
    };
    let bounds = answer["area"].as_array().expect("a list");
    assert_eq!(bounds.len(), areas.len());
    for (area, bound) in areas.iter().zip(bounds) {
        let bound = bound.as_f64().expect("a number");
        assert!(
            (area.bound_ns - bound).abs() <= 1e-6 * bound,
            "{} and {bound}",
            area.bound_ns
        );
    }
}
