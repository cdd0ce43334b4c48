//! Factorizations with a device that is the host: its kernels are the plain loops of the device's launch lists, its memory is small, its
//! copies and kernels run behind. x agrees with that of the CPU, the residuals are those of a QR factorization, and a device that fails
//! never gives an x.

mod common;
use common::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use treeqr_devices::{Device, HostDevice, HostFaults};
use treeqr_kernels::device::HostKernels;
use treeqr_matrices::{Csc, RealScalar, Scalar, c32, c64, gallery};
use treeqr_runtime::*;
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
        pin: true,
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

/// A policy for this test: what the device can run, it runs.
static DEVICE_FIRST: SchedulerEntry = SchedulerEntry {
    name: "device_first",
    about: "the CPU gets what nobody else can run",
    uses_models: false,
    create: |scene| {
        let queue = Mutex::default();
        Box::new(DeviceFirst { scene, queue })
    },
};

struct DeviceFirst<'s> {
    scene: Scene<'s>,
    queue: Mutex<Vec<ReadyTask>>,
}

impl Scheduler for DeviceFirst<'_> {
    fn push(&self, task: ReadyTask, _: Option<WorkerId>) -> Wake {
        self.queue.lock().unwrap().push(task);
        Wake::All
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        let mut queue = self.queue.lock().unwrap();
        let mine = |task: &ReadyTask| match worker {
            0 => !(1..self.scene.workers()).any(|device| self.scene.can_run(device, task)),
            device => self.scene.can_run(device, task),
        };
        let at = queue.iter().position(mine)?;
        Some(queue.remove(at))
    }

    fn queued(&self) -> usize {
        self.queue.lock().unwrap().len()
    }
}

/// Counts tasks by codelet, on the host and elsewhere.
#[derive(Default)]
struct Where(Mutex<BTreeMap<(u16, bool), usize>>);

struct Counted<'w>(&'w Where);

impl Observer for &'static Where {
    type Track = Counted<'static>;
    fn attach(&self, _: Lane) -> Counted<'static> {
        Counted(self)
    }
    fn detach(&self, _: Counted<'static>) {}
    fn clock(&self) -> u64 {
        0
    }
}

impl Track for Counted<'_> {
    fn submitted(&mut self, _: TaskId, _: &TaskSpec, _: u64) {}
    fn task(&mut self, record: &TaskRecord) {
        let mut counts = self.0.0.lock().unwrap();
        *counts
            .entry((record.codelet.0, record.worker > 0))
            .or_default() += 1;
    }
    fn memory(&mut self, _: &MemoryRecord) {}
    fn state(&mut self, _: &StateRecord) {}
}

/// Fronts that live on the device: it clears, assembles and factorizes them, and no tile of them comes to the host before the end.
#[test]
fn fronts_live_on_the_device_whole() {
    const INIT_BLOCK: u16 = 1;
    const BLOCK_COPY: u16 = 2;
    fn go<T: FactorScalar>(seed: u64, tolerance: f64) {
        // In one scalar without groups, in the others with packed contribution blocks.
        let (o, a) = match T::NAME {
            "f64" => {
                let o = options(|o| (o.mb, o.nb, o.ib) = (Some(2), Some(1), Some(1)));
                (o, random::<T>(seed, 150, 100, 240))
            }
            _ => (tiled(), random::<T>(seed, 400, 260, 700)),
        };
        let o = Options {
            for_devices: true,
            ..o
        };
        let alone = Config {
            bind: false,
            ..Config::with_threads(1)
        };
        let (expected, _) = solve(&a, &o, alone).unwrap();
        let symbolic = Arc::new(analyse(a.pattern(), &o).unwrap());
        let b: Vec<T> = vector(3, a.nrows() * 2);
        let run = Config {
            scheduler: &DEVICE_FIRST,
            bind: false,
            accelerators: vec![accelerator(16 << 20, 2, HostFaults::default())],
            ..Config::with_threads(1)
        };
        let options = FactorOptions {
            run,
            ..FactorOptions::default()
        };
        let seen: &'static Where = Box::leak(Box::default());
        let done = factorize(&symbolic, &a, &b, 2, &options, &seen).unwrap();
        let off = apart(&expected, &done.factors.solution().unwrap());
        assert!(off < tolerance, "{}: {off:e}", T::NAME);
        let counts = seen.0.lock().unwrap();
        let count = |codelet, device| counts.get(&(codelet, device)).copied().unwrap_or(0);
        for codelet in [INIT_BLOCK, BLOCK_COPY] {
            let both = (count(codelet, true), count(codelet, false));
            assert!(both.0 > 10 && both.1 == 0, "{codelet}: {both:?}");
        }
        let link = done.stats.devices[0].link;
        assert_eq!(link.returned_bytes, 0, "{}: {link:?}", T::NAME);
        assert!(link.cleared_bytes > link.written_back_bytes / 2);
        if T::NAME == "f64" {
            // All that comes is lists, and nothing is evicted: the tiles were made there.
            assert_eq!((link.fetched_bytes, link.evictions), (0, 0), "{link:?}");
        }
    }
    go::<f64>(1, 1e-11);
    go::<f32>(2, 2e-3);
    go::<c64>(3, 1e-11);
    go::<c32>(4, 2e-3);
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
