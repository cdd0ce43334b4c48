//! `geqrt` and `gemqrt` by residuals and against their twins.

mod common;

use common::*;
use proptest::prelude::*;
use treeqr_kernels::*;

#[derive(Clone, Copy, Debug)]
struct Case {
    m: usize,
    n: usize,
    ib: usize,
    pad: usize,
    stairs: bool,
    cols: usize,
    zeros: usize,
    seed: u64,
}

fn cases(most: usize) -> impl Strategy<Value = Case> {
    let shape = (1..most, 1..most, 1usize..70, 0usize..9);
    (shape, any::<bool>(), 1usize..20, 0usize..5, any::<u64>()).prop_map(
        |((m, n, ib, pad), stairs, cols, zeros, seed)| Case {
            m,
            n,
            ib,
            pad,
            stairs,
            cols,
            zeros,
            seed,
        },
    )
}

/// Factorizes; gives the tile before, after, and T.
pub fn factorize<T: KernelScalar>(
    a: &Block<T>,
    stair: Stair,
    ib: usize,
    pad: usize,
) -> (Block<T>, Block<T>) {
    let k = a.m.min(a.n);
    let (mut f, mut t) = (a.clone(), Block::filled(ib, k, pad, nan()));
    let mut scratch = vec![nan(); geqrt_scratch::<T>(a.m, a.n, ib)];
    geqrt(f.view_mut(), stair, ib, t.view_mut(), &mut scratch);
    (f, t)
}

fn check<T: KernelScalar>(case: Case) {
    let Case { m, n, ib, pad, .. } = case;
    let rng = &mut Rng(case.seed);
    let (k, most) = (m.min(n), m.max(n));
    let steps = case.stairs.then(|| staircase(m, n, rng));
    let stair = stair_of(&steps);
    let mut a = Block::<T>::random(m, n, pad, rng);
    for _ in 0..case.zeros {
        a.view_mut().col_mut(rng.below(n)).fill(T::zero());
    }
    if let Some(s) = &steps {
        a = a.below(s, T::zero());
    }
    let (f, t) = factorize(&a, stair, ib, pad);
    assert!(f.padding_is_untouched() && t.padding_is_untouched());
    for j in 0..n {
        assert!(
            f.view().col(j)[stair.rows(j, m)..]
                .iter()
                .all(|&x| x == T::zero()),
            "below the staircase"
        );
    }

    let mut v = Block::filled(m, k, pad, nan());
    // What is below the staircase is not looked at.
    let spoilt = match stair {
        Stair::Rows(rows) => f.clone().below(rows, nan()),
        Stair::Full => f.clone(),
    };
    copy_v(spoilt.view(), stair, v.view_mut());
    let apply = |op, c: &mut Block<T>| {
        let mut scratch = vec![nan(); gemqrt_scratch::<T>(m, c.n, k, ib)];
        gemqrt(
            op,
            v.view(),
            stair,
            ib,
            t.view(),
            c.view_mut(),
            &mut scratch,
        );
        assert!(c.padding_is_untouched());
    };
    let mut q = Block::identity(m, pad);
    apply(Op::NoTrans, &mut q);
    assert_small::<T>("Q^H Q", orthogonality(&q), 1.0, m);
    let mut qr = f.clone().upper();
    apply(Op::NoTrans, &mut qr);
    assert_small::<T>(
        "A - QR",
        distance(a.view(), qr.view()),
        norm(a.view()),
        most,
    );
    let mut r = a.clone();
    apply(Op::ConjTrans, &mut r);
    assert_small::<T>(
        "Q^H A - R",
        distance(r.view(), f.clone().upper().view()),
        norm(a.view()),
        most,
    );

    for op in [Op::NoTrans, Op::ConjTrans] {
        let mut c = Block::<T>::random(m, case.cols, pad, rng);
        let mut twin = c.clone();
        reference::gemqrt(op, v.view(), stair, ib, t.view(), twin.view_mut());
        apply(op, &mut c);
        assert_small::<T>(
            "gemqrt twin",
            distance(c.view(), twin.view()),
            norm(twin.view()),
            m,
        );
    }
}

/// Against the twin, on well-conditioned tiles: their factors are determined well enough to be compared.
fn check_twin<T: KernelScalar>(case: Case) {
    let Case { m, n, ib, pad, .. } = case;
    let rng = &mut Rng(case.seed);
    let k = m.min(n);
    let big = T::from_f64(2.0 * m.max(n) as f64, 1.0);
    let a = Block::<T>::random(m, n, pad, rng).map(|i, j, x| if i == j { x + big } else { x });
    let (f, t) = factorize(&a, Stair::Full, ib, pad);
    let (mut f2, mut t2) = (a.clone(), Block::filled(ib, k, pad, T::zero()));
    reference::geqrt(f2.view_mut(), Stair::Full, ib, t2.view_mut());
    let t = t.map(|i, _, x| if i < ib.min(k) { x } else { T::zero() });
    // The rows of T below a narrow last block are not written.
    let t = t.map(|i, j, x| {
        if i >= (k - j / ib * ib).min(ib) {
            T::zero()
        } else {
            x
        }
    });
    assert_small::<T>(
        "R and V",
        distance(f.view(), f2.view()),
        norm(f2.view()),
        m.max(n),
    );
    assert_small::<T>(
        "T",
        distance(t.view(), t2.view()),
        norm(t2.view()),
        m.max(n),
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn geqrt_is_backward_stable(case in cases(90)) {
        four_scalars!(check(case));
    }

    #[test]
    fn geqrt_agrees_with_its_twin(case in cases(90)) {
        four_scalars!(check_twin(case));
    }
}

#[test]
fn larger_tiles() {
    for (m, n, ib, stairs) in [
        (300, 200, 32, true),
        (257, 130, 48, false),
        (130, 260, 24, true),
    ] {
        let case = Case {
            m,
            n,
            ib,
            pad: 3,
            stairs,
            cols: 40,
            zeros: 1,
            seed: 7,
        };
        check::<f64>(case);
        check::<num_complex::Complex<f32>>(case);
    }
}

#[test]
fn edges() {
    for (m, n, ib) in [
        (1, 1, 1),
        (1, 5, 3),
        (5, 1, 9),
        (8, 8, 8),
        (9, 9, 100),
        (2, 2, 1),
        (64, 17, 16),
    ] {
        for stairs in [false, true] {
            let case = Case {
                m,
                n,
                ib,
                pad: 0,
                stairs,
                cols: 1,
                zeros: 0,
                seed: 3,
            };
            four_scalars!(check(case));
        }
    }
}
