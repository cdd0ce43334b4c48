//! The outcome as one JSON object, with every run. Keys are added and never renamed.

use super::compare::{Compared, Standing};
use super::measure::{Measured, Purpose, Sample};
use super::variant::{NO_BOUND, RankLook, Variant};
use super::{Outcome, Plan};
use serde_json::{Value, json};
use treeqr::VERSION;
use treeqr::profiling::Efficiency;

/// The object.
pub fn object(plan: &Plan, outcomes: &[Outcome]) -> Value {
    let names: Vec<_> = plan.schedulers.iter().map(|entry| entry.name).collect();
    let matrices: Vec<_> = outcomes.iter().map(matrix).collect();
    json!({
        "schedulers": names,
        "threads": plan.threads,
        "reps": plan.reps,
        "warmup": plan.warmup,
        "baselines": plan.baselines,
        "times_solve": plan.times_solve(),
        "variants": plan.variants.iter().map(variant).collect::<Vec<_>>(),
        "emulated_devices": plan.devices.iter().map(|d| json!({
            "name": d.name,
            "speed": d.speed,
            "speeds": d.speeds.iter().map(|(c, s)| (c.clone(), (*s).into())).collect::<serde_json::Map<_, _>>(),
            "bandwidth_bytes_per_s": d.bandwidth,
            "latency_s": d.latency_ns / 1e9,
            "memory_bytes": d.memory_bytes,
        })).collect::<Vec<_>>(),
        "devices": plan.accelerators.iter().map(|d| json!({
            "name": d.name,
            "model": d.device.name(),
            "memory_bytes": d.memory_bytes,
            "streams": d.streams,
        })).collect::<Vec<_>>(),
        "options": {
            "any_rank": plan.variants.iter().all(|v| v.rank == RankLook::Off),
            "share": plan.share,
            "ordering": plan.options.ordering,
            "mb": plan.options.mb,
            "nb": plan.options.nb,
            "ib": plan.options.ib,
            "bh": plan.options.bh,
        },
        "matrices": matrices,
        "version": VERSION,
    })
}

fn variant(variant: &Variant) -> Value {
    let text = |text: &str| (text != NO_BOUND).then(|| text.to_owned());
    json!({
        "memory_limit": text(&variant.memory_limit.text),
        "subtree_workers": variant.subtree_workers.value,
        "window": variant.window.value,
        "precision": variant.precision.name(),
        "rank": variant.rank == RankLook::On,
    })
}

fn matrix(outcome: &Outcome) -> Value {
    let a = outcome.problem.pattern();
    let mut object = json!({
        "source": outcome.problem.source().to_string(),
        "matrix": {"rows": a.nrows(), "cols": a.ncols(), "nnz": a.nnz()},
        "error": null,
    });
    match &outcome.done {
        Err(failure) => object["error"] = failure.message().into(),
        Ok((measured, compared)) => {
            let combinations: Vec<_> = compared.iter().map(combination).collect();
            let runs: Vec<_> = measured.samples.iter().map(|s| run(s, measured)).collect();
            object["ordering"] = measured.symbolic.ordering().into();
            object["problem"] = measured.symbolic.problem().name().into();
            object["combinations"] = combinations.into();
            object["runs"] = runs.into();
        }
    }
    object
}

fn combination(one: &Compared) -> Value {
    let ((min, max), (q1, q3)) = (one.range_s(), one.quartiles_s());
    json!({
        "scheduler": one.scheduler,
        "threads": one.threads,
        "variant": one.variant,
        "median_s": one.median_s(),
        "min_s": min,
        "max_s": max,
        "first_quartile_s": q1,
        "third_quartile_s": q3,
        "gflops": one.gflops(),
        "occupancy": one.median_run.occupancy,
        "peak_bytes": one.peak_bytes,
        "speedup": one.speedup,
        "efficiency": efficiency(&one.efficiency),
        "fastest": matches!(one.standing, Standing::Fastest | Standing::Alone),
        "told_from_fastest": one.standing == Standing::Slower,
        "median_run": one.median_run.position,
    })
}

fn run(sample: &Sample, measured: &Measured) -> Value {
    let split = &sample.split;
    let seconds = |ns: u64| ns as f64 / 1e9;
    let own = (sample.purpose == Purpose::Measure)
        .then(|| efficiency(&measured.efficiency(split, sample.threads)));
    json!({
        "position": sample.position,
        "purpose": sample.purpose.name(),
        "repetition": sample.repetition,
        "scheduler": sample.scheduler,
        "threads": sample.threads,
        "variant": sample.variant,
        "workers": split.workers,
        "factorize_s": sample.time.as_secs_f64(),
        "solve_s": sample.solve.as_secs_f64(),
        "fallback": sample.fallback,
        "wall_s": seconds(split.wall_ns),
        "tasks_s": seconds(split.tasks_ns),
        "runtime_s": seconds(split.runtime_ns),
        "idle_s": seconds(split.idle_ns),
        "gflops": sample.gflops(),
        "occupancy": sample.occupancy,
        "efficiency": own,
        "flops": sample.flops,
        "tasks": sample.tasks,
        "peak_bytes": sample.peak_bytes,
        "sequential_peak_bytes": sample.sequential_peak_bytes,
        "time_scale": sample.time_scale,
        "dropped_records": sample.dropped,
    })
}

fn efficiency(e: &Efficiency) -> Value {
    json!({
        "total": e.product(),
        "granularity": e.granularity,
        "task": e.task,
        "pipeline": e.pipeline,
        "runtime": e.runtime,
    })
}
