//! The sweep of the inverse subset down the forest of nodes, as tasks.
//!
//! Takes the structure; gives \[Z11 Z12\] of every node. A large node is a task, a subtree without much work another: it goes through its
//! nodes, parents first. What a node leaves for a child waits in a place of its own, and is gone when the child has it.

use super::node::{child_part, node_inverse};
use super::structure::Structure;
use crate::error::SolveError;
use crate::numeric::FactorScalar;
use crate::rank::Nodes;
use crate::solve::SolveOptions;
use std::sync::{Mutex, MutexGuard, PoisonError};
use treeqr_runtime::Access::{Read, Write};
use treeqr_runtime::{
    Application, Codelet, CodeletId, Config, CpuCode, DataStore, Handle, Submitter, TaskContext,
    TaskFailure, TaskSpec, run, run_sequential,
};

/// A subtree of fewer flops is one task: about a tenth of a millisecond.
const TASK_FLOPS: f64 = 1e6;
/// Less than this in all is done on the calling thread.
const RUN_FLOPS: f64 = 5e7;
/// A node by itself, in flops: its blocks must be allocated.
const NODE_FLOPS: f64 = 2e3;

/// \[Z11 Z12\] by node.
pub(super) fn run_all<T: FactorScalar>(
    nodes: &Nodes<'_, T>,
    structure: &Structure,
    options: &SolveOptions,
) -> Result<Vec<Vec<T>>, SolveError> {
    let _span = tracing::info_span!("inverse_subset", nodes = structure.len()).entered();
    let mut below: Vec<f64> = (0..structure.len())
        .map(|node| NODE_FLOPS + structure.flops(node))
        .collect();
    for (node, parent) in structure.parent.iter().enumerate() {
        if let Some(parent) = parent {
            below[*parent as usize] += below[node];
        }
    }
    let total: f64 = (structure.parent.iter().zip(&below))
        .filter(|(parent, _)| parent.is_none())
        .map(|(_, &below)| below)
        .sum();
    let tasks = Tasks::new(structure, &below);
    let code: CpuCode<App<'_, T>> = App::go;
    let app = App {
        nodes,
        structure,
        tasks: &tasks,
        waiting: (0..structure.len()).map(|_| Mutex::default()).collect(),
        done: (0..structure.len()).map(|_| Mutex::default()).collect(),
        codelets: [Codelet {
            name: "inverse_subset",
            cpu: Some(code),
        }],
    };
    let submit = |submitter: &mut Submitter<'_>| {
        for (place, list) in tasks.lists.iter().enumerate() {
            // No task has a buffer: the accesses are there for the order that they make.
            let top = list[0] as usize;
            let mut task = TaskSpec::new(CodeletId(0), top as u32)
                .params([place as u32, 0, 0, 0, 0, 0])
                .priority(below[top] as i64)
                .with(Handle(place as u32), Write);
            if let Some(parent) = structure.parent[top] {
                task = task.with(Handle(tasks.of[parent as usize]), Read);
            }
            task.flops = nodes.plan.flops(
                list.iter()
                    .map(|&n| structure.flops(n as usize))
                    .sum::<f64>() as u64,
            );
            submitter.submit(task)?;
        }
        Ok(())
    };
    let config = Config {
        // They are for the codelets of other runs.
        limits: Vec::new(),
        devices: Vec::new(),
        accelerators: Vec::new(),
        learn: false,
        ..options.run.clone()
    };
    let mut store = DataStore::new(tasks.lists.len());
    let alone = total < RUN_FLOPS || config.threads < 2;
    if options.sequential.unwrap_or(alone) {
        run_sequential(&config, &app, &mut store, &(), submit)?;
    } else {
        run(&config, &app, &mut store, &(), submit)?;
    }
    let done = app.done.into_iter();
    Ok(done
        .map(|m| m.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect())
}

/// Which nodes are one task.
struct Tasks {
    /// Nodes of every task, parents first. Tasks come after those that they wait for.
    lists: Vec<Vec<u32>>,
    /// Task of every node.
    of: Vec<u32>,
}

impl Tasks {
    fn new(structure: &Structure, below: &[f64]) -> Self {
        let mut out = Tasks {
            lists: Vec::new(),
            of: vec![0; structure.len()],
        };
        for node in (0..structure.len()).rev() {
            let parent = structure.parent[node].map(|p| p as usize);
            let shared = parent.filter(|&p| below[p] <= TASK_FLOPS);
            let task = match shared {
                Some(p) => out.of[p],
                None => {
                    out.lists.push(Vec::new());
                    out.lists.len() as u32 - 1
                }
            };
            out.of[node] = task;
            out.lists[task as usize].push(node as u32);
        }
        out
    }
}

/// What the tasks run on.
struct App<'a, T: FactorScalar> {
    nodes: &'a Nodes<'a, T>,
    structure: &'a Structure,
    tasks: &'a Tasks,
    /// By node: Z22 as its parent has left it, and \[Z11 Z12\]. Locked by one task at a time, by the order of the tasks.
    waiting: Vec<Mutex<Vec<T>>>,
    done: Vec<Mutex<Vec<T>>>,
    codelets: [Codelet<Self>; 1],
}

fn lock<R>(mutex: &Mutex<R>) -> MutexGuard<'_, R> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: FactorScalar> App<'_, T> {
    fn go(&self, task: &TaskContext<'_>, (): &mut ()) -> Result<(), TaskFailure> {
        for &node in &self.tasks.lists[task.task().params[0] as usize] {
            let node = node as usize;
            let z22 = std::mem::take(&mut *lock(&self.waiting[node]));
            let z = node_inverse(self.nodes, self.structure, node, &z22);
            for &child in &self.structure.children[node] {
                let map = self.structure.in_parent(child as usize, node);
                let part = child_part(&z, &z22, self.structure.npiv(node), &map);
                *lock(&self.waiting[child as usize]) = part;
            }
            *lock(&self.done[node]) = z;
        }
        Ok(())
    }
}

impl<T: FactorScalar> Application for App<'_, T> {
    type Scratch = ();

    fn scratch(&self, _worker: usize) {}

    fn codelets(&self) -> &[Codelet<Self>] {
        &self.codelets
    }

    fn variant(&self) -> &str {
        T::NAME
    }
}
