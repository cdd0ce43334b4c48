//! Whether hwloc can be linked, asked before anything is compiled: the linker would say so too, at the end of a build of minutes.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Documentation is linked with nothing; another machine's libraries are not this one's.
    let is_asked = env::var_os("CARGO_FEATURE_HWLOC").is_some();
    let is_elsewhere = env::var_os("DOCS_RS").is_some() || env::var("HOST") != env::var("TARGET");
    if !is_asked || is_elsewhere {
        return;
    }
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let source = Path::new(&out).join("links.c");
    if fs::write(&source, "int main(void) { return 0; }\n").is_err() {
        return;
    }
    let linker = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let mut link = Command::new(linker);
    link.arg(&source)
        .args(search_paths())
        .args(told_by_pkg_config());
    link.arg("-lhwloc")
        .arg("-o")
        .arg(source.with_extension("out"));
    // Whatever else is wrong with the linker is for the build to say.
    if let Ok(told) = link.output()
        && !told.status.success()
        && String::from_utf8_lossy(&told.stderr).contains("hwloc")
    {
        println!(
            "cargo::error=libhwloc 2 is not here, which tells treeqr where the cores are. On Debian and Ubuntu: apt-get install libhwloc-dev"
        );
    }
}

/// What the crate that binds hwloc is told, too.
fn told_by_pkg_config() -> Vec<String> {
    let asked = Command::new("pkg-config")
        .args(["--libs", "hwloc"])
        .output();
    let told = asked.ok().filter(|told| told.status.success());
    let told = told.map_or_else(Vec::new, |told| told.stdout);
    let words = String::from_utf8_lossy(&told);
    words.split_whitespace().map(str::to_owned).collect()
}

/// Where rustc is told to look for libraries, as the C compiler takes it.
fn search_paths() -> Vec<String> {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let mut flags = flags.split('\x1f');
    let mut paths = Vec::new();
    while let Some(flag) = flags.next() {
        let path = match flag {
            "-L" => flags.next(),
            _ => flag.strip_prefix("-L"),
        };
        let path = path.map(|path| path.split_once('=').map_or(path, |(_, path)| path));
        paths.extend(path.map(|path| format!("-L{path}")));
    }
    paths
}
