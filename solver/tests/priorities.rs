//! Priorities from cost models: asked for, learnt, used, and without any effect on the result.

use std::path::Path;
use std::sync::Arc;
use treeqr_matrices::gallery;
use treeqr_runtime::{Config, ModelStore, schedulers};
use treeqr_solver::{FactorOptions, Options, Priorities, PriorityReport, analyse, factorize};

/// The bits of x, the report, and whether the run learnt.
fn solve(
    priorities: Priorities,
    models: &Path,
    scheduler: &str,
) -> (Vec<u64>, PriorityReport, bool) {
    let options = Options {
        threads: 2,
        mb: Some(32),
        nb: Some(16),
        ib: Some(8),
        ..Options::default()
    };
    let a = gallery::make("grid3d-10").expect("gallery").matrix;
    let symbolic = Arc::new(analyse(a.pattern(), &options).expect("analysis"));
    let options = FactorOptions {
        priorities,
        run: Config {
            bind: false,
            models: ModelStore::File(models.to_owned()),
            scheduler: schedulers::by_name(scheduler).unwrap(),
            ..Config::with_threads(2)
        },
        ..FactorOptions::default()
    };
    let b: Vec<f64> = (0..a.nrows()).map(|i| (i as f64).sin()).collect();
    let done = factorize(&symbolic, &a, &b, 1, &options, &()).expect("full rank");
    let x = done.factors.solution().expect("solved");
    let bits = x.into_iter().map(f64::to_bits).collect();
    (bits, done.priorities, done.stats.models.is_some())
}

#[test]
fn models_change_the_order_and_not_the_result() {
    let folder = std::env::temp_dir().join(format!("treeqr-priorities-{}", std::process::id()));
    let path = folder.join("models");
    let (expected, report, learnt) = solve(Priorities::Fixed, &path, "lws");
    assert_eq!(report, PriorityReport::default());
    assert!(
        !learnt && !path.exists(),
        "who does not ask measures nothing"
    );

    // Nothing is kept: the rates serve, and the run learns.
    let (x, report, learnt) = solve(Priorities::Models, &path, "lws");
    assert_eq!((report.from_models, learnt), (0, true));
    assert_eq!(report.ignored, None);
    assert!(x == expected);

    for scheduler in ["lws", "prio", "dmdas"] {
        let (x, report, _) = solve(Priorities::Models, &path, scheduler);
        assert_eq!(report.by, Priorities::Models);
        assert!(report.from_models > 0, "{scheduler}");
        assert!(x == expected, "{scheduler}: other bits");
    }

    std::fs::write(&path, "something else").unwrap();
    let (x, report, _) = solve(Priorities::Models, &path, "lws");
    assert_eq!(report.from_models, 0);
    assert!(report.ignored.is_some());
    assert!(x == expected);
    std::fs::remove_dir_all(&folder).unwrap();
}
