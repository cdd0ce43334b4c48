//! The kernel's own count of a thread's context switches, which needs no right.
//!
//! Takes the files under `/proc`; gives two numbers. Knows no perf event.

use std::fs;

/// Context switches of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchTotals {
    /// It had to wait, for a lock, a sleep or a device.
    pub voluntary: u64,
    /// It could have run on, but another took its processor.
    pub involuntary: u64,
}

impl SwitchTotals {
    /// Those since `earlier`.
    pub(super) fn since(self, earlier: SwitchTotals) -> SwitchTotals {
        SwitchTotals {
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
        }
    }
}

/// The calling thread's number, where the system has `/proc` of Linux.
pub(super) fn thread_id() -> Option<u32> {
    let link = fs::read_link("/proc/thread-self").ok()?;
    link.file_name()?.to_str()?.parse().ok()
}

/// What a thread of this process has counted until now. Reads a file: for the ends of a thread's life, not of a task's.
pub(super) fn totals_of(thread_id: u32) -> Option<SwitchTotals> {
    parse(&fs::read_to_string(format!("/proc/self/task/{thread_id}/status")).ok()?)
}

fn parse(status: &str) -> Option<SwitchTotals> {
    let number = |name: &str| {
        let mut lines = status.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = lines.find(|(field, _)| *field == name)?;
        value.trim().parse().ok()
    };
    Some(SwitchTotals {
        voluntary: number("voluntary_ctxt_switches")?,
        involuntary: number("nonvoluntary_ctxt_switches")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_totals_are_found_and_nothing_is_guessed() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t17\nnonvoluntary_ctxt_switches:\t5\n";
        let totals = SwitchTotals {
            voluntary: 17,
            involuntary: 5,
        };
        assert_eq!(parse(status), Some(totals));
        let (first, _) = status.split_at(40);
        assert_eq!(parse(first), None);
        let earlier = SwitchTotals {
            voluntary: 10,
            involuntary: 5,
        };
        let since = totals.since(earlier);
        assert_eq!((since.voluntary, since.involuntary), (7, 0));
    }
}
