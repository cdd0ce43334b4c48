//! How many tasks of each size ran on each kind of worker, and how many would have been best: the distribution of the area bound.

use super::axis::{counted, si};
use super::bars::{Bars, Facet, Group};
use super::scatter::{powers, short};
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::account::{TaskClass, area_bound};
use crate::palette;
use std::collections::BTreeMap;
use std::f64::consts::LN_2;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "classes",
    about: "tasks by size and kind of worker, with what the area bound would have",
    drawing: Drawing::Bars(bars),
};

fn bars(subject: &Subject<'_>) -> Bars {
    let of = "floating-point operations of a task; a bar is a power of two";
    let mut bars = Bars::new("Tasks by size, and where they ran", of);
    let bound = match area_bound(subject.trace) {
        Ok(bound) => bound,
        Err(error) => return bars.without(format!("The area bound is not known: {error}.")),
    };
    let mut codelets: BTreeMap<&str, Vec<&TaskClass>> = BTreeMap::new();
    for class in bound
        .classes
        .iter()
        .filter(|class| class.log2_flops.is_some())
    {
        codelets.entry(&class.codelet).or_default().push(class);
    }
    let sizes = || bound.classes.iter().filter_map(|class| class.log2_flops);
    let (Some(low), Some(high)) = (sizes().min(), sizes().max()) else {
        return bars
            .without("No task with floating-point operations ran on a worker of the trace.");
    };
    bars.bins = (high - low + 1) as usize;
    bars.edges_ln = (f64::from(low) * LN_2, f64::from(high + 1) * LN_2);
    let decades = |ln: f64| ln / std::f64::consts::LN_10;
    let range = (decades(bars.edges_ln.0), decades(bars.edges_ln.1));
    let label = |v: f64| (v * std::f64::consts::LN_10, short(si(10f64.powf(v), "")));
    bars.labels = powers(range, 8.0).into_iter().map(label).collect();
    let choice = bound.resources.len() > 1;
    let tasks = |classes: &[&TaskClass]| classes.iter().map(|c| c.tasks).sum::<u64>();
    let mut order: Vec<_> = codelets.into_iter().collect();
    order.sort_by_key(|(_, classes)| std::cmp::Reverse(tasks(classes)));
    for (name, classes) in order {
        let mut facet = Facet {
            name: name.to_owned(),
            note: counted(tasks(&classes), "task"),
            groups: Vec::new(),
        };
        for (r, resource) in bound.resources.iter().enumerate() {
            let (mut counts, mut targets) = (vec![0.0; bars.bins], vec![0.0; bars.bins]);
            for class in &classes {
                let bin = (class.log2_flops.unwrap_or(low) - low) as usize;
                counts[bin] += class.measured[r] as f64;
                targets[bin] += class.ideal[r];
            }
            let name = match (resource.name.as_str(), resource.workers) {
                ("cpu", 1) => "on the CPU worker".to_owned(),
                ("cpu", n) => format!("on {n} CPU workers"),
                (name, _) => format!("on {name}"),
            };
            facet.groups.push(Group {
                name,
                colour: palette::series(if r == 0 { 0 } else { 3 + r }),
                counts,
                targets: choice.then_some(targets),
            });
        }
        bars.facets.push(facet);
    }
    bars
}
