//! The tasks of solves in records and traces, through the library.

use std::collections::BTreeMap;
use treeqr::matrices::norm2;
use treeqr::profiling::account::{critical_path, idle};
use treeqr::profiling::export::{EXPORTS, ExportOptions};
use treeqr::profiling::inspect::{Balance, Severity, check};
use treeqr::profiling::panels::{PANELS, PanelOptions};
use treeqr::profiling::trace::schema::Role;
use treeqr::profiling::trace::{FACTORIZE, NULL_SPACE, Overwrite, RANK, SOLVE, Status, Trace};
use treeqr::runtime::CancelHandle;
use treeqr::solver::{NULL_SPACE_CODELETS, RANK_CODELETS, SOLVE_CODELETS, SolveOptions, SolvePlan};
use treeqr::{
    Csc, Deficient, FactorOptions, Options, Progress, Record, RunKind, Settings, TraceNotes,
    analyse, factorize, matrices, solve, solve_analysed, trace,
};

fn load(name: &str) -> Csc<f64> {
    matrices::load(name).expect("in the gallery").matrix
}

fn plan(record: &Record) -> &SolvePlan {
    let solve = record.kinds().iter().find_map(|kind| match kind {
        RunKind::Solve(plan) => Some(plan),
        _ => None,
    });
    solve.expect("a solve was recorded")
}

/// Errors that `check` finds.
fn faults(trace: &Trace) -> Vec<String> {
    let found = check(trace).into_iter();
    let errors = found.filter(|f| f.severity == Severity::Error);
    errors.map(|f| f.to_string()).collect()
}

/// Tasks of the solve by codelet.
fn solve_tasks(trace: &Trace) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for task in &trace.tables.tasks {
        let codelet = &trace.tables.codelets[usize::from(task.codelet)];
        assert_eq!(codelet.codelet, task.codelet);
        if codelet.role == Role::Solve {
            *counts.entry(&*codelet.name).or_default() += 1;
        }
    }
    counts
}

/// What must hold of the solve in any complete trace.
fn consistent(trace: &Trace, plan: &SolvePlan) {
    assert_eq!(faults(trace), [""; 0]);
    let names = SOLVE_CODELETS.into_iter().zip(plan.tasks);
    let planned: BTreeMap<&str, u64> = names.filter(|(_, count)| *count > 0).collect();
    assert_eq!(solve_tasks(trace), planned);
    let solves = trace.tables.solves();
    assert_eq!(solves.len() as u64, plan.task_count());
    let flops = |solves_too: bool| -> u64 {
        let tasks = trace.tables.tasks.iter();
        let chosen = tasks.filter(|t| solves.contains(&t.task) == solves_too);
        chosen.map(|t| t.flops).sum()
    };
    assert_eq!(flops(true), plan.flops);
    // No dependency leads from one run into the other, and every task but the first of each block waits for something.
    let mut waits = BTreeMap::new();
    for edge in &trace.tables.dependencies {
        assert_eq!(
            solves.contains(&edge.task),
            solves.contains(&edge.predecessor)
        );
        *waits.entry(edge.task).or_insert(0) += 1;
    }
    let free = solves.iter().filter(|task| !waits.contains_key(task));
    assert_eq!(free.count(), plan.blocks);
    let columns = |name: &str| {
        let mut sums = 0;
        for task in trace
            .tables
            .tasks
            .iter()
            .filter(|t| solves.contains(&t.task))
        {
            let codelet = &trace.tables.codelets[usize::from(task.codelet)].name;
            sums += if codelet == name { task.cols } else { 0 };
        }
        sums as usize
    };
    assert_eq!(columns("solve_begin"), plan.nrhs);
    assert_eq!(columns("solve_end"), plan.nrhs);
}

/// For every worker the times add up, and what lies between the runs is nobody's fault.
fn accounted(trace: &Trace) {
    let gaps = trace.manifest.gaps();
    let idle = idle(trace);
    let balance = Balance::of(trace).expect("in memory");
    assert_eq!(balance.parts.len(), trace.manifest.run.parts.len());
    assert_eq!(
        balance.parts.iter().map(|p| p.tasks).sum::<u64>(),
        balance.tasks
    );
    for (row, (idle, balance)) in
        (trace.tables.workers.iter()).zip(idle.workers.iter().zip(&balance.workers))
    {
        let inside =
            |gap: &(u64, u64)| (gap.1.min(row.end_ns)).saturating_sub(gap.0.max(row.start_ns));
        let between: u64 = gaps.iter().map(inside).sum();
        assert_eq!(idle.causes.between_runs_ns, between);
        assert_eq!(
            idle.executing_ns + idle.causes.total_ns(),
            row.end_ns - row.start_ns
        );
        assert_eq!(balance.time_ns + between, row.end_ns - row.start_ns);
    }
}

fn notes() -> TraceNotes {
    TraceNotes {
        matrix: "test".to_owned(),
        ..TraceNotes::default()
    }
}

#[test]
fn a_solve_is_in_the_trace_of_its_factorization() {
    for (name, nrhs, threads) in [
        ("gallery:grid3d-8", 1, 2),
        ("gallery:grid3d-8", 32, 2),
        ("gallery:survey-12x10", 40, 1),
        // Wide: R^H, then Q.
        ("gallery:TF10", 32, 2),
        ("gallery:TF10", 1, 2),
        // Singletons.
        ("gallery:lp-400", 3, 2),
    ] {
        let a = load(name);
        let b = vec![1.0; a.nrows() * nrhs];
        let mut settings = Settings::with_threads(threads);
        settings.factorization.tolerance = Some(0.0);
        settings.factorization.keep_q = true;
        let done = solve(&a, &b, nrhs, &settings).expect("solved");
        let record = done.run.record();
        let plan = plan(record);
        assert_eq!(plan.nrhs, nrhs);
        let trace = trace(&done.symbolic, record, Status::Complete, notes());
        consistent(&trace, plan);
        accounted(&trace);

        let parts = &trace.manifest.run.parts;
        let named: Vec<_> = parts.iter().map(|part| &*part.name).collect();
        assert_eq!(named, [FACTORIZE, SOLVE]);
        let factorized = done.run.prediction().task_count();
        assert_eq!(
            (parts[0].submitted_tasks, parts[1].first_task),
            (factorized, factorized)
        );
        assert_eq!(parts[1].workers, plan.workers.max(1) as u64);
        assert_eq!(parts[1].scheduler == "sequential", plan.workers == 0);
        // The solve's memory comes on top of the factors, and only x is left of it.
        let solves = trace.tables.solves();
        let of_solve = trace.tables.memory.iter();
        let of_solve: Vec<_> = of_solve.filter(|m| solves.contains(&m.task)).collect();
        let factors = trace.manifest.predicted("factor_bytes").expect("predicted");
        assert!(of_solve.iter().all(|m| m.after_bytes >= factors));
        let left: i64 = of_solve.iter().map(|m| m.delta_bytes).sum();
        assert_eq!(left as usize, 8 * done.x.len(), "{name}");
        assert!(of_solve.len() as u64 <= plan.memory_events);
        let last = trace.tables.memory.last().expect("events");
        assert_eq!(last.after_bytes, factors + left as u64);
        // The longest chain leads through both.
        let path = critical_path(&trace);
        assert!(path.tasks.iter().any(|task| solves.contains(task)));
        assert!(path.tasks.iter().any(|task| !solves.contains(task)));
    }
}

/// With workers, whatever the work is worth, and with one task for each front.
#[test]
fn later_solves_have_traces_of_their_own() {
    let a = load("gallery:grid3d-8");
    let symbolic = analyse(a.pattern(), &Options::default()).expect("analysed");
    let options = FactorOptions {
        tolerance: Some(0.0),
        ..FactorOptions::default()
    };
    let qr = factorize(&symbolic, &a, &options).expect("factorized");
    assert_eq!(qr.run().record().kinds(), [RunKind::Factorize]);
    let b = vec![1.0; 20 * a.nrows()];
    let expected = qr.solve_many(&b, 20).expect("solved");
    // Two at once, each with a record of its own.
    let progress = [Progress::default(), Progress::default()];
    let done = std::thread::scope(|scope| {
        let (qr, b) = (&qr, &b);
        let solve =
            |progress| scope.spawn(move || qr.solve_recorded(b, 20, progress).expect("solved"));
        progress.each_ref().map(solve).map(|t| t.join().unwrap())
    });
    for ((x, record), progress) in done.iter().zip(&progress) {
        assert_eq!(x, &expected);
        let plan = plan(record);
        assert_eq!(progress.flops(), plan.flops);
        assert_eq!(progress.predicted_flops(), plan.flops);
        let trace = trace(qr.symbolic(), record, Status::Complete, notes());
        consistent(&trace, plan);
        accounted(&trace);
        assert_eq!(trace.tables.tasks.len() as u64, plan.task_count());
        assert!(trace.manifest.factorization().is_empty());
        assert_eq!(record.summary().flops, plan.flops);
        assert_eq!(record.solve_summary().expect("it began"), record.summary());
    }
}

/// Every panel and export takes the trace of a factorization with its solve, and of a solve alone.
#[test]
fn exports_and_panels_take_solves() {
    let a = load("gallery:grid3d-8");
    let folder = tempfile::tempdir().expect("a folder");
    let done = solve(
        &a,
        &vec![1.0; 32 * a.nrows()],
        32,
        &Settings::with_threads(2),
    );
    let done = done.expect("solved");
    let both = trace(&done.symbolic, done.run.record(), Status::Complete, notes());
    let qr = factorize(&done.symbolic, &a, &FactorOptions::default()).expect("factorized");
    let b = vec![1.0; a.nrows()];
    let (_, record) = qr
        .solve_recorded(&b, 1, &Progress::default())
        .expect("solved");
    let alone = trace(qr.symbolic(), &record, Status::Complete, notes());
    for (name, trace) in [("both", &both), ("alone", &alone)] {
        for export in EXPORTS {
            let path = folder.path().join(format!("{name}.{}", export.name));
            let written = export.write(trace, &path, &ExportOptions::default());
            written.unwrap_or_else(|e| panic!("{name} {}: {e}", export.name));
        }
        for panel in PANELS {
            let drawn = panel.draw(trace, &PanelOptions::default());
            drawn.unwrap_or_else(|e| panic!("{name} {}: {e}", panel.name));
        }
        // And it is the same when it was on disk.
        let path = folder.path().join(name);
        let manifest = trace.write(&path, Overwrite::Never).expect("written");
        let again = Trace::open(&path).expect("read");
        assert_eq!(again.manifest.run, manifest.run);
        assert_eq!(again.manifest.analysis, manifest.analysis);
        assert_eq!(again.tables, trace.tables);
    }
}

/// A factorization that failed has no solve; a solve that is cancelled leaves what was done with the whole factorization.
#[test]
fn what_failed_is_told_as_far_as_it_went() {
    let a = load("gallery:ch6-6-b3");
    let symbolic = analyse(a.pattern(), &Options::default()).expect("analysed");
    let progress = Progress::default();
    let b = vec![1.0; a.nrows()];
    let refuse = FactorOptions {
        deficient: Deficient::Refuse,
        ..FactorOptions::default()
    };
    let refused = solve_analysed(&symbolic, &a, &b, 1, &refuse, &progress);
    let Err(error) = refused else {
        panic!("it is not of full rank");
    };
    let record = progress.take_unfinished().expect("left");
    assert_eq!(record.kinds(), [RunKind::Factorize]);
    let status = Status::Failed(error.to_string());
    let failed = trace(&symbolic, &record, status, notes());
    assert!(failed.tables.solves().is_empty() && !failed.tables.tasks.is_empty());
    assert_eq!(faults(&failed), [""; 0]);

    // Values that no run begins with.
    let mut bad = load("gallery:survey-8x6");
    let symbolic = analyse(bad.pattern(), &Options::default()).expect("analysed");
    bad.values_mut()[0] = f64::NAN;
    let b = vec![1.0; bad.nrows()];
    solve_analysed(&symbolic, &bad, &b, 1, &FactorOptions::default(), &progress)
        .expect_err("not finite");
    let record = progress.take_unfinished().expect("left");
    let none = trace(&symbolic, &record, Status::Failed(String::new()), notes());
    assert!(none.tables.tasks.is_empty() && none.manifest.run.parts.is_empty());
    assert_eq!(faults(&none), [""; 0]);

    let a = load("gallery:grid3d-8");
    let symbolic = analyse(a.pattern(), &Options::default()).expect("analysed");
    let mut options = FactorOptions::default();
    let cancel = CancelHandle::new();
    options.run.cancel = cancel.clone();
    let qr = factorize(&symbolic, &a, &options).expect("factorized");
    cancel.cancel();
    let b = vec![1.0; a.nrows()];
    qr.solve_recorded(&b, 1, &progress).expect_err("cancelled");
    let record = progress.take_unfinished().expect("left");
    let cancelled = trace(&symbolic, &record, Status::Cancelled, notes());
    let of_plan = plan(&record).task_count() as usize;
    assert!(cancelled.tables.tasks.len() < of_plan);
    assert_eq!(faults(&cancelled), [""; 0]);
}

/// The shortest solution without Q: a run with R, and one for each correction, all in what was planned.
#[test]
fn corrections_are_in_the_trace() {
    // Well conditioned, and not.
    for (name, runs) in [("gallery:stencil27-5", 1..=2), ("gallery:TF10", 2..=2)] {
        let a = load(name);
        let b = vec![1.0; a.nrows()];
        let done = solve(&a, &b, 1, &Settings::with_threads(2)).expect("solved");
        let record = done.run.record();
        let trace = trace(&done.symbolic, record, Status::Complete, notes());
        assert_eq!(faults(&trace), [""; 0]);
        accounted(&trace);
        let parts = &trace.manifest.run.parts;
        let solves = parts.iter().filter(|part| part.name == SOLVE).count();
        assert!(runs.contains(&solves), "{name}: {solves}");
        assert_eq!(parts.len(), 1 + solves);
        let tasks = plan(record).task_count() * solves as u64;
        assert_eq!(trace.tables.solves().len() as u64, tasks);
        let codelets = solve_tasks(&trace);
        assert!(codelets.contains_key("solve_r") && !codelets.contains_key("apply_q"));
        for panel in PANELS {
            let drawn = panel.draw(&trace, &PanelOptions::default());
            drawn.unwrap_or_else(|e| panic!("{}: {e}", panel.name));
        }
    }
}

/// Without full rank the sweep with Q is planned and recorded; the solve after b was carried along has none.
#[test]
fn solves_without_full_rank_have_traces() {
    let tall = load("gallery:ch6-6-b3");
    for a in [tall.adjoint(), tall] {
        let symbolic = analyse(a.pattern(), &Options::default()).expect("analysed");
        let options = FactorOptions::default();
        let b = vec![1.0; a.nrows()];
        let qr = factorize(&symbolic, &a, &options).expect("factorized");
        assert_eq!(qr.rank().rank, 1985);
        let progress = Progress::default();
        let (x, record) = qr.solve_recorded(&b, 1, &progress).expect("solved");
        let later = trace(&symbolic, &record, Status::Complete, notes());
        assert!(!later.tables.tasks.is_empty());
        let planned = plan(&record).task_count();
        assert_eq!(later.tables.solves().len() as u64, planned);
        assert_eq!(faults(&later), [""; 0]);
        let options = FactorOptions {
            keep_q: true,
            ..options
        };
        let solution = solve_analysed(&symbolic, &a, &b, 1, &options, &progress).expect("solved");
        let record = solution.run.record();
        let whole = trace(&symbolic, record, Status::Complete, notes());
        let swept = symbolic.transposed();
        let kinds = record.kinds();
        assert_eq!(kinds[..2], [RunKind::Factorize, RunKind::Rank]);
        let last = kinds.last().expect("two at least");
        assert_eq!(matches!(last, RunKind::Solve(_)), swept);
        let tasks = solve_tasks(&whole);
        let of_solve = |name: &&str| SOLVE_CODELETS.contains(name);
        assert_eq!(tasks.keys().any(of_solve), swept);
        assert_eq!(faults(&whole), [""; 0]);
        let norm = norm2(&x);
        let error: Vec<f64> = x.iter().zip(&solution.x).map(|(p, q)| p - q).collect();
        assert!(norm2(&error) <= 1e-10 * norm);
    }
}

/// What is planned is what runs, for any number of workers and any bundling.
#[test]
fn plans_are_kept_with_and_without_workers() {
    let a = load("gallery:grid3d-8");
    let symbolic = analyse(a.pattern(), &Options::default()).expect("analysed");
    let qr = factorize(&symbolic, &a, &FactorOptions::default()).expect("factorized");
    let factors = qr.factors();
    for (sequential, grain_ns) in [(true, 0), (false, 0), (false, 50_000)] {
        let options = SolveOptions {
            run: treeqr::Config::with_threads(3),
            sequential: Some(sequential),
            grain: Some(std::time::Duration::from_nanos(grain_ns)),
        };
        let plan = factors.plan_solve(35, &options).expect("Q was kept");
        let recorder = treeqr::profiling::Recorder::new(Default::default());
        let b = vec![1.0; 35 * a.nrows()];
        factors
            .solve_with(&b, 35, &options, &recorder)
            .expect("solved");
        let run = recorder.finish().runs.remove(0);
        assert_eq!(run.submitted, plan.task_count());
        assert_eq!(run.accesses.len() as u64, plan.accesses);
        assert_eq!(run.tasks.iter().map(|t| t.flops).sum::<u64>(), plan.flops);
        assert_eq!(run.workers.len(), plan.workers.max(1));
        assert!(run.memory.len() as u64 <= plan.memory_events);
    }
}

/// A root that lacks rank, and a basis of the null space: two runs more, in the same trace.
#[test]
fn what_finds_the_rank_is_in_the_trace() {
    let a = load("gallery:ch6-6-b3");
    let symbolic = analyse(a.pattern(), &Options::default()).expect("analysed");
    let shortest = FactorOptions {
        deficient: Deficient::MinimumNorm,
        ..FactorOptions::default()
    };
    let b = vec![1.0; a.nrows()];
    let done = solve_analysed(&symbolic, &a, &b, 1, &shortest, &Progress::default());
    let run = done.expect("solved").run;
    let kinds = run.record().kinds();
    let first = [RunKind::Factorize, RunKind::Rank, RunKind::NullSpace];
    assert_eq!(kinds[..3], first);
    let trace = trace(&symbolic, run.record(), Status::Complete, notes());
    assert_eq!(faults(&trace), [""; 0]);
    accounted(&trace);
    let names: Vec<&str> = (trace.manifest.run.parts.iter())
        .map(|part| &*part.name)
        .collect();
    assert_eq!(names[..3], [FACTORIZE, RANK, NULL_SPACE]);
    let tasks = solve_tasks(&trace);
    for name in ["deflate_panel", "deflate_update", "null_qr", "null_update"] {
        assert!(tasks.contains_key(name), "{name} in {tasks:?}");
        let codelet = |of: u16| &*trace.tables.codelets[usize::from(of)].name;
        let those = trace
            .tables
            .tasks
            .iter()
            .filter(|t| codelet(t.codelet) == name);
        assert!(those.map(|task| task.flops).sum::<u64>() > 0, "{name}");
    }
    let known = |name: &&str| RANK_CODELETS.contains(name) || NULL_SPACE_CODELETS.contains(name);
    assert!(
        tasks
            .keys()
            .all(|name| known(name) || SOLVE_CODELETS.contains(name))
    );
    for panel in PANELS {
        let drawn = panel.draw(&trace, &PanelOptions::default());
        drawn.unwrap_or_else(|e| panic!("{}: {e}", panel.name));
    }
}

/// The null space of a wide matrix is made, and recorded, where b asks for it.
#[test]
fn the_null_space_is_in_the_trace_where_b_asks_for_it() {
    let a = load("gallery:ch6-6-b3").adjoint();
    let symbolic = analyse(a.pattern(), &Options::default()).expect("analysed");
    let mut inside = vec![0.0; a.nrows()];
    a.mul_add(1.0, &vec![1.0; a.ncols()], &mut inside);
    let mut outside = inside.clone();
    outside[0] += 1.0;
    for (b, asks, keep_q) in [
        (&inside, false, true),
        (&inside, false, false),
        (&outside, true, true),
        (&outside, true, false),
    ] {
        let options = FactorOptions {
            keep_q,
            ..FactorOptions::default()
        };
        let done = solve_analysed(&symbolic, &a, b, 1, &options, &Progress::default());
        let run = done.expect("solved").run;
        let kinds = run.record().kinds();
        assert_eq!(kinds.contains(&RunKind::NullSpace), asks);
        // Nothing but a sweep with Q is a run there.
        assert_eq!(matches!(kinds.last(), Some(RunKind::Solve(_))), keep_q);
        let trace = trace(&symbolic, run.record(), Status::Complete, notes());
        assert_eq!(faults(&trace), [""; 0]);
    }
}
