//! The counts against a count of the loops.

use proptest::prelude::*;
use treeqr_kernels::*;
use treeqr_matrices::{c32, c64};

/// What a reflector of length `l` costs to make (if `make`) and to apply to `cols` columns.
fn cost(l: usize, make: bool, cols: usize) -> u64 {
    if l <= 1 {
        return 0;
    }
    l as u64 * (u64::from(make) * 3 + 4 * cols as u64)
}

proptest! {
    #[test]
    fn counts_are_sums_over_reflectors(m in 0usize..40, n in 0usize..40, cols in 0usize..9, seed in any::<u64>()) {
        let mut steps: Vec<u32> = (0..n).map(|j| ((seed >> (j % 60)) as u32) % (m as u32 + 1)).collect();
        steps.sort_unstable();
        let k = m.min(n);
        for stair in [Stair::Full, Stair::Rows(&steps)] {
            let ge = |j: usize| stair.rows(j, m).saturating_sub(j);
            let tp = |j: usize| stair.rows(j, m) + 1;
            let sum = |f: &dyn Fn(usize) -> u64, k: usize| (0..k).map(f).sum::<u64>();
            let expect = sum(&|j| cost(ge(j), true, n - j - 1), k);
            prop_assert_eq!(geqrt_flops::<f64>(m, n, stair), expect);
            prop_assert_eq!(geqrt_flops::<c64>(m, n, stair), 4 * expect);
            let expect = sum(&|j| cost(ge(j), true, n + cols - j - 1), k);
            prop_assert_eq!(front_qr_flops::<f32>(m, n, cols, stair), expect);
            let expect = sum(&|j| cost(ge(j), false, cols), k);
            prop_assert_eq!(gemqrt_flops::<c32>(m, cols, k, stair), 4 * expect);
            prop_assert_eq!(apply_packed_flops::<f64>(m, cols, k, stair), expect);
            let expect = sum(&|j| cost(tp(j), true, n - j - 1), n);
            prop_assert_eq!(tpqrt_flops::<f64>(m, n, stair), expect);
            let expect = sum(&|j| cost(tp(j), false, cols), n);
            prop_assert_eq!(tpmqrt_flops::<f64>(m, cols, n, stair), expect);
            // A front's factorization and a right-hand side's cost together what they cost apart.
            prop_assert_eq!(
                front_qr_flops::<f64>(m, n, cols, stair),
                geqrt_flops::<f64>(m, n, stair) + apply_packed_flops::<f64>(m, cols, k, stair)
            );
        }
    }
}

#[test]
fn by_hand() {
    // 4 x 2: reflectors of length 4 and 3: 4 * (3 + 4) + 3 * 3.
    assert_eq!(geqrt_flops::<f64>(4, 2, Stair::Full), 37);
    assert_eq!(
        tpqrt_flops::<f64>(2, 2, Stair::Rows(&[1, 2])),
        2 * 7 + 3 * 3
    );
    // Far beyond 32 bits.
    assert_eq!(
        gemqrt_flops::<f64>(1 << 20, 1 << 20, 1, Stair::Full),
        1 << 42
    );
}
