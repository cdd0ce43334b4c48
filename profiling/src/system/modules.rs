//! What can be recorded beside the runtime's own events, by name.
//!
//! Takes the words of `--record`; gives which modules and counters they choose. Knows no kernel.

/// A module that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleEntry {
    /// The word for it.
    pub name: &'static str,
    /// What it records and what it costs.
    pub about: &'static str,
}

const KERNEL: &str = "kernel";
const ALL_COUNTERS: &str = "counters";

/// All modules.
pub static MODULES: &[ModuleEntry] = &[
    ModuleEntry {
        name: KERNEL,
        about: "context switches and migrations of the run's threads; written by the kernel, no system call of theirs",
    },
    ModuleEntry {
        name: ALL_COUNTERS,
        about: "hardware and software counters per task; a system call at each end of a task",
    },
];

/// A counter that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterEntry {
    /// The word for it.
    pub name: &'static str,
    /// What one of it is.
    pub unit: &'static str,
    /// What it counts.
    pub about: &'static str,
    pub(super) kind: CounterKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CounterKind {
    Cycles,
    Instructions,
    L1Misses,
    L2Misses,
    L3Misses,
    PageFaults,
    ContextSwitches,
    CpuMigrations,
    TaskClock,
}

/// The length of [`COUNTERS`], and room enough for the counters of one task.
pub const MAX_COUNTERS: usize = 9;

const fn counter(
    name: &'static str,
    unit: &'static str,
    kind: CounterKind,
    about: &'static str,
) -> CounterEntry {
    CounterEntry {
        name,
        unit,
        about,
        kind,
    }
}

/// All counters; the first five are the processor's, the others the kernel's.
pub static COUNTERS: [CounterEntry; MAX_COUNTERS] = [
    counter(
        "cycles",
        "cycles",
        CounterKind::Cycles,
        "cycles of the core, at whatever frequency it has",
    ),
    counter(
        "instructions",
        "instructions",
        CounterKind::Instructions,
        "instructions retired",
    ),
    counter(
        "l1-misses",
        "misses",
        CounterKind::L1Misses,
        "loads that miss the first-level data cache",
    ),
    counter(
        "l2-misses",
        "misses",
        CounterKind::L2Misses,
        "requests that miss the second-level cache (AMD Zen; Intel cores with AVX-512)",
    ),
    counter(
        "l3-misses",
        "misses",
        CounterKind::L3Misses,
        "loads that miss the last-level cache",
    ),
    counter(
        "page-faults",
        "faults",
        CounterKind::PageFaults,
        "pages that the system had to give first, or to fetch",
    ),
    counter(
        "context-switches",
        "switches",
        CounterKind::ContextSwitches,
        "times the thread left its processor",
    ),
    counter(
        "cpu-migrations",
        "migrations",
        CounterKind::CpuMigrations,
        "times the thread came to another processor",
    ),
    counter(
        "task-clock",
        "ns",
        CounterKind::TaskClock,
        "time on a processor, without what the thread waited for one",
    ),
];

/// What was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modules {
    kernel: bool,
    counters: [bool; MAX_COUNTERS],
}

impl Modules {
    /// The modules in a list with commas: names of [`MODULES`] and [`COUNTERS`]. `counters` is all counters,
    /// `counters:cycles,page-faults` (or `cycles,page-faults`) those two. An empty list is none.
    ///
    /// # Errors
    /// The first word that is neither.
    pub fn parse(list: &str) -> Result<Modules, UnknownModule> {
        let mut modules = Modules::default();
        if list.trim().is_empty() {
            return Ok(modules);
        }
        for word in list.split(',').map(str::trim) {
            match word {
                KERNEL => modules.kernel = true,
                ALL_COUNTERS => modules.counters = [true; MAX_COUNTERS],
                _ => {
                    let prefix = word.strip_prefix(ALL_COUNTERS);
                    let name = prefix.and_then(|rest| rest.strip_prefix(':'));
                    let name = name.unwrap_or(word).trim();
                    let place = COUNTERS.iter().position(|entry| entry.name == name);
                    let place = place.ok_or_else(|| UnknownModule {
                        word: word.to_owned(),
                    })?;
                    modules.counters[place] = true;
                }
            }
        }
        Ok(modules)
    }

    /// Whether context switches are asked for.
    pub fn kernel(&self) -> bool {
        self.kernel
    }

    /// The counters that are asked for, in the order of [`COUNTERS`].
    pub fn counters(&self) -> impl Iterator<Item = &'static CounterEntry> + use<> {
        let asked = self.counters;
        let all = COUNTERS.iter().zip(asked);
        all.filter_map(|(entry, asked)| asked.then_some(entry))
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Modules::default()
    }
}

/// A word that names no module and no counter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no module and no counter: the modules are {}, the counters {}", names(MODULES.iter().map(|m| m.name)), names(COUNTERS.iter().map(|c| c.name)))]
pub struct UnknownModule {
    /// The word.
    pub word: String,
}

fn names(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(list: &str) -> (bool, Vec<&'static str>) {
        let modules = Modules::parse(list).unwrap();
        (
            modules.kernel(),
            modules.counters().map(|c| c.name).collect(),
        )
    }

    #[test]
    fn words_choose_modules_and_counters() {
        let all: Vec<_> = COUNTERS.iter().map(|c| c.name).collect();
        assert_eq!(chosen(""), (false, vec![]));
        assert_eq!(chosen("kernel"), (true, vec![]));
        assert_eq!(chosen("counters, kernel"), (true, all));
        let two = vec!["cycles", "page-faults"];
        assert_eq!(chosen("counters:page-faults,cycles"), (false, two.clone()));
        assert_eq!(chosen("cycles,kernel,page-faults,cycles"), (true, two));
        assert!(Modules::parse(" ").unwrap().is_empty());
        for module in MODULES {
            assert!(!Modules::parse(module.name).unwrap().is_empty());
        }
    }

    #[test]
    fn other_words_are_refused() {
        for (list, word) in [
            ("kernal", "kernal"),
            ("kernel,", ""),
            ("counters:", "counters:"),
            ("counters:cycle", "counters:cycle"),
            ("cycles,counterscycles", "counterscycles"),
        ] {
            let error = Modules::parse(list).unwrap_err();
            assert_eq!(error.word, word, "{list}");
            let text = error.to_string();
            assert!(text.contains("kernel, counters") && text.contains("task-clock"));
        }
    }
}
