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
//!
//! # Devices that are there
//! A worker is a thread that drives one stream of the device: its data is brought by the device's threads for copies (`real.rs`),
//! then it asks for kernels and waits for them. Streams are workers like others to policies and in traces; those of one device share
//! its memory node. Time is wall time. A run has emulated devices or real ones, not both.

mod clock;
mod coherence;
mod device;
mod real;
#[cfg(test)]
mod tests;

pub(crate) use clock::{Anchor, ticks_of};
pub(crate) use coherence::Event;
pub use coherence::LinkStats;
use coherence::{Coherence, Refusal, Side};
pub use device::{DeviceSpec, DeviceSpecError};
pub use real::Accelerator;
use real::RealNode;
pub(crate) use real::Room;

use crate::config::Config;
use crate::erased::AnyApplication;
use crate::models::{CostModels, ModelReport, name_of};
use crate::schedulers::{Arch, Missing, Place, World};
use crate::spec::{TaskSpec, WorkerId};
use crate::store::{MemoryNode, OutOfMemory, SharedStore};
use crate::sync::{AtomicU64, Ordering};
use crate::task::Task;
use std::sync::Arc;
use std::time::{Duration, Instant};
use treeqr_devices::{DeviceError, Stream};

/// What there is in one run.
pub(crate) struct Machine<'r> {
    begin: Instant,
    places: Vec<Place>,
    /// Only where the policy asks.
    models: Option<CostModels>,
    devices: Option<Devices<'r>>,
}

/// Beyond CPU workers.
struct Devices<'r> {
    coherence: Coherence<'r>,
    /// By device: tasks, nanoseconds of the device's own time in them, and the error of its clock in ticks.
    done: Vec<(AtomicU64, AtomicU64, AtomicU64)>,
    scale: f64,
    /// Speed of each kind of worker, by codelet.
    speeds: Vec<Vec<f64>>,
    /// By codelet.
    on_cpu: Vec<bool>,
    on_device: Vec<bool>,
}

impl Devices<'_> {
    /// Whether one of them has room for all that `spec` uses.
    fn can_hold(&self, spec: &TaskSpec) -> bool {
        let mut nodes = (1..=self.done.len() as u16).map(MemoryNode);
        nodes.any(|node| self.coherence.fits(spec, node))
    }
}

/// What a worker of a real device has: its stream and its scratch.
pub(crate) struct StreamWorker {
    pub(crate) stream: Box<dyn Stream>,
    pub(crate) scratch: Arc<Room>,
}

/// Why the data of a task did not come.
pub(crate) enum FetchError {
    OutOfMemory(OutOfMemory),
    Device(DeviceError),
    /// The run ends for another reason.
    Stopped,
}

impl<'r> Machine<'r> {
    /// The machine that `config` describes, for the codelets of `app`; `store` was shared for its devices.
    pub(crate) fn new(
        config: &Config,
        app: &dyn AnyApplication,
        store: SharedStore<'r>,
        ticks: &'r (dyn Fn() -> u64 + Sync),
    ) -> Result<Self, DeviceError> {
        let mut places = vec![Place::HOST; config.threads];
        let kinds = device_kinds(&config.devices);
        for (d, device) in config.devices.iter().enumerate() {
            let kind = kinds.iter().position(|kind| kind.is_like(device));
            places.push(Place {
                arch: Arch(kind.expect("all kinds are there") as u16 + 1),
                memory: MemoryNode(d as u16 + 1),
            });
        }
        let real_kinds = real_kinds(&config.accelerators);
        for (d, accelerator) in config.accelerators.iter().enumerate() {
            let model = real_name(accelerator);
            let kind = real_kinds.iter().position(|kind| *kind == model);
            let place = Place {
                arch: Arch(kind.expect("all kinds are there") as u16 + 1),
                memory: MemoryNode(d as u16 + 1),
            };
            places.extend(std::iter::repeat_n(place, accelerator.streams));
        }
        let codelets = app.names();
        let asked = config.scheduler.uses_models || config.learn;
        let models = asked.then(|| {
            let names = codelets.iter().map(|name| name_of(name, app.variant()));
            CostModels::open(names.collect(), config.kinds(), &config.models)
        });
        let real = !real_kinds.is_empty();
        let sides: Vec<Side> = match real {
            true => {
                let scratch_bytes = app.device_scratch_bytes();
                let all: Vec<_> = config
                    .accelerators
                    .iter()
                    .map(|a| a.device.clone())
                    .collect();
                let nodes = config.accelerators.iter().map(|accelerator| {
                    let mut node = RealNode::new(accelerator, scratch_bytes)?;
                    node.meet(&all);
                    Ok(Side::Real(Box::new(node)))
                });
                nodes.collect::<Result<_, DeviceError>>()?
            }
            false => config.devices.iter().cloned().map(Side::Emulated).collect(),
        };
        let devices = (!sides.is_empty()).then(|| {
            let mut speeds = vec![vec![1.0; codelets.len()]];
            let of = |kind: &&DeviceSpec| codelets.iter().map(|name| kind.speed_of(name)).collect();
            speeds.extend(kinds.iter().map(of));
            speeds.extend(real_kinds.iter().map(|_| vec![1.0; codelets.len()]));
            let scale = time_scale(config, codelets.iter().copied());
            let ids = (0..codelets.len() as u16).map(crate::spec::CodeletId);
            Devices {
                done: sides.iter().map(|_| Default::default()).collect(),
                coherence: Coherence::new(store, sides, scale, ticks)
                    .with_waits(ids.clone().map(|id| app.only_waits(id)).collect()),
                scale,
                speeds,
                on_cpu: ids.clone().map(|id| app.has_cpu_code(id)).collect(),
                on_device: ids
                    .map(|id| match real {
                        true => app.has_launch_code(id),
                        false => app.has_device_code(id),
                    })
                    .collect(),
            }
        });
        Ok(Machine {
            begin: Instant::now(),
            places,
            models,
            devices,
        })
    }

    /// What each worker is.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Wall time over the time that policies see.
    pub(crate) fn scale(&self) -> f64 {
        self.devices.as_ref().map_or(1.0, |devices| devices.scale)
    }

    /// Whether tasks need [`fetch`](Self::fetch) and [`finish`](Self::finish).
    pub(crate) fn has_devices(&self) -> bool {
        self.devices.is_some()
    }

    /// What `worker` drives, made on its own thread; `None` for workers that run tasks themselves.
    pub(crate) fn stream(&self, worker: WorkerId) -> Option<Result<StreamWorker, DeviceError>> {
        let memory = self.places[worker].memory;
        let real = self.devices.as_ref()?.coherence.real(memory)?;
        let before = self.places[..worker]
            .iter()
            .filter(|place| place.memory == memory);
        let scratch = real.scratch(before.count());
        Some(
            real.device()
                .stream()
                .map(|stream| StreamWorker { stream, scratch }),
        )
    }

    /// Where the data of `spec` lies on the real device of `worker`, once fetched.
    pub(crate) fn rooms(&self, worker: WorkerId, spec: &TaskSpec) -> Vec<Option<Arc<Room>>> {
        let devices = self.devices.as_ref().expect("a worker of a device");
        devices
            .coherence
            .rooms(spec, self.places[worker].memory)
            .into_vec()
    }

    /// Makes the data of `spec` valid where `worker` is, and waits until it is there.
    pub(crate) fn fetch(
        &self,
        worker: WorkerId,
        spec: &TaskSpec,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), FetchError> {
        let Some(devices) = &self.devices else {
            return Ok(());
        };
        let memory = self.places[worker].memory;
        let arrival = loop {
            // Asked first: who ends between the two questions has left room.
            let quiet = devices.coherence.is_quiet(memory);
            match devices.coherence.acquire(spec, memory, self.now()) {
                Ok(arrival) => break arrival,
                Err(_) if is_stopped() => return Err(FetchError::Stopped),
                Err(Refusal::Busy) => std::thread::sleep(Duration::from_micros(20)),
                Err(Refusal::Full(_)) if !quiet && devices.coherence.real(memory).is_some() => {
                    std::thread::sleep(Duration::from_micros(20));
                }
                Err(Refusal::Full(error)) => return Err(FetchError::OutOfMemory(error)),
            }
        };
        arrival.wait().map_err(FetchError::Device)?;
        self.wait_until(arrival.ns);
        Ok(())
    }

    /// `worker` has run `spec` since `begin`: its time passes, then its data is free to go.
    pub(crate) fn finish(&self, worker: WorkerId, spec: &TaskSpec, begin: Instant) {
        if let Some(devices) = &self.devices {
            let place = self.places[worker];
            let speed = devices.speeds[place.arch.0 as usize][spec.codelet.0 as usize];
            let length = begin.elapsed();
            wait(begin, length.mul_f64(devices.scale / speed));
            devices.coherence.release(spec, place.memory);
            if let Some(device) = usize::from(place.memory.0).checked_sub(1) {
                let (tasks, busy_ns, _) = &devices.done[device];
                tasks.fetch_add(1, Ordering::Relaxed);
                busy_ns.fetch_add(length.as_nanos() as u64, Ordering::Relaxed);
            }
        }
    }

    /// The times of the tasks of `worker`, a stream, are off by so much at most.
    pub(crate) fn note_clock_error(&self, worker: WorkerId, ticks: u64) {
        let device = usize::from(self.places[worker].memory.0).checked_sub(1);
        if let (Some(devices), Some(device)) = (&self.devices, device) {
            devices.done[device].2.fetch_max(ticks, Ordering::Relaxed);
        }
    }

    /// Tasks that each device has done, the time that its workers spent in them, and the error of its clock in ticks.
    pub(crate) fn done(&self) -> Vec<(u64, Duration, u64)> {
        let devices = self.devices.iter().flat_map(|devices| &devices.done);
        let done = devices.map(|(tasks, ns, error)| {
            let ns = Duration::from_nanos(ns.load(Ordering::Relaxed));
            let tasks = tasks.load(Ordering::Relaxed);
            (tasks, ns, error.load(Ordering::Relaxed))
        });
        done.collect()
    }

    /// The threads that copy to and from real devices, as what each does with its life; they end after [`Self::close_links`].
    pub(crate) fn copiers(&self) -> Vec<Box<dyn FnOnce() + Send + '_>> {
        let mut all: Vec<Box<dyn FnOnce() + Send + '_>> = Vec::new();
        if let Some(devices) = &self.devices {
            for node in (1..=devices.done.len() as u16).map(MemoryNode) {
                if let Some(real) = devices.coherence.real(node) {
                    let store = devices.coherence.store();
                    for jobs in real.take_receivers() {
                        all.push(Box::new(move || real.serve(&jobs, store)));
                    }
                }
            }
        }
        all
    }

    /// Nothing will be copied any more.
    pub(crate) fn close_links(&self) {
        if let Some(devices) = &self.devices {
            for node in (1..=devices.done.len() as u16).map(MemoryNode) {
                if let Some(real) = devices.coherence.real(node) {
                    real.close();
                }
            }
        }
    }

    /// When a task begins, if somebody wants to know its duration.
    pub(crate) fn stopwatch(&self) -> Option<Instant> {
        (self.models.is_some() || self.devices.is_some()).then(Instant::now)
    }

    /// `worker` has run `task` since `begin`, its time on this machine included, with the help of others for so long: alone it would have
    /// taken both.
    pub(crate) fn learn(&self, task: &Task, worker: WorkerId, begin: Instant, helped_ns: u64) {
        if let Some(models) = &self.models {
            let ns = (begin.elapsed().as_nanos() as f64 + helped_ns as f64) / self.scale();
            let arch = self.places[worker].arch;
            models.learn(task.codelet(), arch, task.flops(), ns);
        }
    }

    /// What moved since the last call.
    pub(crate) fn take_events(&self) -> Vec<Event> {
        let devices = self.devices.as_ref();
        devices.map_or_else(Vec::new, |devices| devices.coherence.take_events())
    }

    /// All tasks are done: all data goes home. After a failure nothing comes from real devices.
    pub(crate) fn flush(&self, failed: bool) -> Result<(), DeviceError> {
        if let Some(devices) = &self.devices {
            if failed && devices.coherence.real(MemoryNode(1)).is_some() {
                devices.coherence.abandon();
                return Ok(());
            }
            let arrival = devices.coherence.flush(self.now());
            arrival.wait()?;
            self.wait_until(arrival.ns);
        }
        Ok(())
    }

    /// What went over the links, by device.
    pub(crate) fn link_stats(&self) -> Vec<LinkStats> {
        let devices = self.devices.as_ref();
        devices.map_or_else(Vec::new, |devices| devices.coherence.stats())
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

/// What cost models call a real device: a task takes longer beside others on other streams.
fn real_name(accelerator: &Accelerator) -> String {
    format!(
        "{} streams={}",
        accelerator.device.name(),
        accelerator.streams
    )
}

/// The real devices that differ.
fn real_kinds(accelerators: &[Accelerator]) -> Vec<String> {
    let mut kinds = Vec::new();
    for name in accelerators.iter().map(real_name) {
        if !kinds.contains(&name) {
            kinds.push(name);
        }
    }
    kinds
}

impl Config {
    /// What cost models call the kinds of workers of such a run: the CPU, then the devices that differ.
    pub fn kinds(&self) -> Vec<String> {
        let mut names = vec!["cpu".to_owned()];
        let emulated = device_kinds(&self.devices);
        names.extend(emulated.iter().map(|kind| kind.model_name()));
        names.extend(real_kinds(&self.accelerators));
        names
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
        let Some(devices) = &self.devices else {
            return true;
        };
        let (memory, spec) = (self.places[worker].memory, task.spec());
        let codelet = spec.codelet.0 as usize;
        if memory == MemoryNode::HOST {
            let left = spec.device_first && devices.on_device[codelet] && devices.can_hold(spec);
            return devices.on_cpu[codelet] && !left;
        }
        // What nobody else can run may try, and fail for want of memory.
        let may = !spec.host_only || !devices.on_cpu[codelet];
        may && devices.on_device[codelet]
            && (!devices.on_cpu[codelet] || devices.coherence.fits(spec, memory))
    }

    fn duration_ns(&self, task: &Task, arch: Arch) -> Option<f64> {
        let models = self.models.as_ref()?;
        models.predict_ns(task.codelet(), arch, task.flops())
    }

    fn transfer_ns(&self, task: &Task, memory: MemoryNode) -> f64 {
        let devices = self.devices.as_ref();
        devices.map_or(0.0, |e| {
            e.coherence.transfer_ns(task.spec(), memory, self.now())
        })
    }

    fn missing(&self, task: &Task, memory: MemoryNode) -> Missing {
        let devices = self.devices.as_ref();
        devices.map_or_else(Missing::default, |e| {
            e.coherence.missing(task.spec(), memory, self.now())
        })
    }

    fn prefetch(&self, task: &Task, memory: MemoryNode) {
        if let Some(devices) = &self.devices {
            devices.coherence.prefetch(task.spec(), memory, self.now());
        }
    }
}
