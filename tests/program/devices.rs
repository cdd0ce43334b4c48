//! Devices as the command and programs meet them: the host in the place of one, and none at all.

use crate::command::{Folder, json, run};
use crate::mixed::named;
use std::sync::Arc;
use treeqr::devices::{HostDevice, HostFaults};
use treeqr::runtime::{Accelerator, Faults};
use treeqr::{Config, FactorOptions, Options, analyse, factorize};
use treeqr_kernels::device::HostKernels;

#[test]
fn the_host_as_a_device_solves_and_leaves_a_consistent_trace() {
    let folder = Folder::new();
    let trace = folder.path("a.trace");
    let trace = trace.to_str().expect("UTF-8");
    let command = |devices| {
        json([
            "solve",
            "gallery:grid3d-9",
            "--nb",
            "48",
            "--threads",
            "1",
            "--scheduler",
            "dmda",
            "--devices",
            devices,
            "--streams",
            "2",
            "--trace",
            trace,
            "--force",
            "--json",
        ])
    };
    let (alone, done) = (command("none"), command("host"));
    assert!(alone["devices"].as_array().unwrap().is_empty());
    let device = &done["devices"][0];
    assert_eq!(
        (&device["name"], &device["workers"]),
        (&"host0".into(), &2.into())
    );
    // Every kind of worker is tried before it is trusted.
    assert!(device["tasks"].as_u64().unwrap() > 0, "{device}");
    assert!(done["device_failure"].is_null());
    assert_eq!(done["scheduler"], "dmda");
    let norm = |done: &serde_json::Value| done["x_norm"].as_f64();
    if let (Some(x), Some(y)) = (norm(&alone), norm(&done)) {
        assert!((x - y).abs() <= 1e-10 * x);
    }
    let residual = done["normal_residual"].as_f64().expect("a residual");
    assert!(residual < 1e-13, "{residual}");
    let checked = run(["trace", "check", trace]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    let told = run(["trace", "info", trace]);
    assert!(told.out.contains("devices: host0"), "{}", told.out);
}

#[test]
fn a_device_that_is_not_there_is_one_line() {
    let done = run(["solve", "gallery:grid3d-4", "--devices", "999"]);
    assert_eq!((done.code, done.out.as_str()), (1, ""));
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    assert!(
        done.err.starts_with("error: cuda999: open: "),
        "{}",
        done.err
    );
    let done = run(["topology"]);
    assert!(done.out.contains("\nDevices "), "{}", done.out);
}

/// A device fails in the middle: the factors are those of the CPU, and the run says so.
#[test]
fn after_a_failure_the_cpu_does_all_of_it() {
    let a = named("grid3d-7");
    let analysis = Options {
        nb: Some(32),
        threads: 1,
        ..Options::default()
    };
    let symbolic = analyse(a.pattern(), &analysis).unwrap();
    let options = |faults| {
        let name = "host0".to_owned();
        let device = HostDevice::new(&name, 16 << 20, Arc::new(HostKernels), faults);
        let accelerator = Accelerator {
            name,
            device: Arc::new(device),
            memory_bytes: 8 << 20,
            streams: 2,
            pin: true,
        };
        FactorOptions {
            run: Config {
                accelerators: vec![accelerator],
                bind: false,
                faults: Faults {
                    slow_worker: Some((0, 20)),
                    ..Faults::default()
                },
                ..Config::with_threads(1)
            },
            ..FactorOptions::default()
        }
    };
    let alone = FactorOptions {
        run: Config {
            bind: false,
            ..Config::with_threads(1)
        },
        ..FactorOptions::default()
    };
    let b = vec![1.0; a.nrows()];
    let expected = factorize(&symbolic, &a, &alone).unwrap().solve(&b).unwrap();
    let lost = HostFaults {
        lose: Some(5),
        ..HostFaults::default()
    };
    let mut done = factorize(&symbolic, &a, &options(lost)).unwrap();
    let failure = done.run().device_failure().expect("the device was lost");
    assert!(failure.starts_with("host0: "), "{failure}");
    // Bitwise, since it is the CPU's doing from the first task on.
    assert_eq!(done.solve(&b).unwrap(), expected);
    assert_eq!(done.run().record().recording().runs.len(), 1);

    let mut again = factorize(&symbolic, &a, &options(HostFaults::default())).unwrap();
    assert_eq!(again.run().device_failure(), None);
    let x = again.solve(&b).unwrap();
    let off = x.iter().zip(&expected).map(|(x, y)| (x - y).abs());
    assert!(off.fold(0.0, f64::max) < 1e-10);
    again.refactorize(&a).unwrap();
    assert_eq!(again.run().device_failure(), None);
    done.refactorize(&a).unwrap();
    assert!(
        done.run().device_failure().is_some(),
        "its options still have the device"
    );
    assert_eq!(done.solve(&b).unwrap(), expected);
}
