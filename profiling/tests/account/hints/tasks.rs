//! Rules about tasks that take longer, wait, or are too few.

use super::{SEEDS, fact, said};
use crate::twin::{BLOCK_COPY, Doing, GEMQRT, INIT_FRONT, TPMQRT, Tree, World, play, world};
use serde_json::Value;
use treeqr_profiling::hints::Severity;
use treeqr_profiling::trace::Trace;
use treeqr_profiling::trace::schema::*;

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
fn a_task_that_was_held_up_is_told_unless_a_record_says_why() {
    for seed in SEEDS {
        let tree = Tree::broad(seed);
        let jobs = tree.jobs.iter().enumerate();
        let of = |codelet| {
            let of = jobs.clone().filter(move |(_, job)| job.codelet == codelet);
            of.map(|(k, _)| k as u32).collect::<Vec<_>>()
        };
        let with = |chosen: &[u32], longer: f64| {
            let factor = |d: &Doing<'_>| if chosen.contains(&d.id) { longer } else { 1.0 };
            play(
                &tree,
                &World {
                    factor: &factor,
                    ..world(seed)
                },
            )
        };
        let updates = of(TPMQRT);
        let one = [updates[updates.len() / 2]];
        let trace = with(&one, 1000.0);
        let hint = said(&trace, "held_up").expect("one task");
        assert!(hint.title.starts_with("1 task was held up"), "{hint:?}");
        let slowest = trace.tables.tasks.iter();
        let slowest = slowest.max_by_key(|t| t.end_ns - t.start_ns).unwrap();
        assert_eq!(hint.place.as_ref().unwrap().tasks, [slowest.task]);
        let told = fact(&hint, &format!("tpmqrt of node {}", slowest.node));
        let over: f64 = told
            .split(", ")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!((over / 1000.0 - 1.0).abs() < 0.3, "{told}");

        // Neither a little longer, nor many tasks; and not what the records explain.
        assert_eq!(said(&with(&one, 3.0), "held_up"), None);
        let many: Vec<u32> = updates.iter().copied().step_by(4).collect();
        assert_eq!(said(&with(&many, 1000.0), "held_up"), None);
        let mut away = trace.clone();
        away.tables.counters.push(Counter {
            task: slowest.task,
            counter: "page_faults".to_owned(),
            value: (slowest.end_ns - slowest.start_ns) / 2000,
        });
        assert_eq!(said(&away, "held_up"), None);
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
