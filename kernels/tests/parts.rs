//! What is cut by columns has the same bits as what is not.

mod common;

use common::*;
use treeqr_kernels::*;

/// The update by parts, from the last one to the first, each with scratch of its own that holds nothing of use.
fn in_parts<T: KernelScalar>(most: usize) -> impl FnMut(Update<'_, T>, &mut [T]) {
    move |update, _| {
        let mut rest = Some(update);
        let parts: Vec<_> = column_parts(rest.as_ref().map_or(0, Update::columns), most).collect();
        for part in parts.into_iter().rev() {
            let (left, right) = rest.take().expect("the rest").split_at(part.start);
            assert_eq!(right.columns(), part.len());
            let mut scratch = vec![nan::<T>(); right.scratch()];
            right.apply(&mut scratch);
            rest = Some(left);
        }
    }
}

/// All kernels on m x n, whole (`most` = 1) or in parts; gives all bits of all results.
fn run<T: KernelScalar>(m: usize, n: usize, cols: usize, ib: usize, most: usize) -> Vec<u64> {
    let rng = &mut Rng((3 * m + n) as u64);
    let steps = staircase(m, n, rng);
    let stair = Stair::Rows(&steps);
    let k = m.min(n);
    let scratch = |len: usize| vec![nan::<T>(); len];
    let mut bits = Vec::new();

    let a = Block::<T>::random(m, n, 1, rng).below(&steps, T::zero());
    let (mut tile, mut t) = (a.cols(n), Block::filled(ib, k, 0, T::zero()));
    let mut s = scratch(geqrt_scratch::<T>(m, n, ib));
    let mut update = in_parts(most);
    match most {
        1 => geqrt(tile.view_mut(), stair, ib, t.view_mut(), &mut s),
        _ => geqrt_with(
            tile.view_mut(),
            stair,
            ib,
            t.view_mut(),
            &mut s,
            &mut update,
        ),
    }
    bits.extend(tile.bits());
    bits.extend(t.bits());

    let mut v = Block::filled(m, k, 0, T::zero());
    copy_v(tile.view(), stair, v.view_mut());
    let mut c = Block::random(m, cols, 2, rng);
    let mut s = scratch(gemqrt_scratch::<T>(m, cols, k, ib));
    for part in column_parts(cols, most) {
        let c = c.view_mut().submatrix(0, part.start, m, part.len());
        gemqrt(Op::ConjTrans, v.view(), stair, ib, t.view(), c, &mut s);
    }
    bits.extend(c.bits());

    let (mut r, mut b) = (Block::random(n, n, 0, rng), Block::random(m, n, 0, rng));
    let mut t = Block::filled(ib, n, 0, T::zero());
    let mut s = scratch(tpqrt_scratch::<T>(m, n, ib));
    let (rv, bv, tv) = (r.view_mut(), b.view_mut(), t.view_mut());
    match most {
        1 => tpqrt(rv, bv, Stair::Full, ib, tv, &mut s),
        _ => tpqrt_with(rv, bv, Stair::Full, ib, tv, &mut s, &mut update),
    }
    bits.extend(r.bits());
    bits.extend(b.bits());
    bits.extend(t.bits());
    let (mut c1, mut c2) = (
        Block::random(n, cols, 0, rng),
        Block::random(m, cols, 0, rng),
    );
    let mut s = scratch(tpmqrt_scratch::<T>(m, cols, n, ib));
    for part in column_parts(cols, most) {
        let above = c1.view_mut().submatrix(0, part.start, n, part.len());
        let below = c2.view_mut().submatrix(0, part.start, m, part.len());
        let (v, t) = (b.view(), t.view());
        tpmqrt(Op::ConjTrans, v, Stair::Full, ib, t, above, below, &mut s);
    }
    bits.extend(c1.bits());
    bits.extend(c2.bits());

    let mut front = a.cols(n);
    let mut tau = vec![nan::<T>(); k];
    let mut s = scratch(front_qr_scratch::<T>(m, n, 0));
    match most {
        1 => front_qr(front.view_mut(), n, stair, &mut tau, &mut s),
        _ => front_qr_with(front.view_mut(), n, stair, &mut tau, &mut s, &mut update),
    }
    bits.extend(front.bits());
    bits
}

fn same_bits<T: KernelScalar>() {
    for (m, n, cols, ib) in [
        (300, 200, 130, 24),
        (150, 260, 101, 32),
        (97, 64, 200, 16),
        (40, 30, 3, 8),
    ] {
        let whole = run::<T>(m, n, cols, ib, 1);
        for most in [2, 3, 50] {
            let parts = run::<T>(m, n, cols, ib, most);
            assert!(
                parts == whole,
                "{m} x {n}, {cols} columns, at most {most} parts"
            );
        }
    }
}

#[test]
fn parts_change_no_bit() {
    same_bits::<f32>();
    same_bits::<f64>();
    same_bits::<treeqr_matrices::c32>();
    same_bits::<treeqr_matrices::c64>();
}
