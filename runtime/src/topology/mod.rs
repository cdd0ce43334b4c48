//! The machine as schedulers and workers see it.
//!
//! Takes a number of workers; gives each a place on the hardware and the others in order of distance. Knows no task and
//! pins nobody except the thread that asks. Works without hwloc: then nobody is pinned where there is a choice, and distance
//! goes round a ring.

mod affinity;
#[cfg(feature = "hwloc")]
mod hardware;
#[cfg(not(feature = "hwloc"))]
#[path = "unknown.rs"]
mod hardware;
#[cfg_attr(not(feature = "hwloc"), allow(dead_code))]
mod memory;
mod plugins;
mod report;
#[cfg(all(test, feature = "hwloc"))]
mod tests_hwloc;

pub use plugins::leave_hwloc_plugins_out;
pub use report::{Part, PartKind, Topology};

use crate::spec::WorkerId;
use std::marker::PhantomData;
use std::thread::{Builder, JoinHandle};

/// Up to so many workers are at the same distance from each other wherever they are.
const NO_ORDER: usize = 2;

/// The workers of a run and where they are.
#[derive(Clone, Debug)]
pub struct Platform {
    units: Vec<Option<Unit>>,
    nearest: Vec<Vec<WorkerId>>,
}

/// A processing unit (a hardware thread) that the process may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The operating system's number.
    pub(crate) number: u32,
    /// Its ancestors in the hardware's tree, from the root to the core: (depth, number at that depth).
    pub(crate) path: Vec<(u32, u32)>,
}

impl Platform {
    /// `workers` workers on hardware that nobody asked about: unpinned, at distances round a ring.
    ///
    /// # Panics
    /// If `workers` is 0.
    pub fn ring(workers: usize) -> Self {
        assert!(workers > 0, "a run needs a worker");
        let others = |w: WorkerId| (1..workers).map(|k| (w + k) % workers).collect();
        Platform {
            units: vec![None; workers],
            nearest: (0..workers).map(others).collect(),
        }
    }

    /// `workers` workers on this machine, one per processing unit that the calling thread may use, cores before their
    /// second hardware threads; the same as [`ring`](Self::ring) where that is not known or there are too few. Two on the only
    /// two units there are leave nothing to choose: then the hardware, which takes milliseconds, is not read.
    pub(crate) fn discover(workers: usize) -> Self {
        if let Some(numbers) = without_choice(workers) {
            let unit = |number| Unit {
                number,
                path: Vec::new(),
            };
            return Platform::at(numbers.into_iter().map(unit).collect());
        }
        let units = hardware::units();
        if units.len() < workers {
            return Platform::ring(workers);
        }
        Platform::at(units.into_iter().take(workers).collect())
    }

    fn at(units: Vec<Unit>) -> Self {
        let workers = units.len();
        let others = |w: WorkerId| {
            let mut others: Vec<_> = (1..workers).map(|k| (w + k) % workers).collect();
            let shared = |v: &WorkerId| {
                let pairs = units[w].path.iter().zip(&units[*v].path);
                pairs.take_while(|(mine, theirs)| mine == theirs).count()
            };
            // Stable: at one distance, round the ring, so that not all thieves go to the same victim.
            others.sort_by_key(|v| std::cmp::Reverse(shared(v)));
            others
        };
        Platform {
            nearest: (0..workers).map(others).collect(),
            units: units.into_iter().map(Some).collect(),
        }
    }

    /// The same with `more` workers after them that stay unpinned and far from everybody: threads that drive a device sleep most of
    /// the time.
    pub(crate) fn and_unpinned(mut self, more: usize) -> Self {
        let (before, all) = (self.workers(), self.workers() + more);
        self.nearest
            .iter_mut()
            .for_each(|others| others.extend(before..all));
        let others = |w: WorkerId| (1..all).map(|k| (w + k) % all).collect();
        self.nearest.extend((before..all).map(others));
        self.units.resize_with(all, || None);
        self
    }

    /// Number of workers.
    pub fn workers(&self) -> usize {
        self.nearest.len()
    }

    /// The other workers, nearest to `worker` first.
    pub fn nearest(&self, worker: WorkerId) -> &[WorkerId] {
        &self.nearest[worker]
    }

    /// The operating system's number of the processing unit that `worker` gets, if it gets one.
    pub fn unit(&self, worker: WorkerId) -> Option<u32> {
        self.units[worker].as_ref().map(|unit| unit.number)
    }

    /// Pins the calling thread to the place of `worker`; whether that worked.
    pub(crate) fn bind_here(&self, worker: WorkerId) -> bool {
        self.unit(worker).is_some_and(affinity::bind)
    }
}

/// The only units for so many workers, where it makes no difference who gets which.
fn without_choice(workers: usize) -> Option<Vec<u32>> {
    affinity::exactly(workers).filter(|_| workers <= NO_ORDER)
}

/// Binds the calling thread, the `index`-th of so many, to a processor of its own, if that is what there is: with fewer threads
/// than processors, as under the quota of a control group, the others may be somebody else's. Whether it is bound.
pub fn take_own_processor(index: usize, threads: usize) -> bool {
    let numbers = affinity::exactly(threads).unwrap_or_default();
    numbers.get(index).is_some_and(|&own| affinity::bind(own))
}

/// The machine is being read on a thread of its own; waits for that when it is dropped, since the process must not end meanwhile.
#[derive(Debug)]
pub struct ReadAhead(Option<JoinHandle<()>>);

impl ReadAhead {
    /// Begins to read the machine, which takes milliseconds, once a process: the first run of so many workers finds it done. For
    /// programs that have something else to do first. Does nothing where such a run does not ask.
    pub fn begin(workers: usize) -> Self {
        if without_choice(workers).is_some() {
            return ReadAhead(None);
        }
        let name = "treeqr-topology".to_owned();
        let reading = Builder::new().name(name).spawn(|| {
            hardware::units();
        });
        ReadAhead(reading.ok())
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        if let Some(reading) = self.0.take() {
            // Whoever runs then finds out what is wrong.
            let _ = reading.join();
        }
    }
}

/// The calling thread is pinned; it may run where it could before when this is dropped.
#[derive(Debug)]
pub struct BoundThread {
    freedom: affinity::Freedom,
    /// On another thread it would release the wrong one.
    here_only: PhantomData<*const ()>,
}

impl BoundThread {
    /// Pins the calling thread to where the only worker of a run that it starts would be. For a
    /// [sequential run](crate::run_sequential) that is to be compared with one that has workers: by itself it pins
    /// nobody, since several may go on side by side. `None` where pinning does not work; then nothing has changed.
    pub fn as_first_worker() -> Option<Self> {
        let number = Platform::discover(1).unit(0)?;
        let freedom = affinity::bind_for_now(number)?;
        Some(BoundThread {
            freedom,
            here_only: PhantomData,
        })
    }
}

impl Drop for BoundThread {
    fn drop(&mut self) {
        affinity::release(&self.freedom);
    }
}

/// How many threads the calling thread can run side by side: its affinity mask and the control group's CPU quota, as
/// the standard library read them when the thread asked first; 1 if that is not known. All defaults ask, and each look
/// opens three files.
pub fn available_threads() -> usize {
    thread_local! {
        static AVAILABLE: usize = std::thread::available_parallelism().map_or(1, usize::from);
    }
    AVAILABLE.with(|&threads| threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_share_the_longest_path() {
        let unit = |number, package, core| Unit {
            number,
            path: vec![(0, 0), (1, package), (2, core)],
        };
        // Two packages of two cores; workers 0 and 3 share a core.
        let units = vec![unit(0, 0, 0), unit(1, 0, 1), unit(2, 1, 2), unit(3, 0, 0)];
        let platform = Platform::at(units);
        assert_eq!(platform.nearest(0), [3, 1, 2]);
        assert_eq!(platform.nearest(1), [3, 0, 2]);
        assert_eq!(platform.nearest(2), [3, 0, 1]);
    }

    #[test]
    fn every_worker_knows_all_others() {
        for workers in 1..6 {
            let discovered = Platform::discover(workers);
            let units: Vec<_> = (0..workers).map(|w| discovered.unit(w)).collect();
            let fewer = Platform::discover(workers).and_unpinned(2);
            assert!(
                units
                    .iter()
                    .enumerate()
                    .all(|(w, unit)| fewer.unit(w) == *unit)
            );
            assert_eq!((fewer.workers(), fewer.unit(workers)), (workers + 2, None));
            for w in 0..workers + 2 {
                let mut all = fewer.nearest(w).to_vec();
                all.push(w);
                all.sort_unstable();
                assert!(all.into_iter().eq(0..workers + 2));
            }
            for platform in [Platform::ring(workers), discovered] {
                for w in 0..workers {
                    let mut all = platform.nearest(w).to_vec();
                    all.push(w);
                    all.sort_unstable();
                    assert!(all.into_iter().eq(0..workers));
                }
            }
        }
    }

    #[test]
    fn who_was_bound_for_a_while_is_as_free_as_before() {
        let before = affinity::usable();
        if let Some(bound) = BoundThread::as_first_worker() {
            assert_eq!(
                affinity::usable(),
                before.as_deref().map(|all| all[..1].to_vec())
            );
            drop(bound);
        }
        assert_eq!(affinity::usable(), before);
    }
}
