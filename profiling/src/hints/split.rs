//! What ran on CPUs and what on devices, against the distribution that reaches the area bound.
//!
//! Told where the resource with most to do had 15 % more time in tasks than it would have at the bound: with that distribution no
//! order of tasks, however good, could have been faster than that. Durations are the means of what was measured, so a class
//! that was never tried on a resource is not proposed there.

use super::words::{percent, plural, si, time, times};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::{AreaBound, Resource, TaskClass, duration_ns};
use crate::trace::schema::WorkerKind;

pub(super) const RULE: Rule = Rule {
    name: "device_split",
    about: "tasks ran on the wrong kind of worker: CPUs or devices had too much to do",
    find,
};

/// Time in tasks over that at the bound.
const MORE: f64 = 1.15;
/// Classes that are told.
const TOLD: usize = 3;

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let Some(area) = f.area.filter(|area| area.resources.len() > 1) else {
        return Vec::new();
    };
    let each = |r: &Resource| r.measured_ns / r.workers.max(1) as f64;
    let loads: Vec<f64> = area.resources.iter().map(each).collect();
    let most = (0..loads.len())
        .max_by(|&a, &b| loads[a].total_cmp(&loads[b]))
        .unwrap_or(0);
    let factor = loads[most] / area.bound_ns.max(1.0);
    if area.bound_ns <= 0.0 || factor < MORE {
        return Vec::new();
    }
    let mut moved: Vec<(f64, &TaskClass)> = (area.classes.iter())
        .map(|class| (to_move_ns(class, most), class))
        .filter(|class| class.0 > 0.0)
        .collect();
    moved.sort_by(|a, b| b.0.total_cmp(&a.0));
    let name = &area.resources[most].name;
    let mut evidence: Vec<_> = (area.resources.iter())
        .map(|r| {
            let text = format!("{} in tasks", time(each(r)));
            let note = format!(
                "{} at the bound",
                time(r.ideal_ns / r.workers.max(1) as f64)
            );
            Fact::new(format!("A worker of {}", r.name), text).note(note)
        })
        .collect();
    evidence.extend(
        moved
            .iter()
            .take(TOLD)
            .map(|(_, class)| told(area, class, most)),
    );
    // Tasks that ran there and should not, the longest first.
    let worst = moved.first().map(|m| m.1);
    let device = f.trace.tables.workers.iter().find(|w| w.name == *name);
    let there = |worker: u16| match device {
        Some(device) => worker == device.worker,
        None => f.kind(worker) == Some(WorkerKind::Cpu),
    };
    let mut rows: Vec<_> = (f.tasks().iter())
        .filter(|t| there(t.worker))
        .filter(|t| {
            worst.is_some_and(|class| {
                f.name(t.codelet) == class.codelet && t.flops.checked_ilog2() == class.log2_flops
            })
        })
        .collect();
    rows.sort_by_key(|t| std::cmp::Reverse(duration_ns(t)));
    let busy: f64 = area.resources.iter().map(|r| r.workers as f64).sum();
    vec![Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: format!("{name} had too much to do"),
        text: format!(
            "Tasks were divided between CPUs and devices so that {name} alone needed {} as long as all would need if the tasks were \
             divided as the area bound says. {}",
            times(factor),
            remedy(f)
        ),
        evidence,
        place: Some(Place::of("gantt").tasks(rows.iter().map(|t| t.task))),
        part: busy * (loads[most] - area.bound_ns) / f.all_ns,
    }]
}

/// Who divides the tasks: with tile sizes, or on emulated devices, the scheduler; else the cut of the fronts.
fn remedy(f: &Findings<'_>) -> &'static str {
    let asked = |name: &str| f.option(name).is_some_and(|value| !value.is_null());
    let emulated = f.option("emulate_device").and_then(|list| list.as_array());
    if ["mb", "nb", "ib"].into_iter().any(asked) || emulated.is_none_or(|list| !list.is_empty()) {
        return "A scheduler that predicts durations and transfers (dmda, dmdas) divides them better once its models know each codelet on \
                each kind of worker.";
    }
    "Without tile sizes large fronts are the devices' and all others the CPUs', whole, since their data then stays where it is: no \
     scheduler changes that. With sizes (--nb 512 --ib 128) a scheduler that predicts durations and transfers (dmda, dmdas) decides on \
     each task."
}

/// Time of the tasks of a class that the bound has elsewhere.
fn to_move_ns(class: &TaskClass, from: usize) -> f64 {
    let more = class.measured[from] as f64 - class.ideal[from];
    more * class.mean_ns[from].unwrap_or(0.0)
}

fn told(area: &AreaBound, class: &TaskClass, most: usize) -> Fact {
    let size = class.log2_flops.map_or(String::new(), |log| {
        format!(" of {}", si(2_f64.powi(log as i32), "flop"))
    });
    let name = &area.resources[most].name;
    let ran = plural(class.measured[most] as usize, "task", "tasks");
    let part = percent(class.measured[most] as f64 / class.tasks.max(1) as f64);
    Fact::new(
        format!("{}{size}", class.codelet),
        format!("{ran} on {name}, {part} of them"),
    )
    .note(format!("{:.0} at the bound", class.ideal[most]))
}
