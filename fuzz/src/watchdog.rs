//! Knows the case, and ends the program where it takes too long.

use std::sync::Mutex;
use std::time::{Duration, Instant};

const MOST: Duration = Duration::from_secs(20);

static CASE: Mutex<Option<(&'static str, u64, u64, Instant)>> = Mutex::new(None);

/// Starts to watch.
pub fn start() {
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let case = *CASE.lock().expect("nobody panics here");
            if case.is_some_and(|(.., begin)| begin.elapsed() > MOST) {
                give_up("takes more than 20 s");
            }
        }
    });
}

/// A case begins.
pub fn begin(target: &'static str, seed: u64, number: u64) {
    *CASE.lock().expect("nobody panics here") = Some((target, seed, number, Instant::now()));
}

/// Says which case it is and ends.
pub fn give_up(words: &str) -> ! {
    let case = *CASE.lock().expect("nobody panics here");
    if let Some((target, seed, number, _)) = case {
        eprintln!("{target} --seed {seed} --only {number}: {words}");
    }
    std::process::exit(1)
}
