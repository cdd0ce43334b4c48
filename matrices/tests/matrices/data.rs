//! The files under `matrices/data/` are what the gallery makes today.

#[path = "../../examples/write_data.rs"]
mod write_data;

use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Name and uncompressed text of every file in a folder.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.unwrap().path();
        let mut text = String::new();
        GzDecoder::new(File::open(&path).unwrap())
            .read_to_string(&mut text)
            .unwrap();
        (
            path.file_name().unwrap().to_string_lossy().into_owned(),
            text,
        )
    };
    fs::read_dir(folder).unwrap().map(read).collect()
}

#[test]
fn data_are_what_the_gallery_makes() {
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data"));
    let folder = tempfile::tempdir().unwrap();
    write_data::write_all(folder.path()).unwrap();
    let (kept, made) = (texts(data), texts(folder.path()));
    assert!(
        kept.keys().eq(made.keys()),
        "{:?}, {:?}",
        kept.keys(),
        made.keys()
    );
    for (name, text) in &made {
        let regenerate = "cargo run -p treeqr-matrices --example write_data";
        assert!(kept[name] == *text, "{name} differs: {regenerate}");
    }
    let bytes: u64 = fs::read_dir(data)
        .unwrap()
        .map(|e| e.unwrap().metadata().unwrap().len())
        .sum();
    assert!(bytes < 200_000, "{bytes} bytes of data");
}
