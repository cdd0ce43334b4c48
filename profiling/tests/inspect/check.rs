//! Each rule finds what breaks it, where it is broken; a good trace has no findings.

use crate::sample::{graph, sample, with_device};
use treeqr_profiling::inspect::{CHECKS, Finding, Severity, check};
use treeqr_profiling::trace::schema::{Front, FrontKind, NodeEventKind, Share, State, ThreadState};
use treeqr_profiling::trace::{RunPart, Status, Trace};

fn good() -> Trace {
    with_device(sample(4, 5, 3, 7))
}

fn text(findings: &[Finding]) -> String {
    let lines: Vec<_> = findings.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn good_traces_keep_all_rules() {
    for (levels, steps, workers) in [(1, 1, 1), (3, 2, 1), (4, 5, 3), (7, 10, 8)] {
        for seed in 0..5 {
            let trace = sample(levels, steps, workers, seed);
            assert_eq!(text(&check(&trace)), "");
        }
        assert_eq!(text(&check(&graph(levels, steps))), "");
    }
    assert_eq!(text(&check(&good())), "");
    assert_eq!(
        text(&check(&Trace {
            tables: Default::default(),
            ..empty()
        })),
        ""
    );
}

fn empty() -> Trace {
    let mut trace = good();
    trace.manifest.analysis.clear();
    trace.manifest.run.submitted_tasks = 0;
    trace
}

/// A rule, the beginning of its first finding's text, and how to break it.
type Case = (&'static str, &'static str, fn(&mut Trace));

const BROKEN: &[Case] = &[
    (
        "whole",
        "manifest: 3 records found no room: the trace is incomplete",
        |t| {
            t.manifest.recorder.dropped_records = 3;
        },
    ),
    ("whole", "manifest: the run failed: no more memory", |t| {
        t.manifest.status = Status::Failed("no more memory".into());
    }),
    (
        "kind",
        "tasks: a trace that is only a graph has tasks",
        |t| {
            t.manifest.kind = treeqr_profiling::trace::TraceKind::Graph;
        },
    ),
    (
        "kind",
        "graph: a trace of a run has tasks without times",
        |t| {
            t.tables.graph = graph(1, 1).tables.graph;
        },
    ),
    ("numbers", "tasks:5: number 4 follows number 7", |t| {
        t.tables.tasks[3].task = 7
    }),
    ("numbers", "fronts:2: is front 9, not 1", |t| {
        t.tables.fronts[1].node = 9
    }),
    ("references", "tasks:3: there is no codelet 40", |t| {
        t.tables.tasks[2].codelet = 40
    }),
    ("references", "tasks:3: there is no worker 40", |t| {
        t.tables.tasks[2].worker = 40
    }),
    ("references", "tasks:3: there is no tree node 40", |t| {
        t.tables.tasks[2].node = 40
    }),
    ("references", "tasks:3: there is no tree node 41", |t| {
        t.tables.tasks[2].child = Some(41)
    }),
    ("references", "memory:2: there is no task 9999", |t| {
        t.tables.memory[1].task = 9999
    }),
    ("references", "memory:2: there is no memory node 3", |t| {
        t.tables.memory[1].memory_node = 3
    }),
    (
        "references",
        "transfers:1: there is no memory node 2",
        |t| t.tables.transfers[0].target_node = 2,
    ),
    (
        "references",
        "transfers:1: from a memory node to itself",
        |t| t.tables.transfers[0].target_node = 0,
    ),
    ("references", "dependencies:4: there is no task 5000", |t| {
        t.tables.dependencies[3].task = 5000
    }),
    ("references", "counters:1: there is no task 5000", |t| {
        t.tables.counters[0].task = 5000
    }),
    ("references", "states:1: there is no worker 17", |t| {
        t.tables.states[0].worker = Some(17)
    }),
    ("references", "queues:1: there is no worker 17", |t| {
        t.tables.queues[0].worker = 17
    }),
    ("references", "spills:1: there is no worker 17", |t| {
        t.tables.spills[0].worker = Some(17)
    }),
    ("references", "switches:1: there is no worker 17", |t| {
        t.tables.switches[0].worker = Some(17)
    }),
    (
        "references",
        "node_events:1: there is no tree node 17",
        |t| t.tables.node_events[0].node = 17,
    ),
    ("references", "phases:2: is part of `nothing`", |t| {
        t.tables.phases[1].part_of = Some("nothing".into());
    }),
    (
        "tree",
        "fronts:3: its parent 2 does not come after it",
        |t| {
            t.tables.fronts[2].parent = Some(2);
        },
    ),
    (
        "tree",
        "fronts:1: its depth 7 is not below its parent's",
        |t| t.tables.fronts[0].depth = 7,
    ),
    (
        "tree",
        "fronts:1: node 0 is not the one of the tasks of a grouped front",
        |t| {
            t.tables.fronts[0].kind = FrontKind::Grouped;
        },
    ),
    ("tree", "fronts:1: 21 pivots", |t| {
        t.tables.fronts[0].pivots = 21
    }),
    ("life", "manifest: the run begins at", |t| {
        t.manifest.run.begin_ns = u64::MAX
    }),
    (
        "life",
        "tasks:6: task 5: ready at 0 ns lies before submit",
        |t| t.tables.tasks[5].ready_ns = 0,
    ),
    ("life", "tasks:6: task 5: end at", |t| {
        t.tables.tasks[5].end_ns = t.tables.tasks[5].start_ns - 1
    }),
    ("life", "tasks:1: task 0: the run ends at", |t| {
        t.manifest.run.end_ns = 100
    }),
    (
        "life",
        "tasks:1: task 0 is not within the time of worker 0",
        |t| t.tables.workers[0].start_ns = 200,
    ),
    ("life", "workers:1: from 95 to", |t| {
        t.tables.workers[0].end_ns = u64::MAX
    }),
    ("spans", "states:1: begins at", |t| {
        t.tables.states[0].end_ns = 0
    }),
    ("spans", "transfers:1: begins at 200 and ends at 100", |t| {
        t.tables.transfers[0].start_ns = 100
    }),
    ("spans", "switches:1: begins at 130 and ends at 3", |t| {
        t.tables.switches[0].in_ns = Some(3)
    }),
    ("spans", "memory:2: ", |t| {
        t.tables.memory[0].time_ns = 1_000_000_000
    }),
    ("order", "dependencies:1: task ", |t| {
        // Late, but still in time for its own end.
        let edge = t.tables.dependencies[0].clone();
        let end = t.tables.tasks[edge.predecessor as usize].end_ns;
        t.tables.tasks[edge.task as usize].start_ns = end - 1;
    }),
    (
        "order",
        "dependencies:1: task 0 waits for 0, which comes later",
        |t| {
            t.tables.dependencies[0].task = 0;
        },
    ),
    ("shares", "shares:1: worker 0 helps with task 0", |t| {
        let task = &t.tables.tasks[0];
        assert_eq!(task.worker, 0);
        t.tables.shares.push(Share {
            task: 0,
            worker: 0,
            parts: 1,
            start_ns: task.start_ns,
            end_ns: task.end_ns,
        });
    }),
    ("overlap", "tasks:", |t| {
        t.tables.states.clear();
        let first = t.tables.tasks.iter().position(|t| t.worker == 1).unwrap();
        let second = t.tables.tasks[first + 1..]
            .iter()
            .find(|t| t.worker == 1)
            .unwrap();
        t.tables.tasks[first].end_ns = second.start_ns + 1;
    }),
    ("overlap", "states:", |t| {
        let task = &t.tables.tasks[0];
        t.tables.states.push(State {
            worker: Some(task.worker),
            state: ThreadState::Sleeping,
            start_ns: task.start_ns + 1,
            end_ns: task.end_ns,
        });
    }),
    (
        "parts",
        "manifest: part `solve` begins with task 3, after",
        |t| {
            let run = &t.manifest.run;
            let (begin_ns, end_ns) = (run.begin_ns, run.end_ns);
            let part = |name: &str, first_task, begin_ns| RunPart {
                name: name.to_owned(),
                begin_ns,
                end_ns,
                first_task,
                submitted_tasks: run.submitted_tasks,
                ..RunPart::default()
            };
            t.manifest.run.parts = vec![part("factorize", 0, begin_ns), part("solve", 3, end_ns)];
        },
    ),
    ("nodes", "node_events:", |t| {
        let events = &mut t.tables.node_events;
        let at = events
            .iter()
            .position(|e| e.event == NodeEventKind::Factorized)
            .unwrap();
        events[at].time_ns = 0;
    }),
    ("memory", "memory:3: ", |t| {
        t.tables.memory[2].after_bytes += 8
    }),
    ("memory", "memory:3: ", |t| {
        t.tables.memory[2].delta_bytes += 8
    }),
    (
        "memory",
        "memory:1: 5000 bytes more left 1000 of them",
        |t| t.tables.memory[0].delta_bytes = 5000,
    ),
    ("memory", "memory:", |t| {
        // The bytes still add up, but other data is given back.
        let memory = &mut t.tables.memory;
        memory
            .iter_mut()
            .filter(|m| m.delta_bytes < 0)
            .for_each(|m| m.handle += 1000);
    }),
    (
        "limit",
        "memory:2: 2000 bytes are held; the limit is 1500",
        |t| {
            t.manifest.run.memory_limit_bytes = Some(1500);
        },
    ),
    ("sums", "tasks: 118 tasks, but 119 were submitted", |t| {
        t.manifest.run.submitted_tasks += 1
    }),
    (
        "sums",
        "tasks: 75000 flops, where the analysis has 1",
        |t| {
            t.manifest.analysis["flops"] = 1.into();
        },
    ),
    (
        "sums",
        "tasks: 15 tasks init_front, where the analysis has 3",
        |t| {
            let by_codelet = serde_json::json!({"init_front": 3, "block_copy": 14, "geqrt": 75, "clean_front": 14});
            t.manifest
                .analysis
                .insert("tasks_by_codelet".into(), by_codelet);
        },
    ),
    (
        "sums",
        "memory: 6600 bytes are left, where the analysis has 5",
        |t| {
            t.manifest.analysis["factor_bytes"] = 5.into();
        },
    ),
    ("sums", "fronts: 15 fronts, where the analysis has 2", |t| {
        t.manifest.analysis["fronts"] = 2.into();
    }),
];

#[test]
fn every_rule_finds_what_breaks_it_and_where() {
    for (rule, expected, break_it) in BROKEN {
        let mut trace = good();
        break_it(&mut trace);
        let findings = check(&trace);
        let found = findings
            .iter()
            .any(|f| f.rule == *rule && f.to_string().starts_with(expected));
        assert!(found, "{rule}: {expected}\n{}", text(&findings));
    }
    for check in CHECKS {
        assert!(
            BROKEN.iter().any(|case| case.0 == check.name),
            "{} is not tested",
            check.name
        );
    }
}

#[test]
fn graphs_are_held_to_the_analysis_too() {
    let mut trace = graph(3, 2);
    trace.manifest.analysis["tasks"] = 1.into();
    trace
        .manifest
        .analysis
        .insert("peak_bytes".into(), 1.into());
    trace.tables.accesses[0].handle = 77;
    let found = text(&check(&trace));
    for expected in [
        "tasks, where the analysis has 1 [sums]",
        "bytes at the peak, where the analysis has 1 [sums]",
        "accesses:1: there is no data 77 [references]",
    ] {
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}

#[test]
fn incomplete_traces_are_warned_of_and_not_blamed_for_what_is_missing() {
    let spoil: [fn(&mut Trace); 3] = [
        |t| t.manifest.recorder.dropped_records = 1,
        |t| t.manifest.status = Status::Cancelled,
        |t| t.manifest.filtered = Some("worker 0".into()),
    ];
    for spoil in spoil {
        let mut trace = good();
        trace.tables.tasks.remove(5);
        trace.tables.memory.remove(1);
        assert!(check(&trace).iter().any(|f| f.severity == Severity::Error));
        spoil(&mut trace);
        let findings = check(&trace);
        assert_eq!(findings.len(), 1, "{}", text(&findings));
        assert_eq!(findings[0].severity, Severity::Warning);
    }
}

#[test]
fn many_findings_of_a_rule_are_counted_not_told() {
    let mut trace = good();
    trace
        .tables
        .fronts
        .iter_mut()
        .for_each(|f: &mut Front| f.depth = 100);
    let findings = check(&trace);
    assert_eq!(findings.len(), 11, "{}", text(&findings));
    assert!(
        findings[10]
            .message
            .contains("and 5 more against this rule")
    );
}

#[test]
#[ignore = "a million tasks, seconds: just test-large"]
fn a_million_tasks_are_checked() {
    let trace = sample(14, 60, 16, 3);
    assert!(trace.tables.tasks.len() > 1_000_000);
    assert_eq!(text(&check(&trace)), "");
}
