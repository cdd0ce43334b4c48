//! Every rule on a run that has its cause, planted at a known size, and on a twin that has not: the same tasks without the effect, or with
//! as much time lost in another way.

use crate::common::{Shape, random};
use crate::twin::{Doing, Tree, World, play, world};
use serde_json::Value;
use treeqr_profiling::hints::{Computed, Hint, RULES, Severity, all, hints};
use treeqr_profiling::panels::PANELS;
use treeqr_profiling::trace::schema::*;
use treeqr_profiling::trace::{Trace, TraceKind};

mod tasks;
mod workers;

const SEEDS: std::ops::Range<u64> = 0..4;

/// The hint of a rule, after what must hold of all hints.
fn said(trace: &Trace, rule: &str) -> Option<Hint> {
    assert!(RULES.iter().any(|r| r.name == rule), "no rule {rule}");
    let found = hints(trace);
    found.iter().for_each(|hint| sound(trace, hint));
    found.into_iter().find(|hint| hint.rule == rule)
}

fn sound(trace: &Trace, hint: &Hint) {
    assert!(RULES.iter().any(|r| r.name == hint.rule));
    let texts = hint
        .evidence
        .iter()
        .flat_map(|f| [Some(&f.label), Some(&f.text), f.note.as_ref()]);
    for text in texts.flatten().chain([&hint.title, &hint.text]) {
        assert!(
            !text.is_empty() && !text.contains("NaN") && !text.contains("inf "),
            "{hint:?}"
        );
    }
    assert!((0.0..=1.0).contains(&hint.part), "{hint:?}");
    let Some(place) = &hint.place else { return };
    let names: Vec<_> = PANELS.iter().map(|p| p.name).collect();
    assert!(
        place.panel.is_none_or(|panel| names.contains(&panel)),
        "{hint:?}"
    );
    let tables = &trace.tables;
    assert!(
        place
            .tasks
            .iter()
            .all(|&n| tables.tasks.iter().any(|t| t.task == n)),
        "{hint:?}"
    );
    assert!(
        place
            .nodes
            .iter()
            .all(|&n| tables.tasks.iter().any(|t| t.node == n)),
        "{hint:?}"
    );
    let length = trace.manifest.run.end_ns - trace.manifest.run.begin_ns;
    if let (Some(from), Some(to)) = (place.from_ns, place.to_ns) {
        assert!(from <= to && to <= length, "{hint:?}");
    }
}

/// What a fact says.
fn fact<'h>(hint: &'h Hint, label: &str) -> &'h str {
    let fact = hint.evidence.iter().find(|f| f.label == label);
    &fact.unwrap_or_else(|| panic!("no {label}: {hint:?}")).text
}

#[test]
fn names_are_unique_and_a_clean_run_has_no_cause() {
    for (k, rule) in RULES.iter().enumerate() {
        assert!(RULES[..k].iter().all(|other| other.name != rule.name));
        assert!(rule.about.len() > 20);
    }
    for seed in 0..8 {
        for workers in [1, 2, 4] {
            let trace = play(
                &Tree::broad(seed),
                &World {
                    workers,
                    ..world(seed)
                },
            );
            assert_eq!(hints(&trace), [], "seed {seed}, {workers} workers");
        }
    }
}

#[test]
fn missing_records_are_told_first() {
    let mut trace = play(&Tree::broad(1), &world(1));
    assert_eq!(said(&trace, "records_missing"), None);
    trace.manifest.recorder.records = 900;
    trace.manifest.recorder.dropped_records = 100;
    let hint = said(&trace, "records_missing").expect("a note");
    assert_eq!((hint.severity, hint.part), (Severity::Note, 0.1));
    trace.tables.tasks.clear();
    assert!(said(&trace, "records_missing").is_some());
}

/// Random traces, and graphs: no panic, and what hints point to is there. Tasks that only solve, after the others, change no hint
/// about the factorization's submission.
#[test]
fn odd_traces_have_sound_hints() {
    for seed in 0..30 {
        let trace = random(Shape::small(seed));
        hints(&trace).iter().for_each(|hint| sound(&trace, hint));
        let mut graph = trace.clone();
        graph.manifest.kind = TraceKind::Graph;
        assert_eq!(hints(&graph), []);
        let mut odd = trace.clone();
        odd.tables.workers.clear();
        odd.tables.codelets.clear();
        odd.tables.fronts.clear();
        odd.tables
            .tasks
            .iter_mut()
            .step_by(7)
            .for_each(|t| t.end_ns = 0);
        hints(&odd);
        odd.tables.tasks.truncate(1);
        hints(&odd);
    }
    let mut trace = play(&Tree::broad(6), &world(6));
    let end = trace.manifest.run.end_ns;
    trace.tables.codelets.push(Codelet {
        codelet: 9,
        name: "solve_r".to_owned(),
        role: Role::Solve,
    });
    for k in 0..40 {
        let mut task = trace.tables.tasks[0].clone();
        let start = end + 10_000 * u64::from(k / 4);
        (task.task, task.codelet, task.worker) = (10_000 + k, 9, (k % 4) as u16);
        (task.submit_ns, task.ready_ns, task.pop_ns) = (start - 5_000, start, start);
        (task.start_ns, task.end_ns, task.flops) = (start, start + 10_000, 0);
        trace.tables.tasks.push(task);
    }
    let end = end + 100_000;
    trace.manifest.run.end_ns = end;
    for w in &mut trace.tables.workers {
        w.end_ns = end;
    }
    assert_eq!(hints(&trace), []);
}

#[test]
fn what_was_computed_before_gives_the_same_and_json_is_as_the_page_takes_it() {
    let slow = |d: &Doing<'_>| if d.worker == 1 { 3.0 } else { 1.0 };
    let trace = play(
        &Tree::broad(1),
        &World {
            factor: &slow,
            ..world(1)
        },
    );
    let computed = Computed::of(&trace);
    let found = all(&computed.findings(&trace));
    assert_eq!(found, hints(&trace));
    let json = serde_json::to_value(&found).unwrap();
    let keys = |v: &Value| -> Vec<String> { v.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(
        keys(&json[0]),
        ["rule", "severity", "title", "text", "evidence", "place"]
    );
    assert_eq!(json[0]["severity"], "cause");
    assert_eq!(
        keys(&json[0]["place"]),
        ["panel", "from_ns", "to_ns", "tasks", "nodes"]
    );
    assert_eq!(keys(&json[0]["evidence"][0]), ["label", "text", "note"]);
}
