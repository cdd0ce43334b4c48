//! Pictures: every panel of every trace is well-formed, lies on its page, is bounded, and says what the rows say.

mod common;

use common::samples::{helped, rich, samples, with_helpers, with_solves, worked};
use common::{CODELETS, Shape as Size, random};
use std::collections::{BTreeMap, BTreeSet};
use treeqr_profiling::palette;
use treeqr_profiling::panels::grid::Grid;
use treeqr_profiling::panels::scene::{Area, Scene, Shape};
use treeqr_profiling::panels::{PANELS, PanelEntry, PanelError, PanelOptions, png, svg, write};
use treeqr_profiling::trace::schema::{Share, Switch, SwitchReason, Task};
use treeqr_profiling::trace::{ModuleFacts, Trace};

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
            load_classes: true,
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

/// At half height, at the bottom of the helper's row, in the colour of the task's codelet; told in the legend, where there are any.
#[test]
fn helpers_are_drawn_half_as_high_as_tasks() {
    let said = "helps another worker's task";
    let gantt = draw(
        named("gantt"),
        &random(Size::small(3)),
        &PanelOptions::default(),
    );
    assert!(!texts(&gantt).contains(&said));
    for seed in 0..6 {
        let trace = helped(seed);
        let scene = draw(named("gantt"), &trace, &PanelOptions::default());
        assert!(texts(&scene).contains(&said));
        let boxes = shapes(&scene, "tasks").filter_map(|shape| match shape {
            Shape::Rect { area, fill, .. } => Some((area, fill)),
            _ => None,
        });
        let boxes: Vec<_> = boxes.collect();
        let high = boxes.iter().map(|b| b.0.h).fold(0.0, f64::max);
        let half = |area: &Area| (area.h - 0.5 * high).abs() < 1e-9;
        assert!(
            boxes
                .iter()
                .all(|b| half(b.0) || (b.0.h - high).abs() < 1e-9)
        );
        // Rows end where they did.
        let bottoms: BTreeSet<i64> = boxes
            .iter()
            .map(|b| (b.0.bottom() * 100.0) as i64)
            .collect();
        assert_eq!(bottoms.len(), trace.tables.workers.len());
        let drawn: f64 = boxes.iter().filter(|b| half(b.0)).map(|b| b.0.w).sum();
        let time: u64 = trace
            .tables
            .shares
            .iter()
            .map(|s| s.end_ns - s.start_ns)
            .sum();
        let expected = time as f64 * unit(&trace);
        // What is shorter than a unit goes to the one that has most of it.
        assert!(
            (drawn - expected).abs() < 0.05 * expected,
            "{drawn} for {expected}"
        );
        let longest = trace
            .tables
            .shares
            .iter()
            .max_by_key(|s| s.end_ns - s.start_ns);
        let longest = longest.expect("somebody helps");
        let codelet = trace.tables.tasks[longest.task as usize].codelet;
        let wide = (longest.end_ns - longest.start_ns) as f64 * unit(&trace);
        let wanted = palette::codelet(CODELETS[usize::from(codelet)].0);
        assert!(
            boxes
                .iter()
                .any(|b| half(b.0) && *b.1 == wanted && (b.0.w - wide).abs() < 0.5)
        );

        let scene = draw(named("states"), &trace, &PanelOptions::default());
        let spans = shapes(&scene, "spans").filter_map(|shape| match shape {
            Shape::Rect { area, fill, .. } if *fill == palette::HELPING => Some(area.w),
            _ => None,
        });
        let drawn: f64 = spans.sum();
        assert!(
            (drawn - expected).abs() < 0.05 * expected,
            "{drawn} for {expected}"
        );
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
    let said = fails(|t| {
        t.tables.shares.push(Share {
            task: 0,
            worker: 0,
            parts: 1,
            start_ns: 2,
            end_ns: 1,
        });
    });
    assert!(said.contains("shares, row 1"), "{said}");
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
        let time: u64 = worked(&trace).map(|w| w.2).sum();
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

fn named(name: &str) -> &'static PanelEntry {
    PanelEntry::named(name).expect("a panel")
}

fn shapes<'s>(scene: &'s Scene, group: &'s str) -> impl Iterator<Item = &'s Shape> {
    let groups = scene.groups.iter().filter(move |g| g.name == group);
    groups.flat_map(|group| &group.shapes)
}

fn texts(scene: &Scene) -> Vec<&str> {
    let shapes = scene.groups.iter().flat_map(|group| &group.shapes);
    let texts = shapes.filter_map(|shape| match shape {
        Shape::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// By the sum of cross products.
fn area_of(points: &[(f64, f64)]) -> f64 {
    let next = points.iter().cycle().skip(1);
    let cross = points.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1);
    0.5 * cross.sum::<f64>().abs()
}

/// Units of the page of a nanosecond: all panels over time have the same edges.
fn unit(trace: &Trace) -> f64 {
    let tasks = &trace.tables.tasks;
    let begin = tasks.iter().map(|t| t.submit_ns).min().unwrap();
    let begin = begin.min(trace.manifest.run.begin_ns);
    let last = tasks.iter().map(|t| t.end_ns).max().unwrap() - begin;
    (1200.0 - 76.0 - 92.0) / last as f64
}

#[test]
fn stacks_of_workers_have_the_area_of_the_time_in_tasks() {
    for seed in 0..6 {
        let trace = with_helpers(rich(seed));
        let time: u64 = worked(&trace).map(|w| w.2).sum();
        for panel in ["nodes", "depth"] {
            let scene = draw(named(panel), &trace, &PanelOptions::default());
            // The rule of all workers says how high a worker is.
            let rule = shapes(&scene, "rules").next().expect("a rule");
            let axis = shapes(&scene, "values").filter_map(|shape| match shape {
                Shape::Polyline { points, .. } if points[0].0 == points[1].0 => Some(points[1].1),
                _ => None,
            });
            let below = axis.fold(0.0, f64::max);
            let worker = (below - points(rule)[0].1) / trace.tables.workers.len() as f64;
            let drawn: f64 = shapes(&scene, "curves").map(|s| area_of(&points(s))).sum();
            let expected = time as f64 * unit(&trace) * worker;
            assert!(
                (drawn - expected).abs() < 1e-3 * expected,
                "{panel} of seed {seed}: {drawn} for {expected}"
            );
        }
    }
}

#[test]
fn states_and_the_longest_chain_are_as_wide_as_their_times() {
    for seed in 0..6 {
        let trace = random(Size::small(seed));
        let unit = unit(&trace);
        let time: u64 = (trace.tables.tasks.iter())
            .map(|t| t.end_ns - t.start_ns)
            .sum();
        let scene = draw(named("states"), &trace, &PanelOptions::default());
        let wide = |wanted| -> f64 {
            let boxes = shapes(&scene, "spans").filter_map(|shape| match shape {
                Shape::Rect { area, fill, .. } if *fill == wanted => Some(area.w),
                _ => None,
            });
            boxes.sum()
        };
        let (drawn, expected) = (wide(palette::EXECUTING), time as f64 * unit);
        // Parts of a unit take the kind that has most of it.
        assert!(
            (drawn - expected).abs() < 0.02 * expected,
            "seed {seed}: {drawn} for {expected}"
        );

        let path = treeqr_profiling::account::critical_path(&trace);
        let scene = draw(named("gantt"), &trace, &PanelOptions::default());
        let drawn: f64 = shapes(&scene, "chain")
            .map(|shape| match shape {
                // Drawn inside the task.
                Shape::Outline { area, .. } => area.w + 1.2,
                Shape::Rect { area, .. } => area.w,
                other => panic!("{other:?}"),
            })
            .sum();
        let expected = path.length_ns as f64 * unit;
        assert!(
            (drawn - expected).abs() < 0.5,
            "seed {seed}: {drawn} for {expected}"
        );
    }
}

#[test]
fn solves_do_not_lengthen_the_lives_of_fronts() {
    let before = random(Size::small(3));
    let begin = before.tables.tasks.iter().map(|t| t.submit_ns).min();
    let begin = begin.unwrap().min(before.manifest.run.begin_ns);
    let last = before.tables.tasks.iter().map(|t| t.end_ns).max().unwrap() - begin;
    let after = with_solves(before.clone());
    let options = PanelOptions {
        to_ns: Some(last),
        ..PanelOptions::default()
    };
    let scenes = [&before, &after].map(|trace| draw(named("tree"), trace, &options));
    // The whole run has solves, each as a mark of its own.
    let whole = draw(named("tree"), &after, &PanelOptions::default());
    assert!(shapes(&whole, "solves").count() > 0);
    let lives = |scene: &Scene| -> Vec<Vec<(f64, f64)>> {
        // From left to right; with another line in the legend they lie lower.
        let lives = shapes(scene, "lives").map(points);
        lives
            .map(|points| points.iter().map(|p| (p.0, 0.0)).collect())
            .collect()
    };
    assert!(!lives(&scenes[0]).is_empty());
    assert_eq!(lives(&scenes[0]), lives(&scenes[1]));
}

#[test]
fn what_was_not_recorded_is_said_and_what_was_is_seen() {
    let options = PanelOptions::default();
    let alone = random(Size {
        seed: 5,
        tasks: 60,
        cpus: 2,
        devices: 0,
    });
    let said = [
        ("transfers", "There was no device"),
        ("switches", "--record kernel"),
        ("counters", "--record counters"),
    ];
    for (panel, words) in said {
        let scene = draw(named(panel), &alone, &options);
        assert!(
            texts(&scene).iter().any(|text| text.contains(words)),
            "{panel}"
        );
        assert!(scene.groups.iter().all(|group| group.name != "time"));
    }
    let mut denied = alone.clone();
    denied.manifest.modules.push(ModuleFacts {
        module: "kernel".into(),
        missing: vec!["context switches: not allowed here".into()],
        lost_records: 0,
    });
    let scene = draw(named("switches"), &denied, &options);
    let why = "context switches: not allowed here";
    assert!(texts(&scene).iter().any(|text| text.contains(why)));

    // One preemption of a nanosecond among a hundred sleeps.
    let mut trace = alone;
    let end = trace.tables.tasks.iter().map(|t| t.end_ns).max().unwrap();
    for k in 0..100 {
        let preempted = k == 50;
        trace.tables.switches.push(Switch {
            worker: Some(1),
            out_ns: k * end / 100,
            in_ns: Some(k * end / 100 + if preempted { 1 } else { end / 100 }),
            from_unit: 0,
            to_unit: Some(0),
            reason: if preempted {
                SwitchReason::Preempted
            } else {
                SwitchReason::Voluntary
            },
        });
    }
    let scene = draw(named("switches"), &trace, &options);
    let red = shapes(&scene, "spans").filter(|shape| {
        matches!(shape, Shape::Rect { area, fill, .. } if fill.to_string() == "#cc3311" && area.w >= 1.0)
    });
    assert_eq!(red.count(), 1);
    assert!(texts(&scene).contains(&"preempted: 1"));
}

#[test]
fn bars_are_as_high_as_their_counts() {
    let trace = random(Size {
        seed: 8,
        tasks: 400,
        cpus: 3,
        devices: 1,
    });
    let tasks = |of: &dyn Fn(&Task) -> bool| trace.tables.tasks.iter().filter(|t| of(t)).count();
    let scene = draw(named("histogram"), &trace, &PanelOptions::default());
    let mut seen = 0;
    for plot in scene.groups.iter().filter(|group| group.name == "plot") {
        let texts: Vec<_> = (plot.shapes.iter())
            .filter_map(|shape| match shape {
                Shape::Text(text) => Some(text),
                _ => None,
            })
            .collect();
        let name = &texts.iter().find(|text| text.bold).expect("a name").text;
        // Labels of the axis: 0 at the bottom, the largest count at the top.
        let labels = texts
            .iter()
            .filter_map(|t| Some((t.y, t.text.parse::<f64>().ok()?)));
        let labels: Vec<_> = labels.collect();
        let [(bottom, _), (top, most)] = labels[..] else {
            panic!("{labels:?}");
        };
        let heights = plot.shapes.iter().filter_map(|shape| match shape {
            Shape::Rect { area, .. } => Some(area.h),
            _ => None,
        });
        let drawn = heights.sum::<f64>() / (bottom - top) * most;
        let codelet = CODELETS.iter().position(|c| c.0 == name).expect("known") as u16;
        let expected = tasks(&|t| t.codelet == codelet);
        assert!(
            (drawn - expected as f64).abs() < 0.01 * expected as f64,
            "{name}: {drawn} for {expected}"
        );
        seen += expected;
    }
    assert_eq!(seen, trace.tables.tasks.len());
}

#[test]
fn pages_below_each_other_are_one() {
    let trace = random(Size::small(2));
    let pages = ["gantt", "tree"].map(|name| draw(named(name), &trace, &PanelOptions::default()));
    let [first, second] = &pages;
    let both = Scene::stacked(pages.to_vec());
    assert_eq!(both.height, first.height + second.height);
    assert_eq!(both.shapes(), first.shapes() + second.shapes());
    let lowest = |scene: &Scene| {
        let shapes = scene.groups.iter().flat_map(|group| &group.shapes);
        shapes.flat_map(points).map(|p| p.1).fold(0.0, f64::max)
    };
    assert!((lowest(&both) - (first.height + lowest(second))).abs() < 1e-9);
}
