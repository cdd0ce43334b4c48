//! A program of sweeps becomes a run: bundled, planned, submitted.
//!
//! Takes a program and the options; gives the vectors that it leaves, where they lie or in arrays of their own, or only the plan. Knows no codelet.

use super::app::App;
use super::bundles::{Bundles, is_loose};
use super::costs::Costs;
use super::options::SolveOptions;
use super::plan::SolvePlan;
use super::program::{Down, Program, Up, VECTORS, Vector};
use super::system::Rotated;
use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use treeqr_runtime::{
    Config, DataStore, Handle, Observer, Submitter, TaskSpec, run, run_sequential,
};

/// A program that could be run.
pub(super) struct Prepared<'a, T: FactorScalar> {
    app: App<'a, T>,
    costs: Costs,
    /// 0 for none beside the calling thread.
    workers: usize,
}

impl<T: FactorScalar> Prepared<'_, T> {
    /// The tasks of a block, complete.
    fn tasks(&self, block: usize, out: &mut Vec<TaskSpec>) {
        let app = &self.app;
        app.program.tasks(&app.bundles, block, out);
        self.costs.complete(app, out);
    }

    /// Of all blocks. They are alike but for the last one, which may be narrower, unless a sweep is restricted.
    pub fn plan(&self) -> SolvePlan {
        let (program, bundles) = (&self.app.program, &self.app.bundles);
        let blocks = program.blocks();
        let mut plan = SolvePlan {
            nrhs: program.nrhs,
            workers: self.workers,
            blocks,
            bundles: bundles.len(),
            ..SolvePlan::default()
        };
        let mut tasks = Vec::new();
        let last = blocks.saturating_sub(1);
        let mut add = |block, times: usize| {
            if times > 0 {
                self.tasks(block, &mut tasks);
                plan.add(&tasks, times as u64);
                tasks.clear();
            }
        };
        if program.is_restricted() {
            (0..blocks).for_each(|block| add(block, 1));
        } else {
            add(0, last);
            add(last, blocks.min(1));
        }
        let edges = (0..bundles.len()).filter(|&u| bundles.parent(u).is_some());
        let (edges, sweeps) = (edges.count(), program.sweeps().count());
        let has = |vector: &&Vector| program.has(**vector);
        let vectors = Vector::ALL.iter().filter(has).count();
        plan.memory_events = (blocks * 2 * (vectors + sweeps * edges)) as u64;
        plan
    }
}

impl<T: FactorScalar> Factors<T> {
    /// A program that ends at the leaves, and the outer vector it leaves there.
    pub(super) fn outer<O: Observer>(
        &self,
        up: Option<Up<'_, T>>,
        down: Down<'_, T>,
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        let remains = self.run(up, Some(down), nrhs, options, observer)?;
        Ok(remains.all(Vector::Outer))
    }

    /// A program that ends at the roots, and what it leaves there.
    pub(super) fn head<O: Observer>(
        &self,
        up: Up<'_, T>,
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Rotated<T>, SolveError> {
        let remains = self.run(Some(up), None, nrhs, options, observer)?;
        let (head, rest) = (remains.all(Vector::Head), remains.all(Vector::Rest));
        Ok(Rotated { head, rest })
    }

    /// A program of both sweeps: what is at the roots between them, and what it leaves at the leaves.
    pub(super) fn head_and_outer<O: Observer>(
        &self,
        up: Up<'_, T>,
        down: Down<'_, T>,
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<[Vec<T>; 2], SolveError> {
        let remains = self.run(Some(up), Some(down), nrhs, options, observer)?;
        Ok([remains.all(Vector::Head), remains.all(Vector::Outer)])
    }

    /// Makes a program ready, down to its tasks.
    pub(super) fn prepare<'a>(
        &'a self,
        up: Option<Up<'a, T>>,
        down: Option<Down<'a, T>>,
        nrhs: usize,
        options: &SolveOptions,
    ) -> Prepared<'a, T> {
        let fronts = &self.symbolic.tree.fronts;
        let program = Program {
            up,
            down,
            nrhs,
            fronts,
            reaches_out: !self.symbolic.singletons.is_empty() || fronts.iter().any(is_loose),
        };
        let plan = self.plan();
        let costs = Costs::new(self, &program);
        let workers = costs.workers(options);
        let bundles = Bundles::new(fronts, &costs.front_ns, costs.bundle_ns(workers, options));
        let app = App::new(self, plan, program, bundles);
        Prepared {
            app,
            costs,
            workers,
        }
    }

    /// Runs a program.
    pub(super) fn run<O: Observer>(
        &self,
        up: Option<Up<'_, T>>,
        down: Option<Down<'_, T>>,
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Remains, SolveError> {
        self.check_whole()?;
        let prepared = self.prepare(up, down, nrhs, options);
        let (app, workers) = (&prepared.app, prepared.workers);
        let (program, bundles) = (&app.program, &app.bundles);
        check_vectors(program.blocks(), bundles.len(), nrhs)?;
        let mut store = DataStore::new(program.handles(bundles));
        let submit = |submitter: &mut Submitter<'_>| {
            let mut tasks = Vec::new();
            for block in 0..program.blocks() {
                prepared.tasks(block, &mut tasks);
                for task in tasks.drain(..) {
                    submitter.submit(task)?;
                }
            }
            Ok(())
        };
        let config = Config {
            threads: workers.max(1),
            // Nothing of a solve runs there.
            devices: Vec::new(),
            accelerators: Vec::new(),
            ..options.run.clone()
        };
        if workers == 0 {
            run_sequential(&config, app, &mut store, observer, submit)?;
        } else {
            run(&config, app, &mut store, observer, submit)?;
        }
        let handles = |vector: Vector| {
            let blocks = (0..program.blocks()).filter(|_| program.has(vector));
            let handles = blocks.map(|block| program.vector(bundles, block, vector));
            handles.collect()
        };
        let handles = Vector::ALL.map(handles);
        Ok(Remains { store, handles })
    }
}

/// What a run has left of its vectors.
pub(super) struct Remains {
    store: DataStore,
    /// Of each vector, by blocks; none where the program has no such vector.
    handles: [Vec<Handle>; VECTORS],
}

impl Remains {
    /// A vector where it lies: the columns of a block one after the other, block by block.
    pub fn parts<T: FactorScalar>(&self, vector: Vector) -> impl Iterator<Item = &[T]> {
        let handles = self.handles[vector as usize].iter();
        handles.map(|&handle| self.store.get_as(handle).expect("the run has left it"))
    }

    /// All columns of a vector.
    pub fn all<T: FactorScalar>(&self, vector: Vector) -> Vec<T> {
        let parts: Vec<&[T]> = self.parts(vector).collect();
        parts.concat()
    }
}

/// Vectors of a run, and its tasks, have numbers of 32 bits: four vectors and as many edges as there are bundles in each block, and
/// no more than two tasks for each of these.
fn check_vectors(blocks: usize, bundles: usize, nrhs: usize) -> Result<(), SolveError> {
    let tasks = blocks
        .checked_mul(bundles + VECTORS)
        .and_then(|n| n.checked_mul(2));
    match tasks.map(u32::try_from) {
        Some(Ok(_)) => Ok(()),
        _ => Err(SolveError::TooManyColumns { nrhs, blocks }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_number_is_refused() {
        let most = u32::MAX as usize / 2;
        assert!(check_vectors(1, most - VECTORS, 16).is_ok());
        for (blocks, bundles) in [(1, most), (most, 1), (1 << 20, 1 << 12), (usize::MAX, 3)] {
            let error = check_vectors(blocks, bundles, 7).expect_err("too many");
            assert!(matches!(error, SolveError::TooManyColumns { nrhs: 7, .. }));
        }
    }
}
