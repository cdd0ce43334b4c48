//! What the kernel tells of our threads, against what the threads did.
//!
//! Where the system allows no perf events the tests say so and check nothing else than that a reason is given.

#![cfg(target_os = "linux")]

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use treeqr_profiling::system::*;
use treeqr_runtime::{Lane, TaskId};

fn recorder(modules: &str) -> SystemRecorder {
    SystemRecorder::new(Modules::parse(modules).unwrap())
}

/// Whether the recording has what was asked for; if not, it says why.
fn has_all(recording: &SystemRecording) -> bool {
    for missing in &recording.missing {
        eprintln!("not checked, since it is not there: {missing}");
        assert!(!missing.what.is_empty() && !missing.why.is_empty());
    }
    recording.missing.is_empty()
}

/// Processors that this thread may run on.
fn processors() -> Vec<usize> {
    let allowed = sched_getaffinity(None).expect("the own affinity");
    (0..CpuSet::MAX_CPU)
        .filter(|&cpu| allowed.is_set(cpu))
        .collect()
}

/// Puts this thread on one processor.
fn pin(cpu: usize) -> rustix::io::Result<()> {
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only)
}

fn is_out(row: &SwitchRow) -> bool {
    matches!(row.event, SwitchEvent::Blocked | SwitchEvent::Preempted)
}

/// The rows of a thread, checked: out and in by turns, in time, in the thread's life, on processors that fit.
fn rows_of(recording: &SystemRecording, thread: u32) -> Vec<SwitchRow> {
    assert_eq!(recording.lost, 0);
    let rows = recording.switches.iter().filter(|r| r.thread == thread);
    let rows: Vec<SwitchRow> = rows.copied().collect();
    let life = recording.threads[thread as usize];
    let mut time = life.attached_monotonic_ns;
    for (k, row) in rows.iter().enumerate() {
        assert!(time <= row.monotonic_ns, "{row:?} before {time}");
        time = row.monotonic_ns;
        // It ran when it was attached.
        assert_eq!(is_out(row), k % 2 == 0, "{k}: {row:?}");
        if !is_out(row) {
            let moved = rows[k - 1].cpu != row.cpu;
            assert_eq!(row.event == SwitchEvent::Migrated, moved, "{row:?}");
        } else if k > 0 {
            assert_eq!(rows[k - 1].cpu, row.cpu, "it can't move while it runs");
        }
    }
    assert!(time <= life.detached_monotonic_ns);
    rows
}

#[test]
fn each_sleep_is_a_switch_at_its_time() {
    const SLEEPS: usize = 20;
    // A thread that is held up on its way to sleep for as long as it wants to sleep does not sleep.
    const MOST: usize = SLEEPS - 4;
    let recorder = recorder("kernel");
    let anchor = MonotonicAnchor::now();
    let spans: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            let probe = recorder.attach(Lane::Worker(7));
            let sleep = |_| {
                let before = Instant::now();
                std::thread::sleep(Duration::from_millis(1));
                (
                    anchor.monotonic_of(before),
                    anchor.monotonic_of(Instant::now()),
                )
            };
            let spans = (0..SLEEPS).map(sleep).collect();
            probe.detach();
            spans
        });
        sleeper.join().unwrap()
    });
    let recording = recorder.finish();
    assert_eq!(recording.lane(0), Lane::Worker(7));
    let totals = recording.threads[0].totals.expect("/proc tells them");
    assert!(totals.voluntary >= MOST as u64, "{totals:?}");
    if !has_all(&recording) {
        return;
    }
    let rows = rows_of(&recording, 0);
    let is_blocked = |row: &&SwitchRow| row.event == SwitchEvent::Blocked;
    let blocked: Vec<_> = rows.iter().filter(is_blocked).collect();
    // The totals begin before the events and end after them.
    assert!((MOST..=totals.voluntary as usize).contains(&blocked.len()));
    // They lie in the sleeps, and so do the returns, by the clock of the sleeper.
    let hit = |chosen: &dyn Fn(&SwitchRow) -> bool| {
        let has_one = |&&(before, after): &&(u64, u64)| {
            let span = before - anchor.width_ns..=after + anchor.width_ns;
            let inside = |row: &&SwitchRow| span.contains(&row.monotonic_ns);
            rows.iter().filter(inside).any(chosen)
        };
        spans.iter().filter(has_one).count()
    };
    assert!(hit(&|row| row.event == SwitchEvent::Blocked) >= MOST);
    assert!(hit(&|row| !is_out(row)) >= MOST);
}

#[test]
fn threads_on_one_processor_preempt_each_other() {
    const TIMES: u64 = 4;
    let cpu = processors()[0];
    let recorder = recorder("kernel");
    let preempted = || -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").expect("/proc");
        let line = status.lines().find(|l| l.starts_with("nonvoluntary"));
        let (_, count) = line.and_then(|l| l.split_once(':')).expect("a count");
        count.trim().parse().expect("a number")
    };
    // Both must be attached before one of them is counted, and stay until both are done.
    let (there, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = |worker| -> rustix::io::Result<()> {
        let pinned = pin(cpu);
        let probe = recorder.attach(Lane::Worker(worker));
        there.fetch_add(1, Ordering::SeqCst);
        let begin = Instant::now();
        let patience = || assert!(begin.elapsed() < Duration::from_secs(60), "no preemption");
        while pinned.is_ok() && there.load(Ordering::SeqCst) < 2 {
            patience();
        }
        let before = preempted();
        let mut finished = pinned.is_err();
        if finished {
            done.fetch_add(1, Ordering::SeqCst);
        }
        while done.load(Ordering::SeqCst) < 2 && pinned.is_ok() {
            patience();
            if !finished && preempted() >= before + TIMES {
                finished = true;
                done.fetch_add(1, Ordering::SeqCst);
            }
        }
        probe.detach();
        pinned
    };
    let pinned = std::thread::scope(|scope| {
        let both = [0, 1].map(|worker| scope.spawn(move || work(worker)));
        both.map(|thread| thread.join().unwrap())
    });
    let recording = recorder.finish();
    if let Some(error) = pinned.iter().find_map(|result| result.err()) {
        return eprintln!("not checked, since threads can't be pinned here: {error}");
    }
    for row in &recording.threads {
        assert!(row.totals.expect("/proc tells them").involuntary >= TIMES);
    }
    if !has_all(&recording) {
        return;
    }
    let mut spans = Vec::new();
    for thread in 0..2 {
        let rows = rows_of(&recording, thread);
        let is_preempted = |row: &&SwitchRow| row.event == SwitchEvent::Preempted;
        let count = rows.iter().filter(is_preempted).count();
        assert!(count >= TIMES as usize, "{count} times");
        assert!(rows.iter().all(|row| row.cpu as usize == cpu));
        let mut since = recording.threads[thread as usize].attached_monotonic_ns;
        for row in rows {
            match is_out(&row) {
                true => spans.push((since, row.monotonic_ns)),
                false => since = row.monotonic_ns,
            }
        }
    }
    // A processor runs one of them at a time. (The first span of each begins in its attachment, when another may run.)
    spans.sort_unstable();
    let first_out = |thread| rows_of(&recording, thread)[0].monotonic_ns;
    let settled = first_out(0).max(first_out(1));
    let spans = spans.into_iter().filter(|span| span.0 >= settled);
    let spans: Vec<_> = spans.collect();
    assert!(spans.len() >= 2, "{spans:?}");
    assert!(
        spans.windows(2).all(|two| two[0].1 <= two[1].0),
        "{spans:?}"
    );
}

#[test]
fn a_thread_that_moves_is_seen_to_move() {
    const MOVES: usize = 10;
    let [first, second, ..] = processors()[..] else {
        return eprintln!("not checked, since there is one processor");
    };
    let recorder = recorder("kernel");
    let moved = std::thread::scope(|scope| {
        let mover = scope.spawn(|| {
            pin(second)?;
            let probe = recorder.attach(Lane::Submission);
            for k in 0..MOVES {
                pin(if k % 2 == 0 { first } else { second })?;
            }
            probe.detach();
            rustix::io::Result::Ok(())
        });
        mover.join().unwrap()
    });
    let recording = recorder.finish();
    if let Err(error) = moved {
        return eprintln!("not checked, since threads can't be pinned here: {error}");
    }
    if !has_all(&recording) {
        return;
    }
    let rows = rows_of(&recording, 0);
    let migrated = rows.iter().filter(|r| r.event == SwitchEvent::Migrated);
    let came_to: Vec<usize> = migrated.map(|row| row.cpu as usize).collect();
    let expected = [first, second].into_iter().cycle().take(MOVES);
    assert!(came_to.iter().copied().eq(expected), "{came_to:?}");
}

#[test]
fn counters_belong_to_tasks() {
    const PAGES: usize = 2048;
    let recorder = recorder("counters:page-faults,context-switches,task-clock");
    let (lived, slept) = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let mut probe = recorder.attach(Lane::Worker(0));
            // More tasks than a chunk of rows has.
            for task in 10..10_000 {
                probe.task(TaskId(task));
            }
            let begin = Instant::now();
            probe.boundary();
            let mut pages = vec![0u8; 4096 * PAGES];
            pages.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
            probe.task(TaskId(0));
            pages.iter_mut().step_by(4096).for_each(|byte| *byte += 1);
            std::hint::black_box(&pages);
            probe.task(TaskId(1));
            (0..10).for_each(|_| std::thread::sleep(Duration::from_millis(1)));
            let slept = probe.boundary();
            probe.task(TaskId(2));
            (begin.elapsed(), slept)
        });
        worker.join().unwrap()
    });
    let recording = recorder.finish();
    has_all(&recording);
    if recording.columns.is_empty() {
        return;
    }
    let tasks = recording.counters.iter().map(|row| row.task.0);
    assert!(tasks.eq((10..10_000).chain(0..3)));
    let rows = &recording.counters[10_000 - 10..];
    let place = |name| recording.counter_names().position(|n| n == name);
    if let Some(k) = place("page-faults") {
        let [fresh, touched] = [rows[0].values[k], rows[1].values[k]];
        assert!(fresh > 0 && fresh > touched, "{fresh}, {touched}");
    }
    if let Some(k) = place("task-clock") {
        // No longer on a processor than it lived.
        assert!(rows[0].values[k] > 0, "it takes time to touch pages");
        let total = slept[k] + rows.iter().map(|row| row.values[k]).sum::<u64>();
        assert!(
            u128::from(total) <= lived.as_nanos(),
            "{total} of {lived:?}"
        );
    }
    // The sleeps lie between boundaries: they are no task's.
    if let Some(k) = place("context-switches") {
        assert!(slept[k] >= 6 && rows[2].values[k] < 6, "{slept:?}");
    }
}

/// What there is not on this machine has a reason; what there is counts.
#[test]
fn the_counters_of_this_machine_count_or_say_why_not() {
    let recorder = recorder("counters");
    let mut probe = recorder.attach(Lane::Submission);
    let sum: u64 = (0..1_000_000u64).map(std::hint::black_box).sum();
    std::hint::black_box(sum);
    probe.task(TaskId(0));
    probe.detach();
    let recording = recorder.finish();
    let names: Vec<_> = recording.counter_names().collect();
    for counter in &COUNTERS {
        let named = |row: &Missing| row.what.split(", ").any(|what| what == counter.name);
        let missing = recording.missing.iter().find(|row| named(row));
        assert_eq!(missing.is_none(), names.contains(&counter.name));
        if let Some(missing) = missing {
            eprintln!("{}: {}", counter.name, missing.why);
        }
    }
    for row in &recording.counters {
        for (name, &value) in names.iter().zip(recording.values(row)) {
            eprintln!("{name}: {value}");
            let must_count = ["cycles", "instructions", "task-clock"].contains(name);
            assert!(!must_count || value > 0, "{name}");
        }
    }
    assert_eq!(recording.counters.is_empty(), names.is_empty());
}

#[test]
fn nothing_is_recorded_that_was_not_asked_for() {
    let recorder = recorder("");
    let mut probe = recorder.attach(Lane::Worker(1));
    assert_eq!(probe.boundary(), [0; MAX_COUNTERS]);
    probe.task(TaskId(0));
    std::thread::sleep(Duration::from_millis(1));
    drop(probe);
    let still_there = recorder.attach(Lane::Worker(2));
    let recording = recorder.finish();
    drop(still_there);
    assert!(recording.switches.is_empty() && recording.counters.is_empty());
    assert_eq!(recording.threads.len(), 2);
    assert!(recording.threads.iter().all(|row| row.totals.is_none()));
    let [missing] = &recording.missing[..] else {
        panic!("{:?}", recording.missing);
    };
    assert!(missing.what.ends_with("worker 2"), "{missing}");
}
