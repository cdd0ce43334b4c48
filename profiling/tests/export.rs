//! What holds for every export: complete or absent, refusals with their reason, the same bytes for the same trace. CSV and
//! DOT by readers that are not ours.

mod common;

use common::{Shape, random, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use treeqr_profiling::export::*;
use treeqr_profiling::trace::*;

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// All bytes below a path, by name.
fn contents(path: &Path) -> BTreeMap<String, Vec<u8>> {
    if path.is_file() {
        return [(String::new(), fs::read(path).unwrap())].into();
    }
    let one = |name: String| (name.clone(), fs::read(path.join(name)).unwrap());
    names(path).into_iter().map(one).collect()
}

#[test]
fn every_export_is_complete_and_the_same_each_time() {
    let trace = random(Shape::small(5));
    let folder = tempfile::tempdir().unwrap();
    for entry in EXPORTS {
        assert!(std::ptr::eq(ExportEntry::named(entry.name).unwrap(), entry));
        let (first, again) = (
            folder.path().join("deep/first"),
            folder.path().join("again"),
        );
        entry
            .write(&trace, &first, &ExportOptions::default())
            .unwrap();
        entry
            .write(&trace, &again, &ExportOptions::default())
            .unwrap();
        let found = contents(&first);
        assert!(
            found.values().all(|bytes| !bytes.is_empty()),
            "{}",
            entry.name
        );
        assert!(found == contents(&again), "{}: other bytes", entry.name);
        if let Form::Folder(_) = entry.form {
            let ends = |name: &String| name.ends_with(&format!(".{}", entry.ending));
            assert!(found.keys().all(ends), "{:?}", found.keys());
        }
        assert_eq!(names(folder.path()).len(), 2, "something was left behind");
        for path in [folder.path().join("deep"), again.clone()] {
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap()
            } else {
                fs::remove_file(path).unwrap()
            }
        }
    }
    assert!(ExportEntry::named("xml").is_none());
}

#[test]
fn existing_targets_stay_unless_they_are_exports_of_the_same_kind() {
    let trace = random(Shape::small(3));
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    trace.write(&at("trace"), Overwrite::Never).unwrap();
    fs::create_dir(at("notes")).unwrap();
    fs::write(at("notes/a.txt"), "a").unwrap();
    let replace = ExportOptions {
        overwrite: true,
        ..ExportOptions::default()
    };
    for entry in EXPORTS {
        let target = at(entry.name);
        entry
            .write(&trace, &target, &ExportOptions::default())
            .unwrap();
        let before = contents(&target);
        let error = entry
            .write(&trace, &target, &ExportOptions::default())
            .unwrap_err();
        assert!(
            matches!(&error, ExportError::Exists { path } if *path == target),
            "{error}"
        );
        assert!(contents(&target) == before);
        let other = random(Shape::small(4));
        entry.write(&other, &target, &replace).unwrap();
        assert!(
            contents(&target) != before,
            "{}: it was not replaced",
            entry.name
        );
        // A trace, a folder of somebody's, and for folders a file.
        let mut foreign = vec![at("trace"), at("notes")];
        if let Form::Folder(_) = entry.form {
            foreign.push(at("notes/a.txt"));
        }
        for path in foreign {
            let before = contents(&path);
            let error = entry.write(&trace, &path, &replace).unwrap_err();
            assert!(
                matches!(error, ExportError::Foreign { .. }),
                "{}: {error}",
                entry.name
            );
            assert!(contents(&path) == before);
        }
    }
    assert_eq!(Trace::open(&at("trace")).unwrap().tables, trace.tables);
}

#[test]
fn what_cannot_be_exported_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    let mut crossing = random(Shape {
        cpus: 1,
        devices: 0,
        ..Shape::small(1)
    });
    crossing.tables.tasks[1].start_ns = crossing.tables.tasks[0].start_ns;
    crossing.tables.tasks[0].end_ns = crossing.tables.tasks[0].start_ns + 10;
    crossing.tables.tasks[1].start_ns += 5;
    let mut graph = random(Shape::small(2));
    graph.manifest.kind = TraceKind::Graph;
    graph.tables = Tables {
        codelets: graph.tables.codelets,
        fronts: graph.tables.fronts,
        ..Tables::default()
    };
    for entry in EXPORTS {
        let by_time = matches!(entry.name, "starvz" | "paje" | "perfetto");
        let empty = entry.write(&graph, &target, &ExportOptions::default());
        match by_time {
            true => assert!(matches!(empty.unwrap_err(), ExportError::NeedsTimes { .. })),
            false => empty.unwrap(),
        }
        assert_eq!(target.exists(), !by_time, "{}", entry.name);
        if target.is_dir() {
            fs::remove_dir_all(&target).unwrap()
        } else {
            let _ = fs::remove_file(&target);
        }
        if matches!(entry.name, "paje" | "perfetto") {
            let error = entry
                .write(&crossing, &target, &ExportOptions::default())
                .unwrap_err();
            assert!(
                matches!(&error, ExportError::Crossing { thread, .. } if thread == "CPU0"),
                "{error}"
            );
            assert_eq!(names(folder.path()).len(), 0);
        }
    }
}

/// A disk that is full after some bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_wherever_it_fills() {
    let trace = random(Shape::small(6));
    for entry in EXPORTS {
        let options = ExportOptions::default();
        let Form::File(_) = entry.form else {
            let error = entry
                .write_to(&trace, &mut Vec::new(), &options)
                .unwrap_err();
            assert!(matches!(error, ExportError::NeedsFolder { .. }));
            continue;
        };
        let length = stream(entry.name, &trace, &options).len();
        for room in [0, 1, length / 2, length - 1] {
            let error = entry
                .write_to(&trace, &mut Full(room), &options)
                .unwrap_err();
            assert!(
                matches!(error, ExportError::Stream(_)),
                "{}: {error}",
                entry.name
            );
        }
        entry.write_to(&trace, &mut Full(length), &options).unwrap();
    }
}

/// Cells as a reader of CSV gets them.
struct Csv<'a>(&'a Path, usize);

impl TableVisitor for Csv<'_> {
    fn table<T: Table>(&mut self, rows: &[T]) {
        let path = self.0.join(format!("{}.csv", T::NAME));
        if rows.is_empty() {
            assert!(!path.exists());
            return;
        }
        let mut reader = csv::Reader::from_path(&path).unwrap();
        let header: Vec<&str> = T::COLUMNS.iter().map(|column| column.name).collect();
        assert_eq!(reader.headers().unwrap(), header);
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), rows.len(), "{}", T::NAME);
        for (record, row) in records.iter().zip(rows) {
            let cells: Vec<String> = row.cells().iter().map(Cell::to_string).collect();
            assert_eq!(record, cells);
        }
        self.1 += 1;
    }
}

#[test]
fn csv_holds_every_cell_of_every_table() {
    for seed in 0..8 {
        let mut trace = random(Shape::small(seed));
        // Names with all that needs quotes.
        trace.tables.codelets[0].name = "a \"quoted\", name\r\nof two lines".to_owned();
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("csv");
        let entry = ExportEntry::named("csv").unwrap();
        entry
            .write(&trace, &target, &ExportOptions::default())
            .unwrap();
        let mut check = Csv(&target, 0);
        trace.tables.visit(&mut check);
        assert_eq!(names(&target).len(), check.1);
        let text = fs::read_to_string(target.join("workers.csv")).unwrap();
        assert!(
            text.lines().all(|_| true)
                && text.matches('\n').count() == text.matches("\r\n").count()
        );
    }
}

/// Node and edge statements.
fn dot(trace: &Trace, options: &ExportOptions) -> (BTreeSet<String>, BTreeSet<(String, String)>) {
    let text = String::from_utf8(stream("dot", trace, options)).unwrap();
    let mut graph = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines().skip(1) {
        if let Some((from, to)) = line.trim().trim_end_matches(';').split_once(" -> ") {
            graph.1.insert((from.to_owned(), to.to_owned()));
        } else if let Some((name, _)) = line.trim().split_once(" [label=") {
            graph.0.insert(name.to_owned());
        }
    }
    draw(&text);
    graph
}

/// Graphviz takes it, where Graphviz is.
fn draw(text: &str) {
    let dot = Command::new("dot")
        .arg("-Tcanon")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let Ok(mut dot) = dot else {
        eprintln!("Graphviz is not installed: the drawing was not parsed by it");
        return;
    };
    dot.stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    assert!(dot.wait().unwrap().success(), "{text}");
}

#[test]
fn dot_has_every_task_and_dependency_and_every_front() {
    for seed in 0..6 {
        let trace = random(Shape::small(seed));
        let tables = &trace.tables;
        let (nodes, edges) = dot(&trace, &ExportOptions::default());
        let tasks = tables.tasks.iter().map(|task| format!("t{}", task.task));
        assert_eq!(nodes, tasks.collect());
        let pairs = tables.dependencies.iter();
        let pairs = pairs.map(|d| (format!("t{}", d.predecessor), format!("t{}", d.task)));
        assert_eq!(edges, pairs.collect());

        let tree = ExportOptions {
            what: Graph::Tree,
            ..ExportOptions::default()
        };
        let (nodes, edges) = dot(&trace, &tree);
        assert_eq!(nodes.len(), tables.fronts.len());
        let children = tables.fronts.iter().filter(|front| front.parent.is_some());
        assert_eq!(edges.len(), children.count());

        let node = tables.tasks.last().unwrap().node;
        let one = ExportOptions {
            node: Some(node),
            ..ExportOptions::default()
        };
        let (nodes, edges) = dot(&trace, &one);
        let own: BTreeSet<u32> = tables
            .tasks
            .iter()
            .filter(|task| task.node == node)
            .map(|task| task.task)
            .collect();
        let into = tables
            .dependencies
            .iter()
            .filter(|edge| own.contains(&edge.task));
        assert_eq!(edges.len(), into.clone().count());
        let shown: BTreeSet<u32> = into
            .map(|edge| edge.predecessor)
            .chain(own.iter().copied())
            .collect();
        assert_eq!(nodes, shown.iter().map(|task| format!("t{task}")).collect());
    }
}

#[test]
fn drawings_that_nobody_could_place_are_refused() {
    let trace = random(Shape::small(7));
    let tasks = trace.tables.tasks.len();
    let entry = ExportEntry::named("dot").unwrap();
    let limited = |task_limit| ExportOptions {
        task_limit,
        ..ExportOptions::default()
    };
    entry
        .write_to(&trace, &mut io::sink(), &limited(tasks))
        .unwrap();
    let error = entry
        .write_to(&trace, &mut io::sink(), &limited(tasks - 1))
        .unwrap_err();
    let said = format!("{tasks} tasks are more than the limit of {}", tasks - 1);
    assert!(error.to_string().starts_with(&said), "{error}");
    let nobody = ExportOptions {
        node: Some(u32::MAX),
        ..ExportOptions::default()
    };
    let error = entry
        .write_to(&trace, &mut io::sink(), &nobody)
        .unwrap_err();
    assert!(matches!(error, ExportError::NoSuchNode { node: u32::MAX }));
}

/// Filtered traces lack rows that others name.
#[test]
fn rows_that_are_missing_are_no_fault() {
    let mut trace = random(Shape::small(9));
    trace.tables.codelets.remove(4);
    trace.tables.workers.clear();
    trace.tables.tasks.retain(|task| task.task % 3 != 0);
    trace.tables.tasks.reverse();
    trace.tables.fronts.truncate(2);
    let folder = tempfile::tempdir().unwrap();
    for entry in EXPORTS {
        for dependencies in [
            Dependencies::None,
            Dependencies::Critical,
            Dependencies::All,
        ] {
            let options = ExportOptions {
                dependencies,
                overwrite: true,
                ..ExportOptions::default()
            };
            entry
                .write(&trace, &folder.path().join(entry.name), &options)
                .unwrap();
        }
    }
}
