//! Times of tasks on a device whose clock is another than the host's: recorded as they truly were, within the error that the run tells.

use super::common::*;
use super::copies::{ON_DEVICE, TAKE, Turns, task};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use treeqr_devices::*;
use treeqr_runtime::*;

/// Keeps tasks; its ticks are nanoseconds.
struct Timed {
    since: Instant,
    tasks: Mutex<Vec<TaskRecord>>,
}

struct Kept<'t>(&'t Timed);

impl Observer for &'static Timed {
    type Track = Kept<'static>;
    fn attach(&self, _: Lane) -> Kept<'static> {
        Kept(self)
    }
    fn detach(&self, _: Kept<'static>) {}
    fn clock(&self) -> u64 {
        self.since.elapsed().as_nanos() as u64
    }
}

impl Track for Kept<'_> {
    fn submitted(&mut self, _: TaskId, _: &TaskSpec, _: u64) {}
    fn task(&mut self, record: &TaskRecord) {
        self.0.tasks.lock().unwrap().push(*record);
    }
    fn memory(&mut self, _: &MemoryRecord) {}
    fn state(&mut self, _: &StateRecord) {}
}

/// `tasks` tasks in a chain on the one stream of a device; what was recorded of them, the truth, and how the run went.
fn go(
    faults: HostFaults,
    tasks: u32,
) -> (
    &'static Timed,
    Vec<(Instant, Instant)>,
    Result<RunStats, RunError>,
) {
    let device = Arc::new(HostDevice::new("host0", 8 << 20, Arc::new(Turns), faults));
    let config = Config {
        accelerators: vec![Accelerator {
            name: "host0".to_owned(),
            device: device.clone(),
            memory_bytes: 4 << 20,
            streams: 1,
            pin: false,
        }],
        ..config(&SCHEDULERS[0], 1)
    };
    let timed: &'static Timed = Box::leak(Box::new(Timed {
        since: Instant::now(),
        tasks: Mutex::default(),
    }));
    let mut store = DataStore::new(1);
    let done = run(&config, &Turns, &mut store, &timed, |s| {
        s.submit(task(TAKE, 0, 0))?;
        for _ in 0..tasks {
            s.submit(task(ON_DEVICE, 0, 0))?;
        }
        Ok(())
    });
    (timed, device.true_spans(), done.map(|(_, stats)| stats))
}

#[test]
fn tasks_of_a_stream_have_their_true_times() {
    let sway = 1e-3;
    let clocks = [(0.0, 0.0), (5e-3, 0.0), (-8e-3, sway), (0.5, sway)];
    for (k, clock_drift) in clocks.into_iter().enumerate() {
        let faults = HostFaults {
            delay: Duration::from_micros(50),
            seed: k as u64,
            clock_ns: [0, 1 << 50][k % 2],
            clock_drift,
            ..HostFaults::default()
        };
        // More than wait for their times at once, and some that are left in the end.
        let (timed, truth, stats) = go(faults, 700);
        let bound = stats.unwrap().devices[0].clock_error_ticks;
        let mut records = timed.tasks.lock().unwrap().clone();
        records.retain(|record| record.worker == 1);
        assert_eq!((records.len(), truth.len()), (700, 700));
        assert!(records.is_sorted_by_key(|record| record.id));
        // What a clock that runs faster and faster departs from a straight line; and whole nanoseconds.
        let whole = timed.since.elapsed().as_secs_f64();
        let bound = bound + (sway * whole * whole / 8.0 * 1e9) as u64 + 10;
        let mut last = 0;
        for (record, (begin, end)) in records.iter().zip(truth) {
            let ns = |at: Instant| at.duration_since(timed.since).as_nanos() as u64;
            let off = [
                record.start.abs_diff(ns(begin)),
                record.end.abs_diff(ns(end)),
            ];
            assert!(off.iter().all(|&off| off <= bound), "{off:?} of {bound}");
            assert!(last <= record.start && record.start <= record.end);
            assert!(record.ready <= record.pop && record.pop <= record.start);
            last = record.end;
        }
    }
}

/// What has ended is recorded, also if the device is gone when its clock should be read.
#[test]
fn a_lost_device_takes_no_record_with_it() {
    let faults = HostFaults {
        lose: Some(300),
        clock_drift: (0.1, 0.0),
        ..HostFaults::default()
    };
    let (timed, truth, stats) = go(faults, 700);
    assert!(matches!(stats, Err(RunError::Device(_))));
    let records = timed.tasks.lock().unwrap();
    let of_device: Vec<_> = records.iter().filter(|r| r.worker == 1).collect();
    assert_eq!((of_device.len(), truth.len()), (300, 300));
    for record in of_device {
        assert!(record.pop <= record.start && record.start <= record.end);
    }
}
