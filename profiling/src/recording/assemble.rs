//! From pieces to tables.
//!
//! Takes the pieces of all threads, in memory and in the file, and a calibrated clock; gives the tables of the runs.
//!
//! Each piece is freed when it is read, the newest first, and the tables are made in the size they will have: so that an allocator
//! whose heap shrinks from its end gives memory back while the tables fill. (Oldest first, both were there at the end.) Rows then
//! come in blocks from the last to the first, and are put right.

use super::{
    AccessRow, DropReason, Drops, MemoryRow, RecordedRun, Recording, ShareRow, SpillRow, StallRow,
    StateRow, TaskRow, TransferRow, WorkerRow,
};
use crate::clock::Calibration;
use crate::recorder::{KINDS, Kept, Kind, Piece, RawRun, Record, Spilled, Stream, decode};
use std::collections::HashMap;
use treeqr_runtime::{Lane, TaskRecord, TransferRecord};

/// Where the words of a piece are.
enum Source {
    Memory(Piece),
    File(Spilled),
}

/// Merges what the threads of all runs wrote.
pub(crate) fn assemble(
    clock: Calibration,
    ns_per_record: f64,
    mut runs: Vec<RawRun>,
    kept: Kept,
) -> Recording {
    // By arrival: of each thread in its order.
    let mut sources: Vec<Source> = kept.spilled.into_iter().map(Source::File).collect();
    sources.extend(kept.pieces.into_iter().map(Source::Memory));
    let streams = runs.iter_mut().flat_map(|run| &mut run.streams);
    sources.extend(streams.filter_map(|stream| stream.tail.take().map(Source::Memory)));
    let mut home = HashMap::new();
    for (k, run) in runs.iter().enumerate() {
        home.extend(run.streams.iter().map(|s| (s.stream, (k, s.lane))));
    }
    let mut filling: Vec<_> = runs
        .into_iter()
        .map(|run| Filling::new(&clock, run))
        .collect();
    let mut file = kept.file;
    let (mut words, mut lost) = (Vec::new(), None);
    while let Some(source) = sources.pop() {
        let stream = match &source {
            Source::Memory(piece) => piece.stream,
            Source::File(spilled) => spilled.stream,
        };
        // Otherwise of a thread that never came back.
        let Some(&(run, lane)) = home.get(&stream) else {
            continue;
        };
        match (source, &mut file) {
            (Source::Memory(piece), _) => {
                filling[run].pour(&clock, lane, &piece.words[..piece.used]);
            }
            (Source::File(spilled), Some(file)) => {
                filling[run].spilled(&clock, lane, &spilled);
                match file.read(spilled.place, &mut words) {
                    Ok(()) => filling[run].pour(&clock, lane, &words),
                    Err(error) => lost = Some(error.to_string()),
                }
            }
            (Source::File(_), None) => unreachable!("what was spilled is in a file"),
        }
    }
    let reason = match (lost, kept.spill_error) {
        (Some(message), _) => DropReason::SpillLost { message },
        (None, Some(message)) => DropReason::SpillFailed { message },
        (None, None) if kept.ran_out => DropReason::MemoryFull,
        (None, None) => DropReason::TooFast,
    };
    Recording {
        clock,
        ns_per_record,
        runs: filling.into_iter().map(|run| run.done(&reason)).collect(),
    }
}

/// The tables of a run, while pieces come.
struct Filling {
    run: RecordedRun,
    made: [u64; KINDS],
    /// Where blocks of rows end, in the tables whose order matters.
    accesses: Vec<usize>,
    memory: Vec<usize>,
    transfers: Vec<usize>,
}

impl Filling {
    fn new(clock: &Calibration, raw: RawRun) -> Self {
        let ns = |ticks| clock.nanoseconds(ticks);
        let begin_ns = ns(raw.begin);
        let made: [u64; KINDS] =
            std::array::from_fn(|kind| raw.streams.iter().map(|s| s.made[kind]).sum());
        let room = |kind| usize::try_from(made[kind as usize]).unwrap_or(0);
        let ends = raw.streams.iter().map(|stream| ns(stream.detached));
        let row = |stream: &Stream| {
            let Lane::Worker(worker) = stream.lane else {
                return None;
            };
            Some(WorkerRow {
                worker: worker as u16,
                bound_to: raw.bound_to.get(worker).copied().flatten(),
                start_ns: ns(stream.attached),
                end_ns: ns(stream.detached),
            })
        };
        let run = RecordedRun {
            begin_ns,
            end_ns: ends.fold(begin_ns, u64::max),
            submitted: raw.streams.iter().map(|stream| stream.submitted).sum(),
            workers: raw.streams.iter().filter_map(row).collect(),
            scheduler: raw.scheduler,
            codelets: raw.codelets,
            devices: raw.devices,
            device_workers: raw.device_workers,
            time_scale: raw.time_scale,
            host_bytes: raw.host_bytes,
            tasks: with_room(room(Kind::Task)),
            accesses: with_room(room(Kind::Access)),
            memory: with_room(room(Kind::Memory)),
            states: with_room(room(Kind::State)),
            transfers: with_room(room(Kind::Transfer)),
            stalls: with_room(room(Kind::Stall)),
            shares: with_room(room(Kind::Share)),
            lost_tracks: (raw.workers + 1).saturating_sub(raw.streams.len()),
            ..RecordedRun::default()
        };
        Filling {
            run,
            made,
            accesses: Vec::new(),
            memory: Vec::new(),
            transfers: Vec::new(),
        }
    }

    /// Adds the rows of a piece.
    fn pour(&mut self, clock: &Calibration, lane: Lane, words: &[u64]) {
        let worker = match lane {
            Lane::Worker(worker) => worker as u16,
            Lane::Submission => 0,
        };
        let run = &mut self.run;
        run.record_bytes += size_of_val(words) as u64;
        decode(words, worker, |record| run.add(clock, record));
        self.accesses.push(run.accesses.len());
        self.memory.push(run.memory.len());
        self.transfers.push(run.transfers.len());
    }

    fn spilled(&mut self, clock: &Calibration, lane: Lane, spilled: &Spilled) {
        self.run.spills.push(SpillRow {
            lane,
            start_ns: clock.nanoseconds(spilled.start),
            end_ns: clock.nanoseconds(spilled.end),
            bytes: spilled.bytes,
        });
    }

    fn done(mut self, reason: &DropReason) -> RecordedRun {
        reverse_blocks(&mut self.run.accesses, &self.accesses);
        reverse_blocks(&mut self.run.memory, &self.memory);
        reverse_blocks(&mut self.run.transfers, &self.transfers);
        self.run.count_drops(self.made);
        self.run.drop_reason = (self.run.dropped > 0).then(|| reason.clone());
        self.run.sort();
        self.run
    }
}

/// Blocks of rows that end at `ends`, from the last to the first; each in itself stays as it is.
fn reverse_blocks<T>(rows: &mut [T], ends: &[usize]) {
    rows.reverse();
    let mut from = rows.len();
    let mut begin = 0;
    for &end in ends {
        let block = from - (end - begin)..from;
        from = block.start;
        rows[block].reverse();
        begin = end;
    }
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
            Record::Share(s) => self.shares.push(ShareRow {
                task: s.task,
                worker: s.worker,
                parts: s.parts,
                start_ns: ns(s.start),
                end_ns: ns(s.end),
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
            (Kind::Share, self.shares.len()),
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
        self.shares
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

#[cfg(test)]
mod tests {
    use super::reverse_blocks;

    #[test]
    fn blocks_change_places_and_stay_whole() {
        let mut rows = [7, 8, 9, 4, 5, 1];
        reverse_blocks(&mut rows, &[3, 3, 5, 6]);
        assert_eq!(rows, [1, 4, 5, 7, 8, 9]);
        reverse_blocks(&mut rows[..0], &[]);
    }
}
