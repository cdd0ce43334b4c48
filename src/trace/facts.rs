//! What a manifest says: program, matrix, analysis, runs, clock, machine.
//!
//! Takes the analysis and the record; gives its sections. Knows no table.

use crate::run::{Record, RunKind};
use serde_json::{Map, Value, json};
use treeqr_profiling::Recording;
use treeqr_profiling::trace::{FACTORIZE, NULL_SPACE, RANK, RunFacts, SOLVE, parts};
use treeqr_runtime::{PartKind, Topology};
use treeqr_solver::{CODELETS, RunShape, SOLVE_CODELETS, SolvePlan, Symbolic};

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

pub(super) fn program() -> String {
    match option_env!("TREEQR_REVISION") {
        Some(revision) => format!("treeqr {} ({revision})", crate::VERSION),
        None => format!("treeqr {}", crate::VERSION),
    }
}

pub(super) fn matrix(symbolic: &Symbolic, name: &str, fingerprint: &str) -> Map<String, Value> {
    object(json!({
        "name": name,
        "rows": symbolic.nrows(),
        "cols": symbolic.ncols(),
        "entries": symbolic.nnz(),
        "fingerprint": fingerprint,
        "problem": symbolic.problem().name(),
    }))
}

pub(super) fn analysis(symbolic: &Symbolic, shape: RunShape) -> Map<String, Value> {
    let prediction = symbolic.predict(shape);
    let by_codelet = CODELETS.iter().zip(prediction.tasks);
    let by_codelet: Map<_, _> = by_codelet
        .map(|(&name, count)| (name.to_owned(), count.into()))
        .collect();
    let (groups, tiled) = symbolic.unit_counts();
    object(json!({
        "ordering": symbolic.ordering(),
        "ordering_why": symbolic.ordering_why(),
        "factorizes_transpose": symbolic.transposed(),
        "singletons": symbolic.singletons(),
        "fronts": symbolic.fronts().len(),
        "groups": groups,
        "tiled_fronts": tiled,
        "depth": symbolic.depth(),
        "nnz_r": symbolic.nnz_r(),
        "nnz_h": symbolic.nnz_h(),
        "rhs": shape.nrhs,
        "keeps_q": shape.keep_q,
        "scalar_bytes": shape.scalar_bytes,
        "complex": shape.complex,
        "flops": prediction.flops,
        "tasks": prediction.task_count(),
        "tasks_by_codelet": by_codelet,
        "peak_bytes": prediction.peak_bytes,
        "factor_bytes": prediction.factor_bytes,
        "scratch_bytes": prediction.scratch_bytes,
        "critical_path_flops": prediction.critical_path_flops,
        "average_parallelism": prediction.average_parallelism(),
    }))
}

pub(super) fn clock(recording: &Recording) -> Map<String, Value> {
    object(json!({
        "kind": format!("{:?}", recording.clock.kind),
        "ticks_per_second": 1e9 / recording.clock.ns_per_tick,
        "origin_ticks": recording.clock.origin_ticks,
        "residual_ns": recording.clock.residual_ns,
        "first_anchor": { "ticks": recording.clock.first.ticks, "ns": recording.clock.first.ns },
        "last_anchor": { "ticks": recording.clock.last.ticks, "ns": recording.clock.last.ns },
    }))
}

pub(super) fn machine() -> Map<String, Value> {
    let topology = Topology::read();
    let count = |kind| topology.of(kind).count();
    object(json!({
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "processor": processor(),
        "topology_source": topology.source,
        "packages": count(PartKind::Package),
        "numa_nodes": count(PartKind::MemoryNode),
        "cores": count(PartKind::Core),
        "units": topology.units.len(),
        "usable_units": topology.usable,
    }))
}

/// The processor's name, where the system tells it.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The runs as a whole. Without a run that began there is nothing to say of one.
pub(super) fn run_facts(record: &Record, memory_limit_bytes: Option<u64>) -> RunFacts {
    let runs = &record.recording().runs;
    let names = record.kinds().iter().map(|kind| match kind {
        RunKind::Factorize => FACTORIZE,
        RunKind::Rank => RANK,
        RunKind::NullSpace => NULL_SPACE,
        RunKind::Solve(_) => SOLVE,
    });
    let (first, last) = (runs.first(), runs.last());
    RunFacts {
        scheduler: first.map_or(String::new(), |run| run.scheduler.to_owned()),
        begin_ns: first.map_or(0, |run| run.begin_ns),
        end_ns: last.map_or(0, |run| run.end_ns),
        submitted_tasks: runs.iter().map(|run| run.submitted).sum(),
        host_bytes: first.map_or(0, |run| run.host_bytes),
        memory_limit_bytes,
        devices: first.map_or_else(Vec::new, |run| run.devices.clone()),
        time_scale: first.map_or(1.0, |run| run.time_scale),
        parts: parts(runs, &names.collect::<Vec<_>>()),
    }
}

/// What the solve was planned to be, if there is one; all of its runs together, where a correction followed.
pub(super) fn solve(record: &Record) -> Option<(String, Value)> {
    let plans = || {
        record.kinds().iter().filter_map(|kind| match kind {
            RunKind::Solve(plan) => Some(plan),
            RunKind::Factorize | RunKind::Rank | RunKind::NullSpace => None,
        })
    };
    let first = plans().next()?;
    let count = |k: usize| plans().map(|plan| plan.tasks[k]).sum::<u64>();
    let by_codelet: Map<_, _> = (0..)
        .zip(SOLVE_CODELETS)
        .map(|(k, name)| (name.to_owned(), count(k).into()))
        .collect();
    let facts = json!({
        "rhs": first.nrhs,
        "blocks": first.blocks,
        "bundles": first.bundles,
        "runs": plans().count(),
        "flops": plans().map(|plan| plan.flops).sum::<u64>(),
        "tasks": plans().map(SolvePlan::task_count).sum::<u64>(),
        "tasks_by_codelet": by_codelet,
    });
    Some(("solve".to_owned(), facts))
}
