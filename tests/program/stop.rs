//! A signal in the middle of the work.
#![cfg(unix)]

use crate::command::{Folder, run, treeqr};
use std::io::Read;
use std::process::{Child, Command, Stdio};
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
    let child = begun(args, &folder, file);
    interrupt(&child);
    let (code, out, err) = ended(child);
    assert_eq!(code, Some(3), "{err}");
    assert_eq!(err, STOPPED);
    // Of a benchmark the head may be there.
    assert!(args[0] == "bench" || out.is_empty(), "{out}");
    assert_eq!(folder.names(), Vec::<String>::new());
}

const STOPPED: &str = "stopped: nothing was written\n";

/// Twice in a row: while the first one is cancelling a run, while it is on its way out, or after it.
#[test]
fn a_second_ctrl_c_changes_neither_exit_code_nor_message() {
    // One front, and no tiles: the run can't end before its only task does.
    let args = "solve gallery:grid3d-16 --threads 1 --nb 1073741824 --mb 1073741824";
    let args: Vec<_> = args.split(' ').collect();
    for pause_ms in [0, 3, 30, 100] {
        let folder = Folder::new();
        let child = begun(&args, &folder, "x.mtx");
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(pause_ms));
        interrupt(&child);
        let (code, out, err) = ended(child);
        assert_eq!((code, err.as_str()), (Some(3), STOPPED));
        assert_eq!(out, "");
        assert_eq!(folder.names(), Vec::<String>::new());
    }
}

/// Wherever the signal falls, from the beginning to the end of the work: the file is complete or absent, and the exit code and the
/// message fit together.
#[test]
fn ctrl_c_at_any_time_leaves_a_complete_file_or_none() {
    let args = ["solve", "gallery:grid3d-18", "--threads", "2"];
    let folder = Folder::new();
    let begin = Instant::now();
    let path = folder.path("x.mtx");
    let complete = {
        let all = args.iter().map(|&a| a.to_owned());
        let output = ["--output".to_owned(), path.to_string_lossy().into_owned()];
        assert_eq!(run(all.chain(output)).code, 0);
        std::fs::read(&path).expect("written")
    };
    let length = begin.elapsed();
    let mut codes = Vec::new();
    // A sequence without a pattern: the places of the signals in the run.
    let places = (1..=24).map(|k| (f64::from(k) * 0.618_033_988_749_895).fract());
    for place in places {
        let folder = Folder::new();
        let child = begun(&args, &folder, "x.mtx");
        std::thread::sleep(length.mul_f64(1.2 * place));
        interrupt(&child);
        let (code, out, err) = ended(child);
        let names = folder.names();
        match code {
            // It was done before.
            Some(0) => assert_eq!((err.as_str(), names.len()), ("", 1)),
            Some(3) if err == STOPPED => assert_eq!((out.as_str(), names.len()), ("", 0)),
            Some(3) => assert_eq!(err, "stopped: the output had been written\n"),
            other => panic!("{other:?}: {err}"),
        }
        if let [name] = &names[..] {
            assert_eq!(name, "x.mtx");
            let written = std::fs::read(folder.path(name)).expect("readable");
            assert!(written == complete, "at {place}");
        }
        codes.push(code);
    }
    // The places nearest to the beginning are before the end on any machine.
    assert!(codes.contains(&Some(3)), "{codes:?}");
}

/// The command at work, with its output begun.
fn begun(args: &[&str], folder: &Folder, file: &str) -> Child {
    let child = treeqr()
        .args(args)
        .arg("--output")
        .arg(folder.path(file))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let begin = Instant::now();
    while folder.names().is_empty() && begin.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

fn interrupt(child: &Child) {
    // A process that has ended and was not waited for can still be sent a signal.
    let pid = child.id().to_string();
    let kill = Command::new("kill").args(["-INT", &pid]).status();
    assert!(kill.expect("kill starts").success());
}

/// Exit code, standard output and standard error.
fn ended(mut child: Child) -> (Option<i32>, String, String) {
    let (mut out, mut err) = (String::new(), String::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    stdout
        .expect("piped")
        .read_to_string(&mut out)
        .expect("UTF-8");
    stderr
        .expect("piped")
        .read_to_string(&mut err)
        .expect("UTF-8");
    (child.wait().expect("it ends").code(), out, err)
}
