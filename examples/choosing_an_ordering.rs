//! Which column ordering is best for a pattern: the analysis alone tells what each would cost, and the best one can be kept for
//! later.
//!
//!     cargo run --example choosing_an_ordering

use std::sync::Arc;
use treeqr::matrices::load;
use treeqr::solver::ORDERINGS;
use treeqr::{FactorOptions, Options, RunShape, analyse, factorize};

/// An ordering, and what a factorization with it would do.
pub(crate) struct Cost {
    pub(crate) name: &'static str,
    pub(crate) nnz_r: u64,
    pub(crate) flops: u64,
    pub(crate) peak_bytes: usize,
}

pub(crate) fn main() -> Result<(), treeqr::Error> {
    let (costs, flops) = choose()?;
    println!("{:<8} {:>10} {:>12} {:>10}", "", "nnz(R)", "flops", "bytes");
    for Cost {
        name,
        nnz_r,
        flops,
        peak_bytes,
    } in &costs
    {
        println!("{name:<8} {nnz_r:>10} {flops:>12} {peak_bytes:>10}");
    }
    println!("taken: {flops} flops");
    Ok(())
}

/// The costs of all orderings, and the flops of a run with the best.
pub(crate) fn choose() -> Result<(Vec<Cost>, u64), treeqr::Error> {
    let a = load::<f64>("gallery:grid3d-8")?.matrix;
    let (mut costs, mut best) = (Vec::new(), None);
    for entry in ORDERINGS {
        let options = Options {
            ordering: entry.name.to_owned(),
            ..Options::default()
        };
        let symbolic = analyse(a.pattern(), &options)?;
        let prediction = symbolic.predict(RunShape::of::<f64>(0, true));
        let flops = prediction.flops;
        costs.push(Cost {
            name: entry.name,
            nnz_r: symbolic.nnz_r(),
            flops,
            peak_bytes: prediction.peak_bytes,
        });
        if best.as_ref().is_none_or(|(least, _)| flops < *least) {
            best = Some((flops, symbolic.column_order().collect::<Vec<_>>()));
        }
    }
    // An order is a list of columns: it can be kept, and given to any analysis of this pattern.
    let options = Options {
        given_order: best.map(|(_, order)| Arc::new(order)),
        ..Options::default()
    };
    let symbolic = analyse(a.pattern(), &options)?;
    let qr = factorize(&symbolic, &a, &FactorOptions::default())?;
    Ok((costs, qr.run().summary().flops))
}
