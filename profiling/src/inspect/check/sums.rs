//! Rules on what is there at all, and on totals.

use super::{Findings, Subject};
use crate::trace::schema::{Front, GraphTask, Memory, Task};
use crate::trace::{SOLVE, Status, Table, TraceKind};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) fn whole(subject: &Subject<'_>, findings: &mut Findings) {
    let manifest = &subject.trace.manifest;
    let recorder = &manifest.recorder;
    if recorder.dropped_records > 0 {
        let n = recorder.dropped_records;
        findings.warning(|| format!("{n} records found no room: the trace is incomplete"));
    }
    if recorder.lost_threads > 0 {
        let n = recorder.lost_threads;
        findings
            .warning(|| format!("the records of {n} threads were lost: the trace is incomplete"));
    }
    match &manifest.status {
        Status::Complete => {}
        Status::Cancelled => findings.warning(|| "the run was cancelled".into()),
        Status::Failed(why) => findings.warning(|| format!("the run failed: {why}")),
    }
    if let Some(filtered) = &manifest.filtered {
        findings.warning(|| format!("it is a part of a larger trace: {filtered}"));
    }
    for module in &manifest.modules {
        for missing in &module.missing {
            findings.warning(|| format!("module {}: {missing}", module.module));
        }
        if module.lost_records > 0 {
            findings.warning(|| {
                format!(
                    "module {}: the system lost {} records",
                    module.module, module.lost_records
                )
            });
        }
    }
}

/// What was counted.
struct Counted {
    tasks: u64,
    flops: u128,
    by_codelet: BTreeMap<u16, u64>,
}

pub(super) fn sums(subject: &Subject<'_>, findings: &mut Findings) {
    if subject.holes {
        return;
    }
    let (manifest, tables) = (&subject.trace.manifest, subject.tables());
    match manifest.kind {
        TraceKind::Graph => {
            let mut counted = Counted::new();
            tables
                .graph
                .iter()
                .for_each(|t| counted.add(t.codelet, t.flops));
            counted.compare::<GraphTask>(subject, &manifest.analysis, findings);
            graph_bytes(subject, findings);
        }
        TraceKind::Measured | TraceKind::Simulated => {
            let submitted = manifest.run.submitted_tasks;
            let tasks = tables.tasks.len() as u64;
            if tasks != submitted {
                findings.table::<Task>(|| format!("{tasks} tasks, but {submitted} were submitted"));
            }
            let factorization = manifest.factorization();
            let (mut factorized, mut solved) = (Counted::new(), Counted::new());
            for t in &tables.tasks {
                if factorization.contains(&t.task.into()) {
                    factorized.add(t.codelet, t.flops);
                } else if subject.part(t.task).name == SOLVE {
                    solved.add(t.codelet, t.flops);
                }
            }
            if !factorization.is_empty() {
                factorized.compare::<Task>(subject, &manifest.analysis, findings);
            }
            if let Some(Value::Object(plan)) = manifest.analysis.get("solve") {
                solved.compare::<Task>(subject, plan, findings);
            }
            run_bytes(subject, findings);
        }
    }
    let fronts = tables.fronts.len() as u64;
    if let Some(predicted) = manifest.predicted("fronts").filter(|&p| p != fronts) {
        findings.table::<Front>(|| format!("{fronts} fronts, where the analysis has {predicted}"));
    }
}

impl Counted {
    fn new() -> Self {
        Counted {
            tasks: 0,
            flops: 0,
            by_codelet: BTreeMap::new(),
        }
    }

    fn add(&mut self, codelet: u16, flops: u64) {
        self.tasks += 1;
        self.flops += u128::from(flops);
        *self.by_codelet.entry(codelet).or_default() += 1;
    }

    /// With what was said before of these tasks.
    fn compare<T: Table>(
        &self,
        subject: &Subject<'_>,
        said: &Map<String, Value>,
        findings: &mut Findings,
    ) {
        let predicted = |key: &str| said.get(key).and_then(Value::as_u64);
        if let Some(predicted) = predicted("tasks").filter(|&p| p != self.tasks) {
            findings
                .table::<T>(|| format!("{} tasks, where the analysis has {predicted}", self.tasks));
        }
        if let Some(predicted) = predicted("flops").filter(|&p| u128::from(p) != self.flops) {
            findings
                .table::<T>(|| format!("{} flops, where the analysis has {predicted}", self.flops));
        }
        let Some(Value::Object(by_codelet)) = said.get("tasks_by_codelet") else {
            return;
        };
        for codelet in &subject.tables().codelets {
            let counted = self.by_codelet.get(&codelet.codelet).copied().unwrap_or(0);
            let predicted = by_codelet.get(&codelet.name).and_then(Value::as_u64);
            if predicted.unwrap_or(0) != counted {
                findings.table::<T>(|| {
                    let predicted = predicted.unwrap_or(0);
                    format!(
                        "{counted} tasks {}, where the analysis has {predicted}",
                        codelet.name
                    )
                });
            }
        }
    }
}

/// What a factorization leaves on the host is the factors; without workers, its peak is the prediction too.
fn run_bytes(subject: &Subject<'_>, findings: &mut Findings) {
    let (manifest, memory) = (&subject.trace.manifest, &subject.tables().memory);
    let factorization = manifest.factorization();
    if factorization.is_empty() {
        return;
    }
    let on_host = || {
        let rows = memory.iter().filter(|r| r.memory_node == 0);
        rows.filter(|r| factorization.contains(&r.task.into()))
    };
    let left: i128 = on_host().map(|r| i128::from(r.delta_bytes)).sum();
    if let Some(predicted) = manifest
        .predicted("factor_bytes")
        .filter(|&p| i128::from(p) != left)
    {
        findings.table::<Memory>(|| {
            format!("{left} bytes are left, where the analysis has {predicted}")
        });
    }
    if manifest.run.scheduler != "sequential" {
        return;
    }
    let peak = on_host().map(|r| r.after_bytes).max().unwrap_or(0);
    let peak = peak.saturating_sub(manifest.run.host_bytes);
    if let Some(predicted) = manifest.predicted("peak_bytes").filter(|&p| p != peak) {
        findings.table::<Memory>(|| {
            format!("{peak} bytes at the peak, where the analysis has {predicted}")
        });
    }
}

/// The bytes of a run in the order of submission.
fn graph_bytes(subject: &Subject<'_>, findings: &mut Findings) {
    let (mut held, mut peak) = (0_i128, 0_i128);
    for (row, t) in subject.tables().graph.iter().enumerate() {
        held += i128::from(t.allocated_bytes);
        peak = peak.max(held);
        held -= i128::from(t.freed_bytes);
        if held < 0 {
            findings.row::<GraphTask>(row, || {
                format!("task {} gives back more than there is", t.task)
            });
            return;
        }
    }
    let sums = [
        ("peak_bytes", peak, "at the peak"),
        ("factor_bytes", held, "left"),
    ];
    for (key, sum, what) in sums {
        let predicted = subject.trace.manifest.predicted(key);
        if let Some(predicted) = predicted.filter(|&p| i128::from(p) != sum) {
            findings.table::<GraphTask>(|| {
                format!("{sum} bytes {what}, where the analysis has {predicted}")
            });
        }
    }
}
