//! Replicas on devices that are there: rooms of their memory, and copies that go on behind.
//!
//! Takes a handle and its device, under the lock of all states; gives it room, or asks for a copy. Knows no task.

use super::work::Work;
use super::{Replica, Validity};
use crate::machine::real::{RealNode, Transfer, Urgency};
use crate::observer::TransferKind;
use crate::spec::Handle;
use crate::store::{Change, MemoryNode, OutOfMemory};
use smallvec::SmallVec;
use std::sync::Arc;

impl Work<'_, '_> {
    /// Gives `handle` a room on a real device. Others go until there is one: those that need no copy at once, an owner when its bytes
    /// are on the host. For what is only brought ahead nobody waits.
    pub(super) fn allocate_real(
        &mut self,
        real: &RealNode,
        handle: Handle,
        node: MemoryNode,
        bytes: u64,
        kind: TransferKind,
    ) -> Result<(), OutOfMemory> {
        let room = loop {
            if let Some(room) = real.take(bytes) {
                break room;
            }
            let full = OutOfMemory {
                bytes: bytes as usize,
            };
            let victim = self.victim(node, kind).ok_or(full)?;
            let replica = self.at(victim, node);
            // A room is free when nothing moves to or from it any more.
            let mut leaves: SmallVec<[Arc<Transfer>; 2]> =
                replica.arrival.iter().cloned().collect();
            let pending = &self.at(victim, MemoryNode::HOST).pending;
            leaves.extend(pending.iter().cloned());
            let replica = self.at(victim, node);
            if replica.validity == Validity::Owner {
                if kind == TransferKind::Prefetch {
                    return Err(full);
                }
                self.discard(victim, node);
                leaves.extend(self.at(victim, MemoryNode::HOST).arrival.clone());
            } else {
                self.discard(victim, node);
            }
            self.link(node).stats.evictions += 1;
            if kind == TransferKind::Fetch {
                // Whoever needs these bytes will hear of a failure.
                leaves.iter().for_each(|transfer| drop(transfer.wait()));
            }
        };
        let pins = self.at(handle, node).pins;
        *self.at(handle, node) = Replica {
            bytes: Some(bytes),
            pins,
            room: Some(room),
            ..Replica::ABSENT
        };
        self.count_real(handle, node, bytes as i64);
        let link = self.link(node);
        link.stats.peak_bytes = link.stats.peak_bytes.max(link.used_bytes);
        link.by_use.insert((0, handle.0));
        Ok(())
    }

    /// Notes that a real device has `delta_bytes` more.
    pub(super) fn count_real(&mut self, handle: Handle, node: MemoryNode, delta_bytes: i64) {
        let link = self.link(node);
        link.used_bytes = link.used_bytes.saturating_add_signed(delta_bytes);
        let change = Change {
            memory: node,
            delta_bytes,
            after_bytes: link.used_bytes,
        };
        self.note(handle, smallvec::smallvec![change]);
    }

    /// The owner's content to the host, some time before the end of the run; the device's replica stays.
    pub(super) fn send_home(&mut self, real: &RealNode, handle: Handle, node: MemoryNode) {
        let replica = self.at(handle, node);
        if replica.validity == Validity::Owner && replica.room.is_some() {
            let (way, kind) = ((node, MemoryNode::HOST), TransferKind::WriteBack);
            self.copy_real(real, handle, way, kind, Urgency::Behind);
        }
    }

    /// Asks for a copy between the host and a real device, or to it from a peer.
    pub(super) fn transfer_real(
        &mut self,
        real: &RealNode,
        handle: Handle,
        from: MemoryNode,
        to: MemoryNode,
        kind: TransferKind,
    ) {
        self.copy_real(real, handle, (from, to), kind, Urgency::Now);
    }

    fn copy_real(
        &mut self,
        real: &RealNode,
        handle: Handle,
        (from, to): (MemoryNode, MemoryNode),
        kind: TransferKind,
        urgency: Urgency,
    ) {
        let device = if to == MemoryNode::HOST { from } else { to };
        let replica = self.at(handle, device);
        let room = replica
            .room
            .clone()
            .expect("a replica with bytes has a room");
        let bytes = replica.bytes.expect("a replica with a room has bytes");
        let before = self.at(handle, from).arrival.clone();
        let ticks = (self.all.ticks)();
        let source = (device != from).then(|| self.all.real(from)).flatten();
        let peer = source.map(|source| {
            let room = self.at(handle, from).room.clone();
            source.as_peer(room.expect("a replica with bytes has a room"))
        });
        let stats = &mut self.link(device).stats;
        match peer {
            Some(_) => stats.peer_bytes += bytes,
            None => stats.count(kind, bytes),
        }
        let what = (handle, kind);
        let transfer = real.begin(what, (from, to), (room, peer), before, (urgency, ticks));
        self.at(handle, from).validity = Validity::Shared;
        let target = self.at(handle, to);
        target.validity = Validity::Shared;
        target.arrival = Some(transfer.clone());
        self.pend(handle, transfer);
    }

    /// Asks for zeros in the room of a replica.
    pub(super) fn clear_real(&mut self, real: &RealNode, handle: Handle, node: MemoryNode) {
        let replica = self.at(handle, node);
        let room = replica
            .room
            .clone()
            .expect("a replica with bytes has a room");
        let transfer = real.begin_clear(room);
        self.at(handle, node).arrival = Some(transfer.clone());
        self.pend(handle, transfer);
    }

    /// Who changes the content waits for `transfer` first.
    fn pend(&mut self, handle: Handle, transfer: Arc<Transfer>) {
        let pending = &mut self.at(handle, MemoryNode::HOST).pending;
        pending.retain(|transfer| !transfer.is_done());
        pending.push(transfer);
    }
}
