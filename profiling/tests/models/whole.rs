//! All of a trace: groups, units of time, repetition, JSON, a million tasks.

use crate::sample::{CPU, DEVICE, GEQRT, Random, along, near, numbers, only, push, tables, truth};
use treeqr_profiling::models::{self, Choice, REPORT_VERSION};
use treeqr_profiling::trace::schema::{Share, WorkerKind};

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
    assert_eq!(json["fits"][0]["terms"][0]["term"], "flops");
    assert_eq!(json["anomalies"], models.anomalies().len());
    let wrong = report.to_json().replace("\"cpu\"", "\"abacus\"");
    let error = serde_json::from_str::<models::ModelReport>(&wrong).unwrap_err();
    assert!(error.to_string().contains("abacus"), "{error}");
}

#[test]
#[ignore = "a million tasks, seconds: just test-large"]
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
    let models = models::fit(&tables, 0.95);
    assert_eq!(
        models.groups.iter().map(|g| g.tasks).sum::<u64>(),
        1_000_000
    );
    for group in &models.groups {
        assert_eq!(group.chosen, Choice::Mixture, "{}", group.why);
        near(group.lines()[0].slope, 0.8, 0.01);
    }
}

#[test]
fn slow_tasks_beyond_chance_are_told_from_noise() {
    for seed in 30..40 {
        let noise = along(&mut Random::new(seed), 2000, 0.1, |_, _| 0.0);
        let models = models::fit(&noise, 0.95);
        // One in forty.
        near(models.expected_anomalies(), 50.0, 1e-9);
        assert!(!models.beyond_chance(), "{}", models.anomalies().len());
        let slow = along(&mut Random::new(seed), 2000, 0.1, |k, _| {
            if k % 20 == 0 { 1.5 } else { 0.0 }
        });
        let models = models::fit(&slow, 0.95);
        assert!(models.beyond_chance(), "{}", models.anomalies().len());
    }
}

/// A task that others help with takes less time and no less work: models and anomalies are those of the run without help.
#[test]
fn helpers_change_no_model() {
    let alone = along(&mut Random::new(14), 600, 0.1, |k, _| match k % 50 {
        0 => 3.0,
        _ => 0.0,
    });
    let mut helped = alone.clone();
    for t in helped.tasks.iter_mut().step_by(3) {
        let half = (t.end_ns - t.start_ns) / 2;
        t.end_ns -= half;
        helped.shares.push(Share {
            task: t.task,
            worker: t.worker + 1,
            parts: 3,
            start_ns: t.start_ns,
            end_ns: t.start_ns + half,
        });
    }
    let models = models::fit(&helped, 0.95);
    assert!(!models.anomalies().is_empty());
    assert_eq!(models, models::fit(&alone, 0.95));
    helped.shares.clear();
    assert_ne!(models, models::fit(&helped, 0.95));
}
