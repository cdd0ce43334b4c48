//! Perfetto's protocol-buffer trace, for ui.perfetto.dev and trace_processor. The run is a process, a worker a thread.
//!
//! | track | slices or values |
//! | --- | --- |
//! | a worker | its tasks, named by codelet, with what is known of each as debug annotations; others' tasks that it helped with |
//! | below a worker | what it did without a task; what the kernel did with its thread, where that was recorded |
//! | the submission, the phases | why it waited; the steps of the program |
//! | transfers between two memory nodes | one slice a transfer |
//! | counters | ready and submitted tasks, bytes held by each memory node, GFlop/s of all workers |
//!
//! Dependencies are flows. Times are nanoseconds; where the program began before its recorder, all are shifted so that
//! none is negative. The field numbers are those of protos/perfetto/trace at v59.

use super::lanes::{Span, marks, spread};
use super::proto::Message;
use super::series::{self, Step};
use super::view::View;
use super::{ExportEntry, ExportError, ExportOptions, Form, links};
use crate::inspect::Piece;
use crate::trace::Trace;
use crate::trace::schema::{SwitchReason, ThreadState};
use std::io::{self, Write};

pub(super) const ENTRY: ExportEntry = ExportEntry {
    name: "perfetto",
    about: "A Perfetto trace, for ui.perfetto.dev and its SQL",
    ending: "pftrace",
    form: Form::File(write),
};

/// Debug annotations of a task, in the order of their interned numbers from 1.
const ANNOTATIONS: [&str; 13] = [
    "task",
    "node",
    "priority",
    "panel",
    "tile_row",
    "tile_col",
    "child",
    "flops",
    "bytes",
    "ready_to_start_ns",
    "reason",
    "handle",
    "parts",
];
const REASON: u64 = 11;
const HANDLE: u64 = 12;
const PARTS: u64 = 13;

/// Categories, by their interned numbers from 1.
const CATEGORIES: [&str; 5] = ["task", "state", "phase", "transfer", "helps"];

#[derive(Clone, Copy)]
enum Category {
    Task = 1,
    State = 2,
    Phase = 3,
    Transfer = 4,
    Helps = 5,
}

/// Tracks: numbers that no other has.
const PROCESS: u64 = 1;
const SUBMISSION: u64 = 2;
const PHASES: u64 = 3;
const READY: u64 = 4;
const SUBMITTED: u64 = 5;
const RATE: u64 = 6;
const FIRST_FREE: u64 = 16;

fn write(trace: &Trace, options: &ExportOptions, out: &mut dyn Write) -> Result<(), ExportError> {
    let view = View::new(trace);
    if view.tasks().is_empty() {
        return Err(ExportError::NeedsTimes { export: ENTRY.name });
    }
    let mut writer = Writer::new(&view, out);
    writer.process()?;
    writer.names()?;
    let mut flows = Flows::new(links::chosen(&view, options.dependencies));
    writer.tasks(&mut flows)?;
    writer.states()?;
    writer.switches()?;
    writer.phases()?;
    writer.transfers()?;
    writer.counters()
}

struct Writer<'w, 't> {
    view: &'w View<'t>,
    out: &'w mut dyn Write,
    packet: Message,
    /// Interned names of events, by number from 1.
    names: Vec<String>,
    /// Interned number of each codelet's name, by codelet.
    codelet_iids: Vec<u64>,
    /// What is added to all times.
    shift_ns: u64,
    next_track: u64,
}

impl<'w, 't> Writer<'w, 't> {
    fn new(view: &'w View<'t>, out: &'w mut dyn Write) -> Self {
        let earliest = view.trace.tables.phases.iter().map(|phase| phase.start_ns);
        let shift_ns = earliest.min().unwrap_or(0).min(0).unsigned_abs();
        let mut names: Vec<String> = Vec::new();
        let mut codelet_iids = Vec::new();
        for (number, name) in view.codelets() {
            names.push(name.to_string());
            codelet_iids.resize(usize::from(number) + 1, 0);
            codelet_iids[usize::from(number)] = names.len() as u64;
        }
        names.extend(ThreadState::ALL.iter().map(|state| state.to_string()));
        names.extend(SwitchReason::ALL.iter().map(|reason| reason.to_string()));
        names.extend(view.trace.tables.phases.iter().map(|row| row.phase.clone()));
        names.push("transfer".to_owned());
        // A few dozen, so that looking for one takes no time.
        Writer {
            view,
            out,
            packet: Message::default(),
            names,
            codelet_iids,
            shift_ns,
            next_track: FIRST_FREE,
        }
    }

    fn iid(&self, name: &str) -> u64 {
        let found = self.names.iter().position(|known| known == name);
        found.expect("all names were interned") as u64 + 1
    }

    /// One packet of the only sequence.
    fn packet(&mut self, fill: impl FnOnce(&mut Message)) -> io::Result<()> {
        self.packet.clear();
        self.packet.message(1, |packet| {
            packet.varint(10, 1);
            fill(packet);
        });
        self.out.write_all(self.packet.bytes())
    }

    fn track(&mut self, uuid: u64, fill: impl FnOnce(&mut Message)) -> io::Result<()> {
        self.packet(|packet| {
            packet.message(60, |track| {
                track.varint(1, uuid);
                fill(track);
            });
        })
    }

    fn new_track(&mut self, parent: u64, name: &str) -> io::Result<u64> {
        let uuid = self.next_track;
        self.next_track += 1;
        self.track(uuid, |track| {
            track.text(2, name);
            track.varint(5, parent);
        })?;
        Ok(uuid)
    }

    fn counter(&mut self, uuid: u64, name: &str, unit: u64) -> io::Result<()> {
        self.track(uuid, |track| {
            track.text(2, name);
            track.varint(5, PROCESS);
            track.message(8, |counter| match unit {
                0 => counter.text(6, "GFlop/s"),
                unit => counter.varint(3, unit),
            });
        })
    }

    /// The tracks whose numbers are fixed, and one thread a worker.
    fn process(&mut self) -> io::Result<()> {
        let (title, view) = (self.view.title(), self.view);
        self.track(PROCESS, |track| {
            track.message(3, |process| {
                process.varint(1, 1);
                for word in &view.trace.manifest.command {
                    process.text(2, word);
                }
                process.text(6, &title);
            });
        })?;
        self.thread(SUBMISSION, 1, "submission")?;
        for (k, lane) in view.workers.iter().enumerate() {
            self.thread(self.worker(k), 2 + k as u64, &lane.name)?;
        }
        self.next_track = self.worker(view.workers.len());
        self.track(PHASES, |track| {
            track.text(2, "phases");
            track.varint(5, PROCESS);
        })?;
        const COUNT: u64 = 2;
        self.counter(READY, "ready tasks", COUNT)?;
        self.counter(SUBMITTED, "submitted tasks", COUNT)?;
        self.counter(RATE, "GFlop/s", 0)
    }

    fn worker(&self, lane: usize) -> u64 {
        FIRST_FREE + lane as u64
    }

    fn thread(&mut self, uuid: u64, tid: u64, name: &str) -> io::Result<()> {
        self.track(uuid, |track| {
            track.varint(5, PROCESS);
            track.message(4, |thread| {
                thread.varint(1, 1);
                thread.varint(2, tid);
                thread.text(5, name);
            });
        })
    }

    /// The interned names: this packet begins the sequence's state.
    fn names(&mut self) -> io::Result<()> {
        let names = std::mem::take(&mut self.names);
        let done = self.packet(|packet| {
            packet.varint(13, 3);
            packet.message(12, |interned| {
                let texts = names.iter().map(String::as_str);
                table(interned, 2, texts);
                table(interned, 1, CATEGORIES.into_iter());
                table(interned, 3, ANNOTATIONS.into_iter());
            });
        });
        self.names = names;
        done
    }

    /// A beginning (with what `fill` adds) or an end.
    fn event(
        &mut self,
        time_ns: u64,
        track: u64,
        begins: Option<(Category, u64)>,
        fill: impl FnOnce(&mut Message),
    ) -> io::Result<()> {
        let time_ns = time_ns.saturating_add(self.shift_ns);
        self.packet(|packet| {
            packet.varint(8, time_ns);
            packet.varint(13, 2);
            packet.message(11, |event| {
                event.varint(11, track);
                match begins {
                    Some((category, name)) => {
                        event.varint(9, 1);
                        event.varint(3, category as u64);
                        event.varint(10, name);
                    }
                    None => event.varint(9, 2),
                }
                fill(event);
            });
        })
    }

    fn tasks(&mut self, flows: &mut Flows) -> Result<(), ExportError> {
        let view = self.view;
        let mut spans: Vec<Vec<Span>> = vec![Vec::new(); view.workers.len()];
        for (row, task) in view.tasks().iter().enumerate() {
            spans[view.lane(task.worker)].push((task.start_ns, task.end_ns, row as u32));
        }
        // Numbered after the tasks.
        let helpers = view.helpers();
        for (piece, what) in helpers.iter().zip(view.tasks().len() as u32..) {
            spans[view.lane(piece.worker)].push((piece.start_ns, piece.end_ns, what));
        }
        for (k, spans) in spans.into_iter().enumerate() {
            let track = self.worker(k);
            for mark in marks(spans, &view.workers[k].name)? {
                if !mark.begins {
                    self.event(mark.time_ns, track, None, |_| {})?;
                    continue;
                }
                let Some(task) = view.tasks().get(mark.what as usize) else {
                    let helper = &helpers[mark.what as usize - view.tasks().len()];
                    self.helper(mark.time_ns, track, helper)?;
                    continue;
                };
                let name = self.codelet_iids[usize::from(task.codelet)];
                let flows = flows.of(mark.what);
                self.event(mark.time_ns, track, Some((Category::Task, name)), |event| {
                    let known = [
                        Some(u64::from(task.task)),
                        Some(u64::from(task.node)),
                        None,
                        task.panel.map(u64::from),
                        task.tile_row.map(u64::from),
                        task.tile_col.map(u64::from),
                        task.child.map(u64::from),
                        Some(task.flops),
                        Some(task.bytes),
                        Some(task.start_ns.saturating_sub(task.ready_ns)),
                    ];
                    for (iid, value) in (1..).zip(known) {
                        if let Some(value) = value {
                            annotate(event, iid, |a| a.varint(3, value));
                        }
                    }
                    annotate(event, 3, |a| a.varint(4, task.priority as u64));
                    for (field, flow) in flows {
                        event.fixed64(field, flow);
                    }
                })?;
            }
        }
        Ok(())
    }

    /// The beginning of parts of another worker's task.
    fn helper(&mut self, time_ns: u64, track: u64, helper: &Piece<'_>) -> io::Result<()> {
        let task = helper.task;
        let name = self.codelet_iids[usize::from(task.codelet)];
        self.event(time_ns, track, Some((Category::Helps, name)), |event| {
            annotate(event, 1, |a| a.varint(3, task.task.into()));
            annotate(event, 2, |a| a.varint(3, task.node.into()));
            annotate(event, PARTS, |a| a.varint(3, helper.parts.into()));
        })
    }

    /// Slices of a track, each with the name that `name` finds for it.
    fn slices(
        &mut self,
        track: u64,
        thread: &str,
        spans: Vec<Span>,
        category: Category,
        name: impl Fn(u32) -> u64,
    ) -> Result<(), ExportError> {
        for mark in marks(spans, thread)? {
            let begins = mark.begins.then(|| (category, name(mark.what)));
            self.event(mark.time_ns, track, begins, |_| {})?;
        }
        Ok(())
    }

    fn states(&mut self) -> Result<(), ExportError> {
        let view = self.view;
        let states = &view.trace.tables.states;
        let lanes = view.workers.iter().enumerate();
        let lanes = lanes.map(|(k, lane)| (Some(lane.worker), Some(k), &*lane.name));
        for (worker, lane, thread) in lanes.chain([(None, None, "submission")]) {
            let rows = states.iter().enumerate();
            let rows = rows.filter(|(_, state)| state.worker == worker);
            let spans: Vec<Span> = rows
                .map(|(row, state)| (state.start_ns, state.end_ns, row as u32))
                .collect();
            if spans.is_empty() {
                continue;
            }
            let track = match lane {
                Some(k) => self.new_track(self.worker(k), "without a task")?,
                None => SUBMISSION,
            };
            let iids = ThreadState::ALL
                .iter()
                .map(|state| (*state, self.iid(state.name())));
            let iids: Vec<_> = iids.collect();
            let name = |row: u32| {
                let found = iids.iter().find(|(s, _)| *s == states[row as usize].state);
                found.expect("all states were interned").1
            };
            self.slices(track, thread, spans, Category::State, name)?;
        }
        Ok(())
    }

    fn switches(&mut self) -> Result<(), ExportError> {
        let view = self.view;
        let switches = &view.trace.tables.switches;
        let lanes = view.workers.iter().enumerate();
        let lanes = lanes.map(|(k, lane)| (Some(lane.worker), Some(k)));
        for (worker, lane) in lanes.chain([(None, None)]) {
            let rows = switches.iter().enumerate();
            let rows = rows.filter(|(_, switch)| switch.worker == worker);
            let span = |(row, switch): (usize, &crate::trace::schema::Switch)| {
                (
                    switch.out_ns,
                    switch.in_ns.unwrap_or(switch.out_ns),
                    row as u32,
                )
            };
            let parent = lane.map_or(SUBMISSION, |k| self.worker(k));
            for spans in spread(rows.map(span).collect()) {
                let track = self.new_track(parent, "switched out")?;
                let iids = switches.iter().map(|switch| self.iid(switch.reason.name()));
                let iids: Vec<u64> = iids.collect();
                let name = |row: u32| iids[row as usize];
                self.slices(track, "switches", spans, Category::State, name)?;
            }
        }
        Ok(())
    }

    /// Phases have times from before the recorder was made: they are shifted here.
    fn phases(&mut self) -> Result<(), ExportError> {
        let phases = &self.view.trace.tables.phases;
        let shift_ns = std::mem::take(&mut self.shift_ns);
        let shifted = |time_ns: i64| u64::try_from(i128::from(time_ns) + i128::from(shift_ns));
        let span = |(row, phase): (usize, &crate::trace::schema::Phase)| {
            let (start, end) = (shifted(phase.start_ns), shifted(phase.end_ns));
            (start.unwrap_or(0), end.unwrap_or(0), row as u32)
        };
        let spans: Vec<Span> = phases.iter().enumerate().map(span).collect();
        let iids: Vec<u64> = phases.iter().map(|row| self.iid(&row.phase)).collect();
        let name = |row: u32| iids[row as usize];
        // Steps of two threads may cross: then each has a track that it fits on.
        let lanes = match marks(spans.clone(), "phases") {
            Ok(_) => vec![spans],
            Err(_) => spread(spans),
        };
        for (k, spans) in lanes.into_iter().enumerate() {
            let track = match k {
                0 => PHASES,
                _ => self.new_track(PROCESS, "phases")?,
            };
            self.slices(track, "phases", spans, Category::Phase, name)?;
        }
        self.shift_ns = shift_ns;
        Ok(())
    }

    fn transfers(&mut self) -> Result<(), ExportError> {
        let transfers = &self.view.trace.tables.transfers;
        let mut links: Vec<(u16, u16)> = transfers
            .iter()
            .map(|t| (t.source_node, t.target_node))
            .collect();
        links.sort_unstable();
        links.dedup();
        let name = self.iid("transfer");
        for (source, target) in links {
            let rows = transfers.iter().enumerate();
            let rows = rows.filter(|(_, t)| (t.source_node, t.target_node) == (source, target));
            let spans = rows.map(|(row, t)| (t.start_ns, t.end_ns, row as u32));
            for spans in spread(spans.collect()) {
                let title = format!("transfers {source} to {target}");
                let track = self.new_track(PROCESS, &title)?;
                for mark in marks(spans, &title)? {
                    let transfer = &transfers[mark.what as usize];
                    let begins = mark.begins.then_some((Category::Transfer, name));
                    self.event(mark.time_ns, track, begins, |event| {
                        if mark.begins {
                            annotate(event, 9, |a| a.varint(3, transfer.bytes));
                            annotate(event, HANDLE, |a| a.varint(3, transfer.handle.into()));
                            annotate(event, REASON, |a| a.text(6, transfer.reason.name()));
                        }
                    })?;
                }
            }
        }
        Ok(())
    }

    fn counters(&mut self) -> Result<(), ExportError> {
        let view = self.view;
        self.values(READY, &series::ready(view), true)?;
        self.values(SUBMITTED, &series::submitted(view), true)?;
        // All workers have the same windows.
        let mut total: Vec<Step> = Vec::new();
        for steps in series::rates(view) {
            match total.is_empty() {
                true => total = steps,
                false => total
                    .iter_mut()
                    .zip(steps)
                    .for_each(|(sum, step)| sum.value += step.value),
            }
        }
        self.values(RATE, &total, false)?;
        for (node, steps) in series::memory(view) {
            const BYTES: u64 = 3;
            let uuid = self.next_track;
            self.next_track += 1;
            self.counter(uuid, &format!("memory node {node}"), BYTES)?;
            self.values(uuid, &steps, true)?;
        }
        Ok(())
    }

    fn values(&mut self, track: u64, steps: &[Step], whole: bool) -> io::Result<()> {
        for step in steps {
            let time_ns = step.time_ns.saturating_add(self.shift_ns);
            self.packet(|packet| {
                packet.varint(8, time_ns);
                packet.message(11, |event| {
                    event.varint(11, track);
                    event.varint(9, 4);
                    match whole {
                        true => event.varint(30, step.value as i64 as u64),
                        false => event.double(44, step.value),
                    }
                });
            })?;
        }
        Ok(())
    }
}

/// Interned texts, numbered from 1.
fn table<'a>(interned: &mut Message, field: u32, texts: impl Iterator<Item = &'a str>) {
    for (iid, text) in (1..).zip(texts) {
        interned.message(field, |entry| {
            entry.varint(1, iid);
            entry.text(2, text);
        });
    }
}

fn annotate(event: &mut Message, iid: u64, value: impl FnOnce(&mut Message)) {
    event.message(4, |annotation| {
        annotation.varint(1, iid);
        value(annotation);
    });
}

/// Edges as flows: one number each, since a flow cannot fork.
struct Flows {
    edges: Vec<links::Edge>,
    by_source: Vec<u32>,
    by_target: Vec<u32>,
}

impl Flows {
    fn new(edges: Vec<links::Edge>) -> Self {
        let mut by_source: Vec<u32> = (0..edges.len() as u32).collect();
        let mut by_target = by_source.clone();
        by_source.sort_by_key(|&k| edges[k as usize].0);
        by_target.sort_by_key(|&k| edges[k as usize].1);
        Flows {
            edges,
            by_source,
            by_target,
        }
    }

    /// The flows that leave the task of a row (field 47) and those that arrive (field 48).
    fn of(&self, row: u32) -> impl Iterator<Item = (u32, u64)> {
        let edges = &self.edges;
        let run = |order: &'_ [u32], end: fn(&links::Edge) -> u32| {
            let from = order.partition_point(|&k| end(&edges[k as usize]) < row);
            let to = order.partition_point(|&k| end(&edges[k as usize]) <= row);
            order[from..to].to_vec()
        };
        let leave = run(&self.by_source, |edge| edge.0).into_iter();
        let arrive = run(&self.by_target, |edge| edge.1).into_iter();
        let leave = leave.map(|k| (47, u64::from(k) + 1));
        leave.chain(arrive.map(|k| (48, u64::from(k) + 1)))
    }
}
