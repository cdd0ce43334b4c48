//! The policies by themselves: pushes and pops of one thread, as virtual time would do them.

use super::*;
use crate::spec::{CodeletId, TaskId, TaskSpec};
use crate::sync::Arc;
use crate::task::Task;
use crate::topology::Platform;

fn task(id: u32, priority: i64) -> ReadyTask {
    let spec = TaskSpec::new(CodeletId(0), id).priority(priority);
    Arc::new(Task::new(TaskId(id), spec, 0))
}

/// Nothing is known, no time passes.
struct Still;

impl World for Still {
    fn now_ns(&self) -> u64 {
        0
    }
    fn duration_ns(&self, _: &Task, _: Arch) -> Option<f64> {
        None
    }
}

/// `workers` alike; leaked, since a few tests make a few.
fn alike(workers: usize) -> Scene<'static> {
    let platform = Box::leak(Box::new(Platform::ring(workers)));
    Scene::new(platform, vec![Place::HOST; workers].leak(), &Still)
}

fn make(name: &str, workers: usize) -> Box<dyn Scheduler> {
    (by_name(name).unwrap().create)(alike(workers))
}

fn pop(scheduler: &dyn Scheduler, worker: WorkerId) -> Option<u32> {
    scheduler.pop(worker).map(|task| task.id().0)
}

#[test]
fn all_that_is_pushed_is_popped_once() {
    for entry in SCHEDULERS {
        for workers in 1..5 {
            let scheduler = (entry.create)(alike(workers));
            for id in 0..40 {
                let by = (id % 3 == 0).then_some(id as usize % workers);
                let before = scheduler.queued();
                scheduler.push(task(id, i64::from(id % 7)), by);
                assert_eq!(scheduler.queued(), before + 1);
            }
            let pops = (0..).map(|k| pop(&*scheduler, k % workers));
            let mut popped: Vec<_> = pops.take(40 * workers).flatten().collect();
            popped.sort_unstable();
            assert!(popped.into_iter().eq(0..40), "{}", entry.name);
            assert_eq!(scheduler.queued(), 0);
        }
    }
}

#[test]
fn ws_takes_its_newest_and_steals_the_oldest_round_robin() {
    let ws = make("ws", 3);
    for id in 0..6 {
        // Two for each of the workers 1 and 2.
        if id % 3 > 0 {
            assert_eq!(ws.push(task(id, 0), Some(id as usize % 3)), Wake::Any);
        }
    }
    assert_eq!(pop(&*ws, 0), Some(1), "the next worker's oldest");
    assert_eq!(pop(&*ws, 0), Some(2), "on to the one after");
    assert_eq!(pop(&*ws, 0), Some(4), "and round again");
    assert_eq!(pop(&*ws, 2), Some(5));
    assert_eq!(pop(&*ws, 2), None);
    for target in [0, 1, 2, 0] {
        assert_eq!(ws.push(task(9, 0), None), Wake::Prefer(target));
    }
}

#[test]
fn lws_takes_its_oldest_and_steals_the_newest_of_the_highest_priority() {
    let lws = make("lws", 3);
    for (id, priority) in [(0, 1), (1, 2), (2, 2), (3, 2), (4, 0)] {
        assert_eq!(lws.push(task(id, priority), Some(1)), Wake::Any);
    }
    assert_eq!(pop(&*lws, 0), None, "an idle owner is left alone");
    assert_eq!(pop(&*lws, 1), Some(1));
    assert_eq!(pop(&*lws, 0), Some(3), "the owner is busy now");
    assert_eq!(pop(&*lws, 1), Some(2));
    lws.push(task(5, -1), Some(2));
    assert_eq!(pop(&*lws, 2), Some(5));
    lws.push(task(6, 9), Some(2));
    assert_eq!(
        pop(&*lws, 0),
        Some(0),
        "the nearest victim, not the best task"
    );
    assert_eq!(pop(&*lws, 0), Some(4));
    assert_eq!(pop(&*lws, 0), Some(6));
    for target in [0, 1, 2, 0] {
        assert_eq!(lws.push(task(9, 0), None), Wake::Prefer(target));
    }
}
