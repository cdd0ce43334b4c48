//! The figures of two whole runs: what they took, what they could have taken, why they took longer.

use super::Side;
use crate::account::{flops_over_time, memory_peak, span_ns};
use crate::inspect::Figure;

/// Figures in the order in which they are read. Where one run has no bound, neither is told.
pub(super) fn figures([a, b]: [Side<'_>; 2]) -> Vec<Figure> {
    let both =
        |name: &str, unit, of: &dyn Fn(Side<'_>) -> f64| Figure::new(name, unit, of(a), of(b));
    let makespan = |s: Side<'_>| {
        let from = span_ns(s.trace).0;
        let ends = s.trace.tables.tasks.iter().map(|t| t.end_ns);
        (ends.fold(from, u64::max) - from) as f64
    };
    let flops = |s: Side<'_>| -> f64 {
        let tasks = s.trace.tables.tasks.iter();
        tasks.map(|t| t.flops).fold(0, u64::saturating_add) as f64
    };
    let all = |s: Side<'_>| {
        let idle = &s.computed.idle;
        idle.executing_ns.saturating_add(idle.all.total_ns()).max(1) as f64
    };
    let area = |s: Side<'_>| s.computed.area.as_ref().map(|area| area.bound_ns);
    let chain = |s: Side<'_>| s.computed.path.length_ns as f64;
    let mut out = vec![
        both("makespan", "ns", &makespan),
        both("speed", "GFlop/s", &|s| flops(s) / makespan(s).max(1.0)),
        both("highest speed", "GFlop/s", &|s| {
            flops_over_time(s.trace).max()
        }),
        both("tasks", "tasks", &|s| s.trace.tables.tasks.len() as f64),
        both("flops", "flop", &flops),
        both("workers", "workers", &|s| {
            s.trace.tables.workers.len() as f64
        }),
        both("occupancy", "1", &|s| {
            s.computed.idle.executing_ns as f64 / all(s)
        }),
        both("time in tasks", "ns", &|s| {
            s.computed.idle.executing_ns as f64
        }),
    ];
    if let (Some(x), Some(y)) = (area(a), area(b)) {
        out.push(Figure::new("area bound", "ns", x, y));
    }
    out.push(both("longest chain", "ns", &chain));
    if let (Some(x), Some(y)) = (area(a), area(b)) {
        let [x, y] = [x.max(chain(a)), y.max(chain(b))];
        out.push(Figure::new("at best", "ns", x, y));
    }
    let causes = a
        .computed
        .idle
        .all
        .named()
        .into_iter()
        .zip(b.computed.idle.all.named());
    out.extend(
        causes.map(|(x, y)| Figure::new(&format!("idle: {}", x.0), "ns", x.1 as f64, y.1 as f64)),
    );
    out.push(both("memory peak", "bytes", &|s| {
        memory_peak(s.trace).peak_bytes as f64
    }));
    out.push(both("transferred", "bytes", &|s| {
        let rows = s.trace.tables.transfers.iter();
        rows.map(|t| t.bytes).fold(0, u64::saturating_add) as f64
    }));
    out.push(both("slow tasks", "tasks", &|s| {
        s.computed.models.anomalies().len() as f64
    }));
    out
}
