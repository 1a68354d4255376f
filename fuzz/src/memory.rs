//! Counts what a case allocates, and ends the program where it is too much.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What any case may take.
const ALLOWANCE: usize = 256 << 20;

static NOW: AtomicUsize = AtomicUsize::new(0);
static BEFORE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static ALLOWED: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The system's allocator, watched.
pub struct Counted;

unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(memory, layout, size) }
    }
}

fn add(size: usize) {
    let now = NOW.fetch_add(size, Relaxed).wrapping_add(size);
    let taken = now.saturating_sub(BEFORE.load(Relaxed));
    MOST.fetch_max(taken, Relaxed);
    let allowed = ALLOWED.load(Relaxed);
    if taken > allowed {
        ALLOWED.store(usize::MAX, Relaxed);
        crate::watchdog::give_up(&format!("took {taken} bytes, allowed are {allowed}"));
    }
}

/// A case begins.
pub fn begin() {
    BEFORE.store(NOW.load(Relaxed), Relaxed);
    MOST.store(0, Relaxed);
    ALLOWED.store(ALLOWANCE, Relaxed);
}

/// The case's arrays have this many bytes, each of which may be held four times.
pub fn allow(arrays: usize) {
    ALLOWED.store(ALLOWANCE + 4 * arrays, Relaxed);
}

/// The most that the case has had at a time.
pub fn most() -> usize {
    MOST.load(Relaxed)
}
