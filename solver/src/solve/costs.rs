//! What a solve costs, by a model with fixed rates: how many workers it is worth, how large bundles are, priorities.
//!
//! Takes the factors' entries front by front; gives nanoseconds. With one right-hand side the time is that of reading the
//! factors once, with many that of the flops. No result depends on it.

use super::app::App;
use super::options::SolveOptions;
use super::plan::size_params;
use super::program::{Program, Vector};
use super::sweep::{BEGIN, END, Sweep};
use crate::numeric::{FactorScalar, Factors};
use treeqr_runtime::TaskSpec;

/// A front by itself, and an entry of the factors: to read it, and to use it for one right-hand side.
const FRONT_NS: f64 = 150.0;
const READ_NS: f64 = 0.9;
const USE_NS: f64 = 0.35;
/// A worker is worth its thread from here on: to start, bind and join it takes a tenth of a millisecond where nothing else runs,
/// and some where much does.
const WORKER_NS: f64 = 2_000_000.0;
/// A task takes between these, and there are so many for each worker in between.
const TASK_NS: (f64, f64) = (100_000.0, 5_000_000.0);
const TASKS_PER_WORKER: f64 = 16.0;

/// The model of one program.
pub(super) struct Costs {
    /// Of a full block, by front, the mean over the sweeps.
    pub front_ns: Vec<f64>,
    sweeps: f64,
    blocks: f64,
}

impl Costs {
    pub fn new<T: FactorScalar>(factors: &Factors<T>, program: &Program<'_, T>) -> Self {
        let w = program.width() as f64;
        let bytes = size_of::<T>() as f64 / 8.0;
        let sweeps = program.sweeps().count() as f64;
        let entries = factors.entries();
        let front_ns = (0..entries.len()).map(|f| {
            let sweeps_here = program.sweeps().filter(|&s| program.ever_needs(s, f));
            let mut needed = sweeps_here.map(|s| count(entries[f], s)).peekable();
            if needed.peek().is_none() {
                return 0.0;
            }
            let sum: u64 = needed.sum();
            FRONT_NS + sum as f64 / sweeps * bytes * (READ_NS + w * USE_NS)
        });
        Costs {
            front_ns: front_ns.collect(),
            sweeps,
            blocks: program.nrhs as f64 / w.max(1.0),
        }
    }

    /// Workers that the options ask for; 0 for none beside the calling thread.
    pub fn workers(&self, options: &SolveOptions) -> usize {
        let threads = options.run.threads;
        match options.sequential {
            Some(true) => 0,
            Some(false) => threads,
            None => {
                let total = self.blocks * self.sweeps * self.front_ns.iter().sum::<f64>();
                let worth = ((total / WORKER_NS) as usize).min(threads);
                if worth < 2 { 0 } else { worth }
            }
        }
    }

    /// The time a bundle should take.
    pub fn bundle_ns(&self, workers: usize, options: &SolveOptions) -> f64 {
        if let Some(grain) = options.grain {
            return grain.as_nanos() as f64;
        }
        let tasks = TASKS_PER_WORKER * workers.max(1) as f64;
        let even = self.front_ns.iter().sum::<f64>() / tasks;
        even.clamp(TASK_NS.0, TASK_NS.1)
    }

    /// Flops, sizes and priorities (bottom levels, in ns) of the tasks of one block.
    pub fn complete<T: FactorScalar>(&self, app: &App<'_, T>, tasks: &mut [TaskSpec]) {
        let bundles = &app.bundles;
        let (to_root, to_leaf) = (bundles.to_root(), bundles.to_leaf());
        let down = to_leaf.iter().copied().fold(0.0, f64::max);
        let after_up = if app.program.down.is_some() {
            down
        } else {
            0.0
        };
        let entries = app.factors.entries();
        for task in tasks {
            let [u, block, ..] = task.params.map(|p| p as usize);
            let w = app.program.columns(block).len();
            let (mut fronts, mut touched) = (0, 0);
            task.priority = match task.codelet {
                BEGIN => {
                    let vectors = Vector::ALL.into_iter().filter(|&v| app.program.has(v));
                    touched = vectors.map(|v| app.vector_len(v) * w).sum::<usize>() as u64;
                    i64::MAX
                }
                END => 0,
                _ => {
                    let sweep = Sweep::ALL[usize::from(task.codelet.0)];
                    let sum: u64 = bundles
                        .fronts(u)
                        .iter()
                        .filter(|&&f| app.program.needs(sweep, block, f as usize))
                        .map(|&f| {
                            fronts += 1;
                            count(entries[f as usize], sweep)
                        })
                        .sum();
                    let per_entry = if sweep.is_q() { 4 } else { 2 };
                    task.flops = app.plan.flops(per_entry * sum * w as u64);
                    touched = sum;
                    (if sweep.is_up() {
                        to_root[u] + after_up
                    } else {
                        to_leaf[u]
                    }) as i64
                }
            };
            task.params[2..].copy_from_slice(&size_params(w, fronts, touched));
        }
    }
}

/// Entries of a front's factors that a sweep reads.
fn count([r, h]: [u64; 2], sweep: Sweep) -> u64 {
    if sweep.is_q() { h } else { r }
}
