//! `tpqrt` and `tpmqrt` by residuals and against their twins.

mod common;

use common::*;
use proptest::prelude::*;
use treeqr_kernels::*;

#[derive(Clone, Copy, Debug)]
enum Below {
    Full,
    Stairs,
    Triangle,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    m: usize,
    n: usize,
    ib: usize,
    pad: usize,
    below: Below,
    cols: usize,
    seed: u64,
}

fn cases(most: usize) -> impl Strategy<Value = Case> {
    let below = prop_oneof![
        Just(Below::Full),
        Just(Below::Stairs),
        Just(Below::Triangle)
    ];
    (
        (1..most, 1..most, 1usize..70, 0usize..9),
        below,
        1usize..20,
        any::<u64>(),
    )
        .prop_map(|((m, n, ib, pad), below, cols, seed)| Case {
            m,
            n,
            ib,
            pad,
            below,
            cols,
            seed,
        })
}

fn check<T: KernelScalar>(case: Case) {
    let Case { m, n, ib, pad, .. } = case;
    let rng = &mut Rng(case.seed);
    let steps = match case.below {
        Below::Full => None,
        Below::Stairs => Some(staircase(m, n, rng)),
        Below::Triangle => Some((0..n).map(|j| (j + 1).min(m) as u32).collect()),
    };
    let stair = stair_of(&steps);
    let height = |j| stair.rows(j, m);
    let r = Block::<T>::random(n, n, pad, rng).map(|i, j, x| if i > j { nan() } else { x });
    let b =
        Block::<T>::random(m, n, pad, rng).map(|i, j, x| if i >= height(j) { nan() } else { x });
    let (mut r2, mut b2, mut t) = (r.clone(), b.clone(), Block::filled(ib, n, pad, nan()));
    let mut scratch = vec![nan(); tpqrt_scratch::<T>(m, n, ib)];
    tpqrt(
        r2.view_mut(),
        b2.view_mut(),
        stair,
        ib,
        t.view_mut(),
        &mut scratch,
    );
    assert!(r2.padding_is_untouched() && b2.padding_is_untouched() && t.padding_is_untouched());
    below_is_untouched(&r2, &b2, stair);

    let v = b2
        .clone()
        .map(|i, j, x| if i >= height(j) { T::zero() } else { x });
    if let Below::Triangle = case.below {
        let mut copy = Block::filled(m, n, pad, nan());
        copy_upper(b2.view(), copy.view_mut());
        assert_eq!(copy.bits(), v.bits());
    }
    let apply = |op, c1: &mut Block<T>, c2: &mut Block<T>| {
        let mut scratch = vec![nan(); tpmqrt_scratch::<T>(m, c1.n, n, ib)];
        tpmqrt(
            op,
            v.view(),
            stair,
            ib,
            t.view(),
            c1.view_mut(),
            c2.view_mut(),
            &mut scratch,
        );
        assert!(c1.padding_is_untouched() && c2.padding_is_untouched());
    };
    let before = r
        .upper()
        .stack(&b.map(|i, j, x| if i >= height(j) { T::zero() } else { x }));
    let (mut q1, mut q2) = (Block::identity(n, pad), Block::filled(m, n, pad, T::zero()));
    apply(Op::NoTrans, &mut q1, &mut q2);
    assert_small::<T>("Q^H Q", orthogonality(&q1.stack(&q2)), 1.0, m + n);
    let (mut qr1, mut qr2) = (r2.upper(), Block::filled(m, n, pad, T::zero()));
    apply(Op::NoTrans, &mut qr1, &mut qr2);
    let qr = qr1.stack(&qr2);
    assert_small::<T>(
        "A - QR",
        distance(before.view(), qr.view()),
        norm(before.view()),
        m + n,
    );

    for op in [Op::NoTrans, Op::ConjTrans] {
        let mut c1 = Block::<T>::random(n, case.cols, pad, rng);
        let mut c2 = Block::<T>::random(m, case.cols, pad, rng);
        let (mut twin1, mut twin2) = (c1.clone(), c2.clone());
        apply(op, &mut c1, &mut c2);
        reference::tpmqrt(
            op,
            v.view(),
            stair,
            ib,
            t.view(),
            twin1.view_mut(),
            twin2.view_mut(),
        );
        let (c, twin) = (c1.stack(&c2), twin1.stack(&twin2));
        assert_small::<T>(
            "tpmqrt twin",
            distance(c.view(), twin.view()),
            norm(twin.view()),
            m + n,
        );
    }
}

/// Against the twin: with a dominant R the factors are determined well enough to be compared.
fn check_twin<T: KernelScalar>(case: Case) {
    let Case { m, n, ib, pad, .. } = case;
    let rng = &mut Rng(case.seed);
    let big = T::from_f64(2.0 * (m + n) as f64, 1.0);
    let r = Block::<T>::random(n, n, pad, rng).map(|i, j, x| if i == j { x + big } else { x });
    let b = Block::<T>::random(m, n, pad, rng);
    let (mut r1, mut b1, mut t1) = (r.clone(), b.clone(), Block::filled(ib, n, pad, T::zero()));
    let (mut r2, mut b2, mut t2) = (r.clone(), b.clone(), t1.clone());
    let mut scratch = vec![nan(); tpqrt_scratch::<T>(m, n, ib)];
    tpqrt(
        r1.view_mut(),
        b1.view_mut(),
        Stair::Full,
        ib,
        t1.view_mut(),
        &mut scratch,
    );
    reference::tpqrt(r2.view_mut(), b2.view_mut(), Stair::Full, ib, t2.view_mut());
    for (what, x, y) in [("R", r1, r2), ("V", b1, b2), ("T", t1, t2)] {
        assert_small::<T>(what, distance(x.view(), y.view()), norm(y.view()), m + n);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn tpqrt_is_backward_stable(case in cases(80)) {
        four_scalars!(check(case));
    }

    #[test]
    fn tpqrt_agrees_with_its_twin(case in cases(80)) {
        four_scalars!(check_twin(case));
    }
}

#[test]
fn larger_tiles() {
    for below in [Below::Full, Below::Stairs, Below::Triangle] {
        let case = Case {
            m: 200,
            n: 200,
            ib: 32,
            pad: 3,
            below,
            cols: 130,
            seed: 5,
        };
        check::<f64>(case);
        check::<f32>(case);
    }
}
