//! Why the system gives no perf event, in plain words.
//!
//! Takes the system's refusal and what it says about itself; gives a sentence with what the user could do. Knows no
//! event.

use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::Path;

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::system) enum Step {
    /// To open an event.
    Open,
    /// To map the memory that the kernel writes to.
    Ring,
}

/// Why there is no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::system) enum Denied {
    /// The system's setting, or `None` where it says nothing.
    Paranoid(Option<i32>),
    /// A sandbox or a security module.
    Sandbox,
    /// No counters of the processor at all.
    NoPmu,
    /// The processor has counters, but not this one for a thread.
    NoSuchEvent,
    /// An event that has another number on each processor.
    UnknownProcessor,
    /// The kernel has no perf events, or an older interface.
    Kernel,
    /// The kernel refuses the combination.
    Combination,
    Busy,
    /// Too many open files.
    Files,
    /// No memory, or none that may be locked.
    Memory,
    Other(String),
}

/// One of these folders exists where the kernel drives the processor's counters.
const PMU_FOLDERS: &[&str] = &["cpu", "cpu_core", "cpu_atom"];

impl Denied {
    pub(in crate::system) fn new(step: Step, error: &io::Error) -> Denied {
        let settings = "/proc/sys/kernel/perf_event_paranoid";
        let paranoid = || std::fs::read_to_string(settings).ok()?.trim().parse().ok();
        Self::from(step, error, paranoid(), has_pmu())
    }

    fn from(step: Step, error: &io::Error, paranoid: Option<i32>, has_pmu: bool) -> Denied {
        let Some(errno) = Errno::from_io_error(error) else {
            return match error.kind() {
                // How the library tells of options that the kernel does not know.
                io::ErrorKind::Unsupported => Denied::Kernel,
                _ => Denied::Other(error.to_string()),
            };
        };
        match (errno, step) {
            (Errno::PERM | Errno::NOMEM | Errno::AGAIN, Step::Ring) => Denied::Memory,
            (Errno::ACCESS, _) => Denied::Paranoid(paranoid),
            (Errno::PERM, _) => Denied::Sandbox,
            (Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV | Errno::NXIO, _) => match has_pmu {
                true => Denied::NoSuchEvent,
                false => Denied::NoPmu,
            },
            (Errno::NOSYS, _) => Denied::Kernel,
            (Errno::INVAL | Errno::NOSPC, _) => Denied::Combination,
            (Errno::BUSY, _) => Denied::Busy,
            (Errno::MFILE | Errno::NFILE, _) => Denied::Files,
            (Errno::NOMEM, _) => Denied::Memory,
            _ => Denied::Other(error.to_string()),
        }
    }

    /// Whether less might be allowed: user code without the kernel's.
    pub(in crate::system) fn is_about_rights(&self) -> bool {
        matches!(self, Denied::Paranoid(_) | Denied::Sandbox)
    }
}

fn has_pmu() -> bool {
    let folder = Path::new("/sys/bus/event_source/devices");
    // Processors of Arm name theirs by the model.
    let arm = || {
        let mut entries = std::fs::read_dir(folder).ok()?.flatten();
        let is_core = |name: &str| name.starts_with("armv8") || name.starts_with("apple_");
        Some(entries.any(|entry| entry.file_name().to_str().is_some_and(is_core)))
    };
    PMU_FOLDERS.iter().any(|name| folder.join(name).exists()) || arm().unwrap_or(false)
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Denied::Paranoid(level) => {
                f.write_str("the system keeps it for privileged users")?;
                if let Some(level) = level {
                    write!(f, ": kernel.perf_event_paranoid is {level}")?;
                }
                f.write_str(
                    "; `sysctl kernel.perf_event_paranoid=1` or the capability CAP_PERFMON allows it",
                )
            }
            Denied::Sandbox => f.write_str(
                "a sandbox or security module refuses perf_event_open; in a container, run it with the capability \
                 CAP_PERFMON and a seccomp profile that allows the call",
            ),
            Denied::NoPmu => f.write_str(
                "this machine shows programs no counters of its processor, as most virtual machines do; a run on \
                 the host itself would have them",
            ),
            Denied::NoSuchEvent => f.write_str("this processor does not count it for a thread"),
            Denied::UnknownProcessor => f.write_str(
                "its number on this processor is not known here; `perf stat` may know it",
            ),
            Denied::Kernel => f.write_str(
                "this kernel has no perf events or an older form of them; Linux 4.3 or newer has what is needed",
            ),
            Denied::Combination => f.write_str(
                "the kernel does not know it, or it does not fit beside the others into the processor's counters; \
                 ask for fewer at a time",
            ),
            Denied::Busy => {
                f.write_str("another program holds the processor's counters; run again without it")
            }
            Denied::Files => f.write_str(
                "there are too many open files (one for each counter of each thread); raise `ulimit -n`",
            ),
            Denied::Memory => f.write_str(
                "there is no memory that may be locked for it; raise kernel.perf_event_mlock_kb or `ulimit -l`",
            ),
            Denied::Other(text) => write!(f, "the system refuses it ({text})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(step: Step, errno: Errno, has_pmu: bool) -> Denied {
        Denied::from(step, &errno.into(), Some(2), has_pmu)
    }

    #[test]
    fn each_refusal_has_its_reason() {
        use Step::*;
        for (step, errno, has_pmu, reason) in [
            (Open, Errno::ACCESS, true, Denied::Paranoid(Some(2))),
            (Open, Errno::PERM, true, Denied::Sandbox),
            (Open, Errno::NOENT, false, Denied::NoPmu),
            (Open, Errno::NOENT, true, Denied::NoSuchEvent),
            (Open, Errno::OPNOTSUPP, false, Denied::NoPmu),
            (Open, Errno::NOSYS, true, Denied::Kernel),
            (Open, Errno::INVAL, true, Denied::Combination),
            (Open, Errno::BUSY, true, Denied::Busy),
            (Open, Errno::MFILE, true, Denied::Files),
            (Ring, Errno::PERM, true, Denied::Memory),
            (Ring, Errno::NOMEM, true, Denied::Memory),
        ] {
            assert_eq!(denied(step, errno, has_pmu), reason, "{errno:?}");
        }
        let other = denied(Open, Errno::IO, true);
        assert!(matches!(other, Denied::Other(_)), "{other:?}");
        let text = denied(Open, Errno::ACCESS, true).to_string();
        assert!(text.contains("perf_event_paranoid is 2;"), "{text}");
        let too_new = io::Error::new(io::ErrorKind::Unsupported, "options");
        assert_eq!(Denied::from(Open, &too_new, None, true), Denied::Kernel);
    }
}
