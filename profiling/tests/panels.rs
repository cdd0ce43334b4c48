//! Pictures: every panel of every trace is well-formed, lies on its page, is bounded, and says what the rows say.

mod common;

use common::{CODELETS, Shape as Size, random};
use std::collections::{BTreeMap, BTreeSet};
use treeqr_profiling::palette;
use treeqr_profiling::panels::grid::Grid;
use treeqr_profiling::panels::scene::{Scene, Shape};
use treeqr_profiling::panels::{PANELS, PanelEntry, PanelError, PanelOptions, png, svg, write};
use treeqr_profiling::trace::Trace;

/// Random ones, one task, many workers, no fronts, no memory, no times that differ.
fn samples() -> Vec<(String, Trace)> {
    let mut out: Vec<(String, Trace)> = (0..6)
        .map(|seed| (format!("seed {seed}"), random(Size::small(seed))))
        .collect();
    let base = || random(Size::small(3));
    let mut one = base();
    one.tables.tasks.truncate(1);
    one.tables.states.clear();
    one.tables.memory.clear();
    out.push(("one task".into(), one));
    let mut bare = base();
    bare.tables.fronts.clear();
    bare.tables.memory.clear();
    bare.tables.workers.clear();
    bare.tables.codelets.clear();
    bare.tables.states.clear();
    out.push(("tasks alone".into(), bare));
    let mut flat = base();
    for task in &mut flat.tables.tasks {
        (task.submit_ns, task.ready_ns, task.pop_ns) = (5, 5, 5);
        (task.start_ns, task.end_ns, task.flops) = (5, 5, 0);
    }
    flat.tables.memory.clear();
    out.push(("no time at all".into(), flat));
    let many = Size {
        seed: 9,
        tasks: 3000,
        cpus: 200,
        devices: 8,
    };
    out.push(("many workers".into(), random(many)));
    let mut named = base();
    named.manifest.matrix.insert(
        "name".into(),
        format!("<&\"'\u{0}\u{7}> {}", "long ".repeat(100)).into(),
    );
    named.manifest.run.memory_limit_bytes = Some(1);
    named
        .manifest
        .analysis
        .insert("peak_bytes".into(), u64::MAX.into());
    out.push(("odd words".into(), named));
    out
}

fn draw(panel: &PanelEntry, trace: &Trace, options: &PanelOptions) -> Scene {
    panel.draw(trace, options).expect("a picture")
}

fn points(shape: &Shape) -> Vec<(f64, f64)> {
    match shape {
        Shape::Rect { area, .. } | Shape::Outline { area, .. } => {
            vec![(area.x, area.y), (area.right(), area.bottom())]
        }
        Shape::Polyline { points, .. } | Shape::Polygon { points, .. } => points.clone(),
        Shape::Dot { x, y, .. } => vec![(*x, *y)],
        Shape::Arrow { from, to, .. } => vec![*from, *to],
        Shape::Text(text) => vec![(text.x, text.y)],
    }
}

#[test]
fn every_panel_draws_every_trace_within_its_page() {
    let parts = [
        PanelOptions::default(),
        PanelOptions {
            size: Some((640, 400)),
            from_ns: Some(1),
            to_ns: Some(20_000),
            marked: BTreeSet::from([0, 3, 40]),
            step_ns: Some(500),
        },
    ];
    for (name, trace) in samples() {
        for panel in PANELS {
            for (k, options) in parts.iter().enumerate() {
                if k == 1 && name == "no time at all" {
                    continue;
                }
                let scene = draw(panel, &trace, options);
                let about = format!("{} of {name}, options {k}", panel.name);
                for shape in scene.groups.iter().flat_map(|group| &group.shapes) {
                    for (x, y) in points(shape) {
                        assert!(
                            (-0.01..=scene.width + 0.01).contains(&x)
                                && (-0.01..=scene.height + 0.01).contains(&y),
                            "{about}: {shape:?} on {} x {}",
                            scene.width,
                            scene.height
                        );
                    }
                }
                let text = svg(&scene);
                let document = roxmltree::Document::parse(&text)
                    .unwrap_or_else(|error| panic!("{about}: {error}"));
                assert_eq!(document.root_element().tag_name().name(), "svg");
                assert!(!text.contains("NaN") && !text.contains("inf"), "{about}");
            }
        }
    }
}

#[test]
fn pictures_are_decoded_and_not_blank() {
    let trace = random(Size::small(5));
    for panel in PANELS {
        let scene = draw(panel, &trace, &PanelOptions::default());
        let bytes = png(&scene, 1.5).expect("pixels");
        let map = tiny_skia::Pixmap::decode_png(&bytes).expect("a PNG");
        assert_eq!(f64::from(map.width()), (1.5 * scene.width).round());
        let colours: BTreeSet<[u8; 3]> = map
            .pixels()
            .iter()
            .map(|p| [p.red(), p.green(), p.blue()])
            .collect();
        assert!(colours.len() > 30, "{}: {}", panel.name, colours.len());
    }
    let scene = Scene::new(20_000.0, 20_000.0, String::new());
    assert!(matches!(png(&scene, 8.0), Err(PanelError::TooLarge { .. })));
    assert!(matches!(
        png(&scene, f64::NAN),
        Err(PanelError::TooLarge { .. })
    ));
}

/// Widths of the rectangles of the tasks on each row, in units of the page.
fn widths(scene: &Scene) -> BTreeMap<i64, f64> {
    let mut out = BTreeMap::new();
    for group in scene.groups.iter().filter(|group| group.name == "tasks") {
        for shape in &group.shapes {
            if let Shape::Rect { area, .. } = shape {
                *out.entry((area.y * 100.0) as i64).or_default() += area.w;
            }
        }
    }
    out
}

#[test]
fn widths_in_the_gantt_chart_are_times_in_tasks() {
    for seed in 0..6 {
        let trace = random(Size::small(seed));
        let scene = draw(
            PanelEntry::named("gantt").unwrap(),
            &trace,
            &PanelOptions::default(),
        );
        let tasks = &trace.tables.tasks;
        let mut times: BTreeMap<u16, f64> = BTreeMap::new();
        for task in tasks {
            *times.entry(task.worker).or_default() += (task.end_ns - task.start_ns) as f64;
        }
        let begin = tasks.iter().map(|t| t.submit_ns).min().unwrap();
        let begin = begin.min(trace.manifest.run.begin_ns);
        let last = tasks.iter().map(|t| t.end_ns).max().unwrap() - begin;
        // Left and right of the data: the same on every page.
        let unit = last as f64 / (1200.0 - 76.0 - 92.0);
        let drawn: Vec<f64> = widths(&scene).into_values().collect();
        let expected: Vec<f64> = times
            .values()
            .filter(|&&t| t > 0.0)
            .map(|t| t / unit)
            .collect();
        assert_eq!(drawn.len(), expected.len(), "seed {seed}");
        for (drawn, expected) in drawn.iter().zip(&expected) {
            assert!((drawn - expected).abs() < 1.0, "{drawn} for {expected}");
        }
    }
}

/// One more task where there are many changes nothing of the size; one that is marked is seen.
#[test]
fn shapes_are_bounded_and_what_is_marked_is_seen() {
    let trace = random(Size {
        seed: 2,
        tasks: 200_000,
        cpus: 4,
        devices: 0,
    });
    for panel in PANELS {
        let scene = draw(panel, &trace, &PanelOptions::default());
        let text = svg(&scene);
        assert!(
            scene.shapes() < 150_000,
            "{}: {}",
            panel.name,
            scene.shapes()
        );
        assert!(text.len() < 6_000_000, "{}: {}", panel.name, text.len());
    }
    let short = trace.tables.tasks.iter().filter(|t| t.codelet == 8);
    let short = short.min_by_key(|t| t.end_ns - t.start_ns).expect("one");
    let options = PanelOptions {
        marked: BTreeSet::from([short.task]),
        ..PanelOptions::default()
    };
    let scene = draw(PanelEntry::named("gantt").unwrap(), &trace, &options);
    let wanted = palette::codelet(CODELETS[8].0);
    let strong = scene.groups.iter().filter(|g| g.name == "tasks");
    let strong = strong.flat_map(|g| &g.shapes).filter(|shape| {
        matches!(shape, Shape::Rect { area, fill, opacity }
            if *opacity == 1.0 && *fill == wanted && area.w >= 1.0)
    });
    assert_eq!(strong.count(), 1);
}

#[test]
fn what_cannot_be_is_said_with_its_row() {
    let gantt = PanelEntry::named("gantt").unwrap();
    let fails = |damage: fn(&mut Trace)| {
        let mut trace = random(Size::small(4));
        damage(&mut trace);
        let drawn = gantt.draw(&trace, &PanelOptions::default());
        drawn.expect_err("a fault").to_string()
    };
    let said = fails(|t| t.tables.tasks[6].end_ns = 0);
    assert!(said.contains("tasks, row 7"), "{said}");
    let said = fails(|t| t.tables.fronts[0].parent = Some(0));
    assert!(said.contains("fronts, row 1"), "{said}");
    let said = fails(|t| {
        let front = t.tables.fronts[0].clone();
        t.tables.fronts.push(front);
    });
    assert!(said.contains("there twice"), "{said}");
    let said = fails(|t| t.tables.tasks.clear());
    assert!(said.contains("nothing to draw"), "{said}");
    let trace = random(Size::small(4));
    let of = |size, from_ns, to_ns| PanelOptions {
        size,
        from_ns,
        to_ns,
        ..PanelOptions::default()
    };
    for options in [
        of(Some((1, 1)), None, None),
        of(None, Some(u64::MAX), None),
        of(None, Some(9), Some(9)),
    ] {
        assert!(gantt.draw(&trace, &options).is_err(), "{options:?}");
    }
}

#[test]
fn files_are_not_replaced_unless_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b.svg");
    write(&path, b"one", false).unwrap();
    assert!(matches!(
        write(&path, b"two", false),
        Err(PanelError::Exists { .. })
    ));
    assert_eq!(std::fs::read(&path).unwrap(), b"one");
    write(&path, b"two", true).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"two");
    let inner = folder.path().join("a");
    assert!(write(&inner, b"three", true).is_err() && path.exists());
    assert_eq!(std::fs::read_dir(inner).unwrap().count(), 1);
}

#[test]
fn the_grid_for_terminals_keeps_the_sums() {
    for (name, trace) in samples() {
        let grid = Grid::of(&trace, 60).unwrap();
        let time: u64 = trace
            .tables
            .tasks
            .iter()
            .map(|t| t.end_ns - t.start_ns)
            .sum();
        let drawn: f64 = grid.rows.iter().map(|row| row.busy).sum();
        let expected = time as f64 / grid.run_ns.max(1) as f64;
        assert!(
            (drawn - expected).abs() < 1e-6 * (1.0 + expected),
            "{name}: {drawn} {expected}"
        );
        let most = trace.tables.memory.iter().filter(|m| m.memory_node == 0);
        let most = most.map(|m| m.after_bytes).max().unwrap_or(0);
        assert_eq!(
            grid.memory.iter().copied().fold(0.0, f64::max),
            most as f64,
            "{name}"
        );
    }
}
