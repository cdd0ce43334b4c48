//! `treeqr trace info`: what is in a trace, and where the time went. Reads the manifest, workers, codelets, tasks, states.
//!
//! | file | subject |
//! | --- | --- |
//! | `origin` | what it is of, its tables, what recording cost |
//! | `time` | the run as a whole, and the time of the workers |

mod origin;
mod time;

use super::super::failure::Failure;
use super::super::page::{self, Page};
use super::args::InfoArgs;
use super::{failure, open};
use serde_json::{Map, Value, json};
use std::path::Path;
use treeqr::profiling::inspect::{Balance, PartBalance, WorkerBalance};
use treeqr::profiling::trace::{Manifest, TraceKind};

/// A blank at which no line is broken.
const TOGETHER: char = '\u{a0}';

/// Tells it.
pub fn run(args: &InfoArgs) -> Result<(), Failure> {
    let trace = open(&args.trace)?;
    let balance = Balance::of(&trace).map_err(failure)?;
    let manifest = trace.manifest();
    page::print(&if args.json {
        format!("{:#}\n", json(&args.trace, manifest, &balance))
    } else {
        text(&args.trace, manifest, &balance)
    })
}

fn text(path: &Path, manifest: &Manifest, balance: &Balance) -> String {
    let mut page = Page::default();
    page.title("Trace", &path.display().to_string());
    page.gap();
    origin::origin(&mut page, manifest);
    page.gap();
    origin::tables(&mut page, manifest);
    origin::recorder(&mut page, manifest);
    if manifest.kind != TraceKind::Graph && !balance.workers.is_empty() {
        page.gap();
        time::whole(&mut page, manifest, balance);
        page.gap();
        time::sums(&mut page, manifest, balance);
        page.gap();
        time::workers(&mut page, manifest, balance);
    }
    page.text().replace(TOGETHER, " ")
}

fn json(path: &Path, manifest: &Manifest, balance: &Balance) -> Value {
    let s = |ns: u64| ns as f64 / 1e9;
    let worker = |w: &WorkerBalance| {
        let by_codelet: Map<_, _> = balance
            .codelets
            .iter()
            .zip(&w.by_codelet_ns)
            .map(|(name, &ns)| (name.clone(), s(ns).into()))
            .collect();
        json!({
            "worker": w.worker,
            "name": w.name,
            "kind": w.kind.name(),
            "tasks": w.tasks,
            "time_s": s(w.time_ns),
            "executing_s": s(w.executing_ns()),
            "helping_s": s(w.helping_ns),
            "by_codelet_s": by_codelet,
            "scheduling_s": s(w.scheduling_ns),
            "idle_s": s(w.idle_ns),
            "sleeping_s": s(w.sleeping_ns),
            "transferring_s": s(w.transferring_ns),
            "runtime_s": s(w.runtime_ns),
        })
    };
    let part = |p: &PartBalance| {
        json!({
            "name": p.name,
            "scheduler": p.scheduler,
            "makespan_s": s(p.makespan_ns),
            "tasks": p.tasks,
            "flops": p.flops,
        })
    };
    let bytes: u64 = manifest
        .tables
        .iter()
        .map(|t| t.bytes)
        .fold(0, u64::saturating_add);
    json!({
        "trace": path.to_string_lossy(),
        "manifest": manifest,
        "bytes": bytes,
        "balance": {
            "makespan_s": s(balance.makespan_ns),
            "occupancy": balance.occupancy,
            "tasks": balance.tasks,
            "flops": balance.flops,
            "parts": balance.parts.iter().map(part).collect::<Vec<_>>(),
            "window_full_s": s(balance.window_full_ns),
            "memory_full_s": s(balance.memory_full_ns),
            "workers": balance.workers.iter().map(worker).collect::<Vec<_>>(),
        },
        "version": treeqr::VERSION,
    })
}
