//! What a device and one of its streams can do, and how they fail.
//!
//! Takes addresses and bytes; knows no task and no kernel. An address is a number that only the device understands.

use crate::command::{Gemm, Launch};
use std::any::Any;
use std::fmt;
use std::time::Duration;

/// A device with a memory of its own. Shared by all threads that use it.
pub trait Device: Send + Sync + fmt::Debug {
    /// As its maker calls it.
    fn name(&self) -> &str;

    /// Its memory now.
    ///
    /// # Errors
    /// If the device does not answer.
    fn memory(&self) -> Result<Memory, DeviceError>;

    /// Takes `bytes` of its memory for the caller, until [`Self::give_back`]; gives the address of the first.
    ///
    /// # Errors
    /// If there is not so much, or the device does not answer.
    fn reserve(&self, bytes: u64) -> Result<u64, DeviceError>;

    /// Gives back what `reserve` gave.
    fn give_back(&self, address: u64);

    /// Page-locks `bytes` bytes of the host's memory from `address` on, whole pages of a mapping that its owner keeps until it has
    /// dropped the answer: copies from and to slices in it then go without a copy in between. Slow, and of use for what is copied
    /// again and again.
    ///
    /// # Errors
    /// If the system or the device refuses; copies still work.
    fn pin(&self, address: usize, bytes: usize) -> Result<Box<dyn Pinned>, DeviceError>;

    /// Whether streams of this device copy from `other` without the host.
    fn can_access_peer(&self, other: &dyn Device) -> bool;

    /// Itself, for devices of its own kind.
    fn as_any(&self) -> &dyn Any;

    /// A new stream.
    ///
    /// # Errors
    /// If the device does not answer.
    fn stream(&self) -> Result<Box<dyn Stream>, DeviceError>;
}

/// Host memory that is page-locked until this is dropped.
pub trait Pinned: Send + Sync {}

/// Commands that a device does one after the other. What a stream does is seen by others once `finish` has returned (copies: once
/// they have returned).
pub trait Stream: Send {
    /// Does now what would otherwise hold up its first kernels and products: whoever runs tasks on it calls it once. Nothing, by default.
    ///
    /// # Errors
    /// If the device fails.
    fn prepare(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Copies `from` to the device; done when it returns.
    ///
    /// # Errors
    /// If the device fails.
    fn upload(&mut self, from: &[u8], to: u64) -> Result<(), DeviceError>;

    /// Copies from the device to `to`; done when it returns.
    ///
    /// # Errors
    /// If the device fails.
    fn download(&mut self, from: u64, to: &mut [u8]) -> Result<(), DeviceError>;

    /// Copies `bytes` bytes of another device, of which `can_access_peer` is true, to this one; done when it returns.
    ///
    /// # Errors
    /// If one of them fails.
    fn copy_peer(
        &mut self,
        other: &dyn Device,
        from: u64,
        to: u64,
        bytes: u64,
    ) -> Result<(), DeviceError>;

    /// Writes zeros to `bytes` bytes at `to`; done when it returns.
    ///
    /// # Errors
    /// If the device fails.
    fn clear(&mut self, to: u64, bytes: u64) -> Result<(), DeviceError>;

    /// Asks for `from` at `to`, in order with kernels and products: what a kernel needs beside its blocks, such as lists of indices.
    /// The caller's bytes are taken before it returns.
    ///
    /// # Errors
    /// As [`Self::launch`].
    fn put(&mut self, from: &[u8], to: u64) -> Result<(), DeviceError>;

    /// The device's clock, in nanoseconds since some moment of this stream's, read between the call and its return.
    ///
    /// # Errors
    /// If the device fails.
    fn now(&mut self) -> Result<u64, DeviceError>;

    /// The span that `finish` gives begins here.
    ///
    /// # Errors
    /// If the device fails.
    fn begin(&mut self) -> Result<(), DeviceError>;

    /// Asks for a kernel; it may run later.
    ///
    /// # Errors
    /// If it can't be asked for, or something that was asked for before has failed.
    fn launch(&mut self, launch: &Launch) -> Result<(), DeviceError>;

    /// Asks for a matrix product; it may run later.
    ///
    /// # Errors
    /// As [`Self::launch`].
    fn gemm(&mut self, gemm: &Gemm) -> Result<(), DeviceError>;

    /// Waits until all that was asked for is done; gives the device's own times of `begin` and of the end.
    ///
    /// # Errors
    /// If any of it has failed.
    fn finish(&mut self) -> Result<Span, DeviceError>;
}

/// Two moments on the clock of [`Stream::now`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub begin_ns: u64,
    /// The second, not before it.
    pub end_ns: u64,
}

impl Span {
    /// What lies between them.
    pub fn duration(self) -> Duration {
        Duration::from_nanos(self.end_ns.saturating_sub(self.begin_ns))
    }
}

/// Bytes of a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Not taken by anybody.
    pub free_bytes: u64,
    /// All.
    pub total_bytes: u64,
}

/// What a device could not do. Nothing that it holds can be trusted afterwards.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{device}: {doing}: {what}")]
#[non_exhaustive]
pub struct DeviceError {
    /// Which device.
    pub device: String,
    /// What it was asked for.
    pub doing: &'static str,
    /// What it said.
    pub what: String,
    /// Of what kind.
    pub kind: ErrorKind,
}

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Its memory is full.
    OutOfMemory,
    /// It can't be used here: a library is missing, or it is too old.
    Unusable,
    /// Something failed that should not.
    Failed,
}

impl DeviceError {
    /// An error of this device.
    pub fn new(
        device: &str,
        doing: &'static str,
        what: impl fmt::Display,
        kind: ErrorKind,
    ) -> Self {
        DeviceError {
            device: device.to_owned(),
            doing,
            what: what.to_string(),
            kind,
        }
    }
}
