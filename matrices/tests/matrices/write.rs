//! What the writers write, and that a file is complete or absent.

use std::fs;
use treeqr_matrices::{Csc, Dense, Output, Scalar, WriteError, c64, write_dense, write_sparse};

fn text_of<T: Scalar>(values: &[T]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let rows: Vec<u32> = (0..values.len() as u32).collect();
    let a = Csc::from_triplets(9, 2, &rows, &vec![1; values.len()], values).unwrap();
    write_sparse(&path, &a, "two\nlines").unwrap();
    fs::read_to_string(path).unwrap()
}

#[test]
fn fields_and_digits() {
    let head = |field: &str| {
        format!("%%MatrixMarket matrix coordinate {field} general\n% two\n% lines\n9 2 ")
    };
    assert_eq!(text_of(&[1.0, 1.0]), head("pattern") + "2\n1 2\n2 2\n");
    assert_eq!(
        text_of(&[1.0, -3e15]),
        head("integer") + "2\n1 2 1\n2 2 -3000000000000000\n"
    );
    assert_eq!(
        text_of(&[0.1, 1e300, 1.0]),
        head("real") + "3\n1 2 0.1\n2 2 1e300\n3 2 1.0\n"
    );
    assert_eq!(text_of(&[0.1f32]), head("real") + "1\n1 2 0.1\n");
    assert_eq!(text_of(&[-0.0]), head("real") + "1\n1 2 -0.0\n");
    assert_eq!(
        text_of(&[c64::new(1.0, 1e-7)]),
        head("complex") + "1\n1 2 1.0 1e-7\n"
    );
    let none: [f64; 0] = [];
    assert_eq!(text_of(&none), head("integer") + "0\n");
}

#[test]
fn dense_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.mtx");
    let x = Dense::new(2, 2, vec![1.0, 2.0, 3.0, 4.5]).unwrap();
    write_dense(&path, &x, "").unwrap();
    let expected = "%%MatrixMarket matrix array real general\n2 2\n1.0\n2.0\n3.0\n4.5\n";
    assert_eq!(fs::read_to_string(path).unwrap(), expected);
}

#[test]
fn nothing_changes_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.mtx");
    let names = || fs::read_dir(folder.path()).unwrap().count();
    fs::write(&path, "old").unwrap();

    drop(Output::create(&path).unwrap());
    assert_eq!(
        (fs::read_to_string(&path).unwrap().as_str(), names()),
        ("old", 1)
    );

    let failed = Output::create(&path).unwrap().write_with(|w| {
        w.write_all(b"half a fi")?;
        Err(std::io::Error::other("disk on fire"))
    });
    assert!(matches!(failed, Err(WriteError::Write { .. })));
    assert_eq!(
        (fs::read_to_string(&path).unwrap().as_str(), names()),
        ("old", 1)
    );

    let nan = Dense::new(2, 2, vec![0.0, 0.0, 0.0, f64::NAN]).unwrap();
    let failed = write_dense(&path, &nan, "").unwrap_err();
    assert!(
        matches!(failed, WriteError::NotFinite { row: 2, col: 2, .. }),
        "{failed}"
    );
    assert_eq!(
        (fs::read_to_string(&path).unwrap().as_str(), names()),
        ("old", 1)
    );

    write_dense(&path, &Dense::from_vector(vec![7.0]), "").unwrap();
    assert!(fs::read_to_string(&path).unwrap().ends_with("1 1\n7\n"));
    assert_eq!(names(), 1);
}

#[test]
fn bad_names_are_found_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| Output::create(folder.path().join(name)).unwrap_err();
    assert!(matches!(
        at("no/such/folder/x.mtx"),
        WriteError::Create { .. }
    ));
    assert!(matches!(at(""), WriteError::NotAFile { .. }));
    assert!(matches!(at("new-folder/"), WriteError::NotAFile { .. }));
    assert!(Output::create("").is_err());
    let locked = folder.path().join("locked.mtx");
    fs::write(&locked, "old").unwrap();
    let mut permissions = fs::metadata(&locked).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&locked, permissions).unwrap();
    assert!(matches!(at("locked.mtx"), WriteError::ReadOnly { .. }));
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(matches!(at("file/x.mtx"), WriteError::Create { .. }));
}

#[cfg(unix)]
#[test]
fn devices_and_links_stay_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    write_dense("/dev/null", &Dense::from_vector(vec![1.0]), "").unwrap();
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );

    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (
        folder.path().join("file.mtx"),
        folder.path().join("link.mtx"),
    );
    fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    write_dense(&link, &Dense::from_vector(vec![1.0]), "").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .starts_with("%%MatrixMarket")
    );
    // As readable as any file that is made here.
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&file), mode(&plain));
}
