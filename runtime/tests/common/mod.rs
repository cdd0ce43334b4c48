//! Random programs on integer buffers, and what is true of every run of them.
//!
//! Every task has one codelet, `step`: it folds what it reads into a number and writes numbers that depend on it, so any
//! wrong order changes the result. It notes when it began and ended on a common counter.

#![allow(dead_code)]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use treeqr_runtime::*;

/// Elements of every buffer.
pub const LEN: usize = 16;

/// A small generator of pseudo-random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// How long tasks take.
#[derive(Clone, Copy, PartialEq)]
pub enum Delays {
    None,
    Random,
}

/// A random program of `tasks` tasks with 0 to 4 accesses to `handles` handles.
pub fn program(seed: u64, tasks: usize, handles: usize, delays: Delays) -> Vec<TaskSpec> {
    let mut random = Random(seed);
    let mut scattered = vec![0; handles];
    let task = |i: usize| {
        let mut spec = TaskSpec::new(CodeletId(0), i as u32).priority(random.below(5) as i64 - 2);
        for _ in 0..random.below(5) {
            let h = random.below(handles);
            if spec.accesses.iter().any(|(taken, _)| taken.0 == h as u32) {
                continue;
            }
            let mut access = match random.below(8) {
                0..4 => Access::Read,
                4 => Access::Write,
                5 => Access::ReadWrite,
                _ => Access::Scatter,
            };
            if access == Access::Scatter && scattered[h] == LEN {
                access = Access::Read;
            }
            // Element of the handle that a scatter writes: its place in the group, so that no two write the same.
            spec.params[spec.accesses.len()] = scattered[h] as u32;
            scattered[h] = if access == Access::Scatter {
                scattered[h] + 1
            } else {
                0
            };
            spec.accesses.push((Handle(h as u32), access));
        }
        spec.params[5] = match (delays, random.below(16)) {
            (Delays::None, _) => 0,
            (Delays::Random, 0) => 100_000,
            (Delays::Random, _) => random.below(3000) as u32,
        };
        spec
    };
    (0..tasks).map(task).collect()
}

/// The application that runs programs.
pub struct Steps {
    counter: AtomicU64,
    times: Vec<(AtomicU64, AtomicU64)>,
    runs: Vec<AtomicU32>,
}

impl Steps {
    pub fn new(tasks: usize) -> Self {
        Steps {
            counter: AtomicU64::new(1),
            times: std::iter::repeat_with(Default::default)
                .take(tasks)
                .collect(),
            runs: std::iter::repeat_with(Default::default)
                .take(tasks)
                .collect(),
        }
    }

    /// Task `me` begins, wherever it runs.
    pub fn begin(&self, me: usize) {
        let now = self.counter.fetch_add(1, SeqCst);
        self.times[me].0.store(now, SeqCst);
        self.runs[me].fetch_add(1, SeqCst);
    }

    /// Task `me` ends.
    pub fn end(&self, me: usize) {
        let now = self.counter.fetch_add(1, SeqCst);
        self.times[me].1.store(now, SeqCst);
    }

    pub fn step(&self, context: &TaskContext<'_>, _: &mut ()) -> Result<(), TaskFailure> {
        let (spec, me) = (context.task(), context.id().0 as usize);
        self.begin(me);
        if spec.params[5] == 100_000 {
            std::thread::sleep(Duration::from_micros(60));
        }
        (0..spec.params[5] % 100_000).for_each(|_| std::hint::spin_loop());
        let mut sum = me as u64;
        for (i, &(_, access)) in spec.accesses.iter().enumerate() {
            if access == Access::Read {
                for &x in &*context.read::<u64>(i) {
                    sum = sum.wrapping_mul(31).wrapping_add(x);
                }
            }
        }
        for (i, &(_, access)) in spec.accesses.iter().enumerate() {
            match access {
                Access::Read => {}
                Access::Write => (0..)
                    .zip(&mut *context.write(i))
                    .for_each(|(k, x)| *x = sum + k),
                Access::ReadWrite => {
                    for x in &mut *context.write::<u64>(i) {
                        *x = x.wrapping_mul(7).wrapping_add(sum);
                        sum = sum.rotate_left(9) ^ *x;
                    }
                }
                Access::Scatter => context.scatter(i).set(spec.params[i] as usize, sum),
            }
        }
        self.end(me);
        Ok(())
    }

    /// Every task ran once, and after all that it must come after: of two tasks in the order of submission that touch
    /// the same handle, the first ended before the second began, unless both read or both scatter.
    pub fn check(&self, program: &[TaskSpec]) {
        assert!(self.runs.iter().all(|runs| runs.load(SeqCst) == 1));
        for (j, second) in program.iter().enumerate() {
            for (i, first) in program[..j].iter().enumerate() {
                if conflict(first, second) {
                    let (end, start) = (&self.times[i].1, &self.times[j].0);
                    assert!(
                        end.load(SeqCst) < start.load(SeqCst),
                        "task {j} began before task {i} had ended"
                    );
                }
            }
        }
    }
}

fn conflict(first: &TaskSpec, second: &TaskSpec) -> bool {
    let pairs = first
        .accesses
        .iter()
        .flat_map(|a| second.accesses.iter().map(move |b| (a, b)));
    let mut pairs = pairs.filter(|((a, _), (b, _))| a == b);
    pairs.any(|((_, a), (_, b))| {
        !matches!(
            (a, b),
            (Access::Read, Access::Read) | (Access::Scatter, Access::Scatter)
        )
    })
}

impl Application for Steps {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        &[Codelet {
            name: "step",
            cpu: Some(Steps::step),
        }]
    }
    fn device_code(&self, _: CodeletId) -> Option<CpuCode<Self>> {
        Some(Steps::step)
    }
}

/// A store whose buffers are all there.
pub fn store(handles: usize) -> DataStore {
    let mut store = DataStore::new(handles);
    for h in 0..handles as u32 {
        store.allocate(Handle(h), 8 * LEN).unwrap();
        (h as u64..)
            .zip(store.get_mut_as(Handle(h)).unwrap())
            .for_each(|(k, x)| *x = k);
    }
    store
}

/// What all buffers hold.
pub fn contents(store: &DataStore) -> Vec<Option<Vec<u8>>> {
    let handles = 0..store.handles() as u32;
    handles
        .map(|h| store.get(Handle(h)).map(<[u8]>::to_vec))
        .collect()
}

/// Submits all of `program`.
pub fn submit(program: &[TaskSpec], submitter: &mut Submitter<'_>) -> Result<(), Stopped> {
    for spec in program {
        submitter.submit(spec.clone())?;
    }
    Ok(())
}

/// Workers that stay unpinned: tests share the machine.
pub fn config(scheduler: &'static SchedulerEntry, threads: usize) -> Config {
    Config {
        scheduler,
        bind: false,
        ..Config::with_threads(threads)
    }
}
