//! From pieces to tables.
//!
//! Takes the pieces of all threads, in memory and in the file, and a calibrated clock; gives the tables of the runs. Each piece
//! is freed when it is read, and the tables are made in the size they will have, so that both together never take much more
//! than the larger of them.

use super::{
    AccessRow, DropReason, Drops, MemoryRow, RecordedRun, Recording, SpillRow, StallRow, StateRow,
    TaskRow, TransferRow, WorkerRow,
};
use crate::clock::Calibration;
use crate::recorder::{KINDS, Kept, Kind, Piece, Place, RawRun, Record, Spilled, Stream, decode};
use std::collections::HashMap;
use std::io;
use treeqr_runtime::{Lane, TaskRecord, TransferRecord};

/// Where the words of a piece are.
enum Source {
    Memory(Piece),
    File(Place),
}

/// The pieces of each thread, in its order.
struct Pieces {
    of: HashMap<u32, Vec<(u32, Source)>>,
    spilled: Vec<Spilled>,
    file: Option<crate::recorder::SpillFile>,
    lost: Option<io::Error>,
}

/// Merges what the threads of all runs wrote.
pub(crate) fn assemble(
    clock: Calibration,
    ns_per_record: f64,
    runs: Vec<RawRun>,
    kept: Kept,
) -> Recording {
    let reason = |lost: Option<&io::Error>| match (lost, &kept.spill_error) {
        (Some(error), _) => DropReason::SpillLost {
            message: error.to_string(),
        },
        (None, Some(message)) => DropReason::SpillFailed {
            message: message.clone(),
        },
        (None, None) if kept.ran_out => DropReason::MemoryFull,
        (None, None) => DropReason::TooFast,
    };
    let mut pieces = Pieces {
        of: HashMap::new(),
        spilled: kept.spilled,
        file: kept.file,
        lost: None,
    };
    for piece in kept.pieces {
        pieces.add(piece.stream, piece.number, Source::Memory(piece));
    }
    for k in 0..pieces.spilled.len() {
        let Spilled {
            stream,
            number,
            place,
            ..
        } = pieces.spilled[k];
        pieces.add(stream, number, Source::File(place));
    }
    let mut tables: Vec<_> = runs
        .into_iter()
        .map(|run| self::tables(&clock, run, &mut pieces))
        .collect();
    for run in &mut tables {
        run.drop_reason = (run.dropped > 0).then(|| reason(pieces.lost.as_ref()));
    }
    Recording {
        clock,
        ns_per_record,
        runs: tables,
    }
}

impl Pieces {
    fn add(&mut self, stream: u32, number: u32, source: Source) {
        self.of.entry(stream).or_default().push((number, source));
    }

    /// Gives the words of each piece of `stream` to `sink`, in order, and frees it.
    fn take(&mut self, stream: &mut Stream, mut sink: impl FnMut(&[u64])) {
        let mut pieces = self.of.remove(&stream.stream).unwrap_or_default();
        if let Some(tail) = stream.tail.take() {
            pieces.push((tail.number, Source::Memory(tail)));
        }
        pieces.sort_by_key(|&(number, _)| number);
        let mut words = Vec::new();
        for (_, source) in pieces {
            match (source, &mut self.file) {
                (Source::Memory(piece), _) => sink(&piece.words[..piece.used]),
                (Source::File(place), Some(file)) => match file.read(place, &mut words) {
                    Ok(()) => sink(&words),
                    Err(error) => self.lost = Some(error),
                },
                (Source::File(_), None) => unreachable!("what was spilled is in a file"),
            }
        }
    }
}

fn tables(clock: &Calibration, mut raw: RawRun, pieces: &mut Pieces) -> RecordedRun {
    let ns = |ticks| clock.nanoseconds(ticks);
    let begin_ns = ns(raw.begin);
    raw.streams.sort_by_key(|stream| stream.stream);
    let made = |kind: Kind| {
        raw.streams
            .iter()
            .map(|s| s.made[kind as usize])
            .sum::<u64>()
    };
    let all_made: [u64; KINDS] = std::array::from_fn(|kind| {
        let of_streams = raw.streams.iter().map(|stream| stream.made[kind]);
        of_streams.sum()
    });
    let room = |kind| usize::try_from(made(kind)).unwrap_or(0);
    let mut run = RecordedRun {
        scheduler: raw.scheduler,
        begin_ns,
        end_ns: begin_ns,
        time_scale: raw.time_scale,
        host_bytes: raw.host_bytes,
        tasks: with_room(room(Kind::Task)),
        accesses: with_room(room(Kind::Access)),
        memory: with_room(room(Kind::Memory)),
        states: with_room(room(Kind::State)),
        transfers: with_room(room(Kind::Transfer)),
        stalls: with_room(room(Kind::Stall)),
        lost_tracks: (raw.workers + 1).saturating_sub(raw.streams.len()),
        ..RecordedRun::default()
    };
    for stream in &mut raw.streams {
        run.end_ns = run.end_ns.max(ns(stream.detached));
        run.submitted += stream.submitted;
        let mut number = 0;
        if let Lane::Worker(worker) = stream.lane {
            number = worker as u16;
            run.workers.push(WorkerRow {
                worker: number,
                bound_to: raw.bound_to.get(worker).copied().flatten(),
                start_ns: ns(stream.attached),
                end_ns: ns(stream.detached),
            });
        }
        pieces.take(stream, |words| {
            run.record_bytes += size_of_val(words) as u64;
            decode(words, number, |record| run.add(clock, record));
        });
        let (id, lane) = (stream.stream, stream.lane);
        let spills = pieces.spilled.iter().filter(|spill| spill.stream == id);
        run.spills.extend(spills.map(|spill| SpillRow {
            lane,
            start_ns: ns(spill.start),
            end_ns: ns(spill.end),
            bytes: spill.bytes,
        }));
    }
    run.codelets = raw.codelets;
    run.devices = raw.devices;
    run.count_drops(all_made);
    run.sort();
    run
}

/// An empty table of this capacity, or one that grows where there is no memory for so much.
fn with_room<T>(rows: usize) -> Vec<T> {
    let mut table = Vec::new();
    let _ = table.try_reserve_exact(rows);
    table
}

impl RecordedRun {
    fn add(&mut self, clock: &Calibration, record: Record) {
        let ns = |ticks| clock.nanoseconds(ticks);
        match record {
            Record::Task(t) => self.tasks.push(task_row(clock, &t)),
            Record::Access(a) => self.accesses.push(AccessRow {
                task: a.task,
                handle: a.handle,
                access: a.access,
            }),
            Record::Memory(m) => self.memory.push(MemoryRow {
                time_ns: ns(m.ticks),
                handle: m.handle,
                task: m.task,
                node: m.node,
                memory: m.memory,
                delta_bytes: m.delta_bytes,
                after_bytes: m.after_bytes,
            }),
            Record::State(s) => self.states.push(StateRow {
                worker: s.worker,
                state: s.state,
                start_ns: ns(s.start),
                end_ns: ns(s.end),
            }),
            Record::Transfer(t) => self.transfers.push(transfer_row(clock, &t)),
            Record::Stall(s) => self.stalls.push(StallRow {
                start_ns: ns(s.start),
                end_ns: ns(s.end),
                submitted: s.submitted,
                reason: s.reason,
            }),
        }
    }

    /// What was made and is in no table.
    fn count_drops(&mut self, mut made: [u64; KINDS]) {
        for (kind, rows) in [
            (Kind::Task, self.tasks.len()),
            (Kind::Access, self.accesses.len()),
            (Kind::Memory, self.memory.len()),
            (Kind::State, self.states.len()),
            (Kind::Transfer, self.transfers.len()),
            (Kind::Stall, self.stalls.len()),
        ] {
            made[kind as usize] = made[kind as usize].saturating_sub(rows as u64);
        }
        self.drops = Drops::of(made);
        self.dropped = self.drops.total();
    }

    /// In place where the order of equal rows says nothing; events of one moment stay in the order in which they were noted.
    fn sort(&mut self) {
        self.workers.sort_by_key(|row| row.worker);
        self.tasks.sort_unstable_by_key(|row| row.id);
        self.memory.sort_by_key(|row| row.time_ns);
        self.states
            .sort_unstable_by_key(|row| (row.worker, row.start_ns, row.end_ns));
        self.transfers.sort_by_key(|row| row.asked_ns);
        self.stalls.sort_by_key(|row| row.start_ns);
        self.spills.sort_by_key(|row| row.start_ns);
    }
}

fn task_row(clock: &Calibration, t: &TaskRecord) -> TaskRow {
    let ns = |ticks| clock.nanoseconds(ticks);
    TaskRow {
        id: t.id,
        codelet: t.codelet,
        worker: t.worker,
        node: t.node,
        params: t.params,
        queued: t.queued,
        priority: t.priority,
        flops: t.flops,
        bytes: t.bytes,
        submit_ns: ns(t.submit),
        ready_ns: ns(t.ready),
        pop_ns: ns(t.pop),
        start_ns: ns(t.start),
        end_ns: ns(t.end),
    }
}

fn transfer_row(clock: &Calibration, t: &TransferRecord) -> TransferRow {
    let asked_ns = clock.nanoseconds(t.ticks);
    let start_ns = asked_ns + t.wait_ns;
    TransferRow {
        asked_ns,
        start_ns,
        end_ns: start_ns + t.duration_ns,
        handle: t.handle,
        from: t.from,
        to: t.to,
        kind: t.kind,
        bytes: t.bytes,
    }
}
