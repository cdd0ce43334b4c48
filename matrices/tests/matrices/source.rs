//! One word for a file or a matrix of the gallery.

use treeqr_matrices::{LoadError, Source, c64, load, write_sparse};

#[test]
fn gallery_words() {
    let a = load::<c64>("gallery:survey-4x3@2").unwrap();
    assert_eq!((a.name.as_str(), a.matrix.ncols()), ("survey-4x3@2", 12));
    assert_eq!(a.rhs.unwrap().len(), a.matrix.nrows());
    let b = Source::from("gallery:survey-4x3@2:rhs")
        .dense::<f64>()
        .unwrap();
    assert_eq!(
        Source::from("gallery:survey-4x3@2").dense::<f64>().unwrap(),
        b
    );
    let w = Source::from("gallery:survey-4x3@2:weights")
        .dense::<f64>()
        .unwrap();
    assert_eq!(w.nrows(), b.nrows());
    for word in ["gallery:survey-4x3", "gallery:x:rhs", "folder/a.mtx"] {
        assert_eq!(Source::from(word).to_string(), word);
    }
}

#[test]
fn gallery_faults() {
    let no = load::<f64>("gallery:nothing").unwrap_err();
    assert!(matches!(no, LoadError::Gallery(_)) && no.to_string().contains("survey-<w>x<h>"));
    let no = load::<f64>("gallery:survey-4x3:rhs").unwrap_err();
    assert_eq!(
        no.to_string(),
        "'gallery:survey-4x3:rhs' is not a matrix: leave the last part away"
    );
    let no = Source::from("gallery:TF5:rhs").dense::<f64>().unwrap_err();
    assert_eq!(no.to_string(), "'TF5' of the gallery has no rhs");
    let no = Source::from("gallery:survey-4x3:colour")
        .dense::<f64>()
        .unwrap_err();
    assert_eq!(no.to_string(), "'survey-4x3' of the gallery has no colour");
}

#[test]
fn files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.matrix.mtx.gz");
    let made = load::<f64>("gallery:TF6").unwrap();
    write_sparse(&path, &made.matrix, "").unwrap();
    let read = load::<f64>(path.to_str().unwrap()).unwrap();
    assert_eq!(
        (read.name.as_str(), read.matrix),
        ("my.matrix", made.matrix)
    );
    let no = load::<f64>("no-such-file.mtx").unwrap_err();
    assert!(matches!(no, LoadError::Read(_)));
}
