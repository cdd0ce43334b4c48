//! Records as words.
//!
//! Takes records of the runtime; gives words, and records back from them. Knows no thread and no memory.
//!
//! A chunk is a row of records of all kinds, each of whole 64-bit words. The first word says what it is:
//!
//! ```text
//!   bit  0         8          16                32                                64
//!        | kind    | small    | small           | id of a task or a handle, or a count
//!
//!   task      codelet, task | node, queued | 6 parameters | priority | flops | bytes | submit | ready | pop | start | end   13
//!   memory    memory node, handle | task, node | ticks | delta | after                                                       5
//!   state     state | start | end                                                                                            3
//!   accesses  n, task | n times handle, access                                                                             1+n
//!   transfer  kind, from, handle | to | ticks | wait | duration | bytes                                                      6
//!   stall     reason, submitted | start | end                                                                                3
//!   share     task | parts | start | end                                                                                     4
//! ```
//!
//! Which worker it was is not in a record: all records of a thread are in chunks of its own.

use treeqr_runtime::{
    Access, CodeletId, Handle, MemoryNode, MemoryRecord, ShareRecord, StallReason, StallRecord,
    StateRecord, TaskId, TaskRecord, TransferKind, TransferRecord, WorkerState,
};

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Task,
    Memory,
    State,
    Access,
    Transfer,
    Stall,
    Share,
}

/// How many kinds there are.
pub(crate) const KINDS: usize = 7;

/// A record of fixed size.
pub(crate) trait Packed: Sized {
    const KIND: Kind;
    const WORDS: usize;
    /// Writes it to `out`, which has `WORDS` words.
    fn pack(&self, out: &mut [u64]);
    /// The record of a thread that is worker `worker`; `None` where `words` are not one.
    fn unpack(words: &[u64], worker: u16) -> Option<Self>;
}

/// One access of one task, as submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccessRecord {
    pub(crate) task: TaskId,
    pub(crate) handle: Handle,
    pub(crate) access: Access,
}

/// What a chunk gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Task(TaskRecord),
    Memory(MemoryRecord),
    State(StateRecord),
    Access(AccessRecord),
    Transfer(TransferRecord),
    Stall(StallRecord),
    Share(ShareRecord),
}

#[inline]
fn header(kind: Kind, byte: u8, half: u16, id: u32) -> u64 {
    kind as u64 | (byte as u64) << 8 | (half as u64) << 16 | (id as u64) << 32
}

#[inline]
fn pair(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

fn byte(word: u64) -> u8 {
    (word >> 8) as u8
}

fn half(word: u64) -> u16 {
    (word >> 16) as u16
}

fn low(word: u64) -> u32 {
    word as u32
}

fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

impl Packed for TaskRecord {
    const KIND: Kind = Kind::Task;
    const WORDS: usize = 13;

    #[inline]
    fn pack(&self, out: &mut [u64]) {
        let p = &self.params;
        out.copy_from_slice(&[
            header(Kind::Task, 0, self.codelet.0, self.id.0),
            pair(self.node, self.queued),
            pair(p[0], p[1]),
            pair(p[2], p[3]),
            pair(p[4], p[5]),
            self.priority as u64,
            self.flops,
            self.bytes,
            self.submit,
            self.ready,
            self.pop,
            self.start,
            self.end,
        ]);
    }

    fn unpack(words: &[u64], worker: u16) -> Option<Self> {
        let w: &[u64; Self::WORDS] = words.first_chunk()?;
        Some(TaskRecord {
            id: TaskId(high(w[0])),
            codelet: CodeletId(half(w[0])),
            worker,
            node: low(w[1]),
            queued: high(w[1]),
            params: [
                low(w[2]),
                high(w[2]),
                low(w[3]),
                high(w[3]),
                low(w[4]),
                high(w[4]),
            ],
            priority: w[5] as i64,
            flops: w[6],
            bytes: w[7],
            submit: w[8],
            ready: w[9],
            pop: w[10],
            start: w[11],
            end: w[12],
        })
    }
}

impl Packed for MemoryRecord {
    const KIND: Kind = Kind::Memory;
    const WORDS: usize = 5;

    #[inline]
    fn pack(&self, out: &mut [u64]) {
        out.copy_from_slice(&[
            header(Kind::Memory, 0, self.memory.0, self.handle.0),
            pair(self.task.0, self.node),
            self.ticks,
            self.delta_bytes as u64,
            self.after_bytes,
        ]);
    }

    fn unpack(words: &[u64], _: u16) -> Option<Self> {
        let w: &[u64; Self::WORDS] = words.first_chunk()?;
        Some(MemoryRecord {
            ticks: w[2],
            handle: Handle(high(w[0])),
            task: TaskId(low(w[1])),
            node: high(w[1]),
            memory: MemoryNode(half(w[0])),
            delta_bytes: w[3] as i64,
            after_bytes: w[4],
        })
    }
}

/// In the order of their codes.
const STATES: [WorkerState; 4] = [
    WorkerState::Scheduling,
    WorkerState::Idle,
    WorkerState::Sleeping,
    WorkerState::Transferring,
];

impl Packed for StateRecord {
    const KIND: Kind = Kind::State;
    const WORDS: usize = 3;

    #[inline]
    fn pack(&self, out: &mut [u64]) {
        let code = match self.state {
            WorkerState::Scheduling => 0,
            WorkerState::Idle => 1,
            WorkerState::Sleeping => 2,
            WorkerState::Transferring => 3,
        };
        out.copy_from_slice(&[header(Kind::State, code, 0, 0), self.start, self.end]);
    }

    fn unpack(words: &[u64], worker: u16) -> Option<Self> {
        let w: &[u64; Self::WORDS] = words.first_chunk()?;
        Some(StateRecord {
            worker,
            state: *STATES.get(byte(w[0]) as usize)?,
            start: w[1],
            end: w[2],
        })
    }
}

/// In the order of their codes.
const TRANSFERS: [TransferKind; 4] = [
    TransferKind::Fetch,
    TransferKind::Prefetch,
    TransferKind::Return,
    TransferKind::WriteBack,
];

impl Packed for TransferRecord {
    const KIND: Kind = Kind::Transfer;
    const WORDS: usize = 6;

    fn pack(&self, out: &mut [u64]) {
        let code = match self.kind {
            TransferKind::Fetch => 0,
            TransferKind::Prefetch => 1,
            TransferKind::Return => 2,
            TransferKind::WriteBack => 3,
        };
        out.copy_from_slice(&[
            header(Kind::Transfer, code, self.from.0, self.handle.0),
            self.to.0 as u64,
            self.ticks,
            self.wait_ns,
            self.duration_ns,
            self.bytes,
        ]);
    }

    fn unpack(words: &[u64], _: u16) -> Option<Self> {
        let w: &[u64; Self::WORDS] = words.first_chunk()?;
        Some(TransferRecord {
            ticks: w[2],
            wait_ns: w[3],
            duration_ns: w[4],
            bytes: w[5],
            handle: Handle(high(w[0])),
            from: MemoryNode(half(w[0])),
            to: MemoryNode(w[1] as u16),
            kind: *TRANSFERS.get(byte(w[0]) as usize)?,
        })
    }
}

impl Packed for StallRecord {
    const KIND: Kind = Kind::Stall;
    const WORDS: usize = 3;

    fn pack(&self, out: &mut [u64]) {
        let code = match self.reason {
            StallReason::Window => 0,
            StallReason::Memory => 1,
        };
        let head = header(Kind::Stall, code, 0, self.submitted);
        out.copy_from_slice(&[head, self.start, self.end]);
    }

    fn unpack(words: &[u64], _: u16) -> Option<Self> {
        let w: &[u64; Self::WORDS] = words.first_chunk()?;
        Some(StallRecord {
            reason: *[StallReason::Window, StallReason::Memory].get(byte(w[0]) as usize)?,
            submitted: high(w[0]),
            start: w[1],
            end: w[2],
        })
    }
}

impl Packed for ShareRecord {
    const KIND: Kind = Kind::Share;
    const WORDS: usize = 4;

    fn pack(&self, out: &mut [u64]) {
        let head = header(Kind::Share, 0, 0, self.task.0);
        out.copy_from_slice(&[head, self.parts.into(), self.start, self.end]);
    }

    fn unpack(words: &[u64], worker: u16) -> Option<Self> {
        let w: &[u64; Self::WORDS] = words.first_chunk()?;
        Some(ShareRecord {
            task: TaskId(high(w[0])),
            worker,
            parts: low(w[1]),
            start: w[2],
            end: w[3],
        })
    }
}

/// In the order of their codes.
const ACCESSES: [Access; 4] = [
    Access::Read,
    Access::Write,
    Access::ReadWrite,
    Access::Scatter,
];

/// Words for `accesses` accesses of `tasks` tasks.
pub(super) fn access_words(tasks: usize, accesses: usize) -> usize {
    tasks.saturating_add(accesses)
}

/// Writes as many of the accesses of a task as `out` has room for; how many, and the words they took.
pub(super) fn pack_accesses(
    task: TaskId,
    accesses: &[(Handle, Access)],
    out: &mut [u64],
) -> (usize, usize) {
    let Some((head, rest)) = out.split_first_mut() else {
        return (0, 0);
    };
    let count = accesses.len().min(rest.len()).min(u16::MAX as usize);
    for (word, &(handle, access)) in rest.iter_mut().zip(&accesses[..count]) {
        let code = match access {
            Access::Read => 0,
            Access::Write => 1,
            Access::ReadWrite => 2,
            Access::Scatter => 3,
        };
        *word = pair(handle.0, code);
    }
    *head = header(Kind::Access, 0, count as u16, task.0);
    (count, 1 + count)
}

/// Gives the records in `words`, of the thread that is worker `worker`, to `sink`. Ends at anything that is no record.
pub(crate) fn decode(mut words: &[u64], worker: u16, mut sink: impl FnMut(Record)) {
    while let Some(&head) = words.first() {
        let Some(length) = decode_one(head, words, worker, &mut sink) else {
            return;
        };
        words = &words[length..];
    }
}

/// Gives the first record to `sink` (of accesses, all of them), and its length.
fn decode_one(
    head: u64,
    words: &[u64],
    worker: u16,
    sink: &mut impl FnMut(Record),
) -> Option<usize> {
    fn one<R: Packed>(words: &[u64], worker: u16) -> Option<(R, usize)> {
        Some((R::unpack(words, worker)?, R::WORDS))
    }
    const TASK: u8 = Kind::Task as u8;
    const MEMORY: u8 = Kind::Memory as u8;
    const STATE: u8 = Kind::State as u8;
    const ACCESS: u8 = Kind::Access as u8;
    const TRANSFER: u8 = Kind::Transfer as u8;
    const STALL: u8 = Kind::Stall as u8;
    const SHARE: u8 = Kind::Share as u8;
    let (record, length) = match head as u8 {
        TASK => one(words, worker).map(|(r, n)| (Record::Task(r), n))?,
        MEMORY => one(words, worker).map(|(r, n)| (Record::Memory(r), n))?,
        STATE => one(words, worker).map(|(r, n)| (Record::State(r), n))?,
        TRANSFER => one(words, worker).map(|(r, n)| (Record::Transfer(r), n))?,
        STALL => one(words, worker).map(|(r, n)| (Record::Stall(r), n))?,
        SHARE => one(words, worker).map(|(r, n)| (Record::Share(r), n))?,
        ACCESS => {
            let length = 1 + half(head) as usize;
            for &word in words.get(1..length)? {
                sink(Record::Access(AccessRecord {
                    task: TaskId(high(head)),
                    handle: Handle(low(word)),
                    access: *ACCESSES.get(high(word) as usize)?,
                }));
            }
            return Some(length);
        }
        _ => return None,
    };
    sink(record);
    Some(length)
}
