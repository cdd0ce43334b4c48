//! Runs with devices that behave like real ones: workers are streams, copies and kernels run behind, memory is small and in pieces,
//! and everything fails once. The device is the host (`HostDevice`); its one kernel is the step of random programs.

use super::common::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use treeqr_devices::{Arg, Device, Gemm, HostDevice, HostFaults, Interpreter, Launch, ScalarKind};
use treeqr_runtime::*;

/// Steps that run on devices too.
struct Launched(Arc<Steps>);

impl Launched {
    fn step(&self, context: &TaskContext<'_>, scratch: &mut ()) -> Result<(), TaskFailure> {
        self.0.step(context, scratch)
    }

    fn launch(&self, task: &mut DeviceTask<'_>) -> Result<(), TaskFailure> {
        let spec = task.task();
        let mut args = vec![Arg::Int(spec.node as i32), Arg::Address(task.scratch())];
        for (i, &(_, access)) in spec.accesses.iter().enumerate() {
            let (kind, address) = match access {
                Access::Read => (0, task.read(i)),
                Access::Write => (1, task.write(i)),
                Access::ReadWrite => (2, task.write(i)),
                Access::Scatter => (3, task.scatter(i)),
            };
            let place = Arg::Int(spec.params[i.min(4)] as i32);
            args.extend([Arg::Int(kind), Arg::Address(address), place]);
        }
        let launch = Launch {
            kernel: "step",
            scalar: ScalarKind::F64,
            blocks: 1,
            threads: 32,
            args,
        };
        Ok(task.stream().launch(&launch)?)
    }
}

impl Application for Launched {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        &[
            Codelet {
                name: "step",
                cpu: Some(Launched::step),
            },
            Codelet {
                name: "device_step",
                cpu: None,
            },
        ]
    }
    fn launch_code(&self, _: CodeletId) -> Option<LaunchCode<Self>> {
        Some(Launched::launch)
    }
    fn device_scratch_bytes(&self) -> u64 {
        8
    }
}

/// The kernel: what `Steps::step` does, on a device's memory; and which tasks ran there.
struct Kernel(Arc<Steps>, Arc<Mutex<Vec<u32>>>);

impl Interpreter for Kernel {
    fn launch(&self, launch: &Launch, memory: &mut [u8], base: u64) {
        let words: &mut [u64] = bytemuck::cast_slice_mut(memory);
        let place = |arg: &Arg| match arg {
            Arg::Address(address) => (address - base) as usize / 8,
            other => panic!("no address: {other:?}"),
        };
        let Arg::Int(me) = launch.args[0] else {
            panic!("a number first");
        };
        // The scratch is the stream's own.
        words[place(&launch.args[1])] = me as u64;
        self.1.lock().unwrap().push(me as u32);
        let me = me as usize;
        self.0.begin(me);
        let uses: Vec<(i32, usize, usize)> = launch.args[2..]
            .chunks(3)
            .map(|all| match (&all[0], &all[2]) {
                (Arg::Int(kind), Arg::Int(element)) => (*kind, place(&all[1]), *element as usize),
                _ => panic!("a kind first"),
            })
            .collect();
        let mut sum = me as u64;
        for &(_, at, _) in uses.iter().filter(|(kind, _, _)| *kind == 0) {
            for &x in &words[at..at + LEN] {
                sum = sum.wrapping_mul(31).wrapping_add(x);
            }
        }
        for &(kind, at, element) in &uses {
            if kind == 3 {
                words[at + element] = sum;
                continue;
            }
            for (k, x) in (0..).zip(&mut words[at..at + LEN]) {
                match kind {
                    0 => {}
                    1 => *x = sum.wrapping_add(k),
                    _ => {
                        *x = x.wrapping_mul(7).wrapping_add(sum);
                        sum = sum.rotate_left(9) ^ *x;
                    }
                }
            }
        }
        self.0.end(me);
    }

    fn gemm(&self, _: &Gemm, _: &mut [u8], _: u64) {
        panic!("steps have no products");
    }
}

struct Machine {
    devices: usize,
    streams: usize,
    memory_bytes: u64,
    faults: HostFaults,
}

/// A random program; half of its small tasks can only run on a device. Of the others some are only the host's, some are left to devices;
/// what nobody changes any more may go home.
fn program(seed: u64, tasks: usize, handles: usize, on_devices: bool) -> Vec<TaskSpec> {
    let mut program = super::common::program(seed, tasks, handles, Delays::Random);
    let mut changed = std::collections::BTreeSet::new();
    for (i, spec) in program.iter_mut().enumerate().rev() {
        if !on_devices {
            continue;
        }
        if i % 2 == 0 && spec.accesses.len() <= 2 {
            spec.codelet = CodeletId(1);
        }
        (spec.host_only, spec.device_first) = (i % 5 == 1, i % 5 == 3);
        for (k, (handle, access)) in spec.accesses.clone().into_iter().enumerate() {
            if access != Access::Read && changed.insert(handle) {
                *spec = spec.clone().last(k);
            }
        }
    }
    program
}

/// Runs a random program; a run that succeeds has the result of the sequential one.
fn go(entry: &'static SchedulerEntry, seed: u64, machine: &Machine) -> Result<RunStats, RunError> {
    let (tasks, handles) = (120, 2 + 5 * seed as usize % 17);
    let plain = program(seed, tasks, handles, false);
    let program = program(seed, tasks, handles, true);
    let mut expected = store(handles);
    run_sequential(
        &config(entry, 1),
        &Steps::new(tasks),
        &mut expected,
        &(),
        |s| submit(&plain, s),
    )
    .unwrap();
    let steps = Arc::new(Steps::new(tasks));
    let there = Arc::new(Mutex::new(Vec::new()));
    let accelerator = |d: usize| {
        let kernel = Arc::new(Kernel(steps.clone(), there.clone()));
        let faults = HostFaults {
            seed: seed + d as u64,
            // Half of all pairs of devices are peers.
            peers: seed as u32 / 2 % 2,
            ..machine.faults
        };
        let name = format!("host{d}");
        let device = HostDevice::new(&name, 1 << 16, kernel, faults);
        Accelerator {
            name,
            device: Arc::new(device) as Arc<dyn Device>,
            memory_bytes: machine.memory_bytes,
            streams: machine.streams,
            pin: true,
        }
    };
    let config = Config {
        accelerators: (0..machine.devices).map(accelerator).collect(),
        ..config(entry, 1 + seed as usize % 2)
    };
    let mut store = store(handles);
    let app = Launched(steps.clone());
    let (_, stats) = run(&config, &app, &mut store, &(), |s| submit(&program, s))?;
    steps.check(&program);
    let told = format!("{} seed {seed}", entry.name);
    assert_eq!(contents(&store), contents(&expected), "{told}");
    let there = there.lock().unwrap();
    let fits_all = machine.memory_bytes >= 1 << 14;
    for spec in &program {
        let was_there = there.contains(&spec.node);
        let can_here = spec.codelet == CodeletId(0);
        assert!(
            !(spec.host_only && can_here && was_there),
            "{told}: {spec:?}"
        );
        assert!(
            was_there || !(spec.device_first && fits_all),
            "{told}: {spec:?}"
        );
    }
    for device in &stats.devices {
        assert!(
            !device.emulated && device.workers == machine.streams,
            "{told}"
        );
        assert!(device.link.peak_bytes <= machine.memory_bytes, "{told}");
    }
    Ok(stats)
}

#[test]
fn results_are_those_of_the_sequential_program() {
    let mut all = LinkStats::default();
    let mut on_devices = 0;
    for entry in SCHEDULERS {
        for seed in 0..12 {
            // From rooms for all to rooms for a task of three buffers.
            let memory_bytes = [1 << 14, 2048, 2304, 3328][seed as usize % 4];
            let machine = Machine {
                devices: 1 + seed as usize % 2,
                streams: 1 + seed as usize % 3,
                memory_bytes,
                faults: HostFaults {
                    delay: Duration::from_micros([0, 60][seed as usize / 4 % 2]),
                    ..HostFaults::default()
                },
            };
            let stats = go(entry, seed, &machine).unwrap();
            for device in stats.devices {
                on_devices += device.tasks;
                all.evictions += device.link.evictions;
                all.fetched_bytes += device.link.fetched_bytes;
                all.peer_bytes += device.link.peer_bytes;
                all.prefetched_bytes += device.link.prefetched_bytes;
                all.returned_bytes += device.link.returned_bytes;
                all.written_back_bytes += device.link.written_back_bytes;
            }
        }
    }
    assert!(
        on_devices > 0 && all.evictions > 0 && all.fetched_bytes > 0,
        "{on_devices} {all:?}"
    );
    assert!(all.peer_bytes > 0, "{all:?}");
    assert!(
        all.prefetched_bytes > 0 && all.returned_bytes > 0 && all.written_back_bytes > 0,
        "{all:?}"
    );
}

#[test]
fn a_device_that_fails_is_an_error_and_never_a_wrong_result() {
    let kinds: [fn(&mut HostFaults, u64); 5] = [
        |f, n| f.refuse = Some(n),
        |f, n| f.fail = Some(n),
        |f, n| f.copy = Some(n),
        |f, n| f.lose = Some(n),
        |f, _| f.no_memory = true,
    ];
    let mut failed = [0; 5];
    for entry in SCHEDULERS {
        for (k, set) in kinds.iter().enumerate() {
            for seed in 0..4 {
                let mut faults = HostFaults::default();
                set(&mut faults, seed * 7);
                let machine = Machine {
                    devices: 1 + seed as usize / 3,
                    streams: 2,
                    memory_bytes: 4096,
                    faults,
                };
                match go(entry, seed, &machine) {
                    // The device had less to do than that.
                    Ok(_) => {}
                    Err(RunError::Device(error)) => {
                        assert!(error.device.starts_with("host"));
                        failed[k] += 1;
                    }
                    Err(other) => panic!("{} fault {k}: {other}", entry.name),
                }
            }
        }
    }
    assert!(failed.iter().all(|&n| n > 0), "{failed:?}");
}

#[test]
fn a_memory_that_holds_no_scratch_is_refused() {
    let machine = Machine {
        devices: 1,
        streams: 4,
        memory_bytes: 1024,
        faults: HostFaults::default(),
    };
    let error = go(&SCHEDULERS[0], 1, &machine).unwrap_err();
    let expected = "device host0: reserve memory: 1024 bytes are too few: 4 streams need 1024 of scratch alone";
    assert_eq!(error.to_string(), expected);
}
