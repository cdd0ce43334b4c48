//! Replicas under the lock of all states: which is valid, who gives way, what moves.
//!
//! Takes a handle and a node; changes states, asks for copies or makes them. Knows no task.

use super::{Coherence, Event, Link, Replica, Side, State, Validity};
use crate::observer::{TransferKind, TransferRecord};
use crate::spec::Handle;
use crate::store::{Change, Fill, MemoryNode, OutOfMemory};
use smallvec::SmallVec;

/// Under the lock.
pub(super) struct Work<'w, 'r> {
    pub(super) all: &'w Coherence<'r>,
    pub(super) state: crate::sync::MutexGuard<'w, State>,
    pub(super) now_ns: f64,
}

impl Work<'_, '_> {
    pub(super) fn at(&mut self, handle: Handle, node: MemoryNode) -> &mut Replica {
        let nodes = self.state.nodes;
        &mut self.state.replicas[handle.0 as usize * nodes + usize::from(node.0)]
    }

    pub(super) fn link(&mut self, node: MemoryNode) -> &mut Link {
        &mut self.state.links[usize::from(node.0) - 1]
    }

    /// Bytes of the buffer, if there is one.
    pub(super) fn size(&self, handle: Handle) -> Option<u64> {
        self.all.store.len(handle).map(|bytes| bytes as u64)
    }

    /// Where `node` gets the bytes of `handle` from if the host does not have them: from a peer if one does.
    pub(super) fn holder(&mut self, handle: Handle, node: MemoryNode) -> Option<MemoryNode> {
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
    pub(super) fn are_peers(&self, node: MemoryNode, other: MemoryNode) -> bool {
        self.all.real(node).is_some_and(|real| real.is_peer(other))
    }

    /// Whether a task on another node uses `handle`.
    pub(super) fn is_held_elsewhere(&mut self, handle: Handle, node: MemoryNode) -> bool {
        let mut nodes = (0..self.state.nodes as u16).map(MemoryNode);
        nodes.any(|other| other != node && self.at(handle, other).pins > 0)
    }

    /// What `handle` was filled with on the host, if nobody has written it anywhere since then.
    pub(super) fn untouched(&mut self, handle: Handle) -> Option<Fill> {
        let host = self.at(handle, MemoryNode::HOST);
        // Bytes on their way to the host have not touched it yet.
        match host.validity != Validity::Invalid && host.arrival.is_none() {
            true => self.all.store.untouched(handle),
            false => None,
        }
    }

    /// Gives `handle` room on `node` and, if `needs`, its valid bytes.
    pub(super) fn bring(
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
    pub(super) fn begin_untouched(
        &mut self,
        handle: Handle,
        node: MemoryNode,
        fill: Fill,
        bytes: u64,
    ) {
        if fill == Fill::ZEROS {
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
    pub(super) fn own(&mut self, handle: Handle, node: MemoryNode) {
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
    pub(super) fn make_room(
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
    pub(super) fn victim(&mut self, node: MemoryNode, kind: TransferKind) -> Option<Handle> {
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
    pub(super) fn discard(&mut self, handle: Handle, node: MemoryNode) {
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

    pub(super) fn transfer(
        &mut self,
        handle: Handle,
        from: MemoryNode,
        to: MemoryNode,
        kind: TransferKind,
    ) {
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

    pub(super) fn allocate(
        &mut self,
        handle: Handle,
        node: MemoryNode,
        bytes: u64,
    ) -> Result<(), OutOfMemory> {
        let all = self.all;
        let mut changes = SmallVec::<[Change; 2]>::new();
        all.store
            .on(node)
            .allocate(handle, bytes as usize, Fill::ZEROS, |change| {
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

    pub(super) fn free(&mut self, handle: Handle, node: MemoryNode) {
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

    pub(super) fn note(&mut self, handle: Handle, changes: SmallVec<[Change; 2]>) {
        let ticks = (self.all.ticks)();
        let events = changes
            .into_iter()
            .map(|change| Event::Memory(ticks, handle, change));
        self.state.events.extend(events);
    }

    /// `handle` is used on `node` now.
    pub(super) fn touch(&mut self, handle: Handle, node: MemoryNode) {
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
