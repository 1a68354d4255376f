//! NVIDIA GPUs: what is loaded when one is asked for, and the messages when something is missing.

mod arguments;
mod average;
mod buffers;
mod dense;
mod lanes;
mod stream_guard;
mod trainer;

#[cfg(test)]
mod tests;

use dense::CudaDense;
pub(super) use trainer::CudaTrainer;

use crate::{Error, Result};
use cudarc::cublas::result::CublasError;
use cudarc::driver::sys::CUresult;
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, DeviceRepr, DriverError, ValidAsZeroBits,
};
use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};
use cudarc::{cublas, driver, nvrtc};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

const SOURCE: &str = include_str!("kernels.cu");

/// What to do where there is no GPU.
const INSTEAD: &str = "or use the CPU: --device cpu";

/// `f32` or `f64` on a GPU.
pub trait Real: DeviceRepr + ValidAsZeroBits + Copy + Default + Send + Sync + 'static {
    #[doc(hidden)]
    const NAME: &'static str;

    /// $C \leftarrow AB + \beta C$, by cuBLAS.
    ///
    /// # Safety
    /// Pointers, shapes and leading dimensions must be those of matrices on the handle's device.
    #[doc(hidden)]
    unsafe fn product(
        handle: cublas::sys::cublasHandle_t,
        transposed: [cublas::sys::cublasOperation_t; 2],
        shape: [i32; 3],
        a: (u64, i32),
        b: (u64, i32),
        beta: f64,
        c: (u64, i32),
    ) -> std::result::Result<(), CublasError>;

    /// Products $C \leftarrow AB + \beta C$, each matrix one stride after the previous one, by cuBLAS.
    ///
    /// # Safety
    /// As [`Real::product`], for all of them.
    #[doc(hidden)]
    unsafe fn products(
        handle: cublas::sys::cublasHandle_t,
        transposed: [cublas::sys::cublasOperation_t; 2],
        shape: [i32; 3],
        matrices: [(u64, i32, i64); 3],
        beta: f64,
        count: i32,
    ) -> std::result::Result<(), CublasError>;
}

macro_rules! real {
    ($float:ty, $name:literal, $gemm:ident, $batched:ident) => {
        impl Real for $float {
            const NAME: &'static str = $name;

            unsafe fn product(
                handle: cublas::sys::cublasHandle_t,
                [ta, tb]: [cublas::sys::cublasOperation_t; 2],
                [m, n, k]: [i32; 3],
                (a, lda): (u64, i32),
                (b, ldb): (u64, i32),
                beta: f64,
                (c, ldc): (u64, i32),
            ) -> std::result::Result<(), CublasError> {
                let (one, beta): ($float, $float) = (1.0, beta as $float);
                // SAFETY: the caller's promise.
                unsafe {
                    cublas::result::$gemm(
                        handle, ta, tb, m, n, k, &one, a as _, lda, b as _, ldb, &beta, c as _, ldc,
                    )
                }
            }

            unsafe fn products(
                handle: cublas::sys::cublasHandle_t,
                [ta, tb]: [cublas::sys::cublasOperation_t; 2],
                [m, n, k]: [i32; 3],
                [(a, lda, a_far), (b, ldb, b_far), (c, ldc, c_far)]: [(u64, i32, i64); 3],
                beta: f64,
                count: i32,
            ) -> std::result::Result<(), CublasError> {
                let (one, beta): ($float, $float) = (1.0, beta as $float);
                // SAFETY: the caller's promise.
                unsafe {
                    cublas::result::$batched(
                        handle, ta, tb, m, n, k, &one, a as _, lda, a_far, b as _, ldb, b_far,
                        &beta, c as _, ldc, c_far, count,
                    )
                }
            }
        }
    };
}

real!(f32, "float", sgemm, sgemm_strided_batched);
real!(f64, "double", dgemm, dgemm_strided_batched);

/// How many GPUs there are.
///
/// # Errors
/// [`Error::Device`] if there is no driver, or it does not work.
pub(super) fn count() -> Result<usize> {
    // SAFETY: only looks for the library.
    if !unsafe { driver::sys::is_culib_present() } {
        return Err(Error::Device(format!(
            "no NVIDIA driver: the library libcuda was not found; install the driver, {INSTEAD}"
        )));
    }
    let count = CudaContext::device_count();
    count.map(|n| n as usize).map_err(|e| {
        let why = explain(&e);
        Error::Device(format!("the NVIDIA driver does not work: {why}; {INSTEAD}"))
    })
}

/// A GPU that can be used.
pub(super) struct Gpu {
    context: Arc<CudaContext>,
    name: String,
    /// Kernels by name: those of training in each precision, and those of dense algebra.
    modules: Mutex<HashMap<&'static str, Arc<CudaModule>>>,
    /// Lanes of training runs that have ended.
    idle: Mutex<Vec<Vec<lanes::Lane>>>,
    /// Held while a training run is prepared: what one loads and allocates would abort the recording of another.
    preparing: Mutex<()>,
    /// Dense algebra, once it was asked for.
    dense: OnceLock<Arc<CudaDense>>,
    /// What a user should know of the work so far.
    warnings: Mutex<Vec<String>>,
}

/// Dense algebra on the GPU.
///
/// # Errors
/// [`Error::Device`] if a library is missing.
pub(super) fn dense(gpu: &Arc<Gpu>) -> Result<Arc<CudaDense>> {
    let _alone = gpu.preparing.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(dense) = gpu.dense.get() {
        return Ok(dense.clone());
    }
    let dense = Arc::new(CudaDense::new(gpu)?);
    Ok(gpu.dense.get_or_init(|| dense).clone())
}

impl Gpu {
    /// The GPU with this number; opened once per process.
    pub(super) fn open(ordinal: usize) -> Result<Arc<Self>> {
        static OPEN: OnceLock<Mutex<HashMap<usize, Arc<Gpu>>>> = OnceLock::new();
        let open = OPEN.get_or_init(Mutex::default);
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gpu) = open.get(&ordinal) {
            return Ok(gpu.clone());
        }
        let gpu = Arc::new(Gpu::new(ordinal)?);
        open.insert(ordinal, gpu.clone());
        Ok(gpu)
    }

    fn new(ordinal: usize) -> Result<Self> {
        let count = count()?;
        if ordinal >= count {
            return Err(Error::Device(format!(
                "there is no GPU {ordinal}: the driver sees {count}, numbered from 0; {INSTEAD}"
            )));
        }
        // SAFETY: these only look for libraries.
        let (compiler, products) = unsafe {
            (
                nvrtc::sys::is_culib_present(),
                cublas::sys::is_culib_present(),
            )
        };
        for (there, library) in [(compiler, "libnvrtc"), (products, "libcublas")] {
            if !there {
                return Err(Error::Device(format!(
                    "the library {library} of the CUDA toolkit (12 or 13) was not found: install it, or name its \
                     folder in LD_LIBRARY_PATH; {INSTEAD}"
                )));
            }
        }
        let broken = |e: DriverError| {
            let why = explain(&e);
            Error::Device(format!("GPU {ordinal} cannot be used: {why}; {INSTEAD}"))
        };
        let context = CudaContext::new(ordinal).map_err(broken)?;
        // SAFETY: every training run has its own buffers, on its own streams, which it orders itself.
        unsafe { context.disable_event_tracking() };
        let name = context.name().map_err(broken)?;
        Ok(Gpu {
            context,
            name,
            modules: Mutex::default(),
            idle: Mutex::default(),
            preparing: Mutex::default(),
            dense: OnceLock::new(),
            warnings: Mutex::default(),
        })
    }

    /// Records something that a user should know, once.
    pub(super) fn warn(&self, what: String) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if !warnings.contains(&what) {
            warnings.push(what);
        }
    }

    /// Takes the warnings since the last call.
    pub(super) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Total and free memory, in bytes.
    pub(super) fn memory(&self) -> Option<(u64, u64)> {
        let (free, all) = self.context.mem_get_info().ok()?;
        Some((all as u64, free as u64))
    }

    /// The kernels of training for numbers of type `T`.
    fn module<T: Real>(&self) -> Result<Arc<CudaModule>> {
        self.compiled(T::NAME, source::<T>)
    }

    /// Kernels by their name, compiled when they are first asked for.
    fn compiled(&self, name: &'static str, source: fn() -> String) -> Result<Arc<CudaModule>> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(name) {
            return Ok(module.clone());
        }
        let (major, minor) = self
            .context
            .compute_capability()
            .map_err(|e| self.fault(e))?;
        let options = CompileOptions {
            options: vec![format!("--gpu-architecture=compute_{major}{minor}")],
            name: Some("kernels.cu".into()),
            ..CompileOptions::default()
        };
        let ptx = compile_ptx_with_opts(source(), options).map_err(|e| self.not_compiled(e))?;
        let module = self.context.load_module(ptx).map_err(|e| self.fault(e))?;
        modules.insert(name, module.clone());
        Ok(module)
    }

    fn kernel(&self, module: &Arc<CudaModule>, name: &str) -> Result<CudaFunction> {
        module.load_function(name).map_err(|e| self.fault(e))
    }

    fn not_compiled(&self, error: CompileError) -> Error {
        let why = match error {
            CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
            other => format!("{other:?}"),
        };
        Error::Device(format!(
            "the kernels could not be compiled for {}: {why}; the CUDA toolkit may be too old or too new for the \
             driver",
            self.name
        ))
    }

    /// A failure of the driver, explained to someone who waits for a training run.
    fn fault(&self, error: DriverError) -> Error {
        let name = &self.name;
        Error::Device(match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                let free = self.memory().map_or(String::new(), |(all, free)| {
                    format!(" ({} free of {})", gibibytes(free), gibibytes(all))
                });
                format!(
                    "{name} has too little memory{free}: use smaller batches (`batch` of the network), stop \
                     other programs that use it, {INSTEAD}"
                )
            }
            _ => format!(
                "{name} failed: {}; nothing saved in checkpoints is lost, and --resume continues from there",
                explain(&error)
            ),
        })
    }

    fn product_failed(&self, error: CublasError) -> Error {
        Error::Device(format!("{}: cuBLAS failed: {:?}", self.name, error.0))
    }
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}

/// The driver's own message, if it has one.
fn explain(error: &DriverError) -> String {
    let name = error.error_name().map(|s| s.to_string_lossy().into_owned());
    let text = error
        .error_string()
        .map(|s| s.to_string_lossy().into_owned());
    match (name, text) {
        (Ok(name), Ok(text)) => format!("{text} ({name})"),
        _ => format!("{:?}", error.0),
    }
}

/// The kernels, preceded by what the host decides.
fn source<T: Real>() -> String {
    let curves = ["GELU", "GELU_TANH", "TANH", "RELU", "SILU", "NONE"];
    let mut text = format!("typedef {} real;\n", T::NAME);
    for (number, name) in curves.iter().enumerate() {
        text += &format!("#define {name} {number}\n");
    }
    text + SOURCE
}
