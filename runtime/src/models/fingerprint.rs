//! Which machine this is, as far as durations depend on it.
//!
//! Takes nothing; gives one line of text: the processor's model and its number of cores. Where the system does not say,
//! the architecture stands for the model.

/// One line, the same in every process on this machine.
pub(super) fn fingerprint() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |line: &str| Some(line.split_once(':')?.1.trim().to_owned());
    let model = info
        .lines()
        .find(|line| line.starts_with("model name"))
        .and_then(value)
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let listed = info.lines().filter(|line| line.starts_with("processor"));
    let cores = listed
        .count()
        .max(std::thread::available_parallelism().map_or(1, usize::from));
    format!("{model} x {cores}")
}
