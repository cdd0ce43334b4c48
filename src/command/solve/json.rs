//! The outcome as one JSON object. Keys are added and never renamed.

use super::super::dense;
use super::Outcome;
use serde_json::{Value, json};
use treeqr::VERSION;
use treeqr::runtime::DeviceStats;
use treeqr::solver::Priorities;

impl Outcome {
    /// The object.
    pub fn json(&self) -> Value {
        let s = &self.symbolic;
        let run = &self.run;
        let (stats, predicted, summary) = (run.stats(), run.prediction(), &self.summary);
        let codelets: Vec<_> = summary
            .codelets
            .iter()
            .map(|c| {
                json!({
                    "name": c.name,
                    "count": c.count,
                    "time_s": c.time_ns as f64 / 1e9,
                    "flops": c.flops,
                    "share": c.share,
                    "gflops": c.gflops(),
                })
            })
            .collect();
        let workers: Vec<_> = summary
            .workers
            .iter()
            .map(|w| {
                json!({
                    "worker": w.worker,
                    "tasks": w.tasks,
                    "executing_s": w.executing_ns as f64 / 1e9,
                    "helping_s": w.helping_ns as f64 / 1e9,
                    "runtime_s": w.runtime_ns as f64 / 1e9,
                    "idle_s": (w.idle_ns + w.sleeping_ns) as f64 / 1e9,
                })
            })
            .collect();
        let mut object = json!({
            "matrix": {
                "rows": self.terms.nrows,
                "cols": self.terms.ncols,
                "nnz": self.terms.nnz,
            },
            "source": self.source.to_string(),
            "rhs": self.rhs.json(),
            "problem": s.problem().name(),
            "ordering": s.ordering(),
            "ordering_why": s.ordering_why(),
            "scheduler": stats.scheduler,
            "threads": stats.threads,
            "flops": summary.flops,
            "predicted_flops": predicted.flops,
            "nnz_r": s.nnz_r(),
            "nnz_h": s.nnz_h(),
            "fronts": s.fronts().len(),
            "depth": s.depth(),
            "singletons": s.singletons(),
            "times_s": {
                "read": self.read.as_secs_f64(),
                "analyse": self.analysed.as_secs_f64(),
                "factorize": self.factorize_time.as_secs_f64(),
                "rank": self.rank_time().map(|t| t.as_secs_f64()),
                "solve": self.solve_time.as_secs_f64(),
                "condition": self.condition_time.map(|t| t.as_secs_f64()),
                "total": self.total.as_secs_f64(),
            },
            "gflops": self.gflops(),
            "machine_gflops": self.peak,
            "peak_bytes": stats.peak_bytes,
            "predicted_peak_bytes": predicted.peak_bytes,
            "dear_huge_page_s": stats.allocations.dear_huge_page.map(|t| t.as_secs_f64()),
            "tasks": stats.tasks,
            "priorities": {
                "by": match run.priorities().by {
                    Priorities::Fixed => "fixed",
                    Priorities::Models => "models",
                },
                "tasks_from_models": run.priorities().from_models,
                "ignored": run.priorities().ignored,
            },
            "stalls": {"count": stats.stalls, "time_s": stats.stalled.as_secs_f64()},
            "time_scale": stats.time_scale,
            "devices": stats.devices.iter().map(device).collect::<Vec<_>>(),
            "codelets": codelets,
            "workers": workers,
            "occupancy": summary.occupancy,
            "records": {
                "kept": summary.kept,
                "dropped": summary.dropped,
                "ns_per_task": summary.ns_per_record,
            },
            "output": self.output.as_ref().map(|p| p.to_string_lossy()),
            "trace": self.kept.traced.as_ref().map(|(path, _)| path.to_string_lossy()),
            "report": self.kept.reported.as_ref().map(|(path, _)| path.to_string_lossy()),
        });
        // One call of the macro can't hold them all.
        object["device_failure"] = run.device_failure().into();
        object["dense_rows"] = dense::rows_json(s);
        object["dense_columns"] = dense::columns_json(s);
        object["scalar"] = self.scalar.into();
        object["precision"] = self.precision.name().into();
        object["weights"] = self.terms.weights.as_ref().map(ToString::to_string).into();
        object["damping"] = self.terms.damping.into();
        object["scaled_columns"] = self.terms.scale_columns.into();
        let keeps_q = run.record().shape().keep_q;
        object["factors"] = if keeps_q { "qr" } else { "r" }.into();
        object["factor_bytes"] = predicted.factor_bytes.into();
        object["version"] = VERSION.into();
        let saved = self.saved.as_ref();
        object["saved_factors"] = saved.map(|(path, _)| path.to_string_lossy()).into();
        if let Value::Object(object) = &mut object {
            object.extend(self.answer.json());
        }
        object
    }
}

/// What a device did.
fn device(stats: &DeviceStats) -> Value {
    let link = &stats.link;
    json!({
        "name": stats.name,
        "emulated": stats.emulated,
        "model": stats.model,
        "workers": stats.workers,
        "tasks": stats.tasks,
        "busy_s": stats.busy.as_secs_f64(),
        "peak_bytes": link.peak_bytes,
        "fetched_bytes": link.fetched_bytes,
        "prefetched_bytes": link.prefetched_bytes,
        "peer_bytes": link.peer_bytes,
        "returned_bytes": link.returned_bytes,
        "written_back_bytes": link.written_back_bytes,
        "evictions": link.evictions,
        "cleared_bytes": link.cleared_bytes,
        "pinned_bytes": link.pinned_bytes,
    })
}
