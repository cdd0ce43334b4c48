//! `dmdasd`: `dmdas`, and the decision counts only the work that would run before the task, by its priority.
//!
//! The machinery, with the equations, is in `expected.rs`.

use super::SchedulerEntry;
use super::expected::{Expected, Policy};

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "dmdasd",
    about: "dmdas that counts only the work queued ahead of the task's priority",
    uses_models: true,
    create: |scene| Box::new(Expected::new(scene, POLICY)),
};

pub(super) const POLICY: Policy = Policy {
    transfers: true,
    by_priority: true,
    data_first: true,
    only_ahead: true,
};
