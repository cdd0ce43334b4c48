//! The elimination tree itself, laid out: the root at the top, leaves side by side.
//!
//! Takes a run; gives places from 0 to 1, the operations of each node and when it was worked on. The tree is that of the picture
//! (`panels/shape.rs`): a group of small fronts is one node.

use super::columns::{Columns, Type};
use super::format::Body;
use super::run::Run;
use crate::panels::shape::tree;
use std::collections::HashMap;

/// None without a tree.
pub(super) fn body(run: &Run<'_>, to: &mut Columns) -> Option<Body> {
    if run.trace.tables.fronts.is_empty() {
        return None;
    }
    let (nodes, leaves) = tree(&run.subject);
    let depth = nodes.values().map(|node| node.level).max().unwrap_or(0) + 1;
    let places: HashMap<u32, usize> = nodes.keys().enumerate().map(|(k, &n)| (n, k)).collect();
    let all = || nodes.values();
    let most = all().map(|node| node.flops).fold(1.0, f64::max);
    let parent = |node: &crate::panels::shape::Node| {
        let place = node.parent.and_then(|parent| places.get(&parent));
        place.map_or(0, |&place| place as u64 + 1)
    };
    let time = |node: &crate::panels::shape::Node| match node.weight > 0.0 {
        true => (node.moment / node.weight).max(0.0) as i64,
        false => -1,
    };
    Some(Body::Shape {
        x: to.f32("shape.x", all().map(|n| n.x / leaves.max(1) as f64)),
        y: to.f32(
            "shape.y",
            all().map(|n| (n.level as f64 + 0.5) / depth as f64),
        ),
        size: to.f32("shape.size", all().map(|n| n.flops / most)),
        parent: to.varint("shape.parent", Type::U32, all().map(parent)),
        node: to.delta("shape.node", Type::U32, nodes.keys().map(|&n| n.into())),
        time: to.zigzag("shape.time", Type::F64, all().map(time)),
    })
}
