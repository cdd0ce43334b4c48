//! Devices beside the CPU: what there is, their memory, and streams of copies, kernels and matrix products on them.
//!
//! | module | subject |
//! | --- | --- |
//! | `command` | a launch and a matrix product, as data |
//! | `device` | the traits [`Device`] and [`Stream`]; how they fail |
//! | `arena` | a device's memory, cut into blocks |
//! | `cuda` | CUDA by its driver and cuBLAS, both looked for at run time: nothing of CUDA is needed to build |
//! | `host` | a device that is the host: its own memory, streams that run behind, faults and delays on purpose |
//! | `found` | the devices of this machine, or what is missing, in one line |
//!
//! It knows no task and no scalar's arithmetic. Copies block their caller, who is a thread that has nothing else to do; kernels do
//! not. So nobody lends memory to something that goes on behind the borrow checker's back, and the one file with unsafe code is
//! `cuda.rs`, where foreign functions are called.

mod arena;
mod command;
mod cuda;
mod device;
mod found;
mod host;

pub use arena::Arena;
pub use command::{Arg, Gemm, Launch, ScalarKind};
pub use cuda::{Module, open};
pub use device::{Device, DeviceError, ErrorKind, Memory, Pinned, Span, Stream};
pub use found::{Found, FoundDevice, find};
pub use host::{HostDevice, HostFaults, Interpreter, PinCounts};
