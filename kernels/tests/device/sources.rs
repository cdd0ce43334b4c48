//! The sources of the device kernels, compiled by g++ for the host and loaded: what will run on a device runs here.
//!
//! Takes nothing; gives an interpreter, or `None` where there is no g++. One of the files with unsafe code: it loads a library and calls
//! into it, with addresses that it has checked against the memory.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use treeqr_devices::{Arg, Gemm, Interpreter, Launch};
use treeqr_kernels::device::HostKernels;

type RunKernel = unsafe extern "C" fn(*const c_char, c_uint, c_uint, *mut *mut c_void) -> c_int;

/// Products are those of the twins; kernels are the sources.
pub struct Sources {
    run: RunKernel,
    /// Threads of a block in place of those asked for: a fiber each.
    threads: Option<u32>,
}

/// The compiled sources; one caller at a time, as the shim has one block.
static ONE: Mutex<()> = Mutex::new(());

fn library() -> Option<RunKernel> {
    static LIBRARY: OnceLock<Option<RunKernel>> = OnceLock::new();
    *LIBRARY.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda/host/all.cpp");
        let folder = tempfile::tempdir().expect("a folder for the library");
        let built = folder.path().join("kernels.so");
        let options = [
            "-std=c++17",
            "-O2",
            "-shared",
            "-fPIC",
            "-Wall",
            "-Werror",
            "-o",
        ];
        let output = match Command::new("g++")
            .args(options)
            .arg(&built)
            .arg(&sources)
            .output()
        {
            Ok(output) => output,
            Err(error) => {
                eprintln!(
                    "SKIPPED: the device sources on the host, since there is no g++: {error}"
                );
                return None;
            }
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "g++ refuses the device kernels:\n{said}"
        );
        // SAFETY: a library that was just made of the repository's sources; loading it runs no code of its own.
        let library = unsafe { libloading::Library::new(&built) }.expect("it loads");
        // SAFETY: `run_kernel` in `all.cpp` has this type.
        let run = *unsafe { library.get::<RunKernel>(b"run_kernel") }.expect("it has its door");
        // It stays for the whole process.
        std::mem::forget(library);
        Some(run)
    })
}

impl Sources {
    /// With blocks of `threads` threads instead of what is asked for.
    pub fn new(threads: Option<u32>) -> Option<Self> {
        library().map(|run| Sources { run, threads })
    }
}

impl Interpreter for Sources {
    fn launch(&self, launch: &Launch, memory: &mut [u8], base: u64) {
        let here = memory.as_mut_ptr() as u64;
        let inside = |address: u64| (base..=base + memory.len() as u64).contains(&address);
        let mut args = launch.args.clone();
        for arg in &mut args {
            if let Arg::Address(address) = arg {
                assert!(inside(*address), "{launch:?} leaves the memory");
                *address = *address - base + here;
            }
        }
        let mut pointers: Vec<*mut c_void> = args
            .iter_mut()
            .map(|arg| match arg {
                Arg::Address(address) => std::ptr::from_mut(address).cast(),
                Arg::Int(int) => std::ptr::from_mut(int).cast(),
                Arg::Ints(ints) => ints.as_mut_ptr().cast(),
            })
            .collect();
        let name = CString::new(format!("{}_{}", launch.kernel, launch.scalar.name())).unwrap();
        // Where each block has its own work, none can be left out.
        let blocks = match launch.kernel {
            "strip_apply" | "merge_t" => launch.blocks,
            _ => launch.blocks.min(3),
        };
        let _one = ONE
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        // A strip lies in the registers of as many threads as are asked for.
        let threads = match self.threads {
            Some(threads) if !launch.kernel.starts_with("strip") => threads,
            _ => launch.threads,
        };
        // SAFETY: the arguments are those that the kernel declares, addresses lie in `memory`, which is borrowed alone here, and the
        // tests leave room around every block.
        let done = unsafe { (self.run)(name.as_ptr(), blocks, threads, pointers.as_mut_ptr()) };
        assert_eq!(done, 0, "there is no kernel {name:?}");
    }

    fn gemm(&self, gemm: &Gemm, memory: &mut [u8], base: u64) {
        HostKernels.gemm(gemm, memory, base);
    }
}
