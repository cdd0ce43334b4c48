//! What cargo does not know of a build: the revision of the sources, and how the program lies in memory.

use std::path::Path;
use std::process::Command;

#[path = "benches/layout/link.rs"]
mod layout;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    tell_revision();
    layout::fix_address();
    layout::lay_aside();
}

/// For the manifests of traces. Nothing where there is no git.
fn tell_revision() {
    // A file that is not there would make every build a new one.
    for path in [".git/HEAD", ".git/refs/heads"] {
        if Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let revision = ["rev-parse", "--short=12", "HEAD"];
    let Ok(told) = Command::new("git").args(revision).output() else {
        return;
    };
    let revision = String::from_utf8_lossy(&told.stdout);
    if told.status.success() && !revision.trim().is_empty() {
        println!("cargo::rustc-env=TREEQR_REVISION={}", revision.trim());
    }
}
