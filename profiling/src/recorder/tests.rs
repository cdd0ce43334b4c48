//! The recorder without a run: tracks written by hand, and a keeper that looks when the test says so.

use super::keeper::Keeper;
use super::packed::{Packed, pack_accesses};
use super::*;
use crate::clock::ClockKind;
use crate::recording::{DropReason, RecordedRun, assemble};
use proptest::prelude::*;
use treeqr_runtime::*;

fn task(id: u32, worker: u16) -> TaskRecord {
    let tick = 10 * u64::from(id);
    TaskRecord {
        id: TaskId(id),
        codelet: CodeletId(id as u16 % 7),
        worker,
        node: id / 3,
        params: [id, 1, 2, 3, 4, u32::MAX],
        queued: id % 5,
        priority: -i64::from(id),
        flops: u64::from(id) << 33,
        bytes: 1 << 40,
        submit: tick,
        ready: tick + 1,
        pop: tick + 2,
        start: tick + 3,
        end: tick + 9,
    }
}

fn memory(id: u32) -> MemoryRecord {
    MemoryRecord {
        ticks: 10 * u64::from(id) + 5,
        handle: Handle(id),
        task: TaskId(id),
        node: 7,
        memory: MemoryNode(3),
        delta_bytes: -i64::from(id),
        after_bytes: u64::MAX,
    }
}

fn state(id: u32, worker: u16) -> StateRecord {
    StateRecord {
        worker,
        state: WorkerState::Sleeping,
        start: 10 * u64::from(id),
        end: 10 * u64::from(id) + 3,
    }
}

fn transfer(id: u32) -> TransferRecord {
    TransferRecord {
        ticks: u64::from(id),
        wait_ns: 5,
        duration_ns: 6,
        bytes: 7,
        handle: Handle(id),
        from: MemoryNode(0),
        to: MemoryNode(u16::MAX),
        kind: TransferKind::WriteBack,
    }
}

fn stall(id: u32) -> StallRecord {
    StallRecord {
        reason: StallReason::Memory,
        submitted: id,
        start: 10 * u64::from(id),
        end: 10 * u64::from(id) + 4,
    }
}

fn share(id: u32, worker: u16) -> ShareRecord {
    ShareRecord {
        task: TaskId(id),
        worker,
        parts: u32::MAX - id,
        start: 10 * u64::from(id) + 1,
        end: 10 * u64::from(id) + 6,
    }
}

fn spec(id: u32, accesses: u32) -> TaskSpec {
    let mut spec = TaskSpec::new(CodeletId(0), id);
    spec.accesses
        .extend((0..accesses).map(|k| (Handle(id + k), Access::Scatter)));
    spec
}

/// Chunks of 64 words: four tasks.
fn options() -> RecorderOptions {
    RecorderOptions {
        chunk_bytes: 512,
        clock: Some(ClockKind::Monotonic),
        ..RecorderOptions::default()
    }
}

const CHUNK: usize = 512;

fn info(workers: usize) -> RunInfo<'static> {
    RunInfo {
        workers,
        scheduler: "by hand",
        codelets: &["work"],
        bound_to: &[],
        host_bytes: 0,
        devices: &[],
        device_workers: &[],
        time_scale: 1.0,
        tasks: None,
    }
}

fn numbers(run: &RecordedRun) -> Vec<u32> {
    run.tasks.iter().map(|task| task.id.0).collect()
}

/// A recorder whose keeper is the test itself.
fn by_hand(options: RecorderOptions) -> Recorder {
    let recorder = Recorder::new(options);
    recorder.shared.pool.open();
    let keeper = std::thread::spawn(Kept::default);
    *recorder.shared.keeper() = Some(keeper);
    recorder.begin(&info(1));
    recorder
}

fn assembled(recorder: &Recorder, kept: Kept) -> RecordedRun {
    let runs = std::mem::take(&mut recorder.runs().runs);
    let calibration = recorder.shared.clock.calibrate(&[]);
    assemble(calibration, 0.0, runs, kept).runs.remove(0)
}

/// One worker and the submission record `count` of each kind; the keeper looks after every record. Gives the run, and what the
/// keeper had.
fn everything(options: RecorderOptions, count: u32) -> (RecordedRun, bool) {
    let recorder = by_hand(options);
    let mut keeper = Keeper::new(&recorder.shared, 2);
    keeper.prepare();
    let mut submission = recorder.attach(Lane::Submission);
    let mut worker = recorder.attach(Lane::Worker(0));
    for id in 0..count {
        submission.submitted(TaskId(id), &spec(id, id % 90), 0);
        keeper.take();
        keeper.prepare();
        submission.stall(&stall(id));
        worker.task(&task(id, 0));
        worker.memory(&memory(id));
        worker.state(&state(id, 0));
        worker.share(&share(id, 0));
        worker.transfer(&transfer(id));
        keeper.take();
        keeper.prepare();
    }
    recorder.detach(submission);
    recorder.detach(worker);
    keeper.take();
    let spilled = !keeper.kept.spilled.is_empty();
    (assembled(&recorder, keeper.kept), spilled)
}

#[test]
fn chunks_that_wrap_lose_nothing() {
    let (run, spilled) = everything(options(), 300);
    assert!(!spilled && run.spills.is_empty());
    assert_eq!((run.dropped, run.drop_reason.as_ref()), (0, None));
    assert!(numbers(&run).into_iter().eq(0..300));
    for (id, row) in (0..300).zip(&run.tasks) {
        let t = task(id, 0);
        assert_eq!(
            (row.codelet, row.node, row.params),
            (t.codelet, t.node, t.params)
        );
        let times = (
            row.submit_ns,
            row.ready_ns,
            row.pop_ns,
            row.start_ns,
            row.end_ns,
        );
        assert_eq!(times, (t.submit, t.ready, t.pop, t.start, t.end));
        assert_eq!(
            (row.queued, row.priority, row.flops, row.bytes),
            (t.queued, t.priority, t.flops, t.bytes)
        );
        let stall = run.stalls[id as usize];
        assert_eq!(
            (stall.submitted, stall.reason, stall.end_ns - stall.start_ns),
            (id, StallReason::Memory, 4)
        );
        let share = run.shares[id as usize];
        assert_eq!(
            (share.task, share.parts, share.end_ns - share.start_ns),
            (TaskId(id), u32::MAX - id, 5)
        );
        let transfer = run.transfers[id as usize];
        assert_eq!(
            (transfer.handle, transfer.to, transfer.end_ns),
            (Handle(id), MemoryNode(u16::MAX), u64::from(id) + 11)
        );
        let memory = run.memory[id as usize];
        assert_eq!(
            (memory.handle, memory.memory, memory.delta_bytes),
            (Handle(id), MemoryNode(3), -i64::from(id))
        );
    }
    assert_eq!((run.states.len(), run.submitted), (300, 300));
    let accesses = (0..300).flat_map(|id| (0..id % 90).map(move |k| (TaskId(id), Handle(id + k))));
    assert!(
        run.accesses
            .iter()
            .map(|row| (row.task, row.handle))
            .eq(accesses)
    );
}

#[test]
fn spilled_and_unspilled_recordings_are_equal() {
    let folder = tempfile::tempdir().unwrap();
    let (in_memory, _) = everything(options(), 300);
    let little = RecorderOptions {
        memory_bytes: 12 * CHUNK,
        spill_dir: Some(folder.path().to_owned()),
        ..options()
    };
    let (through_file, spilled) = everything(little, 300);
    assert!(spilled && through_file.spills.len() > 100);
    let bytes = through_file.spilled_bytes();
    assert!(bytes > 0 && bytes <= through_file.record_bytes);
    assert!(through_file.spills.is_sorted_by_key(|s| s.start_ns));
    let lanes = [Lane::Submission, Lane::Worker(0)];
    for lane in lanes {
        assert!(through_file.spills.iter().any(|s| s.lane == lane));
    }
    assert_eq!(in_memory.tasks, through_file.tasks);
    assert_eq!(in_memory.accesses, through_file.accesses);
    assert_eq!(in_memory.memory, through_file.memory);
    assert_eq!(in_memory.states, through_file.states);
    assert_eq!(in_memory.transfers, through_file.transfers);
    assert_eq!(in_memory.stalls, through_file.stalls);
    assert_eq!(in_memory.shares, through_file.shares);
    assert_eq!((in_memory.dropped, through_file.dropped), (0, 0));
    assert_eq!(in_memory.record_bytes, through_file.record_bytes);
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

/// Kept + dropped == made, by kind, whatever the memory.
#[test]
fn what_finds_no_memory_is_counted() {
    for chunks in [0, 1, 2, 3, 7] {
        let none = RecorderOptions {
            memory_bytes: chunks * CHUNK,
            spill_dir: None,
            ..options()
        };
        let count = 200;
        let (run, spilled) = everything(none, count);
        assert!(!spilled);
        let (d, made) = (run.drops, u64::from(count));
        assert_eq!(run.tasks.len() as u64 + d.tasks, made);
        assert_eq!(run.memory.len() as u64 + d.memory, made);
        assert_eq!(run.states.len() as u64 + d.states, made);
        assert_eq!(run.transfers.len() as u64 + d.transfers, made);
        assert_eq!(run.stalls.len() as u64 + d.stalls, made);
        assert_eq!(run.shares.len() as u64 + d.shares, made);
        let accesses: u64 = (0..200).map(|id| id % 90).sum();
        assert_eq!(run.accesses.len() as u64 + d.accesses, accesses);
        assert_eq!(run.dropped, d.total());
        assert!(d.tasks > made / 2 && d.accesses > accesses / 2, "{d:?}");
        let kept = run.kept() > 0;
        assert_eq!(kept, chunks > 0, "{chunks} chunks");
    }
}

#[test]
fn a_folder_that_cannot_be_written_leaves_a_count_and_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = RecorderOptions {
        memory_bytes: 6 * CHUNK,
        spill_dir: Some(folder.path().join("not there")),
        ..options()
    };
    let (run, spilled) = everything(nowhere, 100);
    assert!(!spilled && run.dropped > 0 && !run.tasks.is_empty());
    assert_eq!(run.tasks.len() as u64 + run.drops.tasks, 100);
    let Some(DropReason::SpillFailed { message }) = &run.drop_reason else {
        panic!("{:?}", run.drop_reason)
    };
    assert!(message.contains("not there"), "{message}");
}

/// With its own keeper, however that is scheduled: what was asked for in advance is there.
#[test]
fn many_threads_lose_nothing() {
    const THREADS: u16 = 8;
    const EACH: u32 = 1500;
    let expected = RecorderOptions::for_tasks(usize::from(THREADS) * EACH as usize).expected;
    let recorder = Recorder::new(RecorderOptions {
        chunk_bytes: 4096,
        expected,
        ..options()
    });
    recorder.begin(&info(usize::from(THREADS)));
    recorder.detach(recorder.attach(Lane::Submission));
    std::thread::scope(|scope| {
        for worker in 0..THREADS {
            let recorder = &recorder;
            scope.spawn(move || {
                let mut track = recorder.attach(Lane::Worker(usize::from(worker)));
                for k in 0..EACH {
                    track.task(&task(u32::from(worker) * EACH + k, worker));
                }
                recorder.detach(track);
            });
        }
    });
    let recording = recorder.finish();
    let run = &recording.runs[0];
    assert_eq!((run.dropped, run.lost_tracks), (0, 0));
    assert!(numbers(run).into_iter().eq(0..u32::from(THREADS) * EACH));
    assert!(run.tasks.iter().all(|t| t.worker == (t.id.0 / EACH) as u16));
}

/// Threads that record only while chunks are ready (a run would drop instead), and a keeper with little memory: all of it
/// goes through the file, and nothing stays in the folder.
#[test]
fn the_keeper_spills_while_threads_record() {
    const THREADS: u16 = 3;
    const EACH: u32 = 2000;
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(RecorderOptions {
        memory_bytes: 40 * CHUNK,
        spill_dir: Some(folder.path().to_owned()),
        ..options()
    });
    recorder.begin(&info(usize::from(THREADS)));
    recorder.detach(recorder.attach(Lane::Submission));
    std::thread::scope(|scope| {
        for worker in 0..THREADS {
            let recorder = &recorder;
            scope.spawn(move || {
                let mut track = recorder.attach(Lane::Worker(usize::from(worker)));
                let queues = recorder.shared.pool.queues().expect("there is a keeper");
                for k in 0..EACH {
                    while queues.ready.len() < usize::from(THREADS) {
                        std::thread::yield_now();
                    }
                    track.task(&task(u32::from(worker) * EACH + k, worker));
                }
                recorder.detach(track);
            });
        }
    });
    let recording = recorder.finish();
    let run = &recording.runs[0];
    assert_eq!(run.dropped, 0);
    assert!(numbers(run).into_iter().eq(0..u32::from(THREADS) * EACH));
    assert!(run.spilled_bytes() > run.record_bytes / 2);
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_small_run_has_no_keeper_unless_it_is_not_small() {
    let recorder = Recorder::new(RecorderOptions {
        chunk_bytes: 64 << 10,
        ..RecorderOptions::for_tasks(10)
    });
    recorder.begin(&info(1));
    let mut submission = recorder.attach(Lane::Submission);
    let worker = recorder.attach(Lane::Worker(0));
    for id in 0..10 {
        submission.submitted(TaskId(id), &spec(id, 4), 0);
    }
    assert!(recorder.shared.keeper().is_none());
    submission.submitted(TaskId(10), &spec(10, 4), 0);
    assert!(recorder.shared.keeper().is_some());
    recorder.detach(submission);
    recorder.detach(worker);
    assert_eq!(recorder.finish().runs[0].accesses.len(), 44);
}

/// Many chunks, as many as can be laid by: nobody wakes while the run goes on. Beyond them, a keeper.
#[test]
fn a_run_of_moderate_size_has_no_keeper_and_loses_nothing() {
    const TASKS: u32 = 20_000;
    for (expected, keeper) in [(TASKS, false), (100, true)] {
        let recorder = Recorder::new(RecorderOptions::for_tasks(expected as usize));
        recorder.begin(&info(2));
        let mut submission = recorder.attach(Lane::Submission);
        let mut workers = [0, 1].map(|k| recorder.attach(Lane::Worker(k)));
        for id in 0..TASKS {
            submission.submitted(TaskId(id), &spec(id, 3), 0);
            let worker = id as u16 % 2;
            let track = &mut workers[usize::from(worker)];
            track.task(&task(id, worker));
            (0..3).for_each(|_| track.state(&state(id, worker)));
            if keeper {
                // It needs its time.
                while recorder.shared.keeper().is_some()
                    && recorder.shared.pool.open().ready.is_empty()
                {
                    std::thread::yield_now();
                }
            }
        }
        assert_eq!(recorder.shared.keeper().is_some(), keeper);
        recorder.detach(submission);
        for track in workers {
            recorder.detach(track);
        }
        let run = &recorder.finish().runs[0];
        assert_eq!(run.dropped, 0);
        assert!(numbers(run).into_iter().eq(0..TASKS));
        assert_eq!(run.accesses.len(), 3 * TASKS as usize);
        assert!(run.record_bytes > 40 << 16, "many chunks");
    }
}

/// What is said of the next run holds for it, and not for the one after it that is larger.
#[test]
fn each_run_may_be_expected_by_itself() {
    let recorder = Recorder::new(RecorderOptions::for_tasks(10));
    for (tasks, keeper) in [(10, false), (30_000, false), (10_000_000, true)] {
        recorder.expect_next(RecorderOptions::for_tasks(tasks).expected);
        recorder.begin(&info(1));
        recorder.detach(recorder.attach(Lane::Submission));
        recorder.detach(recorder.attach(Lane::Worker(0)));
        assert_eq!(recorder.shared.keeper().is_some(), keeper, "{tasks}");
    }
    assert_eq!(recorder.finish().runs.len(), 3);
}

#[test]
fn a_worker_without_room_gets_a_keeper_from_the_submission() {
    let recorder = Recorder::new(RecorderOptions::for_tasks(10));
    recorder.begin(&info(1));
    let mut submission = recorder.attach(Lane::Submission);
    let mut worker = recorder.attach(Lane::Worker(0));
    let mut made = 0;
    while !recorder.shared.pool.wanted.load(Ordering::Relaxed) {
        worker.state(&state(made, 0));
        made += 1;
    }
    assert!(recorder.shared.keeper().is_none());
    submission.submitted(TaskId(0), &spec(0, 1), 0);
    assert!(recorder.shared.keeper().is_some());
    recorder.detach(submission);
    recorder.detach(worker);
    let run = &recorder.finish().runs[0];
    assert_eq!((run.states.len() as u32, run.drops.states), (made - 1, 1));
}

#[test]
fn a_thread_that_panics_is_lost_and_nothing_else() {
    let recorder = Recorder::new(options());
    recorder.begin(&info(2));
    recorder.detach(recorder.attach(Lane::Submission));
    let mut worker = recorder.attach(Lane::Worker(0));
    worker.task(&task(0, 0));
    let mut lost = recorder.attach(Lane::Worker(1));
    (1..100).for_each(|id| lost.task(&task(id, 1)));
    drop(lost);
    recorder.detach(worker);
    assert_eq!(recorder.shared.pool.attached.load(Ordering::Relaxed), 0);
    let recording = recorder.finish();
    let run = &recording.runs[0];
    assert_eq!((numbers(run), run.lost_tracks), (vec![0], 1));
    assert_eq!(run.workers.len(), 1);
}

#[test]
fn a_recorder_that_is_dropped_leaves_no_thread() {
    let recorder = Recorder::new(options());
    recorder.begin(&info(1));
    let shared = Arc::downgrade(&recorder.shared);
    drop(recorder);
    assert!(shared.upgrade().is_none());
}

fn round_trip<R: Packed + PartialEq + std::fmt::Debug>(record: R, worker: u16) {
    let mut words = vec![u64::MAX; R::WORDS];
    record.pack(&mut words);
    assert_eq!(words[0] as u8, R::KIND as u8);
    assert_eq!(R::unpack(&words, worker), Some(record));
}

#[test]
fn records_come_back_from_words() {
    for id in [0, 1, u32::MAX / 20] {
        round_trip(task(id, 9), 9);
        round_trip(memory(id), 0);
        round_trip(state(id, u16::MAX), u16::MAX);
        round_trip(transfer(id), 0);
        round_trip(stall(id), 0);
        round_trip(share(id, 9), 9);
    }
    for state in [
        WorkerState::Scheduling,
        WorkerState::Idle,
        WorkerState::Sleeping,
        WorkerState::Transferring,
    ] {
        let (worker, start, end) = (3, 1, 2);
        round_trip(
            StateRecord {
                worker,
                state,
                start,
                end,
            },
            3,
        );
    }
    for kind in [
        TransferKind::Fetch,
        TransferKind::Prefetch,
        TransferKind::Return,
        TransferKind::WriteBack,
    ] {
        round_trip(
            TransferRecord {
                kind,
                ..transfer(1)
            },
            0,
        );
    }
    for reason in [StallReason::Window, StallReason::Memory] {
        round_trip(StallRecord { reason, ..stall(1) }, 0);
    }
    for access in [
        Access::Read,
        Access::Write,
        Access::ReadWrite,
        Access::Scatter,
    ] {
        let mut words = [0; 2];
        assert_eq!(
            pack_accesses(TaskId(u32::MAX), &[(Handle(u32::MAX), access)], &mut words),
            (1, 2)
        );
        let mut found = Vec::new();
        decode(&words, 0, |record| found.push(record));
        let [Record::Access(back)] = found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (back.task, back.handle, back.access),
            (TaskId(u32::MAX), Handle(u32::MAX), access)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A damaged file gives fewer records, or other ones, and no panic.
    #[test]
    fn any_words_are_decoded(
        words in prop::collection::vec(prop_oneof![0..12u64, any::<u64>()], 0..60)
    ) {
        let mut count = 0;
        decode(&words, 1, |_| count += 1);
        prop_assert!(count <= words.len());
    }
}
