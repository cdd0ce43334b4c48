//! StarPU beside us: builds `overhead.c` where the library is, and runs it.
//!
//! Needs pkg-config, a C compiler and StarPU 1.3 or 1.4 (Debian: libstarpu-dev); gives `None` where one is missing.

use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Starpu {
    program: PathBuf,
    home: PathBuf,
    /// What pkg-config says.
    pub version: String,
}

impl Starpu {
    pub fn build() -> Option<Starpu> {
        let package = ["starpu-1.4", "starpu-1.3"];
        let package = package
            .into_iter()
            .find(|name| ask(&["--exists", name]).is_some())?;
        let home = std::env::temp_dir().join(format!("treeqr-starpu-{}", std::process::id()));
        std::fs::create_dir_all(&home).ok()?;
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/starpu/overhead.c");
        let program = home.join("overhead");
        let flags = ask(&["--cflags", "--libs", package])?;
        let mut cc = Command::new("cc");
        cc.arg("-O2").arg(source).arg("-o").arg(&program);
        let built = cc.args(flags.split_whitespace()).status().ok()?.success();
        built.then_some(Starpu {
            program,
            home,
            version: ask(&["--modversion", package])?.trim().to_owned(),
        })
    }

    /// What the driver prints for `graph`.
    pub fn measure(&self, scheduler: &str, graph: &str, workers: usize, tasks: u32) -> Option<f64> {
        let output = Command::new(&self.program)
            .args([graph, &tasks.to_string()])
            .env("STARPU_NCPU", workers.to_string())
            .env("STARPU_SCHED", scheduler)
            .env("STARPU_SILENT", "1")
            .env("STARPU_HOME", &self.home)
            .output()
            .ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    }
}

impl Drop for Starpu {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

fn ask(arguments: &[&str]) -> Option<String> {
    let output = Command::new("pkg-config").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(text)
}
