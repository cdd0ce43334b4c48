//! What tasks work on, as traces tell it, against what the plan says of the same tasks in another way.

use treeqr_matrices::load;
use treeqr_solver::{CODELETS, GraphTask, Options, RunShape, Symbolic, analyse};

fn graph(symbolic: &Symbolic, shape: RunShape) -> Vec<GraphTask> {
    let mut tasks = Vec::new();
    symbolic.task_graph(shape).for_each(|task| tasks.push(task));
    tasks
}

fn of<'a>(tasks: &'a [GraphTask], codelet: &'a str) -> impl Iterator<Item = &'a GraphTask> {
    let number = CODELETS.iter().position(|&name| name == codelet);
    let number = number.expect("a codelet") as u16;
    tasks.iter().filter(move |t| t.spec.codelet.0 == number)
}

const NAMES: [&str; 6] = [
    "grid3d-10",
    "lp-600",
    "pose-60",
    "TF11",
    "conv2d-20",
    "bibd_13_6",
];

fn analysed(name: &str) -> Symbolic {
    let loaded = load::<f64>(&format!("gallery:{name}")).expect("a matrix");
    let options = Options {
        threads: 2,
        nb: Some(32),
        mb: Some(64),
        ..Options::default()
    };
    analyse(loaded.matrix.pattern(), &options).expect("a pattern")
}

#[test]
fn the_graph_is_what_was_predicted() {
    for name in NAMES {
        let symbolic = analysed(name);
        let nrhs = usize::from(!symbolic.transposed());
        let shape = RunShape::of::<f64>(nrhs, true);
        let (tasks, prediction) = (graph(&symbolic, shape), symbolic.predict(shape));
        assert_eq!(tasks.len() as u64, prediction.task_count(), "{name}");
        let flops: u64 = tasks.iter().map(|t| t.spec.flops).sum();
        assert_eq!(flops, prediction.flops, "{name}");
        let by_front: u64 = symbolic.task_graph(shape).front_flops().iter().sum();
        assert_eq!(by_front, prediction.flops, "{name}");
        // In the order of submission the bytes rise to the predicted peak and end with the factors.
        let (mut now, mut peak) = (0, 0);
        for task in &tasks {
            now += task.allocated_bytes;
            peak = peak.max(now);
            now -= task.freed_bytes;
        }
        assert_eq!(peak, prediction.peak_bytes as u64, "{name}");
        assert_eq!(now, prediction.factor_bytes as u64, "{name}");
        // Every handle that the plan has is as large as what its tasks took for it.
        let handles = symbolic.task_graph(shape).handles();
        let sizes: u64 = handles.iter().map(|(bytes, _)| bytes).sum();
        let taken: u64 = tasks.iter().map(|t| t.allocated_bytes).sum();
        assert_eq!(sizes, taken, "{name}");
    }
}

#[test]
fn entries_are_those_that_move() {
    let (mut tiled, mut all) = (0, 0);
    for name in NAMES {
        let symbolic = analysed(name);
        let shape = RunShape::of::<f64>(0, false);
        let tasks = graph(&symbolic, shape);
        for task in of(&tasks, "init_front") {
            assert_eq!(8 * task.geometry.entries, task.allocated_bytes, "{name}");
            tiled += 1;
        }
        // All rows of A that go to a front in tiles, entry by entry: none twice, none forgotten. Those of singletons go to none.
        let brought: u64 = of(&tasks, "init_block").map(|t| t.geometry.entries).sum();
        assert!(brought <= symbolic.nnz() as u64, "{name}");
        if symbolic.unit_counts().0 == 0 && symbolic.singletons() == 0 {
            assert_eq!(brought, symbolic.nnz() as u64, "{name}");
            all += 1;
        }
        // The contribution block of a child of a front in tiles, part by part, is its whole trapezoid.
        for (c, front) in symbolic.fronts().iter().enumerate() {
            let copies = of(&tasks, "block_copy").filter(|t| t.geometry.child == Some(c as u32));
            let copied: u64 = copies.map(|t| t.geometry.entries).sum();
            let in_tiles = |p: u32| symbolic.front_tiles(p as usize, 8).is_some();
            if front.parent.is_some_and(in_tiles) {
                let rows = front.cb_rows as usize;
                let columns = front.n - front.npiv;
                let all: usize = (0..columns as usize).map(|j| rows.min(j + 1)).sum();
                assert_eq!(copied, all as u64, "{name}: child {c}");
            } else {
                assert_eq!(copied, 0, "{name}: child {c}");
            }
        }
    }
    assert!(tiled > 20, "the test needs fronts in tiles: {tiled}");
    assert!(all > 0, "and a matrix without others");
}

#[test]
fn panels_take_their_factors_when_they_make_them_unless_a_device_may() {
    let (mut begun, mut all) = (Vec::new(), Vec::new());
    for for_devices in [false, true] {
        let loaded = load::<f64>("gallery:grid3d-12").expect("a matrix");
        let options = Options {
            nb: Some(32),
            mb: Some(64),
            for_devices,
            ..Options::default()
        };
        let symbolic = analyse(loaded.matrix.pattern(), &options).expect("a pattern");
        // The tiles are asked for, so all fronts may go to a device.
        let tasks = graph(&symbolic, RunShape::of::<f64>(0, true));
        let panels: Vec<_> = of(&tasks, "geqrt").chain(of(&tasks, "tpqrt")).collect();
        assert!(panels.len() > 100, "the test needs panels");
        for task in panels {
            assert_eq!(task.allocated_bytes == 0, for_devices, "{task:?}");
            assert_eq!(task.spec.host_only, !for_devices, "{task:?}");
        }
        let sum = |tasks: &mut dyn Iterator<Item = &GraphTask>| -> u64 {
            tasks.map(|t| t.allocated_bytes).sum()
        };
        begun.push(sum(&mut of(&tasks, "init_front")));
        all.push(sum(&mut tasks.iter()));
    }
    assert_eq!(all[0], all[1], "the same buffers, at another time");
    assert!(begun[0] < begun[1], "{begun:?}");
}

#[test]
fn kernels_do_about_what_their_blocks_ask_for() {
    // Dense blocks bound the flops from above: the staircase only takes away.
    for name in NAMES {
        let symbolic = analysed(name);
        let tasks = graph(&symbolic, RunShape::of::<f64>(0, false));
        for (codelet, factor) in [
            ("gemqrt", 4.0),
            ("tpmqrt", 4.0),
            ("geqrt", 2.0),
            ("tpqrt", 2.0),
        ] {
            for task in of(&tasks, codelet) {
                let g = task.geometry;
                let extra = if codelet == "tpmqrt" { g.inner } else { 0 };
                let volume = f64::from(g.rows + extra) * f64::from(g.cols) * f64::from(g.inner);
                assert!(volume > 0.0, "{name}: {codelet} {g:?}");
                let most = factor * volume + 8.0 * f64::from(g.rows + g.cols) * f64::from(g.inner);
                assert!(task.spec.flops as f64 <= most, "{name}: {codelet} {g:?}");
            }
        }
    }
}
