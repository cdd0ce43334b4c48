//! A device that is the host: a memory of its own, and streams on threads that run behind their callers.
//!
//! Takes an [`Interpreter`], which knows what the kernels compute; behaves like a device to everybody else. For tests: what it is
//! asked for runs later and after random delays, its memory begins as NaN, and it fails on purpose. As on a device, a stream that
//! has failed stays failed, and the failure of something asked for is told later.
//!
//! One lock holds the memory, so there is no unsafe code and no data race; who forgets to wait for a stream still reads too early,
//! since commands of different streams run in any order.

use crate::command::{Gemm, Launch};
use crate::device::{Device, DeviceError, ErrorKind, Memory, Pinned, Span, Stream};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Runs commands on the host's copy of a device's memory. Addresses count from `base`.
pub trait Interpreter: Send + Sync {
    /// Runs a kernel.
    ///
    /// # Panics
    /// If there is no such kernel, or if it leaves the memory.
    fn launch(&self, launch: &Launch, memory: &mut [u8], base: u64);

    /// Runs a matrix product.
    ///
    /// # Panics
    /// If it leaves the memory.
    fn gemm(&self, gemm: &Gemm, memory: &mut [u8], base: u64);
}

/// What goes wrong on purpose, counted over all streams of the device, from 0; and what tells devices apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostFaults {
    /// This launch or product is refused.
    pub refuse: Option<u64>,
    /// This launch or product fails when it runs: seen by who waits.
    pub fail: Option<u64>,
    /// This copy fails.
    pub copy: Option<u64>,
    /// From this command on the device answers nothing any more.
    pub lose: Option<u64>,
    /// The device has no memory to give.
    pub no_memory: bool,
    /// From this one on it page-locks no more of the host's memory.
    pub no_pins_from: Option<u64>,
    /// Random pauses of up to so long before each command.
    pub delay: Duration,
    /// For the pauses.
    pub seed: u64,
    /// Devices with the same number copy from each other; with 0, from nobody.
    pub peers: u32,
    /// What its clock is from the beginning, in nanoseconds.
    pub clock_ns: u64,
    /// The part by which its clock runs fast, and how much more of that a second.
    pub clock_drift: (f64, f64),
}

/// What was page-locked, and the copies that it served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PinCounts {
    /// Ranges that were page-locked, in all.
    pub pinned: u64,
    /// Those that still are.
    pub now: u64,
    /// How often it was refused.
    pub refused: u64,
    /// Copies from and to memory that was page-locked.
    pub direct_copies: u64,
    /// All others.
    pub staged_copies: u64,
}

/// Where its memory begins: no address of it is small, so that a forgotten one is found.
const BASE: u64 = 1 << 40;

/// The device.
pub struct HostDevice {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    bytes: u64,
    interpreter: Arc<dyn Interpreter>,
    faults: HostFaults,
    memory: Mutex<Vec<u64>>,
    reserved: AtomicBool,
    commands: AtomicU64,
    copies: AtomicU64,
    lost: AtomicBool,
    /// Page-locked ranges: end by start.
    ranges: Mutex<BTreeMap<usize, usize>>,
    pins: Mutex<PinCounts>,
    since: Instant,
    spans: Mutex<Vec<(Instant, Instant)>>,
}

/// A range that is page-locked, as far as this device knows.
struct HostPin {
    device: Arc<Inner>,
    start: usize,
}

impl Pinned for HostPin {}

impl Drop for HostPin {
    fn drop(&mut self) {
        locked(&self.device.ranges).remove(&self.start);
        locked(&self.device.pins).now -= 1;
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostDevice {
    /// A device with a memory of `bytes`, of which one reservation can be had at a time.
    pub fn new(
        name: &str,
        bytes: u64,
        interpreter: Arc<dyn Interpreter>,
        faults: HostFaults,
    ) -> Self {
        HostDevice {
            inner: Arc::new(Inner {
                name: name.to_owned(),
                bytes,
                interpreter,
                faults,
                memory: Mutex::new(Vec::new()),
                reserved: AtomicBool::new(false),
                commands: AtomicU64::new(0),
                copies: AtomicU64::new(0),
                lost: AtomicBool::new(false),
                ranges: Mutex::default(),
                pins: Mutex::default(),
                since: Instant::now(),
                spans: Mutex::default(),
            }),
        }
    }

    /// When the work that streams have finished began and ended in truth, whatever its clock says, in the order of the ends.
    pub fn true_spans(&self) -> Vec<(Instant, Instant)> {
        locked(&self.inner.spans).clone()
    }

    /// What it has page-locked so far.
    pub fn pin_counts(&self) -> PinCounts {
        *locked(&self.inner.pins)
    }
}

impl fmt::Debug for HostDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "HostDevice {{ name: {:?}, bytes: {} }}",
            self.inner.name, self.inner.bytes
        )
    }
}

impl Inner {
    fn error(&self, doing: &'static str, what: &str) -> DeviceError {
        DeviceError::new(&self.name, doing, what, ErrorKind::Failed)
    }

    fn check(&self, doing: &'static str) -> Result<(), DeviceError> {
        match self.lost.load(Relaxed) {
            true => Err(self.error(doing, "the device is lost")),
            false => Ok(()),
        }
    }

    /// What its clock shows at a moment.
    fn clock(&self, at: Instant) -> u64 {
        let seconds = at.saturating_duration_since(self.since).as_secs_f64();
        let (fast, faster) = self.faults.clock_drift;
        let shown = seconds * (1.0 + fast + 0.5 * faster * seconds);
        self.faults.clock_ns + (shown * 1e9) as u64
    }

    /// Counts a copy from or to the host's `bytes`.
    fn count_copy(&self, bytes: &[u8]) {
        let start = bytes.as_ptr() as usize;
        let direct = {
            let ranges = locked(&self.ranges);
            let before = ranges.range(..=start).next_back();
            before.is_some_and(|(_, &end)| start + bytes.len() <= end)
        };
        let mut pins = locked(&self.pins);
        match direct {
            true => pins.direct_copies += 1,
            false => pins.staged_copies += 1,
        }
    }

    /// The bytes at `address`, in the memory that is lent.
    fn with_memory<R>(&self, work: impl FnOnce(&mut [u8]) -> R) -> R {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        work(bytemuck::cast_slice_mut(&mut memory))
    }
}

impl Device for HostDevice {
    fn name(&self) -> &str {
        &self.inner.name
    }

    fn memory(&self) -> Result<Memory, DeviceError> {
        let taken = self.inner.reserved.load(Relaxed);
        Ok(Memory {
            free_bytes: if taken { 0 } else { self.inner.bytes },
            total_bytes: self.inner.bytes,
        })
    }

    fn reserve(&self, bytes: u64) -> Result<u64, DeviceError> {
        let inner = &self.inner;
        inner.check("reserve memory")?;
        if inner.faults.no_memory || bytes > inner.bytes || inner.reserved.swap(true, Relaxed) {
            let what = format!("{bytes} bytes are not free");
            let kind = ErrorKind::OutOfMemory;
            return Err(DeviceError::new(&inner.name, "reserve memory", what, kind));
        }
        let mut memory = inner.memory.lock().unwrap_or_else(PoisonError::into_inner);
        *memory = vec![u64::MAX; bytes.div_ceil(8) as usize];
        Ok(BASE)
    }

    fn give_back(&self, _: u64) {
        self.inner.reserved.store(false, Relaxed);
        let mut memory = self
            .inner
            .memory
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *memory = Vec::new();
    }

    fn can_access_peer(&self, other: &dyn Device) -> bool {
        let group = self.inner.faults.peers;
        let other = other.as_any().downcast_ref::<HostDevice>();
        other.is_some_and(|other| group > 0 && other.inner.faults.peers == group)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn pin(&self, address: usize, bytes: usize) -> Result<Box<dyn Pinned>, DeviceError> {
        let doing = "page-lock memory";
        self.inner.check(doing)?;
        let limit = self.inner.faults.no_pins_from;
        let mut ranges = locked(&self.inner.ranges);
        let mut pins = locked(&self.inner.pins);
        let overlaps = ranges
            .range(..address + bytes)
            .any(|(_, &end)| end > address);
        if overlaps || limit.is_some_and(|limit| pins.pinned >= limit) {
            pins.refused += 1;
            return Err(self.inner.error(doing, "refused on purpose"));
        }
        ranges.insert(address, address + bytes);
        (pins.pinned, pins.now) = (pins.pinned + 1, pins.now + 1);
        Ok(Box::new(HostPin {
            device: self.inner.clone(),
            start: address,
        }))
    }

    fn stream(&self) -> Result<Box<dyn Stream>, DeviceError> {
        self.inner.check("create a stream")?;
        let (sender, receiver) = channel::<Work>();
        let inner = self.inner.clone();
        let spawned = std::thread::Builder::new().spawn(move || {
            let mut runner = Runner::new(inner);
            while let Ok(work) = receiver.recv() {
                runner.run(work);
            }
        });
        spawned.map_err(|e| self.inner.error("create a stream", &e.to_string()))?;
        Ok(Box::new(HostStream {
            device: self.inner.clone(),
            sender,
        }))
    }
}

enum Work {
    Begin,
    Launch(Launch),
    Gemm(Gemm),
    Put(Vec<u8>, u64),
    Now(Sender<Result<u64, DeviceError>>),
    Finish(Sender<Result<Span, DeviceError>>),
}

/// The thread behind a stream.
struct Runner {
    device: Arc<Inner>,
    begin: Instant,
    failed: Option<DeviceError>,
    random: u64,
}

impl Runner {
    fn new(device: Arc<Inner>) -> Self {
        let random = device.faults.seed.wrapping_mul(2).wrapping_add(1);
        Runner {
            device,
            begin: Instant::now(),
            failed: None,
            random,
        }
    }

    fn run(&mut self, work: Work) {
        match work {
            Work::Begin => self.begin = Instant::now(),
            Work::Launch(launch) => self.compute(|device| {
                let run = |memory: &mut [u8]| device.interpreter.launch(&launch, memory, BASE);
                device.with_memory(run);
            }),
            Work::Gemm(gemm) => self.compute(|device| {
                device.with_memory(|memory| device.interpreter.gemm(&gemm, memory, BASE));
            }),
            Work::Put(from, to) => self.compute(|device| {
                device.with_memory(|memory| memory[range(to, from.len())].copy_from_slice(&from));
            }),
            Work::Now(answer) => {
                let now = self.device.clock(Instant::now());
                let _ = answer.send(self.device.check("read its clock").map(|()| now));
            }
            Work::Finish(answer) => {
                let done = match (&self.failed, self.device.check("wait")) {
                    (Some(error), _) => Err(error.clone()),
                    (None, Err(error)) => Err(error),
                    (None, Ok(())) => {
                        let end = Instant::now();
                        locked(&self.device.spans).push((self.begin, end));
                        Ok(Span {
                            begin_ns: self.device.clock(self.begin),
                            end_ns: self.device.clock(end),
                        })
                    }
                };
                // Who asked may be gone.
                let _ = answer.send(done);
            }
        }
    }

    fn compute(&mut self, work: impl FnOnce(&Inner)) {
        let device = self.device.clone();
        let number = device.commands.fetch_add(1, Relaxed);
        if device.faults.lose.is_some_and(|from| number >= from) {
            device.lost.store(true, Relaxed);
        }
        if device.faults.fail == Some(number) {
            self.failed = Some(device.error("run a kernel", "it failed on purpose"));
        }
        if self.failed.is_some() || device.lost.load(Relaxed) {
            return;
        }
        self.pause();
        if catch_unwind(AssertUnwindSafe(|| work(&device))).is_err() {
            self.failed = Some(device.error("run a kernel", "it left the memory"));
        }
    }

    fn pause(&mut self) {
        let most = self.device.faults.delay;
        if !most.is_zero() {
            self.random = self
                .random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            std::thread::sleep(most.mul_f64((self.random >> 40) as f64 / (1u64 << 24) as f64));
        }
    }
}

struct HostStream {
    device: Arc<Inner>,
    sender: Sender<Work>,
}

impl HostStream {
    fn send(&self, doing: &'static str, work: Work) -> Result<(), DeviceError> {
        let gone = |_| self.device.error(doing, "the stream has ended");
        self.sender.send(work).map_err(gone)
    }

    fn ask(&self, doing: &'static str) -> Result<(), DeviceError> {
        self.device.check(doing)?;
        let faults = &self.device.faults;
        match faults.refuse {
            Some(at) if self.device.commands.load(Relaxed) >= at => {
                Err(self.device.error(doing, "refused on purpose"))
            }
            _ => Ok(()),
        }
    }

    fn copy(&self, doing: &'static str, copy: impl FnOnce(&mut [u8])) -> Result<(), DeviceError> {
        self.device.check(doing)?;
        let number = self.device.copies.fetch_add(1, Relaxed);
        if self.device.faults.copy == Some(number) {
            return Err(self.device.error(doing, "it failed on purpose"));
        }
        if !self.device.faults.delay.is_zero() {
            std::thread::sleep(self.device.faults.delay / 4);
        }
        self.device.with_memory(copy);
        Ok(())
    }
}

/// The bytes from `address` on, as a range of the memory.
fn range(address: u64, bytes: usize) -> std::ops::Range<usize> {
    let start = (address - BASE) as usize;
    start..start + bytes
}

impl Stream for HostStream {
    fn upload(&mut self, from: &[u8], to: u64) -> Result<(), DeviceError> {
        self.device.count_copy(from);
        self.copy("copy to the device", |memory| {
            memory[range(to, from.len())].copy_from_slice(from);
        })
    }

    fn download(&mut self, from: u64, to: &mut [u8]) -> Result<(), DeviceError> {
        self.device.count_copy(to);
        self.copy("copy from the device", |memory| {
            to.copy_from_slice(&memory[range(from, to.len())]);
        })
    }

    fn copy_peer(
        &mut self,
        other: &dyn Device,
        from: u64,
        to: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        let doing = "copy from a peer";
        let other = match other.as_any().downcast_ref::<HostDevice>() {
            Some(other) if self.device.faults.peers > 0 => &other.inner,
            _ => return Err(self.device.error(doing, "it is no peer")),
        };
        other.check(doing)?;
        // One memory after the other: two devices may copy from each other.
        let taken = other.with_memory(|memory| memory[range(from, bytes as usize)].to_vec());
        self.copy(doing, |memory| {
            memory[range(to, taken.len())].copy_from_slice(&taken);
        })
    }

    fn clear(&mut self, to: u64, bytes: u64) -> Result<(), DeviceError> {
        self.copy("clear memory", |memory| {
            memory[range(to, bytes as usize)].fill(0);
        })
    }

    fn put(&mut self, from: &[u8], to: u64) -> Result<(), DeviceError> {
        self.ask("copy a list")?;
        self.send("copy a list", Work::Put(from.to_vec(), to))
    }

    fn now(&mut self) -> Result<u64, DeviceError> {
        let (sender, receiver) = channel();
        self.send("read its clock", Work::Now(sender))?;
        let gone = |_| self.device.error("read its clock", "the stream has ended");
        receiver.recv().map_err(gone)?
    }

    fn begin(&mut self) -> Result<(), DeviceError> {
        self.send("begin", Work::Begin)
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), DeviceError> {
        self.ask("launch a kernel")?;
        self.send("launch a kernel", Work::Launch(launch.clone()))
    }

    fn gemm(&mut self, gemm: &Gemm) -> Result<(), DeviceError> {
        self.ask("multiply matrices")?;
        self.send("multiply matrices", Work::Gemm(*gemm))
    }

    fn finish(&mut self) -> Result<Span, DeviceError> {
        let (sender, receiver) = channel();
        self.send("wait", Work::Finish(sender))?;
        let gone = |_| self.device.error("wait", "the stream has ended");
        receiver.recv().map_err(gone)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::ScalarKind;

    /// Adds one to the first byte at the address.
    struct AddOne;

    impl Interpreter for AddOne {
        fn launch(&self, launch: &Launch, memory: &mut [u8], base: u64) {
            let crate::command::Arg::Address(at) = launch.args[0] else {
                panic!("an address first");
            };
            memory[(at - base) as usize] += 1;
        }
        fn gemm(&self, _: &Gemm, _: &mut [u8], _: u64) {}
    }

    fn device(faults: HostFaults) -> HostDevice {
        HostDevice::new("host0", 1 << 12, Arc::new(AddOne), faults)
    }

    fn add(at: u64) -> Launch {
        Launch {
            kernel: "add",
            scalar: ScalarKind::F64,
            blocks: 1,
            threads: 32,
            args: vec![crate::command::Arg::Address(at)],
        }
    }

    #[test]
    fn commands_run_in_order_behind_their_caller() {
        let faults = HostFaults {
            delay: Duration::from_millis(2),
            ..HostFaults::default()
        };
        let device = device(faults);
        let at = device.reserve(64).unwrap();
        let mut stream = device.stream().unwrap();
        stream.upload(&[7; 64], at).unwrap();
        stream.begin().unwrap();
        for _ in 0..5 {
            stream.launch(&add(at + 3)).unwrap();
        }
        stream.finish().unwrap();
        let mut bytes = [0; 5];
        stream.download(at, &mut bytes).unwrap();
        assert_eq!(bytes, [7, 7, 7, 12, 7]);
        // A list comes between the kernels before and after it; what was asked for is not changed any more.
        let mut list = [20, 30];
        stream.launch(&add(at + 3)).unwrap();
        stream.put(&list, at + 3).unwrap();
        list.fill(99);
        stream.launch(&add(at + 3)).unwrap();
        stream.finish().unwrap();
        stream.clear(at, 2).unwrap();
        stream.download(at, &mut bytes).unwrap();
        assert_eq!(bytes, [0, 0, 7, 21, 30]);
    }

    #[test]
    fn every_fault_is_an_error_and_stays_one() {
        let told = |faults: HostFaults| {
            let device = device(faults);
            let at = device.reserve(64)?;
            let mut stream = device.stream()?;
            let mut bytes = [1; 8];
            stream.upload(&bytes, at)?;
            for _ in 0..4 {
                stream.launch(&add(at))?;
                stream.finish()?;
            }
            stream.download(at, &mut bytes)
        };
        assert_eq!(told(HostFaults::default()), Ok(()));
        let kinds: [fn(&mut HostFaults); 5] = [
            |f| f.refuse = Some(2),
            |f| f.fail = Some(2),
            |f| f.copy = Some(1),
            |f| f.lose = Some(3),
            |f| f.no_memory = true,
        ];
        let errors = kinds.map(|set| {
            let mut faults = HostFaults::default();
            set(&mut faults);
            told(faults).unwrap_err().to_string()
        });
        assert_eq!(
            errors,
            [
                "host0: launch a kernel: refused on purpose",
                "host0: run a kernel: it failed on purpose",
                "host0: copy from the device: it failed on purpose",
                "host0: wait: the device is lost",
                "host0: reserve memory: 64 bytes are not free",
            ]
        );
        let device = device(HostFaults::default());
        device.reserve(64).unwrap();
        let mut stream = device.stream().unwrap();
        stream.launch(&add(BASE + 64)).unwrap();
        assert_eq!(stream.finish().unwrap_err().what, "it left the memory");
        assert!(
            stream.finish().is_err(),
            "a stream that failed stays failed"
        );
    }
}
