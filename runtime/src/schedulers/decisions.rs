//! Decisions of the policies with models, against decisions computed by hand. A world that says what a table says, and a
//! clock that a test sets.

use super::expected::{Expected, Policy};
use super::*;
use crate::spec::{CodeletId, TaskId, TaskSpec};
use crate::store::MemoryNode;
use crate::sync::{Arc, Mutex};
use crate::topology::Platform;
use std::collections::BTreeMap;

#[derive(Default)]
struct Table {
    now: u64,
    /// By codelet and kind of worker.
    durations: BTreeMap<(u16, u16), f64>,
    /// By task and memory.
    transfers: BTreeMap<(u32, u16), f64>,
    missing: BTreeMap<(u32, u16), Missing>,
    /// Codelets that only the CPU runs.
    cpu_only: Vec<u16>,
    prefetched: Vec<(u32, u16)>,
}

struct Script {
    table: Mutex<Table>,
    places: &'static [Place],
}

impl Script {
    fn set<R>(&self, change: impl FnOnce(&mut Table) -> R) -> R {
        change(&mut self.table.lock().unwrap())
    }
}

impl World for Script {
    fn now_ns(&self) -> u64 {
        self.set(|table| table.now)
    }
    fn can_run(&self, worker: WorkerId, task: &Task) -> bool {
        let on_device = self.places[worker].arch != Arch::CPU;
        !(on_device && self.set(|table| table.cpu_only.contains(&task.codelet().0)))
    }
    fn duration_ns(&self, task: &Task, arch: Arch) -> Option<f64> {
        let key = (task.codelet().0, arch.0);
        self.set(|table| table.durations.get(&key).copied())
    }
    fn transfer_ns(&self, task: &Task, memory: MemoryNode) -> f64 {
        let key = (task.id().0, memory.0);
        self.set(|table| table.transfers.get(&key).copied().unwrap_or(0.0))
    }
    fn missing(&self, task: &Task, memory: MemoryNode) -> Missing {
        let key = (task.id().0, memory.0);
        self.set(|table| table.missing.get(&key).copied().unwrap_or_default())
    }
    fn prefetch(&self, task: &Task, memory: MemoryNode) {
        self.set(|table| table.prefetched.push((task.id().0, memory.0)));
    }
}

const DEVICE: Place = Place {
    arch: Arch(1),
    memory: MemoryNode(1),
};

/// Workers at `places`; leaked, since a few tests make a few.
fn scene(places: &[Place]) -> (&'static Script, Scene<'static>) {
    let places = &*places.to_vec().leak();
    let script = &*Box::leak(Box::new(Script {
        table: Mutex::default(),
        places,
    }));
    let platform = Box::leak(Box::new(Platform::ring(places.len())));
    (script, Scene::new(platform, places, script))
}

fn task(id: u32, codelet: u16, priority: i64) -> ReadyTask {
    let spec = TaskSpec::new(CodeletId(codelet), id).priority(priority);
    Arc::new(Task::new(TaskId(id), spec, 0))
}

fn expected(scene: Scene<'static>, policy: Policy) -> Expected<'static> {
    Expected::new(scene, policy)
}

fn pop(scheduler: &dyn Scheduler, worker: WorkerId) -> Option<u32> {
    scheduler.pop(worker).map(|task| task.id().0)
}

#[test]
fn dm_sends_each_task_to_where_it_ends_first() {
    let (script, scene) = scene(&[Place::HOST, Place::HOST, DEVICE]);
    script.set(|t| {
        t.durations = [((0, 0), 90.0), ((0, 1), 30.0)].into();
        // Not counted by dm.
        t.transfers = (0..9).map(|id| ((id, 1), 1000.0)).collect();
    });
    let dm = expected(scene, dm::POLICY);
    // Device ends at 30, 60, 90 (a tie with worker 0, which comes first), ...
    let chosen: Vec<_> = (0..7).map(|id| dm.push(task(id, 0, 0), None)).collect();
    let workers = [2, 2, 0, 1, 2, 2, 2].map(Wake::Only);
    assert_eq!(chosen, workers);
    assert_eq!(dm.with_seat(2, |seat| seat.exp_len), 150.0);
    assert_eq!(dm.queued(), 7);
    assert!(script.set(|t| t.prefetched.is_empty()));
}

#[test]
fn dmda_counts_transfers_twice_in_the_fitness() {
    let (script, scene) = scene(&[Place::HOST, DEVICE]);
    script.set(|t| {
        t.now = 1000;
        t.durations = [((0, 0), 100.0), ((0, 1), 20.0)].into();
        t.transfers = [((0, 1), 39.0), ((1, 1), 41.0), ((2, 1), 10.0)].into();
    });
    let dmda = expected(scene, dmda::POLICY);
    // Host ends at 1100; the device at 1000 + 39 + 20 = 1059 with fitness 39, below 41.
    assert_eq!(dmda.push(task(0, 0, 0), None), Wake::Only(1));
    // exp_end was 1000: all of the transfer is in the way.
    assert_eq!(dmda.with_seat(1, |seat| seat.exp_len), 59.0);
    // The device would end at max(1059, 1041) + 20 = 1079, fitness 0 + 41; the host at 1100, fitness 21.
    assert_eq!(dmda.push(task(1, 0, 0), None), Wake::Only(0));
    // Device: max(1059, 1010) + 20 = 1079, fitness 10. Its transfer hides behind the queue: only 20 are added.
    assert_eq!(dmda.push(task(2, 0, 0), None), Wake::Only(1));
    assert_eq!(dmda.with_seat(1, |seat| seat.exp_len), 79.0);
    assert_eq!(
        script.set(|t| t.prefetched.clone()),
        [(0, 1), (1, 0), (2, 1)]
    );
}

#[test]
fn dmda_keeps_account_of_what_runs() {
    let (script, scene) = scene(&[Place::HOST, DEVICE]);
    script.set(|t| {
        t.durations = [((0, 0), 100.0), ((0, 1), 60.0)].into();
        t.now = 10;
    });
    let dmda = expected(scene, dmda::POLICY);
    let first = task(0, 0, 0);
    assert_eq!(dmda.push(first.clone(), None), Wake::Only(1));
    script.set(|t| t.now = 15);
    assert_eq!(pop(&dmda, 1), Some(0));
    let look = |seat: &super::expected::Seat| (seat.exp_start, seat.exp_len, seat.pipeline_len);
    assert_eq!(dmda.with_seat(1, look), (75.0, 0.0, 60.0));
    // Device: 75 + 60 = 135; host: 15 + 100 = 115.
    assert_eq!(dmda.push(task(1, 0, 0), None), Wake::Only(0));
    script.set(|t| t.now = 90);
    dmda.done(&first, 1);
    assert_eq!(dmda.with_seat(1, look), (90.0, 0.0, 0.0));
    // Device: 90 + 60 = 150; host: 90 + 100 + 100.
    assert_eq!(dmda.push(task(2, 0, 0), None), Wake::Only(1));
}

#[test]
fn who_was_not_measured_comes_first() {
    let (script, scene) = scene(&[Place::HOST, DEVICE, DEVICE]);
    for policy in [dm::POLICY, dmda::POLICY, dmdas::POLICY, dmdasd::POLICY] {
        script.set(|t| t.durations = [((0, 0), 1.0)].into());
        let dm = expected(scene, policy);
        let chosen: Vec<_> = (0..4).map(|id| dm.push(task(id, 0, 0), None)).collect();
        assert_eq!(chosen, [1, 2, 1, 2].map(Wake::Only));
        // Running ones count too.
        assert!(dm.pop(2).is_some());
        assert_eq!(dm.push(task(4, 0, 0), None), Wake::Only(1));
        script.set(|t| t.durations.insert((0, 1), 5.0));
        assert_eq!(dm.push(task(5, 0, 0), None), Wake::Only(0));
    }
}

#[test]
fn nobody_gets_what_it_cannot_run() {
    for entry in SCHEDULERS {
        let (script, scene) = scene(&[Place::HOST, DEVICE, Place::HOST, DEVICE]);
        script.set(|t| {
            t.cpu_only = vec![1];
            // The device would be chosen if it could.
            t.durations = [((0, 0), 9.0), ((0, 1), 9.0), ((1, 0), 9.0), ((1, 1), 1.0)].into();
        });
        let scheduler = (entry.create)(scene);
        for id in 0..60 {
            let by = [None, Some(1), Some(0), Some(3)][id as usize % 4];
            let wake = scheduler.push(task(id, (id % 3 == 0).into(), 0), by);
            assert!(id % 3 > 0 || !matches!(wake, Wake::Any | Wake::Only(1) | Wake::Only(3)));
        }
        let mut popped = Vec::new();
        for round in 0..400 {
            if let Some(id) = pop(&*scheduler, round % 4) {
                assert!(id % 3 > 0 || round % 2 == 0, "{}", entry.name);
                popped.push(id);
            }
        }
        popped.sort_unstable();
        assert!(popped.into_iter().eq(0..60), "{}", entry.name);
    }
}

#[test]
fn dmdas_sorts_and_takes_first_what_is_there() {
    let (script, scene) = scene(&[Place::HOST, DEVICE]);
    let bytes = |invalid, not_loading, unallocated| Missing {
        invalid_bytes: invalid,
        not_loading_bytes: not_loading,
        unallocated_bytes: unallocated,
    };
    script.set(|t| {
        t.durations = [((0, 0), 1e6), ((0, 1), 1.0)].into();
        t.missing = [
            ((0, 1), bytes(50, 50, 0)),
            ((1, 1), bytes(50, 0, 50)),
            ((2, 1), bytes(50, 0, 40)),
            ((3, 1), bytes(0, 0, 0)),
            ((4, 1), bytes(0, 0, 0)),
            ((5, 1), bytes(90, 90, 90)),
        ]
        .into();
    });
    let pushes = [(0, 5), (1, 5), (2, 5), (3, 4), (4, 4), (5, 7)];
    let order = |policy| {
        let scheduler = expected(scene, policy);
        for (id, priority) in pushes {
            assert_eq!(scheduler.push(task(id, 0, priority), None), Wake::Only(1));
        }
        std::iter::from_fn(|| pop(&scheduler, 1)).collect::<Vec<_>>()
    };
    for policy in [dmdas::POLICY, dmdasd::POLICY] {
        assert_eq!(order(policy), [5, 2, 1, 0, 3, 4]);
    }
    for policy in [dm::POLICY, dmda::POLICY] {
        assert_eq!(order(policy), [0, 1, 2, 3, 4, 5]);
    }
}

#[test]
fn dmdasd_counts_only_what_goes_before() {
    let (script, scene) = scene(&[Place::HOST, DEVICE]);
    script.set(|t| {
        t.durations = [
            ((0, 0), 100.0),
            ((0, 1), 40.0),
            ((1, 1), 1.0),
            ((1, 0), 99.0),
        ]
        .into()
    });
    for (policy, last) in [(dmdas::POLICY, 0), (dmdasd::POLICY, 1)] {
        let scheduler = expected(scene, policy);
        // Queued at the device: 40 and 40.
        for id in 0..2 {
            assert_eq!(scheduler.push(task(id, 0, 0), None), Wake::Only(1));
        }
        // All of it counted: 80 + 40 > 100. What goes before a higher priority: nothing.
        assert_eq!(scheduler.push(task(2, 0, 9), None), Wake::Only(last));
    }
}

/// Ten times slower on the CPU: ten tasks for the device would be enough, the fixed factor wants 25.
#[test]
fn heteroprio25_leaves_a_cpu_idle_that_could_help() {
    for (name, enough) in [("heteroprio", 10), ("heteroprio25", 25)] {
        let (script, scene) = scene(&[Place::HOST, DEVICE]);
        script.set(|t| t.durations = [((0, 0), 100.0), ((0, 1), 10.0)].into());
        let policy = (by_name(name).unwrap().create)(scene);
        for id in 1..enough {
            policy.push(task(id, 0, 0), None);
        }
        assert_eq!(pop(&*policy, 0), None, "{name}");
        policy.push(task(enough, 0, 0), None);
        assert_eq!(pop(&*policy, 0), Some(1), "{name}");
    }
}

#[test]
fn heteroprio_begins_with_what_a_kind_is_best_at() {
    let (script, scene) = scene(&[Place::HOST, DEVICE]);
    // Codelet 0 is 2 times, codelet 1 is 10 times faster on the device; codelet 2 runs on the CPU alone.
    script.set(|t| {
        t.durations = [
            ((0, 0), 20.0),
            ((0, 1), 10.0),
            ((1, 0), 100.0),
            ((1, 1), 10.0),
            ((2, 0), 5.0),
        ]
        .into();
        t.cpu_only = vec![2];
    });
    let heteroprio = (by_name("heteroprio").unwrap().create)(scene);
    let push = |id, codelet| assert_eq!(heteroprio.push(task(id, codelet, 0), None), Wake::All);
    for (id, codelet) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2)] {
        push(id, codelet);
    }
    // The device takes two ahead, both from the bucket that it accelerates most, and runs the first.
    assert_eq!(pop(&*heteroprio, 1), Some(2));
    assert_eq!(script.set(|t| t.prefetched.clone()), [(2, 1), (3, 1)]);
    // The CPU begins with what is its alone, then takes what it loses least on: 2 tasks / 1 device >= 2.
    assert_eq!(pop(&*heteroprio, 0), Some(4));
    assert_eq!(pop(&*heteroprio, 0), Some(0));
    // 1 task / 1 device < 2: that is left to the device.
    assert_eq!(pop(&*heteroprio, 0), None);
    assert_eq!(heteroprio.queued(), 2);
    assert_eq!(pop(&*heteroprio, 1), Some(3));
    assert_eq!(pop(&*heteroprio, 1), Some(1));
    // Nine tasks that are ten times slower on the CPU are too few for it, ten are enough.
    (10..19).for_each(|id| push(id, 1));
    assert_eq!(pop(&*heteroprio, 0), None);
    push(19, 1);
    assert_eq!(pop(&*heteroprio, 0), Some(10));
}

#[test]
fn heteroprio_steals_from_its_own_kind_and_sorts_its_own_queue() {
    let (script, scene) = scene(&[Place::HOST, DEVICE, DEVICE]);
    script.set(|t| t.durations = [((0, 0), 1e9), ((0, 1), 1.0)].into());
    let heteroprio = (by_name("heteroprio").unwrap().create)(scene);
    heteroprio.push(task(0, 0, 1), None);
    heteroprio.push(task(1, 0, 2), None);
    // Worker 1 takes both and runs the better; worker 2 steals the other.
    assert_eq!(pop(&*heteroprio, 1), Some(1));
    assert_eq!(pop(&*heteroprio, 0), None);
    assert_eq!(pop(&*heteroprio, 2), Some(0));
    // Not measured: anybody may.
    heteroprio.push(task(2, 7, 0), None);
    assert_eq!(pop(&*heteroprio, 0), Some(2));
}
