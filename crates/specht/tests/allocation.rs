//! A time step allocates nothing: counted by an allocator of its own.

mod systems;

use std::alloc::{GlobalAlloc, Layout, System as Memory};
use std::cell::Cell;

use specht::sim::*;
use systems::*;

struct Counting;

// per thread: the harness allocates at times of its own
thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count_one() {
    let _ = COUNT.try_with(|c| c.set(c.get() + 1));
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        unsafe { Memory.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        unsafe { Memory.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_one();
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
    let count = |until: f64| {
        let settings = Settings { record: Record::Events, ..Settings::until(until) };
        let before = COUNT.with(Cell::get);
        let t = event_driven(&sys, &start, &settings, &mut Outside::default()).unwrap();
        let used = COUNT.with(Cell::get) - before;
        assert_eq!(t.status, Status::Finished, "{}", t.message);
        assert!(t.events.is_empty(), "{:?}", t.events);
        (t.counts.steps, used)
    };
    // ten seconds are enough for every buffer to have been used once
    let (few, a) = count(10.0);
    let (many, b) = count(100.0);
    assert!(many > 5 * few, "{few} {many}");
    assert_eq!(a, b, "{few} and {many} steps");
}

/// Fixed steps: a tower of 10 blocks that slides as a whole (20 contacts), a bead that rubs in its guide, the jammed woodpecker.
#[test]
fn time_steps_do_not_allocate() {
    let count = |sys: &Hand, start: &specht::system::State, until: f64| {
        let settings = Settings { record: Record::Events, step: 1e-3, ..Settings::until(until) };
        let before = COUNT.with(Cell::get);
        let t = time_stepping(sys, start, &settings, &mut Outside::default()).unwrap();
        let used = COUNT.with(Cell::get) - before;
        assert_eq!(t.status, Status::Finished, "{}", t.message);
        assert!(t.warnings.is_empty(), "{:?}", t.warnings);
        (t.counts.steps, used, t.events.len())
    };
    let tower = blocks(10, 2.0, 0.04, 0.4, 0.3);
    for (name, sys, start, short, long) in [
        // long enough for the first correction of positions, which is of the size of rounding, also with four times the step
        ("tower", &tower, &blocks_start(10, 0.04), 4.0, 6.0),
        ("woodpecker", &woodpecker([0.9; 3]), &jammed(-0.23), 10.0, 20.0),
    ] {
        let (few, a, first) = count(sys, start, short);
        let (many, b, second) = count(sys, start, long);
        assert_eq!(first, second, "{name}");
        assert_eq!(a, b, "{name}: {few} and {many} steps");
    }
}
