//! Durations by shape.

use crate::sample::{Random, near, push, tables};
use treeqr_profiling::models;
use treeqr_profiling::trace::schema::WorkerKind;

#[test]
fn durations_by_shape_are_recovered() {
    let mut random = Random::new(16);
    let mut tables = tables();
    for _ in 0..800 {
        let size = |r: &mut Random| 20 + (200.0 * r.unit()) as u32;
        let (rows, cols, inner) = (size(&mut random), size(&mut random), size(&mut random));
        let (area, entries) = (f64::from(rows) * f64::from(cols), 1e6 * random.unit());
        let noise = 300.0 * random.normal();
        let flops = random.flops() / 100;
        let ns = 0.02 * flops as f64 + 0.5 * area * f64::from(inner) + 4.0 * area + 9000.0 + noise;
        let task = push(&mut tables, flops, ns);
        (task.rows, task.cols, task.inner) = (rows, cols, inner);
        let fronts = 1 + (50.0 * random.unit()) as u32;
        let flops = random.flops();
        let ns = 0.3 * flops as f64 + 2000.0 * f64::from(fronts) + 1.5 * entries.floor() + noise;
        let task = push(&mut tables, flops, ns);
        (task.codelet, task.inner, task.coefficients) = (2, fronts, entries as u64);
        let task = push(&mut tables, 0, 700.0 + 0.8 * entries.floor() + noise.abs());
        (task.codelet, task.coefficients) = (1, entries as u64);
        // As if the first entries were free: a constant below zero is not taken.
        let task = push(&mut tables, 0, (2.0 * entries.floor() - 90_000.0).max(10.0));
        (task.codelet, task.coefficients) = (0, entries as u64);
        push(&mut tables, 0, 650.0 + noise / 3.0).codelet = 3;
    }
    let models = models::fit(&tables, 0.95);
    let fit = |name| models.linear(name, WorkerKind::Cpu).unwrap();
    let check = |name, truth: &[f64]| {
        let fit = fit(name);
        assert_eq!(fit.terms.len(), truth.len());
        // A term of which there is nothing is left out.
        for (term, b) in fit.terms.iter().zip(truth) {
            if *b == 0.0 {
                assert_eq!((term.ns, term.confidence_ns), (0.0, None));
                continue;
            }
            let (low, high) = term.confidence_ns.expect("a residual");
            // Three times the interval: ten cases at 95 % would not all be inside it.
            near(term.ns, *b, 1.5 * (high - low));
            assert!(
                low < term.ns && term.ns < high && high - low < 0.2 * b,
                "{fit:?}"
            );
        }
        fit
    };
    let kernel = check("geqrt", &[0.02, 0.5, 4.0, 9000.0]);
    assert!(kernel.r2.unwrap() > 0.999);
    near(kernel.s_ns.unwrap(), 300.0, 30.0);
    check("do_subtree", &[0.3, 2000.0, 1.5]);
    let mean = 700.0 + 300.0 * (2.0 / std::f64::consts::PI).sqrt();
    check("block_copy", &[0.8, mean]);
    let clean = check("clean_front", &[0.0, 650.0]);
    near(clean.mean_ns, clean.terms[1].ns, 1e-9);
    near(clean.r2.unwrap(), 0.0, 1e-9);
    let init = fit("init_front");
    assert_eq!((init.terms[1].ns, init.terms[1].confidence_ns), (0.0, None));
    assert!(init.terms[0].ns > 1.5);
    let g = models::Geometry {
        rows: 100.0,
        cols: 50.0,
        inner: 20.0,
        flops: 1e5,
        ..Default::default()
    };
    near(
        kernel.predict(&g),
        2000.0 + 0.5 * 100_000.0 + 4.0 * 5000.0 + 9000.0,
        300.0,
    );
}

/// One task in twenty waits 5 ms for its core, with flops or without: the others keep their fit, and the wait is told apart.
#[test]
fn waits_do_not_spoil_durations_by_shape() {
    let mut random = Random::new(19);
    let mut tables = tables();
    let mut waits = [0, 0];
    for k in 0..600 {
        let wait = if k % 20 == 0 { 5e6 } else { 0.0 };
        let entries = 1e4 + 1e5 * random.unit();
        let noise = 1.0 + 0.05 * random.normal();
        let flops = (1e3 * entries) as u64;
        let task = push(
            &mut tables,
            flops,
            (0.02 * flops as f64 + 9000.0) * noise + wait,
        );
        (task.rows, task.cols, task.inner) = (1 + k % 7, 1 + k % 11, 1 + k % 13);
        let task = push(&mut tables, 0, (0.8 * entries + 700.0) * noise + wait);
        (task.codelet, task.coefficients) = (1, entries as u64);
        waits[usize::from(wait > 0.0)] += 1;
    }
    let models = models::fit(&tables, 0.95);
    for (name, slope) in [("geqrt", 0.02), ("block_copy", 0.8)] {
        let fit = models.linear(name, WorkerKind::Cpu).unwrap();
        assert!((30..36).contains(&fit.left_out), "{fit:?}");
        assert_eq!(fit.tasks + fit.left_out, 600);
        near(fit.terms[0].ns, slope, 0.03 * slope);
        assert!(fit.r2.unwrap() > 0.9, "{fit:?}");
        near(fit.excess_ns / (5e6 * f64::from(waits[1])), 1.0, 0.01);
    }
}
