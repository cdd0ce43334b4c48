//! Two lines, or one: labels, limits, and what is no line.

use crate::sample::{Random, along, near, only, push, tables, truth};
use treeqr_profiling::models::{self, Choice};

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

/// Half of the tasks are perturbed in all ways, by up to a factor of a hundred: that is no second line, whatever the BIC says.
#[test]
fn a_cloud_is_no_line() {
    let tables = along(&mut Random::new(20), 1000, 0.05, |k, r| {
        if k % 5 < 2 { 4.5 * r.unit() } else { 0.0 }
    });
    let models = models::fit(&tables, 0.95);
    let group = only(&models);
    assert!(group.diagnostics.unwrap().bic_gain > 100.0);
    assert_eq!(group.chosen, Choice::Robust, "{}", group.why);
    assert!(group.why.contains("far scattered"), "{}", group.why);
    near(
        group.robust.unwrap().log_expected(17.0),
        1.5 + 0.8 * 17.0,
        0.05,
    );
}
