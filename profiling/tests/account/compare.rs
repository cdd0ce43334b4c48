//! Two traces side by side: by hand, a trace with itself, the two changed round, and what cannot be compared.

use crate::common::{Shape, random};
use crate::hand::{empty, task};
use crate::twin::{Doing, TPMQRT, Tree, World, play, world};
use treeqr_profiling::compare::{CompareError, Comparison, MatchedBy, compare};
use treeqr_profiling::trace::schema::{Front, FrontKind};
use treeqr_profiling::trace::{Trace, TraceKind};

fn compared(a: &Trace, b: &Trace) -> Comparison {
    compare(a, b).expect("both have times")
}

/// Every difference of one is the negative of the other's.
fn opposite(x: &Comparison, y: &Comparison) {
    assert_eq!(x.headline.len(), y.headline.len());
    for (f, g) in x.headline.iter().zip(&y.headline) {
        assert_eq!((&f.name, f.a, f.b), (&g.name, g.b, g.a));
        assert_eq!(f.difference(), -g.difference());
    }
    assert_eq!(
        (&x.flops.first, &x.flops.second),
        (&y.flops.second, &y.flops.first)
    );
    let steps = |c: &Comparison, sign: f64| -> Vec<(u64, f64)> {
        c.flops
            .difference
            .steps
            .iter()
            .map(|s| (s.time_ns, sign * s.value))
            .collect()
    };
    assert_eq!(steps(x, 1.0), steps(y, -1.0));
    let names = |c: &Comparison| {
        c.codelets
            .iter()
            .map(|c| c.codelet.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(x), names(y));
    for (f, g) in x.codelets.iter().zip(&y.codelets) {
        assert_eq!((f.difference_ns, f.pairs), (-g.difference_ns, g.pairs));
        let product = f
            .median_ratio
            .zip(g.median_ratio)
            .map_or(1.0, |(a, b)| a * b);
        assert!((product - 1.0).abs() < 1e-12);
    }
    for (f, g) in x.nodes.iter().zip(&y.nodes) {
        assert_eq!((f.node, f.difference_ns), (g.node, -g.difference_ns));
        assert_eq!(f.life_difference_ns(), g.life_difference_ns().map(|ns| -ns));
    }
    let (p, q) = (&x.anomalies, &y.anomalies);
    let ids = |list: &[treeqr_profiling::compare::PairedTask], turn: bool| {
        let pair = |t: &treeqr_profiling::compare::PairedTask| {
            if turn { [t.task[1], t.task[0]] } else { t.task }
        };
        let mut ids: Vec<_> = list.iter().map(pair).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(&p.both, false), ids(&q.both, true));
    assert_eq!(ids(&p.only_first, false), ids(&q.only_second, true));
    assert_eq!(ids(&p.only_second, false), ids(&q.only_first, true));
    assert_eq!(p.by_chance, q.by_chance);
    assert_eq!(x.matched.tasks, y.matched.tasks);
    assert_eq!(x.matched.only, [y.matched.only[1], y.matched.only[0]]);
}

#[test]
fn numbers_by_hand() {
    let mut a = empty(2, 0, 1000);
    task(&mut a, 0, 0, 100, 200).flops = 10;
    task(&mut a, 1, 0, 200, 500).flops = 30;
    task(&mut a, 1, 1, 100, 300).flops = 20;
    let mut b = empty(2, 0, 900);
    b.manifest.run.begin_ns = 50;
    task(&mut b, 0, 0, 50, 250).flops = 10;
    task(&mut b, 1, 0, 250, 400).flops = 30;
    task(&mut b, 1, 1, 250, 350).flops = 20;
    let found = compared(&a, &b);
    assert_eq!(
        (found.matched.by, found.matched.tasks, found.matched.only),
        (MatchedBy::Number, 3, [0, 0])
    );
    let figure = |name: &str| {
        let figure = found.headline.iter().find(|f| f.name == name);
        figure
            .map(|f| (f.a, f.b))
            .unwrap_or_else(|| panic!("no {name}"))
    };
    // The first began at 0, the second at 50.
    assert_eq!(figure("makespan"), (500.0, 350.0));
    assert_eq!(figure("time in tasks"), (600.0, 450.0));
    assert_eq!(figure("flops"), (60.0, 60.0));
    let steps = |s: &treeqr_profiling::account::Steps| {
        s.steps
            .iter()
            .map(|s| (s.time_ns, s.value))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        steps(&found.flops.first),
        [(200, 10.0), (300, 30.0), (500, 60.0)]
    );
    assert_eq!(
        steps(&found.flops.second),
        [(200, 10.0), (300, 30.0), (350, 60.0)]
    );
    assert_eq!(steps(&found.flops.difference), [(350, 30.0), (500, 0.0)]);
    let c1 = &found.codelets[0];
    assert_eq!(
        (c1.codelet.as_str(), c1.time_ns, c1.difference_ns, c1.pairs),
        ("c1", [500, 250], -250, 2)
    );
    assert!((c1.median_ratio.unwrap() - 0.5).abs() < 1e-12);
    let c0 = &found.codelets[1];
    assert_eq!(
        (c0.difference_ns, c0.median_ratio.map(|r| r.round())),
        (100, Some(2.0))
    );
    let node = &found.nodes[0];
    assert_eq!(
        (node.from_ns, node.to_ns, node.difference_ns),
        ([Some(100), Some(0)], [Some(500), Some(350)], -150)
    );
    assert_eq!(node.life_difference_ns(), Some(-50));
    opposite(&found, &compared(&b, &a));
}

#[test]
fn a_trace_with_itself_differs_in_nothing() {
    for seed in 0..12 {
        let trace = random(Shape::small(seed));
        let same = compared(&trace, &trace);
        assert_eq!(same.notes, Vec::<String>::new());
        assert!(same.headline.iter().all(|f| f.difference() == 0.0));
        assert!(same.flops.difference.steps.is_empty());
        assert!(
            same.codelets
                .iter()
                .all(|c| c.difference_ns == 0 && c.median_ratio == Some(1.0))
        );
        assert!(
            same.nodes
                .iter()
                .all(|n| n.difference_ns == 0 && n.life_difference_ns() == Some(0))
        );
        assert_eq!(
            (same.matched.by, same.matched.only),
            (MatchedBy::Number, [0, 0])
        );
        assert!(same.anomalies.only_first.is_empty() && same.anomalies.only_second.is_empty());
        assert_eq!(
            same.anomalies.anomalous[0],
            same.anomalies.both.len() as u64
        );
    }
}

/// Slow in both: a property of the tile. Slow in one: a perturbation.
#[test]
fn anomalies_are_told_apart() {
    for seed in 0..4 {
        let tree = Tree::broad(seed);
        let updates: Vec<u32> = (0..tree.jobs.len() as u32)
            .filter(|&id| tree.jobs[id as usize].codelet == TPMQRT)
            .collect();
        let (of_both, of_second) = (&updates[10..14], &updates[60..66]);
        let slow = |ids: Vec<u32>| move |d: &Doing<'_>| if ids.contains(&d.id) { 6.0 } else { 1.0 };
        let first = slow(of_both.to_vec());
        let second = slow([of_both, of_second].concat());
        let a = play(
            &tree,
            &World {
                factor: &first,
                ..world(seed)
            },
        );
        let b = play(
            &tree,
            &World {
                factor: &second,
                workers: 3,
                ..world(seed + 50)
            },
        );
        let found = compared(&a, &b);
        let x = &found.anomalies;
        let ids = |list: &[treeqr_profiling::compare::PairedTask], n: usize| {
            let mut ids: Vec<_> = list.iter().take(n).map(|t| t.task[0]).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(ids(&x.both, 4), of_both, "seed {seed}");
        assert_eq!(ids(&x.only_second, 6), of_second, "seed {seed}");
        assert!(x.only_first.iter().all(|t| t.ratio[0].unwrap() < 2.0));
        assert!(
            x.both[0]
                .ratio
                .iter()
                .all(|r| (4.0..8.0).contains(&r.unwrap()))
        );
        assert!(x.by_chance < 2.0, "{}", x.by_chance);
        opposite(&found, &compared(&b, &a));
    }
}

#[test]
fn other_tasks_of_the_same_tree_are_matched_by_place() {
    let a = play(&Tree::broad(1), &world(1));
    let mut b = play(&Tree::broad(1), &world(9));
    // One task is missing, as after a run that was cancelled; numbers are others; one tile has another size.
    b.tables.tasks.remove(200);
    b.tables.tasks.iter_mut().for_each(|t| t.task += 7);
    b.tables
        .dependencies
        .iter_mut()
        .for_each(|d| (d.task, d.predecessor) = (d.task + 7, d.predecessor + 7));
    b.tables.tasks[300].flops += 1;
    let n = a.tables.tasks.len() as u64;
    let found = compared(&a, &b);
    let m = &found.matched;
    assert_eq!(
        (m.by, m.tasks, m.only, m.other_size),
        (MatchedBy::Place, n - 1, [1, 0], 1)
    );
    assert!(
        found.notes.iter().any(|note| note.contains("other sizes")),
        "{:?}",
        found.notes
    );
    let pairs: u64 = found.codelets.iter().map(|c| c.pairs).sum();
    assert_eq!(pairs, n - 2);
    opposite(&found, &compared(&b, &a));
}

#[test]
fn what_cannot_be_compared_is_said() {
    let a = play(&Tree::broad(1), &world(1));
    let other = |change: &dyn Fn(&mut Trace)| {
        let mut b = a.clone();
        change(&mut b);
        b
    };
    let matrix = other(&|b| {
        _ = b
            .manifest
            .matrix
            .insert("name".to_owned(), "another".into())
    });
    let found = compared(&a, &matrix);
    assert!(
        found.notes.iter().any(|n| n.contains("different matrices")),
        "{:?}",
        found.notes
    );
    assert_eq!(
        (found.matched.by, found.nodes.len(), found.anomalies.pairs),
        (MatchedBy::Nothing, 0, 0)
    );
    assert!(!found.headline.is_empty() && !found.codelets.is_empty());

    let tree = other(&|b| {
        b.tables.fronts.push(Front {
            kind: FrontKind::Tiled,
            ..b.tables.fronts[0].clone()
        });
    });
    let found = compared(&a, &tree);
    assert!(
        found.notes.iter().any(|n| n.contains("trees differ")),
        "{:?}",
        found.notes
    );
    assert_eq!(found.matched.by, MatchedBy::Nothing);

    let graph = other(&|b| b.manifest.kind = TraceKind::Graph);
    assert!(matches!(
        compare(&a, &graph),
        Err(CompareError::Graph { which: "second" })
    ));
    assert!(matches!(
        compare(&graph, &a),
        Err(CompareError::Graph { which: "first" })
    ));
    let none = other(&|b| b.tables.tasks.clear());
    opposite(&compared(&a, &none), &compared(&none, &a));
    serde_json::to_string(&compared(&a, &none)).expect("plain numbers and words");
}
