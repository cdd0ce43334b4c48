//! Which memory nodes hold a valid replica of each handle, and the transfers that make one valid.
//!
//! Takes tasks that are about to run somewhere, or will be; copies bytes between the nodes of the store. Knows no policy
//! and no speed of a worker. Only runs with devices have one of these.
//!
//! A replica on a node is in one of three states (of several that are Shared one may be the host's, or none):
//!
//! ```text
//!   Invalid   absent or out of date
//!   Shared    valid; so are others
//!   Owner     the only valid one: it is written back before it is dropped
//!
//!   a task reads on n         n Invalid: copied from the host, where a device's bytes come first;     both Shared
//!                             or from that device, if the two are peers
//!   it writes all of it       n gets room, nothing is copied;                     then as in the next line
//!   it writes (or scatters)   n becomes Owner, all others Invalid, their room is free at once
//!   n is full                 the replica that was used longest ago and that no task holds is dropped; an Owner is copied
//!                             to the host first
//!   the run ends              the host has all, devices nothing
//! ```
//!
//! * The host always has room for every buffer, valid or not, so a write-back can't fail. Only tasks on the host allocate
//!   and free.
//! * A scatter needs the other scatterers' bytes in the same memory. The graph does not order them, so they may meet on several
//!   nodes: who wants a buffer that is changed elsewhere gets nothing ([`Refusal::Busy`]) and asks again when that task has ended,
//!   and what is scattered to is not brought ahead.
//! * A buffer that nobody has written since the host allocated it does not move: on a device it begins as zeros too, or as
//!   anything if it will be overwritten.
//! * What a running task uses is *pinned* from before its first transfer to its end. A device has one worker, so a task
//!   whose data fits into the device's memory always finds room: what is not its own can be dropped.
//! * Bytes are copied at once, by whoever asks; the emulated link then says when they would have arrived. It serves one
//!   transfer after the other, in both directions, and a task waits for the arrival of what it uses. So transfers that were
//!   asked for ahead overlap with tasks.
//!
//! Devices that are there (`real.rs`) differ in three things:
//!
//! * A copy goes on while its replica is Shared already. Who uses the replica waits for the [`Transfer`]; who is about to change the
//!   content on any node waits for all transfers of the handle.
//! * Several tasks run on a device at the same time, and its memory may be in pieces. A task that finds no room gives back what it
//!   has pinned and tries again when another has ended; alone it finds room, by what `RealNode::fits` asks of it.
//! * What no task will change goes home behind all other copies, so that not all of it is left for the end of the run.
//! * Room of a replica that is on its way home is free when it has arrived: an eviction of an owner waits for that.
//!
//! One lock holds the states. For emulated devices it is held while bytes are copied, for real ones only where an eviction waits.
//! Claims of the store (`store/claim.rs`) check each copy: the source is claimed as by a reader, the target as by a writer.

mod rooms;
mod work;

use super::device::DeviceSpec;
use super::real::{RealNode, Room, Transfer};
use crate::observer::{TransferKind, TransferRecord};
use crate::schedulers::Missing;
use crate::spec::{Access, Handle, TaskSpec};
use crate::store::{Change, MemoryNode, OutOfMemory, SharedStore};
use crate::sync::{Mutex, lock};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::sync::Arc;
use treeqr_devices::DeviceError;
use work::Work;

/// The state of all replicas of a run.
pub(crate) struct Coherence<'r> {
    store: SharedStore<'r>,
    devices: Vec<Side>,
    /// Wall time over time of the emulated machine.
    scale: f64,
    /// By codelet: whether its tasks read only to come later ([`Application::only_waits`](crate::Application::only_waits)).
    waits: Vec<bool>,
    /// The observer's clock.
    ticks: &'r (dyn Fn() -> u64 + Sync),
    state: Mutex<State>,
}

/// A device, emulated or not.
pub(super) enum Side {
    Emulated(DeviceSpec),
    Real(Box<RealNode>),
}

impl Side {
    fn transfer_ns(&self, bytes: u64) -> f64 {
        match self {
            Side::Emulated(spec) => spec.transfer_ns(bytes),
            Side::Real(node) => node.transfer_ns(bytes),
        }
    }
}

/// When the data of a task is where it is needed.
#[derive(Default)]
pub(super) struct Arrival {
    /// On an emulated link.
    pub(super) ns: f64,
    /// What to wait for.
    pub(super) transfers: SmallVec<[Arc<Transfer>; 8]>,
}

impl Arrival {
    /// Waits for all that moves.
    pub(super) fn wait(&self) -> Result<(), DeviceError> {
        self.transfers
            .iter()
            .try_for_each(|transfer| transfer.wait())
    }
}

/// Why a task can't have its data now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The node is full of what running tasks hold.
    Full(OutOfMemory),
    /// A task on another node holds a buffer that this one would change: both scatter.
    Busy,
}

impl From<OutOfMemory> for Refusal {
    fn from(full: OutOfMemory) -> Self {
        Refusal::Full(full)
    }
}

/// Something to be recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Transfer(TransferRecord),
    /// A buffer of a device: when, which, what.
    Memory(u64, Handle, Change),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Validity {
    Invalid,
    Shared,
    Owner,
}

/// A handle on a node.
#[derive(Clone)]
struct Replica {
    validity: Validity,
    pins: u32,
    /// Room on a device.
    bytes: Option<u64>,
    /// Its place in the order of use.
    used: u64,
    /// When its bytes are there, in nanoseconds of the run.
    arrives_ns: f64,
    /// On a real device: where it lies.
    room: Option<Arc<Room>>,
    /// What brings its bytes, if that may still go on.
    arrival: Option<Arc<Transfer>>,
    /// On the host: all transfers of the handle that may still go on.
    pending: Vec<Arc<Transfer>>,
}

impl Replica {
    const ABSENT: Replica = Replica {
        validity: Validity::Invalid,
        pins: 0,
        bytes: None,
        used: 0,
        arrives_ns: 0.0,
        room: None,
        arrival: None,
        pending: Vec::new(),
    };

    fn is_loading(&self, now_ns: f64) -> bool {
        self.arrives_ns > now_ns || self.arrival.as_ref().is_some_and(|t| !t.is_done())
    }
}

struct State {
    /// By handle, then node; the host is node 0.
    replicas: Vec<Replica>,
    nodes: usize,
    /// By device.
    links: Vec<Link>,
    /// Counts uses.
    clock: u64,
    events: Vec<Event>,
}

/// A device's memory and its link to the host.
#[derive(Default)]
struct Link {
    /// When it has served all that was asked for.
    free_ns: f64,
    used_bytes: u64,
    /// By last use.
    by_use: BTreeSet<(u64, u32)>,
    /// Tasks that have acquired and not released.
    active: usize,
    stats: LinkStats,
}

/// What went over a link, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// The most bytes that lay in the device's memory.
    pub peak_bytes: u64,
    /// Bytes that came because a task needed them.
    pub fetched_bytes: u64,
    /// Bytes that came from another device, without the host.
    pub peer_bytes: u64,
    /// Bytes that came ahead of their task.
    pub prefetched_bytes: u64,
    /// Bytes that left because somebody else needed them.
    pub returned_bytes: u64,
    /// Bytes that left because the memory was full, or the run over.
    pub written_back_bytes: u64,
    /// Replicas that were dropped because the memory was full.
    pub evictions: u64,
    /// Bytes of the host's memory that were page-locked for copies to and from it.
    pub pinned_bytes: u64,
    /// Bytes of buffers that nobody had written: they were not brought, but began there as zeros.
    pub cleared_bytes: u64,
}

impl LinkStats {
    fn count(&mut self, kind: TransferKind, bytes: u64) {
        *match kind {
            TransferKind::Fetch => &mut self.fetched_bytes,
            TransferKind::Prefetch => &mut self.prefetched_bytes,
            TransferKind::Return => &mut self.returned_bytes,
            TransferKind::WriteBack => &mut self.written_back_bytes,
        } += bytes;
    }
}

/// Handles of a task, each once: whether their content is needed, whether it changes.
type Uses = SmallVec<[(Handle, bool, bool); 8]>;

/// `waits` says that what the task reads is there for the order alone.
fn uses(spec: &TaskSpec, waits: bool) -> Uses {
    let mut uses = Uses::new();
    for &(handle, access) in &spec.accesses {
        if waits && access == Access::Read {
            continue;
        }
        // A scatter leaves most of the buffer as it is.
        let needs = access != Access::Write;
        let changes = access != Access::Read;
        match uses.iter_mut().find(|(h, _, _)| *h == handle) {
            Some((_, n, c)) => (*n, *c) = (*n || needs, *c || changes),
            None => uses.push((handle, needs, changes)),
        }
    }
    uses
}

impl<'r> Coherence<'r> {
    /// All data is on the host.
    pub(super) fn new(
        store: SharedStore<'r>,
        devices: Vec<Side>,
        scale: f64,
        ticks: &'r (dyn Fn() -> u64 + Sync),
    ) -> Self {
        let nodes = devices.len() + 1;
        let mut replicas = vec![Replica::ABSENT; store.handles() * nodes];
        for host in replicas.iter_mut().step_by(nodes) {
            host.validity = Validity::Owner;
        }
        let links = std::iter::repeat_with(Link::default).take(devices.len());
        Coherence {
            state: Mutex::new(State {
                replicas,
                nodes,
                links: links.collect(),
                clock: 0,
                events: Vec::new(),
            }),
            store,
            devices,
            scale,
            waits: Vec::new(),
            ticks,
        }
    }

    /// The codelets whose tasks read only to come later.
    pub(super) fn with_waits(mut self, waits: Vec<bool>) -> Self {
        self.waits = waits;
        self
    }

    fn uses(&self, spec: &TaskSpec) -> Uses {
        let waits = self.waits.get(spec.codelet.0 as usize);
        uses(spec, waits.is_some_and(|&waits| waits))
    }

    /// Makes all that `spec` uses valid on `node` and pins it there until [`release`](Self::release). Returns when the
    /// bytes are there.
    pub(super) fn acquire(
        &self,
        spec: &TaskSpec,
        node: MemoryNode,
        now_ns: f64,
    ) -> Result<Arrival, Refusal> {
        let mut work = self.work(now_ns);
        let uses = self.uses(spec);
        for &(handle, _, changes) in &uses {
            if changes && work.is_held_elsewhere(handle, node) {
                return Err(Refusal::Busy);
            }
        }
        for &(handle, _, _) in &uses {
            work.at(handle, node).pins += 1;
        }
        let brought = uses.iter().try_for_each(|&(handle, needs, _)| {
            work.bring(handle, node, needs, TransferKind::Fetch)
        });
        if let Err(error) = brought {
            for &(handle, _, _) in &uses {
                work.at(handle, node).pins -= 1;
            }
            return Err(error.into());
        }
        let mut arrival = Arrival {
            ns: now_ns,
            ..Arrival::default()
        };
        for &(handle, _, changes) in &uses {
            if changes {
                work.own(handle, node);
                // They stay in the list: other scatterers wait for them too.
                let host = work.at(handle, MemoryNode::HOST);
                arrival.transfers.extend(host.pending.iter().cloned());
            }
            let replica = work.at(handle, node);
            arrival.ns = arrival.ns.max(replica.arrives_ns);
            arrival.transfers.extend(replica.arrival.clone());
        }
        if node != MemoryNode::HOST {
            work.link(node).active += 1;
        }
        Ok(arrival)
    }

    /// Where the buffers of a task that has acquired lie on `node`, in the order of its accesses; `None` for those without a buffer.
    pub(super) fn rooms(
        &self,
        spec: &TaskSpec,
        node: MemoryNode,
    ) -> SmallVec<[Option<Arc<Room>>; 8]> {
        let mut work = self.work(0.0);
        let handles = spec.accesses.iter();
        handles
            .map(|&(handle, _)| work.at(handle, node).room.clone())
            .collect()
    }

    /// Whether no task has its data on `node`.
    pub(super) fn is_quiet(&self, node: MemoryNode) -> bool {
        node == MemoryNode::HOST || self.work(0.0).link(node).active == 0
    }

    /// The task that acquired has ended.
    pub(super) fn release(&self, spec: &TaskSpec, node: MemoryNode) {
        let mut work = self.work(0.0);
        for (handle, _, _) in self.uses(spec) {
            work.at(handle, node).pins -= 1;
            work.touch(handle, node);
        }
        if node != MemoryNode::HOST {
            work.link(node).active -= 1;
        }
        if let (Some(real), true) = (self.real(node), spec.last != 0) {
            for (k, &(handle, access)) in spec.accesses.iter().enumerate().take(8) {
                // Others of a group of scatters may still be at work.
                if spec.last & (1 << k) != 0 && access.is_exclusive() {
                    work.send_home(real, handle, node);
                }
            }
        }
    }

    /// Brings what `spec` reads to `node`, as far as there is room that no task holds and no transfer fills.
    pub(super) fn prefetch(&self, spec: &TaskSpec, node: MemoryNode, now_ns: f64) {
        if node == MemoryNode::HOST {
            return;
        }
        let mut work = self.work(now_ns);
        let scattered = |handle| {
            let mut accesses = spec.accesses.iter();
            accesses.any(|&access| access == (handle, Access::Scatter))
        };
        for (handle, needs, _) in self.uses(spec) {
            if needs
                && !scattered(handle)
                && work
                    .bring(handle, node, needs, TransferKind::Prefetch)
                    .is_err()
            {
                return;
            }
        }
    }

    /// Whether `node` can hold all data of `spec`, and all of it is allocated.
    pub(super) fn fits(&self, spec: &TaskSpec, node: MemoryNode) -> bool {
        let work = self.work(0.0);
        let sizes = self
            .uses(spec)
            .into_iter()
            .map(|(handle, _, _)| work.size(handle));
        match self.side(node) {
            Side::Emulated(spec) => {
                let total: Option<u64> = sizes.sum();
                total.is_some_and(|bytes| bytes <= spec.memory_bytes)
            }
            Side::Real(real) => {
                let sizes: Option<SmallVec<[u64; 8]>> = sizes.collect();
                sizes.is_some_and(|sizes| real.fits(sizes.into_iter()))
            }
        }
    }

    /// Predicted time of the transfers that `spec` needs on `node`.
    pub(super) fn transfer_ns(&self, spec: &TaskSpec, node: MemoryNode, now_ns: f64) -> f64 {
        let mut work = self.work(now_ns);
        let mut total = 0.0;
        for (handle, needs, _) in self.uses(spec) {
            let there = work.at(handle, node).clone();
            if there.validity != Validity::Invalid {
                total += (there.arrives_ns - now_ns).max(0.0);
            } else if let (true, Some(bytes), None) =
                (needs, work.size(handle), work.untouched(handle))
            {
                let holder = work.holder(handle, node);
                let by_host = !holder.is_some_and(|other| work.are_peers(node, other));
                if let (Some(other), true) = (holder, by_host) {
                    total += self.side(other).transfer_ns(bytes);
                }
                if node != MemoryNode::HOST {
                    total += self.side(node).transfer_ns(bytes);
                }
            }
        }
        total
    }

    /// What `spec` lacks on `node`.
    pub(super) fn missing(&self, spec: &TaskSpec, node: MemoryNode, now_ns: f64) -> Missing {
        let mut work = self.work(now_ns);
        let mut missing = Missing::default();
        for (handle, needs, _) in self.uses(spec) {
            let bytes = work.size(handle).unwrap_or(0);
            let there = work.at(handle, node).clone();
            let loading = there.is_loading(now_ns);
            let moves = work.untouched(handle).is_none() || loading;
            if needs && moves && (there.validity == Validity::Invalid || loading) {
                missing.invalid_bytes += bytes;
                missing.not_loading_bytes += if loading { 0 } else { bytes };
            }
            if node != MemoryNode::HOST && there.bytes.is_none() {
                missing.unallocated_bytes += bytes;
            }
        }
        missing
    }

    /// The run is over: all data to the host. Returns when it is there.
    pub(super) fn flush(&self, now_ns: f64) -> Arrival {
        let mut work = self.work(now_ns);
        let mut arrival = Arrival {
            ns: now_ns,
            ..Arrival::default()
        };
        for handle in (0..self.store.handles() as u32).map(Handle) {
            for node in (1..work.state.nodes as u16).map(MemoryNode) {
                // A failed run leaves pins.
                work.at(handle, node).pins = 0;
                if work.at(handle, node).bytes.is_some() {
                    work.discard(handle, node);
                    let host_ns = work.at(handle, MemoryNode::HOST).arrives_ns;
                    arrival.ns = arrival.ns.max(host_ns);
                }
            }
            let pending = std::mem::take(&mut work.at(handle, MemoryNode::HOST).pending);
            arrival.transfers.extend(pending);
        }
        arrival
    }

    /// The run has failed: what lies on real devices is given up.
    pub(super) fn abandon(&self) {
        for device in &self.devices {
            if let Side::Real(real) = device {
                real.close();
            }
        }
        let mut work = self.work(0.0);
        for replica in &mut work.state.replicas {
            (replica.room, replica.arrival) = (None, None);
        }
    }

    /// The real device of a node.
    pub(super) fn real(&self, node: MemoryNode) -> Option<&RealNode> {
        let side = usize::from(node.0).checked_sub(1).map(|d| &self.devices[d]);
        match side {
            Some(Side::Real(real)) => Some(real),
            _ => None,
        }
    }

    /// The store that copies work on.
    pub(super) fn store(&self) -> SharedStore<'r> {
        self.store
    }

    /// What happened since the last call.
    pub(super) fn take_events(&self) -> Vec<Event> {
        let mut events = std::mem::take(&mut lock(&self.state).events);
        for device in &self.devices {
            if let Side::Real(real) = device {
                events.extend(real.take_events());
            }
        }
        events
    }

    /// By device.
    pub(super) fn stats(&self) -> Vec<LinkStats> {
        let state = lock(&self.state);
        let sides = state.links.iter().zip(&self.devices);
        sides
            .map(|(link, side)| LinkStats {
                pinned_bytes: match side {
                    Side::Real(real) => real.pinned_bytes(),
                    Side::Emulated(_) => 0,
                },
                ..link.stats
            })
            .collect()
    }

    fn side(&self, node: MemoryNode) -> &Side {
        &self.devices[usize::from(node.0) - 1]
    }

    fn work(&self, now_ns: f64) -> Work<'_, 'r> {
        Work {
            all: self,
            state: lock(&self.state),
            now_ns,
        }
    }
}
