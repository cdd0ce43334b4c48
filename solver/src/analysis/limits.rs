//! What no run could count to, refused before anything of that size is made.
//!
//! Takes the shape of a pattern, the fronts, and the tilings; gives errors. Rows, columns, buffers and tasks have numbers of 32 bits;
//! entries, bytes and flops such of 64. With these checks passed no count behind them overflows, in any scalar.

use super::partition::Tiling;
use crate::error::AnalyseError;
use crate::symbolic::Front;
use treeqr_matrices::Pattern;

/// Numbers of rows, buffers and tasks; the largest number itself stands for none.
const NUMBERS: u64 = u32::MAX as u64 - 1;
/// Real flops: a complex factorization has four times as many, and right-hand sides come besides.
const FLOPS: u64 = u64::MAX / 8;
/// Entries of fronts, of up to 16 bytes, with room for what the kernels keep besides.
const ENTRIES: u64 = u64::MAX / 64;

fn at_most(what: &'static str, count: u64, limit: u64) -> Result<(), AnalyseError> {
    if count > limit {
        return Err(AnalyseError::TooLarge { what, count, limit });
    }
    Ok(())
}

/// A front has no more rows than the matrix, and one of zeros at most for each column.
pub(super) fn check_shape(pattern: &Pattern) -> Result<(), AnalyseError> {
    let lines = pattern.nrows() as u64 + pattern.ncols() as u64;
    at_most("rows and columns", lines, NUMBERS)
}

/// Flops and entries of all fronts as whole blocks, which no partition exceeds by much.
pub(super) fn check_fronts(fronts: &[Front], flops: &[u64]) -> Result<(), AnalyseError> {
    let flops = flops.iter().fold(0u64, |sum, &f| sum.saturating_add(f));
    at_most("flops", flops, FLOPS)?;
    let entries = fronts.iter().map(|f| u64::from(f.m) * u64::from(f.n));
    at_most(
        "entries in fronts",
        entries.fold(0, u64::saturating_add),
        ENTRIES,
    )
}

/// Adds the updates of tiles that this front has: not all of its tasks, but nearly. Its buffers are held against the limit too.
pub(super) fn count_tasks(tasks: &mut u64, tiling: &Tiling) -> Result<(), AnalyseError> {
    let columns = tiling.grid().1;
    for k in 0..tiling.panels {
        let rows = (tiling.depth[k] as usize).saturating_sub(tiling.diagonal(k).0);
        *tasks = tasks.saturating_add((rows * (columns - k)) as u64);
    }
    at_most("tasks", *tasks, NUMBERS)?;
    at_most("buffers", buffers(tiling), NUMBERS)
}

/// Tiles, and what their reduction leaves.
fn buffers(tiling: &Tiling) -> u64 {
    let ((p, q), panels) = (tiling.grid(), tiling.panels);
    (p * q + 2 * p * panels + p) as u64
}

/// The buffers of all: a group has two.
pub(super) fn check_units(
    tilings: &[Option<Box<Tiling>>],
    units: usize,
) -> Result<(), AnalyseError> {
    let tiles = tilings.iter().flatten().map(|t| buffers(t));
    let all = tiles.fold(2 * units as u64, u64::saturating_add);
    at_most("buffers", all, NUMBERS)
}
