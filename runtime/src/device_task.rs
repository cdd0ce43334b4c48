//! What a codelet on a real device sees of its task: parameters, the addresses of its buffers, the stream.
//!
//! Takes rooms that hold the data; gives addresses by the index of the access, checked against the declared mode. Knows no kernel.

use crate::machine::Room;
use crate::spec::{Access, TaskSpec};
use std::sync::Arc;
use treeqr_devices::Stream;

/// The running task on a device.
pub struct DeviceTask<'t> {
    spec: &'t TaskSpec,
    rooms: Vec<Option<Arc<Room>>>,
    scratch: u64,
    stream: &'t mut dyn Stream,
    bytes: u64,
}

impl<'t> DeviceTask<'t> {
    pub(crate) fn new(
        spec: &'t TaskSpec,
        rooms: Vec<Option<Arc<Room>>>,
        scratch: u64,
        stream: &'t mut dyn Stream,
    ) -> Self {
        DeviceTask {
            spec,
            rooms,
            scratch,
            stream,
            bytes: 0,
        }
    }

    /// The task as it was submitted.
    pub fn task(&self) -> &'t TaskSpec {
        self.spec
    }

    /// The address of the buffer of access `index`, to read.
    ///
    /// # Panics
    /// If the access is not `Read` or `ReadWrite`, or if the buffer is not allocated.
    pub fn read(&mut self, index: usize) -> u64 {
        self.address(index, "read", Access::reads)
    }

    /// The address of the buffer of access `index`, to read and write.
    ///
    /// # Panics
    /// If the access is not `Write` or `ReadWrite`, or if the buffer is not allocated.
    pub fn write(&mut self, index: usize) -> u64 {
        self.address(index, "write", Access::is_exclusive)
    }

    /// The address of the buffer of access `index`, to write the part of it that belongs to this task.
    ///
    /// # Panics
    /// If the access is not `Scatter`, or if the buffer is not allocated.
    pub fn scatter(&mut self, index: usize) -> u64 {
        self.address(index, "scatter to", |access| access == Access::Scatter)
    }

    /// The address of the stream's scratch.
    pub fn scratch(&self) -> u64 {
        self.scratch
    }

    /// Where kernels are asked for.
    pub fn stream(&mut self) -> &mut dyn Stream {
        &mut *self.stream
    }

    /// Bytes of all buffers that were asked for so far.
    pub(crate) fn bytes_taken(&self) -> u64 {
        self.bytes
    }

    fn address(&mut self, index: usize, what: &str, allows: impl Fn(Access) -> bool) -> u64 {
        let (handle, access) = self.spec.accesses[index];
        assert!(
            allows(access),
            "cannot {what} access {index} (handle {}): it was declared {access:?}",
            handle.0
        );
        let room = self.rooms[index].as_ref();
        let room = room.unwrap_or_else(|| panic!("handle {} has no buffer", handle.0));
        self.bytes += room.bytes();
        room.address
    }
}
