//! Groups that determine little or nothing: one size, no duration, few tasks.

use crate::sample::{Random, near, numbers, only, push, tables};
use treeqr_profiling::models::{self, Choice};
use treeqr_profiling::trace::Tables;

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
#[should_panic(expected = "a level is between 0 and 1")]
fn a_level_is_between_0_and_1() {
    models::fit(&Tables::default(), 95.0);
}
