//! `dmda`: each task to the worker where it is expected to end first, data transfers counted; priorities are ignored.
//!
//! The machinery, with the equations, is in `expected.rs`.

use super::SchedulerEntry;
use super::expected::{Expected, Policy};

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "dmda",
    about: "earliest expected completion, data transfers counted; one queue per worker",
    uses_models: true,
    create: |scene| Box::new(Expected::new(scene, POLICY)),
};

pub(super) const POLICY: Policy = Policy {
    transfers: true,
    by_priority: false,
    data_first: false,
    only_ahead: false,
};
