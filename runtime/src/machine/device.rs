//! An emulated device, as a user describes it: `cuda0:speed=8,bandwidth=12GB/s,memory=512MiB,latency=10us`.
//!
//! Takes text; gives a checked description, or what is wrong with which part of it. Knows no run.
//!
//! | key | meaning | default |
//! | --- | --- | --- |
//! | `speed` | how many times faster than a CPU worker it runs tasks | 1 |
//! | `speed.CODELET` | the same for one codelet | `speed` |
//! | `bandwidth` | of its link to the host, both directions together: `B/s`, `kB/s`, `MB/s`, `GB/s`, `MiB/s`, ... | 12GB/s |
//! | `latency` | what every transfer costs beyond its bytes: `ns`, `us`, `ms`, `s` | 10us |
//! | `memory` | what fits into its memory: `B`, `kB`, `MB`, `GB`, `KiB`, `MiB`, `GiB`, ... | 1GiB |

use std::str::FromStr;

/// A device that is emulated: a worker with a memory of its own on the host, and a link that takes its time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceSpec {
    /// Letters and a number: `cuda0`.
    pub name: String,
    /// How many times faster than a CPU worker it runs a task.
    pub speed: f64,
    /// The same for some codelets, by name.
    pub speeds: Vec<(String, f64)>,
    /// Bytes a second over the link, both directions together.
    pub bandwidth: f64,
    /// Nanoseconds that every transfer takes beyond its bytes.
    pub latency_ns: f64,
    /// Bytes that fit into its memory.
    pub memory_bytes: u64,
}

/// What is wrong with the description of a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceSpecError {
    /// The name is not letters and a number.
    #[error("`{found}` is no name of a device: letters and a number, as in `cuda0`")]
    Name {
        /// What is there.
        found: String,
    },
    /// A part is no `key=value`.
    #[error("`{found}` is not of the form key=value")]
    NoPair {
        /// The part.
        found: String,
    },
    /// There is no such key.
    #[error("there is no key `{key}`; known are speed, speed.CODELET, bandwidth, latency, memory")]
    Key {
        /// The key.
        key: String,
    },
    /// A key comes twice.
    #[error("`{key}` comes twice")]
    Twice {
        /// The key.
        key: String,
    },
    /// The value can't be understood.
    #[error("`{key}={value}`: expected {expected}")]
    Value {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// What would be right.
        expected: &'static str,
    },
}

impl DeviceSpec {
    /// A device of that name with all else by default.
    ///
    /// # Errors
    /// If the name is not letters and a number.
    pub fn named(name: &str) -> Result<Self, DeviceSpecError> {
        name.parse()
    }

    /// The name without its number.
    pub fn kind(&self) -> &str {
        self.name.trim_end_matches(|c: char| c.is_ascii_digit())
    }

    /// How many times faster than a CPU worker it runs `codelet`.
    pub fn speed_of(&self, codelet: &str) -> f64 {
        let own = self.speeds.iter().find(|(name, _)| name == codelet);
        own.map_or(self.speed, |(_, speed)| *speed)
    }

    /// Nanoseconds to move `bytes` over its link.
    pub fn transfer_ns(&self, bytes: u64) -> f64 {
        self.latency_ns + bytes as f64 / self.bandwidth * 1e9
    }

    /// Whether tasks and transfers take as long on `other`.
    pub(super) fn is_like(&self, other: &DeviceSpec) -> bool {
        let name = other.name.clone();
        self.kind() == other.kind()
            && DeviceSpec {
                name,
                ..self.clone()
            } == *other
    }

    /// What the cost models call it.
    pub(super) fn model_name(&self) -> String {
        let mut name = format!("emulated {} speed={}", self.kind(), self.speed);
        for (codelet, speed) in &self.speeds {
            name.push_str(&format!(" speed.{codelet}={speed}"));
        }
        name
    }
}

impl FromStr for DeviceSpec {
    type Err = DeviceSpecError;

    fn from_str(text: &str) -> Result<Self, DeviceSpecError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let number = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        if number.len() == name.len() || !digits {
            return Err(DeviceSpecError::Name {
                found: name.to_owned(),
            });
        }
        let mut device = DeviceSpec {
            name: name.to_owned(),
            speed: 1.0,
            speeds: Vec::new(),
            bandwidth: 12e9,
            latency_ns: 10e3,
            memory_bytes: 1 << 30,
        };
        let mut seen = Vec::new();
        for part in rest.split(',').filter(|part| !part.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| DeviceSpecError::NoPair {
                    found: part.to_owned(),
                })?;
            let (key, value) = (key.trim(), value.trim());
            if seen.contains(&key) {
                return Err(DeviceSpecError::Twice {
                    key: key.to_owned(),
                });
            }
            seen.push(key);
            device.set(key, value)?;
        }
        Ok(device)
    }
}

impl DeviceSpec {
    fn set(&mut self, key: &str, value: &str) -> Result<(), DeviceSpecError> {
        let wrong = |expected| DeviceSpecError::Value {
            key: key.to_owned(),
            value: value.to_owned(),
            expected,
        };
        let speed = || {
            let speed = value.parse().ok();
            speed
                .filter(|s: &f64| (1e-3..=1e4).contains(s))
                .ok_or_else(|| wrong("a factor from 0.001 to 10000, such as 8"))
        };
        match key {
            "speed" => self.speed = speed()?,
            "bandwidth" => {
                let bytes = value.strip_suffix("/s").and_then(|v| quantity(v, BYTES));
                self.bandwidth = bytes
                    .filter(|b| (1.0..=1e15).contains(b))
                    .ok_or_else(|| wrong("bytes a second, such as 12GB/s"))?;
            }
            "latency" => {
                let ns = quantity(value, TIMES).filter(|ns| *ns <= 1e9);
                self.latency_ns = ns.ok_or_else(|| wrong("a time up to 1s, such as 10us"))?;
            }
            "memory" => {
                let bytes = quantity(value, BYTES).filter(|b| (1.0..=1e15).contains(b));
                self.memory_bytes = bytes.ok_or_else(|| wrong("bytes, such as 512MiB"))? as u64;
            }
            _ => match key.strip_prefix("speed.") {
                Some(codelet) if !codelet.is_empty() => {
                    self.speeds.push((codelet.to_owned(), speed()?));
                }
                _ => {
                    return Err(DeviceSpecError::Key {
                        key: key.to_owned(),
                    });
                }
            },
        }
        Ok(())
    }
}

const BYTES: &[(&str, f64)] = &[
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
    ("TiB", 1099511627776.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("B", 1.0),
];
const TIMES: &[(&str, f64)] = &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// A number with a unit, at least 0.
fn quantity(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let value = number.trim_end().parse::<f64>().ok()? * factor;
    (value.is_finite() && value >= 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read() {
        let text = "cuda0:speed=8,bandwidth=12GB/s,memory=512MiB,latency=10us,speed.geqrt=0.5";
        let device: DeviceSpec = text.parse().unwrap();
        assert_eq!((&*device.name, device.kind()), ("cuda0", "cuda"));
        assert_eq!(
            (device.speed_of("gemqrt"), device.speed_of("geqrt")),
            (8.0, 0.5)
        );
        assert_eq!((device.bandwidth, device.latency_ns), (12e9, 10e3));
        assert_eq!(device.memory_bytes, 512 << 20);
        assert_eq!(device.transfer_ns(12_000), 11e3);
        let bare: DeviceSpec = "gpu12".parse().unwrap();
        assert_eq!((bare.speed, bare.memory_bytes), (1.0, 1 << 30));
        assert!(bare.is_like(&"gpu3".parse().unwrap()));
        assert!(!bare.is_like(&"gpu3:speed=2".parse().unwrap()));
        assert!(!bare.is_like(&"cuda12".parse().unwrap()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let faults = [
            (
                "",
                "`` is no name of a device: letters and a number, as in `cuda0`",
            ),
            (
                "cuda",
                "`cuda` is no name of a device: letters and a number, as in `cuda0`",
            ),
            (
                "0:speed=1",
                "`0` is no name of a device: letters and a number, as in `cuda0`",
            ),
            ("cuda0:speed", "`speed` is not of the form key=value"),
            (
                "cuda0:sped=1",
                "there is no key `sped`; known are speed, speed.CODELET, bandwidth, latency, memory",
            ),
            ("cuda0:speed=1,speed=2", "`speed` comes twice"),
            (
                "cuda0:speed=-1",
                "`speed=-1`: expected a factor from 0.001 to 10000, such as 8",
            ),
            (
                "cuda0:speed=NaN",
                "`speed=NaN`: expected a factor from 0.001 to 10000, such as 8",
            ),
            (
                "cuda0:bandwidth=12GB",
                "`bandwidth=12GB`: expected bytes a second, such as 12GB/s",
            ),
            (
                "cuda0:bandwidth=0B/s",
                "`bandwidth=0B/s`: expected bytes a second, such as 12GB/s",
            ),
            (
                "cuda0:memory=lots",
                "`memory=lots`: expected bytes, such as 512MiB",
            ),
            (
                "cuda0:latency=10",
                "`latency=10`: expected a time up to 1s, such as 10us",
            ),
        ];
        for (text, expected) in faults {
            let error = text.parse::<DeviceSpec>().unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
