//! Perfetto, decoded by prost: every packet is well-formed, every number refers to something that was said before, slices
//! nest, and what comes out is what the tables hold.

mod common;

use common::samples::helped;
use common::{Shape, random, stream};
use prost::bytes::Buf;
use prost::encoding::{WireType, decode_key, decode_varint};
use std::collections::HashMap;
use treeqr_profiling::export::{Dependencies, ExportOptions};
use treeqr_profiling::trace::Trace;

/// A field's value, as its wire type says.
#[derive(Clone, Debug)]
enum Value {
    Varint(u64),
    Fixed(u64),
    Block(Vec<u8>),
}

/// A message: fields by number, repeated ones in their order.
#[derive(Clone, Debug, Default)]
struct Message(HashMap<u32, Vec<Value>>);

impl Message {
    fn new(mut bytes: &[u8]) -> Self {
        let mut message = Message::default();
        while bytes.has_remaining() {
            let (field, wire) = decode_key(&mut bytes).unwrap();
            let value = match wire {
                WireType::Varint => Value::Varint(decode_varint(&mut bytes).unwrap()),
                WireType::SixtyFourBit => Value::Fixed(bytes.get_u64_le()),
                WireType::LengthDelimited => {
                    let length = decode_varint(&mut bytes).unwrap() as usize;
                    Value::Block(bytes.copy_to_bytes(length).to_vec())
                }
                other => panic!("{other:?}"),
            };
            message.0.entry(field).or_default().push(value);
        }
        message
    }

    fn all(&self, field: u32) -> &[Value] {
        self.0.get(&field).map_or(&[], Vec::as_slice)
    }

    fn number(&self, field: u32) -> Option<u64> {
        match self.all(field) {
            [] => None,
            [Value::Varint(value) | Value::Fixed(value)] => Some(*value),
            other => panic!("field {field}: {other:?}"),
        }
    }

    fn blocks(&self, field: u32) -> impl Iterator<Item = &[u8]> {
        self.all(field).iter().map(|value| match value {
            Value::Block(bytes) => bytes.as_slice(),
            other => panic!("{other:?}"),
        })
    }

    fn messages(&self, field: u32) -> Vec<Message> {
        self.blocks(field).map(Message::new).collect()
    }

    fn message(&self, field: u32) -> Option<Message> {
        self.messages(field).pop()
    }

    fn text(&self, field: u32) -> Option<String> {
        let bytes = self.blocks(field).last()?;
        Some(String::from_utf8(bytes.to_vec()).unwrap())
    }
}

#[derive(Debug)]
struct Slice {
    track: u64,
    name: String,
    category: String,
    start: u64,
    end: u64,
    annotations: HashMap<String, Value>,
    leave: Vec<u64>,
    arrive: Vec<u64>,
}

impl Slice {
    fn number(&self, name: &str) -> Option<u64> {
        match self.annotations.get(name)? {
            Value::Varint(value) => Some(*value),
            other => panic!("{other:?}"),
        }
    }
}

#[derive(Default)]
struct Decoded {
    /// Name (of the thread or process where it is one) and parent.
    tracks: HashMap<u64, (String, Option<u64>)>,
    threads: Vec<u64>,
    slices: Vec<Slice>,
    /// Track, time, value.
    counters: Vec<(u64, u64, f64)>,
}

fn numbers(message: &Message, field: u32) -> Vec<u64> {
    let number = |value: &Value| match value {
        Value::Fixed(value) => *value,
        other => panic!("{other:?}"),
    };
    message.all(field).iter().map(number).collect()
}

fn decode(trace: &Trace, dependencies: Dependencies) -> Decoded {
    let options = ExportOptions {
        dependencies,
        ..ExportOptions::default()
    };
    let file = Message::new(&stream("perfetto", trace, &options));
    assert_eq!(
        file.0.keys().collect::<Vec<_>>(),
        [&1],
        "packets and nothing else"
    );
    let mut decoded = Decoded::default();
    let mut interned: HashMap<(u32, u64), String> = HashMap::new();
    let mut open: HashMap<u64, Vec<Slice>> = HashMap::new();
    let mut latest: HashMap<u64, u64> = HashMap::new();
    for packet in file.messages(1) {
        assert_eq!(packet.number(10), Some(1), "one sequence");
        if let Some(data) = packet.message(12) {
            assert_eq!(packet.number(13), Some(3), "it begins the state");
            for kind in 1..=3 {
                for entry in data.messages(kind) {
                    let iid = entry.number(1).filter(|&iid| iid > 0).unwrap();
                    assert!(
                        interned
                            .insert((kind, iid), entry.text(2).unwrap())
                            .is_none()
                    );
                }
            }
        }
        if let Some(track) = packet.message(60) {
            let (thread, process) = (track.message(4), track.message(3));
            let name = track.text(2);
            let name = name.or_else(|| thread.as_ref().and_then(|thread| thread.text(5)));
            let name = name
                .or_else(|| process.and_then(|process| process.text(6)))
                .unwrap();
            let uuid = track.number(1).unwrap();
            let parent = track.number(5);
            assert!(
                parent.is_none_or(|parent| decoded.tracks.contains_key(&parent)),
                "{name}"
            );
            decoded.threads.extend(thread.is_some().then_some(uuid));
            assert!(decoded.tracks.insert(uuid, (name, parent)).is_none());
        }
        let Some(event) = packet.message(11) else {
            continue;
        };
        let (time, track) = (packet.number(8).unwrap(), event.number(11).unwrap());
        assert!(decoded.tracks.contains_key(&track));
        let last = latest.insert(track, time);
        assert!(
            last.is_none_or(|last| last <= time),
            "back on track {track}"
        );
        match event.number(9).unwrap() {
            1 => {
                assert_eq!(packet.number(13), Some(2), "it uses interned names");
                let annotation = |a: Message| {
                    let value = [3, 4, 6].iter().find_map(|f| a.all(*f).first().cloned());
                    (interned[&(3, a.number(1).unwrap())].clone(), value.unwrap())
                };
                open.entry(track).or_default().push(Slice {
                    track,
                    name: interned[&(2, event.number(10).unwrap())].clone(),
                    category: interned[&(1, event.number(3).unwrap())].clone(),
                    start: time,
                    end: time,
                    annotations: event.messages(4).into_iter().map(annotation).collect(),
                    leave: numbers(&event, 47),
                    arrive: numbers(&event, 48),
                });
            }
            2 => {
                let slice = open
                    .get_mut(&track)
                    .and_then(Vec::pop)
                    .expect("an open slice");
                decoded.slices.push(Slice { end: time, ..slice });
            }
            4 => {
                let double = event.number(44).map(f64::from_bits);
                let value = event
                    .number(30)
                    .map(|v| v as i64 as f64)
                    .or(double)
                    .unwrap();
                decoded.counters.push((track, time, value));
            }
            other => panic!("an event of type {other}"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "slices are open");
    decoded
}

/// The generator's phases begin 9000 ns before the recorder.
const SHIFT: u64 = 9000;

#[test]
fn slices_are_the_tasks_states_phases_and_transfers() {
    for seed in 0..10 {
        let trace = random(Shape::small(seed));
        let tables = &trace.tables;
        let decoded = decode(&trace, Dependencies::None);
        let of = |category: &'static str| {
            decoded
                .slices
                .iter()
                .filter(move |s| s.category == category)
        };
        assert_eq!(of("task").count(), tables.tasks.len());
        for slice in of("task") {
            let task = &tables.tasks[slice.number("task").unwrap() as usize];
            assert_eq!(slice.name, tables.codelets[usize::from(task.codelet)].name);
            assert_eq!(
                (slice.start, slice.end),
                (task.start_ns + SHIFT, task.end_ns + SHIFT)
            );
            assert!(decoded.threads.contains(&slice.track));
            let worker = &tables.workers[usize::from(task.worker)];
            assert_eq!(decoded.tracks[&slice.track].0, worker.name);
            assert_eq!(slice.number("node"), Some(task.node.into()));
            assert_eq!(slice.number("panel"), task.panel.map(u64::from));
            assert_eq!(slice.number("tile_row"), task.tile_row.map(u64::from));
            assert_eq!(slice.number("tile_col"), task.tile_col.map(u64::from));
            assert_eq!(slice.number("child"), task.child.map(u64::from));
            assert_eq!(slice.number("flops"), Some(task.flops));
            assert_eq!(slice.number("priority").unwrap() as i64, task.priority);
            assert_eq!(
                slice.number("ready_to_start_ns"),
                Some(task.start_ns - task.ready_ns)
            );
            assert!(slice.leave.is_empty() && slice.arrive.is_empty());
        }
        let mut states: Vec<_> = of("state")
            .map(|s| (s.name.clone(), s.start, s.end))
            .collect();
        let rows = tables.states.iter();
        let mut rows: Vec<_> = rows
            .map(|s| (s.state.to_string(), s.start_ns + SHIFT, s.end_ns + SHIFT))
            .collect();
        states.sort();
        rows.sort();
        assert_eq!(states, rows);
        let phases: Vec<_> = of("phase")
            .map(|s| (s.name.as_str(), s.start, s.end - s.start))
            .collect();
        let end = trace.manifest.run.end_ns;
        assert_eq!(
            phases,
            [
                ("ordering", 1000, 3000),
                ("analyse", 0, 8900),
                ("factorize", SHIFT, end)
            ]
        );
        assert_eq!(of("transfer").count(), tables.transfers.len());
        assert!(of("transfer").all(|s| s.number("bytes") == Some(4096) && s.end - s.start == 700));
    }
}

#[test]
fn helpers_have_slices_on_their_own_tracks() {
    for seed in 0..4 {
        let trace = helped(seed);
        let tables = &trace.tables;
        let decoded = decode(&trace, Dependencies::None);
        let of = |category: &str| {
            let slices = decoded.slices.iter();
            slices.filter(move |s| s.category == category).count()
        };
        assert_eq!(
            (of("task"), of("state")),
            (tables.tasks.len(), tables.states.len())
        );
        let mut found: Vec<_> = decoded
            .slices
            .iter()
            .filter(|s| s.category == "helps")
            .map(|s| {
                let track = decoded.tracks[&s.track].0.clone();
                (
                    s.start,
                    track,
                    s.name.clone(),
                    s.end,
                    s.number("task"),
                    s.number("parts"),
                )
            })
            .collect();
        let mut rows: Vec<_> = tables
            .shares
            .iter()
            .map(|s| {
                let task = &tables.tasks[s.task as usize];
                let (start, end) = (s.start_ns + SHIFT, s.end_ns + SHIFT);
                let worker = tables.workers[usize::from(s.worker)].name.clone();
                let name = tables.codelets[usize::from(task.codelet)].name.clone();
                (
                    start,
                    worker,
                    name,
                    end,
                    Some(s.task.into()),
                    Some(s.parts.into()),
                )
            })
            .collect();
        found.sort();
        rows.sort();
        assert_eq!(found, rows);
    }
}

/// Two threads at work on the program: their steps share no track.
#[test]
fn phases_that_cross_have_tracks_of_their_own() {
    let mut trace = random(Shape::small(2));
    trace.tables.phases[1].end_ns = 50;
    let decoded = decode(&trace, Dependencies::None);
    let phases = decoded
        .slices
        .iter()
        .filter(|slice| slice.category == "phase");
    let phases: Vec<_> = phases
        .map(|s| (s.name.as_str(), s.start, s.end - s.start))
        .collect();
    assert!(phases.contains(&("ordering", 1000, 8050)), "{phases:?}");
    assert_eq!(phases.len(), 3);
}

#[test]
fn counters_end_where_the_tables_do() {
    let trace = random(Shape::small(7));
    let decoded = decode(&trace, Dependencies::None);
    let of = |name: &str| {
        let (track, _) = decoded.tracks.iter().find(|(_, (n, _))| n == name).unwrap();
        decoded
            .counters
            .iter()
            .filter(|c| c.0 == *track)
            .map(|c| (c.1, c.2))
            .collect::<Vec<_>>()
    };
    let last_end = trace
        .tables
        .tasks
        .iter()
        .map(|task| task.end_ns)
        .max()
        .unwrap();
    assert_eq!(of("submitted tasks").last(), Some(&(last_end + SHIFT, 0.0)));
    assert_eq!(of("ready tasks").last().unwrap().1, 0.0);
    let peak = trace
        .tables
        .memory
        .iter()
        .map(|row| row.after_bytes)
        .max()
        .unwrap() as f64;
    let held = of("memory node 0");
    assert_eq!(
        held.last().unwrap().1,
        trace.tables.memory.last().unwrap().after_bytes as f64
    );
    assert!(held.iter().all(|(_, value)| *value <= peak));
    let steps = of("GFlop/s");
    let integral: f64 = steps
        .windows(2)
        .map(|w| w[0].1 * (w[1].0 - w[0].0) as f64)
        .sum();
    let timed = trace
        .tables
        .tasks
        .iter()
        .filter(|task| task.end_ns > task.start_ns);
    let flops: f64 = timed.map(|task| task.flops as f64).sum();
    assert!((integral - flops).abs() <= 1e-9 * flops);
}

#[test]
fn flows_join_two_tasks_each() {
    for seed in 0..8 {
        let trace = random(Shape::small(seed));
        let mut edges: Vec<(u64, u64)> = trace
            .tables
            .dependencies
            .iter()
            .map(|d| (d.predecessor.into(), d.task.into()))
            .collect();
        edges.sort();
        for dependencies in [Dependencies::All, Dependencies::Critical] {
            let decoded = decode(&trace, dependencies);
            let (mut leave, mut arrive) = (HashMap::new(), HashMap::new());
            for slice in &decoded.slices {
                let task = slice.number("task");
                for flow in &slice.leave {
                    assert!(
                        leave.insert(*flow, task.unwrap()).is_none(),
                        "a flow must not fork"
                    );
                }
                for flow in &slice.arrive {
                    assert!(arrive.insert(*flow, task.unwrap()).is_none());
                }
            }
            let mut flows: Vec<_> = leave
                .iter()
                .map(|(flow, from)| (*from, arrive[flow]))
                .collect();
            flows.sort();
            match dependencies {
                Dependencies::All => assert_eq!(flows, edges),
                _ => {
                    assert!(
                        flows.windows(2).all(|pair| pair[0].1 == pair[1].0),
                        "a path"
                    );
                    assert!(flows.iter().all(|edge| edges.contains(edge)));
                }
            }
        }
    }
}
