//! Synthetic traces whose truth is known: durations along a line, with noise and whatever else a test puts in.

use treeqr_profiling::models::{Anomaly, GroupModel, Models};
use treeqr_profiling::trace::Tables;
use treeqr_profiling::trace::schema::{Codelet, Role, Task, Worker, WorkerKind};

/// xorshift64*, and normal values by Box and Muller.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Flops between 1e6 and 1e9, evenly in the logarithm.
    pub fn flops(&mut self) -> u64 {
        10_f64.powf(6.0 + 3.0 * self.unit()) as u64
    }
}

pub const GEQRT: u16 = 4;
pub const CPU: u16 = 0;
pub const DEVICE: u16 = 1;

pub fn tables() -> Tables {
    let worker = |worker, kind, name: &str| Worker {
        worker,
        kind,
        name: name.into(),
        memory_node: worker,
        bound_to: None,
        start_ns: 0,
        end_ns: u64::MAX,
    };
    let names = [
        "init_front",
        "block_copy",
        "do_subtree",
        "clean_front",
        "geqrt",
    ];
    let codelet = |(k, name): (usize, &&str)| Codelet {
        codelet: k as u16,
        name: (*name).into(),
        role: Role::Compute,
    };
    Tables {
        workers: vec![
            worker(CPU, WorkerKind::Cpu, "CPU0"),
            worker(DEVICE, WorkerKind::Device, "cuda0"),
        ],
        codelets: names.iter().enumerate().map(codelet).collect(),
        ..Tables::default()
    }
}

/// Appends a task; gives it for more.
pub fn push(to: &mut Tables, flops: u64, duration_ns: f64) -> &mut Task {
    let start_ns = 1000;
    to.tasks.push(Task {
        task: to.tasks.len() as u32,
        codelet: GEQRT,
        worker: CPU,
        node: 0,
        priority: 0,
        submit_ns: 0,
        ready_ns: 0,
        pop_ns: start_ns,
        start_ns,
        end_ns: start_ns + duration_ns.round() as u64,
        flops,
        bytes: 0,
        panel: None,
        tile_row: None,
        tile_col: None,
        child: None,
        rows: 0,
        cols: 0,
        inner: 0,
        coefficients: 0,
    });
    to.tasks.last_mut().expect("just pushed")
}

/// log D = 1.5 + 0.8 log G: 282 ms for 1e9 flops.
pub fn truth(flops: u64) -> f64 {
    1.5 + 0.8 * (flops as f64).ln()
}

/// Tasks along the line with that noise; `slower(k)` is added to the logarithm of the k-th.
pub fn along(
    random: &mut Random,
    n: usize,
    noise: f64,
    slower: impl Fn(usize, &mut Random) -> f64,
) -> Tables {
    let mut out = tables();
    for k in 0..n {
        let flops = random.flops();
        let y = truth(flops) + noise * random.normal() + slower(k, random);
        push(&mut out, flops, y.exp());
    }
    out
}

pub fn only(models: &Models) -> &GroupModel {
    assert_eq!(models.groups.len(), 1);
    &models.groups[0]
}

pub fn near(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within, "{a} is not {b}");
}

pub fn numbers(anomalies: &[Anomaly]) -> Vec<u32> {
    anomalies.iter().map(|a| a.task).collect()
}
