//! The estimate of the condition number against all columns of R's inverse.

use super::*;

/// ||R||_1 and ||R^{-1}||_1 of a triangle, by plain loops.
fn norms<T: FactorScalar>(r: &Csc<T>) -> (f64, f64) {
    let n = r.ncols();
    // A column's pivot is in its last row.
    let mut order = vec![0; n];
    for j in 0..n {
        let last = r.col(j).0.last().expect("a pivot");
        order[*last as usize] = j;
    }
    let size = |v: T| v.abs().to_f64();
    let sum = |values: &[T]| values.iter().map(|&v| size(v)).sum::<f64>();
    let norm = (0..n).map(|j| sum(r.col(j).1)).fold(0.0, f64::max);
    let inverse = (0..n).map(|k| {
        let mut x = vec![T::zero(); n];
        x[k] = T::one();
        for p in (0..=k).rev() {
            let (rows, values) = r.col(order[p]);
            let (pivot, above) = values.split_last().expect("a pivot");
            x[p] /= *pivot;
            let value = x[p];
            for (&i, &v) in rows.iter().zip(above) {
                x[i as usize] -= v * value;
            }
        }
        sum(&x)
    });
    (norm, inverse.fold(0.0, f64::max))
}

fn check<T: FactorScalar>() {
    let (mut tried, mut near) = (0, 0);
    for (name, a) in matrices::<T>() {
        for o in [Options::default(), small_tiles()] {
            let factors = factor(&a, &o).1.factors;
            let estimate = |workers| {
                let estimate = factors.condition_estimate(&fine(workers));
                estimate.expect("estimate")
            };
            if !factors.rank_details().is_full() {
                assert_eq!(estimate(0), f64::INFINITY, "{name}");
                continue;
            }
            let (norm, inverse) = norms(&factors.trapezoid().expect("no row is split off"));
            let (is, exact) = (estimate(0), norm * inverse);
            let rounding = T::Real::EPSILON.to_f64() * exact;
            assert!(
                is <= exact * (1.0 + 20.0 * rounding) && is >= exact / 3.0,
                "{} {name}: {is:e} for {exact:e}",
                T::NAME
            );
            assert_eq!(is.to_bits(), estimate(3).to_bits(), "{name}");
            tried += 1;
            near += usize::from(is >= 0.7 * exact);
        }
    }
    assert!(tried > 40 && 10 * near >= 8 * tried, "{near} of {tried}");
}

#[test]
fn the_condition_number_is_estimated_to_a_factor_of_three() {
    check::<f64>();
    check::<f32>();
    check::<c64>();
}
