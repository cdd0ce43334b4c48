//! `treeqr bench`: that it runs what was asked for and tells all of it; no time is judged.

use crate::command::{Folder, json, run};
use serde_json::Value;
use std::collections::HashSet;

/// Two schedulers on one and two threads, three repetitions; two of them with runs to compare with.
const SMALL: [&str; 10] = [
    "bench",
    "gallery:survey-8x6",
    "--schedulers=lws,eager",
    "--threads=2,1",
    "--reps=3",
    "--baselines=2",
    "--warmup=0",
    "--ordering=colamd",
    "--nb=8",
    "--mb=16",
];

fn small(more: &[&'static str]) -> Vec<&'static str> {
    SMALL.into_iter().chain(more.iter().copied()).collect()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

#[test]
fn json_has_every_run_and_every_combination() {
    let done = json(small(&["--json"]));
    assert_eq!(done["schedulers"], serde_json::json!(["lws", "eager"]));
    assert_eq!(done["threads"], serde_json::json!([1, 2]));
    assert_eq!((&done["reps"], &done["baselines"]), (&3.into(), &2.into()));
    assert_eq!(done["options"]["nb"], 8);
    assert_eq!(done["version"], env!("CARGO_PKG_VERSION"));
    let [matrix] = array(&done["matrices"]) else {
        panic!("one matrix")
    };
    assert_eq!(matrix["source"], "gallery:survey-8x6");
    assert_eq!(
        (&matrix["ordering"], &matrix["error"]),
        (&"colamd".into(), &Value::Null)
    );

    let runs = array(&matrix["runs"]);
    let of = |purpose: &str| runs.iter().filter(|r| r["purpose"] == purpose).count();
    assert_eq!(
        [of("measure"), of("one_worker"), of("coarsest")],
        [12, 4, 2]
    );
    for (position, run) in runs.iter().enumerate() {
        assert_eq!(run["position"], position);
        assert_eq!(run["dropped_records"], 0);
        let s = |key: &str| run[key].as_f64().expect("seconds");
        let workers = run["workers"].as_f64().expect("a number");
        let sum = s("tasks_s") + s("runtime_s") + s("idle_s");
        assert!((sum - workers * s("wall_s")).abs() < 1e-8, "{run}");
        assert!(s("factorize_s") > 0.0 && run["peak_bytes"].as_u64() > Some(0));
    }
    // The repetition is the outermost loop.
    let repetitions: Vec<_> = runs.iter().map(|r| r["repetition"].as_u64()).collect();
    assert!(repetitions.is_sorted());

    let combinations = array(&matrix["combinations"]);
    let names: HashSet<_> = combinations
        .iter()
        .map(|c| (c["scheduler"].as_str(), c["threads"].as_u64()))
        .collect();
    assert_eq!((combinations.len(), names.len()), (4, 4));
    for one in combinations {
        let s = |key: &str| one[key].as_f64().expect("seconds");
        let sorted = [
            "min_s",
            "first_quartile_s",
            "median_s",
            "third_quartile_s",
            "max_s",
        ];
        assert!(sorted.map(s).is_sorted(), "{one}");
        assert!(s("gflops") > 0.0 && (0.0..=1.0).contains(&s("occupancy")));
        // The split is that of the run in the middle, and its product what it should be.
        let run = &runs[one["median_run"].as_u64().expect("a number") as usize];
        assert_eq!(run["factorize_s"], one["median_s"]);
        assert_eq!(run["efficiency"], one["efficiency"]);
        let e = |key: &str| one["efficiency"][key].as_f64().expect("a factor");
        let product = e("granularity") * e("task") * e("pipeline") * e("runtime");
        assert!((product - e("total")).abs() < 1e-12);
        let coarsest: Vec<_> = runs
            .iter()
            .filter(|r| r["purpose"] == "coarsest")
            .filter_map(|r| r["tasks_s"].as_f64())
            .collect();
        let reference = coarsest.iter().sum::<f64>() / 2.0;
        let all = run["wall_s"].as_f64().expect("seconds") * one["threads"].as_f64().expect("");
        assert!((e("total") / (reference / all) - 1.0).abs() < 1e-3, "{one}");
    }
    for threads in [1, 2] {
        let group = combinations.iter().filter(|c| c["threads"] == threads);
        assert_eq!(group.filter(|c| c["fastest"] == true).count(), 1);
    }
}

/// The runs to compare with do what they are for: with all fronts whole there are no tiles, so fewer tasks.
#[test]
fn the_coarsest_runs_have_no_tiles() {
    let done = json(small(&["--json"]));
    let runs = array(&done["matrices"][0]["runs"]);
    let tasks = |purpose: &str, threads: u64| {
        let run = runs
            .iter()
            .find(|r| r["purpose"] == purpose && r["threads"] == threads);
        run.and_then(|r| r["tasks"].as_u64()).expect("a run")
    };
    assert_eq!(tasks("one_worker", 2), tasks("measure", 2));
    assert!(tasks("coarsest", 1) < tasks("one_worker", 1));
}

const HEADER: &str = "matrix,rows,cols,entries,position,purpose,repetition,scheduler,threads,workers,\
factorize_s,wall_s,tasks_s,runtime_s,idle_s,work_flop,speed_gflop_per_s,occupancy_ratio,peak_bytes,\
tasks_count,efficiency_ratio,granularity_ratio,task_ratio,pipeline_ratio,runtime_ratio,dropped_records_count,\
memory_limit,subtree_workers_count,window_count,sequential_peak_bytes,devices_count,time_scale_ratio,solve_s,precision,rank,fallback";

#[test]
fn csv_has_a_line_per_run() {
    let done = run(small(&["--csv"]));
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let mut lines = done.out.lines();
    assert_eq!(lines.next(), Some(HEADER));
    let lines: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 18);
    let columns: Vec<_> = HEADER.split(',').collect();
    for line in &lines {
        assert_eq!(line.len(), columns.len());
        let measured = line[5] == "measure";
        for (name, cell) in columns.iter().zip(line) {
            let others = ["occupancy_ratio", "time_scale_ratio"];
            let of_the_split = name.ends_with("_ratio") && !others.contains(name);
            if *name == "memory_limit" {
                // The runs to compare with are not bounded.
                let bounded = ["measure", "warmup"].contains(&line[5]);
                assert_eq!(*cell, if bounded { "auto" } else { "" }, "{}", line[5]);
                continue;
            }
            let bound = ["subtree_workers_count", "window_count"].contains(name);
            let of_a_variant = ["precision", "rank"].contains(name);
            assert_eq!(
                cell.is_empty(),
                bound || *name == "fallback" || (of_the_split || of_a_variant) && !measured,
                "{name}"
            );
        }
    }
}

#[test]
fn without_baselines_half_of_the_split_is_missing() {
    let none = |more: Option<&'static str>| {
        let args = SMALL.map(|word| word.replace("--baselines=2", "--baselines=0"));
        args.into_iter().chain(more.map(str::to_owned))
    };
    let done = json(none(Some("--json")));
    let matrix = &done["matrices"][0];
    assert_eq!(array(&matrix["runs"]).len(), 12);
    let e = &matrix["combinations"][0]["efficiency"];
    assert!(e["total"].is_null() && e["granularity"].is_null() && e["task"].is_null());
    assert!(e["pipeline"].is_number() && e["runtime"].is_number());
    let text = run(none(None)).out;
    assert!(text.contains("no runs to compare with"), "{text}");
}

#[test]
fn the_table_fits_a_page_and_names_all() {
    let done = run(small(&["gallery:conv2d-8"]));
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let text = &done.out;
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    assert_eq!(text.matches(" lws ").count(), 4, "{text}");
    assert_eq!(
        text.matches("● ").count(),
        5,
        "one a group, and in the legend: {text}"
    );
    for words in [
        "gallery:conv2d-8",
        "no difference that 3 repetitions can show",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_matrix_that_lacks_rank_is_timed() {
    let bench = "bench gallery:ch4-4-b2 --schedulers=lws --threads=1 --reps=1 --warmup=0";
    let args = || bench.split(' ');
    for rank in [&["--json"][..], &["--any-rank", "--json"]] {
        let done = json(args().chain(rank.iter().copied()));
        assert_eq!(array(&done["matrices"][0]["combinations"]).len(), 1);
        assert_eq!(done["options"]["any_rank"], rank.len() == 2);
    }
}

#[test]
fn all_schedulers_are_those_of_the_table() {
    let done = json([
        "bench",
        "gallery:conv2d-4",
        "--threads=1",
        "--reps=1",
        "--warmup=0",
        "--json",
    ]);
    let listed = run(["schedulers"]).out;
    let names = array(&done["schedulers"]);
    assert!(names.len() > 2);
    for name in names {
        let name = name.as_str().expect("a name");
        assert!(listed.contains(&format!("  {name} ")), "{name}");
    }
    let compared = array(&done["matrices"][0]["combinations"]);
    assert_eq!(compared.len(), names.len());
}

#[test]
fn the_file_has_the_form_of_its_name_and_the_table_is_shown_beside_it() {
    let folder = Folder::new();
    for (name, begins) in [
        ("a.json", "{"),
        ("a.csv", "matrix,rows"),
        ("b.CSV", "matrix"),
    ] {
        let path = folder.path(name);
        let mut args: Vec<_> = SMALL.map(String::from).into();
        args.extend(["-o".to_owned(), path.to_str().expect("UTF-8").to_owned()]);
        let done = run(args);
        assert_eq!(done.code, 0, "{}", done.err);
        assert!(done.out.contains("median"), "{}", done.out);
        let written = std::fs::read_to_string(&path).expect("written");
        assert!(written.starts_with(begins), "{written}");
    }
    assert_eq!(folder.names(), ["a.csv", "a.json", "b.CSV"]);
}

/// Every bound with every other, on every scheduler and number of threads; and each holds.
#[test]
fn bounds_multiply_and_hold() {
    let bounds = [
        "--memory-limit=none,1.0x",
        "--subtree-workers=none,1",
        "--window=20",
    ];
    let done = json(small(&bounds).into_iter().chain(["--json"]));
    let variants = array(&done["variants"]);
    let limits: Vec<_> = variants
        .iter()
        .map(|v| (v["memory_limit"].as_str(), v["subtree_workers"].as_u64()))
        .collect();
    let one = Some("1.0x");
    let product = [(None, None), (None, Some(1)), (one, None), (one, Some(1))];
    assert_eq!(limits, product);
    assert!(variants.iter().all(|v| v["window"] == 20));
    let matrix = &done["matrices"][0];
    let mut seen = HashSet::new();
    for combination in array(&matrix["combinations"]) {
        let key = ["scheduler", "threads", "variant"].map(|key| combination[key].to_string());
        assert!(seen.insert(key));
    }
    assert_eq!(seen.len(), 16);
    let runs = array(&matrix["runs"]);
    let measured = runs.iter().filter(|r| r["purpose"] == "measure");
    assert_eq!(measured.clone().count(), 48);
    for run in measured {
        let bytes = |key: &str| run[key].as_u64().expect("bytes");
        if run["variant"].as_u64() >= Some(2) {
            assert!(
                bytes("peak_bytes") <= bytes("sequential_peak_bytes"),
                "{run}"
            );
        }
    }
    for baseline in runs.iter().filter(|r| r["purpose"] != "measure") {
        assert!(baseline["variant"].is_null());
    }
}

#[test]
fn the_table_with_bounds_fits_a_page_and_names_them() {
    let mut args = small(&["--memory-limit=none,1.0x", "--subtree-workers=none,1"]);
    let done = run(args.clone());
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let text = &done.out;
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    for words in ["4 variants", "limit", "subtree", "speedup", "none", "1.0x"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("window"), "{text}");
    args.push("--window=500");
    assert!(run(args).out.contains("with window 500"));
}

#[test]
fn bounds_are_told_in_csv() {
    let done = run(small(&["--memory-limit=1GiB", "--csv"]));
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    for line in done.out.lines().skip(1) {
        let cells: Vec<_> = line.split(',').collect();
        let bound = if cells[5] == "measure" { "1GiB" } else { "" };
        assert_eq!(cells[26..29], [bound, "", ""], "{line}");
    }
}

/// In every precision, with the rank looked at and not: the time has the solve in it, and what was computed in is what was asked for.
#[test]
fn precisions_and_looks_at_the_rank_are_compared() {
    let folder = Folder::new();
    let complex = folder.path("c.mtx");
    let a = crate::mixed::complex("survey-8x6", &mut crate::mixed::Random(4));
    treeqr::matrices::write_sparse(&complex, &a, "").expect("written");
    let args = [
        "bench",
        "gallery:survey-8x6",
        complex.to_str().expect("UTF-8"),
        "--schedulers=lws",
        "--threads=1",
        "--reps=2",
        "--warmup=0",
        "--precision=double,single,mixed",
        "--rank=on,off",
    ];
    let done = json(args.into_iter().chain(["--json"]));
    let variants = array(&done["variants"]);
    let of = |v: &Value| {
        (
            v["precision"].as_str().map(str::to_owned),
            v["rank"].as_bool(),
        )
    };
    let told: Vec<_> = variants.iter().map(of).collect();
    let all = [
        ("double", true),
        ("double", false),
        ("single", true),
        ("single", false),
        ("mixed", true),
    ];
    let all = all.map(|(precision, rank)| (Some(precision.to_owned()), Some(rank)));
    assert_eq!(told, all);
    assert_eq!(
        (&done["times_solve"], &done["baselines"]),
        (&true.into(), &0.into())
    );
    assert_eq!(done["options"]["any_rank"], false);
    for matrix in array(&done["matrices"]) {
        let runs = array(&matrix["runs"]);
        assert_eq!(runs.len(), 10);
        let peak = |precision: &str| {
            let of = runs.iter().filter(|run| {
                let variant = run["variant"].as_u64().expect("one") as usize;
                variants[variant]["precision"] == precision
            });
            of.filter_map(|run| run["peak_bytes"].as_u64())
                .max()
                .expect("a run")
        };
        // Numbers of half the size.
        assert!(peak("single") < peak("double") && peak("mixed") < peak("double"));
        for one in array(&matrix["combinations"]) {
            let run = &runs[one["median_run"].as_u64().expect("a number") as usize];
            let s = |key: &str| run[key].as_f64().expect("seconds");
            assert!(run["fallback"].is_null() && s("solve_s") > 0.0);
            let times: Vec<f64> = runs
                .iter()
                .filter(|run| run["variant"] == one["variant"])
                .map(|run| {
                    run["factorize_s"].as_f64().expect("s") + run["solve_s"].as_f64().expect("s")
                })
                .collect();
            let mean = (times[0] + times[1]) / 2.0;
            assert!((one["median_s"].as_f64().expect("s") - mean).abs() < 1e-9);
        }
    }
    let done = run(args);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    for words in [
        "5 variants",
        "times are those of factorization and solve",
        "precision",
        "mixed",
        "no runs to compare with in several precisions",
    ] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
    assert!(
        done.out.lines().all(|line| line.chars().count() <= 100),
        "{}",
        done.out
    );
}

/// An emulated machine is said to be one, its times are its own, and nothing is compared with one of ours.
#[test]
fn an_emulated_device_is_a_part_of_every_combination_and_said_to_be_emulated() {
    let device = "--emulate-device=cuda0:speed=2,memory=64MiB";
    let args = || {
        let args =
            SMALL.map(|word| word.replace("--schedulers=lws,eager", "--schedulers=eager,dmda"));
        args.into_iter().chain([device.to_owned()])
    };
    let done = json(args().chain(["--json".to_owned()]));
    assert_eq!(done["emulated_devices"][0]["name"], "cuda0");
    assert_eq!(done["baselines"], 0);
    let runs = array(&done["matrices"][0]["runs"]);
    assert_eq!(runs.len(), 12);
    for run in runs {
        assert_eq!(run["time_scale"], 2.0);
        assert_eq!(
            run["workers"].as_u64(),
            run["threads"].as_u64().map(|t| t + 1)
        );
        let s = |key: &str| run[key].as_f64().expect("seconds");
        assert!(s("wall_s") <= s("factorize_s"), "{run}");
    }
    let text = run(args()).out;
    for words in [
        "emulated cuda0: 2 times a CPU worker, 12.0 GB/s",
        "all times are those of the emulated machine",
        "no runs to compare with on an emulated machine",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_limit_that_is_too_small_names_the_smallest_that_works() {
    let done = run(small(&["--memory-limit=none,0.5x"]));
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(
        done.err.contains("the smallest that works is"),
        "{}",
        done.err
    );
}

#[test]
fn wrong_words_are_refused_before_anything_runs() {
    let folder = Folder::new();
    let path = folder.path("out.txt").to_str().expect("UTF-8").to_owned();
    let faults: [(&[&str], &str); 11] = [
        (
            &["--schedulers", "lws,quick"],
            "unknown scheduler `quick`; known are eager",
        ),
        (&["--schedulers", ""], "unknown scheduler"),
        (&["--threads", "1,0"], "0 is not in 1..=1024"),
        (&["--memory-limit", "2 apples"], "no unit `apples`"),
        (&["--window", "none,0"], "a number from 1 up; or none"),
        (&["--emulate-device", "gpu"], "is no name of a device"),
        (&["--reps", "0"], "0 is not in 1..=10000"),
        (&["--json", "--csv"], "cannot be used with"),
        (&["-o", &path], "neither JSON nor CSV"),
        (&["--mb", "30", "--nb", "20"], "multiple of nb"),
        (&["gallery:nothing"], "the gallery has no 'nothing'"),
    ];
    for (args, message) in faults {
        let all = ["bench", "gallery:conv2d-4"].iter().chain(args);
        let done = run(all);
        assert_eq!(done.code, 1, "{args:?}: {}", done.err);
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
    }
    assert_eq!(run(["bench"]).code, 1);
    assert_eq!(folder.names(), Vec::<String>::new());
}

/// One matrix that can't be factorized costs its own lines, and the exit code.
#[test]
fn a_matrix_that_fails_leaves_the_others_their_results() {
    let folder = Folder::new();
    let overflow = folder.file(
        "a.mtx",
        "%%MatrixMarket matrix array real general\n2 1\n1.7e308\n1.7e308\n",
    );
    let done = run([
        "bench",
        &overflow,
        "gallery:conv2d-4",
        "--threads=1",
        "--reps=1",
        "--json",
    ]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("a.mtx"), "{}", done.err);
    let object: Value = serde_json::from_str(&done.out).expect("JSON");
    let [failed, measured] = array(&object["matrices"]) else {
        panic!("two matrices")
    };
    assert!(failed["error"].is_string() && failed["runs"].is_null());
    assert!(measured["error"].is_null() && !array(&measured["runs"]).is_empty());
}
