//! StarVZ: the folder of Parquet tables that its R package reads (`starvz_read`), compressed with gzip as it asks for.
//!
//! Takes a measured or simulated trace; gives the tables of `rows`. Times are milliseconds with zero at the start of the
//! first task of the factorization. Names are those that StarVZ's R code relies on: workers `CPU0` and `CUDA0_0`, StarPU's
//! names of states, `sched` for the counts of tasks, `MEMMANAGER0` for memory. Memory travels twice: as the variable
//! `Used (MB)`, and, as in the traces of qr_mumps, in `GFlop` of `do_subtree` and of kernels with `front` in their name:
//! GiB that the task took on the host, negative for what it gave back. A megabyte is 2^20 bytes here.
//!
//! A worker that does parts of another's task is `Executing` in the table of states: a second row of the same task in that of tasks
//! would be a second task to R code that joins by its number. States of the submission belong to no worker and are not exported.

mod rows;
mod tree;

use super::series::{self, Step};
use super::view::View;
use super::{ExportEntry, ExportError, ExportOptions, Form};
use crate::inspect::Piece;
use crate::trace::Trace;
use crate::trace::schema::{Role, Task, ThreadState};
use crate::trace::table::{Table, TableWriter};
use parquet::basic::{Compression, GzipLevel};
use rows::{Application, Colors, Dag, Entity, StarPu, Variable, Version, Y, Zero};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

pub(super) const ENTRY: ExportEntry = ExportEntry {
    name: "starvz",
    about: "The tables of StarVZ (R), for its panels",
    ending: "parquet",
    form: Form::Folder(write),
};

/// Rows in memory at a time, and of a row group.
const GROUP_ROWS: usize = 1 << 15;

fn write(trace: &Trace, _: &ExportOptions, folder: &Path) -> Result<(), ExportError> {
    let view = View::new(trace);
    if view.tasks().is_empty() {
        return Err(ExportError::NeedsTimes { export: ENTRY.name });
    }
    let scene = Scene::new(&view);
    let tree = tree::Tree::new(&view);
    let one = |text: &str| Version {
        value: text.to_owned(),
    };
    table(folder, [one("0.2.0")])?;
    let value = scene.zero_ns as f64 / 1e6;
    table(folder, [Zero { value }])?;
    table(
        folder,
        view.codelets().map(|(number, name)| Colors {
            name: name.clone(),
            color: view.colour(number).to_string(),
            shown: true,
        }),
    )?;
    table(
        folder,
        scene.places.iter().map(|place| Y {
            parent: place.name.clone(),
            kind: "Worker State".into(),
            height: place.height,
            position: place.position,
        }),
    )?;
    table(folder, scene.entities())?;
    let outliers = outliers(&view);
    let taken = taken_bytes(&view);
    let tasks = view.tasks().iter().enumerate();
    table(
        folder,
        tasks.map(|(row, task)| {
            let outlier = task.end_ns.saturating_sub(task.start_ns) as f64
                > outliers[&(task.codelet, scene.place(task.worker).is_device)];
            scene.task(task, tree.row(task.node), outlier, taken[row])
        }),
    )?;
    let states = trace.tables.states.iter();
    let states = states.filter_map(|state| scene.state(state));
    let helpers = view.helpers();
    let helpers = helpers.iter().map(|helper| scene.helper(helper));
    table(folder, states.chain(helpers))?;
    table(folder, scene.variables())?;
    table(folder, tree.rows.iter().cloned())?;
    table(
        folder,
        trace.tables.dependencies.iter().filter_map(|edge| {
            let task = &view.tasks()[view.row(edge.task)? as usize];
            let (start, end, duration) = scene.span(task.start_ns, task.end_ns);
            Some(Dag {
                job_id: task.task.to_string(),
                dependent: edge.predecessor.to_string(),
                start,
                end,
                cost: -duration,
                kernel: view.codelet(task.codelet).clone(),
            })
        }),
    )
}

/// Writes a table from rows that need not be in memory together. Tables without rows are written too: R code asks for them.
fn table<T: Table>(folder: &Path, rows: impl IntoIterator<Item = T>) -> Result<(), ExportError> {
    let path = folder.join(format!("{}.parquet", T::NAME));
    let file = File::create_new(&path).map_err(ExportError::io(&path))?;
    let written = (|| {
        // Fast rather than small: it is read once.
        let level = GzipLevel::try_new(1).expect("a level of gzip");
        let file = BufWriter::with_capacity(1 << 18, file);
        let mut writer = TableWriter::new(file, Compression::GZIP(level))?;
        let mut group = Vec::new();
        for row in rows {
            group.push(row);
            if group.len() == GROUP_ROWS {
                writer.group(&group)?;
                group.clear();
            }
        }
        if !group.is_empty() {
            writer.group(&group)?;
        }
        writer.finish()
    })();
    let flushed = written
        .map_err(io::Error::other)
        .and_then(|mut file| file.flush());
    flushed.map_err(ExportError::io(path))
}

/// A worker in StarVZ's pictures.
struct Place {
    name: Arc<str>,
    kind: Arc<str>,
    is_device: bool,
    height: f64,
    position: f64,
}

/// What all rows share.
struct Scene<'v, 't> {
    view: &'v View<'t>,
    zero_ns: u64,
    places: Vec<Place>,
    node: Arc<str>,
    states: HashMap<ThreadState, Arc<str>>,
    executing: Arc<str>,
}

impl<'v, 't> Scene<'v, 't> {
    fn new(view: &'v View<'t>) -> Self {
        let mut roles = view.trace.tables.codelets.iter();
        let solves: Vec<u16> = roles
            .by_ref()
            .filter(|row| row.role == Role::Solve)
            .map(|row| row.codelet)
            .collect();
        let factorizes = |task: &&Task| !solves.contains(&task.codelet);
        let starts = |task: &Task| task.start_ns;
        let zero_ns = view.tasks().iter().filter(factorizes).map(starts).min();
        let zero_ns = zero_ns.or_else(|| view.tasks().iter().map(starts).min());
        // CPUs are numbered through, and the workers of each device.
        let mut cpus = 0;
        let mut on_device: HashMap<u16, u32> = HashMap::new();
        let mut position = 0.0;
        let places = view.workers.iter().map(|lane| {
            let is_device = lane.is_device();
            let name = match lane.row.filter(|_| is_device) {
                Some(row) => {
                    let device = row.memory_node.saturating_sub(1);
                    let count = on_device.entry(device).or_default();
                    *count += 1;
                    format!("CUDA{device}_{}", *count - 1)
                }
                None => {
                    cpus += 1;
                    format!("CPU{}", cpus - 1)
                }
            };
            let height = if is_device { 2.0 } else { 1.0 };
            let place = Place {
                name: name.into(),
                kind: if is_device { "CUDA" } else { "CPU" }.into(),
                is_device,
                height,
                position,
            };
            position += height;
            place
        });
        let state = |state: &ThreadState| {
            let name = match state {
                ThreadState::Scheduling => "Scheduling",
                ThreadState::Idle => "Idle",
                ThreadState::Sleeping => "Sleeping",
                ThreadState::Transferring => "FetchingInput",
                ThreadState::WindowFull => "Waiting task",
                ThreadState::MemoryFull => "AllocatingWait",
            };
            (*state, name.into())
        };
        Scene {
            view,
            zero_ns: zero_ns.unwrap_or(0),
            places: places.collect(),
            node: "0".into(),
            states: ThreadState::ALL.iter().map(state).collect(),
            executing: "Executing".into(),
        }
    }

    fn place(&self, worker: u16) -> &Place {
        &self.places[self.view.lane(worker)]
    }

    fn ms(&self, time_ns: u64) -> f64 {
        let difference = i128::from(time_ns) - i128::from(self.zero_ns);
        difference as f64 / 1e6
    }

    /// Start, end and duration in milliseconds.
    fn span(&self, start_ns: u64, end_ns: u64) -> (f64, f64, f64) {
        let duration = end_ns.saturating_sub(start_ns) as f64 / 1e6;
        (self.ms(start_ns), self.ms(end_ns), duration)
    }

    fn task(
        &self,
        task: &Task,
        node: Option<&rows::Atree>,
        outlier: bool,
        taken_bytes: i64,
    ) -> Application {
        let place = self.place(task.worker);
        let kernel = self.view.codelet(task.codelet);
        let (start, end, duration) = self.span(task.start_ns, task.end_ns);
        let of_memory = kernel.contains("front") || kernel.contains("do_subtree");
        let integer = |value: Option<u32>| value.and_then(|value| i32::try_from(value).ok());
        let (rows, cols, inner) = (task.rows, task.cols, task.inner);
        Application {
            resource_id: place.name.clone(),
            start,
            end,
            duration,
            depth: 0.0,
            kernel: kernel.clone(),
            size: i32::try_from(task.bytes).ok(),
            params: format!("{rows} {cols} {inner}"),
            footprint: format!("{:x}_{rows:x}_{cols:x}_{inner:x}", task.codelet),
            tag: format!("{:016x}", task.node),
            job_id: task.task.to_string(),
            submit_order: i32::try_from(task.task).unwrap_or(i32::MAX),
            gflop: match of_memory {
                true => taken_bytes as f64 / f64::from(1 << 30),
                false => task.flops as f64 / 1e9,
            },
            x: integer(task.tile_col),
            y: integer(task.tile_row),
            iteration: integer(task.panel),
            subiteration: integer(task.child),
            numa_nodes: None,
            node: self.node.clone(),
            resource: place.name.clone(),
            resource_type: place.kind.clone(),
            height: place.height,
            position: place.position,
            outlier,
            anode: task.node.to_string(),
            anode_height: node.and_then(|node| node.height),
            anode_position: node.and_then(|node| node.position),
            intermediary: node.is_some_and(|node| node.intermediary),
        }
    }

    fn state(&self, state: &crate::trace::schema::State) -> Option<StarPu> {
        let name = self.states[&state.state].clone();
        Some(self.without_task(state.worker?, (state.start_ns, state.end_ns), name))
    }

    fn helper(&self, helper: &Piece<'_>) -> StarPu {
        let span = (helper.start_ns, helper.end_ns);
        self.without_task(helper.worker, span, self.executing.clone())
    }

    fn without_task(&self, worker: u16, (from, to): (u64, u64), state: Arc<str>) -> StarPu {
        let place = self.place(worker);
        let (start, end, duration) = self.span(from, to);
        StarPu {
            resource_id: place.name.clone(),
            start,
            end,
            duration,
            depth: 0.0,
            state,
            size: None,
            numa_nodes: None,
            node: self.node.clone(),
            resource: place.name.clone(),
            resource_type: place.kind.clone(),
            height: place.height,
            position: place.position,
        }
    }

    fn variables(&self) -> impl Iterator<Item = Variable> {
        let view = self.view;
        let unit = |steps: Vec<Step>, unit: f64| -> Vec<Step> {
            let scaled = |step: Step| Step {
                value: step.value / unit,
                ..step
            };
            steps.into_iter().map(scaled).collect()
        };
        let mut all: Vec<(Arc<str>, Arc<str>, Vec<Step>)> = vec![
            ("sched".into(), "Ready".into(), series::ready(view)),
            ("sched".into(), "Submitted".into(), series::submitted(view)),
        ];
        for (node, steps) in series::memory(view) {
            let name = format!("MEMMANAGER{node}").into();
            all.push((name, "Used (MB)".into(), unit(steps, f64::from(1 << 20))));
        }
        for (place, steps) in self.places.iter().zip(series::rates(view)) {
            all.push((place.name.clone(), "GFlops".into(), steps));
        }
        let last_ns = view
            .tasks()
            .iter()
            .map(|task| task.end_ns)
            .max()
            .unwrap_or(0);
        all.into_iter().flat_map(move |(name, kind, steps)| {
            let letters = |c: char| !c.is_ascii_digit() && c != '_';
            let resource_type: Arc<str> = name
                .chars()
                .filter(|&c| letters(c))
                .collect::<String>()
                .into();
            (0..steps.len()).filter_map(move |k| {
                let from_ns = steps[k].time_ns;
                let to_ns = steps.get(k + 1).map_or(last_ns, |next| next.time_ns);
                let (start, end, duration) = self.span(from_ns, to_ns);
                (to_ns > from_ns).then(|| Variable {
                    resource_id: name.clone(),
                    kind: kind.clone(),
                    start,
                    end,
                    duration,
                    value: steps[k].value,
                    node: self.node.clone(),
                    resource: name.clone(),
                    resource_type: resource_type.clone(),
                })
            })
        })
    }

    fn entities(&self) -> Vec<Entity> {
        let row = |parent: &str, name: &str, kind: &str, nature: &str| Entity {
            parent: parent.into(),
            name: name.into(),
            kind: kind.into(),
            nature: nature.into(),
        };
        let mut rows = vec![
            row("0", "sched", "Scheduler", "Container"),
            row("sched", "Ready", "Ready", "Variable"),
            row("sched", "Submitted", "Submitted", "Variable"),
        ];
        for place in &self.places {
            rows.push(row("0", &place.name, "Worker", "Container"));
            rows.push(row(&place.name, "Worker State", "Worker State", "State"));
            rows.push(row(&place.name, "GFlops", "GFlops", "Variable"));
        }
        rows
    }
}

/// The longest duration that is no outlier, for each kernel and kind of worker: the third quartile and 1.5 times the
/// distance of the quartiles (quantiles of R's type 7).
fn outliers(view: &View<'_>) -> HashMap<(u16, bool), f64> {
    let mut durations: HashMap<(u16, bool), Vec<u64>> = HashMap::new();
    for task in view.tasks() {
        let is_device = view.workers[view.lane(task.worker)].is_device();
        let duration = task.end_ns.saturating_sub(task.start_ns);
        durations
            .entry((task.codelet, is_device))
            .or_default()
            .push(duration);
    }
    let limit = |mut durations: Vec<u64>| {
        durations.sort_unstable();
        let quantile = |part: f64| {
            let at = part * (durations.len() - 1) as f64;
            let (below, above) = (
                durations[at.floor() as usize],
                durations[at.ceil() as usize],
            );
            below as f64 + (above - below) as f64 * at.fract()
        };
        let (first, third) = (quantile(0.25), quantile(0.75));
        third + 1.5 * (third - first)
    };
    durations
        .into_iter()
        .map(|(key, durations)| (key, limit(durations)))
        .collect()
}

/// Bytes that each task took on the host, less those it gave back.
fn taken_bytes(view: &View<'_>) -> Vec<i64> {
    let mut taken = vec![0; view.tasks().len()];
    for row in &view.trace.tables.memory {
        if row.memory_node == 0
            && let Some(task) = view.row(row.task)
        {
            let taken: &mut i64 = &mut taken[task as usize];
            *taken = taken.saturating_add(row.delta_bytes);
        }
    }
    taken
}
