//! Who worked on a task, and when: its own worker from its start to its end, and those who had no task and did parts of it.
//!
//! Takes tasks and shares; gives [`Piece`]s. A task's operations are divided by the time of those who worked on it, so that no
//! worker seems faster than it was. Shares of tasks that are not there are left out.

use super::check::Numbers;
use crate::trace::schema::{Share, Task};
use std::collections::HashMap;

/// A span of a worker in a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'t> {
    pub task: &'t Task,
    /// The row of the task.
    pub row: usize,
    pub worker: u16,
    pub start_ns: u64,
    pub end_ns: u64,
    /// Its part of the task's operations; those of all pieces add up to them.
    pub flops: u64,
    /// Of the task's own worker.
    pub own: bool,
    /// How many parts a helper did; 0 of the own worker, who did the rest.
    pub parts: u32,
}

impl Piece<'_> {
    pub fn duration_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// One for the task itself, so that tasks can be counted.
    pub fn tasks(&self) -> u64 {
        self.own.into()
    }
}

/// The tasks in their order, then the shares in theirs. O(tasks + shares) where tasks are in the order of their numbers.
pub(crate) fn pieces<'t>(
    tasks: &'t [Task],
    shares: &'t [Share],
) -> impl Iterator<Item = Piece<'t>> {
    let helpers = helpers(tasks, shares);
    let mut given: HashMap<usize, u64> = HashMap::new();
    for piece in &helpers {
        *given.entry(piece.row).or_default() += piece.flops;
    }
    let own = move |(row, task): (usize, &'t Task)| Piece {
        task,
        row,
        worker: task.worker,
        start_ns: task.start_ns,
        end_ns: task.end_ns,
        flops: task.flops - given.get(&row).unwrap_or(&0),
        own: true,
        parts: 0,
    };
    tasks.iter().enumerate().map(own).chain(helpers)
}

/// The shares alone.
pub(crate) fn helpers<'t>(tasks: &'t [Task], shares: &'t [Share]) -> Vec<Piece<'t>> {
    if shares.is_empty() {
        return Vec::new();
    }
    let numbers = Numbers::of(tasks.iter().map(|t| t.task));
    let piece = |share: &Share| {
        let row = numbers.row(share.task)?;
        Some(Piece {
            task: &tasks[row],
            row,
            worker: share.worker,
            start_ns: share.start_ns,
            end_ns: share.end_ns,
            flops: 0,
            own: false,
            parts: share.parts,
        })
    };
    let mut helpers: Vec<_> = shares.iter().filter_map(piece).collect();
    let mut worked: HashMap<usize, u128> = HashMap::new();
    for piece in &helpers {
        let own = || u128::from(piece.task.end_ns.saturating_sub(piece.task.start_ns));
        *worked.entry(piece.row).or_insert_with(own) += u128::from(piece.duration_ns());
    }
    for piece in &mut helpers {
        let part = u128::from(piece.task.flops) * u128::from(piece.duration_ns());
        piece.flops = (part / worked[&piece.row].max(1)) as u64;
    }
    helpers
}
