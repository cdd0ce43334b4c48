//! What the tasks run on.

use super::FactorScalar;
use super::device::device_scratch;
use super::limit::Gate;
use crate::plan::{Plan, ScratchSize, codelet};
use treeqr_runtime::{Application, Codelet, CodeletId, CpuCode, LaunchCode, WorkingMemory};

/// The data of one factorization, shared by all workers.
pub(super) struct App<'a, T: FactorScalar> {
    pub plan: Plan<'a>,
    /// Values of A.
    pub values: &'a [T],
    /// Right-hand sides: columns of as many entries as the factorized matrix has rows.
    pub rhs: &'a [T],
    /// Where memory is reserved, if it is limited.
    pub gate: Option<Gate>,
    size: ScratchSize,
    codelets: [Codelet<Self>; 9],
}

/// A worker's working memory.
pub(super) struct Scratch<T> {
    /// Of the task that it runs; taken out while a kernel has some of it and hands an update to others.
    pub work: Work<T>,
    /// For a part of a kernel's update, its own or another worker's.
    pub parts: Vec<T>,
}

/// Working memory of a task.
pub(super) struct Work<T> {
    /// A group's stack and its fronts: a worker's own, ...
    pub own: Vec<T>,
    /// ... or taken for it, and kept for groups that follow.
    pub taken: Option<WorkingMemory<T>>,
    pub tau: Vec<T>,
    pub kernel: Vec<T>,
}

impl<T> Default for Work<T> {
    fn default() -> Self {
        Work {
            own: Vec::new(),
            taken: None,
            tau: Vec::new(),
            kernel: Vec::new(),
        }
    }
}

impl<T> Scratch<T> {
    /// Gives up what was taken for groups, before a task of a front in tiles and when there is none: others need the memory.
    #[inline]
    pub fn after_groups(&mut self) {
        self.work.taken = None;
    }
}

impl<'a, T: FactorScalar> App<'a, T> {
    pub fn new(plan: Plan<'a>, values: &'a [T], rhs: &'a [T], gate: Option<Gate>) -> Self {
        let size = plan.scratch_for::<T>();
        let codelets = [
            (
                codelet::INIT_FRONT,
                Self::init_front as treeqr_runtime::CpuCode<Self>,
            ),
            (codelet::INIT_BLOCK, Self::init_block),
            (codelet::BLOCK_COPY, Self::block_copy),
            (codelet::DO_SUBTREE, Self::do_subtree),
            (codelet::GEQRT, Self::geqrt),
            (codelet::GEMQRT, Self::gemqrt),
            (codelet::TPQRT, Self::tpqrt),
            (codelet::TPMQRT, Self::tpmqrt),
            (codelet::CLEAN_FRONT, Self::clean_front),
        ];
        let codelets = codelets.map(|(id, cpu)| Codelet {
            name: codelet::NAMES[id.0 as usize],
            cpu: Some(cpu),
        });
        App {
            plan,
            values,
            rhs,
            gate,
            size,
            codelets,
        }
    }

    /// Entry of the factorized matrix from the position of its value in A.
    #[inline(always)]
    pub fn value(&self, position: usize) -> T {
        let value = self.values[position];
        if self.plan.sym.transposed {
            value.conj()
        } else {
            value
        }
    }

    /// Rows of a right-hand side.
    pub fn rhs_rows(&self) -> usize {
        self.plan.sym.work_rows()
    }
}

impl<T: FactorScalar> Application for App<'_, T> {
    type Scratch = Scratch<T>;

    fn scratch(&self, _worker: usize) -> Scratch<T> {
        // vec! of zeros is left to the system to clear when it is touched.
        let zeros = |len| vec![T::zero(); len];
        Scratch {
            work: Work {
                own: zeros(self.size.own),
                taken: None,
                tau: zeros(self.size.tau),
                kernel: zeros(self.size.kernel),
            },
            parts: zeros(self.size.parts),
        }
    }

    fn rest(&self, scratch: &mut Scratch<T>) {
        scratch.after_groups();
    }

    fn codelets(&self) -> &[Codelet<Self>] {
        &self.codelets
    }

    /// The tile kernels and the copies into tiles: they find their buffers allocated.
    fn device_code(&self, id: CodeletId) -> Option<CpuCode<Self>> {
        let kernels = [
            codelet::INIT_BLOCK,
            codelet::BLOCK_COPY,
            codelet::GEQRT,
            codelet::GEMQRT,
            codelet::TPQRT,
            codelet::TPMQRT,
        ];
        let code = || self.codelets[id.0 as usize].cpu;
        kernels.contains(&id).then(code).flatten()
    }

    fn launch_code(&self, id: CodeletId) -> Option<LaunchCode<Self>> {
        self.launched(id)
    }

    fn device_scratch_bytes(&self) -> u64 {
        device_scratch::<T>(&self.plan)
    }

    /// Fronts take their memory when their children have begun to be final.
    fn only_waits(&self, id: CodeletId) -> bool {
        id == codelet::INIT_FRONT
    }

    fn variant(&self) -> &str {
        T::NAME
    }
}
