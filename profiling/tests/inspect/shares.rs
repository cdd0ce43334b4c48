//! Workers that help: their time is in the accounts once, and what breaks a rule is found.

use crate::common::samples::with_helpers;
use crate::sample::{sample, with_device};
use treeqr_profiling::inspect::{Balance, Filter, check, diff, filter};
use treeqr_profiling::trace::schema::Share;
use treeqr_profiling::trace::{Overwrite, Tables, Trace};

fn good() -> Trace {
    let trace = with_helpers(with_device(sample(5, 4, 4, 7)));
    assert!(trace.tables.shares.len() > 5);
    trace
}

fn found(trace: &Trace) -> Vec<String> {
    check(trace).iter().map(ToString::to_string).collect()
}

#[test]
fn a_worker_may_help() {
    for seed in 0..5 {
        let trace = with_helpers(sample(5, 4, 3, seed));
        assert!(!trace.tables.shares.is_empty());
        assert_eq!(found(&trace), [""; 0]);
    }
    assert_eq!(found(&good()), [""; 0]);
}

#[test]
fn each_rule_about_helpers_finds_what_breaks_it() {
    /// The rule, the beginning of what it says, and how to break it.
    type Case = (&'static str, &'static str, fn(&mut Tables));
    let own = |t: &mut Tables| t.tasks[t.shares[2].task as usize].worker;
    let cases: &[Case] = &[
        ("references", "shares:3: there is no task 90000", |t| {
            t.shares[2].task = 90_000;
        }),
        ("references", "shares:3: there is no worker 40", |t| {
            t.shares[2].worker = 40;
        }),
        ("spans", "shares:3: begins at ", |t| t.shares[2].end_ns = 1),
        ("spans", "shares:2: ", |t| t.shares.reverse()),
        ("shares", "shares:3: no part of task", |t| {
            t.shares[2].parts = 0;
        }),
        ("shares", "shares:3: parts of task", |t| {
            let task = &t.tasks[t.shares[2].task as usize];
            t.shares[2].start_ns = task.end_ns + 1;
            t.shares[2].end_ns = task.end_ns + 2;
        }),
        ("shares", "shares:3: parts of task", |t| {
            t.shares[2].start_ns = t.tasks[t.shares[2].task as usize].start_ns - 1;
        }),
    ];
    for (rule, begins, damage) in cases {
        let mut trace = good();
        damage(&mut trace.tables);
        let told = found(&trace);
        let ending = format!("[{rule}]");
        assert!(
            told.iter()
                .any(|f| f.starts_with(begins) && f.ends_with(&ending)),
            "{begins}: {told:?}"
        );
    }
    let mut trace = good();
    trace.tables.shares[2].worker = own(&mut trace.tables);
    let told = found(&trace);
    assert!(
        told.iter()
            .any(|f| f.contains(", which is its own [shares]")),
        "{told:?}"
    );
    assert!(told.iter().any(|f| f.ends_with("[overlap]")), "{told:?}");
}

/// Not with a task, not with a state, not with another helping.
#[test]
fn a_helper_does_one_thing_at_a_time() {
    let overlaps = |damage: fn(&mut Tables, usize)| {
        let mut trace = good();
        let shares = &trace.tables.shares;
        // The longest has room for another within it.
        let at = (0..shares.len()).max_by_key(|&k| shares[k].end_ns - shares[k].start_ns);
        damage(&mut trace.tables, at.expect("one"));
        let told = found(&trace);
        assert!(told.iter().any(|f| f.ends_with("[overlap]")), "{told:?}");
    };
    overlaps(|t, at| {
        let share = &t.shares[at];
        let mut state = t.states[0].clone();
        state.worker = Some(share.worker);
        (state.start_ns, state.end_ns) = (share.start_ns + 1, share.start_ns + 2);
        t.states.push(state);
    });
    overlaps(|t, at| {
        let share = t.shares[at].clone();
        let inside = |s: Share| Share {
            start_ns: s.start_ns + 1,
            end_ns: s.start_ns + 2,
            ..s
        };
        t.shares.insert(at + 1, inside(share));
    });
    overlaps(|t, at| {
        let (worker, from) = (t.shares[at].worker, t.shares[at].start_ns);
        let mine = t.tasks.iter_mut().filter(|t| t.worker == worker);
        let before = mine.max_by_key(|t| (t.end_ns <= from, t.end_ns));
        before.expect("a task").end_ns = from + 1;
    });
}

/// With or without the rows of helpers, the other figures are the same; with them, their time is work.
#[test]
fn helping_is_work_of_the_codelet_and_not_the_runtimes() {
    let with = good();
    let mut without = with.clone();
    let shares = std::mem::take(&mut without.tables.shares);
    let [a, b] = [&with, &without].map(|t| Balance::of(t).unwrap());
    for (k, (a, b)) in a.workers.iter().zip(&b.workers).enumerate() {
        let mine = shares.iter().filter(|s| usize::from(s.worker) == k);
        let helped: u64 = mine.map(|s| s.end_ns - s.start_ns).sum();
        assert_eq!((a.helping_ns, b.helping_ns), (helped, 0));
        assert_eq!(a.executing_ns(), b.executing_ns() + helped);
        assert_eq!(a.runtime_ns + helped, b.runtime_ns);
        assert_eq!(
            (a.tasks, a.idle_ns, a.time_ns),
            (b.tasks, b.idle_ns, b.time_ns)
        );
    }
    for (c, name) in a.codelets.iter().enumerate() {
        let mine = shares.iter().filter(|s| {
            let codelet = with.tables.tasks[s.task as usize].codelet;
            with.tables.codelets[usize::from(codelet)].name == *name
        });
        let helped: u64 = mine.map(|s| s.end_ns - s.start_ns).sum();
        let sum = |b: &Balance| b.workers.iter().map(|w| w.by_codelet_ns[c]).sum::<u64>();
        assert_eq!(sum(&a), sum(&b) + helped, "{name}");
    }
    assert!(a.occupancy > b.occupancy && a.flops == b.flops);

    let both = diff(&without, &with).unwrap();
    let helped: u64 = shares.iter().map(|s| s.end_ns - s.start_ns).sum();
    let figure = |name: &str| both.totals.iter().find(|f| f.name == name);
    for name in ["in tasks", "of that, in others' tasks"] {
        assert_eq!(figure(name).unwrap().difference(), helped as f64);
    }
    assert_eq!(figure("runtime").unwrap().difference(), -(helped as f64));
    let sums = [&both.codelets, &both.nodes];
    for groups in sums {
        assert!(
            groups
                .iter()
                .all(|g| g.tasks[0] == g.tasks[1] && g.flops[0] == g.flops[1])
        );
        let more: i64 = groups.iter().map(|g| g.difference_ns()).sum();
        assert_eq!(more as u64, helped);
    }
    let same = diff(&without, &without).unwrap();
    assert!(same.totals.iter().all(|f| !f.name.contains("others'")));
}

#[test]
fn a_part_of_a_trace_keeps_helpers_with_their_tasks_and_workers() {
    let trace = good();
    let share = &trace.tables.shares[3];
    let of = |condition: Filter| filter(&trace, &condition).unwrap().tables;
    let codelet = trace.tables.tasks[share.task as usize].codelet;
    let name = trace.tables.codelets[usize::from(codelet)].name.clone();
    let kept = of(Filter {
        codelets: vec![name],
        ..Filter::default()
    });
    assert!(kept.shares.contains(share) && kept.shares.len() < trace.tables.shares.len());
    let is_there = |task: u32| kept.tasks.iter().any(|t| t.task == task);
    assert!(kept.shares.iter().all(|s| is_there(s.task)));
    let owner = trace.tables.tasks[share.task as usize].worker;
    let two = of(Filter {
        workers: vec![Some(owner), Some(share.worker)],
        ..Filter::default()
    });
    assert!(two.shares.contains(share));
    let alone = of(Filter {
        workers: vec![Some(owner)],
        ..Filter::default()
    });
    assert!(alone.shares.is_empty());
}

/// A trace without helpers has no file of them, and an older one none either.
#[test]
fn the_table_is_written_where_it_has_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = good();
    let path = folder.path().join("with");
    trace.write(&path, Overwrite::Never).unwrap();
    assert_eq!(Trace::open(&path).unwrap().tables, trace.tables);
    assert!(path.join("shares.parquet").exists());
    trace.tables.shares.clear();
    let path = folder.path().join("without");
    trace.write(&path, Overwrite::Never).unwrap();
    assert!(!path.join("shares.parquet").exists());
    assert_eq!(Trace::open(&path).unwrap().tables, trace.tables);
}
