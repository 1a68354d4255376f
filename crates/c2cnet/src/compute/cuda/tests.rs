//! What can be tested without a GPU, and faults with one.

use super::buffers::Heap;
use super::*;

#[test]
fn sources_name_their_precision_and_every_curve() {
    for (text, name) in [(source::<f32>(), "float"), (source::<f64>(), "double")] {
        assert!(text.starts_with(&format!("typedef {name} real;")));
        assert!(text.contains("#define SILU 4"));
    }
}

/// The kernels take their arguments as bytes: sizes that differ would shift everything after them.
#[test]
fn arguments_have_the_size_that_c_gives_them() {
    use arguments::{LossInput, UpdateInput};
    assert_eq!(size_of::<LossInput>(), 18 * 8 + 16 + 7 * 8 + 8 * 4);
    assert_eq!(size_of::<UpdateInput<f32>>(), 10 * 8 + 8 + 6 * 4);
    assert_eq!(size_of::<UpdateInput<f64>>(), 10 * 8 + 8 + 6 * 8);
}

#[test]
#[ignore = "needs a GPU"]
fn gpu_out_of_memory_is_a_warning() {
    let gpu = Gpu::open(0).unwrap();
    let (_, free) = gpu.memory().unwrap();
    let stream = gpu.context.new_stream().unwrap();
    let heap = Heap {
        gpu: &gpu,
        stream: &stream,
    };
    let message = heap.zeros::<f64>(free as usize).unwrap_err().to_string();
    println!("{message}");
    assert!(message.contains("too little memory") && message.contains("--device cpu"));
    assert!(heap.zeros::<f64>(1000).is_ok());
}

#[test]
#[ignore = "needs a GPU"]
fn gpu_kernels_compile_in_both_precisions() {
    let gpu = Gpu::open(0).unwrap();
    println!("{}, {:?} bytes", gpu.name(), gpu.memory());
    gpu.module::<f32>().unwrap();
    gpu.module::<f64>().unwrap();
    let message = Gpu::open(99).err().unwrap().to_string();
    assert!(message.contains("there is no GPU 99"), "{message}");
}

#[test]
fn every_radial_kernel_has_a_number() {
    let text = dense::source();
    for name in ["MATERN 0", "MULTIQUADRIC 1", "GAUSSIAN 2"] {
        assert!(text.contains(&format!("#define {name}\n")), "{name}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn gpu_dense_algebra_agrees_with_the_processor() {
    let gpu = Gpu::open(0).unwrap();
    let dense = super::dense(&gpu).unwrap();
    crate::compute::dense::conformance::check(dense.as_ref());
    assert!(gpu.take_warnings().is_empty());
}

#[test]
#[ignore = "needs a GPU"]
fn gpu_matrices_beyond_its_memory_are_left_to_the_processor() {
    let gpu = Gpu::open(0).unwrap();
    let dense = super::dense(&gpu).unwrap();
    let (all, _) = gpu.memory().unwrap();
    assert!(dense.holds(1000));
    assert!(!dense.holds(all as usize));
    let warnings = gpu.take_warnings();
    assert!(
        warnings.len() == 1 && warnings[0].contains("stayed on the CPU"),
        "{warnings:?}"
    );
}

/// The time of one held-out error at the size of 2D Darcy flow; human-readable.
#[test]
#[ignore = "needs a GPU"]
fn gpu_time_of_a_kernel_regression() {
    use crate::compute::{Dense, KernelFunction, PassSettings};
    use faer::Mat;
    let dense = super::dense(&Gpu::open(0).unwrap()).unwrap();
    let wave = |rows, columns| {
        Mat::from_fn(rows, columns, |i, k| {
            ((i + 1) as f64 * (k as f64 * 0.7 + i as f64)).sin() / (1 + i) as f64
        })
    };
    let (z, held, c) = (wave(400, 1920), wave(400, 480), wave(1024, 1920));
    let begin = std::time::Instant::now();
    let sweep = dense.sweep(z.as_ref(), held.as_ref(), c.as_ref()).unwrap();
    println!("distances: {:.1} ms", 1e3 * begin.elapsed().as_secs_f64());
    for step in 0..8 {
        let begin = std::time::Instant::now();
        let pass = PassSettings {
            kernel: KernelFunction::InverseMultiquadric,
            length: 2.0,
            nugget: 10f64.powi(-4 - step),
        };
        let found = sweep.predictions(pass).unwrap().is_some();
        let ms = 1e3 * begin.elapsed().as_secs_f64();
        println!("nugget 1e-{}: {ms:.1} ms, factors: {found}", 4 + step);
    }
    let begin = std::time::Instant::now();
    dense.principal_coordinates(c.as_ref(), 60).unwrap();
    println!(
        "principal axes: {:.1} ms",
        1e3 * begin.elapsed().as_secs_f64()
    );
}
