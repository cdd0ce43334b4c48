//! Strips beside plain loops, with the vectors of this machine, with shorter ones and, real ones, with none, whether they pay here or not.

use super::{Strips, WIDE, leading, strips_scratch};
use crate::block::{Factor, Op};
use crate::numbers::numbers;
use crate::scalar::KernelScalar;
use crate::simd::arch;
use crate::view::{MatMut, MatRef};
use pulp::Arch;
use treeqr_matrices::{RealScalar, c32, c64};

/// op(T) with its zeros, k x k.
fn factor<T: KernelScalar>(op: Op, k: usize) -> Vec<T> {
    let mut f = numbers::<T>(k * k, 3);
    for j in 0..k {
        for i in 0..k {
            let is_zero = if op == Op::NoTrans { i > j } else { i < j };
            if is_zero {
                f[j * k + i] = T::zero();
            }
        }
    }
    f
}

/// Columns that were not touched, and the greatest difference from plain loops.
fn difference<T: KernelScalar>(
    arch: Arch,
    op: Op,
    place: Factor,
    (m, n, k): (usize, usize, usize),
    two: bool,
    has_steps: bool,
) -> f64 {
    let (mut v, f) = (numbers::<T>((m + 1) * k, 1), factor::<T>(op, k));
    for (j, v) in v.chunks_exact_mut(m + 1).enumerate().filter(|_| has_steps) {
        v[m * j / k..].fill(T::zero());
    }
    let (c1, c2) = (numbers::<T>((k + 2) * n, 4), numbers::<T>((m + 3) * n, 5));
    let ld = leading::<T>(k);
    let mut padded = vec![T::zero(); ld * (k + WIDE)];
    for j in 0..k {
        for i in 0..k {
            padded[j * ld + i] = match place {
                Factor::Between => f[j * k + i],
                Factor::IntoV => -f[i * k + j].conj(),
            };
        }
    }
    let mut scratch = numbers::<T>(strips_scratch::<T>(m, k), 6);
    let (mut d1, mut d2) = (c1.clone(), c2.clone());
    arch.dispatch(Strips {
        op,
        place,
        v: MatRef::new(&v, m, k, m + 1),
        rows: m,
        factor: &padded,
        c1: two.then(|| MatMut::new(&mut d1, k, n, k + 2)),
        c2: MatMut::new(&mut d2, m, n, m + 3),
        scratch: &mut scratch,
    });
    let at = |i: usize, l: usize| v[l * (m + 1) + i];
    let mut worst: f64 = 0.0;
    let mut compare = |is: T, want: T| worst = worst.max((is - want).abs().to_f64());
    for j in 0..n {
        let (c1, c2) = (&c1[j * (k + 2)..][..k + 2], &c2[j * (m + 3)..][..m + 3]);
        let (d1, d2) = (&d1[j * (k + 2)..][..k + 2], &d2[j * (m + 3)..][..m + 3]);
        let w: Vec<T> = (0..k)
            .map(|l| {
                let own = if two { c1[l] } else { T::zero() };
                own + (0..m).map(|i| at(i, l).conj() * c2[i]).sum::<T>()
            })
            .collect();
        let tw: Vec<T> = (0..k)
            .map(|l| (0..k).map(|x| f[x * k + l] * w[x]).sum())
            .collect();
        for l in 0..k {
            compare(d1[l], if two { c1[l] - tw[l] } else { c1[l] });
        }
        for i in 0..m {
            let product: T = (0..k).map(|l| at(i, l) * tw[l]).sum();
            compare(d2[i], c2[i] - product);
        }
        assert_eq!(d1[k..], c1[k..], "below C1");
        assert_eq!(d2[m..], c2[m..], "below C2");
    }
    worst
}

/// What this machine has, AVX2 if that is more, and no vectors: without them a complex number is no pair of what real ones are in.
fn archs(is_complex: bool) -> Vec<Arch> {
    let mut archs = vec![Arch::Scalar, arch()];
    #[cfg(target_arch = "x86_64")]
    if !matches!(arch(), Arch::V3(_)) {
        archs.extend(pulp::x86::V3::try_new().map(Arch::V3));
    }
    archs.retain(|a| !is_complex || !matches!(a, Arch::Scalar));
    archs
}

fn all<T: KernelScalar>() {
    let epsilon = <T::Real as RealScalar>::EPSILON.to_f64();
    let shapes = [
        (0, 5, 3),
        (1, 1, 1),
        (7, 9, 8),
        (24, 8, 24),
        // Columns of V that are a multiple of 1024 bytes apart, for complex, real and single numbers.
        (63, 9, 8),
        (127, 13, 24),
        (255, 7, 17),
        (50, 17, 13),
        (77, 12, 32),
        (300, 10, 5),
        (530, 9, 25),
        (90, 7, 70),
    ];
    for (m, n, k) in shapes {
        for op in [Op::NoTrans, Op::ConjTrans] {
            for (place, two) in [
                (Factor::Between, false),
                (Factor::Between, true),
                (Factor::IntoV, false),
            ] {
                for (arch, has_steps) in archs(T::IS_COMPLEX)
                    .into_iter()
                    .flat_map(|arch| [(arch, false), (arch, true)])
                {
                    let worst = difference::<T>(arch, op, place, (m, n, k), two, has_steps);
                    let bound = 20.0 * epsilon * ((m + k) * k * k) as f64;
                    assert!(
                        worst <= bound,
                        "{} {op:?} {place:?} {m} x {n}, {k} reflectors, {arch:?}, steps {has_steps}: {worst:e} > {bound:e}",
                        T::NAME
                    );
                }
            }
        }
    }
}

#[test]
fn strips_are_what_plain_loops_give() {
    all::<f64>();
    all::<f32>();
    all::<c64>();
    all::<c32>();
}
