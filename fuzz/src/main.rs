//! Feeds hostile input to everything that reads a file or a setting, and stops at the first case that panics, takes
//! more than 20 seconds, or more memory than four times the file's arrays and 256 MiB.
//!
//! A case follows from its target, the seed and its number, so that a finding is repeated by
//! `c2cnet-fuzz --target NAME --seed S --only K`.

mod memory;
mod mutate;
mod targets;
mod watchdog;

use clap::Parser;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use targets::Target;

#[global_allocator]
static MEMORY: memory::Counted = memory::Counted;

/// How long one target goes on before the next has its turn.
const TURN: Duration = Duration::from_millis(200);

#[derive(Parser)]
struct Arguments {
    /// How long to go on.
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,

    /// The seed of all cases; the last one counts.
    #[arg(long, default_value_t = 0, overrides_with = "seed")]
    seed: u64,

    /// One target alone.
    #[arg(long)]
    target: Option<String>,

    /// One case alone; --target says of which target.
    #[arg(long, requires = "target")]
    only: Option<u64>,
}

/// What settings may ask for, in GiB: how large a fit is, they decide, and not the data. An eighth of what a case may take.
const SETTINGS_GIB: &str = "0.03";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // SAFETY: there is no other thread yet.
    unsafe { std::env::set_var("C2CNET_MEMORY", SETTINGS_GIB) };
    // One thread: a case is one thing at a time, and others may want the machine.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread();
    pool.build_global().expect("one thread");
    warm_up();
    let mut all = targets::all();
    if let Some(name) = &arguments.target {
        all.retain(|target| target.name == name);
        assert!(!all.is_empty(), "there is no target {name}");
    }
    if arguments.only.is_none() {
        // A panic is told by the case that met it.
        std::panic::set_hook(Box::new(|_| {}));
    }
    watchdog::start();
    let begin = Instant::now();
    let end = Duration::from_secs_f64(arguments.seconds);
    let mut counts = vec![Count::default(); all.len()];
    while begin.elapsed() < end {
        for (target, count) in all.iter().zip(&mut counts) {
            let turn = Instant::now();
            while turn.elapsed() < TURN {
                let number = arguments.only.unwrap_or(count.cases);
                if let Err(words) = case(target, arguments.seed, number, count) {
                    eprintln!(
                        "{} --seed {} --only {number}: {words}",
                        target.name, arguments.seed
                    );
                    return ExitCode::FAILURE;
                }
                if arguments.only.is_some() {
                    println!("nothing wrong");
                    return ExitCode::SUCCESS;
                }
            }
        }
    }
    println!("target          cases   accepted   largest MiB   longest s");
    for (target, c) in all.iter().zip(&counts) {
        let mib = c.memory as f64 / f64::from(1 << 20);
        println!(
            "{:<12} {:>8} {:>10} {mib:>13.1} {:>11.2}",
            target.name, c.cases, c.accepted, c.seconds
        );
    }
    let total: u64 = counts.iter().map(|c| c.cases).sum();
    println!(
        "{total} cases in {:.0} s, nothing found",
        begin.elapsed().as_secs_f64()
    );
    ExitCode::SUCCESS
}

/// What was seen of a target.
#[derive(Clone, Default)]
struct Count {
    cases: u64,
    /// Cases whose input was found good.
    accepted: u64,
    memory: usize,
    seconds: f64,
}

fn case(target: &Target, seed: u64, number: u64, count: &mut Count) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    watchdog::begin(target.name, seed, number);
    memory::begin();
    let clock = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&mut rng)));
    count.seconds = count.seconds.max(clock.elapsed().as_secs_f64());
    count.memory = count.memory.max(memory::most());
    count.cases += 1;
    match outcome {
        Ok(accepted) => {
            count.accepted += u64::from(accepted);
            Ok(())
        }
        Err(payload) => {
            let words = payload.downcast_ref::<&str>().map(ToString::to_string);
            let words = words.or_else(|| payload.downcast_ref::<String>().cloned());
            Err(format!("panicked: {}", words.unwrap_or_default()))
        }
    }
}

/// Products of matrices keep memory for a thread that ever made one, by the size of the CPU's caches: no case is to
/// blame for it.
fn warm_up() {
    let a = faer::Mat::<f64>::identity(512, 512);
    std::hint::black_box((&a * &a, a.qr()));
}
