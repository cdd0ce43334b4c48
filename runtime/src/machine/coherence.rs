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
//! * Room of a replica that is on its way home is free when it has arrived: an eviction of an owner waits for that.
//!
//! One lock holds the states. For emulated devices it is held while bytes are copied, for real ones only where an eviction waits.
//! Claims of the store (`store/claim.rs`) check each copy: the source is claimed as by a reader, the target as by a writer.

mod rooms;

use super::device::DeviceSpec;
use super::real::{RealNode, Room, Transfer};
use crate::observer::{TransferKind, TransferRecord};
use crate::schedulers::Missing;
use crate::spec::{Access, Handle, TaskSpec};
use crate::store::{Change, Fill, MemoryNode, OutOfMemory, SharedStore};
use crate::sync::{Mutex, lock};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::sync::Arc;
use treeqr_devices::DeviceError;

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

/// Under the lock.
struct Work<'w, 'r> {
    all: &'w Coherence<'r>,
    state: crate::sync::MutexGuard<'w, State>,
    now_ns: f64,
}

impl Work<'_, '_> {
    fn at(&mut self, handle: Handle, node: MemoryNode) -> &mut Replica {
        let nodes = self.state.nodes;
        &mut self.state.replicas[handle.0 as usize * nodes + usize::from(node.0)]
    }

    fn link(&mut self, node: MemoryNode) -> &mut Link {
        &mut self.state.links[usize::from(node.0) - 1]
    }

    /// Bytes of the buffer, if there is one.
    fn size(&self, handle: Handle) -> Option<u64> {
        self.all.store.len(handle).map(|bytes| bytes as u64)
    }

    /// Where `node` gets the bytes of `handle` from if the host does not have them: from a peer if one does.
    fn holder(&mut self, handle: Handle, node: MemoryNode) -> Option<MemoryNode> {
        if self.at(handle, MemoryNode::HOST).validity != Validity::Invalid {
            return None;
        }
        let devices = (1..self.state.nodes as u16).map(MemoryNode);
        let valid = devices.filter(|&other| self.at(handle, other).validity != Validity::Invalid);
        let valid: SmallVec<[MemoryNode; 8]> = valid.collect();
        let peer = valid.iter().find(|&&other| self.are_peers(node, other));
        peer.or(valid.first()).copied()
    }

    /// Whether bytes go to `node` from `other` without the host.
    fn are_peers(&self, node: MemoryNode, other: MemoryNode) -> bool {
        self.all.real(node).is_some_and(|real| real.is_peer(other))
    }

    /// Whether a task on another node uses `handle`.
    fn is_held_elsewhere(&mut self, handle: Handle, node: MemoryNode) -> bool {
        let mut nodes = (0..self.state.nodes as u16).map(MemoryNode);
        nodes.any(|other| other != node && self.at(handle, other).pins > 0)
    }

    /// What `handle` was filled with on the host, if nobody has written it anywhere since then.
    fn untouched(&mut self, handle: Handle) -> Option<Fill> {
        let host = self.at(handle, MemoryNode::HOST);
        // Bytes on their way to the host have not touched it yet.
        match host.validity != Validity::Invalid && host.arrival.is_none() {
            true => self.all.store.untouched(handle),
            false => None,
        }
    }

    /// Gives `handle` room on `node` and, if `needs`, its valid bytes.
    fn bring(
        &mut self,
        handle: Handle,
        node: MemoryNode,
        needs: bool,
        kind: TransferKind,
    ) -> Result<(), OutOfMemory> {
        let Some(bytes) = self.size(handle) else {
            return Ok(());
        };
        if node != MemoryNode::HOST && self.at(handle, node).bytes.is_none() {
            if let Some(real) = self.all.real(node) {
                self.allocate_real(real, handle, node, bytes, kind)?;
            } else {
                self.make_room(node, bytes, kind)?;
                self.allocate(handle, node, bytes)?;
            }
        }
        self.touch(handle, node);
        if needs && self.at(handle, node).validity == Validity::Invalid {
            if let Some(fill) = self.untouched(handle) {
                self.begin_untouched(handle, node, fill, bytes);
                return Ok(());
            }
            if let Some(holder) = self.holder(handle, node) {
                if self.are_peers(node, holder) {
                    self.transfer(handle, holder, node, kind);
                    return Ok(());
                }
                self.transfer(handle, holder, MemoryNode::HOST, TransferKind::Return);
            }
            if node != MemoryNode::HOST {
                self.transfer(handle, MemoryNode::HOST, node, kind);
            }
        }
        Ok(())
    }

    /// A device's replica of what nobody has written: nothing moves.
    fn begin_untouched(&mut self, handle: Handle, node: MemoryNode, fill: Fill, bytes: u64) {
        if fill == Fill::Zeros {
            // Rooms of emulated devices are zeros already.
            if let Some(real) = self.all.real(node) {
                self.clear_real(real, handle, node);
            }
            self.link(node).stats.cleared_bytes += bytes;
        }
        self.at(handle, node).validity = Validity::Shared;
        self.at(handle, MemoryNode::HOST).validity = Validity::Shared;
    }

    /// `node` is where the content changes now: all other replicas are out of date.
    fn own(&mut self, handle: Handle, node: MemoryNode) {
        for other in (0..self.state.nodes as u16).map(MemoryNode) {
            if other == node {
                self.at(handle, node).validity = Validity::Owner;
            } else {
                self.at(handle, other).validity = Validity::Invalid;
                if other != MemoryNode::HOST && self.at(handle, other).bytes.is_some() {
                    self.free(handle, other);
                }
            }
        }
    }

    /// Drops replicas until `bytes` fit.
    fn make_room(
        &mut self,
        node: MemoryNode,
        bytes: u64,
        kind: TransferKind,
    ) -> Result<(), OutOfMemory> {
        let Side::Emulated(spec) = self.all.side(node) else {
            unreachable!("a real device makes room by itself");
        };
        while self.link(node).used_bytes + bytes > spec.memory_bytes {
            let Some(victim) = self.victim(node, kind) else {
                return Err(OutOfMemory {
                    bytes: bytes as usize,
                });
            };
            self.discard(victim, node);
            self.link(node).stats.evictions += 1;
        }
        Ok(())
    }

    /// The replica that was used longest ago, of those that may go.
    fn victim(&mut self, node: MemoryNode, kind: TransferKind) -> Option<Handle> {
        let (state, now_ns) = (&*self.state, self.now_ns);
        let replica = |h: u32| &state.replicas[h as usize * state.nodes + usize::from(node.0)];
        let mut order = state.links[usize::from(node.0) - 1].by_use.iter();
        order
            .find(|&&(_, h)| {
                let replica = replica(h);
                let loading = kind == TransferKind::Prefetch && replica.is_loading(now_ns);
                replica.pins == 0 && !loading
            })
            .map(|&(_, h)| Handle(h))
    }

    /// Drops the replica of a device; the owner's bytes go to the host.
    fn discard(&mut self, handle: Handle, node: MemoryNode) {
        if self.at(handle, node).validity == Validity::Owner {
            self.transfer(handle, node, MemoryNode::HOST, TransferKind::WriteBack);
        }
        self.free(handle, node);
        let nodes = (0..self.state.nodes as u16).map(MemoryNode);
        let valid: SmallVec<[_; 8]> = nodes
            .filter(|&node| self.at(handle, node).validity != Validity::Invalid)
            .collect();
        if let [alone] = valid[..] {
            self.at(handle, alone).validity = Validity::Owner;
        }
    }

    fn transfer(&mut self, handle: Handle, from: MemoryNode, to: MemoryNode, kind: TransferKind) {
        let all = self.all;
        let device = if to == MemoryNode::HOST { from } else { to };
        if let Some(real) = all.real(device) {
            return self.transfer_real(real, handle, from, to, kind);
        }
        let source = all.store.on(from).read::<u8>(handle);
        all.store
            .on(to)
            .write::<u8>(handle)
            .copy_from_slice(&source);
        let bytes = source.len() as u64;
        drop(source);
        let there_ns = self.at(handle, from).arrives_ns;
        let now_ns = self.now_ns;
        let link = self.link(device);
        let start_ns = now_ns.max(there_ns).max(link.free_ns);
        let end_ns = start_ns + all.side(device).transfer_ns(bytes);
        link.free_ns = end_ns;
        link.stats.count(kind, bytes);
        self.at(handle, from).validity = Validity::Shared;
        let target = self.at(handle, to);
        (target.validity, target.arrives_ns) = (Validity::Shared, end_ns);
        let record = TransferRecord {
            ticks: (all.ticks)(),
            handle,
            from,
            to,
            kind,
            bytes,
            wait_ns: ((start_ns - now_ns) * all.scale) as u64,
            duration_ns: ((end_ns - start_ns) * all.scale) as u64,
        };
        self.state.events.push(Event::Transfer(record));
    }

    fn allocate(
        &mut self,
        handle: Handle,
        node: MemoryNode,
        bytes: u64,
    ) -> Result<(), OutOfMemory> {
        let all = self.all;
        let mut changes = SmallVec::<[Change; 2]>::new();
        all.store
            .on(node)
            .allocate(handle, bytes as usize, Fill::Zeros, |change| {
                changes.push(change)
            })?;
        self.note(handle, changes);
        *self.at(handle, node) = Replica {
            bytes: Some(bytes),
            pins: self.at(handle, node).pins,
            ..Replica::ABSENT
        };
        let link = self.link(node);
        link.used_bytes += bytes;
        link.stats.peak_bytes = link.stats.peak_bytes.max(link.used_bytes);
        link.by_use.insert((0, handle.0));
        Ok(())
    }

    fn free(&mut self, handle: Handle, node: MemoryNode) {
        let all = self.all;
        let before = std::mem::replace(self.at(handle, node), Replica::ABSENT);
        self.at(handle, node).pins = before.pins;
        self.link(node).by_use.remove(&(before.used, handle.0));
        let bytes = before.bytes.unwrap_or(0);
        if all.real(node).is_some() {
            // The room is free when the last transfer from or to it has ended.
            self.count_real(handle, node, -(bytes as i64));
            return;
        }
        let mut changes = SmallVec::<[Change; 2]>::new();
        all.store
            .on(node)
            .free(handle, |change| changes.push(change));
        self.note(handle, changes);
        self.link(node).used_bytes -= bytes;
    }

    fn note(&mut self, handle: Handle, changes: SmallVec<[Change; 2]>) {
        let ticks = (self.all.ticks)();
        let events = changes
            .into_iter()
            .map(|change| Event::Memory(ticks, handle, change));
        self.state.events.extend(events);
    }

    /// `handle` is used on `node` now.
    fn touch(&mut self, handle: Handle, node: MemoryNode) {
        if node == MemoryNode::HOST || self.at(handle, node).bytes.is_none() {
            return;
        }
        self.state.clock += 1;
        let now = self.state.clock;
        let before = std::mem::replace(&mut self.at(handle, node).used, now);
        let link = self.link(node);
        link.by_use.remove(&(before, handle.0));
        link.by_use.insert((now, handle.0));
    }
}
