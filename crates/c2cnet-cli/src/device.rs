//! The flag `--device`.

use c2cnet::{Device, Result};

/// Where networks are trained and kernel maps fitted.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct DeviceFlag {
    /// Where networks are trained and kernel maps fitted: cpu, cuda (an NVIDIA GPU), cuda:N (GPU number N), or auto
    /// (a GPU if there is one). Results agree to rounding, and to the last bit on the same device.
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Cpu)]
    pub device: Device,
}

impl DeviceFlag {
    /// Reports a device that cannot be used before long work begins.
    ///
    /// # Errors
    /// If it is a GPU that cannot be used.
    pub fn check(&self) -> Result<()> {
        self.device.check()
    }

    /// PyTorch's name for it.
    pub fn of_peers(&self) -> &'static str {
        match self.device {
            Device::Cpu => "cpu",
            Device::Cuda(_) => "cuda",
            Device::Auto => match Device::Cuda(0).check() {
                Ok(()) => "cuda",
                Err(_) => "cpu",
            },
        }
    }
}
