//! Devices that are there: a part of their memory cut into rooms, and the threads that copy to and from it.
//!
//! Takes a [`Device`] and how much of it a run may use; gives rooms for replicas, and transfers that somebody can wait for. Knows no
//! state of a replica: that is `coherence.rs`.
//!
//! Each device has three threads, one for each direction and one for what goes home without anybody waiting for it, which serve their
//! transfers in the order in which they were asked for. They take
//! the host's bytes under a claim of the store, as a task would. Nobody who asks waits here; who needs the bytes waits for the
//! transfer. A transfer waits at most for transfers that were asked for before it, so there is no circle.

use super::coherence::Event;
use crate::observer::{TransferKind, TransferRecord};
use crate::spec::Handle;
use crate::store::{MemoryNode, Pinning, SharedStore};
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex as StdMutex, PoisonError};
use std::time::Instant;
use treeqr_devices::{Arena, Device, DeviceError, ErrorKind};

/// A device beside the CPU workers of a run.
#[derive(Clone, Debug)]
pub struct Accelerator {
    /// Letters and a number: `cuda0`.
    pub name: String,
    /// The device.
    pub device: Arc<dyn Device>,
    /// Bytes of its memory that the run takes, for data and scratch.
    pub memory_bytes: u64,
    /// Workers that it has, one stream each: so many tasks run on it at the same time.
    pub streams: usize,
    /// Whether large buffers on the host are page-locked when they are copied for the second time.
    pub pin: bool,
}

/// What a link is taken for before anything went over it: PCI Express of the third generation.
const FIRST_BYTES_PER_NS: f64 = 12.0;
/// What a transfer costs beyond its bytes.
const LATENCY_NS: f64 = 20e3;
/// Transfers below this say nothing of the bandwidth.
const TELLING_BYTES: u64 = 64 << 10;

/// A device in one run.
pub(super) struct RealNode {
    pub(super) name: String,
    device: Arc<dyn Device>,
    start: u64,
    arena: Arc<Mutex<Arena>>,
    /// For replicas.
    bytes: u64,
    /// Of the streams, one each.
    scratch: Vec<Arc<Room>>,
    up: Mutex<Option<Sender<Job>>>,
    down: Mutex<Option<Sender<Job>>>,
    home: Mutex<Option<Sender<Job>>>,
    /// Where the threads find what to do, until they take it.
    receivers: Mutex<Vec<Receiver<Job>>>,
    /// Bytes a nanosecond, as bits.
    rate: AtomicU64,
    /// What the threads have done.
    done: Mutex<Vec<Event>>,
    /// Whether buffers on the host are page-locked; not any more after a refusal.
    pins: AtomicBool,
    /// By device of the run.
    peers: Vec<bool>,
    pinned_bytes: AtomicU64,
}

/// A block of a device's memory; free again when the last who uses it has let go.
pub(crate) struct Room {
    /// Of its first byte.
    pub(crate) address: u64,
    bytes: u64,
    arena: Arc<Mutex<Arena>>,
}

impl Room {
    /// Its length.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        lock(&self.arena).give(self.address, self.bytes);
    }
}

/// Bytes on their way.
pub(crate) struct Transfer {
    outcome: StdMutex<Option<Result<(), DeviceError>>>,
    ended: Condvar,
}

impl Transfer {
    fn new() -> Arc<Self> {
        Arc::new(Transfer {
            outcome: StdMutex::new(None),
            ended: Condvar::new(),
        })
    }

    /// Whether it has ended, well or not.
    pub(crate) fn is_done(&self) -> bool {
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.is_some()
    }

    /// Waits for its end.
    pub(crate) fn wait(&self) -> Result<(), DeviceError> {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(outcome) = &*outcome {
                return outcome.clone();
            }
            outcome = self
                .ended
                .wait(outcome)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn end(&self, outcome: Result<(), DeviceError>) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        self.ended.notify_all();
    }
}

/// Whether somebody waits for a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    Now,
    Behind,
}

/// What is asked of a thread that copies.
pub(super) struct Job {
    what: What,
    /// On the device.
    room: Arc<Room>,
    after: Option<Arc<Transfer>>,
    asked: Instant,
    transfer: Arc<Transfer>,
}

/// A room of another device that can be read without the host.
pub(super) struct Peer {
    device: Arc<dyn Device>,
    room: Arc<Room>,
}

enum What {
    /// Bytes of a handle between the host and the room, and when they were asked for.
    Move {
        handle: Handle,
        from: MemoryNode,
        to: MemoryNode,
        kind: TransferKind,
        ticks: u64,
        /// If they come from another device: where they lie there.
        peer: Option<Peer>,
    },
    /// Zeros into the room.
    Clear,
}

impl RealNode {
    /// Takes the memory, of which every stream gets `scratch_bytes` for itself.
    pub(super) fn new(accelerator: &Accelerator, scratch_bytes: u64) -> Result<Self, DeviceError> {
        let Accelerator {
            name,
            device,
            memory_bytes,
            streams,
            pin,
        } = accelerator;
        let needed = Arena::rounded(scratch_bytes).saturating_mul(*streams as u64);
        if needed >= *memory_bytes {
            let what = format!(
                "{memory_bytes} bytes are too few: {streams} streams need {needed} of scratch alone"
            );
            return Err(DeviceError::new(
                name,
                "reserve memory",
                what,
                ErrorKind::OutOfMemory,
            ));
        }
        let start = device.reserve(*memory_bytes)?;
        let arena = Arc::new(Mutex::new(Arena::new(start, *memory_bytes)));
        let ((up, to_device), (down, to_host), (home, behind)) = (channel(), channel(), channel());
        let mut node = RealNode {
            name: name.clone(),
            device: device.clone(),
            start,
            bytes: memory_bytes - needed,
            arena,
            scratch: Vec::new(),
            up: Mutex::new(Some(up)),
            down: Mutex::new(Some(down)),
            home: Mutex::new(Some(home)),
            receivers: Mutex::new(vec![to_device, to_host, behind]),
            rate: AtomicU64::new(FIRST_BYTES_PER_NS.to_bits()),
            done: Mutex::default(),
            pins: AtomicBool::new(*pin),
            peers: Vec::new(),
            pinned_bytes: AtomicU64::new(0),
        };
        let rooms = (0..*streams).map(|_| node.take(scratch_bytes).expect("it was counted"));
        node.scratch = rooms.collect();
        Ok(node)
    }

    /// The scratch of stream `s`.
    pub(super) fn scratch(&self, s: usize) -> Arc<Room> {
        self.scratch[s].clone()
    }

    pub(super) fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// Whether a task with buffers of these sizes always finds room for the next of them, wherever the others lie: if all of them
    /// take at most one part in so many as there are, one of the gaps between those that are there is large enough.
    pub(super) fn fits(&self, sizes: impl Iterator<Item = u64>) -> bool {
        let (mut count, mut total) = (0u64, 0u64);
        for bytes in sizes {
            count += 1;
            total = total.saturating_add(Arena::rounded(bytes));
        }
        total.saturating_mul(count.max(1)) <= self.bytes
    }

    /// A room, if there is a free range that is long enough.
    pub(super) fn take(&self, bytes: u64) -> Option<Arc<Room>> {
        let address = lock(&self.arena).take(bytes)?;
        Some(Arc::new(Room {
            address,
            bytes,
            arena: self.arena.clone(),
        }))
    }

    /// Predicted time of a transfer.
    pub(super) fn transfer_ns(&self, bytes: u64) -> f64 {
        LATENCY_NS + bytes as f64 / f64::from_bits(self.rate.load(Ordering::Relaxed))
    }

    /// Which of all devices of the run this one copies from without the host, by their places.
    pub(super) fn meet(&mut self, all: &[Arc<dyn Device>]) {
        let is_peer = |other: &Arc<dyn Device>| {
            !Arc::ptr_eq(other, &self.device) && self.device.can_access_peer(&**other)
        };
        self.peers = all.iter().map(is_peer).collect();
    }

    /// Whether it copies from the device of node `other` without the host.
    pub(super) fn is_peer(&self, other: MemoryNode) -> bool {
        let place = usize::from(other.0).checked_sub(1);
        place.is_some_and(|place| self.peers.get(place) == Some(&true))
    }

    /// What a peer needs to know to read `room`, one of this device.
    pub(super) fn as_peer(&self, room: Arc<Room>) -> Peer {
        Peer {
            device: self.device.clone(),
            room,
        }
    }

    /// Asks for a transfer between the host, or a peer, and `room`, after another.
    pub(super) fn begin(
        &self,
        (handle, kind): (Handle, TransferKind),
        (from, to): (MemoryNode, MemoryNode),
        (room, peer): (Arc<Room>, Option<Peer>),
        after: Option<Arc<Transfer>>,
        (urgency, ticks): (Urgency, u64),
    ) -> Arc<Transfer> {
        let what = What::Move {
            handle,
            from,
            to,
            kind,
            ticks,
            peer,
        };
        let queue = match (to, urgency) {
            (MemoryNode::HOST, Urgency::Now) => &self.down,
            (MemoryNode::HOST, Urgency::Behind) => &self.home,
            _ => &self.up,
        };
        self.ask(queue, what, room, after)
    }

    /// Asks for zeros in `room`.
    pub(super) fn begin_clear(&self, room: Arc<Room>) -> Arc<Transfer> {
        self.ask(&self.up, What::Clear, room, None)
    }

    fn ask(
        &self,
        queue: &Mutex<Option<Sender<Job>>>,
        what: What,
        room: Arc<Room>,
        after: Option<Arc<Transfer>>,
    ) -> Arc<Transfer> {
        let transfer = Transfer::new();
        let job = Job {
            what,
            room,
            after,
            asked: Instant::now(),
            transfer: transfer.clone(),
        };
        let sent = lock(queue).as_ref().map(|queue| queue.send(job).is_ok());
        if sent != Some(true) {
            transfer.end(Err(self.error("the run is over")));
        }
        transfer
    }

    fn error(&self, what: &str) -> DeviceError {
        DeviceError::new(&self.name, "copy", what, ErrorKind::Failed)
    }

    /// What the threads will serve: a queue each.
    pub(super) fn take_receivers(&self) -> Vec<Receiver<Job>> {
        std::mem::take(&mut *lock(&self.receivers))
    }

    /// No further transfers: the threads end.
    pub(super) fn close(&self) {
        lock(&self.up).take();
        lock(&self.down).take();
        lock(&self.home).take();
        // If nobody took them, what was asked for fails.
        for receiver in self.take_receivers() {
            for job in receiver.try_iter() {
                job.transfer.end(Err(self.error("the run is over")));
            }
        }
    }

    /// Bytes of the host that were page-locked for this device.
    pub(super) fn pinned_bytes(&self) -> u64 {
        self.pinned_bytes.load(Ordering::Relaxed)
    }

    /// What has moved since the last call.
    pub(super) fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut *lock(&self.done))
    }

    /// The life of a thread that copies.
    pub(super) fn serve(&self, jobs: &Receiver<Job>, store: SharedStore<'_>) {
        let mut stream = None;
        while let Ok(job) = jobs.recv() {
            // Unwind safety: the stream is not used again after a panic.
            let copied = catch_unwind(AssertUnwindSafe(|| self.copy(&job, store, &mut stream)));
            let outcome = copied.unwrap_or_else(|payload| {
                stream = None;
                Err(self.error(&crate::error::panic_message(&*payload)))
            });
            // First the room, so that who has waited finds it free.
            let Job {
                room,
                what,
                transfer,
                ..
            } = job;
            drop((room, what));
            transfer.end(outcome);
        }
    }

    fn copy(
        &self,
        job: &Job,
        store: SharedStore<'_>,
        stream: &mut Option<Box<dyn treeqr_devices::Stream>>,
    ) -> Result<(), DeviceError> {
        if let Some(before) = &job.after {
            before.wait()?;
        }
        let stream = match stream {
            Some(stream) => stream,
            None => stream.insert(self.device.stream()?),
        };
        let (handle, from, to, kind, ticks, peer) = match &job.what {
            What::Clear => return stream.clear(job.room.address, job.room.bytes),
            What::Move {
                handle,
                from,
                to,
                kind,
                ticks,
                peer,
            } => (*handle, *from, *to, *kind, *ticks, peer),
        };
        let host = store.on(MemoryNode::HOST);
        if peer.is_none() && self.pins.load(Ordering::Relaxed) {
            match host.pin(handle, &*self.device) {
                Pinning::None => {}
                Pinning::Pinned(bytes) => {
                    self.pinned_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                }
                // Whoever refuses one refuses the next: a limit of the system, mostly.
                Pinning::Refused => self.pins.store(false, Ordering::Relaxed),
            }
        }
        let begin = Instant::now();
        let bytes = if let Some(Peer { device, room }) = peer {
            let bytes = room.bytes;
            stream.copy_peer(&**device, room.address, job.room.address, bytes)?;
            bytes
        } else if from == MemoryNode::HOST {
            let source = host.read::<u8>(handle);
            stream.upload(&source, job.room.address)?;
            source.len() as u64
        } else {
            let mut target = host.write::<u8>(handle);
            stream.download(job.room.address, &mut target)?;
            target.len() as u64
        };
        let duration = begin.elapsed();
        if bytes >= TELLING_BYTES && peer.is_none() {
            let seen = bytes as f64 / (duration.as_nanos() as f64).max(1.0);
            let rate = f64::from_bits(self.rate.load(Ordering::Relaxed));
            self.rate
                .store((0.8 * rate + 0.2 * seen).to_bits(), Ordering::Relaxed);
        }
        lock(&self.done).push(Event::Transfer(TransferRecord {
            ticks,
            handle,
            from,
            to,
            kind,
            bytes,
            wait_ns: begin.duration_since(job.asked).as_nanos() as u64,
            duration_ns: duration.as_nanos() as u64,
        }));
        Ok(())
    }
}

impl Drop for RealNode {
    fn drop(&mut self) {
        self.close();
        self.device.give_back(self.start);
    }
}

impl std::fmt::Debug for RealNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "RealNode {{ name: {:?}, bytes: {} }}",
            self.name, self.bytes
        )
    }
}
