//! What carries the bytes: page-locked memory of the host where it can be had, staging where not; and its end before the mapping's.

use super::common::*;
use std::sync::{Arc, Mutex};
use treeqr_devices::*;
use treeqr_runtime::*;

/// Words of a buffer that has pages of its own.
const LARGE: usize = (512 << 10) / 8;

/// A buffer that is taken, counts its turns in its first and last word on the device and on the host, and is freed.
pub struct Turns;

pub const TAKE: u16 = 0;
pub const ON_DEVICE: u16 = 1;
const ON_HOST: u16 = 2;
const FREE: u16 = 3;

impl Application for Turns {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        &[
            Codelet {
                name: "take",
                cpu: Some(|_, task, _| {
                    let spec = task.task();
                    task.allocate(spec.accesses[0].0, (8 * LARGE) << spec.params[0])?;
                    task.write::<u64>(0).fill(100);
                    Ok(())
                }),
            },
            Codelet {
                name: "on_device",
                cpu: None,
            },
            Codelet {
                name: "on_host",
                cpu: Some(|_, task, _| {
                    let mut words = task.write::<u64>(0);
                    words[0] += 1;
                    *words.last_mut().unwrap() += 1;
                    Ok(())
                }),
            },
            Codelet {
                name: "free",
                cpu: Some(|_, task, _| {
                    task.free(task.task().accesses[0].0);
                    Ok(())
                }),
            },
        ]
    }
    fn launch_code(&self, codelet: CodeletId) -> Option<LaunchCode<Self>> {
        let launch: LaunchCode<Self> = |_, task| {
            let last = ((LARGE << task.task().params[0]) - 1) as u64;
            let first = task.write(0);
            let launch = Launch {
                kernel: "turn",
                scalar: ScalarKind::F64,
                blocks: 1,
                threads: 32,
                args: vec![Arg::Address(first), Arg::Address(first + 8 * last)],
            };
            Ok(task.stream().launch(&launch)?)
        };
        (codelet.0 == ON_DEVICE).then_some(launch)
    }
}

impl Interpreter for Turns {
    fn launch(&self, launch: &Launch, memory: &mut [u8], base: u64) {
        let words: &mut [u64] = bytemuck::cast_slice_mut(memory);
        for arg in &launch.args {
            let Arg::Address(address) = arg else {
                panic!("an address");
            };
            words[(address - base) as usize / 8] += 1;
        }
    }
    fn gemm(&self, _: &Gemm, _: &mut [u8], _: u64) {}
}

fn with_device(device: Arc<dyn Device>, pin: bool) -> Config {
    Config {
        accelerators: vec![Accelerator {
            name: "host0".to_owned(),
            device,
            memory_bytes: 32 << 20,
            streams: 1,
            pin,
        }],
        ..config(&SCHEDULERS[0], 1)
    }
}

pub fn task(codelet: u16, handle: u32, size: u32) -> TaskSpec {
    let access = match codelet {
        TAKE | FREE => Access::Write,
        _ => Access::ReadWrite,
    };
    TaskSpec::new(CodeletId(codelet), handle)
        .params([size, 0, 0, 0, 0, 0])
        .with(Handle(handle), access)
}

/// Four buffers with ten turns on each side; what the device and the run say of it.
fn go(faults: HostFaults, pin: bool) -> (PinCounts, LinkStats) {
    let device = Arc::new(HostDevice::new("host0", 64 << 20, Arc::new(Turns), faults));
    let mut store = DataStore::new(4);
    let config = with_device(device.clone(), pin);
    let submit = |s: &mut Submitter<'_>| {
        for turn in 0..20 {
            for h in 0..4 {
                if turn == 0 {
                    s.submit(task(TAKE, h, 0))?;
                }
                s.submit(task([ON_DEVICE, ON_HOST][turn % 2], h, 0))?;
            }
        }
        Ok(())
    };
    let (_, stats) = run(&config, &Turns, &mut store, &(), submit).unwrap();
    for h in 0..4 {
        let words = store.get_as::<u64>(Handle(h)).unwrap();
        let all = (words[0], words[1], words[LARGE - 1]);
        assert_eq!(all, (120, 100, 120), "{h}");
    }
    (device.pin_counts(), stats.devices[0].link)
}

#[test]
fn what_is_copied_again_is_page_locked_as_long_as_the_run() {
    let (counts, link) = go(HostFaults::default(), true);
    assert_eq!((counts.pinned, counts.now, counts.refused), (4, 0, 0));
    // The first copy of each buffer, and no other.
    assert_eq!(counts.staged_copies, 4);
    assert!(counts.direct_copies > 40, "{counts:?}");
    assert_eq!(link.pinned_bytes, 4 * 8 * LARGE as u64);
}

#[test]
fn where_it_is_refused_copies_are_staged() {
    let few = HostFaults {
        no_pins_from: Some(1),
        ..HostFaults::default()
    };
    let (counts, link) = go(few, true);
    // One refusal is enough to ask no more; the two threads that copy may meet it at the same time.
    assert_eq!((counts.pinned, counts.now), (1, 0));
    assert!((1..=2).contains(&counts.refused), "{counts:?}");
    assert!(counts.direct_copies > 5 && counts.staged_copies > 20);
    assert_eq!(link.pinned_bytes, 8 * LARGE as u64);
    let (counts, link) = go(HostFaults::default(), false);
    assert_eq!(
        (counts.pinned, counts.refused, counts.direct_copies),
        (0, 0, 0)
    );
    assert_eq!(link.pinned_bytes, 0);
}

/// What a page-locked range finds when it is given back: whether all of it is still mapped.
#[derive(Debug, Default)]
struct Ends(Arc<Mutex<Vec<bool>>>);

struct Range {
    ends: Arc<Mutex<Vec<bool>>>,
    start: usize,
    end: usize,
}

impl Pinned for Range {}

impl Drop for Range {
    fn drop(&mut self) {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mut reach = self.start;
        for line in maps.lines() {
            let (from, rest) = line.split_once('-').unwrap();
            let to = rest.split(' ').next().unwrap();
            let number = |hex| usize::from_str_radix(hex, 16).unwrap();
            if number(from) <= reach && reach < number(to) {
                reach = number(to);
            }
        }
        self.ends.lock().unwrap().push(reach >= self.end);
    }
}

/// A device that is the host, but for what it page-locks.
#[derive(Debug)]
struct Watched(HostDevice, Ends);

impl Device for Watched {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn memory(&self) -> Result<Memory, DeviceError> {
        self.0.memory()
    }
    fn reserve(&self, bytes: u64) -> Result<u64, DeviceError> {
        self.0.reserve(bytes)
    }
    fn give_back(&self, address: u64) {
        self.0.give_back(address);
    }
    fn can_access_peer(&self, _: &dyn Device) -> bool {
        false
    }
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
    fn pin(&self, address: usize, bytes: usize) -> Result<Box<dyn Pinned>, DeviceError> {
        Ok(Box::new(Range {
            ends: self.1.0.clone(),
            start: address,
            end: address + bytes,
        }))
    }
    fn stream(&self) -> Result<Box<dyn Stream>, DeviceError> {
        self.0.stream()
    }
}

/// Buffers that are freed in the middle of a run, where the store keeps none of them: each mapping goes after its range.
#[cfg(target_os = "linux")]
#[test]
fn a_range_is_given_back_before_its_mapping_goes() {
    let host = HostDevice::new("host0", 64 << 20, Arc::new(Turns), HostFaults::default());
    let ends = Ends::default();
    let seen = ends.0.clone();
    let config = with_device(Arc::new(Watched(host, ends)), true);
    let mut store = DataStore::new(1);
    run(&config, &Turns, &mut store, &(), |s| {
        // Each buffer twice as large as the one before: none serves again.
        for size in 0..4 {
            for codelet in [TAKE, ON_DEVICE, ON_HOST, ON_DEVICE, ON_HOST, FREE] {
                s.submit(task(codelet, 0, size))?;
            }
        }
        Ok(())
    })
    .unwrap();
    // Those that the pool has kept were given back at the end of the run, the others when they went.
    assert_eq!(*seen.lock().unwrap(), [true; 4]);
}

/// A policy for tests: parameter 1 of a task names its worker.
static PLACED: SchedulerEntry = SchedulerEntry {
    name: "placed",
    about: "every task where its parameter says",
    uses_models: false,
    create: |_| Box::new(Placed(Mutex::default())),
};

struct Placed(Mutex<Vec<ReadyTask>>);

impl Scheduler for Placed {
    fn push(&self, task: ReadyTask, _: Option<WorkerId>) -> Wake {
        let worker = task.spec().params[1] as usize;
        self.0.lock().unwrap().push(task);
        Wake::Only(worker)
    }
    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        let mut tasks = self.0.lock().unwrap();
        let mine = |task: &ReadyTask| task.spec().params[1] as usize == worker;
        let at = tasks.iter().position(mine)?;
        Some(tasks.remove(at))
    }
    fn queued(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// Transfers by their ends.
#[derive(Default)]
struct Ways(Mutex<Vec<(u16, u16, u64)>>);

struct Way<'w>(&'w Ways);

impl Observer for &'static Ways {
    type Track = Way<'static>;
    fn attach(&self, _: Lane) -> Way<'static> {
        Way(self)
    }
    fn detach(&self, _: Way<'static>) {}
    fn clock(&self) -> u64 {
        0
    }
}

impl Track for Way<'_> {
    fn submitted(&mut self, _: TaskId, _: &TaskSpec, _: u64) {}
    fn task(&mut self, _: &TaskRecord) {}
    fn memory(&mut self, _: &MemoryRecord) {}
    fn state(&mut self, _: &StateRecord) {}
    fn transfer(&mut self, record: &TransferRecord) {
        let way = (record.from.0, record.to.0, record.bytes);
        self.0.0.lock().unwrap().push(way);
    }
}

/// One buffer that goes round: host, first device, second, first, host. Between peers it takes one copy a step, else two.
#[test]
fn peers_copy_from_each_other() {
    const BYTES: u64 = 8 * LARGE as u64;
    let go = |groups: [u32; 2]| {
        let device = |d: usize| Accelerator {
            name: format!("host{d}"),
            device: Arc::new(HostDevice::new(
                &format!("host{d}"),
                8 << 20,
                Arc::new(Turns),
                HostFaults {
                    peers: groups[d],
                    ..HostFaults::default()
                },
            )),
            memory_bytes: 4 << 20,
            streams: 1,
            pin: false,
        };
        let config = Config {
            accelerators: vec![device(0), device(1)],
            ..config(&PLACED, 1)
        };
        let ways: &'static Ways = Box::leak(Box::default());
        let mut store = DataStore::new(1);
        let (_, stats) = run(&config, &Turns, &mut store, &ways, |s| {
            let steps = [(TAKE, 0), (ON_DEVICE, 1), (ON_DEVICE, 2), (ON_DEVICE, 1)];
            for (codelet, worker) in steps.into_iter().chain([(ON_HOST, 0)]) {
                s.submit(task(codelet, 0, 0).params([0, worker, 0, 0, 0, 0]))?;
            }
            Ok(())
        })
        .unwrap();
        let words = store.get_as::<u64>(Handle(0)).unwrap();
        assert_eq!((words[0], words[1], words[LARGE - 1]), (104, 100, 104));
        let mut ways = std::mem::take(&mut *ways.0.lock().unwrap());
        ways.sort_unstable();
        let links: Vec<LinkStats> = stats.devices.iter().map(|d| d.link).collect();
        (ways, links)
    };
    let (ways, links) = go([3, 3]);
    let expected = [(0, 1), (1, 0), (1, 2), (2, 1)];
    assert_eq!(ways, expected.map(|(from, to)| (from, to, BYTES)));
    let told = links
        .iter()
        .map(|l| (l.fetched_bytes, l.returned_bytes, l.peer_bytes));
    assert!(told.eq([(BYTES, BYTES, BYTES), (0, 0, BYTES)]), "{links:?}");
    for strangers in [[0, 0], [1, 2]] {
        let (ways, links) = go(strangers);
        let expected = [(0, 1), (0, 1), (0, 2), (1, 0), (1, 0), (2, 0)];
        assert_eq!(ways, expected.map(|(from, to)| (from, to, BYTES)));
        assert!(links.iter().all(|link| link.peer_bytes == 0));
    }
}
