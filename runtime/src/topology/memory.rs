//! The memory nodes (NUMA nodes) as Linux shows them. The hwloc binding can't list them: they are at no regular depth.
//!
//! Takes a folder like `/sys/devices/system/node`; gives parts, none where the system says nothing.

use super::{Part, PartKind};
use std::fs;
use std::path::Path;

/// The memory nodes with processing units among `units`.
pub(super) fn nodes(folder: &Path, units: &[u32]) -> Vec<Part> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut nodes: Vec<Part> = entries
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.strip_prefix("node")?.parse();
            let number: u32 = number.ok()?;
            let inside = fs::read_to_string(entry.path().join("cpulist")).ok()?;
            let inside = list(inside.trim())?;
            let memory = fs::read_to_string(entry.path().join("meminfo")).ok();
            Some(Part {
                kind: PartKind::MemoryNode,
                number,
                bytes: memory.and_then(|text| total_bytes(&text)),
                units: units
                    .iter()
                    .copied()
                    .filter(|u| inside.contains(u))
                    .collect(),
            })
        })
        .filter(|node| !node.units.is_empty())
        .collect();
    nodes.sort_by_key(|node| node.number);
    nodes
}

/// `0-2,5` as numbers.
fn list(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for run in text.split(',').filter(|run| !run.is_empty()) {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        numbers.extend(first.parse::<u32>().ok()?..=last.parse().ok()?);
    }
    Some(numbers)
}

/// From a line like `Node 0 MemTotal:  24689728 kB`.
fn total_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.contains("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().rev().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_nodes_are_read_and_nonsense_is_left_out() {
        let folder = std::env::temp_dir().join(format!("treeqr-nodes-{}", std::process::id()));
        let write = |node: &str, file: &str, text: &str| {
            fs::create_dir_all(folder.join(node)).unwrap();
            fs::write(folder.join(node).join(file), text).unwrap();
        };
        write("node1", "cpulist", "2-3,5\n");
        write("node0", "cpulist", "0,1,4\n");
        write(
            "node0",
            "meminfo",
            "\nNode 0 MemTotal:       2048 kB\nNode 0 MemFree: 1 kB\n",
        );
        write("node2", "cpulist", "\n");
        write("node3", "cpulist", "what\n");
        write("nodes", "cpulist", "0\n");
        let found = nodes(&folder, &[0, 1, 2, 3]);
        fs::remove_dir_all(&folder).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|n| (n.number, n.bytes, &n.units[..]))
            .collect();
        assert_eq!(
            found,
            [(0, Some(2 << 20), &[0, 1][..]), (1, None, &[2, 3][..])]
        );
        assert!(nodes(&folder, &[0]).is_empty());
    }
}
