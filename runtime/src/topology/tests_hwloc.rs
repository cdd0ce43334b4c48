//! The order of victims on machines that hwloc makes up, and what a restricted affinity mask leaves.
//!
//! hwloc reads the machine from `HWLOC_SYNTHETIC` if it is set, once a process: each machine has a process of its own, this
//! test program again with one test.

use super::*;
use crate::codelet::{Application, Codelet};
use crate::config::Config;
use crate::engine::run::run;
use crate::store::DataStore;
use std::process::Command;

const MACHINE: &str = "HWLOC_SYNTHETIC";

/// Whether this process is the one on the made-up machine; else it starts that, for the same test, and looks that it passes.
fn on(machine: &str, test: &str) -> bool {
    if std::env::var(MACHINE).is_ok_and(|here| here == machine) {
        return true;
    }
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program)
        .args(["--exact", &format!("topology::tests_hwloc::{test}")])
        .env(MACHINE, machine)
        .output()
        .expect("this program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let passed = output.status.success() && text.contains("1 passed");
    assert!(passed, "on {machine}:\n{text}");
    false
}

/// The victims of worker 0 in groups of so many: each group sorted, since within one the order is round the ring.
fn groups(platform: &Platform, sizes: &[usize]) -> Vec<Vec<WorkerId>> {
    let mut left = platform.nearest(0);
    let mut groups = Vec::new();
    for &size in sizes {
        let (group, rest) = left.split_at(size);
        let mut group = group.to_vec();
        group.sort_unstable();
        groups.push(group);
        left = rest;
    }
    assert!(left.is_empty());
    groups
}

#[test]
fn victims_come_by_sibling_cache_package() {
    if !on(
        "pack:2 l3:2 core:4 pu:2",
        "victims_come_by_sibling_cache_package",
    ) {
        return;
    }
    let platform = Platform::discover(32);
    // Workers 0 to 15 have the first hardware threads of the cores, 16 to 31 the second ones.
    assert_eq!(platform.unit(1), Some(2));
    assert_eq!(platform.unit(16), Some(1));
    let found = groups(&platform, &[1, 6, 8, 16]);
    assert_eq!(found[0], [16], "the same core");
    assert_eq!(found[1], [1, 2, 3, 17, 18, 19], "the same L3");
    assert_eq!(found[2], [4, 5, 6, 7, 20, 21, 22, 23], "the same package");
    // Fewer workers: on cores of their own.
    let platform = Platform::discover(16);
    let found = groups(&platform, &[3, 4, 8]);
    assert_eq!(found[0], [1, 2, 3]);
    assert_eq!(found[1], [4, 5, 6, 7]);
}

#[test]
fn victims_of_the_same_memory_come_before_those_of_the_same_package() {
    let test = "victims_of_the_same_memory_come_before_those_of_the_same_package";
    if !on("pack:2 numa:2 l3:2 core:2 pu:1", test) {
        return;
    }
    let found = groups(&Platform::discover(16), &[1, 2, 4, 8]);
    assert_eq!(found[0], [1], "the same L3");
    assert_eq!(found[1], [2, 3], "the same memory node");
    assert_eq!(found[2], [4, 5, 6, 7], "the same package");
}

/// Nothing to run.
struct Nothing;

impl Application for Nothing {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        &[]
    }
}

#[test]
fn a_restricted_thread_gives_its_runs_no_more_than_it_has() {
    let platform = Platform::discover(1);
    let Some(unit) = platform.unit(0) else { return };
    std::thread::spawn(move || {
        assert!(platform.bind_here(0));
        assert_eq!(available_threads(), 1);
        let units = hardware::units();
        assert_eq!(units.len(), 1);
        assert_eq!(units[0].number, unit);
        let default = Config::default();
        assert_eq!(default.threads, 1);
        // One worker is pinned there; two have no unit each, stay unpinned, and inherit the mask.
        for (threads, bound) in [(1, 1), (2, 0)] {
            let config = Config {
                threads,
                ..default.clone()
            };
            let mut store = DataStore::new(0);
            let ((), stats) = run(&config, &Nothing, &mut store, &(), |_| Ok(())).unwrap();
            assert_eq!(stats.bound_workers, bound);
        }
    })
    .join()
    .unwrap();
}
