//! One stream of random numbers for each sample.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The random numbers of sample `k` under `seed`: stream `k` of the generator with that key.
///
/// Streams do not overlap, so a sample may draw any number of values without affecting
/// another, and samples may be made in any order.
pub fn sample_stream(seed: u64, k: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(k);
    rng
}
