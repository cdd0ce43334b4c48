//! The hardware as hwloc reads it.
//!
//! Takes nothing; gives the processing units that the calling thread may use. Whatever hwloc cannot say means an empty
//! list.

use super::{Part, PartKind, Unit, memory};
use crate::sync::{Mutex, OnceLock, lock};
use hwloc2::{CpuBindFlags, ObjectType, Topology, TopologyObject};
use std::path::Path;

/// Reading the machine takes milliseconds, so it is done once a process. It covers what the system allows the process;
/// the affinity mask of a thread can change and is asked for each time.
fn topology() -> Option<&'static Mutex<Topology>> {
    static TOPOLOGY: OnceLock<Option<Mutex<Topology>>> = OnceLock::new();
    TOPOLOGY
        .get_or_init(|| Topology::new().map(Mutex::new))
        .as_ref()
}

/// The units that the calling thread may use: the first hardware thread of every core, then the second ones, ...
pub(super) fn units() -> Vec<Unit> {
    let Some(topology) = topology() else {
        return Vec::new();
    };
    let topology = lock(topology);
    let allowed = topology.get_cpubind(CpuBindFlags::CPUBIND_THREAD);
    let mut units: Vec<(u32, Unit)> = topology
        .objects_with_type(&ObjectType::PU)
        .unwrap_or_default()
        .into_iter()
        .filter(|unit| {
            allowed
                .as_ref()
                .is_none_or(|set| set.is_set(unit.os_index()))
        })
        .map(|unit| (rank_in_core(unit), describe(unit)))
        .collect();
    units.sort_by_key(|&(rank, _)| rank);
    units.into_iter().map(|(_, unit)| unit).collect()
}

fn rank_in_core(unit: &TopologyObject) -> u32 {
    unit.sibling_rank()
}

fn describe(unit: &TopologyObject) -> Unit {
    let mut path = Vec::new();
    let mut above = unit.parent();
    while let Some(object) = above {
        path.push((object.depth(), object.logical_index()));
        above = object.parent();
    }
    path.reverse();
    Unit {
        number: unit.os_index(),
        path,
    }
}

/// Writes down all parts that the system shows.
pub(super) fn describe_all(report: &mut super::Topology) {
    let Some(topology) = topology() else {
        return;
    };
    let topology = lock(topology);
    let of_type = |kind| topology.objects_with_type(&kind).unwrap_or_default();
    report.source = Some("hwloc");
    let mut units: Vec<_> = of_type(ObjectType::PU)
        .iter()
        .map(|unit| unit.os_index())
        .collect();
    units.sort_unstable();
    let kinds = [
        (ObjectType::Package, PartKind::Package),
        (ObjectType::L5Cache, PartKind::Cache(5)),
        (ObjectType::L4Cache, PartKind::Cache(4)),
        (ObjectType::L3Cache, PartKind::Cache(3)),
        (ObjectType::L2Cache, PartKind::Cache(2)),
        (ObjectType::L1Cache, PartKind::Cache(1)),
        (ObjectType::Core, PartKind::Core),
    ];
    for (object_type, kind) in kinds {
        for object in of_type(object_type) {
            let inside = object.cpuset();
            let inside = |unit: &u32| inside.as_ref().is_some_and(|set| set.is_set(*unit));
            let bytes = match kind {
                PartKind::Cache(_) => object.cache_attributes().map(|cache| cache.size()),
                _ => None,
            };
            let part = Part {
                kind,
                number: object.logical_index(),
                bytes: bytes.filter(|&bytes| bytes > 0),
                units: units.iter().copied().filter(inside).collect(),
            };
            report.parts.push(part);
        }
        if kind == PartKind::Package {
            let folder = Path::new("/sys/devices/system/node");
            report.parts.extend(memory::nodes(folder, &units));
        }
    }
    report.units = units;
}
