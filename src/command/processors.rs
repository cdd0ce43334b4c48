//! A processor for each of the threads that read and analyse.
//!
//! They hand over work every few tens of microseconds. The system wakes one where it ran last or beside whoever wakes it, and on a machine of few processors it then
//! waits behind another one for up to some milliseconds, while a processor has nothing to do (docs/performance/analysis.md, Threads of the analysis). Workers of a run are bound by the runtime.

use treeqr::runtime::take_own_processor;

/// Starts so many of these threads, each on a processor of its own where there are as many processors for the process as threads: with fewer threads, as under the quota of a control group, the others may
/// be somebody else's.
pub fn spread(threads: usize) {
    // A second start in one process (tests) finds the first one's.
    let _ = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("pool-{index}"))
        .start_handler(take_own)
        .build_global();
}

fn take_own(index: usize) {
    // A thread that may not be bound runs wherever it is put.
    take_own_processor(index, rayon::current_num_threads());
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::thread::{CpuSet, sched_getaffinity};

    /// What each of so many threads may use.
    fn masks(threads: usize) -> Vec<CpuSet> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .start_handler(take_own);
        let pool = pool.build().expect("threads");
        pool.broadcast(|_| sched_getaffinity(None).expect("a mask"))
    }

    #[test]
    fn as_many_threads_as_processors_have_one_each_and_others_all() {
        let all = sched_getaffinity(None).expect("a mask");
        let count = all.count() as usize;
        let own = masks(count);
        assert!(own.iter().all(|mask| mask.count() == 1));
        for cpu in (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu)) {
            let threads = own.iter().filter(|mask| mask.is_set(cpu));
            assert_eq!(threads.count(), 1, "processor {cpu}");
        }
        assert!(masks(count + 1).iter().all(|mask| *mask == all));
    }
}
