//! What begins a front, its memory and the copies from its children, lay ready while workers did other things, and the end of the
//! run waited for it.
//!
//! From the task that ended last the run is followed back, from each task to the predecessor that ended last: this chain made the run as
//! long as it was. The rule speaks where tasks of the chain that allocate or assemble waited, ready, for 5 % of the run or
//! more in all, three times as long as its other tasks on average, while workers were mostly busy (else it is not the order
//! that was at fault), and workers without a task at other times could have used what was lost (5 % of their time).

use super::words::{list, plural, time};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::{Graph, Steps};
use crate::trace::schema::Role;
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    name: "late_copies",
    about: "assemblies and allocations wait behind other tasks, and the run waits for them",
    find,
};

/// Part of the run.
const WAITED: f64 = 0.05;
/// Mean wait over that of the chain's other tasks.
const LONGER: f64 = 3.0;
/// Part of the workers that were busy meanwhile.
const BUSY: f64 = 0.5;
/// Part of what they waited in all that makes one worth telling.
const TOLD: f64 = 0.01;
/// Part of the workers' time without a task.
const IDLE: f64 = 0.05;

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let tasks = f.tasks();
    let begins = |row: usize| {
        matches!(
            f.role(tasks[row].codelet),
            Some(Role::Activate | Role::Assemble)
        )
    };
    let chain = chain(f);
    let wait = |row: usize| tasks[row].start_ns.saturating_sub(tasks[row].ready_ns) as f64;
    let (mut copies, others): (Vec<usize>, Vec<usize>) =
        chain.iter().partition(|&&row| begins(row));
    let sum = |rows: &[usize]| rows.iter().map(|&row| wait(row)).sum::<f64>();
    let mean = |rows: &[usize]| sum(rows) / rows.len().max(1) as f64;
    let (waited, mean_of_copies) = (sum(&copies), mean(&copies));
    let idle = 1.0 - f.idle.executing_ns as f64 / f.all_ns;
    if waited < WAITED * f.makespan_ns() || mean_of_copies < LONGER * mean(&others) || idle < IDLE {
        return Vec::new();
    }
    let running = Steps::count(
        tasks.iter().map(|t| t.start_ns).collect(),
        tasks.iter().map(|t| t.end_ns.max(t.start_ns)).collect(),
    );
    let busy: f64 = (copies.iter())
        .map(|&row| running.integral(tasks[row].ready_ns, tasks[row].start_ns))
        .sum();
    let workers = f.trace.tables.workers.len().max(1) as f64;
    if busy < BUSY * workers * waited {
        return Vec::new();
    }
    copies.retain(|&row| wait(row) >= TOLD * waited);
    copies.sort_by(|&a, &b| wait(b).total_cmp(&wait(a)));
    let mut by_codelet: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for &row in &copies {
        let of = by_codelet.entry(f.name(tasks[row].codelet)).or_default();
        *of = (of.0 + 1, of.1 + wait(row));
    }
    let names: Vec<String> = by_codelet.keys().map(|name| (*name).to_owned()).collect();
    let worst = &tasks[copies[0]];
    let meanwhile: Vec<_> = (tasks.iter())
        .filter(|t| worst.ready_ns <= t.start_ns && t.start_ns < worst.start_ns)
        .collect();
    let before = meanwhile
        .iter()
        .filter(|t| t.priority > worst.priority)
        .count();
    let mut evidence: Vec<_> = (by_codelet.iter())
        .map(|(name, (n, ns))| {
            let text = format!("{} in {}", time(*ns), plural(*n, "task", "tasks"));
            Fact::new(format!("{name} waited"), text)
        })
        .collect();
    evidence.push(
        Fact::new("A copy of the chain waited", time(mean_of_copies)).note(format!(
            "on average; its other tasks {}",
            time(mean(&others))
        )),
    );
    evidence.push(
        Fact::new("The longest wait", time(wait(copies[0]))).note(format!(
            "task {} of node {}: meanwhile {} began, {before} of them with a higher priority",
            worst.task,
            worst.node,
            plural(meanwhile.len(), "other task", "other tasks"),
        )),
    );
    let part = (waited / f.makespan_ns()).min(idle);
    vec![Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: format!("{} waited behind other tasks", list(&names)),
        text: "Tasks that begin a front or fill it lay ready while the workers did others, and the chain of tasks that ended the run \
               went through them. A scheduler that follows priorities (--scheduler prio), or priorities from measured durations \
               (--priorities models), takes them earlier."
            .to_owned(),
        evidence,
        place: Some(
            Place::of("ready")
                .time(f, (worst.ready_ns, worst.start_ns))
                .tasks(copies.iter().map(|&row| tasks[row].task))
                .nodes(copies.iter().map(|&row| tasks[row].node)),
        ),
        part,
    }]
}

/// Rows of the chain that made the run as long as it was, the last one first.
fn chain(f: &Findings<'_>) -> Vec<usize> {
    let tasks = f.tasks();
    let graph = Graph::of(f.trace);
    let mut out = Vec::new();
    let mut at = (0..tasks.len() as u32).max_by_key(|&row| tasks[row as usize].end_ns);
    while let Some(row) = at {
        out.push(row as usize);
        let before = graph.predecessors(row).iter().copied();
        at = before.max_by_key(|&p| tasks[p as usize].end_ns);
    }
    out
}
