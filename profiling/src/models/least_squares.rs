//! Least squares with few columns and many rows, with coefficients that are not negative.
//!
//! Takes columns; gives coefficients with confidence intervals. Knows no task.
//!
//! One Householder QR of [X y], n x (p + 1), leaves a triangle on which the rest is done. With p <= 4 all sets of columns can be
//! tried: the non-negative solution is the least squares solution on some set of columns, so the set with the smallest residual
//! among those whose coefficients are all positive is it. Cost 2 n (p + 1)^2 flops and 2^p tiny problems.

/// A set is dependent if a column of it keeps less than this part of its length beside the others.
const DEPENDENT: f64 = 1e-7;

/// The solution.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Solution {
    /// By column; `None` for those that are left out.
    pub coefficients: Vec<Option<Coefficient>>,
    /// Sum of squares of the residuals.
    pub rss: f64,
    /// Rows less columns in use.
    pub dof: usize,
}

/// One coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Coefficient {
    pub value: f64,
    /// Standard error over the residual standard deviation.
    pub unit_error: f64,
}

/// min |X b - y| over b >= 0, X by columns.
///
/// # Panics
/// If a column has another length than y, or there are more than 16.
pub(super) fn non_negative(x: &[Vec<f64>], y: &[f64]) -> Solution {
    assert!(x.len() <= 16 && x.iter().all(|c| c.len() == y.len()));
    let p = x.len();
    // Columns of length 1, or cubes of tile sizes would stand beside ones.
    let lengths: Vec<f64> = x.iter().map(|c| norm(c)).collect();
    let scaled = |(c, length): (&Vec<f64>, &f64)| {
        let scale = if *length > 0.0 { 1.0 / length } else { 0.0 };
        c.iter().map(|v| v * scale).collect()
    };
    let mut all: Vec<Vec<f64>> = x.iter().zip(&lengths).map(scaled).collect();
    all.push(y.to_vec());
    triangularize(&mut all);
    for c in &mut all {
        c.truncate(p + 1);
    }
    let nothing = Solution {
        coefficients: vec![None; p],
        rss: y.iter().map(|v| v * v).sum(),
        dof: y.len(),
    };
    let mut best = nothing;
    // Small sets first, and only a smaller residual beats them: none is in use without need.
    let mut sets: Vec<u32> = (1..1_u32 << p).collect();
    sets.sort_by_key(|set| set.count_ones());
    for set in sets {
        let columns: Vec<usize> = (0..p).filter(|k| set >> k & 1 == 1).collect();
        let Some((values, errors, rss)) = on_set(&all, &columns, y.len()) else {
            continue;
        };
        if values.iter().all(|v| *v > 0.0) && rss < best.rss * (1.0 - 1e-14) {
            let mut coefficients = vec![None; p];
            for (k, &c) in columns.iter().enumerate() {
                coefficients[c] = Some(Coefficient {
                    value: values[k] / lengths[c],
                    unit_error: errors[k] / lengths[c],
                });
            }
            best = Solution {
                coefficients,
                rss,
                dof: y.len() - columns.len(),
            };
        }
    }
    best
}

/// Coefficients, unit errors and residual sum of squares on some columns of [X y]; `None` if they are dependent.
fn on_set(all: &[Vec<f64>], columns: &[usize], rows: usize) -> Option<(Vec<f64>, Vec<f64>, f64)> {
    let q = columns.len();
    if q > rows {
        return None;
    }
    let mut r: Vec<Vec<f64>> = columns.iter().map(|&c| all[c].clone()).collect();
    r.push(all[all.len() - 1].clone());
    triangularize(&mut r);
    if (0..q).any(|k| r[k].get(k).is_none_or(|d| d.abs() < DEPENDENT)) {
        return None;
    }
    let back = |mut b: Vec<f64>| {
        for k in (0..q).rev() {
            b[k] /= r[k][k];
            for i in 0..k {
                b[i] -= r[k][i] * b[k];
            }
        }
        b
    };
    let values = back(r[q][..q].to_vec());
    // (R'R)^-1 = R^-1 R^-T: squared lengths of the rows of R^-1.
    let mut errors = vec![0.0; q];
    for k in 0..q {
        let mut unit = vec![0.0; q];
        unit[k] = 1.0;
        let column = back(unit);
        for (e, v) in errors.iter_mut().zip(column) {
            *e += v * v;
        }
    }
    let errors = errors.into_iter().map(f64::sqrt).collect();
    Some((values, errors, r[q][q..].iter().map(|v| v * v).sum()))
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Householder QR in place; below the diagonal are zeros.
fn triangularize(a: &mut [Vec<f64>]) {
    let rows = a.first().map_or(0, Vec::len);
    for k in 0..a.len().min(rows) {
        let (done, rest) = a.split_at_mut(k + 1);
        let column = &mut done[k][k..];
        let length = norm(column);
        if length == 0.0 {
            continue;
        }
        let beta = -length.copysign(column[0]);
        let mut v = column.to_vec();
        v[0] -= beta;
        let square: f64 = v.iter().map(|x| x * x).sum();
        for c in rest {
            let dot: f64 = c[k..].iter().zip(&v).map(|(x, y)| x * y).sum();
            let factor = 2.0 * dot / square;
            for (x, y) in c[k..].iter_mut().zip(&v) {
                *x -= factor * y;
            }
        }
        let column = &mut done[k][k..];
        column.fill(0.0);
        column[0] = beta;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(s: &Solution) -> Vec<Option<f64>> {
        s.coefficients.iter().map(|c| c.map(|c| c.value)).collect()
    }

    /// y = 2 + 3 x at x = 0, 1, 2 with residuals 1, -2, 1, which are orthogonal to both columns. By hand: rss 6, and
    /// (X'X)^-1 has 5/6 and 1/2 on its diagonal.
    #[test]
    fn a_small_problem_by_hand() {
        let x = [vec![1.0; 3], vec![0.0, 1.0, 2.0]];
        let s = non_negative(&x, &[3.0, 3.0, 9.0]);
        let c: Vec<Coefficient> = s.coefficients.iter().map(|c| c.unwrap()).collect();
        assert!((c[0].value - 2.0).abs() < 1e-13 && (c[1].value - 3.0).abs() < 1e-13);
        assert!((c[0].unit_error.powi(2) - 5.0 / 6.0).abs() < 1e-13);
        assert!((c[1].unit_error.powi(2) - 0.5).abs() < 1e-13);
        assert!((s.rss - 6.0).abs() < 1e-12);
        assert_eq!(s.dof, 1);
    }

    /// y = -1 + 2 x wants a negative constant: without it, b = x'y / x'x.
    #[test]
    fn negative_coefficients_are_left_out() {
        let x = [vec![1.0; 3], vec![1.0, 2.0, 3.0]];
        let s = non_negative(&x, &[1.0, 3.0, 5.0]);
        let b = 22.0 / 14.0;
        assert_eq!(s.coefficients[0], None);
        assert!((values(&s)[1].unwrap() - b).abs() < 1e-13);
        assert!((s.rss - (35.0 - 22.0 * b)).abs() < 1e-12);
    }

    /// The optimality conditions of the non-negative problem, on random ones with columns of very different length.
    #[test]
    fn the_solution_is_optimal() {
        let mut draws = super::super::quantiles::Draws::new(7);
        let mut left_out = 0;
        for case in 0..200 {
            let (n, p) = (5 + draws.below(20), 1 + draws.below(4));
            let x: Vec<Vec<f64>> = (0..p)
                .map(|k| {
                    (0..n)
                        .map(|_| 100_f64.powi(k as i32) * (draws.unit() - 0.2))
                        .collect()
                })
                .collect();
            let y: Vec<f64> = (0..n).map(|_| draws.unit() - 0.3).collect();
            let b: Vec<f64> = values(&non_negative(&x, &y))
                .iter()
                .map(|v| v.unwrap_or(0.0))
                .collect();
            let r: Vec<f64> = (0..n)
                .map(|i| y[i] - (0..p).map(|k| x[k][i] * b[k]).sum::<f64>())
                .collect();
            for k in 0..p {
                let gradient = x[k].iter().zip(&r).map(|(a, b)| a * b).sum::<f64>() / norm(&x[k]);
                assert!(gradient < 1e-12, "case {case}: {gradient}");
                assert!(
                    b[k] == 0.0 || gradient.abs() < 1e-12,
                    "case {case}: {gradient}"
                );
                left_out += usize::from(b[k] == 0.0);
            }
        }
        assert!(left_out > 50);
    }

    #[test]
    fn dependent_columns_and_too_few_rows_are_no_harm() {
        let x = [vec![1.0, 2.0, 3.0], vec![2.0, 4.0, 6.0], vec![0.0; 3]];
        let s = non_negative(&x, &[2.0, 4.0, 6.0]);
        assert_eq!(values(&s).iter().flatten().count(), 1);
        assert!(s.rss < 1e-24);
        let one = non_negative(&[vec![2.0], vec![1.0]], &[4.0]);
        assert_eq!(values(&one).iter().flatten().count(), 1);
        let none = non_negative(&[vec![], vec![]], &[]);
        assert_eq!(values(&none), [None, None]);
    }
}
