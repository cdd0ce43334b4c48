//! Factorizations with a device that is the host: its kernels are the plain loops of the device's launch lists, its memory is small, its
//! copies and kernels run behind. x agrees with that of the CPU, the residuals are those of a QR factorization, and a device that fails
//! never gives an x.

mod common;
use common::*;
use std::sync::Arc;
use std::time::Duration;
use treeqr_devices::{Device, HostDevice, HostFaults};
use treeqr_kernels::device::HostKernels;
use treeqr_matrices::{Csc, RealScalar, Scalar, c32, c64, gallery};
use treeqr_runtime::{
    Accelerator, Config, Faults, RunError, RunStats, SCHEDULERS, SchedulerEntry, schedulers,
};
use treeqr_solver::{FactorOptions, FactorScalar, Options, SolveError, analyse, factorize};

/// Tiles small enough that small matrices have some tens of them; a tree of triangles in every panel.
fn tiled() -> Options {
    options(|o| {
        (o.mb, o.nb, o.ib, o.bh) = (Some(24), Some(12), Some(5), Some(2));
    })
}

fn accelerator(memory_bytes: u64, streams: usize, faults: HostFaults) -> Accelerator {
    let device = HostDevice::new("host0", 64 << 20, Arc::new(HostKernels), faults);
    Accelerator {
        name: "host0".to_owned(),
        device: Arc::new(device) as Arc<dyn Device>,
        memory_bytes,
        streams,
    }
}

/// The CPU's one worker is slow, so that the device has something to do.
fn with_device(scheduler: &'static SchedulerEntry, accelerators: Vec<Accelerator>) -> Config {
    Config {
        faults: Faults {
            slow_worker: Some((0, 30)),
            ..Faults::default()
        },
        scheduler,
        bind: false,
        accelerators,
        ..Config::with_threads(1)
    }
}

/// x for two right-hand sides, Q kept or applied on the way, and what the run says.
fn solve<T: FactorScalar>(
    a: &Csc<T>,
    o: &Options,
    run: Config,
) -> Result<(Vec<T>, RunStats), SolveError> {
    let symbolic = Arc::new(analyse(a.pattern(), o).expect("analysis"));
    let b: Vec<T> = vector(3, a.nrows() * 2);
    let keep_q = symbolic.transposed();
    let options = FactorOptions {
        keep_q,
        run,
        ..FactorOptions::default()
    };
    let (rhs, nrhs) = if keep_q { (&[][..], 0) } else { (&b[..], 2) };
    let done = factorize(&symbolic, a, rhs, nrhs, &options, &())?;
    let x = match keep_q {
        true => done.factors.solve(&b, 2)?,
        false => done.factors.solution()?,
    };
    Ok((x, done.stats))
}

/// The distance of two vectors over the norm of the first.
fn apart<T: Scalar>(x: &[T], y: &[T]) -> f64 {
    let norm = |x: &mut dyn Iterator<Item = T>| x.map(|v| v.abs2().to_f64()).sum::<f64>().sqrt();
    norm(&mut x.iter().zip(y).map(|(&x, &y)| x - y)) / norm(&mut x.iter().copied())
}

fn agree<T: FactorScalar>(seed: u64, m: usize, n: usize, tolerance: f64) {
    let a = random::<T>(seed, m, n, 8 * n);
    let sequential = Config {
        bind: false,
        ..Config::with_threads(1)
    };
    let (expected, _) = solve(&a, &tiled(), sequential).unwrap();
    let mut on_device = 0;
    for name in ["eager", "dmda", "dmdas", "heteroprio"] {
        let faults = HostFaults {
            delay: Duration::from_micros(20),
            seed,
            ..HostFaults::default()
        };
        let device = accelerator(4 << 20, 2, faults);
        let run = with_device(schedulers::by_name(name).unwrap(), vec![device]);
        let (x, stats) = solve(&a, &tiled(), run).unwrap();
        let off = apart(&expected, &x);
        assert!(
            off < tolerance,
            "{} {m} x {n} under {name}: {off:e}",
            T::NAME
        );
        let device = &stats.devices[0];
        assert_eq!((device.workers, device.emulated), (2, false));
        on_device += device.tasks;
    }
    assert!(on_device > 0, "nothing ran on the device");
}

#[test]
fn x_is_that_of_the_cpu() {
    for seed in 0..2 {
        agree::<f64>(seed, 150, 70, 1e-11);
        agree::<f64>(seed, 60, 110, 1e-11);
        agree::<f32>(seed, 150, 70, 2e-3);
        agree::<c64>(seed, 90, 50, 1e-11);
        agree::<c32>(seed, 90, 50, 2e-3);
    }
}

/// A, Q and R after a run that had most of its tiles on a device.
#[test]
fn factors_from_a_device_are_backward_stable() {
    let a = gallery::make("grid3d-6").unwrap().matrix;
    let o = tiled();
    let symbolic = Arc::new(analyse(a.pattern(), &o).unwrap());
    let mut most = 0;
    for entry in SCHEDULERS {
        let device = accelerator(1 << 20, 3, HostFaults::default());
        let options = FactorOptions {
            keep_q: true,
            run: with_device(entry, vec![device]),
            ..FactorOptions::default()
        };
        let done = factorize(&symbolic, &a, &[], 0, &options, &()).unwrap();
        let (backward, loss) = ratios(&a, &symbolic, &done);
        assert!(
            backward < 30.0 && loss < 30.0,
            "{}: {backward} {loss}",
            entry.name
        );
        most = most.max(done.stats.devices[0].tasks);
    }
    assert!(most > 0, "nothing ran on the device");
}

/// Memory for a few tiles: replicas are evicted and written back all the time.
#[test]
fn a_small_memory_is_enough() {
    let a = random::<f64>(5, 200, 90, 700);
    let alone = Config {
        bind: false,
        ..Config::with_threads(1)
    };
    let (expected, _) = solve(&a, &tiled(), alone).unwrap();
    let mut evictions = 0;
    for name in ["eager", "dmdas"] {
        let device = accelerator(96 << 10, 2, HostFaults::default());
        let run = with_device(schedulers::by_name(name).unwrap(), vec![device]);
        let (x, stats) = solve(&a, &tiled(), run).unwrap();
        assert!(apart(&expected, &x) < 1e-11);
        evictions += stats.devices[0].link.evictions;
        assert!(stats.devices[0].link.peak_bytes <= 96 << 10);
    }
    assert!(evictions > 0);
}

#[test]
fn a_device_that_fails_gives_an_error_and_no_x() {
    let a = random::<f64>(7, 150, 70, 500);
    let alone = Config {
        bind: false,
        ..Config::with_threads(1)
    };
    let (expected, _) = solve(&a, &tiled(), alone).unwrap();
    let kinds: [fn(&mut HostFaults, u64); 4] = [
        |f, n| f.refuse = Some(n),
        |f, n| f.fail = Some(n),
        |f, n| f.copy = Some(n),
        |f, n| f.lose = Some(n),
    ];
    for (k, set) in kinds.iter().enumerate() {
        let mut failed = 0;
        for at in [0, 3, 20, 60] {
            let mut faults = HostFaults::default();
            set(&mut faults, at);
            let device = accelerator(4 << 20, 2, faults);
            let run = with_device(schedulers::by_name("eager").unwrap(), vec![device]);
            match solve(&a, &tiled(), run) {
                Ok((x, _)) => assert!(apart(&expected, &x) < 1e-11),
                Err(SolveError::Run(RunError::Device(error))) => {
                    assert_eq!(error.device, "host0");
                    failed += 1;
                }
                Err(other) => panic!("fault {k} at {at}: {other}"),
            }
        }
        assert!(failed > 0, "fault {k} never met");
    }
}
