//! Rules about workers, the submission and the recorder.

use super::{SEEDS, fact, said};
use crate::common::Random;
use crate::twin::{Doing, Tree, World, play, world};
use serde_json::{Value, json};
use treeqr_profiling::hints::Severity;
use treeqr_profiling::trace::Trace;
use treeqr_profiling::trace::schema::*;

#[test]
fn a_slow_worker_is_named() {
    for seed in SEEDS {
        let tree = Tree::broad(seed);
        let slow = |factor: f64| {
            let of = move |d: &Doing<'_>| if d.worker == 2 { factor } else { 1.0 };
            play(
                &tree,
                &World {
                    factor: &of,
                    ..world(seed)
                },
            )
        };
        for factor in [1.5, 2.0, 4.0] {
            let hint = said(&slow(factor), "slow_worker").expect("a slow worker");
            assert!(hint.title.starts_with("CPU2 was slower"), "{hint:?}");
            let told = fact(&hint, "CPU2")
                .split(' ')
                .next()
                .unwrap()
                .parse::<f64>()
                .unwrap();
            assert!((told / factor - 1.0).abs() < 0.1, "{told} and not {factor}");
            assert_eq!(hint.severity, Severity::Cause);
        }
        assert_eq!(said(&slow(1.1), "slow_worker"), None);
        // As much time lost, by tasks here and there.
        let some = |d: &Doing<'_>| if d.id.is_multiple_of(9) { 3.0 } else { 1.0 };
        let trace = play(
            &tree,
            &World {
                factor: &some,
                ..world(seed)
            },
        );
        assert_eq!(said(&trace, "slow_worker"), None);
    }
}

#[test]
fn units_that_are_shared_are_counted() {
    let clean = play(&Tree::broad(1), &world(1));
    let mut trace = clean.clone();
    trace
        .manifest
        .machine
        .insert("usable_units".to_owned(), json!([0, 1, 2, 3]));
    assert_eq!(said(&trace, "units_shared"), None);
    trace
        .manifest
        .machine
        .insert("usable_units".to_owned(), json!([0, 1]));
    let hint = said(&trace, "units_shared").expect("more workers than units");
    assert_eq!((fact(&hint, "Workers on CPUs"), hint.part), ("4", 0.5));

    let mut trace = clean.clone();
    for (worker, unit) in trace.tables.workers.iter_mut().zip([3, 5, 5, 6]) {
        worker.bound_to = Some(unit);
    }
    let hint = said(&trace, "units_shared").expect("two on one unit");
    assert_eq!(fact(&hint, "On unit 5"), "CPU1 and CPU2");
    trace.tables.workers[2].bound_to = Some(4);
    assert_eq!(said(&trace, "units_shared"), None);

    let makespan = clean.tables.tasks.iter().map(|t| t.end_ns).max().unwrap();
    let off = |part: f64, reason| {
        let mut trace = clean.clone();
        let row = |k: u64| Switch {
            worker: Some(1),
            out_ns: makespan / 10 * k,
            in_ns: Some(makespan / 10 * k + (makespan as f64 * part / 5.0) as u64),
            from_unit: 0,
            to_unit: Some(0),
            reason,
        };
        trace.tables.switches = (2..7).map(row).collect();
        said(&trace, "units_shared")
    };
    let hint = off(0.1, SwitchReason::Preempted).expect("taken away");
    assert!(
        hint.title.ends_with("CPU1") && fact(&hint, "CPU1 off its unit").contains("10 %"),
        "{hint:?}"
    );
    assert_eq!(off(0.005, SwitchReason::Preempted), None);
    assert_eq!(off(0.1, SwitchReason::Voluntary), None);
}

#[test]
fn a_submission_that_takes_time_from_a_worker_is_told() {
    for seed in SEEDS {
        let tree = Tree::broad(seed);
        // A third of the run, submitted without haste.
        let submit_ns = 15_000;
        let end = 1000 + submit_ns * tree.jobs.len() as u64;
        let shared = |d: &Doing<'_>| {
            if d.worker == 0 && d.start_ns < end {
                1.8
            } else {
                1.0
            }
        };
        let with = |factor: &dyn Fn(&Doing<'_>) -> f64| {
            play(
                &tree,
                &World {
                    submit_ns,
                    factor,
                    ..world(seed)
                },
            )
        };
        let mut trace = with(&shared);
        let hint = said(&trace, "submission_perturbs").expect("perturbed");
        assert!(fact(&hint, "Most of it on").starts_with("CPU0"), "{hint:?}");
        // With a processor of its own it can take none from others.
        trace
            .manifest
            .machine
            .insert("usable_units".to_owned(), json!([0, 1, 2, 3, 4]));
        assert_eq!(said(&trace, "submission_perturbs"), None);
        assert_eq!(said(&with(&|_| 1.0), "submission_perturbs"), None);
        // As many slow tasks, at any time.
        let some = |d: &Doing<'_>| if d.id.is_multiple_of(8) { 1.8 } else { 1.0 };
        assert_eq!(said(&with(&some), "submission_perturbs"), None);
    }
}

#[test]
fn a_submission_that_is_too_slow_is_told() {
    let tree = Tree::broad(3);
    let at = |submit_ns| {
        said(
            &play(
                &tree,
                &World {
                    submit_ns,
                    ..world(3)
                },
            ),
            "submission_slow",
        )
    };
    let hint = at(200_000).expect("too slow");
    assert!(hint.part > 0.3, "{hint:?}");
    assert_eq!(at(300), None);
}

#[test]
fn spills_that_disturb_are_told_from_those_that_do_not() {
    for seed in SEEDS {
        let tree = Tree::broad(seed);
        let clean = play(&tree, &world(seed));
        let end = clean.manifest.run.end_ns;
        let spans: Vec<(u64, u64)> = (1..5)
            .map(|k| (end / 7 * k, end / 7 * k + end / 60))
            .collect();
        let spill = |trace: &mut Trace| {
            let row = |&(start_ns, end_ns): &(u64, u64)| Spill {
                worker: None,
                start_ns,
                end_ns,
                bytes: 65536,
            };
            trace.tables.spills = spans.iter().map(row).collect();
        };
        assert_eq!(said(&clean, "recorder_spills"), None);
        let mut quiet = clean.clone();
        spill(&mut quiet);
        let hint = said(&quiet, "recorder_spills").expect("a note");
        assert_eq!(
            (hint.severity, hint.part),
            (Severity::Note, 0.0),
            "{hint:?}"
        );

        let in_spill = |d: &Doing<'_>| spans.iter().any(|s| s.0 <= d.start_ns && d.start_ns < s.1);
        let slower = |d: &Doing<'_>| if in_spill(d) { 2.5 } else { 1.0 };
        let mut slow = play(
            &tree,
            &World {
                factor: &slower,
                ..world(seed)
            },
        );
        spill(&mut slow);
        let hint = said(&slow, "recorder_spills").expect("a cause");
        assert!(
            hint.severity == Severity::Cause && hint.text.contains("took longer"),
            "{hint:?}"
        );

        let mut held = play(
            &tree,
            &World {
                hold: spans.clone(),
                ..world(seed)
            },
        );
        spill(&mut held);
        let hint = said(&held, "recorder_spills").expect("a cause");
        assert!(
            hint.severity == Severity::Cause && hint.text.contains("waited more"),
            "{hint:?}"
        );

        // Long slow tasks touch more than others; that is no effect of the writing.
        let some = |d: &Doing<'_>| if d.id.is_multiple_of(13) { 4.0 } else { 1.0 };
        let mut other = play(
            &tree,
            &World {
                factor: &some,
                ..world(seed)
            },
        );
        spill(&mut other);
        assert_eq!(
            said(&other, "recorder_spills").unwrap().severity,
            Severity::Note
        );
    }
}

#[test]
fn a_bad_split_is_told_with_the_classes_that_are_wrong() {
    for seed in SEEDS {
        // One codelet is ten times as fast on the device, the other as fast as on a CPU.
        let made = |share: u64| {
            let mut random = Random::new(seed + 5);
            let mut trace = crate::hand::empty(4, 1, 0);
            let mut at = [0_u64; 5];
            for k in 0..400_u64 {
                let fast = k % 2 == 0;
                let on_device = fast && random.below(100) < share;
                let worker = if on_device || (!fast && k % 40 == 1) {
                    4
                } else {
                    (random.below(4)) as usize
                };
                let took = 10_000 + random.below(500) - if fast && worker == 4 { 9_000 } else { 0 };
                let task = crate::hand::task(
                    &mut trace,
                    u16::from(fast),
                    worker as u16,
                    at[worker],
                    at[worker] + took,
                );
                task.flops = 40_000;
                at[worker] += took;
            }
            let end = *at.iter().max().unwrap();
            trace.manifest.run.end_ns = end;
            trace.tables.workers.iter_mut().for_each(|w| w.end_ns = end);
            trace
        };
        let hint = said(&made(10), "device_split").expect("a bad split");
        assert!(hint.title.starts_with("cpu "), "{hint:?}");
        assert!(
            hint.evidence.iter().any(|f| f.label.starts_with("c1 of")),
            "{hint:?}"
        );
        assert_eq!(said(&made(98), "device_split"), None, "seed {seed}");
    }
}

/// Tasks of two speeds that one worker did more of, as denormal columns that stay on one: it is not slow.
#[test]
fn a_worker_with_more_of_the_slow_tasks_is_not_slow() {
    for seed in SEEDS {
        let mut trace = crate::hand::empty(2, 0, 0);
        let mut random = Random::new(seed + 40);
        let mut at = [0; 2];
        for k in 0..600_u32 {
            let worker = usize::from(k % 2 == 0);
            let slow = random.below(100) < if worker == 1 { 56 } else { 44 };
            let took = (10_000 + random.below(800)) * if slow { 14 } else { 1 };
            let task =
                crate::hand::task(&mut trace, 1, worker as u16, at[worker], at[worker] + took);
            // A column is slow or fast.
            (task.flops, task.tile_col) = (40_000, Some(u32::from(slow)));
            at[worker] += took;
        }
        let end = at[0].max(at[1]);
        trace.manifest.run.end_ns = end;
        trace.tables.workers.iter_mut().for_each(|w| w.end_ns = end);
        assert_eq!(said(&trace, "slow_worker"), None, "seed {seed}");
        trace
            .manifest
            .options
            .insert("keep_denormals".to_owned(), Value::Bool(true));
        assert!(said(&trace, "denormals").is_some(), "seed {seed}");
    }
}
