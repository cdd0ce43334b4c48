//! Assembly on a device: parts of contribution blocks and single entries into tiles.
//!
//! ```text
//!   extend   to(rows(i), cols(j)) = part(i, j)      the part in a tile, or of a block that is packed as an upper trapezoid
//!   place    to[places(k)] = values(k)
//! ```
//!
//! Takes addresses, sizes, and lists of indices that lie on the device (`Stream::put`); gives launches. Copies only, so the result
//! is that of the CPU to the bit. Knows no front.

use super::Block;
use super::launch::Commands;
use treeqr_devices::{DeviceError, ScalarKind, Stream};

/// A part of a contribution block: rows `row..row + size.0` and columns `col..col + size.1` of it.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Where its entries lie.
    pub from: PartLayout,
    /// Its first row.
    pub row: usize,
    /// Its first column.
    pub col: usize,
    /// Rows and columns.
    pub size: (usize, usize),
    /// Whether the block has nothing below its diagonal.
    pub trapezoid: bool,
}

/// How a part lies in memory.
#[derive(Clone, Copy, Debug)]
pub enum PartLayout {
    /// In a tile, in which its first entry is this one.
    Tile(Block),
    /// In the whole block, packed by columns as an upper trapezoid of so many rows.
    Packed {
        /// Of the whole block's first entry.
        address: u64,
        /// Of the whole block.
        rows: usize,
    },
}

/// A tile as a target of [`extend`].
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its first entry.
    pub tile: Block,
    /// The numbers of its first row and column in the lists.
    pub corner: (u32, u32),
}

/// Entry (i, j) of the part goes to row `rows[i]` and column `cols[j]` of the target's front; both are lists of 32-bit integers on
/// the device. Every place that is named lies in the target.
///
/// # Errors
/// If the device fails.
///
/// # Panics
/// If a size has more than 31 bits.
pub fn extend(
    stream: &mut dyn Stream,
    scalar: ScalarKind,
    part: &Part,
    (rows, cols): (u64, u64),
    target: &Target,
) -> Result<(), DeviceError> {
    Commands::new(stream, scalar).extend(part, (rows, cols), target)
}

/// `n` values to places that are counted from `to`, as 32-bit integers.
///
/// # Errors
/// If the device fails.
///
/// # Panics
/// If `n` has more than 31 bits.
pub fn place(
    stream: &mut dyn Stream,
    scalar: ScalarKind,
    n: usize,
    values: u64,
    places: u64,
    to: u64,
) -> Result<(), DeviceError> {
    Commands::new(stream, scalar).place(n, values, places, to)
}
