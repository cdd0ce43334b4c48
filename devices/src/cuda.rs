//! CUDA behind the traits of `device.rs`: driver and cuBLAS by cudarc, which looks for them at run time.
//!
//! Takes an ordinal and the kernels as PTX; gives a [`Device`]. Long because it is the only file with unsafe code here: all calls of
//! foreign functions. What they rely on:
//!
//! * Handles (context, modules, functions, streams, events, cuBLAS, pinned memory) live in one value that destroys them when it is
//!   dropped, after what depends on them: everything holds the [`Context`] by an `Arc`. Every call makes the context current on its
//!   thread first.
//! * Host memory that a copy touches is pinned memory of the stream, or the caller's slice if that is page-locked. In the first case the
//!   copy from or to the slice is an ordinary one, made before the device reads the chunk or after it has written it. No method returns
//!   while the device still uses a chunk or a slice: it is borrowed all the time.
//! * To page-lock a range neither reads nor writes it, and the driver refuses what is not mapped. Whoever asks for it keeps the mapping
//!   until the range is given back ([`Device::pin`]).
//! * Addresses of device memory are numbers; a wrong one can make the device fail, and does nothing to the host.
//! * Arguments of kernels have the sizes that the sources in `kernels/cuda/` declare; `kernels/src/device/launch.rs` is the one
//!   place that makes them, and tests run the same lists with the same sources compiled for the host.

use crate::command::{Arg, Gemm, Launch, ScalarKind};
use crate::device::{Device, DeviceError, ErrorKind, Memory, Pinned, Span, Stream};
use cudarc::cublas::{result as blas, sys as blas_sys};
use cudarc::driver::{result as driver, sys};
use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{CString, c_int, c_void};
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Kernels in NVIDIA's portable assembly.
#[derive(Clone, Copy, Debug)]
pub struct Module {
    /// For errors.
    pub name: &'static str,
    /// The text.
    pub ptx: &'static str,
}

/// Bytes of a chunk of pinned memory; a stream that copies has two of them.
const CHUNK_BYTES: usize = 4 << 20;

/// Bytes of pinned memory for lists that kernels need: those of some tasks.
const LIST_BYTES: usize = 1 << 20;

/// How long a thread asks again and again before it sleeps until the device is done: kernels take about as long.
const AWAKE: Duration = Duration::from_micros(200);

/// Ranges of host memory that are page-locked for all devices: end by start.
static PINNED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn pinned_ranges() -> std::sync::MutexGuard<'static, BTreeMap<usize, usize>> {
    PINNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether all of `bytes` is page-locked.
fn is_pinned(bytes: &[u8]) -> bool {
    let start = bytes.as_ptr() as usize;
    let ranges = pinned_ranges();
    let before = ranges.range(..=start).next_back();
    before.is_some_and(|(_, &end)| start + bytes.len() <= end)
}

/// A range that is page-locked.
struct CudaPin {
    context: Arc<Context>,
    start: usize,
}

impl Pinned for CudaPin {}

impl Drop for CudaPin {
    fn drop(&mut self) {
        pinned_ranges().remove(&self.start);
        if self.context.enter().is_ok() {
            // SAFETY: a range that was page-locked; no copy uses it, since copies borrow what they touch. An error changes nothing.
            let _ = unsafe { sys::cuMemHostUnregister(self.start as *mut c_void) };
        }
    }
}

/// What the driver says of a device, without opening it.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) name: String,
    pub(crate) total_bytes: u64,
    pub(crate) major: i32,
    pub(crate) minor: i32,
    /// How many times slower double precision is than single.
    pub(crate) double_ratio: i32,
}

/// The oldest compute capability that the kernels are written for.
pub(crate) const OLDEST: (i32, i32) = (7, 0);

fn text(error: driver::DriverError) -> String {
    let name = error
        .error_name()
        .map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|_| format!("{:?}", error.0))
}

fn kind_of(error: driver::DriverError) -> ErrorKind {
    match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => ErrorKind::OutOfMemory,
        _ => ErrorKind::Failed,
    }
}

/// What a call gives, or why there is none; a function that the library lacks is an error too.
fn calling<R>(call: impl FnOnce() -> Result<R, String>) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err("the library lacks a function".to_owned()))
}

/// The driver's version as CUDA counts (12040 for 12.4) and its devices, or what is missing.
pub(crate) fn facts() -> Result<(i32, Vec<Facts>), String> {
    // SAFETY: looks for a library by its name and loads it; the driver's initialisation has no precondition.
    if !unsafe { sys::is_culib_present() } {
        return Err("no CUDA driver (libcuda.so)".to_owned());
    }
    calling(|| {
        driver::init().map_err(|e| format!("the CUDA driver does not start: {}", text(e)))?;
        let mut version: c_int = 0;
        // SAFETY: writes one integer.
        let asked = unsafe { sys::cuDriverGetVersion(&mut version) }.result();
        asked.map_err(text)?;
        let count = driver::device::get_count().map_err(text)?;
        let all = (0..count).map(|ordinal| {
            let device = driver::device::get(ordinal).map_err(text)?;
            let attribute = |which| {
                // SAFETY: a device that the driver has just given.
                unsafe { driver::device::get_attribute(device, which) }.map_err(text)
            };
            use sys::CUdevice_attribute as Which;
            Ok(Facts {
                name: driver::device::get_name(device).map_err(text)?,
                // SAFETY: as above.
                total_bytes: unsafe { driver::device::total_mem(device) }.map_err(text)? as u64,
                major: attribute(Which::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                minor: attribute(Which::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
                double_ratio: attribute(
                    Which::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO,
                )?,
            })
        });
        Ok((version, all.collect::<Result<_, String>>()?))
    })
}

/// Whether cuBLAS is there.
pub(crate) fn has_blas() -> bool {
    // SAFETY: looks for a library by its name and loads it.
    unsafe { blas_sys::is_culib_present() }
}

/// The device `ordinal` with `modules` loaded.
///
/// # Errors
/// If a library is missing or too old, or the device does not answer.
pub fn open(ordinal: usize, modules: &[Module]) -> Result<Arc<dyn Device>, DeviceError> {
    let label = format!("cuda{ordinal}");
    let unusable = |what: String| DeviceError::new(&label, "open", what, ErrorKind::Unusable);
    let (_, all) = facts().map_err(unusable)?;
    let facts = all
        .get(ordinal)
        .ok_or_else(|| unusable("there is no such device".to_owned()))?;
    if (facts.major, facts.minor) < OLDEST {
        return Err(unusable(format!(
            "compute capability {}.{} is too old",
            facts.major, facts.minor
        )));
    }
    if !has_blas() {
        return Err(unusable("no cuBLAS (libcublas.so)".to_owned()));
    }
    let context = calling(|| Context::new(ordinal, label.clone(), modules)).map_err(unusable)?;
    Ok(Arc::new(Cuda {
        name: facts.name.clone(),
        context: Arc::new(context),
    }))
}

/// The primary context of a device and the kernels in it.
struct Context {
    label: String,
    device: sys::CUdevice,
    context: sys::CUcontext,
    modules: Vec<sys::CUmodule>,
    functions: Mutex<HashMap<(&'static str, ScalarKind), Function>>,
}

/// A kernel's handle.
#[derive(Clone, Copy)]
struct Function(sys::CUfunction);

// SAFETY: the driver's handles may be used from any thread that has the context current.
unsafe impl Send for Function {}
// SAFETY: as above; what changes here is behind a lock.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    fn new(ordinal: usize, label: String, modules: &[Module]) -> Result<Self, String> {
        let device = driver::device::get(ordinal as c_int).map_err(text)?;
        // SAFETY: a device of the driver; released when this value is dropped.
        let context = unsafe { driver::primary_ctx::retain(device) }.map_err(text)?;
        let mut made = Context {
            label,
            device,
            context,
            modules: Vec::new(),
            functions: Mutex::default(),
        };
        // SAFETY: the context that was just retained.
        unsafe { driver::ctx::set_current(context) }.map_err(text)?;
        for module in modules {
            let image = CString::new(module.ptx).map_err(|_| "a zero in the PTX".to_owned())?;
            // SAFETY: text that ends with a zero, as the driver wants PTX.
            let loaded = unsafe { driver::module::load_data(image.as_ptr().cast()) };
            made.modules.push(loaded.map_err(|e| match e.0 {
                sys::CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
                    "the CUDA driver is too old for the kernels".to_owned()
                }
                _ => format!("cannot load the kernels `{}`: {}", module.name, text(e)),
            })?);
        }
        Ok(made)
    }

    /// Makes the context current on this thread.
    fn enter(&self) -> Result<(), DeviceError> {
        // SAFETY: the context lives as long as `self`.
        self.driver("use the context", unsafe {
            driver::ctx::set_current(self.context)
        })
    }

    fn driver<R>(
        &self,
        doing: &'static str,
        done: Result<R, driver::DriverError>,
    ) -> Result<R, DeviceError> {
        done.map_err(|e| DeviceError::new(&self.label, doing, text(e), kind_of(e)))
    }

    fn blas<R>(
        &self,
        doing: &'static str,
        done: Result<R, blas::CublasError>,
    ) -> Result<R, DeviceError> {
        done.map_err(|e| self.error(doing, e))
    }

    fn error(&self, doing: &'static str, what: impl Display) -> DeviceError {
        DeviceError::new(&self.label, doing, what, ErrorKind::Failed)
    }

    fn function(&self, kernel: &'static str, scalar: ScalarKind) -> Result<Function, DeviceError> {
        let mut known = self
            .functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(&function) = known.get(&(kernel, scalar)) {
            return Ok(function);
        }
        let name = format!("{kernel}_{}", scalar.name());
        for &module in &self.modules {
            let name = CString::new(name.clone()).expect("names of kernels have no zeros");
            // SAFETY: a module that lives as long as `self`.
            if let Ok(function) = unsafe { driver::module::get_function(module, name) } {
                known.insert((kernel, scalar), Function(function));
                return Ok(Function(function));
            }
        }
        Err(self.error("find a kernel", format!("there is no `{name}`")))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: nobody else has the handles any more; errors at the end change nothing.
        unsafe {
            let _ = driver::ctx::set_current(self.context);
            for &module in &self.modules {
                let _ = driver::module::unload(module);
            }
            let _ = driver::primary_ctx::release(self.device);
        }
    }
}

/// The device.
struct Cuda {
    name: String,
    context: Arc<Context>,
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cuda {{ {}: {} }}", self.context.label, self.name)
    }
}

impl Device for Cuda {
    fn name(&self) -> &str {
        &self.name
    }

    fn memory(&self) -> Result<Memory, DeviceError> {
        self.context.enter()?;
        let (free, total) = self
            .context
            .driver("ask for its memory", driver::mem_get_info())?;
        Ok(Memory {
            free_bytes: free as u64,
            total_bytes: total as u64,
        })
    }

    fn reserve(&self, bytes: u64) -> Result<u64, DeviceError> {
        self.context.enter()?;
        // SAFETY: given back by `give_back`.
        let reserved = unsafe { driver::malloc_sync(bytes as usize) };
        self.context.driver("reserve memory", reserved)
    }

    fn give_back(&self, address: u64) {
        if self.context.enter().is_ok() {
            // SAFETY: an address that `reserve` gave; the caller has ended what used it.
            let _ = unsafe { driver::free_sync(address) };
        }
    }

    fn can_access_peer(&self, other: &dyn Device) -> bool {
        let Some(other) = other.as_any().downcast_ref::<Cuda>() else {
            return false;
        };
        let (here, there) = (&*self.context, &*other.context);
        let mut can: c_int = 0;
        // SAFETY: writes one integer; both are devices of the driver.
        let asked = unsafe { sys::cuDeviceCanAccessPeer(&mut can, here.device, there.device) };
        if asked.result().is_err() || can == 0 || here.enter().is_err() {
            return false;
        }
        // SAFETY: the context lives as long as `other`, and so do its addresses, which are all that a copy takes from it.
        let enabled = unsafe { sys::cuCtxEnablePeerAccess(there.context, 0) };
        matches!(
            enabled,
            sys::CUresult::CUDA_SUCCESS | sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
        )
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn pin(&self, address: usize, bytes: usize) -> Result<Box<dyn Pinned>, DeviceError> {
        self.context.enter()?;
        let flags = sys::CU_MEMHOSTREGISTER_PORTABLE;
        // SAFETY: the driver refuses what is not mapped, and neither reads nor writes it; the caller keeps it (head of this file).
        let done = unsafe { sys::cuMemHostRegister_v2(address as *mut c_void, bytes, flags) };
        self.context.driver("page-lock memory", done.result())?;
        pinned_ranges().insert(address, address + bytes);
        Ok(Box::new(CudaPin {
            context: self.context.clone(),
            start: address,
        }))
    }

    fn stream(&self) -> Result<Box<dyn Stream>, DeviceError> {
        Ok(Box::new(CudaStream::new(self.context.clone())?))
    }
}

/// A stream with its events, its cuBLAS handle and its pinned memory, the last two made when they are first needed.
struct CudaStream {
    context: Arc<Context>,
    stream: sys::CUstream,
    begin: sys::CUevent,
    end: sys::CUevent,
    /// The event of the last reading of its clock, what it showed, and the event for the next one. Times are counted from the last
    /// reading, since the driver gives them as single precision.
    origin: sys::CUevent,
    origin_ns: f64,
    next: sys::CUevent,
    chunks: Vec<Chunk>,
    lists: Option<Lists>,
    handle: Option<blas_sys::cublasHandle_t>,
    functions: HashMap<(&'static str, ScalarKind), Function>,
}

// SAFETY: the handles may be used from any thread with the context current, by one at a time: all methods take `&mut self`.
unsafe impl Send for CudaStream {}

/// Pinned memory, and the event after the last copy that touches it.
struct Chunk {
    start: *mut c_void,
    copied: sys::CUevent,
}

/// Pinned memory for lists, each written behind the one before; the device may still read what is used.
struct Lists {
    start: *mut c_void,
    used: usize,
}

impl CudaStream {
    fn new(context: Arc<Context>) -> Result<Self, DeviceError> {
        context.enter()?;
        let doing = "create a stream";
        let stream = context.driver(
            doing,
            driver::stream::create(driver::stream::StreamKind::NonBlocking),
        )?;
        let mut made = CudaStream {
            context,
            stream,
            begin: std::ptr::null_mut(),
            end: std::ptr::null_mut(),
            origin: std::ptr::null_mut(),
            origin_ns: 0.0,
            next: std::ptr::null_mut(),
            chunks: Vec::new(),
            lists: None,
            handle: None,
            functions: HashMap::new(),
        };
        made.begin = made.event(doing)?;
        made.end = made.event(doing)?;
        made.origin = made.event(doing)?;
        made.next = made.event(doing)?;
        made.record(made.origin)?;
        Ok(made)
    }

    fn event(&self, doing: &'static str) -> Result<sys::CUevent, DeviceError> {
        let flags = sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC;
        self.context.driver(doing, driver::event::create(flags))
    }

    fn record(&self, event: sys::CUevent) -> Result<(), DeviceError> {
        // SAFETY: event and stream are of `self`.
        let recorded = unsafe { driver::event::record(event, self.stream) };
        self.context.driver("record an event", recorded)
    }

    /// What its clock showed at an event, which has passed as the last reading has.
    fn shown_ns(&self, event: sys::CUevent) -> Result<f64, DeviceError> {
        // SAFETY: both events are of `self`; the driver says so if one was never recorded.
        let ms = unsafe { driver::event::elapsed(self.origin, event) };
        let ms = self.context.driver("measure", ms)?;
        Ok(self.origin_ns + f64::from(ms.max(0.0)) * 1e6)
    }

    /// Awake at first, then asleep.
    fn wait(&self, event: sys::CUevent) -> Result<(), DeviceError> {
        let since = Instant::now();
        while since.elapsed() < AWAKE {
            // SAFETY: an event of `self`.
            match unsafe { driver::event::query(event) } {
                Err(e) if e.0 == sys::CUresult::CUDA_ERROR_NOT_READY => std::thread::yield_now(),
                done => return self.context.driver("wait", done),
            }
        }
        // SAFETY: an event of `self`.
        self.context
            .driver("wait", unsafe { driver::event::synchronize(event) })
    }

    /// The two chunks for copies.
    fn prepare_chunks(&mut self) -> Result<(), DeviceError> {
        while self.chunks.len() < 2 {
            // SAFETY: freed when `self` is dropped. The memory is written before it is read, by the device or by `copy_to`.
            let start = unsafe { driver::malloc_host(CHUNK_BYTES, 0) };
            let start = self.context.driver("take pinned memory", start)?;
            match self.event("take pinned memory") {
                Ok(copied) => self.chunks.push(Chunk { start, copied }),
                Err(error) => {
                    // SAFETY: taken above, used by nobody.
                    let _ = unsafe { driver::free_host(start) };
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// The place of a list of `len` bytes, at most [`LIST_BYTES`]: nobody reads there any more.
    fn list_place(&mut self, len: usize) -> Result<*mut u8, DeviceError> {
        if self.lists.is_none() {
            // SAFETY: freed when `self` is dropped. The memory is written before the device reads it.
            let start = unsafe { driver::malloc_host(LIST_BYTES, 0) };
            let start = self.context.driver("take pinned memory", start)?;
            self.lists = Some(Lists { start, used: 0 });
        }
        let lists = self.lists.as_mut().expect("it was just made");
        if lists.used + len > LIST_BYTES {
            // SAFETY: a stream of `self`.
            let quiet = unsafe { driver::stream::synchronize(self.stream) };
            self.context.driver("wait", quiet)?;
            lists.used = 0;
        }
        // SAFETY: `used + len` is at most the length of this memory.
        let place = unsafe { lists.start.cast::<u8>().add(lists.used) };
        lists.used += len;
        Ok(place)
    }

    /// Waits for the copies that may still go on: before memory is touched or an error is told.
    fn settle<R>(&self, done: Result<R, DeviceError>) -> Result<R, DeviceError> {
        // SAFETY: a stream of `self`.
        let quiet = unsafe { driver::stream::synchronize(self.stream) };
        let done = done?;
        self.context.driver("wait", quiet)?;
        Ok(done)
    }

    fn upload_chunks(&self, from: &[u8], to: u64) -> Result<(), DeviceError> {
        for (k, part) in from.chunks(CHUNK_BYTES).enumerate() {
            let chunk = &self.chunks[k % 2];
            if k >= 2 {
                self.wait(chunk.copied)?;
            }
            // SAFETY: the chunk has CHUNK_BYTES, at least those of `part`, and the device has read what it held before.
            let pinned = unsafe {
                std::ptr::copy_nonoverlapping(part.as_ptr(), chunk.start.cast::<u8>(), part.len());
                std::slice::from_raw_parts(chunk.start.cast::<u8>(), part.len())
            };
            let at = to + (k * CHUNK_BYTES) as u64;
            // SAFETY: pinned memory of `self`, not touched before its event.
            let copied = unsafe { driver::memcpy_htod_async(at, pinned, self.stream) };
            self.context.driver("copy to the device", copied)?;
            self.record(chunk.copied)?;
        }
        Ok(())
    }

    fn download_chunks(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError> {
        let count = to.len().div_ceil(CHUNK_BYTES);
        let ask = |k: usize, len: usize| {
            let chunk = &self.chunks[k % 2];
            let at = from + (k * CHUNK_BYTES) as u64;
            // SAFETY: a chunk has CHUNK_BYTES, at least `len`; nobody reads it before its event.
            let copied = unsafe { sys::cuMemcpyDtoHAsync_v2(chunk.start, at, len, self.stream) };
            self.context
                .driver("copy from the device", copied.result())?;
            self.record(chunk.copied)
        };
        let total = to.len();
        let length = |k: usize| CHUNK_BYTES.min(total - k * CHUNK_BYTES);
        for k in 0..count.min(2) {
            ask(k, length(k))?;
        }
        for (k, part) in to.chunks_mut(CHUNK_BYTES).enumerate() {
            let chunk = &self.chunks[k % 2];
            self.wait(chunk.copied)?;
            // SAFETY: the device has written `part.len()` bytes of the chunk, and its event has passed.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    chunk.start.cast::<u8>(),
                    part.as_mut_ptr(),
                    part.len(),
                )
            };
            if k + 2 < count {
                ask(k + 2, length(k + 2))?;
            }
        }
        Ok(())
    }

    fn blas_handle(&mut self) -> Result<blas_sys::cublasHandle_t, DeviceError> {
        if let Some(handle) = self.handle {
            return Ok(handle);
        }
        let doing = "start cuBLAS";
        let made = calling(|| Ok(blas::create_handle()));
        let handle = made.map_err(|what| self.context.error(doing, what))?;
        let handle = self.context.blas(doing, handle)?;
        self.handle = Some(handle);
        // SAFETY: handle and stream are of `self`; the two libraries' stream types are the same pointer.
        let set = unsafe { blas::set_stream(handle, self.stream.cast()) };
        self.context.blas(doing, set)?;
        Ok(handle)
    }
}

impl Stream for CudaStream {
    fn prepare(&mut self) -> Result<(), DeviceError> {
        self.context.enter()?;
        self.blas_handle()?;
        Ok(())
    }

    fn upload(&mut self, from: &[u8], to: u64) -> Result<(), DeviceError> {
        self.context.enter()?;
        if is_pinned(from) {
            // SAFETY: `from` is borrowed until the stream has been waited for.
            let copied = unsafe { driver::memcpy_htod_async(to, from, self.stream) };
            let done = self.context.driver("copy to the device", copied);
            return self.settle(done);
        }
        self.prepare_chunks()?;
        let done = self.upload_chunks(from, to);
        self.settle(done)
    }

    fn download(&mut self, from: u64, to: &mut [u8]) -> Result<(), DeviceError> {
        self.context.enter()?;
        if is_pinned(to) {
            let (start, len) = (to.as_mut_ptr().cast(), to.len());
            // SAFETY: `to` is borrowed alone until the stream has been waited for.
            let copied = unsafe { sys::cuMemcpyDtoHAsync_v2(start, from, len, self.stream) };
            let done = self.context.driver("copy from the device", copied.result());
            return self.settle(done);
        }
        self.prepare_chunks()?;
        let done = self.download_chunks(from, to);
        self.settle(done)
    }

    fn copy_peer(
        &mut self,
        other: &dyn Device,
        from: u64,
        to: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        let doing = "copy from a peer";
        let Some(other) = other.as_any().downcast_ref::<Cuda>() else {
            return Err(self.context.error(doing, "it is no CUDA device"));
        };
        self.context.enter()?;
        let (here, there) = (self.context.context, other.context.context);
        // SAFETY: contexts that live as long as the two devices; addresses of theirs, see above; waited for before it returns.
        let copied = unsafe {
            driver::memcpy_peer_async(here, to, there, from, bytes as usize, self.stream)
        };
        let done = self.context.driver(doing, copied);
        self.settle(done)
    }

    fn clear(&mut self, to: u64, bytes: u64) -> Result<(), DeviceError> {
        self.context.enter()?;
        // SAFETY: addresses of the device, see above.
        let cleared = unsafe { driver::memset_d8_async(to, 0, bytes as usize, self.stream) };
        let done = self.context.driver("clear memory", cleared);
        self.settle(done)
    }

    fn put(&mut self, from: &[u8], to: u64) -> Result<(), DeviceError> {
        self.context.enter()?;
        for (k, part) in from.chunks(LIST_BYTES).enumerate() {
            let place = self.list_place(part.len())?;
            // SAFETY: the place has the length of `part`, and neither the device nor anybody else uses it.
            let pinned = unsafe {
                std::ptr::copy_nonoverlapping(part.as_ptr(), place, part.len());
                std::slice::from_raw_parts(place, part.len())
            };
            let at = to + (k * LIST_BYTES) as u64;
            // SAFETY: pinned memory of `self`, which is written again only after the stream has been waited for.
            let copied = unsafe { driver::memcpy_htod_async(at, pinned, self.stream) };
            self.context.driver("copy a list", copied)?;
        }
        Ok(())
    }

    fn now(&mut self) -> Result<u64, DeviceError> {
        self.context.enter()?;
        self.record(self.next)?;
        self.wait(self.next)?;
        self.origin_ns = self.shown_ns(self.next)?;
        std::mem::swap(&mut self.origin, &mut self.next);
        Ok(self.origin_ns as u64)
    }

    fn begin(&mut self) -> Result<(), DeviceError> {
        self.context.enter()?;
        self.record(self.begin)
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), DeviceError> {
        self.context.enter()?;
        let key = (launch.kernel, launch.scalar);
        let function = match self.functions.get(&key) {
            Some(&function) => function,
            None => {
                let function = self.context.function(launch.kernel, launch.scalar)?;
                self.functions.insert(key, function);
                function
            }
        };
        let pointer = |arg: &Arg| match arg {
            Arg::Address(address) => std::ptr::from_ref(address).cast_mut().cast(),
            Arg::Int(int) => std::ptr::from_ref(int).cast_mut().cast(),
            Arg::Ints(ints) => ints.as_ptr().cast_mut().cast(),
        };
        let mut pointers: Vec<*mut c_void> = launch.args.iter().map(pointer).collect();
        // SAFETY: a function of a loaded module; the arguments have its parameters' sizes (head of this file) and are read before
        // the call returns.
        let launched = unsafe {
            driver::launch_kernel(
                function.0,
                (launch.blocks, 1, 1),
                (launch.threads, 1, 1),
                0,
                self.stream,
                &mut pointers,
            )
        };
        self.context.driver("launch a kernel", launched)
    }

    fn gemm(&mut self, gemm: &Gemm) -> Result<(), DeviceError> {
        use blas_sys::cublasOperation_t::{CUBLAS_OP_C, CUBLAS_OP_N};
        if gemm.m == 0 || gemm.n == 0 || (gemm.k == 0 && gemm.beta == 1.0) {
            return Ok(());
        }
        self.context.enter()?;
        let handle = self.blas_handle()?;
        let op = if gemm.adjoint {
            CUBLAS_OP_C
        } else {
            CUBLAS_OP_N
        };
        let int = |x: usize| {
            c_int::try_from(x).map_err(|_| self.context.error("multiply matrices", "too large"))
        };
        let (m, n, k) = (int(gemm.m)?, int(gemm.n)?, int(gemm.k)?);
        let (lda, ldb, ldc) = (int(gemm.lda)?, int(gemm.ldb)?, int(gemm.ldc)?);
        let (a, b, c) = (
            gemm.a as *const c_void,
            gemm.b as *const c_void,
            gemm.c as *mut c_void,
        );
        macro_rules! call {
            ($function:ident, $alpha:expr, $beta:expr) => {{
                let (alpha, beta) = ($alpha, $beta);
                // SAFETY: handle of `self`; factors on the host, as is cuBLAS's default; addresses of the device, see above.
                unsafe {
                    blas_sys::$function(
                        handle,
                        op,
                        CUBLAS_OP_N,
                        m,
                        n,
                        k,
                        &alpha,
                        a.cast(),
                        lda,
                        b.cast(),
                        ldb,
                        &beta,
                        c.cast(),
                        ldc,
                    )
                }
            }};
        }
        let (alpha, beta) = (gemm.alpha, gemm.beta);
        let single = |x: f64| blas_sys::float2 {
            x: x as f32,
            y: 0.0,
        };
        let double = |x: f64| blas_sys::double2 { x, y: 0.0 };
        let status = match gemm.scalar {
            ScalarKind::F32 => call!(cublasSgemm_v2, alpha as f32, beta as f32),
            ScalarKind::F64 => call!(cublasDgemm_v2, alpha, beta),
            ScalarKind::C32 => call!(cublasCgemm_v2, single(alpha), single(beta)),
            ScalarKind::C64 => call!(cublasZgemm_v2, double(alpha), double(beta)),
        };
        self.context.blas("multiply matrices", status.result())
    }

    fn finish(&mut self) -> Result<Span, DeviceError> {
        self.context.enter()?;
        self.record(self.end)?;
        self.wait(self.end)?;
        if let Some(lists) = &mut self.lists {
            lists.used = 0;
        }
        let (begin, end) = (self.shown_ns(self.begin)?, self.shown_ns(self.end)?);
        Ok(Span {
            begin_ns: begin as u64,
            end_ns: end.max(begin) as u64,
        })
    }
}

impl Drop for CudaStream {
    fn drop(&mut self) {
        if self.context.enter().is_err() {
            return;
        }
        // SAFETY: the handles are of `self` and used by nobody else; the device is done with them after the first call, or has
        // failed. Errors at the end change nothing.
        unsafe {
            let _ = driver::stream::synchronize(self.stream);
            if let Some(handle) = self.handle {
                let _ = blas::destroy_handle(handle);
            }
            for chunk in &self.chunks {
                let _ = driver::event::destroy(chunk.copied);
                let _ = driver::free_host(chunk.start);
            }
            if let Some(lists) = &self.lists {
                let _ = driver::free_host(lists.start);
            }
            for event in [self.begin, self.end, self.origin, self.next] {
                if !event.is_null() {
                    let _ = driver::event::destroy(event);
                }
            }
            let _ = driver::stream::destroy(self.stream);
        }
    }
}
