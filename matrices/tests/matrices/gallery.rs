//! The gallery: structure of every family, names, and faults.

use crate::counts;
use std::time::Instant;
use treeqr_matrices::gallery::{FAMILIES, GalleryError, make};
use treeqr_matrices::{Csc, norm2};

fn matrix(name: &str) -> Csc<f64> {
    make(name).unwrap_or_else(|e| panic!("{e}")).matrix
}

#[test]
fn every_family_keeps_its_word() {
    for family in FAMILIES {
        let a = make(family.example).unwrap();
        assert_eq!(a, make(family.example).unwrap(), "{}", family.form);
        assert_eq!(a.matrix.first_non_finite(), None);
        assert!(a.matrix.nnz() > 0 && family.about.ends_with('.'));
        if let Some(rhs) = &a.rhs {
            assert_eq!(rhs.len(), a.matrix.nrows(), "{}", family.form);
            assert!(rhs.iter().all(|b| b.is_finite()));
        }
        let seeded = make(&format!("{}@7", family.example));
        match family.random {
            true => assert_ne!(seeded.unwrap().matrix, a.matrix, "{}", family.form),
            false => assert!(matches!(seeded, Err(GalleryError::NoSeed { .. }))),
        }
    }
}

#[test]
fn the_boundary_of_a_boundary_is_zero() {
    for (name, degrees) in [
        ("ch4-5-b", 1..4),
        ("ch5-5-b", 1..5),
        ("mk8-b", 1..4),
        ("mk9-b", 1..4),
    ] {
        for k in degrees {
            let (high, low) = (
                matrix(&format!("{name}{k}")),
                matrix(&format!("{name}{}", k - 1)),
            );
            assert_eq!(high.ncols(), low.nrows());
            // Random vectors would leave a doubt: every column of the product.
            for j in 0..low.ncols() {
                let mut x = vec![0.0; low.ncols()];
                x[j] = 1.0;
                let mut y = vec![0.0; low.nrows()];
                low.mul_add(1.0, &x, &mut y);
                let mut z = vec![0.0; high.nrows()];
                high.mul_add(1.0, &y, &mut z);
                assert!(z.iter().all(|&v| v == 0.0), "{name}{k}, column {j}");
            }
        }
    }
}

#[test]
fn counts_and_sums_of_the_combinatorial_families() {
    let a = matrix("ch6-6-b3");
    let (rows, cols) = counts(&a);
    assert!(rows.iter().all(|&n| n == 4) && cols.iter().all(|&n| n == 9));
    let (rows, cols) = counts(&matrix("mk9-b2"));
    assert!(rows.iter().all(|&n| n == 3) && cols.iter().all(|&n| n == 10));
    // A pair lies in C(v - 2, k - 2) subsets.
    let (rows, cols) = counts(&matrix("bibd_9_3"));
    assert!(rows.iter().all(|&n| n == 7) && cols.iter().all(|&n| n == 3));
    // Every edge of a tree gives one forest: columns of TFn sum to n - 1.
    let a = matrix("TF11");
    for j in 0..a.ncols() - 1 {
        assert_eq!(a.col(j).1.iter().sum::<f64>(), 10.0, "tree {j}");
    }
    assert_eq!(a.col(a.ncols() - 1).1, []);
    let (rows, _) = counts(&a);
    assert!(
        rows.iter().all(|&n| n > 0),
        "every forest comes from a tree"
    );
    // One column for each multiple of a polynomial of two or three monomials.
    let (_, cols) = counts(&matrix("flower_4_4"));
    assert_eq!(cols.iter().filter(|&&n| n == 2).count(), 1 + 120);
    assert!(cols.iter().all(|&n| n == 2 || n == 3));
}

#[test]
fn dense_rows_see_what_differences_leave_free() {
    let a = matrix("dense-rows-100x3");
    // 2 * 10 * 9 pairs of neighbours.
    assert_eq!((a.nrows(), a.ncols()), (183, 100));
    let (rows, _) = counts(&a);
    assert!(rows[..180].iter().all(|&n| n == 2));
    assert_eq!(rows[180], 100);
    assert!(rows[181..].iter().all(|&n| (15..100).contains(&n)));
    let mut of_ones = vec![0.0; a.nrows()];
    a.mul_add(1.0, &[1.0; 100], &mut of_ones);
    assert!(of_ones[..180].iter().all(|&v| v == 0.0));
    assert!(of_ones[180..].iter().all(|&v| v > 5.0));
    for (name, shape) in [("dense-rows-1x1", (1, 1)), ("dense-rows-3x2", (4, 3))] {
        let a = matrix(name);
        assert_eq!((a.nrows(), a.ncols()), shape, "{name}");
    }
}

#[test]
fn grids() {
    let a = matrix("grid3d-4");
    assert_eq!(
        (a.nrows(), a.ncols(), a.nnz()),
        (3 * 48 + 64, 64, 6 * 48 + 64)
    );
    // The first row lies along the first axis, the last but 64 along the third.
    assert_eq!(a.col(0).0, [0, 48, 96, 144]);
    let mut ones = vec![0.0; a.nrows()];
    a.mul_add(1.0, &[1.0; 64], &mut ones);
    assert!(
        ones[..144].iter().all(|&v| v == 0.0),
        "gradients of a constant"
    );
    assert!(ones[144..].iter().all(|&v| (0.05..0.15).contains(&v)));

    let a = matrix("stencil27-3");
    assert_eq!((a.nrows(), a.ncols(), a.nnz()), (27, 125, 27 * 27));
    let (rows, _) = counts(&a);
    assert!(rows.iter().all(|&n| n == 27));
    // The corner cell of the border is seen by one inner cell, the middle one by all.
    assert_eq!(a.col(0), (&[0][..], &[-1.0][..]));
    assert_eq!(a.col(62).1[13], 200.0);
    assert_eq!(
        a.col(62).1.iter().sum::<f64>(),
        200.0 - 6.0 * 16.0 - 12.0 * 8.0 - 8.0
    );

    let a = matrix("conv2d-3");
    assert_eq!((a.nrows(), a.ncols(), a.nnz()), (9, 9, 33));
    assert_eq!(a.col(0), (&[0, 1, 3][..], &[5.4, -1.7, -1.7][..]));
    assert_eq!(
        a.col(4),
        (&[1, 3, 4, 5, 7][..], &[-1.0, -1.0, 5.4, -1.7, -1.7][..])
    );
}

#[test]
fn bundles() {
    let (cameras, points) = (30, 800);
    let a = matrix("ba-30x800");
    let ncols = 9 * cameras + 3 * points;
    let views = a.nrows() - ncols;
    assert_eq!((a.ncols(), a.nnz()), (ncols, 12 * views + ncols));
    // Each point is seen 3 times or more: two rows each.
    assert!((6 * points..28 * points).contains(&views), "{views}");
    let (rows, cols) = counts(&a);
    assert!(rows[..views].iter().all(|&n| n == 12));
    assert!(cols[9 * cameras..].iter().all(|&n| n >= 7));
    for j in 0..ncols {
        let (_, values) = a.col(j);
        let norm = norm2(&values[..values.len() - 1]);
        assert!(
            values.len() == 1 || (norm - 1.0).abs() < 1e-12,
            "column {j}: {norm}"
        );
    }
}

#[test]
fn linear_programs() {
    let a = matrix("lp-1000");
    assert_eq!((a.nrows(), a.ncols()), (6000, 1000));
    // 2.5 local and 0.5 linking entries a row on average, less what falls on the same place, and one a column.
    assert!((15_000..16_300).contains(&a.nnz()), "{}", a.nnz());
    let (_, cols) = counts(&a);
    assert!(
        cols[800] > 200,
        "the most popular linking column has {}",
        cols[800]
    );
}

#[test]
fn poses_have_full_rank_by_construction() {
    let made = make("pose-500").unwrap();
    let a = &made.matrix;
    assert_eq!(a.ncols(), 6 * 499);
    assert!(
        a.nrows().is_multiple_of(6) && a.nrows() > 6 * 499 * 18 / 10,
        "{}",
        a.nrows()
    );
    let b = made.rhs.unwrap();
    let deviation = norm2(&b) / (b.len() as f64).sqrt();
    assert!((deviation - 1.0).abs() < 0.1, "whitened noise: {deviation}");
    assert_eq!(matrix("pose-2").ncols(), 6);
}

#[test]
fn surveys() {
    let made = make("survey-60x50").unwrap();
    let (a, b, w) = (&made.matrix, made.rhs.unwrap(), made.weights.unwrap());
    assert_eq!((a.ncols(), b.len(), w.len()), (3000, a.nrows(), a.nrows()));
    let (rows, cols) = counts(a);
    let fixed = rows.iter().filter(|&&n| n == 1).count();
    assert_eq!(fixed, 4);
    assert!(rows.iter().all(|&n| n == 1 || n == 2) && cols.iter().all(|&n| n >= 1));
    let mut ones = vec![0.0; a.nrows()];
    a.mul_add(1.0, &vec![1.0; a.ncols()], &mut ones);
    assert!(
        ones[..a.nrows() - fixed].iter().all(|&v| v == 0.0),
        "lines see differences only"
    );
    assert!(w.iter().all(|&w| w > 100.0 && w <= 10_000.0));
    // Observed differences of hundreds of metres over a net of tens of kilometres, with errors of millimetres.
    let heights = b[a.nrows() - 1] / w[a.nrows() - 1];
    assert!((50.0..800.0).contains(&heights), "{heights} m");
    for name in ["survey-1x1", "survey-2x1", "survey-1x9"] {
        assert!(matrix(name).nnz() > 0);
    }
}

/// The deviation of the errors that least squares leaves, for observations with errors of deviation 1: about 1 when matrix
/// and right-hand side belong together and the column rank is full.
fn unit_weight(name: &str) -> f64 {
    let made = make(name).unwrap();
    let (a, mut r) = (made.matrix, made.rhs.unwrap());
    // Conjugate gradients on the normal equations (CGLS), columns scaled.
    let scale: Vec<f64> = (0..a.ncols()).map(|j| 1.0 / norm2(a.col(j).1)).collect();
    let gradient = |r: &[f64]| {
        let mut s = vec![0.0; a.ncols()];
        a.adjoint_mul_add(1.0, r, &mut s);
        s.iter_mut().zip(&scale).for_each(|(s, d)| *s *= d);
        s
    };
    let mut s = gradient(&r);
    let (mut p, mut gamma) = (s.clone(), norm2(&s).powi(2));
    let enough = 1e-16 * gamma;
    for _ in 0..20_000 {
        let scaled: Vec<f64> = p.iter().zip(&scale).map(|(p, d)| p * d).collect();
        let mut q = vec![0.0; a.nrows()];
        a.mul_add(1.0, &scaled, &mut q);
        let alpha = gamma / norm2(&q).powi(2);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
        s = gradient(&r);
        let last = std::mem::replace(&mut gamma, norm2(&s).powi(2));
        p.iter_mut()
            .zip(&s)
            .for_each(|(p, s)| *p = s + gamma / last * *p);
        if gamma < enough {
            break;
        }
    }
    norm2(&r) / ((a.nrows() - a.ncols()) as f64).sqrt()
}

#[test]
fn errors_of_observations_have_the_deviation_that_the_weights_say() {
    for name in ["survey-60x50", "survey-31x7@5", "pose-200"] {
        let found = unit_weight(name);
        assert!((found - 1.0).abs() < 0.1, "{name}: {found}");
    }
}

#[test]
fn names_of_no_family_list_the_families() {
    for name in [
        "",
        "ch7",
        "ch7-8",
        "ch7-8-b",
        "CH7-8-b3",
        "ch7-8-b3 ",
        "ch7-8-b3x",
        "grid3d--4",
        "grid3d-4.0",
        "x@1",
    ] {
        let error = make(name).unwrap_err();
        assert!(matches!(error, GalleryError::Unknown { .. }), "{name}");
        let text = error.to_string();
        assert!(FAMILIES.iter().all(|f| text.contains(f.form)), "{text}");
    }
}

#[test]
fn parameters_without_sense_are_refused_at_once() {
    let start = Instant::now();
    for name in [
        "ch0-8-b0",
        "ch3-3-b3",
        "mk0-b0",
        "mk7-b3",
        "flower_2_4",
        "flower_7_5",
        "flower_7_0",
        "cat_ears_0_4",
        "TF0",
        "TF1",
        "bibd_3_4",
        "bibd_9_1",
        "bibd_0_0",
        "grid3d-0",
        "stencil27-0",
        "ba-0x5",
        "ba-5x0",
        "pose-1",
        "pose-0",
        "survey-0x5",
        "survey-5x0",
        "lp-9",
        "lp-0",
        "conv2d-0",
        "grid3d-99999999999999999999",
        "conv2d-1000000001",
        "lp-100@",
        "lp-100@x",
        "lp-100@-1",
        "lp-100@99999999999999999999",
        "lp-100@1@2",
    ] {
        let error = make(name).unwrap_err();
        assert!(
            matches!(error, GalleryError::Parameter { .. }),
            "{name}: {error}"
        );
    }
    for name in [
        "ch12-12-b9",
        "ch1000000000-1000000000-b99999999",
        "ch20-20-b8",
        "mk30-b9",
        "mk1000000000-b499999999",
        "flower_100_7",
        "flower_1000000000_999999997",
        "cat_ears_1_1000",
        "cat_ears_1000000000_1",
        "TF30",
        "TF1000000000",
        "bibd_60_30",
        "bibd_1000000000_2",
        "bibd_1000000000_999999999",
        "grid3d-1000000000",
        "stencil27-1000000000",
        "ba-1000000000x1000000000",
        "pose-1000000000",
        "survey-1000000000x1000000000",
        "lp-1000000000",
        "conv2d-1000000000",
    ] {
        let error = make(name).unwrap_err();
        assert!(
            matches!(error, GalleryError::TooLarge { .. }),
            "{name}: {error}"
        );
    }
    assert!(start.elapsed().as_secs() < 5);
}

#[test]
fn smallest_members() {
    for name in [
        "ch1-1-b0",
        "mk2-b0",
        "flower_3_1",
        "cat_ears_1_1",
        "TF2",
        "TF3",
        "bibd_2_2",
        "grid3d-1",
        "stencil27-1",
        "ba-1x1",
        "pose-2",
        "survey-1x1",
        "lp-10",
        "conv2d-1",
    ] {
        assert!(matrix(name).nnz() > 0, "{name}");
    }
    let a = matrix("TF2");
    assert_eq!((a.nrows(), a.ncols(), a.values()), (1, 2, &[1.0][..]));
}
