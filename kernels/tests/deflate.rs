//! `deflate` against its twin, by residuals, and its decisions on blocks whose dependences were planted.

mod common;

use common::*;
use proptest::prelude::*;
use treeqr_kernels::*;

/// A block, and the pivot columns that were made to depend on those before them.
struct Planted<T> {
    a: Block<T>,
    steps: Vec<u32>,
    dead: Vec<usize>,
}

/// Columns of `dead` become combinations of those before them (zero if there are none). The staircase reaches at least one
/// row below the diagonal, so that all other columns are independent.
fn plant<T: KernelScalar>(
    (m, n, nrhs, pad): (usize, usize, usize, usize),
    wanted: &[usize],
    rng: &mut common::Rng,
) -> Planted<T> {
    let mut steps = staircase(m, n, rng);
    for (j, s) in steps.iter_mut().enumerate() {
        *s = (*s).max((j as u32 + 2).min(m as u32));
    }
    let one = T::from_f64(2.0, 1.0);
    let mut a = Block::<T>::random(m, n + nrhs, pad, rng)
        .map(|i, j, x| if i == j { x + one } else { x })
        .below(&steps, T::zero());
    let dead: Vec<usize> = wanted.iter().copied().filter(|&j| j < n.min(m)).collect();
    for &j in &dead {
        a.view_mut().col_mut(j).fill(T::zero());
        // Of those that are not planted: sums of sums would grow until the tolerance reaches what is left of others.
        for from in (0..j).filter(|from| !dead.contains(from)) {
            let by = T::from_f64(rng.unit(), rng.unit());
            let source = a.view().col(from).to_vec();
            for (x, y) in a.view_mut().col_mut(j).iter_mut().zip(source) {
                *x += by * y;
            }
        }
    }
    Planted { a, steps, dead }
}

fn check<T: KernelScalar>(shape: (usize, usize, usize, usize), wanted: &[usize], seed: u64) {
    let rng = &mut Rng(seed);
    let (m, n, nrhs, pad) = shape;
    let Planted { a, steps, dead } = plant::<T>(shape, wanted, rng);
    // Pivots: all of the planted columns, and perhaps not all columns.
    let npiv = (dead.last().map_or(0, |j| j + 1) + rng.below(n))
        .clamp(1, n)
        .min(m);
    let stair = Stair::Rows(&steps);
    let scale = norm(a.view());
    let tolerance = 1e3 * eps::<T>() * scale;
    let k = m.min(n);
    let (mut f, mut live, mut tau) = (a.clone(), vec![0; k], vec![nan(); k]);
    let mut scratch = vec![nan(); deflate_scratch::<T>(m, n, nrhs)];
    let found = deflate(
        f.view_mut(),
        n,
        npiv,
        tolerance,
        stair,
        &mut live,
        &mut tau,
        &mut scratch,
    );
    live.truncate(found.rows);
    tau.truncate(found.rows);
    let blocked = in_blocks(&a, n, npiv, tolerance, &steps);
    let scale = (scale, tolerance);
    verify(
        &a,
        (f, live, tau, found),
        (n, npiv, pad),
        scale,
        (&steps, &dead),
    );
    verify(&a, blocked, (n, npiv, pad), scale, (&steps, &dead));
}

/// What a block became: itself, the columns of the reflectors, their factors, and what was found.
type Outcome<T> = (Block<T>, Vec<u32>, Vec<T>, Deflated);

/// The same in columns of blocks, each reduced when all before it have been applied to it.
fn in_blocks<T: KernelScalar>(
    a: &Block<T>,
    n: usize,
    npiv: usize,
    tolerance: f64,
    steps: &[u32],
) -> Outcome<T> {
    const WIDTH: usize = 64;
    let mut f = a.clone();
    let (m, cols) = (a.m, a.n);
    let (mut live, mut tau) = (Vec::new(), Vec::new());
    let mut sum = Deflated::default();
    for c0 in (0..n).step_by(WIDTH) {
        let w = WIDTH.min(n - c0);
        let row = live.len();
        let rows = m - row;
        let own: Vec<u32> = steps[c0..c0 + w]
            .iter()
            .map(|s| s.saturating_sub(row as u32))
            .collect();
        let stair = Stair::Rows(&own);
        let k = rows.min(w);
        let (mut l, mut t) = (vec![0; k], vec![nan(); k]);
        let (left, right) = f.view_mut().split_at_col_mut(c0 + w);
        let mut panel = left.submatrix(row, c0, rows, w);
        let mut scratch = vec![nan(); deflate_scratch::<T>(rows, w, 0)];
        let pivots = npiv.saturating_sub(c0).min(w);
        let found = deflate(
            panel.rb_mut(),
            w,
            pivots,
            tolerance,
            stair,
            &mut l,
            &mut t,
            &mut scratch,
        );
        l.truncate(found.rows);
        t.truncate(found.rows);
        let beside = cols - c0 - w;
        let right = right.submatrix(row, 0, rows, beside);
        let mut factors = vec![nan(); deflate_factors_len(w)];
        deflate_factors(panel.rb(), stair, &l, &t, &mut factors, &mut scratch);
        let mut scratch = vec![nan(); deflate_apply_scratch::<T>(rows, w, beside)];
        deflate_apply(panel.rb(), stair, &l, &t, &factors, right, &mut scratch);
        live.extend(l.iter().map(|j| j + c0 as u32));
        tau.extend(t);
        sum.pivots += found.pivots;
        sum.rows += found.rows;
        sum.dropped2 += found.dropped2;
    }
    (f, live, tau, sum)
}

fn verify<T: KernelScalar>(
    a: &Block<T>,
    (f, live, tau, found): Outcome<T>,
    (n, npiv, pad): (usize, usize, usize),
    (scale, tolerance): (f64, f64),
    (steps, dead): (&[u32], &[usize]),
) {
    assert!(f.padding_is_untouched());
    let (m, nrhs, stair) = (a.m, a.n - n, Stair::Rows(steps));
    let (live, tau) = (&live[..], &tau[..]);
    assert_eq!((live.len(), tau.len()), (found.rows, found.rows));
    assert!(live.is_sorted_by(|a, b| a < b));
    assert_eq!(
        found.pivots,
        live.iter().filter(|&&j| (j as usize) < npiv).count()
    );
    // Exactly those that were planted.
    let passed: Vec<usize> = (0..npiv).filter(|&j| !live.contains(&(j as u32))).collect();
    assert_eq!(passed, dead, "{} m {m} n {n} npiv {npiv}", T::NAME);
    assert!(found.dropped2.sqrt() <= tolerance * (dead.len() as f64).sqrt());

    // A = Q R with R in echelon form.
    let ends: Vec<u32> = live.iter().map(|&j| steps[j as usize]).collect();
    let mut packed = vec![];
    for (i, &j) in live.iter().enumerate() {
        let column = f.view().col(j as usize);
        packed.extend_from_slice(&column[i + 1..(ends[i] as usize).max(i + 1)]);
    }
    let mut qr = f.clone().map(|i, j, x| {
        let row = live.get(i).map_or(n, |&l| l as usize);
        if j >= n || j >= row { x } else { T::zero() }
    });
    let r = qr.clone();
    apply_packed(Op::NoTrans, &packed, Stair::Rows(&ends), tau, qr.view_mut());
    let difference = distance(a.view(), qr.view());
    assert!(
        difference <= 30.0 * eps::<T>() * m.max(n) as f64 * scale + found.dropped2.sqrt(),
        "A - QR: {difference:e}"
    );
    let mut q = Block::identity(m, pad);
    apply_packed(Op::NoTrans, &packed, Stair::Rows(&ends), tau, q.view_mut());
    assert_small::<T>("Q^H Q", orthogonality(&q), 1.0, m);

    // The twin: same decisions, same R but for what rounding leaves of the dead columns.
    let mut twin = a.clone();
    let (other, twin_live, _) = reference::deflate(twin.view_mut(), n, npiv, tolerance, stair);
    assert_eq!(
        (other.pivots, &twin_live[..other.pivots]),
        (found.pivots, &live[..found.pivots])
    );
    for (i, &first) in live[..found.pivots].iter().enumerate() {
        for j in first as usize..n + nrhs {
            let difference = (r.view().at(i, j) - twin.view().at(i, j)).abs();
            let difference: f64 = treeqr_matrices::RealScalar::to_f64(difference);
            // R is as well determined as its smallest pivot is large: the columns are random, with a diagonal.
            assert!(
                difference <= 1e5 * eps::<T>() * scale,
                "{} R({i}, {j}) differs by {difference:e} of {scale:e}",
                T::NAME
            );
        }
    }
}

fn dead_columns() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        Just(vec![]),
        Just(vec![0]),
        (0usize..40).prop_map(|j| vec![j]),
        (0usize..40, 1usize..20).prop_map(|(from, run)| (from..from + run).collect()),
        proptest::collection::btree_set(0usize..80, 0..12)
            .prop_map(|set| set.into_iter().collect()),
        Just((0..90).collect()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn planted_dependences_are_found(
        m in 1usize..90, n in 1usize..90, nrhs in 0usize..4, pad in 0usize..5,
        dead in dead_columns(), seed in any::<u64>(),
    ) {
        four_scalars!(check((m, n, nrhs, pad), &dead, seed));
    }
}

#[test]
fn blocks_that_are_reduced_by_matrix_products() {
    let every_seventh: Vec<usize> = (0..150).step_by(7).collect();
    for (m, n) in [(400, 130), (300, 200), (150, 300)] {
        four_scalars!(check((m, n, 2, 1), &every_seventh, 5));
        four_scalars!(check((m, n, 0, 0), &[n.min(m) - 1], 6));
    }
}

fn run<T: KernelScalar>(
    a: &mut Block<T>,
    n: usize,
    tolerance: f64,
) -> (Deflated, Vec<u32>, Vec<T>) {
    let k = a.m.min(n);
    let (mut live, mut tau) = (vec![7; k], vec![nan(); k]);
    let mut scratch = vec![nan(); deflate_scratch::<T>(a.m, n, a.n - n)];
    let (m, npiv) = (a.m, n);
    let steps = vec![m as u32; n];
    let stair = Stair::Rows(&steps);
    let found = deflate(
        a.view_mut(),
        n,
        npiv,
        tolerance,
        stair,
        &mut live,
        &mut tau,
        &mut scratch,
    );
    live.truncate(found.rows);
    tau.truncate(found.rows);
    (found, live, tau)
}

fn degenerate<T: KernelScalar>() {
    // Zero matrices, one column, no rows.
    for (m, n) in [(1, 1), (5, 3), (3, 5), (70, 40), (0, 2)] {
        let mut a = Block::<T>::filled(m, n + 1, 0, T::zero());
        let (found, live, _) = run(&mut a, n, 0.0);
        assert_eq!(found, Deflated::default());
        assert!(live.is_empty());
    }
    let mut a = Block::<T>::filled(4, 1, 0, T::one());
    let (found, live, tau) = run(&mut a, 1, 1.0);
    assert_eq!((found.pivots, found.rows, &live[..]), (1, 1, &[0][..]));
    assert!(tau[0] != T::zero() && found.dropped2 == 0.0);
    // Norm 2, tolerance 2: dead, and all of it is dropped.
    let mut a = Block::<T>::filled(4, 1, 0, T::one());
    let (found, ..) = run(&mut a, 1, 2.0);
    assert_eq!((found.rows, found.dropped2), (0, 4.0));
    assert_eq!(norm(a.view()), 0.0);
    // Squares that overflow or underflow decide nothing.
    let huge = if eps::<T>() > 1e-10 { 1e30 } else { 1e300 };
    for size in [huge, 1.0 / huge] {
        let mut a = Block::<T>::filled(4, 2, 0, T::from_f64(size, 0.0));
        let (found, live, _) = run(&mut a, 2, size / 100.0);
        assert_eq!((found.pivots, &live[..]), (1, &[0][..]));
        assert!((norm(a.view().submatrix(0, 0, 1, 1)) / size - 2.0).abs() < 1e-5);
    }
}

#[test]
fn zeros_single_columns_and_extreme_sizes() {
    four_scalars!(degenerate());
}

#[test]
fn flops_are_those_of_the_reflectors() {
    // 5 x 4 with column 1 dead: reflectors of length 5, 4 and 3, on 3, 1 and 0 columns and a right-hand side.
    let stair = Stair::Full;
    let flops = deflate_flops::<f64>(5, 4, 1, stair, &[0, 2, 3]);
    assert_eq!(flops, 5 * (3 + 4 * 4) + 4 * (3 + 4 * 2) + 3 * (3 + 4));
    // Nothing dead: as front_qr.
    let all = deflate_flops::<treeqr_matrices::c64>(5, 4, 1, stair, &[0, 1, 2, 3]);
    assert_eq!(all, front_qr_flops::<treeqr_matrices::c64>(5, 4, 1, stair));
}
