//! Which processors a thread may use, as the system says and is told.
//!
//! Takes and gives the system's numbers. Elsewhere than on Linux nothing is known and nobody is bound.

#[cfg(target_os = "linux")]
pub(super) use linux::{Freedom, bind, bind_for_now, release, usable};
#[cfg(not(target_os = "linux"))]
pub(super) use unknown::{Freedom, bind, bind_for_now, release, usable};

/// The processors that the calling thread may use, by rising number, if there are just so many.
pub(super) fn exactly(count: usize) -> Option<Vec<u32>> {
    usable().filter(|numbers| numbers.len() == count)
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// Where a thread may run, to be given back to it with [`release`].
    #[derive(Debug)]
    pub(in super::super) struct Freedom(CpuSet);

    /// The processors that the calling thread may use, by rising number.
    pub(in super::super) fn usable() -> Option<Vec<u32>> {
        let mask = sched_getaffinity(None).ok()?;
        let numbers = (0..CpuSet::MAX_CPU).filter(|&number| mask.is_set(number));
        Some(numbers.map(|number| number as u32).collect())
    }

    /// Binds the calling thread to that processor; whether that worked.
    pub(in super::super) fn bind(number: u32) -> bool {
        let mut mask = CpuSet::new();
        let number = number as usize;
        if number >= CpuSet::MAX_CPU {
            return false;
        }
        mask.set(number);
        sched_setaffinity(None, &mask).is_ok()
    }

    /// As [`bind`], for a while: gives what the thread could use before. `None` if nothing has changed.
    pub(in super::super) fn bind_for_now(number: u32) -> Option<Freedom> {
        let before = sched_getaffinity(None).ok()?;
        bind(number).then_some(Freedom(before))
    }

    /// Lets the calling thread run where it could before it was bound.
    pub(in super::super) fn release(freedom: &Freedom) {
        // A system that has let itself be told once and now refuses: the thread stays where it is.
        let _ = sched_setaffinity(None, &freedom.0);
    }
}

#[cfg(not(target_os = "linux"))]
mod unknown {
    /// Nobody was bound, so there is none.
    #[derive(Debug)]
    pub(in super::super) enum Freedom {}

    pub(in super::super) fn usable() -> Option<Vec<u32>> {
        None
    }

    pub(in super::super) fn bind(_: u32) -> bool {
        false
    }

    pub(in super::super) fn bind_for_now(_: u32) -> Option<Freedom> {
        None
    }

    pub(in super::super) fn release(freedom: &Freedom) {
        match *freedom {}
    }
}
