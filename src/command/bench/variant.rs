//! What bounds a run beside its number of workers, and how the bounds of a benchmark are told apart.
//!
//! Takes the lists of the command line; gives their product, each bound as it was written. Knows no run.

use super::super::limits::Bound;
use std::num::NonZeroUsize;
use treeqr::FactorOptions;
use treeqr::solver::MemoryLimit;

/// The bounds of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    pub memory_limit: Bound<MemoryLimit>,
    pub subtree_workers: Bound<NonZeroUsize>,
    pub window: Bound<NonZeroUsize>,
}

impl Variant {
    /// Puts the bounds into the options of a factorization.
    pub fn bound(&self, options: &mut FactorOptions) {
        options.memory_limit = self.memory_limit.value.unwrap_or_default();
        options.subtree_workers = self.subtree_workers.value;
        options.run.window = self.window.value;
    }
}

/// All that can be had of the three lists, the last one changing fastest; what comes twice counts once.
pub fn variants(
    memory_limits: &[Bound<MemoryLimit>],
    subtree_workers: &[Bound<NonZeroUsize>],
    windows: &[Bound<NonZeroUsize>],
) -> Vec<Variant> {
    let mut all = Vec::new();
    for memory_limit in memory_limits {
        for subtree_workers in subtree_workers {
            for window in windows {
                let variant = Variant {
                    memory_limit: memory_limit.clone(),
                    subtree_workers: subtree_workers.clone(),
                    window: window.clone(),
                };
                if !all.contains(&variant) {
                    all.push(variant);
                }
            }
        }
    }
    all
}

/// One of the bounds.
pub struct Axis {
    /// In sentences.
    pub name: &'static str,
    /// Over a column.
    pub head: &'static str,
    /// Its value, as it was written.
    pub text: fn(&Variant) -> &str,
}

/// In the order of the flags.
pub const AXES: [Axis; 3] = [
    Axis {
        name: "memory limit",
        head: "limit",
        text: |variant| &variant.memory_limit.text,
    },
    Axis {
        name: "subtree workers",
        head: "subtree",
        text: |variant| &variant.subtree_workers.text,
    },
    Axis {
        name: "window",
        head: "window",
        text: |variant| &variant.window.text,
    },
];

/// The bounds that are not the same in all variants.
pub fn varying(variants: &[Variant]) -> impl Iterator<Item = &'static Axis> {
    let differs = |axis: &&Axis| {
        let texts = variants.iter().map(axis.text);
        texts.clone().any(|text| text != (axis.text)(&variants[0]))
    };
    AXES.iter().filter(differs)
}

/// `memory limit 1x, window 500`: those of the bounds `axes` that are there.
pub fn words<'a>(variant: &Variant, axes: impl Iterator<Item = &'a Axis>) -> Vec<String> {
    let word = |axis: &Axis| match (axis.text)(variant) {
        "none" => format!("no {}", axis.name),
        text => format!("{} {text}", axis.name),
    };
    axes.map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::limits::{count_bound, memory_bound};
    use super::*;

    #[test]
    fn bounds_multiply_and_what_varies_is_told() {
        let limits = ["none", "1x", "none"].map(|t| memory_bound(t).expect("valid"));
        let ones = ["1"].map(|t| count_bound(t).expect("valid"));
        let windows = ["none", "500"].map(|t| count_bound(t).expect("valid"));
        let all = variants(&limits, &ones, &windows);
        let texts: Vec<_> = all
            .iter()
            .map(|v| words(v, AXES.iter()).join(", "))
            .collect();
        assert_eq!(
            texts,
            [
                "no memory limit, subtree workers 1, no window",
                "no memory limit, subtree workers 1, window 500",
                "memory limit 1x, subtree workers 1, no window",
                "memory limit 1x, subtree workers 1, window 500",
            ]
        );
        let names: Vec<_> = varying(&all).map(|axis| axis.name).collect();
        assert_eq!(names, ["memory limit", "window"]);
        assert_eq!(varying(&all[..1]).count(), 0);
    }
}
