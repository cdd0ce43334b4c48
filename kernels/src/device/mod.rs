//! The kernels on a device: each is a list of launches and matrix products on a [`Stream`].
//!
//! ```text
//!   geqrt    per panel of ib columns: panel, copy_v, and the update of the columns to its right
//!   tpqrt    per panel: panel, copy_stair, and the update
//!   panel    strip by strip, each with what it changes beside it, then T from those of the strips
//!   gemqrt   per panel: the update          tpmqrt   per panel: the update with C1
//!
//!   update   W = C1 + V^H C2     (copy, gemm)           V is dense, its unit triangle and its zeros written out beside T, and
//!            W2 = op(T) W        (gemm)                 T has zeros below its diagonal: so all of it is large products, and
//!            C1 = C1 - W2        (subtract)             no small triangular step is left
//!            C2 = C2 - V W2      (gemm)
//! ```
//!
//! Takes addresses in a device's memory, sizes and staircases; gives nothing but what the device does later. The results agree with
//! the CPU's kernels up to rounding, T and V included, so a front may change sides between any two tasks. Knows neither CUDA nor
//! the host: `kernels/cuda/` has the sources of what is launched (`strip.cu`, `panel.cu`, `copies.cu`; for `assembly` and
//! `fronts`, the files of these names), `ptx` what is shipped of them, `host` the same with plain loops, and the tests run the very sources, compiled for the host.

mod assembly;
mod fronts;
mod host;
mod launch;
mod ptx;
mod warm;

pub use assembly::{Part, PartLayout, Target, extend, place};
pub use fronts::{FRONT_BYTES, FrontShape, front_qr_batch};
pub use host::HostKernels;
pub use ptx::{MODULES, fingerprint, modules, sources};
pub use warm::warm_up;

use crate::block::Op;
use crate::gemqrt::blocks;
use crate::scalar::KernelScalar;
use crate::stair::Stair;
use launch::Commands;
use treeqr_devices::{DeviceError, ScalarKind, Stream};

/// Columns of a panel at most, and so the largest inner block: a staircase is passed by value (`kernels/cuda/stair.cuh`).
pub const MOST_COLUMNS: usize = 128;

/// A column-major block in a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Of its first entry.
    pub address: u64,
    /// Its leading dimension.
    pub ld: usize,
}

/// The format of T on a device.
pub fn scalar_kind<T: KernelScalar>() -> ScalarKind {
    match (size_of::<T::Real>(), T::IS_COMPLEX) {
        (4, false) => ScalarKind::F32,
        (4, true) => ScalarKind::C32,
        (_, false) => ScalarKind::F64,
        (_, true) => ScalarKind::C64,
    }
}

/// Bytes of scratch that the update of `n` columns by `ib` reflectors needs.
fn update_bytes(scalar: ScalarKind, n: usize, ib: usize) -> usize {
    2 * ib * n * scalar.bytes()
}

/// Bytes of scratch for [`geqrt`] and [`gemqrt`] on n columns.
pub fn ge_scratch_bytes(scalar: ScalarKind, n: usize, ib: usize) -> usize {
    update_bytes(scalar, n, ib)
}

/// Bytes of scratch for [`tpqrt`] and [`tpmqrt`] on m x n tiles.
pub fn tp_scratch_bytes(scalar: ScalarKind, m: usize, n: usize, ib: usize) -> usize {
    update_bytes(scalar, n, ib) + m * ib * scalar.bytes()
}

/// A = Q R: [`crate::geqrt`] on a device, which writes V with its unit triangle too, as [`crate::copy_v`] does.
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `a` | m x n | the tile, zero below the staircase | R on and above the diagonal, V below it |
/// | `stair` | n | over the rows of `a` | |
/// | `v` | m x k, k = min(m, n) | anything | unit lower trapezoid |
/// | `t` | ib x k | anything | as of `geqrt`; the last block writes as many rows as it has columns |
/// | `scratch` | [`ge_scratch_bytes`] | anything | anything |
///
/// # Errors
/// If the device fails.
///
/// # Panics
/// If `ib` is 0 or above [`MOST_COLUMNS`], or the staircase does not fit.
#[allow(clippy::too_many_arguments)] // LAPACK's order, and where it runs
pub fn geqrt(
    stream: &mut dyn Stream,
    scalar: ScalarKind,
    (m, n): (usize, usize),
    a: Block,
    stair: Stair,
    ib: usize,
    v: Block,
    t: Block,
    scratch: u64,
) -> Result<(), DeviceError> {
    stair.check(m, n);
    let k = m.min(n);
    let mut run = Commands::new(stream, scalar);
    for j0 in blocks(Op::ConjTrans, k, checked(ib)) {
        let kb = ib.min(k - j0);
        let rows: Vec<usize> = (j0..j0 + kb)
            .map(|j| stair.rows(j, m).saturating_sub(j0))
            .collect();
        let h = rows[kb - 1];
        let (here, t) = (run.at(a, j0, j0), run.at(t, 0, j0));
        run.panel(here, None, t, &rows, scratch)?;
        run.copy_v(run.at(a, 0, j0), run.at(v, 0, j0), (m, kb), j0)?;
        let (v, right) = (run.at(v, j0, j0), run.at(a, j0, j0 + kb));
        run.update(
            Op::ConjTrans,
            v,
            (h, kb),
            t,
            None,
            right,
            n - j0 - kb,
            scratch,
        )?;
    }
    Ok(())
}

/// C = op(Q) C: [`crate::gemqrt`] on a device, with k reflectors.
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `v` | m x k | as [`geqrt`] left it | |
/// | `stair` | k | that of `geqrt` | |
/// | `t` | ib x k | as `geqrt` left it | |
/// | `c` | m x n | C | op(Q) C |
/// | `scratch` | [`ge_scratch_bytes`] | anything | anything |
///
/// # Errors
/// If the device fails.
///
/// # Panics
/// As [`geqrt`].
#[allow(clippy::too_many_arguments)] // as above
pub fn gemqrt(
    stream: &mut dyn Stream,
    scalar: ScalarKind,
    op: Op,
    (m, n, k): (usize, usize, usize),
    v: Block,
    stair: Stair,
    ib: usize,
    t: Block,
    c: Block,
    scratch: u64,
) -> Result<(), DeviceError> {
    stair.check(m, k);
    let mut run = Commands::new(stream, scalar);
    for j0 in blocks(op, k, checked(ib)) {
        let kb = ib.min(k - j0);
        let h = stair.rows(j0 + kb - 1, m).saturating_sub(j0);
        let (v, t, c) = (run.at(v, j0, j0), run.at(t, 0, j0), run.at(c, j0, 0));
        run.update(op, v, (h, kb), t, None, c, n, scratch)?;
    }
    Ok(())
}

/// `[R; B] = Q [R'; 0]`: [`crate::tpqrt`] on a device.
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `r` | n x n | R in its upper triangle; the rest is neither read nor written | R' |
/// | `b` | m x n | B; below the staircase anything, neither used nor changed | V |
/// | `stair` | n | over the rows of `b` | |
/// | `t` | ib x n | anything | as of `tpqrt` |
/// | `scratch` | [`tp_scratch_bytes`] | anything | anything |
///
/// # Errors
/// If the device fails.
///
/// # Panics
/// As [`geqrt`].
#[allow(clippy::too_many_arguments)] // as above
pub fn tpqrt(
    stream: &mut dyn Stream,
    scalar: ScalarKind,
    (m, n): (usize, usize),
    r: Block,
    b: Block,
    stair: Stair,
    ib: usize,
    t: Block,
    scratch: u64,
) -> Result<(), DeviceError> {
    stair.check(m, n);
    let mut run = Commands::new(stream, scalar);
    let v = Block {
        address: scratch + update_bytes(scalar, n, ib) as u64,
        ld: m.max(1),
    };
    for j0 in blocks(Op::ConjTrans, n, checked(ib)) {
        let kb = ib.min(n - j0);
        let rows: Vec<usize> = (j0..j0 + kb).map(|j| stair.rows(j, m)).collect();
        let h = rows[kb - 1];
        let (left, t) = (run.at(b, 0, j0), run.at(t, 0, j0));
        run.panel(left, Some(run.at(r, j0, j0)), t, &rows, scratch)?;
        let right = n - j0 - kb;
        if right > 0 && h > 0 {
            // Below the staircase the tile holds anything.
            run.copy_stair(left, v, h, &rows)?;
            let (c1, c2) = (run.at(r, j0, j0 + kb), run.at(b, 0, j0 + kb));
            run.update(Op::ConjTrans, v, (h, kb), t, Some(c1), c2, right, scratch)?;
        }
    }
    Ok(())
}

/// `[C1; C2] = op(Q) [C1; C2]`: [`crate::tpmqrt`] on a device, with k reflectors.
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `v` | m x k | V of [`tpqrt`], with zeros written below the staircase | |
/// | `stair` | k | that of `tpqrt` | |
/// | `t` | ib x k | as `tpqrt` left it | |
/// | `c1` | k x n | the tile beside R | |
/// | `c2` | m x n | the tile beside B | |
/// | `scratch` | [`tp_scratch_bytes`] | anything | anything |
///
/// # Errors
/// If the device fails.
///
/// # Panics
/// As [`geqrt`].
#[allow(clippy::too_many_arguments)] // as above
pub fn tpmqrt(
    stream: &mut dyn Stream,
    scalar: ScalarKind,
    op: Op,
    (m, n, k): (usize, usize, usize),
    v: Block,
    stair: Stair,
    ib: usize,
    t: Block,
    c1: Block,
    c2: Block,
    scratch: u64,
) -> Result<(), DeviceError> {
    stair.check(m, k);
    let mut run = Commands::new(stream, scalar);
    for j0 in blocks(op, k, checked(ib)) {
        let kb = ib.min(k - j0);
        let h = stair.rows(j0 + kb - 1, m);
        let (v, t, c1) = (run.at(v, 0, j0), run.at(t, 0, j0), run.at(c1, j0, 0));
        run.update(op, v, (h, kb), t, Some(c1), c2, n, scratch)?;
    }
    Ok(())
}

/// [`crate::copy_upper`] on a device: the upper triangle or trapezoid of the m x n block `a`, zeros below it.
///
/// # Errors
/// If the device fails.
pub fn copy_upper(
    stream: &mut dyn Stream,
    scalar: ScalarKind,
    (m, n): (usize, usize),
    a: Block,
    to: Block,
) -> Result<(), DeviceError> {
    Commands::new(stream, scalar).copy_upper(a, to, (m, n))
}

fn checked(ib: usize) -> usize {
    assert!(
        (1..=MOST_COLUMNS).contains(&ib),
        "an inner block of {ib} columns on a device"
    );
    ib
}
