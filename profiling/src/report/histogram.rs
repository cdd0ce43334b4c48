//! How many tasks of which size ran where, beside how many the area bound would have put there.
//!
//! Takes a run; gives for every codelet with operations and every kind of worker its tasks by powers of two of the operations,
//! the classes of the area bound.

use super::columns::{Columns, Type};
use super::format::{Body, HistogramGroup};
use super::run::Run;
use crate::palette;
use std::collections::BTreeMap;

/// Tasks, and the target, of one bin.
type Bin = (u64, f64);

/// None where no task has operations, or the bound is not there.
pub(super) fn body(run: &Run<'_>, to: &mut Columns) -> Option<Body> {
    let area = run.area.as_ref()?;
    let sizes = area.classes.iter().filter_map(|class| class.log2_flops);
    let (low, high) = sizes.fold((u32::MAX, 0), |(low, high), size| (low.min(size), high.max(size)));
    let bins = (high + 1).checked_sub(low)? as usize;
    let choice = area.resources.len() > 1;
    let mut groups: BTreeMap<(String, usize), Vec<Bin>> = BTreeMap::new();
    for class in &area.classes {
        let Some(size) = class.log2_flops else { continue };
        for r in 0..area.resources.len() {
            let key = (class.codelet.clone(), r);
            let group = groups.entry(key).or_insert_with(|| vec![(0, 0.0); bins]);
            let bin = &mut group[(size - low) as usize];
            *bin = (bin.0 + class.measured[r], bin.1 + class.ideal[r]);
        }
    }
    groups.retain(|_, bins| bins.iter().any(|bin| bin.0 > 0 || bin.1 > 0.0));
    let group = |(k, ((codelet, r), bins)): (usize, ((String, usize), Vec<Bin>))| HistogramGroup {
        colour: palette::codelet(&codelet).to_string(),
        name: codelet,
        kind: area.resources[r].name.clone(),
        count: to.varint(
            format!("histogram.{k}.count"),
            Type::U32,
            bins.iter().map(|bin| bin.0),
        ),
        // With one kind of worker it is the same.
        target: choice.then(|| {
            let name = format!("histogram.{k}.target");
            to.f32(name, bins.iter().map(|bin| bin.1))
        }),
    };
    let ln = |size: u32| f64::from(size) * std::f64::consts::LN_2;
    Some(Body::Histogram {
        edges_ln: [ln(low), ln(high + 1)],
        bins,
        groups: groups.into_iter().enumerate().map(group).collect(),
    })
}
