//! The house itself: which crate may know which, tidiness of the sources, and that the pages say what is true.
//!
//! Takes the workspace as it lies on the disk and `cargo metadata`; fails with every fault at once, each with its file.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates of the workspace, and those of them that each may depend on, in any way (to run, to build or to test).
const ARROWS: &[(&str, &[&str])] = &[
    ("treeqr-matrices", &[]),
    ("treeqr-devices", &[]),
    ("treeqr-kernels", &["treeqr-matrices", "treeqr-devices"]),
    ("treeqr-runtime", &["treeqr-devices"]),
    (
        "treeqr-solver",
        &[
            "treeqr-matrices",
            "treeqr-devices",
            "treeqr-kernels",
            "treeqr-runtime",
        ],
    ),
    ("treeqr-profiling", &["treeqr-runtime"]),
    (
        "treeqr",
        &[
            "treeqr-matrices",
            "treeqr-devices",
            "treeqr-kernels",
            "treeqr-runtime",
            "treeqr-solver",
            "treeqr-profiling",
        ],
    ),
];

/// The rooms with unsafe code. Each is explained in ARCHITECTURE.md.
const UNSAFE_ROOMS: &[&str] = &[
    "devices/src/cuda.rs",
    "kernels/src/view.rs",
    "kernels/tests/device/sources.rs",
    "profiling/src/clock/tsc.rs",
    "runtime/src/allocator.rs",
    "runtime/src/denormals.rs",
    "runtime/src/engine/share.rs",
    "runtime/src/store/block.rs",
    "runtime/src/store/buffers.rs",
    "runtime/src/store/chunks.rs",
    "runtime/src/store/mod.rs",
    "runtime/src/store/shared.rs",
    "runtime/src/topology/plugins.rs",
    "solver/src/analysis/ordering/metis.rs",
];

/// Lines that a source file may have; one that needs more says so in its head, in a line with [`LONG_BECAUSE`].
const MOST_LINES: usize = 700;
const LONG_BECAUSE: &str = "Long because";
/// What runs the tests that are skipped; their reason names it.
const RUNS_SKIPPED: &str = "just test-large";

const PAGES: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {errors}");
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

/// Every arrow between crates of the workspace that is not in the table, and every crate that only one of them knows.
fn arrow_faults(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().expect("packages");
    let name = |package: &Value| package["name"].as_str().expect("a name").to_owned();
    let found: BTreeSet<String> = packages.iter().map(name).collect();
    let known: BTreeSet<String> = ARROWS.iter().map(|row| row.0.to_owned()).collect();
    let mut faults: Vec<String> = found
        .symmetric_difference(&known)
        .map(|crate_name| format!("{crate_name}: in the workspace or in the table, not in both"))
        .collect();
    for package in packages {
        let from = name(package);
        let allowed = ARROWS
            .iter()
            .find(|row| row.0 == from)
            .map_or(&[][..], |row| row.1);
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let to = name(dependency);
            if found.contains(&to) && !allowed.contains(&to.as_str()) {
                let kind = dependency["kind"].as_str().unwrap_or("normal");
                faults.push(format!("{from} -> {to} ({kind} dependency)"));
            }
        }
    }
    faults
}

/// All files of the repository with this ending, relative to its root, sorted.
fn files(ending: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, ending: &str, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a readable folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or(".");
            if name.starts_with('.') || name == "target" {
                continue;
            }
            if path.is_dir() {
                walk(&path, ending, out);
            } else if name.ends_with(ending) {
                out.push(
                    path.strip_prefix(root())
                        .expect("below the root")
                        .to_owned(),
                );
            }
        }
    }
    let mut out = Vec::new();
    walk(root(), ending, &mut out);
    out.sort();
    out
}

/// Whether a line of code has `unsafe` as a word, comments and plain string literals left out.
fn has_unsafe(line: &str) -> bool {
    let mut code = String::new();
    for (k, part) in line.split('"').enumerate() {
        if k % 2 == 0 {
            let (before, comment) = part.split_once("//").map_or((part, false), |p| (p.0, true));
            code.push_str(before);
            if comment {
                break;
            }
        }
    }
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.into_iter().any(|word| word == "unsafe")
}

fn first_lines(source: &str) -> impl Iterator<Item = &str> {
    source.lines().take_while(|line| line.starts_with("//!"))
}

/// What is wrong with one source file, unsafe code apart.
fn source_faults(source: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = source.lines().count();
    if lines > MOST_LINES && !first_lines(source).any(|line| line.contains(LONG_BECAUSE)) {
        faults.push(format!(
            "{lines} lines, and no `{LONG_BECAUSE} ...` in its head"
        ));
    }
    let skipped = format!("#[{} =", "ignore");
    for (k, line) in source.lines().enumerate() {
        if line.trim_start().starts_with(&skipped) && !line.contains(RUNS_SKIPPED) {
            let k = k + 1;
            faults.push(format!(
                "line {k}: a test is skipped, and not by `{RUNS_SKIPPED}`"
            ));
        }
    }
    // In two pieces, so that this file has none of them.
    for (a, b) in [
        ("todo", "!("),
        ("unimplemented", "!("),
        ("FIX", "ME"),
        ("XX", "X"),
    ] {
        let left_over = format!("{a}{b}");
        if let Some(k) = source.lines().position(|line| line.contains(&left_over)) {
            faults.push(format!("line {}: {left_over}", k + 1));
        }
    }
    faults
}

#[track_caller]
fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n  {}", faults.join("\n  "));
}

/// The code blocks of a page that are marked as `language`.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}");
    let mut out: Vec<String> = Vec::new();
    let mut inside = None;
    for line in page.lines() {
        match inside {
            None if line.starts_with("```") => {
                inside = Some(line == fence);
                if line == fence {
                    out.push(String::new());
                }
            }
            Some(_) if line.starts_with("```") => inside = None,
            Some(true) => {
                let block = out.last_mut().expect("one was begun");
                block.push_str(line);
                block.push('\n');
            }
            _ => {}
        }
    }
    out
}

/// What stands between backticks or, of links, between their parentheses.
fn quoted<'a>(page: &'a str, open: &str, close: char) -> Vec<&'a str> {
    let parts = page.split(open).skip(1);
    parts
        .filter_map(|part| Some(part.split_once(close)?.0))
        .collect()
}

/// The words between backticks outside of code blocks.
fn code_words(page: &str) -> Vec<&str> {
    let prose = page.split("```").step_by(2);
    prose
        .flat_map(|text| text.split('`').skip(1).step_by(2))
        .collect()
}

#[test]
fn crates_know_only_what_they_may() {
    assert_none(&arrow_faults(&metadata()));
}

#[test]
fn a_wrong_arrow_is_found() {
    let package =
        |name: &str, dependencies: Value| json!({"name": name, "dependencies": dependencies});
    let with = |dependencies: Value| {
        let crates = ARROWS.iter().map(|&(name, _)| match name {
            "treeqr-runtime" => package(name, dependencies.clone()),
            _ => package(name, json!([{"name": "rayon", "kind": null}])),
        });
        json!({"packages": crates.collect::<Vec<_>>()})
    };
    assert_none(&arrow_faults(&with(json!([]))));
    for (kind, said) in [
        (json!(null), "normal"),
        (json!("dev"), "dev"),
        (json!("build"), "build"),
    ] {
        let wrong = with(json!([{"name": "treeqr-profiling", "kind": kind}]));
        let expected = format!("treeqr-runtime -> treeqr-profiling ({said} dependency)");
        assert_eq!(arrow_faults(&wrong), [expected]);
    }
    let mut unknown = with(json!([]));
    let packages = unknown["packages"].as_array_mut().expect("packages");
    packages.push(package("treeqr-attic", json!([])));
    assert_eq!(
        arrow_faults(&unknown).len(),
        1,
        "a crate that is not in the table"
    );
}

#[test]
fn the_table_of_arrows_has_no_cycle() {
    for (k, (name, allowed)) in ARROWS.iter().enumerate() {
        let before: Vec<_> = ARROWS[..k].iter().map(|row| row.0).collect();
        assert!(
            allowed.iter().all(|a| before.contains(a)),
            "{name} points ahead"
        );
    }
}

#[test]
fn sources_are_tidy() {
    let sources = files(".rs");
    assert!(
        sources.len() > 50,
        "only {} files were found",
        sources.len()
    );
    let faults = sources.iter().flat_map(|path| {
        let faults = source_faults(&read(path));
        faults
            .into_iter()
            .map(move |f| format!("{}: {f}", path.display()))
    });
    assert_none(&faults.collect::<Vec<_>>());
}

#[test]
fn untidy_sources_are_found() {
    let long = "fn f() {}\n".repeat(MOST_LINES + 1);
    assert_eq!(source_faults(&long).len(), 1);
    assert_none(&source_faults(&format!(
        "//! {LONG_BECAUSE} it is a table.\n{long}"
    )));
    let left_over = format!("fn f() {{ to{}() }}\n", "do!");
    assert_eq!(source_faults(&left_over).len(), 1);
    let skipped = |why: &str| format!("#[test]\n#[{} = \"{why}\"]\nfn f() {{}}\n", "ignore");
    assert_eq!(source_faults(&skipped("seconds")).len(), 1);
    assert_none(&source_faults(&skipped(&format!(
        "seconds: {RUNS_SKIPPED}"
    ))));
}

#[test]
fn unsafe_code_stays_in_its_rooms() {
    let with_unsafe: Vec<String> = files(".rs")
        .iter()
        .filter(|path| read(path).lines().any(has_unsafe))
        .map(|path| path.to_str().expect("a plain name").replace('\\', "/"))
        .collect();
    assert_eq!(
        with_unsafe, UNSAFE_ROOMS,
        "found on the left, allowed on the right"
    );
    let page = read("ARCHITECTURE.md");
    let words = code_words(&page);
    let silent = UNSAFE_ROOMS.iter().filter(|room| !words.contains(room));
    let silent = silent.map(|room| format!("ARCHITECTURE.md does not explain `{room}`"));
    assert_none(&silent.collect::<Vec<_>>());
}

#[test]
fn unsafe_words_are_told_from_others() {
    let word = "unsafe";
    for code in [
        format!("{word} {{ f() }}"),
        format!("let x = \"a\"; {word} fn f() {{}} // b"),
    ] {
        assert!(has_unsafe(&code), "{code}");
    }
    for other in [
        format!("// {word}"),
        format!("#![forbid({word}_code)]"),
        format!("f(\"{word}\")"),
    ] {
        assert!(!has_unsafe(&other), "{other}");
    }
}

#[test]
fn the_first_commands_of_the_readme_are_those_that_are_tested() {
    let readme = read("README.md");
    let commands = blocks(&readme, "sh");
    let [first, second, ..] = &commands[..] else {
        panic!("README.md has {} commands", commands.len());
    };
    let files = "matrices/data/survey.mtx.gz --rhs matrices/data/survey_rhs.mtx.gz";
    assert!(
        first.trim_end().ends_with(&format!("solve {files}")),
        "{first}"
    );
    for file in files.split(" --rhs ") {
        assert!(root().join(file).is_file(), "{file}");
    }
    let ci = read(".ci/run");
    let last = ci.lines().rfind(|line| !line.trim().is_empty());
    assert_eq!(last, Some(second.trim_end()), "the last line of .ci/run");
    let (_, packages) = ci.split_once("packages=(").expect("a list of packages");
    let (packages, _) = packages.split_once(')').expect("its end");
    assert!(first.contains(&format!("install -y {packages}")), "{first}");
}

/// The README's example is the first one of the library's guide, which is a doctest.
#[test]
fn the_commands_of_the_page_on_schedulers_are_those_of_just_findings() {
    let page = read("docs/schedulers.md");
    let told: Vec<_> = blocks(&page, "sh")
        .iter()
        .map(|block| block.trim().to_owned())
        .collect();
    let justfile = read("justfile");
    let recipe = justfile.split("\nfindings ").nth(1).expect("a recipe");
    let run: Vec<_> = recipe
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with("    "))
        .filter_map(|line| line.trim().strip_prefix("target/release/"))
        .map(|line| line.trim_end_matches(" --reps {{reps}}").to_owned())
        .collect();
    assert!(run.len() > 4, "{run:?}");
    assert_eq!(told, run);
}

#[test]
fn the_example_of_the_readme_compiles() {
    let guide: String = first_lines(&read("src/lib.rs"))
        .map(|line| line.trim_start_matches("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect();
    let (_, example) = guide.split_once("```\n").expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    let shown = example.lines().filter(|line| !line.starts_with("# "));
    let shown: String = shown.map(|line| format!("{line}\n")).collect();
    assert_eq!(blocks(&read("README.md"), "rust"), [shown]);
}

#[test]
fn the_readme_names_what_can_be_chosen() {
    let readme = read("README.md");
    let words: BTreeSet<&str> = code_words(&readme).into_iter().collect();
    let schedulers = treeqr_runtime::SCHEDULERS.iter().map(|entry| entry.name);
    let orderings = treeqr_solver::ORDERINGS.iter().map(|entry| entry.name);
    let families = treeqr_matrices::gallery::FAMILIES.iter().map(|f| f.form);
    let all = schedulers.chain(orderings).chain(families);
    let missing = all.filter(|name| !words.contains(name));
    let missing = missing.map(|name| format!("README.md does not name `{name}`"));
    assert_none(&missing.collect::<Vec<_>>());
    let page = read("ARCHITECTURE.md");
    let codelets = treeqr_solver::CODELETS.iter();
    let missing = codelets.filter(|name| !code_words(&page).contains(name));
    let missing = missing.map(|name| format!("ARCHITECTURE.md does not name the codelet `{name}`"));
    assert_none(&missing.collect::<Vec<_>>());
}

/// Files and folders that pages name lie where they say: from the root, or from a crate or its `src`.
#[test]
fn pages_name_files_that_exist() {
    let crates = ["", "matrices", "kernels", "runtime", "solver", "profiling"];
    let bases: Vec<PathBuf> = crates
        .iter()
        .flat_map(|name| [root().join(name), root().join(name).join("src")])
        .collect();
    let mut faults = Vec::new();
    let mut checked = 0;
    let mut pages: Vec<PathBuf> = PAGES.iter().map(PathBuf::from).collect();
    pages.extend(files(".md").into_iter().filter(|p| p.starts_with("docs")));
    for page in &pages {
        let text = read(page);
        for word in code_words(&text) {
            let plain = !word.contains([' ', '<', '*', ':', '{']);
            if plain && (word.ends_with(".rs") || word.ends_with('/')) {
                checked += 1;
                if !bases.iter().any(|base| base.join(word).exists()) {
                    faults.push(format!("{}: no `{word}`", page.display()));
                }
            }
        }
        let folder = root().join(page.parent().unwrap_or(Path::new("")));
        for link in quoted(&text, "](", ')') {
            let target = link.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                faults.push(format!("{}: no {target}", page.display()));
            }
        }
    }
    assert!(checked > 50, "only {checked} names were found");
    assert_none(&faults);
}

#[test]
fn blocks_and_words_are_told_apart() {
    let page = "Say `a b`.\n```sh\nrun `x`\n```\nor `c/` [d](e.md)\n```text\ny\n```\n";
    assert_eq!(blocks(page, "sh"), ["run `x`\n"]);
    assert_eq!(code_words(page), ["a b", "c/"]);
    assert_eq!(quoted(page, "](", ')'), ["e.md"]);
}
