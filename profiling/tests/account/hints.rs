//! Every rule on a run that has its cause, planted at a known size, and on a twin that has not: the same tasks without the effect, or with
//! as much time lost in another way.

use crate::common::{Random, Shape, random};
use crate::twin::{BLOCK_COPY, Doing, GEMQRT, INIT_FRONT, TPMQRT, Tree, World, play, world};
use serde_json::{Value, json};
use treeqr_profiling::hints::{Computed, Hint, RULES, Severity, all, hints};
use treeqr_profiling::panels::PANELS;
use treeqr_profiling::trace::schema::*;
use treeqr_profiling::trace::{Trace, TraceKind};

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
        let some = |d: &Doing<'_>| if d.id % 9 == 0 { 3.0 } else { 1.0 };
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
        let some = |d: &Doing<'_>| if d.id % 8 == 0 { 1.8 } else { 1.0 };
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
        let some = |d: &Doing<'_>| if d.id % 13 == 0 { 4.0 } else { 1.0 };
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
fn denormals_are_told_from_interruptions() {
    for seed in SEEDS {
        let tree = Tree::broad(seed);
        let root = tree.fronts.len() as u32 - 1;
        // Two tile columns of the root.
        let denormal = |d: &Doing<'_>| {
            let column = d.job.tile[2].is_some_and(|j| j >= 8);
            if d.job.node == root && d.job.codelet == TPMQRT && column {
                15.0
            } else {
                1.0
            }
        };
        let tasks: Vec<_> = tree
            .jobs
            .iter()
            .enumerate()
            .filter(|(_, job)| job.codelet == TPMQRT)
            .collect();
        let hit = tasks
            .iter()
            .filter(|(_, job)| job.node == root && job.tile[2] >= Some(8))
            .count();
        let every = tasks.len() / hit;
        // As many of that codelet, anywhere.
        let chosen: Vec<u32> = tasks.iter().step_by(every).map(|t| t.0 as u32).collect();
        let interrupted = |d: &Doing<'_>| if chosen.contains(&d.id) { 15.0 } else { 1.0 };
        let with = |factor: &dyn Fn(&Doing<'_>) -> f64, kept: Option<bool>| {
            let mut trace = play(
                &tree,
                &World {
                    factor,
                    ..world(seed)
                },
            );
            if let Some(kept) = kept {
                trace
                    .manifest
                    .options
                    .insert("keep_denormals".to_owned(), Value::Bool(kept));
            }
            trace
        };
        let mut trace = with(&denormal, Some(true));
        let hint = said(&trace, "denormals").expect("denormals");
        assert!(
            hint.severity == Severity::Cause && hint.title.contains("tpmqrt"),
            "{hint:?}"
        );
        let told = fact(&hint, "They took")
            .split(' ')
            .next()
            .unwrap()
            .parse::<f64>()
            .unwrap();
        assert!((told / 15.0 - 1.0).abs() < 0.2, "{told} and not 15");
        assert_eq!(hint.place.as_ref().unwrap().nodes, [root]);
        assert_eq!(
            said(&with(&denormal, None), "denormals").unwrap().severity,
            Severity::Note
        );
        assert_eq!(said(&with(&denormal, Some(false)), "denormals"), None);
        assert_eq!(said(&with(&interrupted, Some(true)), "denormals"), None);
        assert_eq!(said(&with(&|_| 1.0, Some(true)), "denormals"), None);

        // Counters that say that the processor did not stall.
        let counted = |trace: &mut Trace, stalled: u64| {
            let slow = |t: &Task| t.node == root && t.codelet == TPMQRT && t.tile_col >= Some(8);
            trace.tables.counters = (trace.tables.tasks.iter())
                .flat_map(|t| {
                    let cycles = t.flops * if slow(t) { stalled } else { 1 };
                    [("cycles", cycles), ("instructions", t.flops)].map(|(name, value)| Counter {
                        task: t.task,
                        counter: name.to_owned(),
                        value,
                    })
                })
                .collect();
        };
        counted(&mut trace, 1);
        assert_eq!(said(&trace, "denormals"), None);
        counted(&mut trace, 15);
        let hint = said(&trace, "denormals").expect("the counters fit");
        assert_eq!(
            fact(&hint, "Cycles for an instruction"),
            "15.00 in slow tasks, 1.00 in others"
        );
    }
}

#[test]
fn page_faults_are_told_by_their_lowest_price() {
    let clean = play(&Tree::broad(2), &world(2));
    let counted = |each: u64| {
        let mut trace = clean.clone();
        let tasks = trace
            .tables
            .tasks
            .iter()
            .filter(|t| t.codelet == INIT_FRONT);
        let row = |t: &Task| Counter {
            task: t.task,
            counter: "page_faults".to_owned(),
            value: each,
        };
        trace.tables.counters = tasks.map(row).collect();
        said(&trace, "page_faults")
    };
    let hint = counted(20_000).expect("many faults");
    assert!(
        fact(&hint, "Most of them in").starts_with("init_front, 100 %"),
        "{hint:?}"
    );
    assert_eq!(counted(10), None);
}

#[test]
fn subtrees_that_slow_each_other_down_are_told_with_their_rate() {
    for seed in SEEDS {
        // Sixty at any time, then forty one after the other.
        let mut tree = Tree::new(seed);
        (0..100).for_each(|_| _ = tree.subtree(1_000_000));
        for k in 60..100 {
            tree.jobs[k].waits = if k == 60 {
                (40..60).collect()
            } else {
                vec![k as u32 - 1]
            };
        }
        let crowd = |rate: f64| {
            let of = move |d: &Doing<'_>| match d.job.codelet {
                crate::twin::DO_SUBTREE => (rate * d.subtrees as f64).exp(),
                _ => 1.0,
            };
            said(
                &play(
                    &tree,
                    &World {
                        factor: &of,
                        ..world(seed)
                    },
                ),
                "subtrees_slow_each_other",
            )
        };
        let hint = crowd(0.4).expect("a crowd");
        let told = fact(&hint, "Each further subtree")
            .split(' ')
            .next()
            .unwrap()
            .parse::<f64>()
            .unwrap();
        // exp(0.4) is 1.49. How many ran is known at the start of a task, and changes until its end.
        assert!((1.2..1.8).contains(&told), "seed {seed}: {hint:?}");
        assert!(hint.text.contains("--subtree-workers"), "{hint:?}");
        assert_eq!(crowd(0.0), None, "seed {seed}");
    }
}

#[test]
fn copies_that_wait_are_told_where_the_run_waits_for_them() {
    for seed in SEEDS {
        // A front whose chain of tiles is long, and much that can be done meanwhile.
        let make = |late: bool| {
            let mut tree = Tree::new(seed);
            let leaves: Vec<_> = (0..4).map(|_| tree.subtree(500_000)).collect();
            let top = tree.tiled(&leaves, 1, 4_000_000);
            let mut node = top;
            for _ in 0..12 {
                node = tree.tiled(&[node], 1, 4_000_000);
            }
            (0..100).for_each(|_| _ = tree.subtree(500_000));
            tree.prioritise();
            for job in &mut tree.jobs {
                let begins = matches!(job.codelet, INIT_FRONT | BLOCK_COPY);
                if job.node == top && begins {
                    job.priority = if late { -1 } else { i64::MAX };
                }
            }
            play(&tree, &world(seed))
        };
        let late = make(true);
        let hint = said(&late, "late_copies").expect("late");
        assert!(hint.title.contains("init_front"), "{hint:?}");
        assert_eq!(hint.place.unwrap().nodes, [4], "seed {seed}");
        assert_eq!(said(&make(false), "late_copies"), None, "seed {seed}");
    }
}

#[test]
fn why_too_few_tasks_are_ready_is_told() {
    let title = |tree: &Tree, factor: &dyn Fn(&Doing<'_>) -> f64| {
        let trace = play(tree, &World { factor, ..world(5) });
        said(&trace, "few_tasks").map(|hint| hint.title)
    };
    let even = |_: &Doing<'_>| 1.0;
    let is = |found: Option<String>, words: &str| {
        assert!(
            found.as_ref().is_some_and(|title| title.contains(words)),
            "{found:?} and not {words}"
        );
    };
    assert_eq!(title(&Tree::broad(5), &even), None);

    // Two long tasks a step.
    let mut coarse = Tree::new(1);
    let leaves: Vec<_> = (0..8).map(|_| coarse.subtree(400_000)).collect();
    let top = coarse.tiled(&leaves, 2, 20_000_000);
    coarse.prioritise();
    is(title(&coarse, &even), "Tiles are too large");
    let trace = play(&coarse, &world(5));
    assert_eq!(
        said(&trace, "few_tasks").unwrap().place.unwrap().nodes,
        [top]
    );

    // Small fronts, each on the one before.
    let mut thin = Tree::new(2);
    let mut node = thin.subtree(400_000);
    for _ in 0..40 {
        node = thin.tiled(&[node], 1, 400_000);
    }
    thin.prioritise();
    is(title(&thin, &even), "tree is too thin");

    // One subtree larger than all others.
    let mut heavy = Tree::new(3);
    (0..12).for_each(|_| _ = heavy.subtree(400_000));
    heavy.subtree(60_000_000);
    heavy.prioritise();
    is(title(&heavy, &even), "One subtree");

    // A chain that is begun when all else is done.
    let mut late = Tree::new(4);
    (0..400).for_each(|_| _ = late.subtree(400_000));
    late.tiled(&[], 1, 400_000);
    let mut node = late.fronts.len() as u32 - 1;
    for _ in 0..120 {
        node = late.tiled(&[node], 1, 400_000);
    }
    // Ranked the wrong way round.
    let many = late.jobs.len() as i64;
    late.jobs
        .iter_mut()
        .enumerate()
        .for_each(|(k, job)| job.priority = many - k as i64);
    is(title(&late, &even), "order of the tasks");

    // One task of many, forty times as long, with nothing else to do meanwhile.
    let broad = Tree::broad(5);
    let last = broad
        .jobs
        .iter()
        .rposition(|job| job.codelet == GEMQRT)
        .unwrap() as u32;
    let stuck = |d: &Doing<'_>| if d.id == last { 400.0 } else { 1.0 };
    is(title(&broad, &stuck), "longer than their kind");
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
