//! Task models on synthetic traces whose truth is known: lines, spreads, clusters and slow tasks are put in, and have to come out.

use treeqr_profiling::models::{self, Anomaly, Choice, GroupModel, Models, REPORT_VERSION};
use treeqr_profiling::trace::Tables;
use treeqr_profiling::trace::schema::{Codelet, Role, Task, Worker, WorkerKind};

/// xorshift64*, and normal values by Box and Muller.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Flops between 1e6 and 1e9, evenly in the logarithm.
    fn flops(&mut self) -> u64 {
        10_f64.powf(6.0 + 3.0 * self.unit()) as u64
    }
}

const GEQRT: u16 = 4;
const CPU: u16 = 0;
const DEVICE: u16 = 1;

fn tables() -> Tables {
    let worker = |worker, kind, name: &str| Worker {
        worker,
        kind,
        name: name.into(),
        memory_node: worker,
        bound_to: None,
        start_ns: 0,
        end_ns: u64::MAX,
    };
    let names = [
        "init_front",
        "block_copy",
        "do_subtree",
        "clean_front",
        "geqrt",
    ];
    let codelet = |(k, name): (usize, &&str)| Codelet {
        codelet: k as u16,
        name: (*name).into(),
        role: Role::Compute,
    };
    Tables {
        workers: vec![
            worker(CPU, WorkerKind::Cpu, "CPU0"),
            worker(DEVICE, WorkerKind::Device, "cuda0"),
        ],
        codelets: names.iter().enumerate().map(codelet).collect(),
        ..Tables::default()
    }
}

/// Appends a task; gives it for more.
fn push(to: &mut Tables, flops: u64, duration_ns: f64) -> &mut Task {
    let start_ns = 1000;
    to.tasks.push(Task {
        task: to.tasks.len() as u32,
        codelet: GEQRT,
        worker: CPU,
        node: 0,
        priority: 0,
        submit_ns: 0,
        ready_ns: 0,
        pop_ns: start_ns,
        start_ns,
        end_ns: start_ns + duration_ns.round() as u64,
        flops,
        bytes: 0,
        panel: None,
        tile_row: None,
        tile_col: None,
        child: None,
        rows: 0,
        cols: 0,
        inner: 0,
        coefficients: 0,
    });
    to.tasks.last_mut().expect("just pushed")
}

/// log D = 1.5 + 0.8 log G: 282 ms for 1e9 flops.
fn truth(flops: u64) -> f64 {
    1.5 + 0.8 * (flops as f64).ln()
}

/// Tasks along the line with that noise; `slower(k)` is added to the logarithm of the k-th.
fn along(
    random: &mut Random,
    n: usize,
    noise: f64,
    slower: impl Fn(usize, &mut Random) -> f64,
) -> Tables {
    let mut out = tables();
    for k in 0..n {
        let flops = random.flops();
        let y = truth(flops) + noise * random.normal() + slower(k, random);
        push(&mut out, flops, y.exp());
    }
    out
}

fn only(models: &Models) -> &GroupModel {
    assert_eq!(models.groups.len(), 1);
    &models.groups[0]
}

fn near(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within, "{a} is not {b}");
}

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

/// Three in ten run at a third of the speed, with a steeper line, as subtrees out of cache do; and ten tasks are slow on each.
#[test]
fn two_clusters_are_told_apart() {
    let mut random = Random::new(4);
    let mut tables = tables();
    let second = |k: usize| k % 10 < 3;
    let slow = |k: usize| k % 100 == 55 || k % 100 == 1;
    for k in 0..2000 {
        let flops = random.flops();
        let x = (flops as f64).ln() - 17.0;
        let more = if second(k) { 1.1 + 0.05 * x } else { 0.0 };
        let much = if slow(k) { 0.35 } else { 0.0 };
        push(
            &mut tables,
            flops,
            (truth(flops) + 0.06 * random.normal() + more + much).exp(),
        );
    }
    let models = models::fit(&tables, 0.95);
    let group = only(&models);
    assert_eq!(group.chosen, Choice::Mixture, "{}", group.why);
    let mixture = group.mixture.as_ref().unwrap();
    let [fast, lame] = &mixture.clusters[..] else {
        panic!("{mixture:?}")
    };
    near(fast.component.share, 0.7, 0.02);
    near(fast.line.slope, 0.8, 0.01);
    near(lame.line.slope, 0.85, 0.02);
    near(lame.line.log_expected(17.0), 1.5 + 0.8 * 17.0 + 1.1, 0.05);
    let wrong = tables.tasks.iter().enumerate().filter(|(k, t)| {
        mixture.assign(t.flops as f64, (t.end_ns - t.start_ns) as f64) != usize::from(second(*k))
    });
    let wrong = wrong.filter(|(k, _)| !slow(*k)).count();
    assert!(wrong <= 4, "{wrong} labels");
    assert_eq!(group.predict(1e7).len(), 2);
    // Each slow task stands out from its own line, and says which.
    for k in (0..2000_u32).filter(|k| slow(*k as usize)) {
        let found = models.anomalies().iter().find(|a| a.task == k);
        let found = found.unwrap_or_else(|| panic!("task {k} is not flagged"));
        assert_eq!(found.cluster, usize::from(second(k as usize)), "{found:?}");
        assert!(found.duration_ns as f64 > found.upper_ns && found.ratio > 1.2);
    }
    // A task in the middle of the second line is slow for the first, and no anomaly.
    let ordinary = models
        .anomalies()
        .iter()
        .filter(|a| second(a.task as usize) && !slow(a.task as usize));
    assert!(ordinary.count() < 40);
}

/// The published code gives the missing second cluster a limit of 0, and so flags whatever is below the first one's lower limit.
#[test]
fn no_fast_task_is_flagged() {
    let fast = |k: usize| k % 50 == 7;
    let tables = along(&mut Random::new(5), 1000, 0.05, |k, _| {
        if fast(k) { -1.0 } else { 0.0 }
    });
    let models = models::fit(&tables, 0.95);
    let group = only(&models);
    assert_ne!(group.chosen, Choice::Mixture, "{}", group.why);
    let (mut below, mut above) = (0, Vec::new());
    for t in &tables.tasks {
        let ns = (t.end_ns - t.start_ns) as f64;
        let (cluster, interval) = group.expect(t.flops as f64, ns).unwrap();
        assert_eq!(cluster, 0);
        below += usize::from(ns < interval.lower_ns);
        if ns > interval.upper_ns {
            above.push(t.task);
        }
    }
    assert!(below >= 20, "{below}");
    let flagged: Vec<u32> = models.anomalies().iter().map(|a| a.task).collect();
    assert_eq!(flagged, above, "those above and no others");
    assert!(flagged.iter().all(|k| !fast(*k as usize)));
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

fn numbers(anomalies: &[Anomaly]) -> Vec<u32> {
    anomalies.iter().map(|a| a.task).collect()
}

#[test]
fn the_unit_of_time_does_not_matter() {
    for seed in 8..12 {
        let mut tables = along(&mut Random::new(seed), 800, 0.1, |k, r| {
            match (seed % 3, k % 10) {
                (0, 0) => 2.0 * r.unit(),
                (1, 0..4) => 1.5,
                _ => 0.0,
            }
        });
        let once = models::fit(&tables, 0.9);
        for t in &mut tables.tasks {
            t.end_ns = t.start_ns + (t.end_ns - t.start_ns) * 1000;
        }
        let scaled = models::fit(&tables, 0.9);
        assert_eq!(only(&once).chosen, only(&scaled).chosen);
        assert_eq!(numbers(once.anomalies()), numbers(scaled.anomalies()));
        assert!(!once.anomalies().is_empty());
        for (a, b) in only(&once)
            .predict(1e7)
            .iter()
            .zip(only(&scaled).predict(1e7))
        {
            near(b.upper_ns / a.upper_ns, 1000.0, 1e-4);
            near(b.expected_ns / a.expected_ns, 1000.0, 1e-4);
        }
    }
}

#[test]
fn the_same_tasks_give_the_same_models() {
    // More than any sample.
    let tables = along(&mut Random::new(12), 15_000, 0.1, |k, _| {
        if k % 3 == 0 { 1.0 } else { 0.0 }
    });
    let (a, b) = (models::fit(&tables, 0.95), models::fit(&tables, 0.95));
    assert_eq!(a, b);
    let mixture = only(&a).mixture.as_ref().unwrap();
    assert_eq!((mixture.clusters.len(), mixture.sample), (2, 10_000));
    let tasks: u64 = mixture.clusters.iter().map(|c| c.tasks).sum();
    assert_eq!(tasks, 15_000);
}

#[test]
fn kinds_of_workers_have_models_of_their_own() {
    let mut random = Random::new(13);
    let mut tables = tables();
    for k in 0..400 {
        let flops = random.flops();
        let faster = if k % 2 == 0 { 0.0 } else { -2.0 };
        let task = push(
            &mut tables,
            flops,
            (truth(flops) + faster + 0.05 * random.normal()).exp(),
        );
        task.worker = if k % 2 == 0 { CPU } else { DEVICE };
    }
    tables.tasks[0].worker = 77;
    tables.tasks[1].codelet = 99;
    let models = models::fit(&tables, 0.95);
    assert_eq!((models.groups.len(), models.left_out), (2, 2));
    let at = |kind| {
        models.group("geqrt", kind).unwrap().predict(1e7)[0]
            .expected_ns
            .ln()
    };
    near(at(WorkerKind::Cpu) - at(WorkerKind::Device), 2.0, 0.05);
    assert!(models.group("tpqrt", WorkerKind::Cpu).is_none());
}

#[test]
fn tasks_of_one_size_have_a_level_and_no_slope() {
    let mut random = Random::new(14);
    let mut tables = tables();
    for k in 0..500 {
        let slow = if k % 50 == 0 { 1.0 } else { 0.0 };
        push(
            &mut tables,
            1_000_000,
            (13.0 + 0.1 * random.normal() + slow).exp(),
        );
    }
    let models = models::fit(&tables, 0.95);
    let group = only(&models);
    assert_eq!(group.chosen, Choice::Robust, "{}", group.why);
    for line in [group.robust.unwrap(), group.classical.unwrap()] {
        assert!(line.flat && line.slope == 0.0);
    }
    near(group.robust.unwrap().intercept, 13.0, 0.02);
    assert!(group.why.ends_with("the same flops"), "{}", group.why);
    let slow: Vec<u32> = (0..10).map(|k| 50 * k).collect();
    assert!(slow.iter().all(|k| numbers(models.anomalies()).contains(k)));
    // One size, two speeds.
    for t in tables.tasks.iter_mut().filter(|t| t.task % 2 == 1) {
        t.end_ns += 9 * (t.end_ns - t.start_ns);
    }
    let models = models::fit(&tables, 0.95);
    assert_eq!(
        only(&models).chosen,
        Choice::Mixture,
        "{}",
        only(&models).why
    );
}

/// Nothing that a trace can hold makes a number that is none.
#[test]
fn degenerate_groups_have_an_outcome() {
    let fitted = |tasks: &[(u64, f64)]| {
        let mut out = tables();
        for (flops, ns) in tasks {
            push(&mut out, *flops, *ns);
        }
        let models = models::fit(&out, 0.95);
        // JSON writes null for what is no finite number, and then it can't be read as one.
        let report = models.report();
        let again: models::ModelReport = serde_json::from_str(&report.to_json()).expect("numbers");
        assert_eq!(again.groups.len(), report.groups.len());
        for g in &models.groups {
            for flops in [0.0, 1.0, 1e300, f64::NAN] {
                assert!(g.predict(flops).iter().all(|i| {
                    i.lower_ns.is_finite() && i.upper_ns.is_finite() && i.expected_ns > 0.0
                }));
            }
        }
        models
    };
    let none = fitted(&[]);
    assert!(none.groups.is_empty() && none.fits.is_empty());
    let zero_flops = fitted(&[(0, 500.0); 30]);
    assert!(zero_flops.groups.is_empty());
    assert_eq!(zero_flops.fits.len(), 1);
    for n in 1..models::FEWEST {
        let few = fitted(&vec![(1000, 500.0); n]);
        assert_eq!(only(&few).chosen, Choice::TooFew);
        assert!(only(&few).lines().is_empty());
    }
    for n in [models::FEWEST, 9, 10, 19, 20, 100] {
        let equal = fitted(&vec![(1000, 500.0); n]);
        assert_eq!(
            only(&equal).chosen,
            Choice::Classical,
            "{}",
            only(&equal).why
        );
        near(only(&equal).predict(1000.0)[0].expected_ns, 500.0, 1e-6);
        assert!(equal.anomalies().is_empty(), "all the same");
        let exact: Vec<_> = (1..=n as u64)
            .map(|k| (k << 20, (k << 10) as f64))
            .collect();
        assert!(
            fitted(&exact).anomalies().is_empty(),
            "a line without noise"
        );
        let mut one_apart = exact.clone();
        one_apart[n / 2].1 *= 100.0;
        let models = fitted(&one_apart);
        if n >= 10 {
            assert_eq!(numbers(models.anomalies()), [n as u32 / 2]);
        }
        let mut two_sizes = vec![(1000, 500.0); n];
        two_sizes[0] = (u64::MAX, 1e15);
        fitted(&two_sizes);
    }
    let mut zeros = vec![(1000, 0.0); 60];
    assert_eq!(only(&fitted(&zeros)).chosen, Choice::BelowClock);
    zeros.extend([(1000, 3.0); 61]);
    let mixed = fitted(&zeros);
    assert_eq!(only(&mixed).unmeasurable, 60);
    assert_eq!(only(&mixed).chosen, Choice::Classical);
    assert!(only(&mixed).expect(1000.0, 0.0).is_none());

    let mut backwards = tables();
    for _ in 0..10 {
        push(&mut backwards, 10, 5.0).end_ns = 0;
    }
    assert_eq!(
        only(&models::fit(&backwards, 0.95)).chosen,
        Choice::BelowClock
    );
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

#[test]
fn durations_by_shape_are_recovered() {
    let mut random = Random::new(16);
    let mut tables = tables();
    for _ in 0..800 {
        let size = |r: &mut Random| 20 + (200.0 * r.unit()) as u32;
        let (rows, cols, inner) = (size(&mut random), size(&mut random), size(&mut random));
        let (area, entries) = (f64::from(rows) * f64::from(cols), 1e6 * random.unit());
        let noise = 300.0 * random.normal();
        let ns = 0.5 * area * f64::from(inner) + 4.0 * area + 9000.0 + noise;
        let task = push(&mut tables, 1, ns);
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
        for (term, b) in fit.terms.iter().zip(truth) {
            let (low, high) = term.confidence_ns.expect("a residual");
            // Three times the interval: nine cases at 95 % would not all be inside it.
            near(term.ns, *b, 1.5 * (high - low));
            assert!(
                low < term.ns && term.ns < high && high - low < 0.2 * b,
                "{fit:?}"
            );
        }
        fit
    };
    let kernel = check("geqrt", &[0.5, 4.0, 9000.0]);
    assert!(kernel.r2.unwrap() > 0.999);
    near(kernel.s_ns.unwrap(), 300.0, 30.0);
    check("do_subtree", &[0.3, 2000.0, 1.5]);
    let mean = 700.0 + 300.0 * (2.0 / std::f64::consts::PI).sqrt();
    check("block_copy", &[0.8, mean]);
    let clean = check("clean_front", &[650.0]);
    near(clean.mean_ns, clean.terms[0].ns, 1e-9);
    near(clean.r2.unwrap(), 0.0, 1e-9);
    let init = fit("init_front");
    assert_eq!((init.terms[1].ns, init.terms[1].confidence_ns), (0.0, None));
    assert!(init.terms[0].ns > 1.5);
    let g = models::Geometry {
        rows: 100.0,
        cols: 50.0,
        inner: 20.0,
        ..Default::default()
    };
    near(
        kernel.predict(&g),
        0.5 * 100_000.0 + 4.0 * 5000.0 + 9000.0,
        300.0,
    );
}

#[test]
fn json_has_all_of_it() {
    let tables = along(&mut Random::new(17), 200, 0.1, |k, _| {
        if k % 2 == 0 { 1.0 } else { 0.0 }
    });
    let models = models::fit(&tables, 0.8);
    let report = models.report();
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(json["version"], REPORT_VERSION);
    assert_eq!(json["level"], 0.8);
    let group = &json["groups"][0];
    assert_eq!(
        (&group["codelet"], &group["kind"]),
        (&"geqrt".into(), &"cpu".into())
    );
    assert_eq!(group["chosen"], "mixture");
    assert!(group["mixture"]["clusters"][1]["line"]["slope"].is_number());
    assert_eq!(json["fits"][0]["terms"][0]["term"], "volume");
    assert_eq!(json["anomalies"], models.anomalies().len());
    let wrong = report.to_json().replace("\"cpu\"", "\"abacus\"");
    let error = serde_json::from_str::<models::ModelReport>(&wrong).unwrap_err();
    assert!(error.to_string().contains("abacus"), "{error}");
}

#[test]
#[should_panic(expected = "a level is between 0 and 1")]
fn a_level_is_between_0_and_1() {
    models::fit(&Tables::default(), 95.0);
}

/// How long a million tasks take is for `cargo test --release -- --ignored --nocapture` to say.
#[test]
#[ignore = "some seconds"]
fn a_million_tasks_in_groups_of_all_sizes() {
    let mut tables = along(&mut Random::new(18), 1_000_000, 0.1, |k, r| match k % 20 {
        0 => 3.0 * r.unit(),
        1..6 => 1.0,
        _ => 0.0,
    });
    for t in &mut tables.tasks {
        // Half of them in one group, the rest in three.
        t.codelet = if t.task % 2 == 0 {
            GEQRT
        } else {
            (t.task / 2 % 3) as u16
        };
    }
    let begin = std::time::Instant::now();
    let models = models::fit(&tables, 0.95);
    println!("{:?} for {} tasks", begin.elapsed(), tables.tasks.len());
    assert_eq!(
        models.groups.iter().map(|g| g.tasks).sum::<u64>(),
        1_000_000
    );
    for group in &models.groups {
        assert_eq!(group.chosen, Choice::Mixture, "{}", group.why);
        near(group.lines()[0].slope, 0.8, 0.01);
    }
}
