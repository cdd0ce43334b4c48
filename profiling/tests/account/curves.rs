//! Curves over time, and sums by group: by hand, and by what they must add up to.

use crate::common::{Shape, random};
use crate::hand::{empty, task};
use treeqr_profiling::account::{
    delays, efficiency, flops_over_time, memory_over_time, memory_peak, node_activity,
    nodes_over_time, rates, tasks_over_time, time_split, transfers_over_time, use_by_depth,
    use_by_node,
};
use treeqr_profiling::trace::Trace;
use treeqr_profiling::trace::schema::{FrontKind, Memory, Transfer, TransferReason};

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} and not {b}");
}

fn steps(steps: &treeqr_profiling::account::Steps) -> Vec<(u64, f64)> {
    steps.steps.iter().map(|s| (s.time_ns, s.value)).collect()
}

#[test]
fn curves_of_a_small_run() {
    let mut trace = empty(2, 0, 20);
    let first = task(&mut trace, 0, 0, 2, 10);
    first.flops = 16;
    let second = task(&mut trace, 0, 1, 6, 10);
    (
        second.submit_ns,
        second.ready_ns,
        second.pop_ns,
        second.flops,
    ) = (1, 3, 5, 4);
    let tasks = tasks_over_time(&trace);
    assert_eq!(steps(&tasks.unfinished), [(0, 1.0), (1, 2.0), (10, 0.0)]);
    assert_eq!(steps(&tasks.ready), [(3, 1.0), (5, 0.0)]);
    assert_eq!(steps(&tasks.running), [(2, 1.0), (6, 2.0), (10, 0.0)]);
    assert_eq!(
        steps(&flops_over_time(&trace)),
        [(2, 2.0), (6, 3.0), (10, 0.0)]
    );
    let depths = use_by_depth(&trace, 4);
    assert_eq!(depths.edges_ns, [0, 5, 10, 15, 20]);
    assert_eq!(depths.rows[0].key, None);
    assert_eq!(depths.rows[0].share, [0.3, 0.9, 0.0, 0.0]);
    let split = time_split(&trace);
    assert_eq!(
        (split.tasks_ns, split.idle_ns, split.runtime_ns),
        (12, 0, 28)
    );
    close(
        efficiency(&trace, Some(&trace), Some(&trace))
            .product()
            .unwrap(),
        12.0 / 40.0,
    );
    assert_eq!(efficiency(&trace, None, None).product(), None);
}

/// Two tasks of a tiled node with a pause between them, and a group.
#[test]
fn nodes_live_and_work() {
    let mut trace = random(Shape::small(1));
    let front = |kind| {
        trace
            .tables
            .fronts
            .iter()
            .find(|f| f.kind == kind)
            .unwrap()
            .clone()
    };
    let (tiled, group) = (front(FrontKind::Tiled), front(FrontKind::GroupTop));
    let (depth, of_tiled) = (tiled.depth, tiled.node);
    let mut hand = empty(2, 0, 50);
    for (node, start, end) in [
        (tiled.node, 5, 10),
        (tiled.node, 8, 12),
        (tiled.node, 20, 30),
        (group.node, 7, 9),
    ] {
        task(&mut hand, 0, 0, start, end).node = node;
    }
    hand.tables.fronts = std::mem::take(&mut trace.tables.fronts);
    let nodes = nodes_over_time(&hand);
    assert_eq!(steps(&nodes.parallel), [(5, 1.0), (30, 0.0)]);
    assert_eq!(
        steps(&nodes.parallel_running),
        [(5, 1.0), (12, 0.0), (20, 1.0), (30, 0.0)]
    );
    assert_eq!(steps(&nodes.sequential), [(7, 1.0), (9, 0.0)]);
    let lives = node_activity(&hand);
    let life = lives.iter().find(|n| n.node == of_tiled).unwrap();
    assert_eq!(
        (life.depth, life.group, life.from_ns, life.to_ns),
        (Some(depth), false, 5, 30)
    );
    assert_eq!(
        steps(&life.running),
        [
            (5, 1.0),
            (8, 2.0),
            (10, 1.0),
            (12, 0.0),
            (20, 1.0),
            (30, 0.0)
        ]
    );
}

#[test]
fn memory_of_a_small_run() {
    let mut trace = empty(1, 1, 100);
    trace.manifest.run.host_bytes = 100;
    trace.manifest.run.memory_limit_bytes = Some(1000);
    trace
        .manifest
        .analysis
        .insert("peak_bytes".into(), 200.into());
    let rows = [
        (10, 0, 0, 150, 250),
        (20, 1, 0, 50, 300),
        (25, 1, 1, 40, 40),
        (30, 0, 0, -120, 180),
        (40, 1, 1, -40, 0),
    ];
    for (time_ns, node, memory_node, delta_bytes, after_bytes) in rows {
        trace.tables.memory.push(Memory {
            time_ns,
            task: 0,
            node,
            memory_node,
            handle: node,
            delta_bytes,
            after_bytes,
        });
    }
    let memory = memory_over_time(&trace, 1);
    let total = [
        (0, 100.0),
        (10, 250.0),
        (20, 300.0),
        (25, 340.0),
        (30, 220.0),
        (40, 180.0),
    ];
    assert_eq!(steps(&memory.total), total);
    assert_eq!(
        (memory.memory_nodes[1].peak_bytes, memory.tree_nodes[0].node),
        (40.0, 0)
    );
    assert_eq!(
        steps(&memory.tree_nodes[0].bytes),
        [(10, 150.0), (30, 30.0)]
    );
    assert_eq!(
        steps(&memory.other_tree_nodes),
        [(20, 50.0), (25, 90.0), (40, 50.0)]
    );
    let peak = memory_peak(&trace);
    assert_eq!(
        (peak.peak_bytes, peak.at_ns, peak.left_bytes),
        (200, Some(20), 80)
    );
    assert_eq!((peak.of_prediction, peak.of_limit), (Some(1.0), Some(0.3)));
    assert_eq!(
        peak.memory_nodes
            .iter()
            .map(|n| n.peak_bytes)
            .collect::<Vec<_>>(),
        [300, 40]
    );
}

#[test]
fn links_carry_their_bytes() {
    let mut trace = empty(1, 1, 100);
    for (start_ns, end_ns, source_node, bytes) in
        [(10, 20, 0, 1000), (15, 25, 0, 3000), (30, 30, 1, 8)]
    {
        trace.tables.transfers.push(Transfer {
            asked_ns: 5,
            start_ns,
            end_ns,
            handle: 0,
            source_node,
            target_node: 1 - source_node,
            reason: TransferReason::Fetch,
            bytes,
        });
    }
    let links = transfers_over_time(&trace);
    assert_eq!(
        (
            links[0].source_node,
            links[0].bytes,
            links[0].transfers,
            links[0].busy_ns
        ),
        (0, 4000, 2, 20)
    );
    assert_eq!(
        steps(&links[0].bytes_per_s),
        [(10, 100e9), (15, 400e9), (20, 300e9), (25, 0.0)]
    );
    close(links[1].bytes_per_s.integral(0, 100), 8e9);
}

#[test]
fn delays_and_rates_by_hand() {
    let mut trace = empty(2, 0, 1000);
    for k in 0..100 {
        let t = task(&mut trace, 1, (k % 2) as u16, 200 + k, 210 + k);
        (t.ready_ns, t.pop_ns, t.flops, t.node) =
            (200 + k - (k + 1), 200 + k - 1, 30, (k % 4) as u32);
    }
    let delays = delays(&trace);
    assert_eq!(
        (delays.len(), delays[0].codelet.as_str(), delays[0].tasks),
        (1, "c1", 100)
    );
    assert_eq!(delays[0].quantiles_ns, [1, 5, 25, 50, 75, 95, 99, 100]);
    assert_eq!((delays[0].mean_ns, delays[0].mean_taken_ns), (50.5, 1.0));
    let rates = rates(&trace);
    assert_eq!(rates.all.unwrap().gflops_busy, Some(3.0));
    assert_eq!(rates.all.unwrap().gflops_span, Some(3000.0 / 109.0));
    assert_eq!(
        rates
            .workers
            .iter()
            .map(|r| (r.key, r.tasks))
            .collect::<Vec<_>>(),
        [(Some(0), 50), (Some(1), 50)]
    );
    assert_eq!(
        (rates.nodes.len(), rates.depths.len(), rates.depths[0].key),
        (4, 1, None)
    );
}

/// A random run whose device has memory of its own events.
fn run(seed: u64) -> Trace {
    let mut trace = random(Shape::small(seed));
    trace.manifest.run.host_bytes = 0;
    trace
}

/// Integrals are the sums over the tables, whatever the bins.
#[test]
fn nothing_is_lost_over_time() {
    for seed in 0..40 {
        let trace = run(seed);
        let (rows, end) = (&trace.tables.tasks, trace.manifest.run.end_ns + 10);
        let sum = |f: &dyn Fn(&treeqr_profiling::trace::schema::Task) -> u64| {
            rows.iter().map(f).sum::<u64>() as f64
        };
        let busy = sum(&|t| t.end_ns - t.start_ns);
        let tasks = tasks_over_time(&trace);
        close(
            tasks.ready.integral(0, end),
            sum(&|t| t.pop_ns - t.ready_ns),
        );
        close(
            tasks.unfinished.integral(0, end),
            sum(&|t| t.end_ns - t.submit_ns),
        );
        close(tasks.running.integral(0, end), busy);
        assert!(tasks.running.max() <= trace.tables.workers.len() as f64);
        let flops = flops_over_time(&trace);
        close(flops.integral(0, end), sum(&|t| t.flops));
        for (curve, n) in [(&flops, 7), (&tasks.ready, 100), (&tasks.unfinished, 1)] {
            let bins = curve.bins(3, end, n);
            assert_eq!(
                (bins.len(), bins[0].from_ns, bins[n - 1].to_ns),
                (n, 3, end)
            );
            let area: f64 = bins
                .iter()
                .map(|b| b.mean * (b.to_ns - b.from_ns) as f64)
                .sum();
            close(area, curve.integral(3, end));
            for bin in &bins {
                assert!(bin.min <= bin.mean * (1.0 + 1e-12) && bin.mean <= bin.max * (1.0 + 1e-12));
                let at = |t: u64| curve.at(t);
                let values = [at(bin.from_ns), at(bin.to_ns - 1)];
                assert!(
                    values.iter().all(|&v| bin.min <= v && v <= bin.max),
                    "seed {seed}"
                );
            }
            let peak = bins.iter().map(|b| b.max).fold(0.0, f64::max);
            assert_eq!(peak, curve.max(), "a bin lost the peak");
        }
        for link in transfers_over_time(&trace) {
            close(link.bytes_per_s.integral(0, end), link.bytes as f64 * 1e9);
        }
        let lives = node_activity(&trace);
        close(lives.iter().map(|n| n.running.integral(0, end)).sum(), busy);
        let groups = nodes_over_time(&trace);
        for life in lives.iter().filter(|n| n.group) {
            assert!(
                groups
                    .sequential
                    .at(life.running.steps.first().map_or(0, |s| s.time_ns))
                    >= f64::from(u8::from(life.busy_ns > 0))
            );
        }
        assert!(
            (0..50)
                .all(|k| groups.parallel_running.at(k * end / 50)
                    <= groups.parallel.at(k * end / 50))
        );
        close(
            rates(&trace).depths.iter().map(|r| r.flops).sum::<u64>() as f64,
            sum(&|t| t.flops),
        );
    }
}

/// Stacked rows add up to what the workers did, bin by bin.
#[test]
fn stacks_add_up() {
    for seed in 0..20 {
        let trace = run(seed);
        let running = tasks_over_time(&trace).running;
        let busy: u64 = trace
            .tables
            .tasks
            .iter()
            .map(|t| t.end_ns - t.start_ns)
            .sum();
        for stack in [
            use_by_depth(&trace, 37),
            use_by_node(&trace, 37, 5),
            use_by_node(&trace, 37, 10_000),
        ] {
            assert_eq!(stack.rows.iter().map(|r| r.busy_ns).sum::<u64>(), busy);
            let (from, to) = (stack.edges_ns[0], stack.edges_ns[37]);
            for (k, bin) in running.bins(from, to, 37).iter().enumerate() {
                let sum: f64 = stack.rows.iter().map(|r| r.share[k]).sum();
                close(sum, bin.mean / stack.workers as f64);
                assert!(sum <= 1.0 + 1e-12);
            }
        }
        let nodes = use_by_node(&trace, 10, 5);
        assert!(
            nodes
                .rows
                .windows(2)
                .all(|p| p[1].key.is_none() || p[0].busy_ns >= p[1].busy_ns)
        );
        assert!(nodes.rows.len() <= 6);
    }
}

#[test]
fn tree_nodes_hold_what_is_held() {
    for seed in 0..20 {
        let trace = run(seed);
        for top in [0, 3, 1000] {
            let memory = memory_over_time(&trace, top);
            assert!(memory.tree_nodes.len() <= top);
            for step in &memory.total.steps {
                let nodes = memory
                    .tree_nodes
                    .iter()
                    .map(|n| n.bytes.at(step.time_ns))
                    .sum::<f64>();
                assert_eq!(
                    nodes + memory.other_tree_nodes.at(step.time_ns),
                    step.value,
                    "seed {seed}"
                );
            }
        }
        let peak = memory_peak(&trace);
        assert_eq!(
            peak.peak_bytes as f64,
            memory_over_time(&trace, 0).memory_nodes[0].peak_bytes
        );
        assert_eq!(
            peak.left_bytes,
            trace
                .tables
                .memory
                .iter()
                .map(|m| m.delta_bytes)
                .sum::<i64>()
        );
    }
}
