//! A time step allocates nothing: counted by an allocator of its own.

mod systems;

use std::alloc::{GlobalAlloc, Layout, System as Memory};
use std::sync::atomic::{AtomicU64, Ordering};

use specht::sim::*;
use systems::*;

struct Counting;

static COUNT: AtomicU64 = AtomicU64::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { Memory.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        unsafe { Memory.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { Memory.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The jammed woodpecker below its release swings without events: ten times as many steps, the same allocations.
#[test]
fn steps_do_not_allocate() {
    let sys = woodpecker([0.9; 3]);
    let start = jammed(-0.23);
    let mut count = |until: f64| {
        let settings = Settings { record: Record::Events, ..Settings::until(until) };
        let before = COUNT.load(Ordering::Relaxed);
        let t = event_driven(&sys, &start, &settings, &mut Outside::default()).unwrap();
        let used = COUNT.load(Ordering::Relaxed) - before;
        assert_eq!(t.status, Status::Finished, "{}", t.message);
        assert!(t.events.is_empty(), "{:?}", t.events);
        (t.counts.steps, used)
    };
    let (few, a) = count(1.0);
    let (many, b) = count(10.0);
    assert!(many > 5 * few, "{few} {many}");
    assert_eq!(a, b, "{few} and {many} steps");
}
