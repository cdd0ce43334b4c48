//! Rules on bytes held.
//!
//! Two threads may take memory at the same moment, and then the order of their time-stamps need not be that of the store.
//! What holds in any order is checked instead: each event takes a memory node from one number of bytes to another, and all of
//! them together are one path from the first number to the last. So every number is left as often as it is reached, the ends
//! of the path apart.

use super::{Findings, Subject};
use crate::trace::TraceKind;
use crate::trace::schema::Memory;
use std::collections::{BTreeMap, HashMap};

pub(super) fn memory(subject: &Subject<'_>, findings: &mut Findings) {
    let run = &subject.trace.manifest.run;
    let mut by_node: BTreeMap<u16, Vec<(usize, &Memory)>> = BTreeMap::new();
    for (row, r) in subject.tables().memory.iter().enumerate() {
        by_node.entry(r.memory_node).or_default().push((row, r));
        if before(r) < 0 {
            findings.row::<Memory>(row, || {
                format!(
                    "{} bytes more left {} of them: before it there were less than none",
                    r.delta_bytes, r.after_bytes
                )
            });
        }
    }
    if subject.holes {
        return;
    }
    for (&node, rows) in &by_node {
        let initial = if node == 0 { run.host_bytes } else { 0 };
        path(rows, initial.into(), findings);
        given_back(rows, initial.into(), findings);
    }
}

/// Bytes held before the event.
fn before(r: &Memory) -> i128 {
    i128::from(r.after_bytes) - i128::from(r.delta_bytes)
}

/// Every number of bytes is left as often as it is reached.
fn path(rows: &[(usize, &Memory)], initial: i128, findings: &mut Findings) {
    let mut visits: HashMap<i128, i64> = HashMap::new();
    let mut end = initial;
    *visits.entry(initial).or_default() += 1;
    for (_, r) in rows {
        *visits.entry(r.after_bytes.into()).or_default() += 1;
        *visits.entry(before(r)).or_default() -= 1;
        end += i128::from(r.delta_bytes);
    }
    *visits.entry(end).or_default() -= 1;
    for &(row, r) in rows {
        if visits[&before(r)] < 0 {
            findings.row::<Memory>(row, || {
                format!(
                    "{} bytes after {:+}, but no event left {} bytes",
                    r.after_bytes,
                    r.delta_bytes,
                    before(r)
                )
            });
            // One finding for each number that was never reached.
            visits.insert(before(r), 0);
        }
    }
    if visits[&end] < 0 {
        let row = rows.last().map_or(0, |last| last.0);
        findings.row::<Memory>(row, || {
            format!("all events together leave {end} bytes, which no event says")
        });
    }
}

/// Data is given back after it was taken, as far as it was not there from the beginning.
fn given_back(rows: &[(usize, &Memory)], initial: i128, findings: &mut Findings) {
    let mut held: HashMap<u32, i128> = HashMap::new();
    let mut from_before = initial;
    for &(row, r) in rows {
        let bytes = held.entry(r.handle).or_default();
        *bytes += i128::from(r.delta_bytes);
        if *bytes < 0 {
            from_before += *bytes;
            *bytes = 0;
            if from_before < 0 {
                findings.row::<Memory>(row, || {
                    format!(
                        "data {} gives back {} bytes that it never took",
                        r.handle, -from_before
                    )
                });
                from_before = 0;
            }
        }
    }
}

pub(super) fn limit(subject: &Subject<'_>, findings: &mut Findings) {
    let manifest = &subject.trace.manifest;
    let Some(limit) = manifest.run.memory_limit_bytes else {
        return;
    };
    if manifest.kind == TraceKind::Graph {
        return;
    }
    // It is one of the factorization.
    let factorization = manifest.factorization();
    for (row, r) in subject.tables().memory.iter().enumerate() {
        let limited = r.memory_node == 0 && factorization.contains(&r.task.into());
        if limited && r.after_bytes > limit {
            findings.row::<Memory>(row, || {
                format!("{} bytes are held; the limit is {limit}", r.after_bytes)
            });
        }
    }
}
