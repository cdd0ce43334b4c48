//! ||A - QR|| and orthogonality on the real matrices beside the repository, where they are small enough to be formed
//! densely and have full rank by their singular values.

mod common;
use common::*;
use std::path::Path;
use treeqr_matrices::{Csc, read_sparse};

#[test]
fn ratios_on_real_matrices_of_full_rank() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/matrices");
    let Ok(facts) = std::fs::read_to_string(folder.join("facts.tsv")) else {
        eprintln!("SKIPPED: no real matrices at {}", folder.display());
        return;
    };
    let mut checked = Vec::new();
    for line in facts.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (name, m, n) = (
            fields[0],
            fields[1].parse::<usize>().expect("m"),
            fields[2].parse::<usize>().expect("n"),
        );
        let full = fields[4]
            .parse::<usize>()
            .is_ok_and(|rank| rank == m.min(n));
        // Dense copies of W and of Q^H W.
        if !full || m * n > 6_000_000 {
            continue;
        }
        let a: Csc<f64> = read_sparse(folder.join(format!("{name}.mtx.gz"))).expect("readable");
        for o in [
            options(|_| ()),
            options(|o| (o.mb, o.nb, o.bh) = (Some(128), Some(64), Some(3))),
        ] {
            let (symbolic, factored) = factor(&a, &o);
            let (backward, loss) = ratios(&a, &symbolic, &factored);
            assert!(backward < 30.0, "{name}: ||A - QR|| ratio {backward}");
            assert!(loss < 30.0, "{name}: orthogonality ratio {loss}");
        }
        checked.push(name.to_owned());
    }
    eprintln!("checked {}: {}", checked.len(), checked.join(", "));
    assert!(checked.len() >= 8, "{checked:?}");
}
