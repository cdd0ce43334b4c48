//! The area bound: how short the run could have been if tasks did not depend on each other and could be cut in pieces.
//!
//! Takes tasks and workers; gives the smallest T and the distribution of tasks that reaches it. With `n[k,r]` tasks of class k on
//! resource r, N_k of them in all, `t[k,r]` their mean duration there, Q_r workers:
//!
//! ```text
//!   minimise T   subject to   sum_r n[k,r] = N_k     sum_k n[k,r] t[k,r] <= Q_r T     n >= 0
//! ```
//!
//! A duration is the time of all workers in the task, with those who helped its own. A class is a codelet and the power of two below
//! its flops; a resource is all CPU workers together, or one device. A pair that never ran has no n: what cannot run on a device
//! stays off it, and what was never tried is not guessed. The linear program is solved by the simplex method of `microlp`; where
//! no class has a choice, T is the largest load by division alone.

use super::graph::{codelet_names, span_ns};
use super::path::critical_path;
use crate::inspect::pieces;
use crate::trace::Trace;
use crate::trace::schema::WorkerKind;
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The linear program was not solved.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the linear program of the area bound was not solved: {message}")]
#[non_exhaustive]
pub struct AreaError {
    /// What the solver says.
    pub message: String,
}

/// The bound, and the distribution that reaches it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AreaBound {
    /// T, in nanoseconds.
    pub bound_ns: f64,
    /// CPU workers first, then devices by memory node.
    pub resources: Vec<Resource>,
    /// By codelet and size.
    pub classes: Vec<TaskClass>,
    /// Tasks of workers that the trace does not have.
    pub left_out: u64,
}

/// Workers that are the same to the bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resource {
    /// `cpu`, or the device's name.
    pub name: String,
    /// How many.
    pub workers: u64,
    /// Time in tasks as measured.
    pub measured_ns: f64,
    /// Time in tasks at the bound.
    pub ideal_ns: f64,
}

/// Tasks that are the same to the bound. The lists are by resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskClass {
    /// Their codelet.
    pub codelet: String,
    /// The logarithm to base 2 of their flops, rounded down; none for those without.
    pub log2_flops: Option<u32>,
    /// N_k.
    pub tasks: u64,
    /// How many ran there.
    pub measured: Vec<u64>,
    /// `t[k,r]`; none where none ran.
    pub mean_ns: Vec<Option<f64>>,
    /// `n[k,r]` at the bound.
    pub ideal: Vec<f64>,
}

/// Lower bounds of the makespan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// The area bound.
    pub area_ns: f64,
    /// The critical path.
    pub critical_path_ns: u64,
    /// The larger one.
    pub bound_ns: f64,
    /// What the run took, to the end of its last task.
    pub makespan_ns: u64,
}

/// Both bounds, beside what the run took.
///
/// # Errors
/// As [`area_bound`].
pub fn bounds(trace: &Trace) -> Result<Bounds, AreaError> {
    let (area, path) = (area_bound(trace)?, critical_path(trace));
    let ends = trace.tables.tasks.iter().map(|t| t.end_ns);
    let from = span_ns(trace).0;
    Ok(Bounds {
        area_ns: area.bound_ns,
        critical_path_ns: path.length_ns,
        bound_ns: area.bound_ns.max(path.length_ns as f64),
        makespan_ns: ends.fold(from, u64::max) - from,
    })
}

/// Codelet, and the power of two below its flops.
type ClassKey = (u16, Option<u32>);

/// Tasks of a class on a resource, and their time.
type Cell = (u64, u64);

/// The area bound of a run. O(tasks log classes), and a linear program of classes x resources variables.
///
/// # Errors
/// [`AreaError`] where the numbers defeat the solver.
pub fn area_bound(trace: &Trace) -> Result<AreaBound, AreaError> {
    let (mut resources, of_worker) = resources(trace);
    let names = codelet_names(trace);
    let mut sums: BTreeMap<ClassKey, Vec<Cell>> = BTreeMap::new();
    let mut left_out = 0;
    for p in pieces(&trace.tables.tasks, &trace.tables.shares) {
        // Where the task is counted, whoever helped.
        let t = p.task;
        let Some(&r) = of_worker.get(&t.worker) else {
            left_out += p.tasks();
            continue;
        };
        let class = sums.entry((t.codelet, t.flops.checked_ilog2()));
        let cell = &mut class.or_insert_with(|| vec![(0, 0); resources.len()])[r];
        *cell = (cell.0 + p.tasks(), cell.1.saturating_add(p.duration_ns()));
    }
    let class = |(key, cells): (ClassKey, Vec<Cell>)| TaskClass {
        codelet: names[&key.0].clone(),
        log2_flops: key.1,
        tasks: cells.iter().map(|c| c.0).sum(),
        measured: cells.iter().map(|c| c.0).collect(),
        mean_ns: cells
            .iter()
            .map(|c| (c.0 > 0).then(|| c.1 as f64 / c.0 as f64))
            .collect(),
        ideal: cells.iter().map(|c| c.0 as f64).collect(),
    };
    let mut classes: Vec<_> = sums.into_iter().map(class).collect();
    for (resource, time) in resources.iter_mut().zip(loads(&classes)) {
        resource.measured_ns = time;
    }
    distribute(&mut classes, &resources)?;
    let mut bound_ns = 0.0_f64;
    for (resource, time) in resources.iter_mut().zip(loads(&classes)) {
        resource.ideal_ns = time;
        bound_ns = bound_ns.max(time / resource.workers as f64);
    }
    Ok(AreaBound {
        bound_ns,
        resources,
        classes,
        left_out,
    })
}

/// The resources, and which of them each worker is.
fn resources(trace: &Trace) -> (Vec<Resource>, HashMap<u16, usize>) {
    let mut groups: BTreeMap<(bool, u16), (String, Vec<u16>)> = BTreeMap::new();
    for w in &trace.tables.workers {
        let (key, name) = match w.kind {
            WorkerKind::Cpu => ((false, 0), "cpu"),
            WorkerKind::Device => ((true, w.memory_node), w.name.as_str()),
        };
        let group = groups.entry(key);
        group
            .or_insert_with(|| (name.to_owned(), Vec::new()))
            .1
            .push(w.worker);
    }
    let (mut resources, mut of_worker) = (Vec::new(), HashMap::new());
    for (r, (name, workers)) in groups.into_values().enumerate() {
        resources.push(Resource {
            name,
            workers: workers.len() as u64,
            measured_ns: 0.0,
            ideal_ns: 0.0,
        });
        of_worker.extend(workers.into_iter().map(|w| (w, r)));
    }
    (resources, of_worker)
}

/// Time of each resource in tasks.
fn loads(classes: &[TaskClass]) -> Vec<f64> {
    let resources = classes.first().map_or(0, |c| c.ideal.len());
    let load = |r: usize| {
        let time = |c: &TaskClass| c.ideal[r] * c.mean_ns[r].unwrap_or(0.0);
        classes.iter().map(time).sum()
    };
    (0..resources).map(load).collect()
}

/// Sets `ideal` of the classes that have a choice.
///
/// The unknowns are times, not counts, in units of the whole measured time: y[k,r] = n t / S. Then the rows of resources have
/// coefficients 1, and those of classes, multiplied by the smallest t of the class, t_min / t.
fn distribute(classes: &mut [TaskClass], resources: &[Resource]) -> Result<(), AreaError> {
    let whole: f64 = resources.iter().map(|r| r.measured_ns).sum();
    let mut fixed = vec![0.0; resources.len()];
    let mut choices = Vec::new();
    for (k, class) in classes.iter_mut().enumerate() {
        let seen = class.mean_ns.iter().enumerate();
        let seen: Vec<_> = seen.filter_map(|(r, t)| Some((r, (*t)?))).collect();
        let least = seen.iter().map(|s| s.1).fold(f64::INFINITY, f64::min);
        if least == 0.0 && seen.len() > 1 {
            // Free on one of them.
            let free = seen.iter().find(|s| s.1 == 0.0).map(|s| s.0);
            class.ideal.fill(0.0);
            class.ideal[free.unwrap_or(0)] = class.tasks as f64;
        } else if let [(r, t)] = seen[..] {
            fixed[r] += class.tasks as f64 * t / whole.max(1.0);
        } else {
            choices.push((k, least, seen));
        }
    }
    if choices.is_empty() {
        return Ok(());
    }
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let bound = problem.add_var(1.0, (0.0, f64::INFINITY));
    let mut on_resource: Vec<Vec<(Variable, f64)>> = (resources.iter())
        .map(|r| vec![(bound, -(r.workers as f64))])
        .collect();
    let mut unknowns = Vec::new();
    for (k, least, seen) in &choices {
        let mut row = Vec::new();
        for &(r, t) in seen {
            let y = problem.add_var(0.0, (0.0, f64::INFINITY));
            row.push((y, least / t));
            on_resource[r].push((y, 1.0));
        }
        let work = classes[*k].tasks as f64 * least / whole;
        problem.add_constraint(&row[..], ComparisonOp::Eq, work);
        unknowns.push(row);
    }
    for (row, fixed) in on_resource.iter().zip(&fixed) {
        problem.add_constraint(&row[..], ComparisonOp::Le, -fixed);
    }
    let failed = |message: String| AreaError { message };
    let outcome = problem.solve().map_err(|e| failed(e.to_string()))?;
    let solution = outcome.into_solution();
    let solution = solution.map_err(|_| failed("it was interrupted".to_owned()))?;
    for ((k, _, seen), row) in choices.iter().zip(&unknowns) {
        // Within the solver's tolerance: all tasks are somewhere, none less than never.
        let parts: Vec<f64> = (row.iter())
            .map(|&(y, part)| solution.var_value(y).max(0.0) * part)
            .collect();
        let all: f64 = parts.iter().sum();
        if all > 0.0 {
            let class = &mut classes[*k];
            class.ideal.fill(0.0);
            for (&(r, _), part) in seen.iter().zip(parts) {
                class.ideal[r] = class.tasks as f64 * part / all;
            }
        }
    }
    Ok(())
}
