//! The tables of a trace, version by version: this file is the schema, and docs/trace-schema.md is made from it.
//!
//! A change of a column is a change of [`SCHEMA_VERSION`].
//!
//! Times are nanoseconds since the recorder was made; a `node` is a front of the elimination tree, by its number in
//! postorder; a `memory_node` is 0 for the host and d + 1 for device d.

use super::table::{Column, GroupReader, GroupWriter, Stored, Table, table};
use super::value::{self, Cell, words};

/// The version of the tables below. Others are refused.
pub const SCHEMA_VERSION: u32 = 1;

words! {
    /// What a worker is.
    WorkerKind {
        /// A thread on a processing unit.
        Cpu = "cpu",
        /// A thread that drives a device.
        Device = "device",
    }
}

words! {
    /// What a codelet does for its front, whatever its name.
    Role {
        /// Takes memory for a front.
        Activate = "activate",
        /// Brings entries of A or of a child into a front.
        Assemble = "assemble",
        /// Computes.
        Compute = "compute",
        /// Does all of it for a group of small fronts.
        Subtree = "subtree",
        /// Gives back what a front no longer needs.
        Clean = "clean",
        /// Solves with the factors.
        Solve = "solve",
    }
}

words! {
    /// What a thread did while it ran no task.
    ThreadState {
        /// Asked the scheduler, in vain.
        Scheduling = "scheduling",
        /// Looked for a task again and again.
        Idle = "idle",
        /// Slept until woken.
        Sleeping = "sleeping",
        /// Had a task and waited for its data.
        Transferring = "transferring",
        /// The submission waited: the window of unfinished tasks was full.
        WindowFull = "window_full",
        /// The submission waited: a front's bytes were not free.
        MemoryFull = "memory_full",
    }
}

words! {
    /// Why bytes moved between memory nodes.
    TransferReason {
        /// A task on a device was about to use them.
        Fetch = "fetch",
        /// A task on a device would use them.
        Prefetch = "prefetch",
        /// Another node needed what a device had.
        Return = "return",
        /// A device dropped them: it was full, or the run was over.
        WriteBack = "write_back",
    }
}

words! {
    /// How a front is worked on.
    FrontKind {
        /// In tiles, by many tasks.
        Tiled = "tiled",
        /// Whole, by the one task of its group, which takes its number from this front: the group's top.
        GroupTop = "group_top",
        /// Whole, inside a group with another top.
        Grouped = "grouped",
    }
}

words! {
    /// What happened to a tree node.
    NodeEventKind {
        /// Its first memory was taken.
        Activated = "activated",
        /// A child's contribution block was in it completely.
        Assembled = "assembled",
        /// Its last computation ended.
        Factorized = "factorized",
        /// What its parent had needed of it was given back.
        Cleaned = "cleaned",
    }
}

words! {
    /// How a task uses data.
    AccessMode {
        /// Reads.
        Read = "read",
        /// Writes without reading first.
        Write = "write",
        /// Reads and writes.
        ReadWrite = "read_write",
        /// Writes entries that no other scatter writes: scatters do not wait for each other.
        Scatter = "scatter",
    }
}

words! {
    /// Why a thread left its processing unit.
    SwitchReason {
        /// It waited for something.
        Voluntary = "voluntary",
        /// The kernel gave the unit to somebody else.
        Preempted = "preempted",
        /// It went on on another unit.
        Migrated = "migrated",
    }
}

table! {
    /// One worker that ran tasks: a thread, or one in each run of the trace.
    Worker in "workers" {
        /// Its number.
        worker: u16,
        /// What it is.
        kind: WorkerKind,
        /// What pictures call it: `CPU0`, or the device's name.
        name: String,
        /// Where its data lie.
        memory_node: u16,
        /// The processing unit it was to be pinned to, by the operating system's number.
        bound_to: Option<u32>,
        /// When it began to look for tasks.
        start_ns: u64,
        /// When it ended.
        end_ns: u64,
    }
}

table! {
    /// One kind of task.
    Codelet in "codelets" {
        /// Its number.
        codelet: u16,
        /// Its name in the literature.
        name: String,
        /// What it does for its front.
        role: Role,
    }
}

table! {
    /// One task that was done, in the order of submission.
    Task in "tasks" {
        /// Its number in the order of submission.
        task: u32,
        /// What it ran.
        codelet: u16,
        /// Who ran it.
        worker: u16,
        /// Its tree node: for `do_subtree` the top of the group, in a solve that of the fronts it solves with.
        node: u32,
        /// Its priority: larger is more urgent.
        priority: i64,
        /// When it was submitted.
        submit_ns: u64,
        /// When it had nothing left to wait for.
        ready_ns: u64,
        /// When the scheduler gave it to its worker.
        pop_ns: u64,
        /// When its codelet began; after `pop_ns` where it had to wait for data.
        start_ns: u64,
        /// When its codelet ended.
        end_ns: u64,
        /// Floating-point operations by its staircase; 0 for those that only move data.
        flops: u64,
        /// Bytes of the buffers it took in hand.
        bytes: u64,
        /// Panel step of the front; in tiles only.
        panel: Option<u32>,
        /// Tile row.
        tile_row: Option<u32>,
        /// Tile column; empty for right-hand sides too, which follow the last one.
        tile_col: Option<u32>,
        /// The front whose contribution block it copies or cleans.
        child: Option<u32>,
        /// Rows of the block it works on.
        rows: u32,
        /// Columns of that block; right-hand sides in a solve.
        cols: u32,
        /// Reflectors that it makes or applies; fronts for `do_subtree` and in a solve.
        inner: u32,
        /// Entries that it clears or moves; for `do_subtree` those of all its fronts, in a solve those of the factors that it
        /// reads.
        coefficients: u64,
    }
}

table! {
    /// One task that had to wait for another: there is an edge from every task to those it depends on directly.
    Dependency in "dependencies" {
        /// The task that waited.
        task: u32,
        /// The task it waited for; smaller than `task`.
        predecessor: u32,
    }
}

table! {
    /// One front of the elimination tree, in postorder: parents come after their children.
    Front in "fronts" {
        /// Its number.
        node: u32,
        /// The front that its contribution block goes to; empty for a root.
        parent: Option<u32>,
        /// Fronts from a root to it, itself included: 1 for a root.
        depth: u32,
        /// How it is worked on.
        kind: FrontKind,
        /// The node that the tasks for this front carry: itself, or the top of its group.
        task_node: u32,
        /// Rows.
        rows: u32,
        /// Columns, pivots first.
        cols: u32,
        /// Pivot columns; 0 in a part of its parent's rows.
        pivots: u32,
        /// Rows of its contribution block.
        cb_rows: u32,
        /// Tile rows; empty for fronts that stay whole.
        tile_rows: Option<u32>,
        /// Tile columns.
        tile_cols: Option<u32>,
        /// Columns of an inner block of reflectors.
        inner_block: Option<u32>,
        /// Tiles of a panel that are reduced one after the other before the binary tree.
        flat_height: Option<u32>,
        /// Floating-point operations to factorize it, by its staircase.
        flops: u64,
    }
}

table! {
    /// One allocation or release of front storage, in the order of time.
    Memory in "memory" {
        /// When.
        time_ns: u64,
        /// The task that did it.
        task: u32,
        /// The tree node it was for.
        node: u32,
        /// Where.
        memory_node: u16,
        /// Which data.
        handle: u32,
        /// Bytes taken, or given back if negative.
        delta_bytes: i64,
        /// Bytes held there afterwards, as the store counted them; in a solve with the factors.
        after_bytes: u64,
    }
}

table! {
    /// One span in which a thread ran no task. What lies between tasks and is neither such a span nor one of
    /// `shares` is the runtime's own work.
    State in "states" {
        /// The worker; empty for the thread that submits.
        worker: Option<u16>,
        /// What it did.
        state: ThreadState,
        /// From.
        start_ns: u64,
        /// To.
        end_ns: u64,
    }
}

table! {
    /// One span in which a worker without a task of its own did parts of another's.
    Share in "shares" {
        /// The task.
        task: u32,
        /// Who helped.
        worker: u16,
        /// How many parts it did.
        parts: u32,
        /// From.
        start_ns: u64,
        /// To; a little after the end of the task for those who did its last parts.
        end_ns: u64,
    }
}

table! {
    /// The length of a scheduler's queue, noted when a worker took a task from it.
    Queue in "queues" {
        /// When.
        time_ns: u64,
        /// The worker that took a task.
        worker: u16,
        /// Tasks left in the queue that it looks at first: its own, or the central one.
        length: u32,
    }
}

table! {
    /// One transfer between memory nodes.
    Transfer in "transfers" {
        /// When it was asked for.
        asked_ns: u64,
        /// When it had the link.
        start_ns: u64,
        /// When the bytes were there.
        end_ns: u64,
        /// Which data.
        handle: u32,
        /// From.
        source_node: u16,
        /// To.
        target_node: u16,
        /// Why.
        reason: TransferReason,
        /// How many.
        bytes: u64,
    }
}

table! {
    /// One span in which the kernel did not run a thread, or moved it (module `kernel`).
    Switch in "switches" {
        /// The worker; empty for the thread that submits.
        worker: Option<u16>,
        /// When it was switched out.
        out_ns: u64,
        /// When it went on; empty where it did not before the end.
        in_ns: Option<u64>,
        /// The processing unit it left.
        from_unit: u32,
        /// The processing unit on which it went on.
        to_unit: Option<u32>,
        /// Why.
        reason: SwitchReason,
    }
}

table! {
    /// One counter over one task (module `counters`).
    Counter in "counters" {
        /// The task.
        task: u32,
        /// Name of the counter: `cycles`, `instructions`, `page_faults`, ...
        counter: String,
        /// How much it grew from the end of the task before to the end of this one.
        value: u64,
    }
}

table! {
    /// One step of the whole program. Steps may contain others.
    Phase in "phases" {
        /// Its name.
        phase: String,
        /// The step it is a part of.
        part_of: Option<String>,
        /// From; negative before the recorder was made.
        start_ns: i64,
        /// To.
        end_ns: i64,
    }
}

table! {
    /// One event of a tree node, in the order of time; it follows from its tasks.
    NodeEvent in "node_events" {
        /// When.
        time_ns: u64,
        /// The tree node.
        node: u32,
        /// What happened.
        event: NodeEventKind,
        /// From which child it was assembled.
        child: Option<u32>,
        /// The task that brought it about.
        task: u32,
    }
}

table! {
    /// One buffer of records that the recorder took from a thread and wrote to disk.
    Spill in "spills" {
        /// The worker whose records; empty for the thread that submits.
        worker: Option<u16>,
        /// From.
        start_ns: u64,
        /// To.
        end_ns: u64,
        /// How many.
        bytes: u64,
    }
}

table! {
    /// One task to do, in the order of submission (traces that are only a graph).
    GraphTask in "graph" {
        /// Its number in the order of submission.
        task: u32,
        /// What it runs.
        codelet: u16,
        /// Its tree node: for `do_subtree` the top of the group.
        node: u32,
        /// Its priority: larger is more urgent.
        priority: i64,
        /// Floating-point operations by its staircase; 0 for those that only move data.
        flops: u64,
        /// Panel step of the front; in tiles only.
        panel: Option<u32>,
        /// Tile row.
        tile_row: Option<u32>,
        /// Tile column; empty for right-hand sides too, which follow the last one.
        tile_col: Option<u32>,
        /// The front whose contribution block it copies or cleans.
        child: Option<u32>,
        /// Rows of the block it works on.
        rows: u32,
        /// Columns of that block.
        cols: u32,
        /// Reflectors that it makes or applies; fronts for `do_subtree`.
        inner: u32,
        /// Entries that it clears or moves; for `do_subtree` those of all its fronts.
        coefficients: u64,
        /// Bytes of front storage that it takes.
        allocated_bytes: u64,
        /// Bytes of front storage that it gives back.
        freed_bytes: u64,
    }
}

table! {
    /// One use of data by a task (traces that are only a graph).
    AccessRow in "accesses" {
        /// The task.
        task: u32,
        /// The data.
        handle: u32,
        /// How.
        mode: AccessMode,
    }
}

table! {
    /// One piece of data that tasks use (traces that are only a graph).
    HandleRow in "handles" {
        /// Its number.
        handle: u32,
        /// Its size while it exists.
        size_bytes: u64,
        /// The tree node that it belongs to.
        node: u32,
    }
}

/// The list of tables: a field of [`Tables`](super::Tables) each.
macro_rules! for_each_table {
    ($with:ident) => {
        $with! {
            workers: Worker,
            codelets: Codelet,
            tasks: Task,
            dependencies: Dependency,
            fronts: Front,
            memory: Memory,
            states: State,
            shares: Share,
            queues: Queue,
            transfers: Transfer,
            switches: Switch,
            counters: Counter,
            phases: Phase,
            node_events: NodeEvent,
            spills: Spill,
            graph: GraphTask,
            accesses: AccessRow,
            handles: HandleRow,
        }
    };
}
pub(crate) use for_each_table;
