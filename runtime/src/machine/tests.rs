//! Replicas and transfers of hand-made sequences of tasks, with every state and time computed by hand.

use super::coherence::{Coherence, Event, Refusal, Side};
use super::device::DeviceSpec;
use crate::observer::TransferKind::{self, Fetch, Prefetch, Return, WriteBack};
use crate::schedulers::Missing;
use crate::spec::{Access, CodeletId, Handle, TaskSpec};
use crate::store::{DataStore, Fill, MemoryNode, OutOfMemory};

const HOST: MemoryNode = MemoryNode::HOST;
const A: MemoryNode = MemoryNode(1);
const B: MemoryNode = MemoryNode(2);

/// 1000 bytes take 1 us of the link and 1 us of latency; two buffers of 1000 bytes fit.
const DEVICE: &str = "gpu0:bandwidth=1GB/s,latency=1us,memory=2000B";

fn devices(n: usize) -> Vec<Side> {
    let device = || DEVICE.parse::<DeviceSpec>().unwrap();
    (0..n).map(|_| Side::Emulated(device())).collect()
}

/// Handles 0, 1, ... of 1000 bytes, filled with their number plus 1.
fn filled(handles: u32) -> DataStore {
    let mut store = DataStore::new(handles as usize);
    for h in 0..handles {
        store.allocate(Handle(h), 1000).unwrap();
        store.get_mut(Handle(h)).unwrap().fill(h as u8 + 1);
    }
    store
}

fn task(accesses: &[(u32, Access)]) -> TaskSpec {
    let mut spec = TaskSpec::new(CodeletId(0), 0);
    let accesses = accesses.iter().map(|&(h, access)| (Handle(h), access));
    spec.accesses.extend(accesses);
    spec
}

fn read(h: u32) -> TaskSpec {
    task(&[(h, Access::Read)])
}

fn change(h: u32) -> TaskSpec {
    task(&[(h, Access::ReadWrite)])
}

/// A task from its first transfer to its end; when its data is there.
fn go(coherence: &Coherence<'_>, spec: &TaskSpec, node: MemoryNode, now_ns: f64) -> f64 {
    let arrival = coherence.acquire(spec, node, now_ns).unwrap();
    coherence.release(spec, node);
    arrival.ns
}

fn moved(coherence: &Coherence<'_>) -> Vec<(u32, u16, u16, TransferKind)> {
    let events = coherence.take_events().into_iter();
    let transfers = events.filter_map(|event| match event {
        Event::Transfer(t) => Some((t.handle.0, t.from.0, t.to.0, t.kind)),
        Event::Memory(..) => None,
    });
    transfers.collect()
}

#[test]
fn replicas_are_shared_and_owned() {
    let mut owned = filled(2);
    let store = owned.share(2);
    let c = Coherence::new(store, devices(2), 1.0, &|| 0);
    assert_eq!(go(&c, &read(0), HOST, 0.0), 0.0);
    assert_eq!(moved(&c), []);
    // Two devices read: two copies from the host, each over its own link.
    assert_eq!(go(&c, &read(0), A, 100.0), 2100.0);
    assert_eq!(go(&c, &read(0), B, 100.0), 2100.0);
    assert_eq!(go(&c, &read(0), A, 200.0), 2100.0, "on its way");
    assert_eq!(moved(&c), [(0, 0, 1, Fetch), (0, 0, 2, Fetch)]);
    // A changes it: nothing moves, the others are out of date and B has room again.
    assert_eq!(go(&c, &change(0), A, 3000.0), 3000.0);
    assert_eq!(moved(&c), []);
    assert_eq!(
        (store.on(A).len(Handle(0)), store.on(B).len(Handle(0))),
        (Some(1000), None)
    );
    store.on(A).write::<u8>(Handle(0)).fill(77);
    // B reads what A owns: by way of the host, over both links.
    assert_eq!(c.transfer_ns(&read(0), B, 4000.0), 4000.0);
    assert_eq!(go(&c, &read(0), B, 4000.0), 8000.0);
    assert_eq!(moved(&c), [(0, 1, 0, Return), (0, 0, 2, Fetch)]);
    assert_eq!(store.on(B).read::<u8>(Handle(0))[999], 77);
    // Overwritten on the host: nothing moves, no device keeps it.
    assert_eq!(go(&c, &task(&[(0, Access::Write)]), HOST, 9000.0), 9000.0);
    assert_eq!(moved(&c), []);
    assert_eq!(
        (store.on(A).len(Handle(0)), store.on(B).len(Handle(0))),
        (None, None)
    );
    // A scatter needs what is there, on the host.
    go(&c, &change(1), A, 10_000.0);
    let scatter = task(&[(1, Access::Scatter)]);
    assert_eq!(go(&c, &scatter, HOST, 20_000.0), 22_000.0);
    assert_eq!(moved(&c), [(1, 0, 1, Fetch), (1, 1, 0, Return)]);
    assert_eq!(c.flush(30_000.0).ns, 30_000.0);
}

#[test]
fn the_one_used_longest_ago_goes_and_an_owner_is_written_back() {
    let mut owned = filled(4);
    let store = owned.share(1);
    let c = Coherence::new(store, devices(1), 1.0, &|| 0);
    go(&c, &change(0), A, 0.0);
    go(&c, &read(1), A, 10_000.0);
    go(&c, &read(0), A, 20_000.0);
    moved(&c);
    // 1 was used longest ago, and the host has it: it is dropped.
    assert_eq!(go(&c, &read(2), A, 30_000.0), 32_000.0);
    assert_eq!(moved(&c), [(2, 0, 1, Fetch)]);
    assert_eq!(store.on(A).len(Handle(1)), None);
    // Then 0, which the device owns: it goes home first, and its place is taken after that.
    store.on(A).write::<u8>(Handle(0)).fill(50);
    assert_eq!(go(&c, &read(3), A, 40_000.0), 44_000.0);
    assert_eq!(moved(&c), [(0, 1, 0, WriteBack), (3, 0, 1, Fetch)]);
    assert_eq!(store.read::<u8>(Handle(0))[0], 50);
    let stats = c.stats()[0];
    assert_eq!((stats.evictions, stats.peak_bytes), (2, 2000));
    assert_eq!(
        (stats.fetched_bytes, stats.written_back_bytes),
        (4000, 1000)
    );
}

#[test]
fn what_a_task_holds_stays() {
    let mut owned = filled(4);
    let c = Coherence::new(owned.share(1), devices(1), 1.0, &|| 0);
    let both = task(&[(0, Access::Read), (1, Access::ReadWrite)]);
    drop(c.acquire(&both, A, 0.0).unwrap());
    let full = Refusal::Full(OutOfMemory { bytes: 1000 });
    assert_eq!(c.acquire(&read(2), A, 0.0).err(), Some(full));
    c.prefetch(&read(3), A, 0.0);
    assert_eq!(c.stats()[0].evictions, 0);
    c.release(&both, A);
    go(&c, &read(3), A, 0.0);
    assert_eq!(c.stats()[0].evictions, 1);
    assert!(!c.fits(
        &task(&[(0, Access::Read), (1, Access::Read), (2, Access::Read)]),
        A
    ));
    // The same buffer twice needs room once.
    assert!(c.fits(
        &task(&[(0, Access::Read), (1, Access::Read), (0, Access::Read)]),
        A
    ));
}

#[test]
fn what_is_brought_ahead_is_there_in_time() {
    let mut owned = filled(3);
    let c = Coherence::new(owned.share(1), devices(1), 1.0, &|| 0);
    let missing = |spec: &TaskSpec, now| c.missing(spec, A, now);
    let lacks = |invalid_bytes, not_loading_bytes, unallocated_bytes| Missing {
        invalid_bytes,
        not_loading_bytes,
        unallocated_bytes,
    };
    assert_eq!(missing(&read(0), 0.0), lacks(1000, 1000, 1000));
    assert_eq!(
        missing(&task(&[(0, Access::Write)]), 0.0),
        lacks(0, 0, 1000)
    );
    c.prefetch(&read(0), A, 0.0);
    c.prefetch(&read(1), A, 0.0);
    assert_eq!(missing(&read(1), 1000.0), lacks(1000, 0, 0));
    // One after the other over the link: there at 2 and at 4 us.
    assert_eq!(c.transfer_ns(&read(1), A, 1000.0), 3000.0);
    assert_eq!(missing(&read(1), 4000.0), lacks(0, 0, 0));
    // No room but what is on its way: a prefetch drops none of it.
    c.prefetch(&read(2), A, 1000.0);
    assert_eq!(moved(&c), [(0, 0, 1, Prefetch), (1, 0, 1, Prefetch)]);
    assert_eq!(go(&c, &read(0), A, 1000.0), 2000.0);
    assert_eq!(go(&c, &read(1), A, 9000.0), 9000.0);
    c.prefetch(&read(2), A, 9000.0);
    assert_eq!(moved(&c), [(2, 0, 1, Prefetch)]);
}

/// Tasks of one group of scatters, which the graph does not order: the buffer goes from one node to the next, whole.
#[test]
fn scatterers_on_several_nodes_wait_for_each_other() {
    let mut owned = filled(1);
    let store = owned.share(2);
    let c = Coherence::new(store, devices(2), 1.0, &|| 0);
    let scatter = task(&[(0, Access::Scatter)]);
    let on = |node, from: usize| {
        let tile = store.on(node).scatter::<u64>(Handle(0));
        tile.write_run(from, &[7; 20]);
    };
    drop(c.acquire(&scatter, A, 0.0).unwrap());
    // Beside it on the same node, but on no other.
    drop(c.acquire(&scatter, A, 0.0).unwrap());
    for other in [HOST, B] {
        let refused = c.acquire(&scatter, other, 0.0).err();
        assert_eq!(refused, Some(Refusal::Busy));
        // Nor is it brought ahead under their hands.
        c.prefetch(&scatter, other, 0.0);
    }
    assert_eq!(moved(&c), [(0, 0, 1, Fetch)]);
    on(A, 0);
    on(A, 20);
    c.release(&scatter, A);
    assert!(c.acquire(&scatter, B, 5000.0).is_err(), "one is left");
    c.release(&scatter, A);
    drop(c.acquire(&scatter, B, 5000.0).unwrap());
    on(B, 40);
    c.release(&scatter, B);
    drop(c.acquire(&scatter, HOST, 9000.0).unwrap());
    on(HOST, 60);
    c.release(&scatter, HOST);
    let all = [(0, 1, 0, Return), (0, 0, 2, Fetch), (0, 2, 0, Return)];
    assert_eq!(moved(&c), all);
    let bytes = store.read::<u8>(Handle(0));
    let mut expected = [1; 1000];
    for word in expected[..640].chunks_mut(8) {
        word.copy_from_slice(&7u64.to_ne_bytes());
    }
    assert_eq!(bytes[..], expected);
}

/// A codelet that only waits: its reads move nothing and hold nothing.
#[test]
fn who_only_waits_needs_no_data() {
    let mut owned = filled(2);
    let c = Coherence::new(owned.share(1), devices(1), 1.0, &|| 0).with_waits(vec![true, false]);
    go(&c, &change(0), A, 0.0);
    go(&c, &change(1), A, 0.0);
    moved(&c);
    let mut waits = task(&[(0, Access::Read), (1, Access::ReadWrite)]);
    assert_eq!(c.transfer_ns(&waits, HOST, 9000.0), 2000.0);
    assert_eq!(go(&c, &waits, HOST, 9000.0), 11_000.0);
    assert_eq!(moved(&c), [(1, 1, 0, Return)]);
    waits.codelet = CodeletId(1);
    assert_eq!(go(&c, &waits, HOST, 20_000.0), 22_000.0);
    assert_eq!(moved(&c), [(0, 1, 0, Return)]);
}

/// What the host has allocated and nobody has written: no byte moves until somebody writes.
#[test]
fn what_nobody_has_written_does_not_move() {
    let mut owned = DataStore::new(3);
    let store = owned.share(2);
    let c = Coherence::new(store, devices(2), 1.0, &|| 0);
    let allocate = |h: u32, fill| {
        let write = task(&[(h, Access::Write)]);
        drop(c.acquire(&write, HOST, 0.0).unwrap());
        store.allocate(Handle(h), 1000, fill, |_| {}).unwrap();
        c.release(&write, HOST);
    };
    allocate(0, Fill::ZEROS);
    allocate(1, Fill::Anything);
    assert_eq!(c.transfer_ns(&change(0), A, 0.0), 0.0);
    assert_eq!(c.missing(&change(0), A, 0.0).invalid_bytes, 0);
    // Read on one device, changed on the other.
    assert_eq!(go(&c, &read(0), A, 100.0), 100.0);
    assert_eq!(store.on(A).read::<u8>(Handle(0))[..], [0; 1000]);
    assert_eq!(go(&c, &change(0), B, 200.0), 200.0);
    assert_eq!(go(&c, &change(1), B, 300.0), 300.0);
    assert_eq!(moved(&c), []);
    let stats = c.stats();
    let cleared = [stats[0].cleared_bytes, stats[1].cleared_bytes];
    assert_eq!(cleared, [1000, 1000]);
    // Now it is written, and goes home as any other; and so from then on.
    store.on(B).write::<u8>(Handle(0)).fill(5);
    go(&c, &read(0), A, 400.0);
    go(&c, &change(0), HOST, 5000.0);
    go(&c, &read(0), A, 6000.0);
    let all = [(0, 2, 0, Return), (0, 0, 1, Fetch), (0, 0, 1, Fetch)];
    assert_eq!(moved(&c), all);
    assert_eq!(store.on(A).read::<u8>(Handle(0))[..], [5; 1000]);
    // On the host one word is enough.
    allocate(2, Fill::ZEROS);
    store.scatter::<u64>(Handle(2)).set(3, 9);
    go(&c, &read(2), B, 9000.0);
    assert_eq!(moved(&c), [(2, 0, 2, Fetch)]);
    assert_eq!(store.on(B).read::<u64>(Handle(2))[3], 9);
}

#[test]
fn the_end_brings_everything_home() {
    let mut owned = filled(2);
    {
        let store = owned.share(2);
        let c = Coherence::new(store, devices(2), 2.0, &|| 0);
        go(&c, &change(0), A, 0.0);
        go(&c, &change(1), B, 0.0);
        store.on(A).write::<u8>(Handle(0)).fill(60);
        store.on(B).write::<u8>(Handle(1)).fill(61);
        assert_eq!(c.flush(10_000.0).ns, 12_000.0);
        let waits = c.take_events().into_iter().filter_map(|event| match event {
            Event::Transfer(t) => Some((t.wait_ns, t.duration_ns)),
            Event::Memory(..) => None,
        });
        // Twice as slow as on the machine that is emulated.
        assert!(waits.eq([(0, 4000); 4]));
    }
    assert_eq!(owned.get(Handle(0)).unwrap()[500], 60);
    assert_eq!(owned.get(Handle(1)).unwrap()[500], 61);
    assert_eq!(owned.bytes(), 2000);
}
