//! `--threads` is what the whole command may have at work.

use crate::command::treeqr;

/// The names of the threads that its log has.
fn at_work(threads: &str) -> Vec<String> {
    let mut command = treeqr();
    command.env("TREEQR_LOG", "debug");
    command.args(["analyse", "gallery:grid3d-14", "--threads", threads]);
    let done = command.output().expect("the command starts");
    assert!(done.status.success());
    let log = String::from_utf8(done.stderr).expect("UTF-8");
    let words = log.split_whitespace();
    let mut names: Vec<_> = words
        .filter(|word| word.starts_with("pool-"))
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn an_analysis_has_no_more_threads_than_workers_are_asked_for() {
    assert_eq!(at_work("1"), ["pool-0"]);
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let two = at_work("2");
    assert!(two.len() <= available.min(2), "{two:?}");
}
