//! `front_qr`: a whole front, or a right-hand side beside it, in one column-major block.

pub(crate) mod small;

use crate::block::apply_scratch;
use crate::geqrt::reduce_block;
use crate::panel::{Panel, line, panel_scratch};
use crate::scalar::KernelScalar;
use crate::stair::Stair;
use crate::strips;
use crate::update::Update;
use crate::view::MatMut;
use small::small_scratch;

/// The panel width for a front of `m` rows and `n` pivotal columns.
fn width(m: usize, n: usize) -> usize {
    let k = m.min(n);
    // Measured on staircases: what wider products gain, T and the zeros below the stairs cost in a front that is small.
    k.min(match k {
        0..=256 if strips::pay() => 8,
        0..=1000 => 16,
        _ => 24,
    })
}

/// Where a block should begin that [`front_qr`] works on, in bytes, so that it reads and writes whole cache lines.
pub const FRONT_ALIGNMENT: usize = 64;

/// The leading dimension with which [`front_qr`] is quickest on `m` rows: whole cache lines, and an odd number of them in taller fronts,
/// so that columns do not fall onto the same cache sets.
pub fn front_leading<T>(m: usize) -> usize {
    let lines = m.div_ceil(line::<T>()).max(1);
    (if lines > 8 { lines | 1 } else { lines }) * line::<T>()
}

/// Elements of scratch for [`front_qr`] on m x (n + nrhs), or fewer rows.
pub fn front_qr_scratch<T: KernelScalar>(m: usize, n: usize, nrhs: usize) -> usize {
    let cols = n + nrhs;
    // A front that is just too large to be small may need less than one of fewer rows that is.
    let small = small_scratch::<T>(m.min(SMALL_BYTES / (cols * size_of::<T>()).max(1)), cols);
    if is_small::<T>(m, cols) {
        return small;
    }
    let ib = width(m, n);
    small.max(panel_scratch::<T>(m, ib) + ib * ib + apply_scratch::<T>(m, cols, ib))
}

/// Elements of scratch for an update of [`front_qr_with`] on m x (n + nrhs), or a part of it.
pub fn front_update_scratch<T: KernelScalar>(m: usize, n: usize, nrhs: usize) -> usize {
    if is_small::<T>(m, n + nrhs) {
        return 0;
    }
    apply_scratch::<T>(m, n + nrhs, width(m, n))
}

/// Whether the front goes without blocks.
fn is_small<T>(m: usize, cols: usize) -> bool {
    m * cols * size_of::<T>() <= SMALL_BYTES
}

/// Fronts of at most this many bytes go without blocks: what the first-level cache holds.
const SMALL_BYTES: usize = 48 << 10;

/// A = Q R on the first `n` columns of an m x (n + nrhs) block, and Q^H applied to the others.
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `a` | m x (n + nrhs) | the front, zero below the staircase, and full columns beside it | R on and above the diagonal, V below it (unit diagonal implicit), Q^H of the other columns |
/// | `stair` | n | over the rows of `a`, of the first n columns only | |
/// | `tau` | min(m, n), or fewer: the rows above the last step of the staircase | anything | the factor of each reflector, 0 for the identity |
/// | `scratch` | [`front_qr_scratch`] | anything | anything |
///
/// The blocking is its own and a function of m, n, nrhs, the staircase and the length of the machine's vectors.
///
/// # Panics
/// When the shapes or the staircase don't fit, or the scratch is too small.
///
/// # Cost
/// [`front_qr_flops`](crate::front_qr_flops).
///
/// # Accuracy
/// As [`geqrt`](crate::geqrt).
pub fn front_qr<T: KernelScalar>(
    a: MatMut<T>,
    n: usize,
    stair: Stair,
    tau: &mut [T],
    scratch: &mut [T],
) {
    front_qr_with(a, n, stair, tau, scratch, &mut |rest, scratch| {
        rest.apply(scratch)
    });
}

/// As [`front_qr`], with each update done by `update`, which also gets scratch for the whole of it. Fronts that the nearest cache holds
/// have none.
pub fn front_qr_with<T: KernelScalar>(
    mut a: MatMut<T>,
    n: usize,
    stair: Stair,
    tau: &mut [T],
    scratch: &mut [T],
    update: &mut dyn FnMut(Update<'_, T>, &mut [T]),
) {
    let (m, cols) = (a.nrows(), a.ncols());
    assert!(n <= cols, "front_qr of {n} columns of {cols}");
    let k = tau.len();
    stair.check(m, n);
    let rows = if n > 0 { stair.rows(n - 1, m) } else { 0 };
    assert!(
        rows.min(n) <= k && k <= m.min(n),
        "front_qr: {k} taus for {rows} x {n}"
    );
    if k == 0 {
        return;
    }
    if is_small::<T>(m, cols) {
        T::small_front(a, n, stair, tau, scratch);
        return;
    }
    let ib = width(m, n);
    let (mut panel, scratch) = Panel::new(scratch, m, ib);
    let (t, scratch) = scratch.split_at_mut(ib * ib);
    for j0 in (0..k).step_by(ib) {
        let kb = ib.min(k - j0);
        let mut t = MatMut::new(t, kb, kb, ib);
        reduce_block(
            a.rb_mut(),
            stair,
            j0,
            t.rb_mut(),
            &mut panel,
            scratch,
            update,
        );
        for j in 0..kb {
            tau[j0 + j] = t.at(j, j);
        }
    }
}
