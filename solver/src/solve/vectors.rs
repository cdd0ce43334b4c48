//! What the codelets of a solve read and write: the vectors of a block, and the caller's arrays.
//!
//! Takes a task; gives the buffers that it declared. Knows no front.

use super::app::App;
use super::program::{Given, Head, Vector};
use super::sweep::Sweep;
use crate::numeric::FactorScalar;
use std::ops::Deref;
use treeqr_runtime::{Handle, ReadBuffer, ScatterBuffer, TaskContext, WriteBuffer};

/// A vector of a block: of this run, or the caller's.
pub(super) enum Values<'a, T> {
    Here(ReadBuffer<'a, T>),
    Given(&'a [T]),
    /// To change it.
    Alone(WriteBuffer<'a, T>),
}

impl<T: FactorScalar> Values<'_, T> {
    /// The vector of which a task has declared that it changes it.
    pub fn alone(&mut self) -> &mut [T] {
        match self {
            Values::Alone(buffer) => buffer,
            _ => unreachable!("a task with a loose front has the vector for itself"),
        }
    }
}

/// The outer vector of a sweep down.
pub(super) enum Outer<'a, T> {
    Scatter(ScatterBuffer<'a, T>),
    Alone(WriteBuffer<'a, T>),
}

impl<T: FactorScalar> Outer<'_, T> {
    pub fn set(&mut self, index: usize, value: T) {
        match self {
            Outer::Scatter(buffer) => buffer.set(index, value),
            Outer::Alone(buffer) => buffer[index] = value,
        }
    }

    /// An entry that a later tree has set.
    pub fn get(&self, index: usize) -> T {
        match self {
            Outer::Alone(buffer) => buffer[index],
            Outer::Scatter(_) => {
                unreachable!("a task with a loose front has the vector for itself")
            }
        }
    }
}

impl<T: FactorScalar> Deref for Values<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Values::Here(buffer) => buffer,
            Values::Given(slice) => slice,
            Values::Alone(buffer) => buffer,
        }
    }
}

impl<T: FactorScalar> App<'_, T> {
    /// Length of a vector in the numbering of W.
    pub fn outer_len(&self, sweep: Sweep) -> usize {
        if sweep.is_q() {
            self.plan.sym.work_rows()
        } else {
            self.head_len()
        }
    }

    pub fn head_len(&self) -> usize {
        self.plan.sym.work_cols()
    }

    pub fn rest_len(&self) -> usize {
        self.plan.sym.rest_rows
    }

    /// Entries of a vector, for one right-hand side.
    pub fn vector_len(&self, vector: Vector) -> usize {
        match (vector, &self.program.down) {
            (Vector::Outer, Some(down)) => self.outer_len(down.sweep),
            (Vector::Rest, _) => self.rest_len(),
            (Vector::Left, _) => {
                let up = self.program.up.as_ref().expect("a sweep up");
                self.outer_len(up.sweep)
            }
            _ => self.head_len(),
        }
    }

    /// Block and its width.
    pub fn block(&self, task: &TaskContext<'_>) -> (usize, usize) {
        let block = task.task().params[1] as usize;
        (block, self.program.columns(block).len())
    }

    /// The columns of a block in one of the caller's arrays, as far as it has them.
    pub fn given<'s>(&self, all: &'s [T], len: usize, block: usize) -> Values<'s, T> {
        let columns = self.program.columns(block);
        let end = (columns.end * len).min(all.len());
        Values::Given(&all[columns.start * len..end])
    }

    pub fn handle(&self, task: &TaskContext<'_>, vector: Vector) -> Handle {
        let block = task.task().params[1] as usize;
        self.program.vector(&self.bundles, block, vector)
    }

    /// The access of the task to a vector of its block.
    pub fn access(&self, task: &TaskContext<'_>, vector: Vector) -> usize {
        let handle = self.handle(task, vector);
        let accesses = &task.task().accesses;
        let found = accesses.iter().position(|a| a.0 == handle);
        found.expect("the task declares its vectors")
    }

    pub fn read<'t>(&self, task: &TaskContext<'t>, vector: Vector) -> Values<'t, T> {
        Values::Here(task.read(self.access(task, vector)))
    }

    pub fn scatter<'t>(&self, task: &TaskContext<'t>, vector: Vector) -> ScatterBuffer<'t, T> {
        task.scatter(self.access(task, vector))
    }

    /// The outer vector of the sweep up.
    pub fn outer_up<'s, 't: 's>(&'s self, task: &TaskContext<'t>) -> Values<'s, T> {
        if self.program.has(Vector::Left) {
            let access = self.access(task, Vector::Left);
            return if task.task().accesses[access].1.is_exclusive() {
                Values::Alone(task.write(access))
            } else {
                Values::Here(task.read(access))
            };
        }
        let up = self.program.up.as_ref().expect("a sweep up");
        match up.outer {
            Given::Dense(all) => self.given(all, self.outer_len(up.sweep), self.block(task).0),
            Given::Sparse(_) => unreachable!("what is sparse is spread out first"),
        }
    }

    /// The outer vector of the sweep down.
    pub fn outer_down<'t>(&self, task: &TaskContext<'t>) -> Outer<'t, T> {
        let access = self.access(task, Vector::Outer);
        if task.task().accesses[access].1.is_exclusive() {
            Outer::Alone(task.write(access))
        } else {
            Outer::Scatter(task.scatter(access))
        }
    }

    /// The head of the sweep down, unless it is in the factors.
    pub fn head_down<'s, 't: 's>(&'s self, task: &TaskContext<'t>) -> Option<Values<'s, T>> {
        let down = self.program.down.as_ref().expect("a sweep down");
        match down.head {
            Head::Up | Head::Sparse(_) => Some(self.read(task, Vector::Head)),
            Head::Given(all) => Some(self.given(all, self.head_len(), self.block(task).0)),
            Head::Kept => None,
        }
    }

    /// The rest of the sweep down, if there is one.
    pub fn rest_down<'s, 't: 's>(&'s self, task: &TaskContext<'t>) -> Option<Values<'s, T>> {
        let down = self.program.down.as_ref().expect("a sweep down");
        if self.program.up.is_none() && self.program.has(Vector::Rest) {
            return Some(self.read(task, Vector::Rest));
        }
        let given = !down.rest.is_empty();
        given.then(|| self.given(down.rest, self.rest_len(), self.block(task).0))
    }
}
