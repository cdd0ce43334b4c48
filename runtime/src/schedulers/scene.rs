//! What a policy may ask: who is there, what things cost, what time it is.
//!
//! Takes a [`World`], which answers; gives a [`Scene`], which policies keep. Knows no thread: real workers and a simulated
//! clock give the same scene to the same policy, each with a world of its own.

use super::Wake;
use crate::spec::WorkerId;
use crate::store::MemoryNode;
use crate::task::Task;
use crate::topology::Platform;

/// A kind of worker for which tasks have one speed, by its number in a run; 0 is the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch(pub u16);

impl Arch {
    /// The processor of the host.
    pub const CPU: Arch = Arch(0);
}

/// What a worker is and which memory its tasks use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its kind.
    pub arch: Arch,
    /// Its memory.
    pub memory: MemoryNode,
}

impl Place {
    /// That of a CPU worker.
    pub const HOST: Place = Place {
        arch: Arch::CPU,
        memory: MemoryNode::HOST,
    };
}

/// What of a task's inputs a memory node lacks, in bytes; orders by the first, then the second, then the third.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// Of inputs that are not valid there.
    pub invalid_bytes: u64,
    /// Of those, of inputs that are not on their way either.
    pub not_loading_bytes: u64,
    /// Of buffers that have no room there yet.
    pub unallocated_bytes: u64,
}

/// Answers the questions of a policy. Times are nanoseconds on the clock of the run (or of its simulation).
pub trait World: Sync {
    /// Now.
    fn now_ns(&self) -> u64;

    /// Whether `worker` is able to run `task`: the same for all workers of one place.
    fn can_run(&self, worker: WorkerId, task: &Task) -> bool {
        let _ = (worker, task);
        true
    }

    /// How long `task` will run on `arch`; `None` as long as too little was measured.
    fn duration_ns(&self, task: &Task, arch: Arch) -> Option<f64>;

    /// How long it will take to bring what `task` reads to `memory`.
    fn transfer_ns(&self, task: &Task, memory: MemoryNode) -> f64 {
        let _ = (task, memory);
        0.0
    }

    /// What `task` lacks on `memory`.
    fn missing(&self, task: &Task, memory: MemoryNode) -> Missing {
        let _ = (task, memory);
        Missing::default()
    }

    /// Asks to bring what `task` reads to `memory`. To be called before any worker can pop the task.
    fn prefetch(&self, task: &Task, memory: MemoryNode) {
        let _ = (task, memory);
    }
}

/// The surroundings of a policy in one run.
#[derive(Clone, Copy)]
pub struct Scene<'s> {
    platform: &'s Platform,
    places: &'s [Place],
    world: &'s dyn World,
    uniform: bool,
}

impl<'s> Scene<'s> {
    /// The workers of `platform`, which are at `places`.
    ///
    /// # Panics
    /// If not every worker has a place.
    pub fn new(platform: &'s Platform, places: &'s [Place], world: &'s dyn World) -> Self {
        assert_eq!(platform.workers(), places.len(), "a place for every worker");
        let uniform = places.iter().all(|place| *place == places[0]);
        Scene {
            platform,
            places,
            world,
            uniform,
        }
    }

    /// Number of workers.
    pub fn workers(&self) -> usize {
        self.places.len()
    }

    /// What `worker` is.
    pub fn place(&self, worker: WorkerId) -> Place {
        self.places[worker]
    }

    /// Number of kinds of workers.
    pub fn archs(&self) -> usize {
        let last = self.places.iter().map(|place| place.arch.0).max();
        last.map_or(0, |last| usize::from(last) + 1)
    }

    /// The other workers, nearest to `worker` first.
    pub fn nearest(&self, worker: WorkerId) -> &'s [WorkerId] {
        self.platform.nearest(worker)
    }

    /// Whether all workers are alike: each can run every task, and no data moves.
    pub fn is_uniform(&self) -> bool {
        self.uniform
    }

    /// Whether `worker` is able to run `task`.
    pub fn can_run(&self, worker: WorkerId, task: &Task) -> bool {
        self.uniform || self.world.can_run(worker, task)
    }

    /// Those of `workers` that are able to run `task`. Neighbours of one place are asked for once: with devices the answer needs a look at
    /// where its data is.
    pub fn able<'a>(
        &'a self,
        workers: impl Iterator<Item = WorkerId> + 'a,
        task: &'a Task,
    ) -> impl Iterator<Item = WorkerId> + 'a {
        let mut last = None;
        workers.filter(move |&worker| {
            let place = self.place(worker);
            match last {
                Some((known, can)) if known == place => can,
                _ => {
                    let can = self.can_run(worker, task);
                    last = Some((place, can));
                    can
                }
            }
        })
    }

    /// The first worker from `first` on, going round, that is able to run `task`.
    ///
    /// # Panics
    /// If there is none; the submission does not accept such a task.
    pub fn capable_from(&self, first: WorkerId, task: &Task) -> WorkerId {
        let workers = self.workers();
        let mut round = (0..workers).map(|step| (first + step) % workers);
        round
            .find(|&worker| self.can_run(worker, task))
            .expect("a task that no worker can run is not accepted")
    }

    /// Whom to wake for a task that any able worker may take.
    pub fn wake_able(&self) -> Wake {
        if self.uniform { Wake::Any } else { Wake::All }
    }

    /// Who answers the other questions.
    pub fn world(&self) -> &'s dyn World {
        self.world
    }
}
