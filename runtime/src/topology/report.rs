//! The hardware as a report: what there is, and what the calling thread may use of it.
//!
//! Takes what `hardware.rs` reads; gives data, and a text. Pins nobody.

use super::{available_threads, hardware};
use std::fmt;

/// The hardware, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Who says it: `hwloc`, or `None` where nothing is known but [`threads`](Self::threads).
    pub source: Option<&'static str>,
    /// Packages, memory nodes, caches and cores, those of one kind side by side, from the outermost kind inwards.
    pub parts: Vec<Part>,
    /// The processing units that the calling thread may use, by the operating system's numbers, in the order in which
    /// workers get them: cores before their second hardware threads.
    pub usable: Vec<u32>,
    /// All processing units that the system shows, usable or not, by rising number.
    pub units: Vec<u32>,
    /// How many workers a run gets that asks for no number: what the affinity mask and the control group's quota allow.
    pub threads: usize,
}

/// Something that processing units share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Its number among its kind.
    pub number: u32,
    /// Size of a cache, memory of a memory node, in bytes; where it is known.
    pub bytes: Option<u64>,
    /// Its processing units, by rising number.
    pub units: Vec<u32>,
}

/// What a [`Part`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartKind {
    /// A processor package (socket).
    Package,
    /// Memory that is equally near to its units (NUMA node).
    MemoryNode,
    /// A data or unified cache of that level.
    Cache(u8),
    /// A core; its units are its hardware threads.
    Core,
}

impl Topology {
    /// Reads it; takes some milliseconds the first time. Which units are usable is the calling thread's affinity mask.
    pub fn read() -> Self {
        let mut topology = Topology {
            source: None,
            parts: Vec::new(),
            usable: hardware::units().iter().map(|u| u.number).collect(),
            units: Vec::new(),
            threads: available_threads(),
        };
        hardware::describe_all(&mut topology);
        topology
    }

    /// The parts of one kind.
    pub fn of(&self, kind: PartKind) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.kind == kind)
    }
}

impl fmt::Display for PartKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartKind::Package => f.pad("package"),
            PartKind::MemoryNode => f.pad("memory node"),
            PartKind::Cache(level) => f.pad(&format!("L{level} cache")),
            PartKind::Core => f.pad("core"),
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source {
            Some(source) => writeln!(f, "hardware, as {source} reads it")?,
            None => writeln!(f, "hardware: not known")?,
        }
        for part in &self.parts {
            let bytes = part.bytes.map(in_words).unwrap_or_default();
            let (kind, number, units) = (part.kind, part.number, Ranges(&part.units));
            writeln!(f, "  {kind:<12} {number:>3} {bytes:>10}  units {units}")?;
        }
        if self.source.is_some() {
            let (usable, all) = (self.usable.len(), self.units.len());
            let order = Ranges(&self.usable);
            writeln!(
                f,
                "usable       {usable} of {all} units; workers get {order}"
            )?;
        }
        write!(f, "threads      {} by default", self.threads)
    }
}

/// Numbers in their order, runs as `first-last`.
struct Ranges<'n>(&'n [u32]);

impl fmt::Display for Ranges<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let runs = self.0.chunk_by(|a, b| a + 1 == *b);
        for (i, run) in runs.enumerate() {
            let comma = if i == 0 { "" } else { "," };
            match run {
                [one] => write!(f, "{comma}{one}")?,
                _ => write!(f, "{comma}{}-{}", run[0], run[run.len() - 1])?,
            }
        }
        Ok(())
    }
}

/// Bytes with a unit of which there is at least one.
fn in_words(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} B"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_what_there_is() {
        let part = |kind, number, bytes, units: &[u32]| Part {
            kind,
            number,
            bytes,
            units: units.to_vec(),
        };
        let topology = Topology {
            source: Some("hwloc"),
            parts: vec![
                part(PartKind::Package, 0, None, &[0, 1, 2, 3]),
                part(PartKind::MemoryNode, 0, Some(16 << 30), &[0, 1, 2, 3]),
                part(PartKind::Cache(2), 0, Some(1 << 20), &[0, 2]),
                part(PartKind::Cache(1), 1, Some(48 << 10), &[1, 3]),
                part(PartKind::Core, 1, None, &[1, 3]),
            ],
            usable: vec![0, 1, 2],
            units: vec![0, 1, 2, 3],
            threads: 3,
        };
        let text = "\
hardware, as hwloc reads it
  package        0             units 0-3
  memory node    0   16.0 GiB  units 0-3
  L2 cache       0    1.0 MiB  units 0,2
  L1 cache       1     48 KiB  units 1,3
  core           1             units 1,3
usable       3 of 4 units; workers get 0-2
threads      3 by default";
        assert_eq!(topology.to_string(), text);
        assert_eq!(topology.of(PartKind::Cache(1)).count(), 1);
        let nothing = Topology {
            source: None,
            parts: Vec::new(),
            usable: Vec::new(),
            units: Vec::new(),
            threads: 2,
        };
        assert_eq!(
            nothing.to_string(),
            "hardware: not known\nthreads      2 by default"
        );
    }

    #[test]
    fn this_machine_makes_sense() {
        let topology = Topology::read();
        assert!(topology.threads > 0);
        assert!(
            topology
                .usable
                .iter()
                .all(|unit| topology.units.contains(unit))
        );
        for part in &topology.parts {
            assert!(!part.units.is_empty(), "{part:?}");
            assert!(part.units.iter().all(|unit| topology.units.contains(unit)));
        }
        if topology.source.is_some() {
            let cores: Vec<_> = topology.of(PartKind::Core).collect();
            let of_cores: usize = cores.iter().map(|core| core.units.len()).sum();
            assert_eq!(of_cores, topology.units.len());
            assert!(topology.parts.is_sorted_by_key(|part| rank(part.kind)));
        }
    }

    /// From the outermost inwards.
    fn rank(kind: PartKind) -> u8 {
        match kind {
            PartKind::Package => 0,
            PartKind::MemoryNode => 1,
            PartKind::Cache(level) => 10 - level,
            PartKind::Core => 10,
        }
    }
}
