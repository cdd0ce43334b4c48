//! What a run is told beside scheduler and number of workers: bounds, precision, rank; and how the variants of a benchmark are told
//! apart.
//!
//! Takes the lists of the command line; gives their product, each value as it was written. Knows no run.

use super::super::input::Precision;
use super::super::limits::Bound;
use super::BenchArgs;
use std::num::NonZeroUsize;
use treeqr::FactorOptions;
use treeqr::solver::MemoryLimit;

/// `--rank`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RankLook {
    /// As `treeqr solve` does.
    On,
    /// Nobody looks at it.
    Off,
}

/// What a run is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    pub memory_limit: Bound<MemoryLimit>,
    pub subtree_workers: Bound<NonZeroUsize>,
    pub window: Bound<NonZeroUsize>,
    pub precision: Precision,
    pub rank: RankLook,
}

impl Variant {
    /// Puts all but the precision into the options of a factorization.
    pub fn bound(&self, options: &mut FactorOptions) {
        options.memory_limit = self.memory_limit.value.unwrap_or_default();
        options.subtree_workers = self.subtree_workers.value;
        options.run.window = self.window.value;
        options.tolerance = self.tolerance();
    }

    /// With a negative one nobody looks.
    pub fn tolerance(&self) -> Option<f64> {
        (self.rank == RankLook::Off).then_some(-1.0)
    }
}

/// All that can be had of the lists, the last one changing fastest; what comes twice counts once.
pub fn variants(args: &BenchArgs) -> Vec<Variant> {
    let ranks = match args.any_rank {
        true => &[RankLook::Off][..],
        false => &args.rank,
    };
    let mut all = Vec::new();
    for memory_limit in &args.memory_limit {
        for subtree_workers in &args.subtree_workers {
            for window in &args.window {
                for &precision in &args.precision {
                    for &rank in ranks {
                        // Mixed precision looks in any case.
                        let rank = match precision {
                            Precision::Mixed => RankLook::On,
                            _ => rank,
                        };
                        let variant = Variant {
                            memory_limit: memory_limit.clone(),
                            subtree_workers: subtree_workers.clone(),
                            window: window.clone(),
                            precision,
                            rank,
                        };
                        if !all.contains(&variant) {
                            all.push(variant);
                        }
                    }
                }
            }
        }
    }
    all
}

/// What variants can differ in.
pub struct Axis {
    /// In sentences.
    pub name: &'static str,
    /// Over a column.
    pub head: &'static str,
    /// Its value, as it is written.
    pub text: fn(&Variant) -> &str,
    /// The value that nobody needs to be told of.
    pub usual: &'static str,
}

/// The word for no bound.
pub const NO_BOUND: &str = "none";

/// So many of the axes are bounds; these come first.
pub const BOUNDS: usize = 3;

/// In the order of the flags.
pub const AXES: [Axis; 5] = [
    Axis {
        name: "memory limit",
        head: "limit",
        text: |variant| &variant.memory_limit.text,
        usual: "auto",
    },
    Axis {
        name: "subtree workers",
        head: "subtree",
        text: |variant| &variant.subtree_workers.text,
        usual: NO_BOUND,
    },
    Axis {
        name: "window",
        head: "window",
        text: |variant| &variant.window.text,
        usual: NO_BOUND,
    },
    Axis {
        name: "precision",
        head: "precision",
        text: |variant| variant.precision.name(),
        usual: "double",
    },
    Axis {
        name: "rank",
        head: "rank",
        text: |variant| match variant.rank {
            RankLook::On => "on",
            RankLook::Off => "off",
        },
        usual: "on",
    },
];

/// The axes that are not the same in all variants.
pub fn varying(variants: &[Variant]) -> impl Iterator<Item = &'static Axis> {
    let differs = |axis: &&Axis| {
        let texts = variants.iter().map(axis.text);
        texts.clone().any(|text| text != (axis.text)(&variants[0]))
    };
    AXES.iter().filter(differs)
}

/// `memory limit 1x, window 500`: the values of a variant on `axes`.
pub fn words<'a>(variant: &Variant, axes: impl Iterator<Item = &'a Axis>) -> Vec<String> {
    let word = |axis: &Axis| match (axis.text)(variant) {
        NO_BOUND => format!("no {}", axis.name),
        text => format!("{} {text}", axis.name),
    };
    axes.map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::cli::{Cli, Command};
    use super::*;
    use clap::Parser;

    fn of(words: &str) -> Vec<Variant> {
        let words = ["treeqr", "bench", "gallery:conv2d-4"]
            .into_iter()
            .chain(words.split_whitespace());
        match Cli::try_parse_from(words).expect("valid").command {
            Command::Bench(args) => variants(&args),
            _ => unreachable!("it is bench"),
        }
    }

    fn told(all: &[Variant], axes: &[Axis]) -> Vec<String> {
        all.iter()
            .map(|v| words(v, axes.iter()).join(", "))
            .collect()
    }

    #[test]
    fn bounds_multiply_and_what_varies_is_told() {
        let all = of("--memory-limit none,1x,none --subtree-workers 1 --window none,500");
        assert_eq!(
            told(&all, &AXES[..BOUNDS]),
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

    #[test]
    fn so_do_precisions_and_looks_at_the_rank() {
        let all = of("--precision double,mixed --rank on,off");
        assert_eq!(
            told(&all, &AXES[BOUNDS..]),
            [
                "precision double, rank on",
                "precision double, rank off",
                "precision mixed, rank on",
            ]
        );
        let tolerances: Vec<_> = all.iter().map(Variant::tolerance).collect();
        assert_eq!(tolerances, [None, Some(-1.0), None]);
        let any = of("--any-rank");
        assert_eq!(told(&any, &AXES[BOUNDS..]), ["precision double, rank off"]);
        assert!(
            of("")
                .iter()
                .all(|v| AXES.iter().all(|a| (a.text)(v) == a.usual))
        );
    }
}
