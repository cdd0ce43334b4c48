//! Which devices take part in a run: found, chosen, opened.
//!
//! Takes what a user asked for; gives [`Accelerator`]s for [`Config::accelerators`](crate::Config), or why there are none, in a line.
//! Knows no task.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use treeqr_devices::{
    Device, DeviceError, ErrorKind, FoundDevice, HostDevice, HostFaults, ScalarKind, find, open,
};
pub use treeqr_kernels::device::scalar_kind;
use treeqr_kernels::device::{HostKernels, modules, warm_up};
use treeqr_runtime::Accelerator;

/// Which devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// Those that can be used, for work that is worth opening them.
    Auto,
    /// None.
    #[default]
    None,
    /// These, by their numbers.
    Some(Vec<usize>),
    /// A device that is the host: slow, for tests of all that needs no device.
    Host,
}

/// How devices take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceOptions {
    /// Which.
    pub choice: DeviceChoice,
    /// Bytes of memory that a run takes of each; by default nine tenths of what is free.
    pub memory_bytes: Option<u64>,
    /// Tasks that run on a device at the same time.
    pub streams: usize,
    /// Whether large buffers on the host are page-locked when they are copied again. On an H100 runs took up to half as long again with it:
    /// while memory is locked, the driver lets all others wait.
    pub pin: bool,
}

/// Streams that keep a device busy beside the calls that each task needs: with 8 an H100 was no faster.
pub const DEFAULT_STREAMS: usize = 4;

impl Default for DeviceOptions {
    fn default() -> Self {
        DeviceOptions {
            choice: DeviceChoice::default(),
            memory_bytes: None,
            streams: DEFAULT_STREAMS,
            pin: false,
        }
    }
}

/// Below so many flops `auto` leaves devices alone: to open one takes a part of a second, in which 16 cores do as much.
const AUTO_FLOPS: f64 = 1e11;
/// Bytes of the device that is the host.
const HOST_BYTES: u64 = 256 << 20;

/// The devices of a run, and what should be said of those that are not.
#[derive(Clone, Debug, Default)]
pub struct OpenDevices {
    /// Opened.
    pub accelerators: Vec<Accelerator>,
    /// Why others do not take part.
    pub notes: Vec<String>,
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "none" => Ok(DeviceChoice::None),
            "host" => Ok(DeviceChoice::Host),
            _ => {
                let wrong = || "auto, none, or numbers of devices as 0,1".to_owned();
                let numbers = text.split(',').map(|n| n.parse().map_err(|_| wrong()));
                let mut numbers = numbers.collect::<Result<Vec<usize>, String>>()?;
                numbers.sort_unstable();
                numbers.dedup();
                Ok(DeviceChoice::Some(numbers))
            }
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => f.write_str("auto"),
            DeviceChoice::None => f.write_str("none"),
            DeviceChoice::Host => f.write_str("host"),
            DeviceChoice::Some(numbers) => {
                let words: Vec<_> = numbers.iter().map(usize::to_string).collect();
                f.write_str(&words.join(","))
            }
        }
    }
}

impl DeviceOptions {
    /// Opens the devices for factorizations of so many flops in numbers of these kinds.
    ///
    /// # Errors
    /// If a device that was asked for by its number can't be used. With `auto` that is a note.
    pub fn open(&self, flops: f64, scalars: &[ScalarKind]) -> Result<OpenDevices, DeviceError> {
        let mut all = OpenDevices::default();
        let double = scalars.iter().any(|scalar| scalar.is_double());
        match &self.choice {
            DeviceChoice::None => {}
            DeviceChoice::Host => {
                let name = "host0";
                let bytes = self.memory_bytes.unwrap_or(HOST_BYTES);
                let device =
                    HostDevice::new(name, bytes, Arc::new(HostKernels), HostFaults::default());
                all.accelerators
                    .push(self.accelerator(name.to_owned(), Arc::new(device))?);
            }
            DeviceChoice::Some(numbers) => {
                for &ordinal in numbers {
                    all.accelerators.push(self.cuda(ordinal, scalars)?);
                }
            }
            // To look for them takes milliseconds.
            DeviceChoice::Auto if flops < AUTO_FLOPS => {}
            DeviceChoice::Auto => {
                let found = find();
                if found.devices.is_empty() {
                    return Ok(all);
                }
                all.notes.extend(found.missing.clone());
                let usable = found.devices.iter().filter(|_| found.missing.is_none());
                for device in usable {
                    match unusable(device, double) {
                        Some(why) => all.notes.push(format!("{}: {why}", device.name)),
                        None => match self.cuda(device.ordinal, scalars) {
                            Ok(accelerator) => all.accelerators.push(accelerator),
                            Err(error) => all.notes.push(error.to_string()),
                        },
                    }
                }
            }
        }
        Ok(all)
    }

    fn cuda(&self, ordinal: usize, scalars: &[ScalarKind]) -> Result<Accelerator, DeviceError> {
        let device = open(ordinal, &modules(scalars))?;
        for &scalar in scalars {
            warm_up(&*device, scalar)?;
        }
        self.accelerator(format!("cuda{ordinal}"), device)
    }

    fn accelerator(
        &self,
        name: String,
        device: Arc<dyn Device>,
    ) -> Result<Accelerator, DeviceError> {
        let free = device.memory()?.free_bytes;
        let memory_bytes = self.memory_bytes.unwrap_or(free / 10 * 9);
        if memory_bytes > free {
            let what = format!("{memory_bytes} bytes are not free: {free} are");
            return Err(DeviceError::new(
                &name,
                "open",
                what,
                ErrorKind::OutOfMemory,
            ));
        }
        Ok(Accelerator {
            name,
            device,
            memory_bytes,
            streams: self.streams,
            pin: self.pin,
        })
    }
}

/// Why `auto` leaves a device alone.
fn unusable(device: &FoundDevice, double: bool) -> Option<String> {
    let slow = double && !device.is_good_in_double();
    let slow = slow.then(|| {
        let ratio = device.double_ratio;
        format!("double precision takes {ratio} times as long as single")
    });
    device.missing.clone().or(slow)
}

/// What `treeqr topology` says of devices, a line each.
pub fn device_lines() -> Vec<String> {
    let found = find();
    let mut lines = Vec::new();
    for device in &found.devices {
        let gib = device.memory_bytes as f64 / (1u64 << 30) as f64;
        let mut line = format!(
            "cuda{}: {}, {gib:.1} GiB, compute capability {}",
            device.ordinal, device.name, device.capability
        );
        if !device.is_good_in_double() {
            line.push_str(&format!(
                ", double precision 1/{} of single",
                device.double_ratio
            ));
        }
        if let Some(missing) = &device.missing {
            line.push_str(&format!(": not usable, {missing}"));
        }
        lines.push(line);
    }
    match (&found.driver, &found.missing) {
        (Some(driver), None) => lines.push(format!("CUDA driver {driver}, cuBLAS found")),
        (Some(driver), Some(missing)) => {
            lines.push(format!("CUDA driver {driver}; not usable: {missing}"))
        }
        (None, Some(missing)) => lines.push(format!("none: {missing}")),
        (None, None) => {}
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_and_written() {
        for text in ["auto", "none", "0", "0,2", "host"] {
            assert_eq!(text.parse::<DeviceChoice>().unwrap().to_string(), text);
        }
        assert_eq!("2,0,2".parse(), Ok(DeviceChoice::Some(vec![0, 2])));
        for text in ["", "all", "0,", "-1"] {
            assert_eq!(
                text.parse::<DeviceChoice>().unwrap_err(),
                "auto, none, or numbers of devices as 0,1"
            );
        }
    }

    #[test]
    fn the_host_is_a_device_and_no_other_number_is() {
        let options = |choice| DeviceOptions {
            choice,
            ..DeviceOptions::default()
        };
        let host = options(DeviceChoice::Host)
            .open(1.0, &[ScalarKind::F64])
            .unwrap();
        assert_eq!(host.accelerators[0].memory_bytes, HOST_BYTES / 10 * 9);
        assert!(
            options(DeviceChoice::Auto)
                .open(1.0, &[ScalarKind::F64])
                .unwrap()
                .accelerators
                .is_empty(),
            "too small"
        );
        let error = options(DeviceChoice::Some(vec![1000]))
            .open(1.0, &[ScalarKind::F64])
            .unwrap_err();
        assert_eq!(error.device, "cuda1000");
        let greedy = DeviceOptions {
            memory_bytes: Some(HOST_BYTES * 2),
            ..options(DeviceChoice::None)
        };
        assert!(
            greedy
                .open(1.0, &[ScalarKind::F64])
                .unwrap()
                .accelerators
                .is_empty()
        );
    }
}
