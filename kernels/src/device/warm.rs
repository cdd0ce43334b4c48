//! What a driver does when a kernel is first asked for, done ahead: translation of PTX, loading of cuBLAS's products.
//!
//! Takes a device; runs every kernel of a front's tasks once on zeros, and gives nothing. Knows no front.

use super::{
    Block, Part, PartLayout, Target, copy_upper, extend, gemqrt, geqrt, place, tp_scratch_bytes,
    tpmqrt, tpqrt,
};
use crate::block::Op;
use crate::stair::Stair;
use treeqr_devices::{Device, DeviceError, ScalarKind, Stream};

/// Rows, columns and inner block of the tiles: enough rows for a strip of many, and a second one of few.
const ROWS: [usize; 2] = [600, 200];
const COLUMNS: usize = 256;
const INNER: usize = 128;

/// Runs all kernels once. On an H100 the first factorization otherwise stood still for 50 to 100 ms, several times.
///
/// # Errors
/// If the device fails, or has not a few megabytes.
pub fn warm_up(device: &dyn Device, scalar: ScalarKind) -> Result<(), DeviceError> {
    let tile = (ROWS[0] * COLUMNS * scalar.bytes()) as u64;
    let scratch = tp_scratch_bytes(scalar, ROWS[0], COLUMNS, INNER) as u64;
    let start = device.reserve(6 * tile + scratch)?;
    let done = run(&mut *device.stream()?, scalar, (start, tile, scratch));
    device.give_back(start);
    done
}

fn run(
    stream: &mut dyn Stream,
    scalar: ScalarKind,
    (start, tile, scratch): (u64, u64, u64),
) -> Result<(), DeviceError> {
    stream.clear(start, 6 * tile + scratch)?;
    let (op, stair, n, ib) = (Op::ConjTrans, Stair::Full, COLUMNS, INNER);
    let work = start + 6 * tile;
    stream.begin()?;
    for m in ROWS {
        let at = |k: u64, ld: usize| Block {
            address: start + k * tile,
            ld,
        };
        let (a, v, t) = (at(0, m), at(1, m), at(2, ib));
        let (r, c1, c2, k) = (at(3, n), at(4, n), at(5, m), m.min(n));
        geqrt(stream, scalar, (m, n), a, stair, ib, v, t, work)?;
        gemqrt(stream, scalar, op, (m, n, k), v, stair, ib, t, c2, work)?;
        tpqrt(stream, scalar, (m, n), r, a, stair, ib, t, work)?;
        let size = (m, n, n);
        tpmqrt(stream, scalar, op, size, a, stair, ib, t, c1, c2, work)?;
        copy_upper(stream, scalar, (n, n), r, c1)?;
        place(stream, scalar, 1, a.address, t.address, c1.address)?;
        let part = Part {
            from: PartLayout::Tile(a),
            row: 0,
            col: 0,
            size: (1, 1),
            trapezoid: true,
        };
        let target = Target {
            tile: c1,
            corner: (0, 0),
        };
        extend(stream, scalar, &part, (t.address, t.address), &target)?;
    }
    stream.finish()?;
    Ok(())
}
