//! Work that does not depend on each other, some of it at the same time: small networks do not fill a GPU.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What `work` gives for each of `items`, in their order, with at most `jobs` of them under way.
pub fn side_by_side<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    if jobs <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(items.len()) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Relaxed);
                    let Some(item) = items.get(place) else { break };
                    let result = work(item);
                    let mut done = done.lock().expect("no thread fails with the lock");
                    done.push((place, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread fails with the lock");
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let items: Vec<usize> = (0..40).collect();
        let squares: Vec<usize> = items.iter().map(|n| n * n).collect();
        for jobs in [0, 1, 3, 100] {
            assert_eq!(side_by_side(&items, jobs, |n| n * n), squares);
        }
        assert!(side_by_side(&[0; 0], 4, |n| *n).is_empty());
    }
}
