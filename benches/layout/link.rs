//! Lays the functions that runs enter side by side in the program: README.md here tells why.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

const LIST: &str = "benches/layout/entered.txt";

/// Has the program linked by the list. With another linker, or names of another kind, the code lies as it would without.
pub fn lay_aside() {
    println!("cargo::rerun-if-changed={LIST}");
    println!("cargo::rerun-if-changed=benches/layout/link.rs");
    let var = |name| env::var(name).unwrap_or_default();
    let is_here = var("CARGO_CFG_TARGET_OS") == "linux" && var("CARGO_CFG_TARGET_ARCH") == "x86_64";
    // Other profiles inline otherwise, and are linked often.
    if !is_here || var("PROFILE") != "release" {
        return;
    }
    let Ok(list) = fs::read_to_string(LIST) else {
        return;
    };
    let out = var("OUT_DIR");
    let script = Path::new(&out).join("entered.ld");
    if fs::write(&script, linker_script(&list)).is_ok() && is_linked_by_lld(Path::new(&out)) {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", script.display());
    }
}

/// A section of what the list names, before all other code. One rule for all names: a linker goes through the whole program for each.
fn linker_script(list: &str) -> String {
    let mut script = String::from("SECTIONS {\n.text.entered : { *(\n");
    for name in list.lines() {
        // Functions that are said to be cold have sections of another name.
        let _ = writeln!(script, ".text.{name}* .text.unlikely.{name}*");
    }
    script + ") }\n} INSERT BEFORE .text;\n"
}

/// Whether this build is linked by lld, which takes some seconds for the script where GNU's linker takes more than ten minutes: asked with a
/// program that does nothing, which tells its linker.
fn is_linked_by_lld(out: &Path) -> bool {
    let source = out.join("nothing.rs");
    if fs::write(&source, "fn main() {}\n").is_err() {
        return false;
    }
    let var = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let mut rustc = Command::new(var("RUSTC").unwrap_or_else(|| "rustc".to_owned()));
    if let Some(flags) = var("CARGO_ENCODED_RUSTFLAGS") {
        rustc.args(flags.split('\x1f'));
    }
    if let Some(linker) = var("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={linker}"));
    }
    if let Some(target) = var("TARGET") {
        rustc.arg("--target").arg(target);
    }
    let program = source.with_extension("out");
    rustc.arg("-o").arg(&program).arg(&source);
    let is_built = rustc.output().is_ok_and(|told| told.status.success());
    let told = fs::read(program).unwrap_or_default();
    is_built && told.windows(11).any(|bytes| bytes == b"Linker: LLD")
}
