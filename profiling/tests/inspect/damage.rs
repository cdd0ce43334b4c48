//! Damaged, truncated and foreign folders give a typed error, or a trace that every reader survives. Nothing panics.

use crate::sample::{graph, sample, with_device};
use std::fs;
use std::path::{Path, PathBuf};
use treeqr_profiling::inspect::{Balance, Filter, check, diff, filter};
use treeqr_profiling::trace::{MANIFEST, Manifest, Overwrite, Trace, TraceError, TraceFolder};

/// All that a subcommand does with a folder.
fn read_all(path: &Path, good: &Trace) -> Result<(), TraceError> {
    let folder = TraceFolder::open(path)?;
    let trace = Trace::open(path)?;
    check(&trace);
    Balance::of(&folder)?;
    let _ = diff(good, &folder);
    let _ = diff(&folder, good);
    let of = Filter {
        from_ns: Some(300),
        to_ns: Some(900),
        workers: vec![Some(0)],
        nodes: vec![2],
        subtree: true,
        ..Filter::default()
    };
    let _ = filter(&folder, &of);
    let _ = filter(&folder, &Filter::default());
    Ok(())
}

fn files(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).unwrap();
    let mut files: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_damaged_file_is_an_error_that_names_it() {
    let good = with_device(sample(3, 2, 2, 1));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    good.write(&path, Overwrite::Never).unwrap();
    let mut mutations = 0;
    for file in files(&path) {
        let bytes = fs::read(&file).unwrap();
        let manifest = file.ends_with(MANIFEST);
        // Every region: the places are spread over the file, the ends among them.
        let places = (0..12).map(|k| k * (bytes.len() - 1) / 11);
        for place in places {
            for damaged in [
                flipped(&bytes, place),
                bytes[..place].to_vec(),
                doubled(&bytes, place + 1),
            ] {
                fs::write(&file, &damaged).unwrap();
                let result = read_all(&path, &good);
                mutations += 1;
                if manifest {
                    continue;
                }
                let error = result.expect_err("the checksum is another");
                let name = file.file_name().unwrap().to_string_lossy();
                assert!(matches!(error, TraceError::Damaged { .. }), "{error}");
                assert!(error.to_string().contains(&*name), "{error}");
            }
        }
        fs::remove_file(&file).unwrap();
        let error = read_all(&path, &good).expect_err("a file is missing");
        assert!(
            matches!(error, TraceError::Io { .. } | TraceError::NotATrace { .. }),
            "{error}"
        );
        fs::write(&file, &bytes).unwrap();
    }
    assert!(mutations > 400, "{mutations}");
    read_all(&path, &good).unwrap();
}

fn flipped(bytes: &[u8], place: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[place] ^= 1 << (place % 8);
    bytes
}

fn doubled(bytes: &[u8], place: usize) -> Vec<u8> {
    let mut out = bytes[..place].to_vec();
    out.extend_from_slice(bytes);
    out
}

/// Damage that a checksum does not find, because whoever did it wrote a new one.
#[test]
fn made_up_files_with_right_checksums_panic_nobody() {
    let good = with_device(sample(3, 2, 2, 1));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    good.write(&path, Overwrite::Never).unwrap();
    let manifest_file = path.join(MANIFEST);
    let text = fs::read_to_string(&manifest_file).unwrap();
    let manifest: Manifest = serde_json::from_str(&text).unwrap();
    for (index, table) in manifest.tables.iter().enumerate() {
        let file = path.join(format!("{}.parquet", table.table));
        let bytes = fs::read(&file).unwrap();
        for place in (0..12).map(|k| k * (bytes.len() - 1) / 11) {
            for damaged in [flipped(&bytes, place), bytes[..place].to_vec()] {
                fs::write(&file, &damaged).unwrap();
                let mut told = manifest.clone();
                told.tables[index].bytes = damaged.len() as u64;
                told.tables[index].checksum = checksum(&damaged);
                fs::write(&manifest_file, serde_json::to_string(&told).unwrap()).unwrap();
                let result = std::panic::catch_unwind(|| {
                    // Right or wrong: it comes back.
                    let _ = read_all(&path, &good);
                });
                assert!(result.is_ok(), "{} at {place}", table.table);
            }
        }
        fs::write(&file, &bytes).unwrap();
    }
}

fn checksum(bytes: &[u8]) -> String {
    use std::hash::Hasher;
    let mut hasher = twox_hash::XxHash64::with_seed(0);
    hasher.write(bytes);
    format!("{:016x}", hasher.finish())
}

/// Values no run has: the largest and smallest everywhere.
#[test]
fn absurd_values_panic_nobody() {
    let good = with_device(sample(3, 2, 2, 1));
    let spoil: [fn(&mut Trace); 9] = [
        |t| t.tables.tasks.iter_mut().for_each(|t| t.end_ns = u64::MAX),
        |t| {
            t.tables
                .tasks
                .iter_mut()
                .for_each(|t| (t.start_ns, t.flops) = (u64::MAX, u64::MAX))
        },
        |t| t.tables.tasks.iter_mut().for_each(|t| t.task = u32::MAX),
        |t| {
            t.tables
                .tasks
                .iter_mut()
                .for_each(|t| (t.codelet, t.worker, t.node) = (9, 9, u32::MAX))
        },
        |t| {
            t.tables
                .memory
                .iter_mut()
                .for_each(|m| (m.delta_bytes, m.after_bytes) = (i64::MIN, u64::MAX))
        },
        |t| {
            t.tables
                .workers
                .iter_mut()
                .for_each(|w| (w.start_ns, w.end_ns) = (0, u64::MAX))
        },
        |t| {
            t.tables
                .fronts
                .iter_mut()
                .for_each(|f| (f.parent, f.depth) = (Some(u32::MAX), u32::MAX))
        },
        |t| {
            t.tables
                .phases
                .iter_mut()
                .for_each(|p| (p.start_ns, p.end_ns) = (i64::MIN, i64::MAX))
        },
        |t| (t.manifest.run.begin_ns, t.manifest.run.end_ns) = (u64::MAX, 0),
    ];
    for (index, spoil) in spoil.into_iter().enumerate() {
        let mut trace = good.clone();
        spoil(&mut trace);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        trace.write(&path, Overwrite::Never).unwrap();
        read_all(&path, &good).unwrap();
        // Phases may last as long as they like.
        assert!(index == 7 || !check(&trace).is_empty(), "{index}");
    }
    let mut trace = graph(3, 2);
    trace
        .tables
        .graph
        .iter_mut()
        .for_each(|t| (t.allocated_bytes, t.freed_bytes) = (u64::MAX, u64::MAX));
    check(&trace);
}
