//! A part of a trace has the rows that were asked for, says that it is a part, and keeps the rules.

use crate::sample::{graph, sample, with_device};
use treeqr_profiling::inspect::{
    Filter, FilterError, FilteredRows, Severity, TABLES, check, filter,
};
use treeqr_profiling::trace::{Overwrite, Table, Trace, TraceFolder};

fn whole() -> Trace {
    with_device(sample(4, 5, 3, 7))
}

fn part(of: &Filter) -> Trace {
    let smaller = filter(&whole(), of).unwrap();
    let errors: Vec<_> = check(&smaller)
        .into_iter()
        .filter(|f| f.severity == Severity::Error)
        .collect();
    assert_eq!(errors, []);
    smaller
}

#[test]
fn nothing_asked_for_is_everything() {
    assert_eq!(filter(&whole(), &Filter::default()).unwrap(), whole());
}

#[test]
fn by_time_rows_that_lie_in_the_span_or_reach_into_it_stay() {
    let of = Filter {
        from_ns: Some(500),
        to_ns: Some(900),
        ..Filter::default()
    };
    let (smaller, whole) = (part(&of), whole());
    let inside = |start: u64, end: u64| start <= 900 && end >= 500;
    let expected: Vec<_> = whole
        .tables
        .tasks
        .iter()
        .filter(|t| inside(t.start_ns, t.end_ns))
        .cloned()
        .collect();
    assert!(!expected.is_empty() && expected.len() < whole.tables.tasks.len());
    assert_eq!(smaller.tables.tasks, expected);
    assert!(
        smaller
            .tables
            .memory
            .iter()
            .all(|m| inside(m.time_ns, m.time_ns))
    );
    assert!(
        smaller
            .tables
            .workers
            .iter()
            .all(|w| w.start_ns >= 500 && w.end_ns <= 900)
    );
    let here = |task: u32| expected.iter().any(|t| t.task == task);
    assert!(
        smaller
            .tables
            .dependencies
            .iter()
            .all(|d| here(d.task) && here(d.predecessor))
    );
    assert!(!smaller.tables.dependencies.is_empty());
    assert_eq!(
        smaller.manifest.filtered.as_deref(),
        Some("from 500 ns to 900 ns")
    );
    assert_eq!(smaller.tables.fronts, whole.tables.fronts);
}

#[test]
fn by_worker_codelet_and_both() {
    let of = Filter {
        workers: vec![Some(1)],
        ..Filter::default()
    };
    let smaller = part(&of);
    assert!(smaller.tables.tasks.iter().all(|t| t.worker == 1));
    assert!(smaller.tables.states.iter().all(|s| s.worker == Some(1)));
    assert_eq!(smaller.tables.workers.len(), 1);
    let tasks = smaller.tables.tasks.len();
    let of = Filter {
        codelets: vec!["geqrt".into()],
        ..of
    };
    let smaller = part(&of);
    assert!(smaller.tables.tasks.len() < tasks && !smaller.tables.tasks.is_empty());
    assert!(
        smaller
            .tables
            .tasks
            .iter()
            .all(|t| t.worker == 1 && t.codelet == 2)
    );
    // Front storage is taken by other codelets; states belong to none.
    assert!(smaller.tables.memory.is_empty() && smaller.tables.states.is_empty());
    assert_eq!(
        smaller.manifest.filtered.as_deref(),
        Some("workers 1; codelets geqrt")
    );
    let of = Filter {
        codelets: vec!["clean_front".into()],
        ..Filter::default()
    };
    assert!(part(&of).tables.memory.iter().all(|m| m.delta_bytes < 0));
}

#[test]
fn by_tree_node_alone_and_with_descendants() {
    // A binary tree of four levels in postorder: 6 is the root of fronts 0 to 6.
    let alone = part(&Filter {
        nodes: vec![6],
        ..Filter::default()
    });
    assert!(alone.tables.tasks.iter().all(|t| t.node == 6) && !alone.tables.tasks.is_empty());
    let below = part(&Filter {
        nodes: vec![6],
        subtree: true,
        ..Filter::default()
    });
    let mut nodes: Vec<_> = below.tables.tasks.iter().map(|t| t.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    assert_eq!(nodes, [0, 1, 2, 3, 4, 5, 6]);
    assert!(below.tables.node_events.iter().all(|e| e.node <= 6));
    let graph = filter(
        &graph(4, 5),
        &Filter {
            nodes: vec![6],
            subtree: true,
            ..Filter::default()
        },
    )
    .unwrap();
    assert_eq!(graph.tables.graph.len(), below.tables.tasks.len());
    assert!(graph.tables.accesses.len() == graph.tables.graph.len());
}

#[test]
fn by_table_descriptions_stay() {
    let smaller = part(&Filter {
        tables: vec!["memory".into()],
        ..Filter::default()
    });
    assert_eq!(smaller.tables.memory, whole().tables.memory);
    assert!(smaller.tables.tasks.is_empty() && !smaller.tables.fronts.is_empty());
}

#[test]
fn what_is_not_there_is_an_error_that_says_what_is() {
    let cases: [(Filter, &str); 5] = [
        (
            Filter {
                codelets: vec!["gemm".into()],
                ..Filter::default()
            },
            "there is no codelet `gemm`; there are init_front, block_copy, geqrt, clean_front",
        ),
        (
            Filter {
                workers: vec![Some(3)],
                ..Filter::default()
            },
            "there is no worker 3; there are 3, numbered from 0",
        ),
        (
            Filter {
                nodes: vec![15],
                ..Filter::default()
            },
            "there is no tree node 15; there are 15, numbered from 0",
        ),
        (
            Filter {
                from_ns: Some(9),
                to_ns: Some(8),
                ..Filter::default()
            },
            "the span from 9 to 8 ns is empty",
        ),
        (
            Filter {
                tables: vec!["task".into()],
                ..Filter::default()
            },
            "there is no table `task`; there are workers, codelets, tasks,",
        ),
    ];
    for (of, message) in cases {
        let error = filter(&whole(), &of).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

/// Counts the rows it is shown.
#[derive(Default)]
struct Counted(Vec<(&'static str, usize)>);

impl FilteredRows for Counted {
    type Error = FilterError;

    fn table<T: Table>(&mut self, rows: &mut dyn Iterator<Item = &T>) -> Result<(), FilterError> {
        self.0.push((T::NAME, rows.count()));
        Ok(())
    }
}

#[test]
fn shown_are_the_chosen_tables_and_only_needed_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    whole().write(&path, Overwrite::Never).unwrap();
    // Nothing but these can be read.
    for table in TABLES.iter().filter(|t| !["states", "workers"].contains(t)) {
        let _ = std::fs::remove_file(path.join(format!("{table}.parquet")));
    }
    let trace = TraceFolder::open(&path).unwrap();
    let of = Filter {
        tables: vec!["states".into()],
        workers: vec![Some(2)],
        from_ns: Some(100),
        ..Filter::default()
    };
    let mut counted = Counted::default();
    of.show(&trace, &mut counted).unwrap();
    let expected = whole()
        .tables
        .states
        .iter()
        .filter(|s| s.worker == Some(2))
        .count();
    assert_eq!(counted.0, [("states", expected)]);
    assert!(expected > 0);
    assert!(matches!(
        Filter::default().show(&trace, &mut counted),
        Err(FilterError::Trace(_))
    ));

    let mut counted = Counted::default();
    Filter {
        nodes: vec![6],
        tables: vec!["fronts".into(), "tasks".into()],
        ..Filter::default()
    }
    .show(&whole(), &mut counted)
    .unwrap();
    assert_eq!(
        counted.0.iter().map(|c| c.0).collect::<Vec<_>>(),
        ["tasks", "fronts"]
    );
    assert_eq!(counted.0[1].1, 1);
}
