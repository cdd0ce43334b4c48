//! The machine of a run, as it really is: the world that policies ask when workers are threads.
//!
//! Takes the options of a run and what its application can do; gives places of workers and answers to policies. Knows no
//! policy and no dependency.

use crate::codelet::Application;
use crate::config::Config;
use crate::models::{CostModels, ModelReport};
use crate::schedulers::{Arch, Place, World};
use crate::spec::WorkerId;
use crate::task::Task;
use std::time::Instant;

/// What there is in one run.
pub(crate) struct Machine {
    begin: Instant,
    places: Vec<Place>,
    /// Only where the policy asks.
    models: Option<CostModels>,
}

impl Machine {
    /// The machine that `config` describes, for the codelets of `app`.
    pub(crate) fn new<A: Application>(config: &Config, app: &A) -> Self {
        let models = config.scheduler.uses_models.then(|| {
            let name = |name: &str| match app.variant() {
                "" => name.to_owned(),
                variant => format!("{name}/{variant}"),
            };
            let codelets = app.codelets().iter().map(|c| name(c.name)).collect();
            CostModels::open(codelets, vec!["cpu".to_owned()], &config.models)
        });
        Machine {
            begin: Instant::now(),
            places: vec![Place::HOST; config.threads],
            models,
        }
    }

    /// What each worker is.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// When a task begins, if somebody learns from its duration.
    pub(crate) fn stopwatch(&self) -> Option<Instant> {
        self.models.is_some().then(Instant::now)
    }

    /// `worker` has run `task` since `begin`.
    pub(crate) fn learn(&self, task: &Task, worker: WorkerId, begin: Instant) {
        if let Some(models) = &self.models {
            let ns = begin.elapsed().as_nanos() as f64;
            let arch = self.places[worker].arch;
            models.learn(task.codelet(), arch, task.flops(), ns);
        }
    }

    /// The end of the run: keeps the models.
    pub(crate) fn close(&self) -> Option<ModelReport> {
        self.models.as_ref().map(CostModels::close)
    }
}

impl World for Machine {
    fn now_ns(&self) -> u64 {
        self.begin.elapsed().as_nanos() as u64
    }

    fn duration_ns(&self, task: &Task, arch: Arch) -> Option<f64> {
        let models = self.models.as_ref()?;
        models.predict_ns(task.codelet(), arch, task.flops())
    }
}
