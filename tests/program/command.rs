//! Runs the command.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command, to be given arguments, in an environment that does not depend on who runs the test.
pub fn treeqr() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_treeqr"));
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    // Cost models of tests are not the user's.
    command.env(
        "XDG_CACHE_HOME",
        concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"),
    );
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

/// What came of it.
pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs it with these arguments to its end.
pub fn run<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Done {
    let Output {
        status,
        stdout,
        stderr,
    } = treeqr().args(args).output().expect("the command starts");
    let done = Done {
        code: status.code().expect("no signal ended it"),
        out: String::from_utf8(stdout).expect("UTF-8"),
        err: String::from_utf8(stderr).expect("UTF-8"),
    };
    assert!(!done.err.contains("panicked"), "{}", done.err);
    done
}

/// The object that `--json` prints, after exit code 0.
pub fn json<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Value {
    let done = run(args);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{}", done.out);
    serde_json::from_str(&done.out).expect("one JSON object and nothing else")
}

/// A folder for one test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file with this text.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    }

    /// The names of the files in it.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("readable");
        let mut names: Vec<_> = entries
            .map(|e| {
                e.expect("readable")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    /// Where `treeqr solve` with these arguments left its trace. Cost models stay in the folder.
    pub fn traced(&self, name: &str, args: &[&str]) -> String {
        let path = self.path(name).to_str().expect("UTF-8").to_owned();
        let solve = treeqr()
            .arg("solve")
            .args(args)
            .args(["--trace", &path])
            .env("XDG_CACHE_HOME", self.root())
            .output()
            .expect("the command starts");
        assert!(
            solve.status.success(),
            "{}",
            String::from_utf8_lossy(&solve.stderr)
        );
        path
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }
}
