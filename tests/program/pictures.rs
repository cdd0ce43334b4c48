//! `treeqr report` and `treeqr plot`: real traces on one screen, as pages and as pictures; what is there stays.

use crate::command::{Folder, run};
use std::fs;

fn traced(folder: &Folder, matrix: &str, more: &[&str]) -> String {
    folder.traced("run", &[&[matrix, "--threads=2"], more].concat())
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
    let other = folder.path("gantt.picture");
    let other = other.to_str().unwrap();
    let asked = ["plot", &trace, "--panel=gantt", "--format=png", "-o", other];
    // By the ending of the name, unless something is asked for.
    let named = ["plot", &trace, "--panel=gantt", "--format=svg", "-o", png];
    for (arguments, begin) in [
        (&asked[..], &b"\x89PNG"[..]),
        (&["plot", &trace, "--panel=gantt", "-o", png], b"\x89PNG"),
        (&[&named[..], &["--force"]].concat(), b"<svg"),
    ] {
        assert_eq!(run(arguments).code, 0);
        let path = if arguments == asked { other } else { png };
        assert!(fs::read(path).unwrap().starts_with(begin));
    }
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

/// What is between the tags of a page's head.
fn head(path: &std::path::Path) -> serde_json::Value {
    let html = fs::read_to_string(path).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    let (_, head) = html.split_once(" id=\"report\">").expect("a head");
    serde_json::from_str(head.split_once("</script>").unwrap().0).expect("JSON")
}

#[test]
fn a_report_becomes_a_page_and_replaces_nothing() {
    let folder = Folder::new();
    let trace = traced(&folder, "gallery:grid3d-10", &[]);
    let page = folder.path("run.html");
    let out = page.to_str().unwrap();
    let done = run(["report", &trace, "-o", out]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert!(done.out.contains("Written") && !done.out.contains("At best"));
    let told = head(&page);
    assert_eq!(told["runs"][0]["name"], "gallery:grid3d-10");
    assert_eq!(told["runs"][0]["workers"].as_array().unwrap().len(), 2);
    assert!(told["comparison"].is_null());

    // It stays unless --force is given, and that before anything is read.
    fs::write(&page, "mine").unwrap();
    let again = run(["report", "nowhere.trace", "-o", out]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("exists already") && again.err.contains("--force"));
    assert_eq!(fs::read_to_string(&page).unwrap(), "mine");
    let forced = run(["report", &trace, "--text", "-o", out, "--force"]);
    assert_eq!((forced.code, forced.err.as_str()), (0, ""));
    assert!(forced.out.contains("Written") && forced.out.contains("At best"));
    head(&page);
    // A folder is never replaced.
    let inside = folder.path("inside");
    fs::create_dir(&inside).unwrap();
    let folder_given = run(["report", &trace, "--force", "-o", inside.to_str().unwrap()]);
    assert_eq!(folder_given.code, 1);
    assert!(inside.is_dir());
}

#[test]
fn two_traces_become_one_page() {
    let folder = Folder::new();
    let first = traced(&folder, "gallery:grid3d-10", &[]);
    let second = folder.path("second").to_str().unwrap().to_owned();
    let args = [
        "solve",
        "gallery:grid3d-10",
        "--threads=1",
        "--trace",
        &second,
    ];
    assert_eq!(run(args).code, 0);
    let page = folder.path("both.html");
    let done = run(["report", &first, &second, "-o", page.to_str().unwrap()]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let told = head(&page);
    let names: Vec<_> = (0..2).map(|k| told["runs"][k]["name"].clone()).collect();
    assert_eq!(names, ["run", "second"]);
    let headline = told["comparison"]["headline"].as_array().unwrap();
    assert!(headline.iter().any(|fact| fact["label"] == "Shared tasks"));
    let three = run(["report", &first, &second, &first]);
    assert_eq!(three.code, 1);
}

#[test]
fn a_solve_writes_its_report_in_one_go() {
    let folder = Folder::new();
    let page = folder.path("run.html");
    let out = page.to_str().unwrap();
    let solve = ["solve", "gallery:grid3d-10", "--threads=2", "--report", out];
    let done = run(solve);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert!(done.out.contains("report"), "{}", done.out);
    assert_eq!(head(&page)["runs"][0]["name"], "gallery:grid3d-10");
    fs::write(&page, "mine").unwrap();
    let again = run(solve);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("exists already"), "{}", again.err);
    assert_eq!(fs::read_to_string(&page).unwrap(), "mine");
    let forced = run(solve.iter().chain(&["--force", "--json"]));
    assert_eq!(forced.code, 0, "{}", forced.err);
    let told: serde_json::Value = serde_json::from_str(&forced.out).unwrap();
    assert_eq!(told["report"], out);
    head(&page);
    // --force and --record are about what is kept.
    assert_eq!(run(["solve", "gallery:grid3d-10", "--force"]).code, 1);
}

/// Without a desktop the page is written all the same, and what is missing is said.
#[test]
fn a_page_that_cannot_be_shown_is_written() {
    let folder = Folder::new();
    let trace = traced(&folder, "gallery:grid3d-10", &[]);
    let page = folder.path("run.html");
    let args = ["report", &trace, "--open", "-o", page.to_str().unwrap()];
    let done = crate::command::treeqr()
        .args(args)
        .env("PATH", "")
        .output()
        .unwrap();
    let out = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(0), "{out}");
    assert!(
        out.contains("Not shown") && out.contains("there is no"),
        "{out}"
    );
    head(&page);
}
