//! Hints on real runs whose cause was provoked, beside runs without it; two real runs compared. What depends on how busy the machine is
//! is provoked strongly and run on a quiet machine only (`just test-large`); its absence is tested on made-up runs (`profiling/tests/account/hints/`).

use crate::command::{Folder, run};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;
use treeqr::profiling::compare::{MatchedBy, compare};
use treeqr::profiling::hints::{Hint, Severity, hints};
use treeqr::profiling::trace::{Status, Trace};
use treeqr::runtime::{Faults, available_threads};
use treeqr::{Options, Progress, Settings, TraceNotes, analyse, matrices, solve_analysed, trace};

/// A trace of the command.
fn traced(folder: &Folder, name: &str, args: &[&str]) -> Trace {
    Trace::open(folder.traced(name, args).as_ref()).expect("a trace")
}

fn said(trace: &Trace, rule: &str) -> Option<Hint> {
    hints(trace).into_iter().find(|hint| hint.rule == rule)
}

fn with_and_without(rule: &str, matrix: &str, with: &[&str], without: &[&str]) -> Hint {
    let folder = Folder::new();
    let of =
        |name: &str, more: &[&str]| said(&traced(&folder, name, &[&[matrix], more].concat()), rule);
    assert_eq!(of("without", without), None);
    // What else a busy machine does to a run can hide the cause in one, seldom in three.
    let tried = ["with 1", "with 2", "with 3"]
        .iter()
        .find_map(|name| of(name, with));
    tried.unwrap_or_else(|| panic!("{rule} is not told of {with:?}"))
}

#[test]
#[ignore = "needs a machine that does nothing else: just test-large"]
fn a_tight_memory_limit_is_told() {
    let hint = with_and_without(
        "memory_limit",
        "gallery:grid3d-12",
        &["--threads=2", "--memory-limit=1.0x"],
        // By default there is a limit, that of a sequential run.
        &["--threads=2", "--memory-limit=none"],
    );
    let place = hint.place.expect("a place");
    assert!(
        place.panel == Some("memory") && !place.nodes.is_empty(),
        "{place:?}"
    );
}

#[test]
fn a_small_window_is_told() {
    let hint = with_and_without(
        "window_small",
        "gallery:grid3d-12",
        &["--threads=2", "--window=2"],
        &["--threads=2"],
    );
    assert!(
        hint.evidence
            .iter()
            .any(|f| f.label == "Window" && f.text == "2 tasks"),
        "{hint:?}"
    );
}

#[test]
#[ignore = "needs a machine that does nothing else: just test-large"]
fn more_workers_than_processors_are_told() {
    let many = format!("--threads={}", 2 * available_threads());
    let hint = with_and_without(
        "units_shared",
        "gallery:grid3d-8",
        &[&many],
        &["--threads=1"],
    );
    assert_eq!(hint.part, 0.5);
}

#[test]
#[ignore = "needs a machine that does nothing else: just test-large"]
fn huge_tiles_leave_workers_without_tasks() {
    with_and_without(
        "few_tasks",
        "gallery:grid3d-16",
        &["--threads=2", "--nb=4000", "--mb=4000"],
        &["--threads=1"],
    );
}

#[test]
fn records_that_go_to_disk_are_told() {
    let tiles = ["--threads=2", "--nb=16", "--mb=16"];
    let small = [&tiles[..], &["--trace-memory=2MB"]].concat();
    with_and_without("recorder_spills", "gallery:grid3d-16", &small, &tiles);
}

#[test]
fn a_trace_with_holes_is_told() {
    let tiles = ["--threads=2", "--nb=16", "--mb=16"];
    let small = [&tiles[..], &["--trace-memory=200kB"]].concat();
    let hint = with_and_without("records_missing", "gallery:grid3d-16", &small, &tiles);
    assert_eq!(hint.severity, Severity::Note);
}

/// `eager` gives the device what it is slow at.
#[test]
#[ignore = "needs a machine that does nothing else: just test-large"]
fn a_policy_without_predictions_divides_badly() {
    let device =
        "--emulate-device=cuda0:speed=16,speed.geqrt=0.02,speed.tpqrt=0.02,bandwidth=12GB/s";
    let tiles = ["--threads=2", "--nb=32", "--mb=32", "--scheduler=eager"];
    with_and_without(
        "device_split",
        "gallery:grid3d-10",
        &[&tiles[..], &[device]].concat(),
        &tiles,
    );
}

#[test]
#[ignore = "needs a machine that does nothing else: just test-large"]
fn a_worker_made_slow_is_named() {
    let made = matrices::load::<f64>("gallery:grid3d-12").expect("in the gallery");
    let a = made.matrix;
    let options = Options {
        threads: 2,
        nb: Some(16),
        mb: Some(16),
        ..Options::default()
    };
    let symbolic = analyse(a.pattern(), &options).expect("analysed");
    let mut factor = Settings::with_threads(2).factorization;
    factor.run.faults = Faults {
        slow_worker: Some((1, 8)),
        ..Faults::default()
    };
    let b = vec![1.0; a.nrows()];
    // As above: a busy machine can keep the worker from nearly all tasks.
    let mut tried = (0..3).filter_map(|_| {
        let progress = Progress::default();
        let solution = solve_analysed(&symbolic, &a, &b, 1, &factor, &progress).expect("solved");
        let (record, notes) = (solution.run.record(), TraceNotes::default());
        said(
            &trace(&symbolic, record, Status::Complete, notes),
            "slow_worker",
        )
    });
    let hint = tried.next().expect("slow");
    assert!(hint.title.starts_with("CPU1 was slower"), "{hint:?}");
}

/// How many times as long a product of denormal numbers takes here.
fn penalty() -> f64 {
    let time = |scale: f64| {
        let mut x: Vec<f64> = (1..1000).map(|k| f64::from(k) * scale).collect();
        let begin = Instant::now();
        for _ in 0..300 {
            x.iter_mut().for_each(|v| *v *= std::hint::black_box(0.999));
        }
        std::hint::black_box(&x);
        begin.elapsed().as_secs_f64()
    };
    time(1.0);
    time(1e-311) / time(1.0)
}

/// Right-hand sides of denormal numbers: the tasks of their tile column are slow, unless they are flushed to zero.
#[test]
#[ignore = "needs a machine that does nothing else: just test-large"]
fn denormal_numbers_are_told_unless_they_are_flushed() {
    let found = penalty();
    if found < 10.0 {
        eprintln!("skipped: denormal numbers take only {found:.1} times as long on this processor");
        return;
    }
    let folder = Folder::new();
    let made = matrices::load::<f64>("gallery:grid3d-8").expect("in the gallery");
    let (rows, cols) = (made.matrix.nrows(), 16);
    let mut text = format!("%%MatrixMarket matrix array real general\n{rows} {cols}\n");
    for k in 0..rows * cols {
        // A column of nothing else would be computed with as ordinary numbers over a power of two.
        let power = if k % rows == rows - 1 { -3 } else { -311 };
        writeln!(text, "{}e{power}", 1 + k % 97).expect("text");
    }
    let rhs = folder.file("b.mtx", &text);
    let args = [
        "gallery:grid3d-8",
        "--threads=2",
        "--nb=16",
        "--mb=16",
        "--rhs",
        &rhs,
    ];
    let kept = traced(
        &folder,
        "kept",
        &[&args[..], &["--keep-denormals"]].concat(),
    );
    let hint = said(&kept, "denormals").expect("slow tasks");
    assert_eq!(hint.severity, Severity::Cause, "{hint:?}");
    // What most of them have in common: they are right-hand sides.
    let place = hint.place.expect("a place");
    let is_rhs = |number: &&u32| {
        let task = kept.tables.tasks.iter().find(|t| t.task == **number);
        task.is_some_and(|t| t.panel.is_some() && t.tile_col.is_none())
    };
    let rhs = place.tasks.iter().filter(is_rhs).count();
    assert!(5 * rhs >= 4 * place.tasks.len(), "{rhs} of {place:?}");
    assert_eq!(said(&traced(&folder, "flushed", &args), "denormals"), None);
}

#[test]
fn two_schedulers_are_compared_task_by_task() {
    let folder = Folder::new();
    let args = |scheduler| {
        [
            "gallery:grid3d-12",
            "--threads=2",
            "--nb=32",
            "--mb=32",
            scheduler,
        ]
    };
    let a = traced(&folder, "a", &args("--scheduler=lws"));
    let b = traced(&folder, "b", &args("--scheduler=prio"));
    let (found, back) = (compare(&a, &b).unwrap(), compare(&b, &a).unwrap());
    let n = a.tables.tasks.len() as u64;
    assert_eq!(
        (found.matched.by, found.matched.tasks, found.matched.only),
        (MatchedBy::Number, n, [0, 0])
    );
    assert_eq!(found.codelets.iter().map(|c| c.pairs).sum::<u64>(), n);
    assert_eq!(found.notes, ["schedulers differ: lws and prio"]);
    let last = |s: &treeqr::profiling::account::Steps| s.steps.last().expect("a task").value;
    let flops: u64 = a.tables.tasks.iter().map(|t| t.flops).sum();
    assert_eq!(
        (last(&found.flops.first), last(&found.flops.second)),
        (flops as f64, flops as f64)
    );
    assert_eq!(last(&found.flops.difference), 0.0);
    for (x, y) in found.headline.iter().zip(&back.headline) {
        assert_eq!((&x.name, x.difference()), (&y.name, -y.difference()));
    }
    let sum = |c: &treeqr::profiling::compare::Comparison| -> i64 {
        c.nodes.iter().map(|n| n.difference_ns).sum()
    };
    assert_eq!(sum(&found), -sum(&back));
    let figure = |name: &str| {
        found
            .headline
            .iter()
            .find(|f| f.name == name)
            .expect("told")
            .difference()
    };
    assert_eq!(sum(&found) as f64, figure("time in tasks"));
}

#[test]
fn two_runs_are_compared_in_tables_of_80_columns() {
    let folder = Folder::new();
    traced(&folder, "a", &["gallery:grid3d-12", "--threads=2"]);
    traced(
        &folder,
        "b",
        &["gallery:grid3d-12", "--threads=2", "--nb=24", "--mb=24"],
    );
    traced(&folder, "c", &["gallery:grid3d-8", "--threads=2"]);
    let text = |x: &str, y: &str| {
        let [x, y] = [x, y].map(|name| folder.path(name));
        let show = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let done = run(["report", "--text", &show(&x), &show(&y)]);
        assert_eq!((done.code, done.err.as_str()), (0, ""));
        // The table begins behind the names of the traces and the notes.
        let tables = done
            .out
            .split_once("  Whole")
            .expect("a table")
            .1
            .to_owned();
        for line in tables.lines() {
            let prose = line.contains(';') || line.contains(", ");
            assert!(prose || line.chars().count() <= 80, "{line}");
        }
        assert!(!done.out.contains("NaN"), "{}", done.out);
        done.out
    };
    let found = text("a", "b");
    for words in [
        "makespan",
        "do_subtree",
        "Tree nodes",
        "Slow tasks",
        "by node, codelet and tile",
    ] {
        assert!(found.contains(words), "{words}\n{found}");
    }
    let found = text("a", "c");
    assert!(
        found.contains("different matrices") && !found.contains("Tree nodes"),
        "{found}"
    );
    let found = text("a", "a");
    assert!(
        found.contains("they submitted the same tasks") && found.contains(" 0 only in the second"),
        "{found}"
    );
}

#[test]
fn hints_stand_below_the_headline() {
    let folder = Folder::new();
    traced(
        &folder,
        "a",
        &["gallery:grid3d-12", "--threads=2", "--window=2"],
    );
    let path = folder.path("a");
    let done = run(["report", "--text", path.to_str().expect("UTF-8")]);
    let (hint, chart) = (
        done.out.find("The window of tasks was too small"),
        done.out.find("CPU0  "),
    );
    assert!(hint.is_some() && hint < chart, "{}", done.out);
}
