//! Counts in bins as columns.
//!
//! Takes [`Bars`], the model that the picture is drawn from too; gives a panel. Knows no trace.

use super::columns::Columns;
use super::format::{Body, HistogramGroup};
use crate::panels::bars::Bars;

/// A panel. `id` names its columns, `of` what its bins are bins of.
pub(super) fn body(bars: Bars, id: &str, of: &'static str, to: &mut Columns) -> Body {
    let mut groups = Vec::new();
    for facet in &bars.facets {
        for group in &facet.groups {
            let k = groups.len();
            let mut column = |part: &str, values: &[f64]| {
                to.f32(format!("{id}.{k}.{part}"), values.iter().copied())
            };
            groups.push(HistogramGroup {
                name: facet.name.clone(),
                note: facet.note.clone(),
                colour: group.colour.to_string(),
                kind: group.name.clone(),
                count: column("count", &group.counts),
                target: group
                    .targets
                    .as_ref()
                    .map(|targets| column("target", targets)),
            });
        }
    }
    Body::Histogram {
        of,
        edges_ln: bars.edges_ln.into(),
        bins: bars.bins,
        groups,
        instead: bars.instead,
    }
}
