//! How the program lies in memory: at a fixed address, with the functions that runs enter side by side. README.md here tells why.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

const LIST: &str = "benches/layout/entered.txt";

/// Has the program linked for a fixed address: where the system chooses it, half a megabyte of places to mend is read at each start, and
/// a third of one written.
pub fn fix_address() {
    // A program of musl's or without shared libraries is linked otherwise.
    let is_static = var("CARGO_CFG_TARGET_FEATURE").contains("crt-static");
    if is_for_it() && var("CARGO_CFG_TARGET_ENV") == "gnu" && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// Has the program linked by the list. With another linker, or names of another kind, the code lies as it would without.
pub fn lay_aside() {
    println!("cargo::rerun-if-changed={LIST}");
    println!("cargo::rerun-if-changed=benches/layout/link.rs");
    if !is_for_it() {
        return;
    }
    let list = fs::read_to_string(LIST).unwrap_or_default();
    if list.is_empty() {
        return;
    }
    let out = var("OUT_DIR");
    let script = Path::new(&out).join("entered.ld");
    if fs::write(&script, linker_script(&list)).is_ok() && is_linked_by_lld(Path::new(&out)) {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", script.display());
    }
}

/// Whether it is a release for Linux and x86-64, where it was measured. Other profiles inline otherwise, and are linked often.
fn is_for_it() -> bool {
    let is_here = var("CARGO_CFG_TARGET_OS") == "linux" && var("CARGO_CFG_TARGET_ARCH") == "x86_64";
    is_here && var("PROFILE") == "release"
}

fn var(name: &str) -> String {
    env::var(name).unwrap_or_default()
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
    let given = |name| Some(var(name)).filter(|value| !value.is_empty());
    let mut rustc = Command::new(given("RUSTC").unwrap_or_else(|| "rustc".to_owned()));
    if let Some(flags) = given("CARGO_ENCODED_RUSTFLAGS") {
        rustc.args(flags.split('\x1f'));
    }
    if let Some(linker) = given("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={linker}"));
    }
    if let Some(target) = given("TARGET") {
        rustc.arg("--target").arg(target);
    }
    let program = source.with_extension("out");
    rustc.arg("-o").arg(&program).arg(&source);
    let is_built = rustc.output().is_ok_and(|told| told.status.success());
    let told = fs::read(program).unwrap_or_default();
    is_built && told.windows(11).any(|bytes| bytes == b"Linker: LLD")
}
