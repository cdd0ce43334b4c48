//! The help texts, word by word. After a change: `INSTA_UPDATE=always cargo test -p treeqr help`, and read the difference.

use crate::command::run;

#[test]
fn help_texts() {
    let pages: [&[&str]; 19] = [
        &["--help"],
        &["solve", "--help"],
        &["analyse", "--help"],
        &["info", "--help"],
        &["gallery", "--help"],
        &["bench", "--help"],
        &["trace", "--help"],
        &["trace", "info", "--help"],
        &["trace", "check", "--help"],
        &["trace", "filter", "--help"],
        &["trace", "diff", "--help"],
        &["trace", "export", "--help"],
        &["trace", "graph", "--help"],
        &["report", "--help"],
        &["plot", "--help"],
        &["schedulers", "--help"],
        &["orderings", "--help"],
        &["completions", "--help"],
        &["--version"],
    ];
    for args in pages {
        let done = run(args);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{args:?}");
        assert!(
            done.out.lines().all(|line| line.chars().count() <= 100),
            "{}",
            done.out
        );
        let name = args
            .join(" ")
            .replace(" --", "-")
            .replace("--", "")
            .replace(' ', "-");
        insta::assert_snapshot!(name, done.out);
    }
}

#[test]
fn every_subcommand_shows_examples_and_solve_its_exit_codes() {
    for command in [
        "solve",
        "analyse",
        "info",
        "gallery",
        "bench",
        "trace",
        "report",
        "plot",
        "schedulers",
        "orderings",
        "completions",
    ] {
        assert!(
            run([command, "--help"])
                .out
                .contains("Examples:\n  treeqr "),
            "{command}"
        );
    }
    for args in [&["--help"][..], &["solve", "--help"]] {
        let help = run(args).out;
        for code in [
            "0  solved",
            "1  bad input or use",
            "2  could not be solved",
            "3  stopped",
        ] {
            assert!(help.contains(code), "{args:?}");
        }
    }
}
