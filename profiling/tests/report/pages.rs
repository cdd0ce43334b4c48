//! Pages as files: what they need, how large they are, and traces that none can be made of.

use crate::common::samples::samples;
use crate::common::{Shape, random};
use crate::decoder::{Run, decoded, run_of};
use crate::{anomalies, with_anomalies};
use serde_json::{Value, json};
use std::fs;
use treeqr_profiling::account::{Steps, tasks_over_time};
use treeqr_profiling::panels::PANELS;
use treeqr_profiling::report::{Options, ReportError, page, write};
use treeqr_profiling::trace::Trace;

fn html(trace: &Trace) -> String {
    page(&[trace], &Options::default()).expect("a page")
}

/// Every number is one, and a null only where there may be nothing.
fn whole(value: &Value, path: &str) {
    const OPTIONAL: [&str; 15] = [
        "comparison",
        "note",
        "bounds",
        "cells",
        "target",
        "steps",
        "instead",
        "axis",
        "nodes",
        "tasks",
        "place",
        "panel",
        "from_ns",
        "to_ns",
        "helping",
    ];
    match value {
        Value::Null => {
            let key = path.rsplit('.').next().unwrap_or_default();
            assert!(OPTIONAL.contains(&key), "null at {path}");
        }
        Value::Array(list) => list
            .iter()
            .for_each(|value| whole(value, &format!("{path}[]"))),
        Value::Object(map) => {
            map.iter()
                .for_each(|(key, value)| whole(value, &format!("{path}.{key}")));
        }
        _ => {}
    }
}

/// All columns that a panel names are there.
fn named(run: &Run, value: &Value, key: &str) {
    const COLUMNS: [&str; 20] = [
        "codelet",
        "fill",
        "mark",
        "lane",
        "kind_of",
        "start",
        "duration",
        "born",
        "died",
        "band",
        "bin",
        "load",
        "mean",
        "max",
        "time",
        "value",
        "row_of_node",
        "has_groups",
        "size",
        "task",
    ];
    match value {
        Value::String(_) if COLUMNS.contains(&key) => drop(run.named(value)),
        Value::Array(list) => list.iter().for_each(|value| named(run, value, "")),
        Value::Object(map) => map.iter().for_each(|(key, value)| named(run, value, key)),
        _ => {}
    }
}

#[test]
fn every_trace_that_is_sound_has_a_page() {
    for (name, trace) in samples() {
        let html = html(&trace);
        assert!(
            html.starts_with("<!doctype html>") && html.ends_with("</html>\n"),
            "{name}"
        );
        let (head, runs) = decoded(&html);
        whole(&head, "");
        assert_eq!(head["version"], 1);
        let run = &runs[0];
        assert!(run.head["span_ns"].as_u64().unwrap() > 0, "{name}");
        for panel in run.head["panels"].as_array().unwrap() {
            named(run, panel, "");
            let about = panel["about"].as_str().unwrap();
            assert!(about.ends_with('.') && !about.ends_with(".."), "{about}");
        }
        for worker in run.head["workers"].as_array().unwrap() {
            assert!(
                (0.0..=1.0).contains(&worker["idle"].as_f64().unwrap()),
                "{name}"
            );
        }
    }
}

/// But for states, which are a face of the Gantt chart.
#[test]
fn every_panel_that_is_a_picture_is_on_the_page() {
    let run = run_of(&with_anomalies(Shape::small(5)));
    let missing = PANELS.iter().map(|panel| panel.name);
    let missing: Vec<_> = missing
        .filter(|name| *name != "states" && run.panel(name).is_none())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn curves_are_those_of_the_rows() {
    for seed in 0..6 {
        let trace = random(Shape::small(seed));
        let run = run_of(&trace);
        let series = &run.panel("ready").unwrap()["series"][0];
        let begin = trace.manifest.run.begin_ns;
        let expected: Steps = tasks_over_time(&trace).ready;
        let time = run.named(&series["steps"]["time"]);
        let value = run.named(&series["steps"]["value"]);
        let found: Vec<(u64, f64)> = time
            .iter()
            .zip(value)
            .map(|(t, v)| (*t as u64, *v))
            .collect();
        let expected: Vec<(u64, f64)> = expected
            .steps
            .iter()
            .map(|s| (s.time_ns - begin, s.value))
            .collect();
        assert_eq!(found, expected, "seed {seed}");
        // Bins are as long as each other, and what they hold is what the steps hold.
        let mean = run.named(&series["bins"]["mean"]);
        let max = run.named(&series["bins"]["max"]);
        let span = run.head["span_ns"].as_f64().unwrap();
        let waited: f64 = trace
            .tables
            .tasks
            .iter()
            .map(|t| (t.pop_ns - t.ready_ns) as f64)
            .sum();
        let area: f64 = mean.iter().sum::<f64>() * span / mean.len() as f64;
        assert!((area - waited).abs() < 1e-3 * waited, "{area} for {waited}");
        let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        assert_eq!(most(max), most(value));
    }
}

#[test]
fn texts_of_users_stay_texts() {
    let mut trace = random(Shape::small(2));
    let evil = "</script><script>alert(1)</script><!-- & \u{7} \u{2028} \"'";
    trace.manifest.matrix.insert("name".into(), evil.into());
    trace.manifest.command = vec![evil.into()];
    trace.manifest.run.scheduler = evil.into();
    trace.tables.workers[0].name = evil.into();
    trace.tables.codelets[0].name = evil.into();
    let html = html(&trace);
    let (head, runs) = decoded(&html);
    assert_eq!(runs[0].head["name"], evil);
    assert_eq!(runs[0].head["workers"][0]["name"], evil);
    assert_eq!(head["title"], evil);
    assert!(!html.contains("alert(1)</script>"));
    // The head, the columns and the script are all the elements there are.
    let scripts = html.matches("<script").count() - in_script(&html).matches("<script").count();
    assert_eq!(scripts, 3);
    let title = html
        .split_once("<title>")
        .unwrap()
        .1
        .split_once("</title>")
        .unwrap()
        .0;
    assert!(
        !title.contains('<') && title.contains("&lt;/script&gt;"),
        "{title}"
    );
}

/// The page's own script.
fn in_script(html: &str) -> &str {
    html.rsplit_once("<script>\n").unwrap().1
}

#[test]
fn two_traces_are_one_page_with_their_comparison() {
    let first = with_anomalies(Shape::small(5));
    let mut second = with_anomalies(Shape::small(5));
    // One that is slow in the first run only: it is the first of its list.
    let lost = anomalies(&first).into_iter().min().unwrap();
    let row = &mut second.tables.tasks[lost as usize];
    row.end_ns = row.start_ns + 20 + row.flops / 10_000;
    let html = page(&[&first, &second], &Options::default()).unwrap();
    let (head, runs) = decoded(&html);
    whole(&head, "");
    assert_eq!(runs.len(), 3);
    for (run, trace) in runs.iter().zip([&first, &second]) {
        assert_eq!(run.column("tasks.id").len(), trace.tables.tasks.len());
    }
    assert_ne!(head["runs"][0]["name"], head["runs"][1]["name"]);
    let compared = &runs[2];
    for panel in compared.head["panels"].as_array().unwrap() {
        named(compared, panel, "");
    }
    let only = compared.panel("slow-in-first").unwrap();
    assert!(
        only["tasks"]
            .as_array()
            .unwrap()
            .contains(&json!([lost, lost]))
    );
    // What is marked as slow in both runs is in the list of those.
    let both = compared.panel("slow-in-both").unwrap()["tasks"]
        .as_array()
        .unwrap();
    for (k, run) in runs[..2].iter().enumerate() {
        let marks = run.column("tasks.mark").iter().zip(run.column("tasks.id"));
        let twice = marks.filter(|(mark, _)| **mark as u8 & 4 != 0);
        let mut twice: Vec<u64> = twice.map(|(_, id)| *id as u64).collect();
        twice.sort_unstable();
        let mut listed: Vec<u64> = both.iter().map(|pair| pair[k].as_u64().unwrap()).collect();
        listed.sort_unstable();
        assert_eq!(twice, listed);
        assert!(!twice.is_empty() && !twice.contains(&lost.into()));
    }
    // Both curves end with all operations, and their difference with none.
    let last = |panel: &str, series: usize| {
        let series = &compared.panel(panel).unwrap()["series"][series];
        *compared.named(&series["steps"]["value"]).last().unwrap()
    };
    let flops: u64 = first.tables.tasks.iter().map(|task| task.flops).sum();
    assert_eq!(last("flops-done", 0), f64::from(flops as f32));
    assert_eq!(last("flops-done", 0), last("flops-done", 1));
    assert_eq!(last("flops-difference", 0), 0.0);
    let names = ["one", "other"].map(str::to_owned).to_vec();
    let (head, _) = decoded(&page(&[&first, &second], &Options { names }).unwrap());
    assert_eq!(head["title"], "one and other");
}

#[test]
fn a_report_is_of_one_trace_or_two() {
    let one = &random(Shape::small(1));
    let failed = |traces: &[&Trace]| page(traces, &Options::default()).unwrap_err();
    assert!(matches!(failed(&[]), ReportError::Count { count: 0 }));
    assert!(matches!(
        failed(&[one, one, one]),
        ReportError::Count { count: 3 }
    ));
    // Of different matrices there is a page too, and it says what cannot be compared.
    let mut other = random(Shape::small(2));
    other
        .manifest
        .matrix
        .insert("name".into(), "another".into());
    let (head, _) = decoded(&page(&[one, &other], &Options::default()).unwrap());
    let notes = head["comparison"]["notes"].to_string();
    assert!(notes.contains("different matrices"), "{notes}");
}

#[test]
fn malformed_traces_are_refused_with_their_row() {
    type Damage = fn(&mut Trace);
    let damages: [(Damage, &str); 12] = [
        (|t| t.tables.tasks.clear(), "nothing to draw"),
        (|t| t.tables.tasks[6].end_ns = 0, "tasks, row 7"),
        (|t| t.tables.tasks[6].submit_ns = u64::MAX, "tasks, row 7"),
        (|t| t.tables.tasks[6].ready_ns = 0, "tasks, row 7"),
        (|t| t.tables.tasks[6].ready_ns = u64::MAX, "tasks, row 7"),
        (|t| t.tables.tasks[6].end_ns = u64::MAX, "tasks, row 7"),
        (|t| t.tables.tasks[6].flops = u64::MAX, "tasks, row 7"),
        (
            |t| t.tables.tasks[6].task = 5,
            "tasks, row 7: task 5 is there twice",
        ),
        (
            |t| t.tables.dependencies[3].predecessor = u32::MAX,
            "dependencies, row 4",
        ),
        (|t| t.tables.fronts[0].parent = Some(0), "fronts, row 1"),
        (|t| t.tables.workers[0].worker = 1, "workers, row 2"),
        (|t| t.tables.states[0].end_ns = 0, "states, row 1"),
    ];
    for (damage, said) in damages {
        let good = random(Shape::small(5));
        let mut bad = good.clone();
        damage(&mut bad);
        let error = page(&[&bad], &Options::default()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}, not {said}");
        let error = page(&[&good, &bad], &Options::default())
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("trace 2: "), "{error}");
    }
}

#[test]
fn too_many_kinds_of_tasks_are_refused() {
    let mut trace = random(Shape {
        tasks: 400,
        ..Shape::small(5)
    });
    for (k, task) in trace.tables.tasks.iter_mut().enumerate() {
        task.codelet = 100 + k as u16;
    }
    let error = page(&[&trace], &Options::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("kinds of tasks"), "{error}");
}

#[test]
fn a_file_is_complete_or_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/report.html");
    write(&path, "one", false).unwrap();
    assert!(matches!(
        write(&path, "two", false),
        Err(ReportError::Exists { .. })
    ));
    assert_eq!(fs::read(&path).unwrap(), b"one");
    write(&path, "two", true).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    let inner = folder.path().join("a");
    assert!(write(&inner, "three", true).is_err() && path.exists());
    assert_eq!(fs::read_dir(inner).unwrap().count(), 1);
}

/// Bytes of a page by task: a million of them are to be less than 30 MB.
fn bytes_a_task(tasks: usize) -> f64 {
    let trace = random(Shape {
        seed: 1,
        tasks,
        cpus: 16,
        devices: 0,
    });
    html(&trace).len() as f64 / trace.tables.tasks.len() as f64
}

#[test]
fn pages_are_small() {
    // With what does not grow with the tasks: bins, and the script.
    let bytes = bytes_a_task(100_000);
    assert!(bytes < 35.0, "{bytes} bytes a task");
}

#[test]
#[ignore = "half a minute; `just test-large`"]
fn a_million_tasks_are_less_than_thirty_megabytes() {
    let bytes = bytes_a_task(1_000_000);
    assert!(bytes < 30.0, "{bytes} bytes a task");
}
