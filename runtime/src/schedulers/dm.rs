//! `dm`: each task to the worker where it is expected to end first, transfers not counted; priorities are ignored.
//!
//! The machinery, with the equations, is in `expected.rs`.

use super::SchedulerEntry;
use super::expected::{Expected, Policy};

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "dm",
    about: "earliest expected completion, transfers not counted; one queue per worker",
    uses_models: true,
    create: |scene| Box::new(Expected::new(scene, POLICY)),
};

pub(super) const POLICY: Policy = Policy {
    transfers: false,
    by_priority: false,
    data_first: false,
    only_ahead: false,
};
