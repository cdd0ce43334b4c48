//! An application without its type.
//!
//! Takes any [`Application`]; gives what the engine asks of it, behind one type. Knows no particular application.
//!
//! Why: compiled once for each application, number type and observer the engine was a seventh of the program's code, and the
//! program's largest part to compile. A task costs one call through a table more.

use crate::codelet::{Application, TaskFailure};
use crate::context::TaskContext;
use crate::device_task::DeviceTask;
use crate::spec::CodeletId;
use std::any::Any;

/// Any application. What it is asked about codelets that it has not, it answers with `None`, `false` or a panic.
pub(crate) trait AnyApplication: Sync {
    /// The scratch of `worker`, made on the worker's own thread.
    fn scratch(&self, worker: usize) -> Box<dyn Any>;
    /// See [`Application::rest`].
    fn rest(&self, scratch: &mut dyn Any);
    /// The names of the codelets, by their numbers.
    fn names(&self) -> Vec<&'static str>;
    /// The name of a codelet, if there is one.
    fn name(&self, codelet: CodeletId) -> Option<&'static str>;
    /// Whether CPU workers can run it.
    fn has_cpu_code(&self, codelet: CodeletId) -> bool;
    /// Whether workers of an emulated device can.
    fn has_device_code(&self, codelet: CodeletId) -> bool;
    /// Whether workers of a real device can.
    fn has_launch_code(&self, codelet: CodeletId) -> bool;
    /// Runs a task on a CPU worker, or on one of an emulated device, with the worker's scratch.
    fn run(
        &self,
        codelet: CodeletId,
        emulated: bool,
        task: &TaskContext<'_>,
        scratch: &mut dyn Any,
    ) -> Result<(), TaskFailure>;
    /// Runs a task on a real device.
    fn launch(&self, codelet: CodeletId, task: &mut DeviceTask<'_>) -> Result<(), TaskFailure>;
    /// See [`Application::device_scratch_bytes`].
    fn device_scratch_bytes(&self) -> u64;
    /// See [`Application::only_waits`].
    fn only_waits(&self, codelet: CodeletId) -> bool;
    /// See [`Application::variant`].
    fn variant(&self) -> &str;
}

/// A codelet is asked for after the submission has checked that there is one, and the scheduler that the worker can run it.
const CHECKED: &str = "checked at submission, and by the scheduler";

impl<A: Application> AnyApplication for A {
    fn scratch(&self, worker: usize) -> Box<dyn Any> {
        Box::new(Application::scratch(self, worker))
    }

    fn rest(&self, scratch: &mut dyn Any) {
        Application::rest(self, scratch.downcast_mut().expect("made by `scratch`"));
    }

    fn names(&self) -> Vec<&'static str> {
        self.codelets().iter().map(|codelet| codelet.name).collect()
    }

    fn name(&self, codelet: CodeletId) -> Option<&'static str> {
        Some(self.codelets().get(codelet.0 as usize)?.name)
    }

    fn has_cpu_code(&self, codelet: CodeletId) -> bool {
        let codelet = self.codelets().get(codelet.0 as usize);
        codelet.is_some_and(|it| it.cpu.is_some())
    }

    fn has_device_code(&self, codelet: CodeletId) -> bool {
        self.device_code(codelet).is_some()
    }

    fn has_launch_code(&self, codelet: CodeletId) -> bool {
        self.launch_code(codelet).is_some()
    }

    fn run(
        &self,
        codelet: CodeletId,
        emulated: bool,
        task: &TaskContext<'_>,
        scratch: &mut dyn Any,
    ) -> Result<(), TaskFailure> {
        let code = match emulated {
            false => self.codelets()[codelet.0 as usize].cpu,
            true => self.device_code(codelet),
        };
        let scratch = scratch.downcast_mut().expect("made by `scratch`");
        code.expect(CHECKED)(self, task, scratch)
    }

    fn launch(&self, codelet: CodeletId, task: &mut DeviceTask<'_>) -> Result<(), TaskFailure> {
        self.launch_code(codelet).expect(CHECKED)(self, task)
    }

    fn device_scratch_bytes(&self) -> u64 {
        Application::device_scratch_bytes(self)
    }

    fn only_waits(&self, codelet: CodeletId) -> bool {
        Application::only_waits(self, codelet)
    }

    fn variant(&self) -> &str {
        Application::variant(self)
    }
}
