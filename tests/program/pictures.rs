//! `treeqr report` and `treeqr plot`: real traces on one screen and as pictures; what is there stays.

use crate::command::{Folder, run};
use std::fs;

fn traced(folder: &Folder, matrix: &str, more: &[&str]) -> String {
    let path = folder.path("run").to_str().expect("UTF-8").to_owned();
    let args = ["solve", matrix, "--threads=2", "--trace", &path];
    let done = run(args.iter().chain(more));
    assert_eq!(done.code, 0, "{}", done.err);
    path
}

#[test]
fn a_report_tells_the_run_and_what_it_could_have_been() {
    let folder = Folder::new();
    let trace = traced(&folder, "gallery:grid3d-12", &["--memory-limit=1.5x"]);
    let done = run(["report", &trace]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let expected = [
        "gallery:grid3d-12",
        "2 workers with the scheduler lws",
        "At best",
        "longest chain",
        "CPU0",
        "CPU1",
        "do_subtree",
        "limit",
        "Ready",
    ];
    for words in expected {
        assert!(done.out.contains(words), "{words}\n{}", done.out);
    }
    assert!(!done.out.contains("NaN"), "{}", done.out);
}

#[test]
fn every_panel_is_drawn_and_nothing_is_overwritten() {
    let folder = Folder::new();
    let trace = traced(&folder, "gallery:grid3d-12", &[]);
    let out = folder.path("pictures");
    let out = out.to_str().unwrap();
    let all = ["plot", &trace, "--panel=all", "--anomalies", "-o", out];
    assert_eq!(run(all).code, 0);
    let names = || -> Vec<_> {
        let files = fs::read_dir(out).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        names.sort();
        names
    };
    let pictures = names();
    assert_eq!(pictures.len(), treeqr::profiling::panels::PANELS.len());
    for picture in &pictures {
        let text = fs::read_to_string(picture).unwrap();
        assert!(text.starts_with("<") && text.trim_end().ends_with("</svg>"));
        assert!(!text.contains("NaN"), "{}", picture.display());
    }
    let mark = "not a picture";
    fs::write(&pictures[0], mark).unwrap();
    let again = run(all);
    assert_eq!(again.code, 1, "{}", again.out);
    assert!(again.err.contains("exists already"), "{}", again.err);
    assert_eq!(fs::read_to_string(&pictures[0]).unwrap(), mark);
    assert_eq!(names(), pictures);

    let png = folder.path("gantt.png");
    let png = png.to_str().unwrap();
    let one = ["plot", &trace, "--panel=gantt", "--format=png", "-o", png];
    assert_eq!(run(one).code, 0);
    assert!(fs::read(png).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn several_panels_are_one_picture() {
    let folder = Folder::new();
    let trace = traced(&folder, "gallery:grid3d-12", &[]);
    let path = folder.path("both.svg");
    let path = path.to_str().unwrap();
    let both = ["--panel=gantt,tree", "--step=1ms", "--classes", "--plain"];
    let done = run(["plot", &trace, "-o", path].iter().chain(&both));
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains("Tasks by worker") && text.contains("Elimination tree over time"));
    assert!(text.contains("about 50 %") && !text.contains("strong:"));
    let unknown = run(["plot", &trace, "--panel=gantt,nothing"]);
    assert_eq!(unknown.code, 1, "{}", unknown.out);
}

#[test]
fn what_is_no_trace_is_neither_told_nor_drawn() {
    let folder = Folder::new();
    let nowhere = folder.path("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    for command in [
        &["report", nowhere][..],
        &["plot", nowhere, "--panel=gantt"],
    ] {
        let done = run(command);
        assert_eq!(done.code, 1, "{}", done.out);
        assert!(done.out.is_empty() && done.err.starts_with("error: "));
    }
}
