//! One line: recovered, with its published interval, through slow tasks, and with the coverage that it promises.

use crate::sample::{Random, along, near, only, push, tables, truth};
use treeqr_profiling::models::{self, Choice};
use treeqr_profiling::trace::schema::WorkerKind;

#[test]
fn a_line_with_noise_is_recovered() {
    let tables = along(&mut Random::new(1), 3000, 0.1, |_, _| 0.0);
    let models = models::fit(&tables, 0.95);
    let group = only(&models);
    assert_eq!(group.chosen, Choice::Classical, "{}", group.why);
    assert_eq!(
        (&*group.codelet, group.kind, group.tasks),
        ("geqrt", WorkerKind::Cpu, 3000)
    );
    for line in [group.classical.unwrap(), group.robust.unwrap()] {
        near(line.slope, 0.8, 0.003);
        near(line.log_expected(17.0), 1.5 + 0.8 * 17.0, 0.006);
        near(line.s, 0.1, 0.005);
    }
    let mixture = group.mixture.as_ref().unwrap();
    assert_eq!(mixture.clusters.len(), 1, "{mixture:?}");
    let d = group.diagnostics.unwrap();
    near(d.skewness, 0.0, 0.2);
    near(d.excess_kurtosis, 0.0, 0.4);
    assert!(d.breusch_pagan_p > 0.01 && d.bic_gain < 0.0, "{d:?}");
    assert!(group.why.starts_with("classical line"), "{}", group.why);
}

/// The published formula, computed here a second way from the same tasks.
#[test]
fn the_interval_is_the_published_one() {
    let tables = along(&mut Random::new(2), 12, 0.2, |_, _| 0.0);
    let models = models::fit(&tables, 0.95);
    let line = only(&models).classical.unwrap();
    let points: Vec<(f64, f64)> = tables
        .tasks
        .iter()
        .map(|t| ((t.flops as f64).ln(), ((t.end_ns - t.start_ns) as f64).ln()))
        .collect();
    let (sum_x, sum_y) = points
        .iter()
        .fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
    let (sum_xx, sum_xy) = points
        .iter()
        .fold((0.0, 0.0), |s, p| (s.0 + p.0 * p.0, s.1 + p.0 * p.1));
    let n = 12.0;
    let sxx = sum_xx - sum_x * sum_x / n;
    let b = (sum_xy - sum_x * sum_y / n) / sxx;
    let a = (sum_y - b * sum_x) / n;
    let rss: f64 = points.iter().map(|p| (p.1 - a - b * p.0).powi(2)).sum();
    let (s, t) = ((rss / 10.0).sqrt(), 2.228_138_85);
    for flops in [1e5_f64, 3e7, 1e10] {
        let x = flops.ln();
        let half = t * s * (1.0 + 1.0 / n + (x - sum_x / n).powi(2) / sxx).sqrt();
        let interval = line.at(flops);
        near(interval.upper_ns / (a + b * x + half).exp(), 1.0, 1e-6);
        near(interval.lower_ns / (a + b * x - half).exp(), 1.0, 1e-6);
        near(interval.expected_ns / (a + b * x).exp(), 1.0, 1e-6);
    }
}

#[test]
fn a_tenth_of_slow_tasks_does_not_pull_the_robust_line() {
    // Most of them among the large tasks, so that they tilt the classical line.
    let slow = |k: usize| k % 10 == 3;
    let mut random = Random::new(3);
    let mut tables = tables();
    for k in 0..2000 {
        let flops = if slow(k) {
            random.flops().max(100_000_000)
        } else {
            random.flops()
        };
        let more = if slow(k) {
            0.5 + 4.0 * random.unit()
        } else {
            0.0
        };
        push(
            &mut tables,
            flops,
            (truth(flops) + 0.05 * random.normal() + more).exp(),
        );
    }
    let models = models::fit(&tables, 0.95);
    let group = only(&models);
    assert_eq!(group.chosen, Choice::Robust, "{}", group.why);
    let (robust, classical) = (group.robust.unwrap(), group.classical.unwrap());
    near(robust.slope, 0.8, 0.005);
    near(robust.log_expected(20.0), 1.5 + 0.8 * 20.0, 0.02);
    assert!(robust.s < 0.08, "{robust:?}");
    assert!((classical.slope - 0.8).abs() > 0.05, "{classical:?}");
    assert!(classical.s > 0.4);
    let flagged: Vec<usize> = models.anomalies().iter().map(|a| a.task as usize).collect();
    assert_eq!(
        (0..2000)
            .filter(|k| slow(*k) && !flagged.contains(k))
            .count(),
        0
    );
    let wrong = flagged.iter().filter(|k| !slow(**k)).count();
    assert!(
        (1..90).contains(&wrong),
        "{wrong} of 1800, where a fortieth is due"
    );
}

/// Of 400 small fits, how many of 20 fresh tasks each are inside: 8000 draws, a standard deviation of a quarter of a percent.
#[test]
fn intervals_cover_what_they_say() {
    for (level, seed) in [(0.95, 6), (0.65, 7)] {
        let (mut classical, mut robust, mut all) = (0, 0, 0);
        let mut random = Random::new(seed);
        for _ in 0..400 {
            let tables = along(&mut random, 40, 0.3, |_, _| 0.0);
            let models = models::fit(&tables, level);
            let group = only(&models);
            let (a, b) = (group.classical.unwrap(), group.robust.unwrap());
            for _ in 0..20 {
                let flops = random.flops();
                let ns = (truth(flops) + 0.3 * random.normal()).exp();
                let inside = |l: &models::Line| {
                    let i = l.at(flops as f64);
                    usize::from(i.lower_ns <= ns && ns <= i.upper_ns)
                };
                classical += inside(&a);
                robust += inside(&b);
                all += 1;
            }
        }
        near(classical as f64 / f64::from(all), level, 0.015);
        near(robust as f64 / f64::from(all), level, 0.03);
    }
}

#[test]
fn a_changing_spread_is_said() {
    let mut random = Random::new(15);
    let mut tables = tables();
    for _ in 0..2000 {
        let flops = random.flops();
        let noise = if flops < 30_000_000 { 0.2 } else { 0.05 };
        push(
            &mut tables,
            flops,
            (truth(flops) + noise * random.normal()).exp(),
        );
    }
    let models = models::fit(&tables, 0.95);
    let group = only(&models);
    let d = group.diagnostics.unwrap();
    assert!(d.breusch_pagan_p < 1e-6, "{d:?}");
    near(d.spread_ratio, 0.3, 0.1);
    assert_ne!(
        group.chosen,
        Choice::Mixture,
        "one line, two spreads: {}",
        group.why
    );
    assert!(group.why.contains("spread of large tasks"), "{}", group.why);
}
