//! Runs with devices, emulated ones and one that is the host: same results, data where it must be, memory never above its size.

#[path = "devices/accelerators.rs"]
mod accelerators;
#[path = "devices/clocks.rs"]
mod clocks;
mod common;
#[path = "devices/copies.rs"]
mod copies;

use common::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use treeqr_runtime::*;

const BYTES: u64 = 8 * LEN as u64;

fn device(text: &str) -> DeviceSpec {
    text.parse().unwrap()
}

fn with_devices(scheduler: &'static SchedulerEntry, threads: usize, devices: &[&str]) -> Config {
    Config {
        devices: devices.iter().map(|text| device(text)).collect(),
        ..config(scheduler, threads)
    }
}

/// Runs a random program with and without devices, and compares.
fn compare(config: &Config, seed: u64, tasks: usize, delays: Delays) -> RunStats {
    let handles = 2 + seed as usize % 9;
    let program = program(seed, tasks, handles, delays);
    let mut expected = store(handles);
    run_sequential(config, &Steps::new(tasks), &mut expected, &(), |s| {
        submit(&program, s)
    })
    .unwrap();
    let mut store = store(handles);
    let steps = Steps::new(tasks);
    let (_, stats) = run(config, &steps, &mut store, &(), |s| submit(&program, s)).unwrap();
    steps.check(&program);
    assert_eq!(
        contents(&store),
        contents(&expected),
        "{} seed {seed}",
        config.scheduler.name
    );
    for (device, spec) in stats.devices.iter().zip(&config.devices) {
        assert!(device.emulated && device.link.peak_bytes <= spec.memory_bytes);
    }
    stats
}

#[test]
fn results_are_those_of_the_sequential_program() {
    for entry in SCHEDULERS {
        for threads in 1..=2 {
            for seed in 0..6 {
                let fast = "cuda0:latency=1us,speed=2";
                compare(
                    &with_devices(entry, threads, &[fast]),
                    seed,
                    120,
                    Delays::None,
                );
            }
        }
    }
}

#[test]
fn small_memories_and_two_devices() {
    let mut all = LinkStats::default();
    for entry in SCHEDULERS {
        for seed in 20..26 {
            // Four buffers, the most of a task; and fewer, so that some tasks do not fit.
            let (four, two) = (
                "cuda0:latency=0ns,memory=512B",
                "cuda1:latency=1us,memory=256B,speed=3",
            );
            let config = with_devices(entry, 1, &[four, two]);
            let stats = compare(&config, seed, 150, Delays::Random);
            for device in stats.devices {
                all.evictions += device.link.evictions;
                all.fetched_bytes += device.link.fetched_bytes;
                all.prefetched_bytes += device.link.prefetched_bytes;
                all.returned_bytes += device.link.returned_bytes;
                all.written_back_bytes += device.link.written_back_bytes;
            }
        }
    }
    let LinkStats {
        evictions,
        fetched_bytes,
        prefetched_bytes,
        returned_bytes,
        written_back_bytes,
        ..
    } = all;
    assert!(evictions > 0 && fetched_bytes > 0 && prefetched_bytes > 0);
    assert!(returned_bytes > 0 && written_back_bytes > 0);
}

/// Codelet 0 runs on CPUs, 1 on devices, 2 on both; they note where they ran.
struct Kinds(Mutex<Vec<(u16, MemoryNode)>>);

impl Kinds {
    fn note(&self, context: &TaskContext<'_>, _: &mut ()) -> Result<(), TaskFailure> {
        let codelet = context.task().codelet.0;
        self.0.lock().unwrap().push((codelet, context.memory()));
        for (index, (_, access)) in context.task().accesses.iter().enumerate() {
            match access {
                Access::Read => assert_eq!(context.read::<u64>(index).len(), LEN),
                Access::Scatter => context.scatter::<u64>(index).set(0, 1),
                _ => context.write::<u64>(index)[0] += 1,
            }
        }
        Ok(())
    }
}

impl Application for Kinds {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        &[
            Codelet {
                name: "cpu",
                cpu: Some(Kinds::note),
            },
            Codelet {
                name: "device",
                cpu: None,
            },
            Codelet {
                name: "both",
                cpu: Some(Kinds::note),
            },
        ]
    }
    fn device_code(&self, codelet: CodeletId) -> Option<CpuCode<Self>> {
        (codelet.0 > 0).then_some(Kinds::note)
    }
}

#[test]
fn a_worker_gets_only_what_it_can_run() {
    for entry in SCHEDULERS {
        for devices in [
            &["cuda0:latency=0ns"][..],
            &["cuda0", "gpu1:memory=1MB,latency=0ns"],
        ] {
            let app = Kinds(Mutex::default());
            let config = with_devices(entry, 2, devices);
            let mut store = store(6);
            run(&config, &app, &mut store, &(), |s| {
                for k in 0..90_u32 {
                    let access = [Access::ReadWrite, Access::Read][k as usize % 2];
                    let task = TaskSpec::new(CodeletId(k as u16 % 3), k).flops(1000);
                    s.submit(task.with(Handle(k % 6), access))?;
                }
                s.submit(TaskSpec::new(CodeletId(2), 0).with(Handle(0), Access::Scatter))?;
                Ok(())
            })
            .unwrap();
            let ran = app.0.into_inner().unwrap();
            assert_eq!(ran.len(), 91, "{}", entry.name);
            for (codelet, memory) in &ran {
                let host = *memory == MemoryNode::HOST;
                assert!(*codelet == 2 || host == (*codelet == 0), "{}", entry.name);
            }
        }
    }
}

#[test]
fn what_does_not_fit_anywhere_is_an_error() {
    for entry in SCHEDULERS {
        let app = Kinds(Mutex::default());
        let config = with_devices(entry, 1, &["cuda0:memory=100B"]);
        let mut store = store(2);
        let error = run(&config, &app, &mut store, &(), |s| {
            s.submit(TaskSpec::new(CodeletId(1), 7).with(Handle(0), Access::Read))
        })
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "out of memory: task `device` of tree node 7 asked for 128 bytes"
        );
        // The store is whole.
        assert_eq!(store.get(Handle(0)).unwrap().len(), BYTES as usize);
    }
}

/// Keeps transfers.
#[derive(Default)]
struct Transfers {
    seen: Mutex<Vec<TransferRecord>>,
    clock: AtomicU32,
}

struct Kept<'t>(&'t Transfers);

impl Track for Kept<'_> {
    fn submitted(&mut self, _: TaskId, _: &TaskSpec, _: u64) {}
    fn task(&mut self, _: &TaskRecord) {}
    fn memory(&mut self, _: &MemoryRecord) {}
    fn state(&mut self, _: &StateRecord) {}
    fn transfer(&mut self, record: &TransferRecord) {
        self.0.seen.lock().unwrap().push(*record);
    }
}

struct Watch(&'static Transfers);

impl Observer for Watch {
    type Track = Kept<'static>;
    fn attach(&self, _: Lane) -> Self::Track {
        Kept(self.0)
    }
    fn detach(&self, _: Self::Track) {}
    fn clock(&self) -> u64 {
        u64::from(self.0.clock.fetch_add(1, SeqCst))
    }
}

#[test]
fn transfers_are_recorded_once_and_take_the_time_of_the_link() {
    let transfers: &'static Transfers = Box::leak(Box::default());
    let app = Kinds(Mutex::default());
    let config = with_devices(
        schedulers::by_name("eager").unwrap(),
        1,
        &["cuda0:bandwidth=128MB/s,latency=50us,memory=128B,speed=2"],
    );
    let (_, stats) = run(&config, &app, &mut store(2), &Watch(transfers), |s| {
        let mut task = |codelet, handle, access| {
            s.submit(TaskSpec::new(CodeletId(codelet), 0).with(Handle(handle), access))
        };
        task(1, 0, Access::ReadWrite)?; // fetch 0
        task(1, 0, Access::Read)?; // there
        task(0, 0, Access::Read)?; // return 0
        task(1, 0, Access::ReadWrite)?; // there; the host's is out of date
        task(1, 0, Access::ReadWrite)?;
        s.submit(
            // Waits for both; evicts 0 to the host.
            TaskSpec::new(CodeletId(1), 0).with(Handle(1), Access::ReadWrite),
        )?;
        Ok(())
    })
    .unwrap();
    let mut seen = std::mem::take(&mut *transfers.seen.lock().unwrap());
    seen.sort_by_key(|record| record.ticks);
    for record in &seen {
        assert_eq!(record.bytes, BYTES);
        // 50 us and 1 us for 128 bytes, twice as slow.
        assert_eq!(record.duration_ns, 102_000);
        assert_ne!(record.from, record.to);
    }
    let link = stats.devices[0].link;
    let of = |kind| seen.iter().filter(|r| r.kind == kind).count() as u64 * BYTES;
    assert_eq!(of(TransferKind::Fetch), link.fetched_bytes);
    assert_eq!(of(TransferKind::Return), link.returned_bytes);
    assert_eq!(of(TransferKind::WriteBack), link.written_back_bytes);
    assert!(link.peak_bytes == BYTES && link.evictions >= 1);
    assert_eq!(stats.time_scale, 2.0);
    assert!(stats.elapsed.as_nanos() as u64 >= 102_000 * seen.len() as u64);
}
