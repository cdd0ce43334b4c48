//! A signal in the middle of the work.
#![cfg(unix)]

use crate::command::{Folder, treeqr};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn ctrl_c_leaves_nothing_behind() {
    stopped_in_the_middle(&["solve", "gallery:grid3d-40", "--threads", "1"], "x.mtx");
}

#[test]
fn ctrl_c_leaves_nothing_of_a_benchmark_behind() {
    let args = [
        "bench",
        "gallery:grid3d-10",
        "--threads",
        "1",
        "--reps",
        "10000",
    ];
    stopped_in_the_middle(&args, "runs.csv");
}

fn stopped_in_the_middle(args: &[&str], file: &str) {
    let folder = Folder::new();
    let mut child = treeqr()
        .args(args)
        .arg("--output")
        .arg(folder.path(file))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let begin = Instant::now();
    while folder.names().is_empty() && begin.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let names = folder.names();
    assert!(names.len() == 1 && names[0].ends_with(".part"), "{names:?}");
    // The name is noted a moment after the file is made.
    std::thread::sleep(Duration::from_millis(50));
    let pid = child.id().to_string();
    let kill = Command::new("kill").args(["-INT", &pid]).status();
    assert!(kill.expect("kill starts").success());
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(3));
    assert_eq!(folder.names(), Vec::<String>::new());
}
