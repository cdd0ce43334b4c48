//! `treeqr trace`: real traces pass every subcommand; what is no trace is refused by each, and nothing is overwritten.

use crate::command::{Folder, json, run};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use treeqr::profiling::trace::schema::Share;
use treeqr::profiling::trace::{Overwrite, Trace};

/// A trace of `solve` on two workers, with more flags.
fn traced(folder: &Folder, name: &str, matrix: &str, more: &[&str]) -> String {
    folder.traced(name, &[&[matrix, "--threads=2"], more].concat())
}

fn good(args: &[&str]) -> String {
    let done = run(args);
    assert_eq!(done.code, 0, "{args:?}: {}", done.err);
    done.out
}

/// A real run whose workers, where they waited, are said to have done parts of what others had then.
#[test]
fn workers_that_help_are_told_of() {
    let folder = Folder::new();
    let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/traces");
    let path = Path::new(traces).join("h100-cpu-lws.trace");
    let mut trace = Trace::open(&path).expect("a trace");
    let tables = &mut trace.tables;
    let mut helped_ns = 0;
    tables.states.retain(|state| {
        let Some(worker) = state.worker.filter(|_| tables.shares.len() < 100) else {
            return true;
        };
        let task = tables.tasks.iter().find(|t| {
            let lasts = t.start_ns <= state.start_ns && state.end_ns <= t.end_ns;
            lasts && t.worker != worker
        });
        let Some(task) = task else { return true };
        helped_ns += state.end_ns - state.start_ns;
        tables.shares.push(Share {
            task: task.task,
            worker,
            parts: 1,
            start_ns: state.start_ns,
            end_ns: state.end_ns,
        });
        false
    });
    assert!(tables.shares.len() == 100 && helped_ns > 0);
    let helped = folder.path("helped.trace");
    trace.write(&helped, Overwrite::Never).expect("written");
    let helped = &helped.display().to_string();
    assert!(good(&["trace", "check", helped]).contains("consistent"));
    let info = json(["trace", "info", helped, "--json"]);
    let workers = info["balance"]["workers"].as_array().expect("a list");
    let said = workers.iter().map(|w| w["helping_s"].as_f64().expect("s"));
    assert!((said.sum::<f64>() - helped_ns as f64 / 1e9).abs() < 1e-9);
    let before = &path.display().to_string();
    for command in [&["trace", "info"][..], &["report"]] {
        let told = |trace: &str| good(&[command, &[trace]].concat());
        assert!(told(helped).contains(" in others')"), "{command:?}");
        assert!(!told(before).contains(" in others')"), "{command:?}");
    }
    let diff = good(&["trace", "diff", before, helped]);
    assert!(diff.contains("of that, in others' tasks"), "{diff}");
    let picture = folder.path("gantt.svg").display().to_string();
    good(&["plot", helped, "--panel", "gantt", "-o", &picture]);
    let gantt = fs::read_to_string(&picture).expect("a picture");
    assert!(gantt.contains("helps another worker"));
    let kept = ["--table", "shares", "--csv"];
    let csv = good(&[&["trace", "filter", helped], &kept[..]].concat());
    assert_eq!(csv.lines().count(), 101);
    let page = folder.path("page.html").display().to_string();
    good(&["report", helped, "-o", &page]);
}

/// Factorizations of lp-20000 by 16 cores, by an NVIDIA H100 and by both, as docs/devices.md tells of them.
#[test]
fn traces_of_a_real_device_are_read_checked_and_drawn() {
    let folder = Folder::new();
    for (name, workers) in [
        ("cpu-lws", "16 workers"),
        ("device-dmdas", "1 CPU worker, 4 driving devices"),
        ("both-dmda", "16 CPU workers, 4 driving devices"),
        ("both-dmdas", "16 CPU workers, 4 driving devices"),
        ("both-heteroprio", "16 CPU workers, 4 driving devices"),
    ] {
        let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/traces");
        let trace = &format!("{traces}/h100-{name}.trace");
        assert!(good(&["trace", "check", trace]).contains("consistent"));
        let scheduler = name.rsplit('-').next().expect("a name");
        let has_device = !name.starts_with("cpu");
        let report = good(&["report", trace]);
        assert!(report.contains(&format!("workers with the scheduler {scheduler}")));
        assert!(report.contains("CPU0 ") && report.contains("cuda0.3 ") == has_device);
        let pictures = folder.path(name).display().to_string();
        good(&["plot", trace, "--panel", "all", "-o", &pictures]);
        let gantt = fs::read_to_string(format!("{pictures}/gantt.svg")).unwrap();
        assert!(gantt.contains(workers), "{name}");
        let transfers = fs::read_to_string(format!("{pictures}/transfers.svg")).unwrap();
        assert_eq!(transfers.contains("cuda0"), has_device, "{name}");
    }
}

#[test]
fn real_traces_are_consistent_and_go_through_every_subcommand() {
    let folder = Folder::new();
    let cases: [(&str, &str, &[&str]); 4] = [
        ("tiles", "gallery:grid3d-8", &["--nb=16", "--mb=16"]),
        (
            "limit",
            "gallery:grid3d-8",
            &["--memory-limit=1.0x", "--window=20"],
        ),
        (
            "device",
            "gallery:grid3d-8",
            &[
                "--nb=16",
                "--mb=16",
                "--scheduler=dmdas",
                "--emulate-device=cuda0:speed=8,bandwidth=12GB/s",
            ],
        ),
        (
            "tall",
            "gallery:survey-20x20",
            &["--rhs=gallery:survey-20x20:rhs"],
        ),
    ];
    for (name, matrix, more) in cases {
        let path = traced(&folder, name, matrix, more);
        let found = json(["trace", "check", &path, "--json"]);
        assert_eq!(found["findings"], serde_json::json!([]), "{name}");
        let info = json(["trace", "info", &path, "--json"]);
        let tasks = info["manifest"]["run"]["submitted_tasks"]
            .as_u64()
            .expect("a number");
        for w in info["balance"]["workers"].as_array().expect("a list") {
            let s = |key: &str| w[key].as_f64().expect("seconds");
            let keys = [
                "executing_s",
                "scheduling_s",
                "idle_s",
                "sleeping_s",
                "transferring_s",
                "runtime_s",
            ];
            let sum: f64 = keys.iter().map(|key| s(key)).sum();
            assert!((sum - s("time_s")).abs() < 1e-8, "{w}");
            assert!((0.0..=s("executing_s")).contains(&s("helping_s")), "{w}");
        }
        assert!(
            good(&["trace", "info", &path])
                .lines()
                .all(|l| l.chars().count() <= 100)
        );
        let csv = good(&["trace", "filter", &path, "--table", "tasks", "--csv"]);
        assert_eq!(csv.lines().count() as u64, 1 + tasks);
        let same = json(["trace", "diff", &path, &path, "--json"]);
        assert_eq!(same["notes"], serde_json::json!([]));
        let zero = |list: &str| {
            same[list]
                .as_array()
                .expect("a list")
                .iter()
                .all(|f| f["difference"] == 0.0)
        };
        assert!(zero("totals") && zero("phases"));
        for format in ["starvz", "paje", "perfetto", "dot", "csv"] {
            let out = format!("{path}-{format}");
            good(&[
                "trace",
                "export",
                &path,
                "--to",
                format,
                "-o",
                &out,
                "--task-limit=100000",
            ]);
            assert!(fs::exists(&out).expect("readable"));
        }
    }
    let (a, b) = (folder.path("tiles"), folder.path("device"));
    let diff = good(&["trace", "diff", a.to_str().unwrap(), b.to_str().unwrap()]);
    assert!(diff.contains("devices differ: none and cuda0"), "{diff}");
}

#[test]
fn a_part_is_a_trace_that_says_so() {
    let folder = Folder::new();
    let whole = traced(
        &folder,
        "whole",
        "gallery:grid3d-8",
        &["--nb=16", "--mb=16"],
    );
    let part = folder.path("part").to_str().unwrap().to_owned();
    let out = good(&[
        "trace",
        "filter",
        &whole,
        "--worker=0",
        "--codelet=geqrt",
        "-o",
        &part,
    ]);
    assert!(out.contains("workers 0; codelets geqrt"), "{out}");
    let found = json(["trace", "check", &part, "--json"]);
    assert_eq!(
        (&found["errors"], &found["warnings"]),
        (&0.into(), &1.into())
    );
    // It is there now, and stays.
    let before = fs::read(folder.path("part/manifest.json")).unwrap();
    let again = run(["trace", "filter", &whole, "-o", &part]);
    assert_eq!(again.code, 1);
    assert!(
        again
            .err
            .contains("exists already\nhint: --force replaces a trace"),
        "{}",
        again.err
    );
    assert_eq!(fs::read(folder.path("part/manifest.json")).unwrap(), before);
    good(&["trace", "filter", &whole, "-o", &part, "--force"]);
    let foreign = folder.path("mine");
    fs::create_dir(&foreign).unwrap();
    let refused = run([
        "trace",
        "filter",
        &whole,
        "-o",
        foreign.to_str().unwrap(),
        "--force",
    ]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.err.contains("is not a trace: it is left alone"),
        "{}",
        refused.err
    );
    let wrong = run(["trace", "filter", &whole, "--codelet=gemm"]);
    assert_eq!(wrong.code, 1);
    assert!(
        wrong
            .err
            .starts_with("error: there is no codelet `gemm`; there are "),
        "{}",
        wrong.err
    );
    assert_eq!(run(["trace", "filter", &whole, "--csv"]).code, 1);
}

#[test]
fn graphs_are_the_same_bytes_each_time_and_have_the_tasks_of_a_run() {
    let folder = Folder::new();
    let (a, b) = (folder.path("a"), folder.path("b"));
    for path in [&a, &b] {
        let matrix = ["trace", "graph", "gallery:grid3d-8", "--threads=2", "-o"];
        good(&[&matrix[..], &[path.to_str().unwrap()]].concat());
    }
    for file in fs::read_dir(&a).unwrap() {
        let name = file.unwrap().file_name();
        assert_eq!(
            fs::read(a.join(&name)).unwrap(),
            fs::read(b.join(&name)).unwrap(),
            "{name:?}"
        );
    }
    let found = json(["trace", "check", a.to_str().unwrap(), "--json"]);
    assert_eq!(found["findings"], serde_json::json!([]));
    let path = traced(&folder, "run", "gallery:grid3d-8", &[]);
    // Of the run only the factorization; a solve follows it.
    let (graph, measured) = (
        Trace::open(&a).unwrap(),
        Trace::open(path.as_ref()).unwrap(),
    );
    let factorization = measured.manifest.factorization();
    let tasks = measured.tables.tasks.iter();
    let of_run = tasks.filter(|t| factorization.contains(&t.task.into()));
    let of_run: Vec<_> = of_run
        .map(|t| (t.task, t.codelet, t.node, t.flops))
        .collect();
    let of_graph = graph.tables.graph.iter();
    let of_graph: Vec<_> = of_graph
        .map(|t| (t.task, t.codelet, t.node, t.flops))
        .collect();
    assert_eq!(of_run, of_graph);
    let edges = measured.tables.dependencies.iter();
    let edges = edges.filter(|e| factorization.contains(&e.task.into()));
    assert_eq!(
        edges.cloned().collect::<Vec<_>>(),
        graph.tables.dependencies
    );
    assert!(measured.tables.tasks.len() > of_run.len());
    let none = run(["trace", "diff", a.to_str().unwrap(), &path]);
    assert_eq!(
        none.err,
        "error: the first trace is only a graph: it has no times to compare\n"
    );
}

#[test]
fn a_run_that_fails_leaves_its_trace() {
    let folder = Folder::new();
    let path = folder.path("failed");
    let path = path.to_str().unwrap();
    // Its numbers overflow, which is seen after the factorization.
    let text = "%%MatrixMarket matrix coordinate real general\n3 2 5\n1 1 1.7e308\n2 1 1.7e308\n2 2 1\n3 2 1\n3 1 1\n";
    let a = folder.path("a.mtx");
    fs::write(&a, text).unwrap();
    let a = a.to_str().unwrap();
    let solve = ["solve", a, "--threads=2", "--trace", path];
    let done = run(solve);
    assert_eq!(done.code, 2, "{}", done.err);
    let manifest: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path("failed/manifest.json")).unwrap())
            .unwrap();
    assert_eq!(manifest["status"]["state"], "failed");
    let message = manifest["status"]["message"].as_str().unwrap();
    assert!(done.err.contains(message), "{message}\n{}", done.err);
    assert!(good(&["trace", "info", path]).contains("failed"));
    good(&["trace", "check", path]);

    // What is there stays, and is seen before any work: the matrix is not even read.
    let before = folder.names();
    let again = run(["solve", "no-such-file.mtx", "--trace", path]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("exists already") && again.err.contains("--force"));
    fs::create_dir(folder.path("mine")).unwrap();
    fs::write(folder.path("mine/letter.txt"), "dear").unwrap();
    let mine = folder.path("mine");
    let foreign = ["solve", "gallery:survey-8x6", "--force", "--trace"];
    let foreign = run(foreign.iter().copied().chain([mine.to_str().unwrap()]));
    assert_eq!(foreign.code, 1);
    assert!(foreign.err.contains("left alone"), "{}", foreign.err);
    assert!(folder.path("mine/letter.txt").is_file());
    fs::remove_dir_all(folder.path("mine")).unwrap();
    assert_eq!(folder.names(), before);
}

#[test]
fn what_is_no_trace_is_refused_by_every_subcommand() {
    let folder = Folder::new();
    let good = traced(&folder, "good", "gallery:survey-8x6", &[]);
    let copy = |name: &str| {
        let path = folder.path(name);
        fs::create_dir(&path).unwrap();
        for file in fs::read_dir(&good).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), path.join(file.file_name())).unwrap();
        }
        path
    };
    let edit = |name: &str, file: &str, change: fn(Vec<u8>) -> Vec<u8>| {
        let path = copy(name);
        let file = path.join(file);
        let bytes = change(fs::read(&file).unwrap());
        fs::write(file, bytes).unwrap();
        path
    };
    let newer = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        text.replace("\"schema_version\": 1", "\"schema_version\": 99")
            .into_bytes()
    };
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
    let cases = [
        (folder.path("nowhere"), "No such file"),
        (
            edit("newer", "manifest.json", newer),
            "has version 99 of the trace tables; this program reads version 1",
        ),
        (edit("cut", "manifest.json", cut), "manifest.json: "),
        (edit("tasks", "tasks.parquet", cut), "tasks.parquet: "),
        (
            edit("workers", "workers.parquet", |_| b"PAR1".to_vec()),
            "workers.parquet: ",
        ),
        (folder.file("file", "no folder").into(), "is not a trace"),
    ];
    let names = folder.names();
    for (path, message) in &cases {
        let path = path.to_str().unwrap();
        let out = folder.path("out");
        let out = out.to_str().unwrap();
        let commands: [&[&str]; 7] = [
            &["info", path],
            &["check", path],
            &["filter", path],
            &["filter", path, "-o", out],
            &["diff", path, &good],
            &["diff", &good, path],
            &["export", path, "--to", "csv", "-o", out],
        ];
        for command in commands {
            let done = run(["trace"].iter().chain(command));
            assert_eq!(done.code, 1, "{command:?}: {}", done.out);
            assert!(
                done.err.starts_with("error: ") && done.err.contains(message),
                "{command:?}: {}",
                done.err
            );
        }
    }
    assert_eq!(folder.names(), names, "nothing was written");
}

/// docs/queries on real traces; needs python3 with duckdb, and says so where it is missing.
#[test]
fn the_queries_of_the_page_run_on_real_traces() {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has = Command::new(&python)
        .args(["-c", "import duckdb"])
        .stderr(Stdio::null())
        .status();
    if !has.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: {python} has no duckdb, so the queries of docs/queries were not run");
        return;
    }
    let folder = Folder::new();
    let traces = [
        traced(
            &folder,
            "limit",
            "gallery:grid3d-8",
            &["--memory-limit=1.0x", "--window=20"],
        ),
        traced(
            &folder,
            "device",
            "gallery:grid3d-8",
            &[
                "--nb=16",
                "--mb=16",
                "--scheduler=dmdas",
                "--emulate-device=cuda0:speed=8,bandwidth=12GB/s",
            ],
        ),
    ];
    for trace in &traces {
        let done = Command::new(&python)
            .args(["docs/queries/run.py", trace])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("python starts");
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        let out = String::from_utf8(done.stdout).unwrap();
        for query in [
            "submission_thread",
            "buffer_flush",
            "denormals",
            "cache_misses",
            "memory_limit",
            "priorities",
            "cpu_gpu_split",
        ] {
            assert!(
                out.contains(&format!("-- {query}\n┌")),
                "{query} gave no table\n{out}"
            );
        }
        let device = trace.ends_with("device");
        assert_eq!(out.contains("│ device"), device);
        assert_eq!(out.contains("│ transfer"), device);
    }
}
