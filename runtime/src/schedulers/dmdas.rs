//! `dmdas`: the decision of `dmda`; each queue sorted by priority, and of the best tasks the one whose data is there first.
//!
//! The machinery, with the equations, is in `expected.rs`.

use super::SchedulerEntry;
use super::expected::{Expected, Policy};

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "dmdas",
    about: "dmda with each queue sorted by priority; tasks whose data is there go first",
    uses_models: true,
    create: |scene| Box::new(Expected::new(scene, POLICY)),
};

pub(super) const POLICY: Policy = Policy {
    transfers: true,
    by_priority: true,
    data_first: true,
    only_ahead: false,
};
