//! Other precisions, and sprs.

use sprs::{CsMat, TriMat};
use treeqr_matrices::{Csc, c64};

fn example() -> Csc<f64> {
    Csc::from_triplets(3, 2, &[0, 2, 1], &[0, 0, 1], &[1.0, 0.1, -2.0]).unwrap()
}

#[test]
fn precisions() {
    let a = example();
    assert_eq!(a.to_precision::<f32>().values(), [1.0, 0.1, -2.0]);
    let complex = a.to_precision::<c64>();
    assert_eq!(complex.to_precision::<f64>(), a);
    assert!(std::sync::Arc::ptr_eq(complex.pattern(), a.pattern()));
}

#[test]
fn sprs_and_back() {
    let a = example();
    let csc = CsMat::from(&a);
    assert_eq!(csc.get(2, 0), Some(&0.1));
    assert_eq!(Csc::try_from(&csc).unwrap(), a);
    assert_eq!(Csc::try_from(&csc.to_csr()).unwrap(), a);
    let triplets = TriMat::from(&a);
    assert_eq!(Csc::try_from(&triplets).unwrap(), a);
    let mut twice = triplets;
    twice.add_triplet(2, 0, 1.0);
    assert_eq!(Csc::try_from(&twice).unwrap().values(), [1.0, 1.1, -2.0]);
}
