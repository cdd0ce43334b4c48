//! How a run can fail.
//!
//! Takes what a worker or the submission reports; gives one typed error with its place. Broken contracts of the
//! submission (a handle or codelet that does not exist) are no errors: they panic.

use thiserror::Error;
use treeqr_devices::DeviceError;

/// Why a run ended before all tasks were done. Workers have been joined when it is returned; the data store is as the
/// tasks that ran left it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// A codelet panicked.
    #[error("task `{codelet}` of tree node {node} panicked: {message}")]
    TaskPanicked {
        /// Name of the codelet.
        codelet: &'static str,
        /// Tree node of the task.
        node: u32,
        /// The panic's message.
        message: String,
    },
    /// A codelet said that it failed.
    #[error("task `{codelet}` of tree node {node} failed: {message}")]
    TaskFailed {
        /// Name of the codelet.
        codelet: &'static str,
        /// Tree node of the task.
        node: u32,
        /// What the codelet said.
        message: String,
    },
    /// A task could not allocate a buffer.
    #[error("out of memory: task `{codelet}` of tree node {node} asked for {bytes} bytes")]
    OutOfMemory {
        /// Name of the codelet.
        codelet: &'static str,
        /// Tree node of the task.
        node: u32,
        /// Size of the buffer, in bytes.
        bytes: usize,
    },
    /// A device failed. What lay on it is lost; the run can be done again without it.
    #[error("device {0}")]
    Device(DeviceError),
    /// The application's scratch, the scheduler or the observer panicked on a worker, outside of any task.
    #[error("worker {worker} panicked outside of a task: {message}")]
    WorkerPanicked {
        /// Number of the worker.
        worker: usize,
        /// The panic's message.
        message: String,
    },
    /// Somebody cancelled the run, by the [`CancelHandle`](crate::CancelHandle) of its options.
    #[error("the run was cancelled")]
    Cancelled,
    /// The system refused to start a worker's thread.
    #[error("cannot start the thread of worker {worker}: {source}")]
    Spawn {
        /// Number of the worker.
        worker: usize,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The run has failed or was cancelled and takes no further task; [`run`](crate::run) returns the [`RunError`] that says why. Only the
/// runtime makes one, so that who holds it knows that such an error exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the run has stopped")]
pub struct Stopped(pub(crate) ());

/// The text of a panic's payload.
pub(crate) fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "(not a text)".to_owned()
    }
}
