//! What the application gives to the runtime: its codelets and the scratch memory of a worker.
//!
//! Takes nothing; gives the trait [`Application`] and how a task ends. Knows no particular codelet.

use crate::context::TaskContext;
use crate::device_task::DeviceTask;
use crate::spec::CodeletId;
use crate::store::OutOfMemory;
use std::any::Any;
use treeqr_devices::DeviceError;

/// The data and the code that tasks run on. One value is shared by all workers.
pub trait Application: Sync {
    /// Working memory that one worker reuses from task to task.
    type Scratch: Any;

    /// Makes the scratch of `worker`, on the worker's own thread, before its first task.
    fn scratch(&self, worker: usize) -> Self::Scratch;

    /// The worker has no task and is about to sleep: what its scratch has for the next ones may go. The default keeps all.
    fn rest(&self, scratch: &mut Self::Scratch) {
        let _ = scratch;
    }

    /// The table of codelets; [`CodeletId`](crate::CodeletId) is an index into it.
    fn codelets(&self) -> &[Codelet<Self>];

    /// How a worker of a device runs a codelet; `None` if it can't, which is the default. An emulated device calls it with
    /// buffers in its own memory: mostly the CPU's code, of codelets that neither allocate nor free.
    fn device_code(&self, codelet: CodeletId) -> Option<CpuCode<Self>> {
        let _ = codelet;
        None
    }

    /// How a worker of a real device runs a codelet: by asking its stream for kernels, on data that is there. `None` if it can't, which
    /// is the default.
    fn launch_code(&self, codelet: CodeletId) -> Option<LaunchCode<Self>> {
        let _ = codelet;
        None
    }

    /// Bytes of a real device's memory that every stream has for its tasks beside their data.
    fn device_scratch_bytes(&self) -> u64 {
        0
    }

    /// Whether tasks of a codelet declare reads only to come after whoever wrote: what they read then stays on the device where it
    /// lies, and the host may have something older. No, by default.
    fn only_waits(&self, codelet: CodeletId) -> bool {
        let _ = codelet;
        false
    }

    /// What the durations of the codelets depend on beyond their names and flops, such as the type of the numbers: cost
    /// models are kept apart by it.
    fn variant(&self) -> &str {
        ""
    }
}

/// A kind of task: its name, and one implementation per kind of worker.
pub struct Codelet<A: Application + ?Sized> {
    /// The name in traces and errors.
    pub name: &'static str,
    /// How a CPU worker runs it, if it can.
    pub cpu: Option<CpuCode<A>>,
}

/// An implementation of a codelet on a CPU worker: application, the task with its buffers, the worker's scratch.
pub type CpuCode<A> =
    fn(&A, &TaskContext<'_>, &mut <A as Application>::Scratch) -> Result<(), TaskFailure>;

/// An implementation of a codelet on a real device: application, the task with its buffers' addresses. What it asks the stream for may
/// run after it has returned.
pub type LaunchCode<A> = fn(&A, &mut DeviceTask<'_>) -> Result<(), TaskFailure>;

/// Why a task could not do its work; ends the run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskFailure {
    /// A buffer could not be allocated.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The device says why.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The codelet says why.
    #[error("{0}")]
    Message(String),
}
