//! StarVZ: the tables have the columns that its R package reads, and what they say adds up. Read as rows of unknown type,
//! not with the code that wrote them.

mod common;

use common::{Shape, random};
use parquet::basic::Compression;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::path::Path;
use treeqr_profiling::export::{ExportEntry, ExportOptions};
use treeqr_profiling::trace::Trace;
use treeqr_profiling::trace::schema::{FrontKind, Role};

type Row = HashMap<String, Field>;

/// Columns in their order, and rows.
fn table(folder: &Path, name: &str) -> (Vec<String>, Vec<Row>) {
    let file = File::open(folder.join(format!("{name}.parquet"))).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    for group in reader.metadata().row_groups() {
        for column in group.columns() {
            assert!(
                matches!(column.compression(), Compression::GZIP(_)),
                "{name}"
            );
        }
    }
    let columns = reader
        .metadata()
        .file_metadata()
        .schema_descr()
        .columns()
        .to_vec();
    let columns = columns
        .iter()
        .map(|column| column.name().to_owned())
        .collect();
    let rows = reader.get_row_iter(None).unwrap();
    let rows = rows.map(|row| row.unwrap().into_columns().into_iter().collect());
    (columns, rows.collect())
}

fn number(row: &Row, column: &str) -> f64 {
    match &row[column] {
        Field::Double(value) => *value,
        Field::Int(value) => f64::from(*value),
        other => panic!("{column}: {other}"),
    }
}

fn text<'a>(row: &'a Row, column: &str) -> &'a str {
    match &row[column] {
        Field::Str(value) => value,
        other => panic!("{column}: {other}"),
    }
}

fn export(trace: &Trace) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let entry = ExportEntry::named("starvz").unwrap();
    let target = folder.path().join("starvz");
    entry
        .write(trace, &target, &ExportOptions::default())
        .unwrap();
    folder
}

/// The columns of StarVZ's own files.
#[test]
fn the_schema_is_that_of_starvz() {
    let resource = "NumaNodes Node Resource ResourceType Height Position";
    let span = "ResourceId Start End Duration Depth Value";
    let expected: BTreeMap<&str, String> = [
        ("version", "value".to_owned()),
        ("zero", "value".to_owned()),
        ("colors", "Value Color Use".to_owned()),
        ("y", "Parent Type Height Position".to_owned()),
        ("entities", "Parent Name Type Nature".to_owned()),
        (
            "application",
            format!(
                "{span} Size Params Footprint Tag JobId SubmitOrder GFlop X Y Iteration Subiteration {resource} Outlier \
                 ANode Height.ANode Position.ANode Intermediary"
            ),
        ),
        ("starpu", format!("{span} Size {resource}")),
        (
            "variable",
            "ResourceId Type Start End Duration Value Node Resource ResourceType".to_owned(),
        ),
        ("atree", "Parent ANode Depth Intermediary NodeType Position Height".to_owned()),
        ("dag", "JobId Dependent Start End Cost Value".to_owned()),
    ]
    .into();
    let folder = export(&random(Shape::small(5)));
    let folder = folder.path().join("starvz");
    let files = std::fs::read_dir(&folder).unwrap();
    let files: BTreeSet<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        files,
        expected
            .keys()
            .map(|name| format!("{name}.parquet"))
            .collect()
    );
    for (name, columns) in expected {
        assert_eq!(table(&folder, name).0.join(" "), columns, "{name}");
    }
    let version = &table(&folder, "version").1;
    assert_eq!((version.len(), text(&version[0], "value")), (1, "0.2.0"));
}

#[test]
fn tasks_are_there_with_times_from_the_first_one_on() {
    for seed in 0..8 {
        let trace = random(Shape::small(seed));
        let tables = &trace.tables;
        let folder = export(&trace);
        let folder = folder.path().join("starvz");
        let (_, rows) = table(&folder, "application");
        assert_eq!(rows.len(), tables.tasks.len());
        let zero_ns = tables.tasks.iter().map(|task| task.start_ns).min().unwrap();
        let y = table(&folder, "y").1;
        for (row, task) in rows.iter().zip(&tables.tasks) {
            assert_eq!(number(row, "Start"), (task.start_ns - zero_ns) as f64 / 1e6);
            assert_eq!(
                number(row, "Duration"),
                (task.end_ns - task.start_ns) as f64 / 1e6
            );
            let codelet = &tables.codelets[usize::from(task.codelet)];
            assert_eq!(text(row, "Value"), codelet.name);
            assert_eq!(text(row, "JobId"), task.task.to_string());
            assert_eq!(text(row, "ANode"), task.node.to_string());
            assert_eq!(
                u32::from_str_radix(&text(row, "Tag")[8..], 16).unwrap(),
                task.node
            );
            // CPU0, CPU1, ... and CUDA0_0, CUDA1_0, ...: as the R code takes them apart.
            let resource = text(row, "ResourceId");
            let device = task.worker.checked_sub(trace_cpus(&trace));
            match device {
                None => assert_eq!(resource, format!("CPU{}", task.worker)),
                Some(device) => assert_eq!(resource, format!("CUDA{device}_0")),
            }
            let kind: String = resource
                .chars()
                .filter(|c| c.is_ascii_alphabetic())
                .collect();
            assert_eq!(text(row, "ResourceType"), kind);
            let place = y
                .iter()
                .find(|place| text(place, "Parent") == resource)
                .unwrap();
            assert_eq!(number(place, "Position"), number(row, "Position"));
            if codelet.role == Role::Compute {
                assert_eq!(number(row, "GFlop"), task.flops as f64 / 1e9);
            }
        }
        let states = tables.states.iter().filter(|state| state.worker.is_some());
        assert_eq!(table(&folder, "starpu").1.len(), states.count());
    }
}

/// A second row of the same task would be a second task to what joins by its number.
#[test]
fn helpers_execute_and_have_no_task() {
    let trace = common::samples::helped(2);
    let tables = &trace.tables;
    let folder = export(&trace);
    let folder = folder.path().join("starvz");
    assert_eq!(table(&folder, "application").1.len(), tables.tasks.len());
    let rows = table(&folder, "starpu").1;
    let executing: Vec<_> = rows
        .iter()
        .filter(|row| text(row, "Value") == "Executing")
        .collect();
    assert_eq!(executing.len(), tables.shares.len());
    let own = tables.states.iter().filter(|s| s.worker.is_some()).count();
    assert_eq!(rows.len(), own + tables.shares.len());
    for (row, share) in executing.iter().zip(&tables.shares) {
        assert_eq!(text(row, "ResourceId"), format!("CPU{}", share.worker));
        let duration = (share.end_ns - share.start_ns) as f64 / 1e6;
        assert_eq!(number(row, "Duration"), duration);
    }
}

fn trace_cpus(trace: &Trace) -> u16 {
    trace
        .tables
        .workers
        .iter()
        .filter(|worker| worker.memory_node == 0)
        .count() as u16
}

#[test]
fn memory_travels_in_gflop_and_as_a_variable() {
    let trace = random(Shape::small(6));
    let folder = export(&trace);
    let folder = folder.path().join("starvz");
    let rows = table(&folder, "application").1;
    let carries =
        |row: &&Row| text(row, "Value").contains("front") || text(row, "Value") == "do_subtree";
    let megabytes: f64 = rows
        .iter()
        .filter(carries)
        .map(|row| number(row, "GFlop") * 1024.0)
        .sum();
    let left = trace.tables.memory.last().unwrap().after_bytes as f64 / 1048576.0;
    assert!((megabytes - left).abs() < 1e-9, "{megabytes} {left}");
    assert!(
        rows.iter()
            .any(|row| text(row, "Value") == "clean_front" && number(row, "GFlop") < 0.0)
    );

    let variables = table(&folder, "variable").1;
    let of = |kind: &str| {
        variables
            .iter()
            .filter(|row| text(row, "Type") == kind)
            .collect::<Vec<_>>()
    };
    let peak = trace
        .tables
        .memory
        .iter()
        .map(|row| row.after_bytes)
        .max()
        .unwrap() as f64
        / 1048576.0;
    let highest = of("Used (MB)")
        .iter()
        .map(|row| number(row, "Value"))
        .fold(0.0, f64::max);
    assert!(highest <= peak && highest > 0.9 * peak, "{highest} {peak}");
    for kind in ["Ready", "Submitted"] {
        assert!(
            of(kind)
                .iter()
                .all(|row| text(row, "ResourceId") == "sched")
        );
    }
    // Mean tasks in the system by time is the sum of their times in it.
    let area: f64 = of("Submitted")
        .iter()
        .map(|row| number(row, "Value") * number(row, "Duration"))
        .sum();
    let spent: f64 = trace
        .tables
        .tasks
        .iter()
        .map(|t| (t.end_ns - t.submit_ns) as f64 / 1e6)
        .sum();
    assert!((area - spent).abs() < 1e-6 * spent, "{area} {spent}");
}

#[test]
fn the_tree_is_placed_as_starvz_does_it() {
    for seed in 0..10 {
        let trace = random(Shape::small(seed));
        let folder = export(&trace);
        let rows = table(&folder.path().join("starvz"), "atree").1;
        let by_node: HashMap<&str, &Row> =
            rows.iter().map(|row| (text(row, "ANode"), row)).collect();
        let fronts = &trace.tables.fronts;
        let shown = fronts
            .iter()
            .filter(|front| front.kind != FrontKind::Grouped);
        assert_eq!(
            rows.len(),
            shown.clone().count() + 1,
            "one for each and the root"
        );
        // Rows from 1 on, by the first kernel of each node in the order of submission.
        let mut order: Vec<u32> = Vec::new();
        for task in &trace.tables.tasks {
            let kernel = &trace.tables.codelets[usize::from(task.codelet)].name;
            if kernel.contains("qrt") && !order.contains(&task.node) {
                order.push(task.node);
            }
        }
        for (place, node) in order.iter().enumerate() {
            assert_eq!(
                number(by_node[node.to_string().as_str()], "Position"),
                place as f64 + 1.0
            );
        }
        let root = fronts.len().to_string();
        for front in shown {
            let row = by_node[front.node.to_string().as_str()];
            let parent = front
                .parent
                .map_or(root.clone(), |parent| parent.to_string());
            assert_eq!(text(row, "Parent"), parent);
            assert_eq!(number(row, "Depth"), f64::from(front.depth));
            let above = by_node[parent.as_str()];
            if front.kind == FrontKind::GroupTop {
                assert_eq!(text(row, "NodeType"), "Pruned");
                match front.parent {
                    Some(_) => assert_eq!(row["Position"], above["Position"]),
                    None => assert!(number(row, "Position") > order.len() as f64),
                }
            }
            assert_eq!(above["Intermediary"], Field::Bool(true));
        }
        let parents =
            |row: &Row| (row["Parent"] != Field::Null).then(|| text(row, "Parent").to_owned());
        let with_children: BTreeSet<String> = rows.iter().filter_map(parents).collect();
        for row in &rows {
            let expected = with_children.contains(text(row, "ANode"));
            assert_eq!(row["Intermediary"], Field::Bool(expected));
        }
        assert_eq!(by_node[root.as_str()]["Parent"], Field::Null);
        // What the R code drops: the edges to the largest number.
        let largest = rows.iter().filter(|row| row["Parent"] != Field::Null);
        let largest = largest
            .map(|row| text(row, "Parent").parse::<usize>().unwrap())
            .max();
        assert_eq!(largest, Some(fronts.len()));
    }
}

#[test]
fn the_dag_has_the_dependencies_and_their_cost() {
    let trace = random(Shape::small(8));
    let folder = export(&trace);
    let rows = table(&folder.path().join("starvz"), "dag").1;
    assert_eq!(rows.len(), trace.tables.dependencies.len());
    for (row, edge) in rows.iter().zip(&trace.tables.dependencies) {
        assert_eq!(text(row, "JobId"), edge.task.to_string());
        assert_eq!(text(row, "Dependent"), edge.predecessor.to_string());
        let task = &trace.tables.tasks[edge.task as usize];
        assert_eq!(
            number(row, "Cost"),
            -((task.end_ns - task.start_ns) as f64 / 1e6)
        );
    }
}
