//! The device kernels as they are shipped: PTX for any device since Volta, so that a user needs the driver and cuBLAS alone.
//!
//! `kernels/cuda/build.py` writes it, headed by a hash of its sources. A test compares that with the sources as they are now.

use treeqr_devices::{Module, ScalarKind};

macro_rules! modules {
    ($($source:literal),*) => {
        [$(modules!(@ $source, "f32"), modules!(@ $source, "f64"), modules!(@ $source, "c32"), modules!(@ $source, "c64")),*]
    };
    (@ $source:literal, $scalar:literal) => {
        Module {
            name: concat!($source, ".cu ", $scalar),
            ptx: include_str!(concat!("../../cuda/ptx/", $source, "_", $scalar, ".ptx")),
        }
    };
}

/// All kernels, for each source one module for each scalar.
pub const MODULES: &[Module] = &modules!("panel", "strip", "copies", "assembly", "fronts");

/// Those of some scalars: a driver translates all modules that it gets, which takes its time.
pub fn modules(scalars: &[ScalarKind]) -> Vec<Module> {
    let is_asked_for = |module: &&Module| {
        let mut names = scalars.iter().map(|scalar| scalar.name());
        names.any(|name| module.name.ends_with(name))
    };
    MODULES.iter().filter(is_asked_for).copied().collect()
}

/// The sources of a file, `panel.cu`: the headers, then the file itself.
pub fn sources(name: &str) -> Option<[&'static str; 4]> {
    let source = match name {
        "panel.cu" => include_str!("../../cuda/panel.cu"),
        "strip.cu" => include_str!("../../cuda/strip.cu"),
        "copies.cu" => include_str!("../../cuda/copies.cu"),
        "assembly.cu" => include_str!("../../cuda/assembly.cu"),
        "fronts.cu" => include_str!("../../cuda/fronts.cu"),
        _ => return None,
    };
    let headers = [
        include_str!("../../cuda/scalar.cuh"),
        include_str!("../../cuda/stair.cuh"),
        include_str!("../../cuda/reflector.cuh"),
    ];
    Some([headers[0], headers[1], headers[2], source])
}

/// The hash that the first line of a module's PTX ends with: FNV-1a over its sources.
pub fn fingerprint(sources: &[&str]) -> String {
    let bytes = sources.iter().flat_map(|text| text.bytes());
    let hash = bytes.fold(0xcbf29ce484222325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ptx_is_of_these_sources() {
        for module in MODULES {
            let (source, _) = module.name.split_once(' ').expect("source and scalar");
            let sources = sources(source).expect("every module has sources");
            let head = format!("// treeqr {} {}", module.name, fingerprint(&sources));
            let found = module.ptx.lines().next();
            assert_eq!(found, Some(&*head), "python3 kernels/cuda/build.py write");
            let target = module.ptx.lines().find(|line| line.starts_with(".target"));
            assert_eq!(target, Some(".target sm_70"));
        }
    }

    #[test]
    fn every_kernel_is_there_in_every_scalar() {
        for kernel in [
            "panel",
            "strip_256",
            "strip_1024",
            "strip_2048",
            "strip_apply",
            "merge_t",
            "copy_v",
            "copy_upper",
            "copy_stair",
            "copy",
            "subtract",
            "extend",
            "place",
            "fronts",
        ] {
            for scalar in ["f32", "f64", "c32", "c64"] {
                let entry = format!(".visible .entry {kernel}_{scalar}(");
                assert!(
                    MODULES
                        .iter()
                        .any(|m| m.name.ends_with(scalar) && m.ptx.contains(&entry)),
                    "{entry}"
                );
            }
        }
    }
}
