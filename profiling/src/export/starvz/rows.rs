//! The tables of StarVZ, column by column, as its R package reads them.
//!
//! Takes nothing; gives row types. Numbers are `int32` or `double`, which R has; what R keeps as factors is text.

use crate::trace::Cell;
use crate::trace::table::{Column, GroupReader, GroupWriter, Stored, Table, table};
use crate::trace::value;
use std::sync::Arc;

table! {
    /// The version of the tables.
    Version in "version" {
        /// `0.2.0`.
        value: String,
    }
}

table! {
    /// The time that all others are measured from.
    Zero in "zero" {
        /// Milliseconds since the recorder was made.
        value: f64,
    }
}

table! {
    /// Colours of kernels.
    Colors in "colors" {
        /// Kernel.
        name = "Value": Arc<str>,
        /// As `#rrggbb`.
        color = "Color": String,
        /// Whether panels show it.
        shown = "Use": bool,
    }
}

table! {
    /// Where each resource is drawn.
    Y in "y" {
        /// ResourceId.
        parent = "Parent": Arc<str>,
        /// `Worker State`.
        kind = "Type": Arc<str>,
        /// Rows of the picture it takes.
        height = "Height": f64,
        /// From this one on.
        position = "Position": f64,
    }
}

table! {
    /// One resource or counter of the run, as Paje has them.
    Entity in "entities" {
        /// The resource it belongs to.
        parent = "Parent": Arc<str>,
        /// Its name.
        name = "Name": Arc<str>,
        /// What it is.
        kind = "Type": Arc<str>,
        /// `Container`, `State` or `Variable`.
        nature = "Nature": Arc<str>,
    }
}

table! {
    /// One task.
    Application in "application" {
        /// Worker.
        resource_id = "ResourceId": Arc<str>,
        /// From, ms.
        start = "Start": f64,
        /// To, ms.
        end = "End": f64,
        /// ms.
        duration = "Duration": f64,
        /// 0.
        depth = "Depth": f64,
        /// Kernel.
        kernel = "Value": Arc<str>,
        /// Bytes of its buffers, where R's integers hold them.
        size = "Size": Option<i32>,
        /// Rows, columns and reflectors.
        params = "Params": String,
        /// The same for tasks of the same kernel and shape.
        footprint = "Footprint": String,
        /// The tree node in the last eight hexadecimal digits of sixteen.
        tag = "Tag": String,
        /// The task's number.
        job_id = "JobId": String,
        /// The same as a number.
        submit_order = "SubmitOrder": i32,
        /// 1e9 operations; GiB taken or given back for kernels of memory.
        gflop = "GFlop": f64,
        /// Tile column.
        x = "X": Option<i32>,
        /// Tile row.
        y = "Y": Option<i32>,
        /// Panel.
        iteration = "Iteration": Option<i32>,
        /// Front whose block it copies or cleans.
        subiteration = "Subiteration": Option<i32>,
        /// Not known.
        numa_nodes = "NumaNodes": Option<i32>,
        /// Machine: `0`.
        node = "Node": Arc<str>,
        /// Worker.
        resource = "Resource": Arc<str>,
        /// `CPU` or `CUDA`.
        resource_type = "ResourceType": Arc<str>,
        /// Of its worker in `y`.
        height = "Height": f64,
        /// Of its worker in `y`.
        position = "Position": f64,
        /// Longer than the third quartile and 1.5 times the distance of the quartiles, of its kernel and kind of worker.
        outlier = "Outlier": bool,
        /// Tree node.
        anode = "ANode": String,
        /// Of its tree node in `atree`.
        anode_height = "Height.ANode": Option<f64>,
        /// Of its tree node in `atree`.
        anode_position = "Position.ANode": Option<f64>,
        /// Whether its tree node has children in `atree`.
        intermediary = "Intermediary": bool,
    }
}

table! {
    /// What a worker did without a task.
    StarPu in "starpu" {
        /// Worker.
        resource_id = "ResourceId": Arc<str>,
        /// From, ms.
        start = "Start": f64,
        /// To, ms.
        end = "End": f64,
        /// ms.
        duration = "Duration": f64,
        /// 0.
        depth = "Depth": f64,
        /// StarPU's name of the state.
        state = "Value": Arc<str>,
        /// None.
        size = "Size": Option<i32>,
        /// Not known.
        numa_nodes = "NumaNodes": Option<i32>,
        /// Machine: `0`.
        node = "Node": Arc<str>,
        /// Worker.
        resource = "Resource": Arc<str>,
        /// `CPU` or `CUDA`.
        resource_type = "ResourceType": Arc<str>,
        /// Of its worker in `y`.
        height = "Height": f64,
        /// Of its worker in `y`.
        position = "Position": f64,
    }
}

table! {
    /// A value over a time.
    Variable in "variable" {
        /// What it is a value of.
        resource_id = "ResourceId": Arc<str>,
        /// Which value.
        kind = "Type": Arc<str>,
        /// From, ms.
        start = "Start": f64,
        /// To, ms.
        end = "End": f64,
        /// ms.
        duration = "Duration": f64,
        /// How much.
        value = "Value": f64,
        /// Machine: `0`.
        node = "Node": Arc<str>,
        /// As ResourceId.
        resource = "Resource": Arc<str>,
        /// ResourceId without digits.
        resource_type = "ResourceType": Arc<str>,
    }
}

table! {
    /// One node of the elimination tree that has tasks.
    Atree in "atree" {
        /// The node its contribution block goes to.
        parent = "Parent": Option<String>,
        /// Its number.
        anode = "ANode": String,
        /// Nodes from the root to it.
        depth = "Depth": f64,
        /// Whether it has children here.
        intermediary = "Intermediary": bool,
        /// `Pruned` or `Not Pruned`.
        node_type = "NodeType": Option<Arc<str>>,
        /// Row of the picture.
        position = "Position": Option<f64>,
        /// Rows it takes.
        height = "Height": Option<f64>,
    }
}

table! {
    /// One dependency, with the times of the task that waited.
    Dag in "dag" {
        /// The task that waited.
        job_id = "JobId": String,
        /// The task it waited for.
        dependent = "Dependent": String,
        /// From, ms.
        start = "Start": f64,
        /// To, ms.
        end = "End": f64,
        /// Its duration, negative: the shortest path is the critical one.
        cost = "Cost": f64,
        /// Its kernel.
        kernel = "Value": Arc<str>,
    }
}
