//! hwloc without its plug-ins.
//!
//! hwloc loads what lies in its folder of plug-ins whenever it is set up: readers of XML, of OpenCL and CUDA devices, of PCI. They bring libraries of 30 MB
//! with them, and tell nothing that is asked for here. Only a variable of the environment keeps them out.

/// hwloc looks for plug-ins here.
const PATH: &str = "HWLOC_PLUGINS_PATH";
/// A folder that is empty, where there is one.
const NOWHERE: &str = "/var/empty";

/// Keeps hwloc from loading plug-ins, unless the environment says where they are: some milliseconds on a second thread, which make reading a file
/// beside it wait, and 3 MB of memory. For programs, at their start: does nothing when the process has more than one thread, nor where that can't be known.
pub fn leave_hwloc_plugins_out() {
    let threads = std::fs::read_dir("/proc/self/task").map(Iterator::count);
    if matches!(threads, Ok(1)) && std::env::var_os(PATH).is_none() {
        // SAFETY: no other thread reads the environment, for there is none.
        unsafe { std::env::set_var(PATH, NOWHERE) };
    }
}
