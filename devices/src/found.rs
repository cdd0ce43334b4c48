//! Which devices this machine has and what they lack, each in one line.
//!
//! Takes nothing; never fails and never panics: what is missing is an answer too.

use crate::cuda;

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The driver's version, as `12.4`, if there is a driver.
    pub driver: Option<String>,
    /// Its devices.
    pub devices: Vec<FoundDevice>,
    /// Why no device can be used, if that is so: a driver or a library that is missing.
    pub missing: Option<String>,
}

/// One device.
#[derive(Clone, Debug)]
pub struct FoundDevice {
    /// Its number.
    pub ordinal: usize,
    /// As its maker calls it.
    pub name: String,
    /// Bytes of its memory.
    pub memory_bytes: u64,
    /// Its compute capability, as `9.0`.
    pub capability: String,
    /// How many times slower double precision is than single.
    pub double_ratio: u32,
    /// Why it can't be used, if that is so.
    pub missing: Option<String>,
}

/// Double precision that is slower than this against single is of no use beside CPUs.
const WORST_DOUBLE_RATIO: u32 = 4;

impl FoundDevice {
    /// Whether it computes in doubles about as fast as in singles.
    pub fn is_good_in_double(&self) -> bool {
        self.double_ratio <= WORST_DOUBLE_RATIO
    }
}

/// Looks for devices. Asks the driver, if there is one; opens no device.
pub fn find() -> Found {
    let (version, facts) = match cuda::facts() {
        Ok(found) => found,
        Err(what) => {
            return Found {
                driver: None,
                devices: Vec::new(),
                missing: Some(what),
            };
        }
    };
    let devices: Vec<_> = facts
        .into_iter()
        .enumerate()
        .map(|(ordinal, facts)| {
            let (major, minor) = cuda::OLDEST;
            let too_old = (facts.major, facts.minor) < cuda::OLDEST;
            FoundDevice {
                ordinal,
                name: facts.name,
                memory_bytes: facts.total_bytes,
                capability: format!("{}.{}", facts.major, facts.minor),
                double_ratio: facts.double_ratio.max(1) as u32,
                missing: too_old
                    .then(|| format!("compute capability {major}.{minor} or later is needed")),
            }
        })
        .collect();
    let missing = match (devices.is_empty(), cuda::has_blas()) {
        (true, _) => Some("the CUDA driver knows no device".to_owned()),
        (false, false) => Some("no cuBLAS (libcublas.so.12)".to_owned()),
        (false, true) => None,
    };
    Found {
        driver: Some(format!("{}.{}", version / 1000, version % 1000 / 10)),
        devices,
        missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let found = find();
        if found.driver.is_none() {
            assert!(
                found.devices.is_empty() && found.missing.is_some(),
                "{found:?}"
            );
        }
        let usable = found.devices.iter().any(|device| device.missing.is_none());
        let reasons = found
            .devices
            .iter()
            .filter_map(|device| device.missing.as_ref());
        assert!(
            usable || reasons.chain(&found.missing).next().is_some(),
            "{found:?}"
        );
        // A device that is not there is an error, no panic.
        let error = cuda::open(1000, &[]).expect_err("nobody has a thousand devices");
        assert!(!error.what.contains('\n'), "{error}");
    }
}
