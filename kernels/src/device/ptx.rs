//! The device kernels as they are shipped: PTX for any device since Volta, so that a user needs the driver and cuBLAS alone.
//!
//! `kernels/cuda/build.py` writes it, headed by a hash of its sources. A test compares that with the sources as they are now.

use treeqr_devices::Module;

/// All kernels.
pub const MODULES: &[Module] = &[
    Module {
        name: "panel.cu",
        ptx: include_str!("../../cuda/ptx/panel.ptx"),
    },
    Module {
        name: "copies.cu",
        ptx: include_str!("../../cuda/ptx/copies.ptx"),
    },
    Module {
        name: "assembly.cu",
        ptx: include_str!("../../cuda/ptx/assembly.ptx"),
    },
    Module {
        name: "fronts.cu",
        ptx: include_str!("../../cuda/ptx/fronts.ptx"),
    },
];

/// The sources of a module: the headers, then the file itself.
pub fn sources(name: &str) -> Option<[&'static str; 4]> {
    let source = match name {
        "panel.cu" => include_str!("../../cuda/panel.cu"),
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
            let sources = sources(module.name).expect("every module has sources");
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
                    MODULES.iter().any(|module| module.ptx.contains(&entry)),
                    "{entry}"
                );
            }
        }
    }
}
