//! Which memory nodes hold a valid replica of each handle, and the transfers that make one valid.
//!
//! Takes tasks that are about to run somewhere, or will be; copies bytes between the nodes of the store. Knows no policy
//! and no speed of a worker. Only runs with devices have one of these.
//!
//! A replica on a node is in one of three states:
//!
//! ```text
//!   Invalid   absent or out of date
//!   Shared    valid; so are others
//!   Owner     the only valid one: it is written back before it is dropped
//!
//!   a task reads on n         n Invalid: copied from the host, where the owner's bytes come first;    both Shared
//!   it writes all of it       n gets room, nothing is copied;                     then as in the next line
//!   it writes (or scatters)   n becomes Owner, all others Invalid, their room is free at once
//!   n is full                 the replica that was used longest ago and that no task holds is dropped; an Owner is copied
//!                             to the host first
//!   the run ends              the host has all, devices nothing
//! ```
//!
//! * The host always has room for every buffer, valid or not, so a write-back can't fail. Only tasks on the host allocate,
//!   free and scatter (`Machine::can_run`): a scatter needs the other scatterers' bytes in the same memory.
//! * What a running task uses is *pinned* from before its first transfer to its end. A device has one worker, so a task
//!   whose data fits into the device's memory always finds room: what is not its own can be dropped.
//! * Bytes are copied at once, by whoever asks; the emulated link then says when they would have arrived. It serves one
//!   transfer after the other, in both directions, and a task waits for the arrival of what it uses. So transfers that were
//!   asked for ahead overlap with tasks.
//!
//! One lock holds all of it, also while bytes are copied: devices are few and emulated. Claims of the store
//! (`store/claim.rs`) check each copy: the source is claimed as by a reader, the target as by a writer.

use super::device::DeviceSpec;
use crate::observer::{TransferKind, TransferRecord};
use crate::schedulers::Missing;
use crate::spec::{Access, Handle, TaskSpec};
use crate::store::{Change, Fill, MemoryNode, OutOfMemory, SharedStore};
use crate::sync::{Mutex, lock};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// The state of all replicas of a run.
pub(crate) struct Coherence<'r> {
    store: SharedStore<'r>,
    devices: Vec<DeviceSpec>,
    /// Wall time over time of the emulated machine.
    scale: f64,
    /// The observer's clock.
    ticks: &'r (dyn Fn() -> u64 + Sync),
    state: Mutex<State>,
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
#[derive(Clone, Copy)]
struct Replica {
    validity: Validity,
    pins: u32,
    /// Room on a device.
    bytes: Option<u64>,
    /// Its place in the order of use.
    used: u64,
    /// When its bytes are there, in nanoseconds of the run.
    arrives_ns: f64,
}

const ABSENT: Replica = Replica {
    validity: Validity::Invalid,
    pins: 0,
    bytes: None,
    used: 0,
    arrives_ns: 0.0,
};

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
    stats: LinkStats,
}

/// What went over a link, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// The most bytes that lay in the device's memory.
    pub peak_bytes: u64,
    /// Bytes that came because a task needed them.
    pub fetched_bytes: u64,
    /// Bytes that came ahead of their task.
    pub prefetched_bytes: u64,
    /// Bytes that left because somebody else needed them.
    pub returned_bytes: u64,
    /// Bytes that left because the memory was full, or the run over.
    pub written_back_bytes: u64,
    /// Replicas that were dropped because the memory was full.
    pub evictions: u64,
}

/// Handles of a task, each once: whether their content is needed, whether it changes.
type Uses = SmallVec<[(Handle, bool, bool); 8]>;

fn uses(spec: &TaskSpec) -> Uses {
    let mut uses = Uses::new();
    for &(handle, access) in &spec.accesses {
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
        devices: Vec<DeviceSpec>,
        scale: f64,
        ticks: &'r (dyn Fn() -> u64 + Sync),
    ) -> Self {
        let nodes = devices.len() + 1;
        let mut replicas = vec![ABSENT; store.handles() * nodes];
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
            ticks,
        }
    }

    /// Makes all that `spec` uses valid on `node` and pins it there until [`release`](Self::release). Returns when the
    /// bytes are there.
    pub(super) fn acquire(
        &self,
        spec: &TaskSpec,
        node: MemoryNode,
        now_ns: f64,
    ) -> Result<f64, OutOfMemory> {
        let mut work = self.work(now_ns);
        let uses = uses(spec);
        for &(handle, _, _) in &uses {
            work.at(handle, node).pins += 1;
        }
        let mut arrives_ns = now_ns;
        for &(handle, needs, changes) in &uses {
            work.bring(handle, node, needs, TransferKind::Fetch)?;
            if changes {
                work.own(handle, node);
            }
            arrives_ns = arrives_ns.max(work.at(handle, node).arrives_ns);
        }
        Ok(arrives_ns)
    }

    /// The task that acquired has ended.
    pub(super) fn release(&self, spec: &TaskSpec, node: MemoryNode) {
        let mut work = self.work(0.0);
        for (handle, _, _) in uses(spec) {
            work.at(handle, node).pins -= 1;
            work.touch(handle, node);
        }
    }

    /// Brings what `spec` reads to `node`, as far as there is room that no task holds and no transfer fills.
    pub(super) fn prefetch(&self, spec: &TaskSpec, node: MemoryNode, now_ns: f64) {
        if node == MemoryNode::HOST {
            return;
        }
        let mut work = self.work(now_ns);
        for (handle, needs, _) in uses(spec) {
            if needs
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
        let sizes = uses(spec)
            .into_iter()
            .map(|(handle, _, _)| work.size(handle));
        let total: Option<u64> = sizes.sum();
        let capacity = self.devices[usize::from(node.0) - 1].memory_bytes;
        total.is_some_and(|bytes| bytes <= capacity)
    }

    /// Predicted time of the transfers that `spec` needs on `node`.
    pub(super) fn transfer_ns(&self, spec: &TaskSpec, node: MemoryNode, now_ns: f64) -> f64 {
        let mut work = self.work(now_ns);
        let mut total = 0.0;
        for (handle, needs, _) in uses(spec) {
            let there = *work.at(handle, node);
            if there.validity != Validity::Invalid {
                total += (there.arrives_ns - now_ns).max(0.0);
            } else if let (true, Some(bytes)) = (needs, work.size(handle)) {
                if let Some(owner) = work.owner_device(handle) {
                    total += self.spec(owner).transfer_ns(bytes);
                }
                if node != MemoryNode::HOST {
                    total += self.spec(node).transfer_ns(bytes);
                }
            }
        }
        total
    }

    /// What `spec` lacks on `node`.
    pub(super) fn missing(&self, spec: &TaskSpec, node: MemoryNode, now_ns: f64) -> Missing {
        let mut work = self.work(now_ns);
        let mut missing = Missing::default();
        for (handle, needs, _) in uses(spec) {
            let bytes = work.size(handle).unwrap_or(0);
            let there = *work.at(handle, node);
            let loading = there.arrives_ns > now_ns;
            if needs && (there.validity == Validity::Invalid || loading) {
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
    pub(super) fn flush(&self, now_ns: f64) -> f64 {
        let mut work = self.work(now_ns);
        let mut arrives_ns = now_ns;
        for handle in (0..self.store.handles() as u32).map(Handle) {
            for node in (1..work.state.nodes as u16).map(MemoryNode) {
                // A failed run leaves pins.
                work.at(handle, node).pins = 0;
                if work.at(handle, node).bytes.is_some() {
                    work.discard(handle, node);
                    arrives_ns = arrives_ns.max(work.at(handle, MemoryNode::HOST).arrives_ns);
                }
            }
        }
        arrives_ns
    }

    /// What happened since the last call.
    pub(super) fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut lock(&self.state).events)
    }

    /// By device.
    pub(super) fn stats(&self) -> Vec<LinkStats> {
        let state = lock(&self.state);
        state.links.iter().map(|link| link.stats).collect()
    }

    fn spec(&self, node: MemoryNode) -> &DeviceSpec {
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

    /// The device that has the only valid replica.
    fn owner_device(&mut self, handle: Handle) -> Option<MemoryNode> {
        let devices = (1..self.state.nodes as u16).map(MemoryNode);
        { devices }.find(|&node| self.at(handle, node).validity == Validity::Owner)
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
            self.make_room(node, bytes, kind)?;
            self.allocate(handle, node, bytes)?;
        }
        self.touch(handle, node);
        if needs && self.at(handle, node).validity == Validity::Invalid {
            if let Some(owner) = self.owner_device(handle) {
                self.transfer(handle, owner, MemoryNode::HOST, TransferKind::Return);
            }
            if node != MemoryNode::HOST {
                self.transfer(handle, MemoryNode::HOST, node, kind);
            }
        }
        Ok(())
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
        let capacity = self.all.spec(node).memory_bytes;
        while self.link(node).used_bytes + bytes > capacity {
            let order: Vec<_> = self
                .link(node)
                .by_use
                .iter()
                .map(|&(_, h)| Handle(h))
                .collect();
            let now_ns = self.now_ns;
            let mut free = order.into_iter().filter(|&handle| {
                let replica = self.at(handle, node);
                let loading = replica.arrives_ns > now_ns;
                replica.pins == 0 && !(kind == TransferKind::Prefetch && loading)
            });
            let Some(victim) = free.next() else {
                return Err(OutOfMemory {
                    bytes: bytes as usize,
                });
            };
            self.discard(victim, node);
            self.link(node).stats.evictions += 1;
        }
        Ok(())
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
        let source = all.store.on(from).read::<u8>(handle);
        all.store
            .on(to)
            .write::<u8>(handle)
            .copy_from_slice(&source);
        let bytes = source.len() as u64;
        drop(source);
        let device = if from == MemoryNode::HOST { to } else { from };
        let there_ns = self.at(handle, from).arrives_ns;
        let now_ns = self.now_ns;
        let link = self.link(device);
        let start_ns = now_ns.max(there_ns).max(link.free_ns);
        let end_ns = start_ns + all.spec(device).transfer_ns(bytes);
        link.free_ns = end_ns;
        let stats = &mut link.stats;
        *match kind {
            TransferKind::Fetch => &mut stats.fetched_bytes,
            TransferKind::Prefetch => &mut stats.prefetched_bytes,
            TransferKind::Return => &mut stats.returned_bytes,
            TransferKind::WriteBack => &mut stats.written_back_bytes,
        } += bytes;
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
            ..ABSENT
        };
        let link = self.link(node);
        link.used_bytes += bytes;
        link.stats.peak_bytes = link.stats.peak_bytes.max(link.used_bytes);
        link.by_use.insert((0, handle.0));
        Ok(())
    }

    fn free(&mut self, handle: Handle, node: MemoryNode) {
        let all = self.all;
        let mut changes = SmallVec::<[Change; 2]>::new();
        all.store
            .on(node)
            .free(handle, |change| changes.push(change));
        self.note(handle, changes);
        let Replica {
            bytes, used, pins, ..
        } = *self.at(handle, node);
        *self.at(handle, node) = Replica { pins, ..ABSENT };
        let link = self.link(node);
        link.used_bytes -= bytes.unwrap_or(0);
        link.by_use.remove(&(used, handle.0));
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
