//! The same numbers at other places in memory give the same bits.

mod common;

use common::*;
use treeqr_kernels::*;

/// A block's entries copied to a place `shift` elements further, with another leading dimension.
struct Moved<T> {
    data: Vec<T>,
    shift: usize,
    m: usize,
    n: usize,
    ld: usize,
}

impl<T: KernelScalar> Moved<T> {
    fn new(a: &Block<T>, shift: usize, pad: usize) -> Self {
        let ld = a.m + pad;
        let mut data = vec![nan(); shift + ld * a.n];
        for j in 0..a.n {
            data[shift + j * ld..][..a.m].copy_from_slice(a.view().col(j));
        }
        Self {
            data,
            shift,
            m: a.m,
            n: a.n,
            ld,
        }
    }
    fn view(&self) -> MatRef<'_, T> {
        MatRef::new(&self.data[self.shift..], self.m, self.n, self.ld)
    }
    fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::new(&mut self.data[self.shift..], self.m, self.n, self.ld)
    }
    fn block(&self) -> Block<T> {
        let mut b = Block::filled(self.m, self.n, 0, T::zero());
        for j in 0..self.n {
            b.view_mut().col_mut(j).copy_from_slice(self.view().col(j));
        }
        b
    }
}

/// Everything on the same values, all blocks moved; gives all bits of all results.
fn run<T: KernelScalar>(
    m: usize,
    n: usize,
    ib: usize,
    cols: usize,
    shift: usize,
    pad: usize,
) -> Vec<u64> {
    let rng = &mut Rng((m * n) as u64);
    let stair = staircase(m, n, rng);
    let stair = Stair::Rows(&stair);
    let k = m.min(n);
    let mut bits = vec![];
    let mut keep = |b: &Moved<T>| bits.extend(b.block().bits());
    let mut draw = |m, n| Moved::new(&Block::<T>::random(m, n, 0, rng), shift, pad);
    let scratch = |len: usize| vec![nan::<T>(); len + shift];

    let a = draw(m, n).block();
    let a = match stair {
        Stair::Rows(s) => a.below(s, T::zero()),
        Stair::Full => a,
    };
    let mut a = Moved::new(&a, shift, pad);
    let mut front = Moved::new(&a.block(), shift, pad);
    let mut t = Moved::new(&Block::filled(ib, k, 0, T::zero()), shift, pad);
    let mut s = scratch(geqrt_scratch::<T>(m, n, ib));
    geqrt(a.view_mut(), stair, ib, t.view_mut(), &mut s[shift..]);
    keep(&a);
    keep(&t);
    let mut v = Moved::new(&Block::filled(m, k, 0, T::zero()), shift, pad);
    copy_v(a.view(), stair, v.view_mut());
    let mut c = draw(m, cols);
    let mut s = scratch(gemqrt_scratch::<T>(m, cols, k, ib));
    gemqrt(
        Op::ConjTrans,
        v.view(),
        stair,
        ib,
        t.view(),
        c.view_mut(),
        &mut s[shift..],
    );
    keep(&c);

    let (mut r, mut b) = (draw(n, n), draw(m, n));
    let mut t = Moved::new(&Block::filled(ib, n, 0, T::zero()), shift, pad);
    let mut s = scratch(tpqrt_scratch::<T>(m, n, ib));
    tpqrt(
        r.view_mut(),
        b.view_mut(),
        Stair::Full,
        ib,
        t.view_mut(),
        &mut s[shift..],
    );
    keep(&r);
    keep(&b);
    keep(&t);
    let (mut c1, mut c2) = (draw(n, cols), draw(m, cols));
    let mut s = scratch(tpmqrt_scratch::<T>(m, cols, n, ib));
    tpmqrt(
        Op::NoTrans,
        b.view(),
        Stair::Full,
        ib,
        t.view(),
        c1.view_mut(),
        c2.view_mut(),
        &mut s[shift..],
    );
    keep(&c1);
    keep(&c2);

    let mut tau = vec![T::zero(); k];
    let mut s = scratch(front_qr_scratch::<T>(m, n, 0));
    front_qr(front.view_mut(), n, stair, &mut tau, &mut s[shift..]);
    keep(&front);
    bits
}

fn check<T: KernelScalar>(m: usize, n: usize, ib: usize, cols: usize) {
    let first = run::<T>(m, n, ib, cols, 0, 0);
    for (shift, pad) in [(1, 0), (3, 5), (0, 1), (7, 64), (5, 27)] {
        let again = run::<T>(m, n, ib, cols, shift, pad);
        let differ = first.iter().zip(&again).filter(|(a, b)| a != b).count();
        assert_eq!(
            differ,
            0,
            "{} {m} x {n}, ib {ib}, {cols}: shift {shift}, pad {pad}",
            T::NAME
        );
    }
}

#[test]
fn place_and_leading_dimension_do_not_matter() {
    for (m, n, ib, cols) in [
        (5, 3, 2, 1),
        (33, 20, 8, 7),
        (70, 64, 24, 33),
        (128, 96, 32, 128),
        (257, 130, 32, 65),
    ] {
        four_scalars!(check(m, n, ib, cols));
    }
}

#[test]
fn larger_products_too() {
    check::<f64>(320, 320, 32, 320);
    check::<f64>(1000, 250, 32, 100);
    check::<f32>(512, 256, 48, 256);
}
