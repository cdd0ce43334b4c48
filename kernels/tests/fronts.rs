//! `front_qr` and `apply_packed` by residuals and against their twins.

mod common;

use common::*;
use proptest::prelude::*;
use treeqr_kernels::*;

#[derive(Clone, Copy, Debug)]
struct Case {
    m: usize,
    n: usize,
    nrhs: usize,
    pad: usize,
    stairs: bool,
    zeros: usize,
    seed: u64,
}

fn cases(most: usize) -> impl Strategy<Value = Case> {
    (
        (1..most, 1..most, 0usize..6, 0usize..9),
        any::<bool>(),
        0usize..4,
        any::<u64>(),
    )
        .prop_map(|((m, n, nrhs, pad), stairs, zeros, seed)| Case {
            m,
            n,
            nrhs,
            pad,
            stairs,
            zeros,
            seed,
        })
}

fn check<T: KernelScalar>(case: Case) {
    let Case {
        m, n, nrhs, pad, ..
    } = case;
    let rng = &mut Rng(case.seed);
    let (k, most) = (m.min(n), m.max(n));
    let steps = case.stairs.then(|| staircase(m, n, rng));
    let stair = stair_of(&steps);
    let mut a = Block::<T>::random(m, n + nrhs, pad, rng);
    for _ in 0..case.zeros {
        a.view_mut().col_mut(rng.below(n)).fill(T::zero());
    }
    if let Some(s) = &steps {
        a = a.below(s, T::zero());
    }
    let (mut f, mut tau) = (a.clone(), vec![nan(); k]);
    let mut scratch = vec![nan(); front_qr_scratch::<T>(m, n, nrhs)];
    front_qr(f.view_mut(), n, stair, &mut tau, &mut scratch);
    assert!(f.padding_is_untouched());
    let mut packed = vec![];
    for j in 0..n {
        let h = stair.rows(j, m);
        assert!(
            f.view().col(j)[h..].iter().all(|&x| x == T::zero()),
            "below the staircase"
        );
        if j < k && h > j {
            packed.extend_from_slice(&f.view().col(j)[j + 1..h]);
        }
    }
    assert_eq!(packed.len(), packed_len(m, k, stair));
    let apply = |op, c: &mut Block<T>| apply_packed(op, &packed, stair, &tau, c.view_mut());

    let mut q = Block::identity(m, pad);
    apply(Op::NoTrans, &mut q);
    assert_small::<T>("Q^H Q", orthogonality(&q), 1.0, m);
    let r = f
        .clone()
        .map(|i, j, x| if i <= j || j >= n { x } else { T::zero() });
    let mut qr = r.clone();
    apply(Op::NoTrans, &mut qr);
    assert_small::<T>(
        "A - QR",
        distance(a.view(), qr.view()),
        norm(a.view()),
        most,
    );
    let mut qa = a.clone();
    apply(Op::ConjTrans, &mut qa);
    assert_small::<T>(
        "Q^H A - R",
        distance(qa.view(), r.view()),
        norm(a.view()),
        most,
    );

    for op in [Op::NoTrans, Op::ConjTrans] {
        let mut c = Block::<T>::random(m, nrhs, pad, rng);
        let mut twin = c.clone();
        apply(op, &mut c);
        reference::apply_packed(op, &packed, stair, &tau, twin.view_mut());
        assert_small::<T>(
            "apply_packed twin",
            distance(c.view(), twin.view()),
            norm(twin.view()),
            m,
        );
    }
}

fn check_twin<T: KernelScalar>(case: Case) {
    let Case {
        m, n, nrhs, pad, ..
    } = case;
    let rng = &mut Rng(case.seed);
    let big = T::from_f64(2.0 * m.max(n) as f64, 1.0);
    let a =
        Block::<T>::random(m, n + nrhs, pad, rng).map(|i, j, x| if i == j { x + big } else { x });
    let (mut f1, mut tau1) = (a.clone(), vec![T::zero(); m.min(n)]);
    let (mut f2, mut tau2) = (a.clone(), tau1.clone());
    let mut scratch = vec![nan(); front_qr_scratch::<T>(m, n, nrhs)];
    front_qr(f1.view_mut(), n, Stair::Full, &mut tau1, &mut scratch);
    reference::front_qr(f2.view_mut(), n, Stair::Full, &mut tau2);
    assert_small::<T>(
        "R and V",
        distance(f1.view(), f2.view()),
        norm(f2.view()),
        m.max(n),
    );
    let (tau1, tau2) = (
        MatRef::new(&tau1, tau1.len(), 1, tau1.len()),
        MatRef::new(&tau2, tau2.len(), 1, tau2.len()),
    );
    assert_small::<T>("tau", distance(tau1, tau2), norm(tau2), m.max(n));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn front_qr_is_backward_stable(case in cases(90)) {
        four_scalars!(check(case));
    }

    #[test]
    fn tiny_fronts(case in cases(9)) {
        four_scalars!(check(case));
    }

    #[test]
    fn front_qr_agrees_with_its_twin(case in cases(90)) {
        four_scalars!(check_twin(case));
    }
}

#[test]
fn larger_fronts() {
    for (m, n, stairs) in [(400, 130, true), (300, 200, false), (150, 300, true)] {
        let case = Case {
            m,
            n,
            nrhs: 2,
            pad: 1,
            stairs,
            zeros: 1,
            seed: 11,
        };
        check::<f64>(case);
        check::<num_complex::Complex<f64>>(case);
    }
}

/// A front may come with fewer rows than its scratch was made for, and so be small where that one was not.
#[test]
fn scratch_for_more_rows_is_enough_for_fewer() {
    for cols in [1, 5, 30, 120, 138, 700] {
        for nrhs in [0, 3] {
            let mut before = 0;
            for m in 1..400 {
                let now = front_qr_scratch::<f64>(m, cols, nrhs);
                assert!(now >= before, "{m} x ({cols} + {nrhs}): {now} < {before}");
                before = now;
            }
        }
    }
}
