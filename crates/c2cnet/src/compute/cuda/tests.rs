//! What can be tested without a GPU, and faults with one.

use super::room::Heap;
use super::*;

#[test]
fn sources_name_their_precision_and_every_curve() {
    for (text, name) in [(source::<f32>(), "float"), (source::<f64>(), "double")] {
        assert!(text.starts_with(&format!("typedef {name} real;")));
        assert!(text.contains("#define SILU 4"));
    }
}

/// The kernels take their arguments as bytes: sizes that differ would shift everything behind.
#[test]
fn arguments_have_the_size_that_c_gives_them() {
    use arguments::{LossInput, UpdateInput};
    assert_eq!(size_of::<LossInput>(), 18 * 8 + 16 + 7 * 8 + 8 * 4);
    assert_eq!(size_of::<UpdateInput<f32>>(), 10 * 8 + 8 + 6 * 4);
    assert_eq!(size_of::<UpdateInput<f64>>(), 10 * 8 + 8 + 6 * 8);
}

#[test]
#[ignore = "needs a GPU"]
fn gpu_out_of_memory_is_told() {
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
