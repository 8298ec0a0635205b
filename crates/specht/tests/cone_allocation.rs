//! Repeated solves of the same structure allocate nothing: counted by an allocator of its own (METH-CONE-CASCADE).

use std::alloc::{GlobalAlloc, Layout, System as Memory};
use std::cell::Cell;

use specht::cone::{Operator, Problem, Settings, Solution, Solver, Status, problems};

struct Counting;

thread_local! {
    // of this thread alone: tests run side by side
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() -> u64 {
    COUNT.with(Cell::get)
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|c| c.set(c.get() + 1));
        unsafe { Memory.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        unsafe { Memory.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = COUNT.try_with(|c| c.set(c.get() + 1));
        unsafe { Memory.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Velocities of the bodies changed by about 1e-4 of the largest.
fn disturb(p: &mut Problem, rng: &mut problems::Rng) {
    if let Operator::Bodies { h, .. } = &p.operator {
        let dv: Vec<f64> = (0..h.cols()).map(|_| 1e-5 * rng.normal()).collect();
        let mut dq = vec![0.0; h.rows()];
        h.mul_vec(&dv, &mut dq);
        p.q.iter_mut().zip(&dq).for_each(|(q, d)| *q += d);
    }
}

/// After a first round of solves further ones with other velocities take no memory: warm ones always, cold ones as long
/// as the accurate variant of the body form (rows chosen anew by τ, see docs/decisions/cone.md) is not needed.
#[test]
fn repeated_solves_do_not_allocate() {
    let cases = [
        ("tower", problems::tower(10, 0.5, 0), true),
        ("wall", problems::wall(4, 3, 0.5, 0), false),
        ("lattice", problems::lattice(2, 0.6, 0), true),
        ("random", problems::random(5, 0.5, 1), true),
    ];
    for (name, mut p, cold) in cases {
        for warm in [false, true] {
            if !warm && !cold {
                continue;
            }
            let mut solver = Solver::new(Settings { warm, parallel: false, ..Default::default() });
            let mut s = Solution::default();
            let mut rng = problems::Rng::new(1);
            for _ in 0..3 {
                disturb(&mut p, &mut rng);
                solver.solve_into(&p, &mut s).unwrap();
            }
            let mut used = 0;
            for _ in 0..5 {
                disturb(&mut p, &mut rng);
                let before = count();
                solver.solve_into(&p, &mut s).unwrap();
                used += count() - before;
                assert_eq!(s.status, Status::Solved, "{name}");
            }
            assert_eq!(used, 0, "{name}, warm {warm}");
        }
    }
}

/// 252 contacts, velocities changed by 1e-4 of the largest: Newton from the last impulses is enough, with few factorisations.
#[test]
fn a_warm_restart_needs_few_newton_steps_and_nothing_else() {
    let mut p = problems::lattice(3, 0.6, 0);
    let mut solver = Solver::new(Settings { parallel: false, ..Default::default() });
    let mut s = Solution::default();
    solver.solve_into(&p, &mut s).unwrap();
    let mut rng = problems::Rng::new(1);
    for _ in 0..20 {
        disturb(&mut p, &mut rng);
        solver.solve_into(&p, &mut s).unwrap();
        assert_eq!(s.status, Status::Solved);
        assert!(s.counts.ipm == 0 && s.counts.newton <= 6, "{:?}", s.counts);
    }
}
