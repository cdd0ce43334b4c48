//! The machine of a run, as it really is or as it is emulated: the world that policies ask when workers are threads.
//!
//! Takes the options of a run and what its application can do; gives places of workers, answers to policies, and the data
//! of a task on the node of its worker. Knows no policy and no dependency.
//!
//! # Emulated devices
//! A device is a thread that runs the application's own code on replicas in a memory of its own (`coherence.rs`), behind a
//! link that takes its time (`device.rs`). No code runs faster for that, so a device that is 8 times faster than a CPU worker
//! is had by making everything else 8 times slower: with s the largest speed of all workers (a CPU worker has 1),
//!
//! ```text
//!   a task that takes t here         takes  t s / speed of its worker    the worker sleeps for what is left of it
//!   a transfer of the description    takes  s times as long              whoever needs its bytes waits for them
//! ```
//!
//! The machine so described is the emulated one in slow motion: its time is wall time over s ([`Machine::scale`]), and
//! policies and cost models see this time alone. The runtime's own overhead is not stretched, so it looks s times smaller
//! than it would be. The device's thread needs a core as long as it runs code, and the CPU workers need none while they
//! sleep: the emulation holds as long as the threads that compute at the same time have cores.

mod coherence;
mod device;
#[cfg(test)]
mod tests;

use coherence::Coherence;
pub(crate) use coherence::Event;
pub use coherence::LinkStats;
pub use device::{DeviceSpec, DeviceSpecError};

use crate::codelet::Application;
use crate::config::Config;
use crate::models::{CostModels, ModelReport, name_of};
use crate::schedulers::{Arch, Missing, Place, World};
use crate::spec::{Access, TaskSpec, WorkerId};
use crate::store::{MemoryNode, OutOfMemory, SharedStore};
use crate::task::Task;
use std::time::{Duration, Instant};

/// What there is in one run.
pub(crate) struct Machine<'r> {
    begin: Instant,
    places: Vec<Place>,
    /// Only where the policy asks.
    models: Option<CostModels>,
    emulation: Option<Emulation<'r>>,
}

/// Beyond CPU workers.
struct Emulation<'r> {
    coherence: Coherence<'r>,
    scale: f64,
    /// Speed of each kind of worker, by codelet.
    speeds: Vec<Vec<f64>>,
    /// By codelet.
    on_cpu: Vec<bool>,
    on_device: Vec<bool>,
}

impl<'r> Machine<'r> {
    /// The machine that `config` describes, for the codelets of `app`; `store` was shared for its devices.
    pub(crate) fn new<A: Application>(
        config: &Config,
        app: &A,
        store: SharedStore<'r>,
        ticks: &'r (dyn Fn() -> u64 + Sync),
    ) -> Self {
        let mut places = vec![Place::HOST; config.threads];
        let kinds = device_kinds(&config.devices);
        for (d, device) in config.devices.iter().enumerate() {
            let kind = kinds.iter().position(|kind| kind.is_like(device));
            places.push(Place {
                arch: Arch(kind.expect("all kinds are there") as u16 + 1),
                memory: MemoryNode(d as u16 + 1),
            });
        }
        let codelets = app.codelets();
        let asked = config.scheduler.uses_models || config.learn;
        let models = asked.then(|| {
            let names = codelets.iter().map(|c| name_of(c.name, app.variant()));
            CostModels::open(names.collect(), model_names(&kinds), &config.models)
        });
        let emulation = (!kinds.is_empty()).then(|| {
            let mut speeds = vec![vec![1.0; codelets.len()]];
            let of = |kind: &&DeviceSpec| codelets.iter().map(|c| kind.speed_of(c.name)).collect();
            speeds.extend(kinds.iter().map(of));
            let scale = time_scale(config, codelets.iter().map(|c| c.name));
            let ids = (0..codelets.len() as u16).map(crate::spec::CodeletId);
            Emulation {
                coherence: Coherence::new(store, config.devices.clone(), scale, ticks),
                scale,
                speeds,
                on_cpu: codelets.iter().map(|c| c.cpu.is_some()).collect(),
                on_device: ids.map(|id| app.device_code(id).is_some()).collect(),
            }
        });
        Machine {
            begin: Instant::now(),
            places,
            models,
            emulation,
        }
    }

    /// What each worker is.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Wall time over the time that policies see.
    pub(crate) fn scale(&self) -> f64 {
        self.emulation
            .as_ref()
            .map_or(1.0, |emulation| emulation.scale)
    }

    /// Whether tasks need [`fetch`](Self::fetch) and [`finish`](Self::finish).
    pub(crate) fn is_emulated(&self) -> bool {
        self.emulation.is_some()
    }

    /// Makes the data of `spec` valid where `worker` is, and waits until it is there.
    pub(crate) fn fetch(&self, worker: WorkerId, spec: &TaskSpec) -> Result<(), OutOfMemory> {
        if let Some(emulation) = &self.emulation {
            let memory = self.places[worker].memory;
            let arrives = emulation.coherence.acquire(spec, memory, self.now());
            self.wait_until(arrives?);
        }
        Ok(())
    }

    /// `worker` has run `spec` since `begin`: its time passes, then its data is free to go.
    pub(crate) fn finish(&self, worker: WorkerId, spec: &TaskSpec, begin: Instant) {
        if let Some(emulation) = &self.emulation {
            let place = self.places[worker];
            let speed = emulation.speeds[place.arch.0 as usize][spec.codelet.0 as usize];
            wait(begin, begin.elapsed().mul_f64(emulation.scale / speed));
            emulation.coherence.release(spec, place.memory);
        }
    }

    /// When a task begins, if somebody wants to know its duration.
    pub(crate) fn stopwatch(&self) -> Option<Instant> {
        (self.models.is_some() || self.emulation.is_some()).then(Instant::now)
    }

    /// `worker` has run `task` since `begin`, its time on this machine included.
    pub(crate) fn learn(&self, task: &Task, worker: WorkerId, begin: Instant) {
        if let Some(models) = &self.models {
            let ns = begin.elapsed().as_nanos() as f64 / self.scale();
            let arch = self.places[worker].arch;
            models.learn(task.codelet(), arch, task.flops(), ns);
        }
    }

    /// What moved since the last call.
    pub(crate) fn take_events(&self) -> Vec<Event> {
        let emulation = self.emulation.as_ref();
        emulation.map_or_else(Vec::new, |emulation| emulation.coherence.take_events())
    }

    /// All tasks are done: all data goes home.
    pub(crate) fn flush(&self) {
        if let Some(emulation) = &self.emulation {
            self.wait_until(emulation.coherence.flush(self.now()));
        }
    }

    /// What went over the links, by device.
    pub(crate) fn link_stats(&self) -> Vec<LinkStats> {
        let emulation = self.emulation.as_ref();
        emulation.map_or_else(Vec::new, |emulation| emulation.coherence.stats())
    }

    /// The end of the run: keeps the models.
    pub(crate) fn close(&self) -> Option<ModelReport> {
        self.models.as_ref().map(CostModels::close)
    }

    fn now(&self) -> f64 {
        self.begin.elapsed().as_nanos() as f64 / self.scale()
    }

    fn wait_until(&self, ns: f64) {
        wait(self.begin, Duration::from_nanos((ns * self.scale()) as u64));
    }
}

/// The devices that differ, each by the first of its like.
fn device_kinds(devices: &[DeviceSpec]) -> Vec<&DeviceSpec> {
    let mut kinds: Vec<&DeviceSpec> = Vec::new();
    for device in devices {
        if !kinds.iter().any(|kind| kind.is_like(device)) {
            kinds.push(device);
        }
    }
    kinds
}

/// What cost models call the CPU and these devices.
fn model_names(kinds: &[&DeviceSpec]) -> Vec<String> {
    let mut names = vec!["cpu".to_owned()];
    names.extend(kinds.iter().map(|kind| kind.model_name()));
    names
}

impl Config {
    /// What cost models call the kinds of workers of such a run: the CPU, then the devices that differ.
    pub fn kinds(&self) -> Vec<String> {
        model_names(&device_kinds(&self.devices))
    }
}

/// The largest speed of all workers of `config`: how much slower than in truth everything runs.
pub(crate) fn time_scale<'a>(config: &Config, codelets: impl Iterator<Item = &'a str>) -> f64 {
    let mut scale: f64 = 1.0;
    for codelet in codelets {
        let speeds = config.devices.iter().map(|device| device.speed_of(codelet));
        scale = speeds.fold(scale, f64::max);
    }
    scale
}

/// Lets the thread sleep until `length` has passed since `begin`; the last part of it awake, since a sleep ends late.
fn wait(begin: Instant, length: Duration) {
    const AWAKE: Duration = Duration::from_micros(80);
    loop {
        let left = length.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return;
        }
        if left > AWAKE {
            std::thread::sleep(left - AWAKE);
        } else {
            std::thread::yield_now();
        }
    }
}

impl World for Machine<'_> {
    fn now_ns(&self) -> u64 {
        self.now() as u64
    }

    fn can_run(&self, worker: WorkerId, task: &Task) -> bool {
        let Some(emulation) = &self.emulation else {
            return true;
        };
        let (memory, spec) = (self.places[worker].memory, task.spec());
        let codelet = spec.codelet.0 as usize;
        if memory == MemoryNode::HOST {
            return emulation.on_cpu[codelet];
        }
        let scatters = spec.accesses.iter().any(|(_, a)| *a == Access::Scatter);
        // What nobody else can run may try, and fail for want of memory.
        emulation.on_device[codelet]
            && !scatters
            && (!emulation.on_cpu[codelet] || emulation.coherence.fits(spec, memory))
    }

    fn duration_ns(&self, task: &Task, arch: Arch) -> Option<f64> {
        let models = self.models.as_ref()?;
        models.predict_ns(task.codelet(), arch, task.flops())
    }

    fn transfer_ns(&self, task: &Task, memory: MemoryNode) -> f64 {
        let emulation = self.emulation.as_ref();
        emulation.map_or(0.0, |e| {
            e.coherence.transfer_ns(task.spec(), memory, self.now())
        })
    }

    fn missing(&self, task: &Task, memory: MemoryNode) -> Missing {
        let emulation = self.emulation.as_ref();
        emulation.map_or_else(Missing::default, |e| {
            e.coherence.missing(task.spec(), memory, self.now())
        })
    }

    fn prefetch(&self, task: &Task, memory: MemoryNode) {
        if let Some(emulation) = &self.emulation {
            emulation
                .coherence
                .prefetch(task.spec(), memory, self.now());
        }
    }
}
