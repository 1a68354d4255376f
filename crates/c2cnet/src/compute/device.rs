//! What a user asks for, and what is available.

use super::cuda::{self, Gpu};
use crate::{Error, Result};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Where heavy arithmetic runs.
///
/// | Name | Meaning |
/// |---|---|
/// | `cpu` | the CPU: the default, with the same bits on any number of threads |
/// | `cuda`, `cuda:1` | an NVIDIA GPU, the first or the one with that number; an error where it cannot be used |
/// | `auto` | the first GPU if it can be used, else the CPU |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// The CPU.
    #[default]
    Cpu,
    /// The GPU with this number.
    Cuda(usize),
    /// The first GPU, if there is one.
    Auto,
}

impl Device {
    /// The GPU, opened; `None` for the CPU.
    pub(super) fn gpu(self) -> Result<Option<Arc<Gpu>>> {
        match self {
            Device::Cpu => Ok(None),
            Device::Cuda(ordinal) => Gpu::open(ordinal).map(Some),
            Device::Auto => Ok(Gpu::open(0).ok()),
        }
    }

    /// Fails early where training would fail late.
    ///
    /// # Errors
    /// [`Error::Device`] if a GPU is asked for and cannot be used; the message says what is missing.
    pub fn check(self) -> Result<()> {
        self.gpu().map(drop)
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let ordinal = |n: &str| n.parse().ok().map(Device::Cuda);
        let device = match text {
            "cpu" => Some(Device::Cpu),
            "auto" => Some(Device::Auto),
            "cuda" => Some(Device::Cuda(0)),
            other => other.strip_prefix("cuda:").and_then(ordinal),
        };
        device.ok_or_else(|| {
            Error::Config(format!(
                "unknown device {text:?}; choose cpu, cuda, cuda:N (the GPU with that number) or auto"
            ))
        })
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => write!(f, "cpu"),
            Device::Cuda(0) => write!(f, "cuda"),
            Device::Cuda(n) => write!(f, "cuda:{n}"),
            Device::Auto => write!(f, "auto"),
        }
    }
}

/// What is known of a device.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceReport {
    /// Its name for `--device`.
    pub device: String,
    /// What it is.
    pub name: String,
    /// Total and free memory in bytes; of a GPU that could be opened.
    pub memory: Option<(u64, u64)>,
    /// Why it cannot be used.
    pub missing: Option<String>,
}

/// The CPU and every GPU, and what is missing where one cannot be used.
pub fn devices() -> Vec<DeviceReport> {
    let threads = rayon::current_num_threads();
    let mut all = vec![DeviceReport {
        device: "cpu".into(),
        name: format!("{threads} threads"),
        memory: None,
        missing: None,
    }];
    let gpus = match cuda::count() {
        Ok(count) => count,
        Err(why) => {
            all.push(DeviceReport {
                device: "cuda".into(),
                name: "NVIDIA GPU".into(),
                memory: None,
                missing: Some(why.to_string()),
            });
            return all;
        }
    };
    all.extend((0..gpus).map(|ordinal| {
        let device = Device::Cuda(ordinal).to_string();
        match Gpu::open(ordinal) {
            Ok(gpu) => DeviceReport {
                device,
                name: gpu.name().to_string(),
                memory: gpu.memory(),
                missing: None,
            },
            Err(why) => DeviceReport {
                device,
                name: "NVIDIA GPU".into(),
                memory: None,
                missing: Some(why.to_string()),
            },
        }
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["cpu", "cuda", "cuda:3", "auto"] {
            assert_eq!(name.parse::<Device>().unwrap().to_string(), name);
        }
        for bad in ["gpu", "cuda:", "cuda:x", "CUDA", ""] {
            let message = bad.parse::<Device>().unwrap_err().to_string();
            assert!(message.contains("cuda:N"), "{message}");
        }
        assert_eq!(Device::default(), Device::Cpu);
    }

    /// Without a driver `cuda` is refused with a reason, `auto` is the CPU, and nothing panics.
    #[test]
    fn without_a_gpu() {
        if cuda::count().is_ok_and(|n| n > 0) {
            return;
        }
        let message = Device::Cuda(0).check().unwrap_err().to_string();
        assert!(
            message.contains("driver") && message.contains("--device cpu"),
            "{message}"
        );
        assert!(Device::Auto.gpu().unwrap().is_none());
        let all = devices();
        assert_eq!(all[0].device, "cpu");
        assert!(all[1].missing.is_some());
    }
}
