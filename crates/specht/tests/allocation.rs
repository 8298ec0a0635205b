//! A time step allocates nothing: counted by an allocator of its own.

mod systems;

use std::alloc::{GlobalAlloc, Layout, System as Memory};
use std::cell::Cell;

use specht::sim::Integrator as Choice;
use specht::sim::*;
use systems::*;

struct Counting;

// per thread: the harness allocates at times of its own
thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

fn count_one() {
    let _ = COUNT.try_with(|c| c.set(c.get() + 1));
}

fn count_bytes(size: isize) {
    let _ = BYTES.try_with(|b| b.set(b.get() + size));
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        count_bytes(layout.size() as isize);
        unsafe { Memory.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        count_bytes(-(layout.size() as isize));
        unsafe { Memory.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_one();
        count_bytes(size as isize - layout.size() as isize);
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
    let count = |method: Choice, until: f64| {
        let settings = Settings { record: Record::Events, method, ..Settings::until(until) };
        let before = COUNT.with(Cell::get);
        let t = event_driven(&sys, &start, &settings, &mut Outside::default()).unwrap();
        let used = COUNT.with(Cell::get) - before;
        assert_eq!(t.status, Status::Finished, "{}", t.message);
        assert!(t.events.is_empty(), "{:?}", t.events);
        (t.counts.steps, used)
    };
    // the shorter run is long enough for every buffer to have been used once, those of the second method included
    for (method, until) in [(Choice::Explicit, 10.0), (Choice::Implicit, 30.0), (Choice::Auto, 40.0)] {
        let (few, a) = count(method, until);
        let (many, b) = count(method, 10.0 * until);
        assert!(many > 2 * few, "{few} {many}");
        assert_eq!(a, b, "{method:?}: {few} and {many} steps");
    }
}

/// Regression: whether a rim lies flat was asked after every step, with new memory each time. A disc rolls upright and without force: its
/// contact stays closed.
#[test]
fn steps_of_a_rolling_rim_do_not_allocate() {
    use specht::system::System;
    const V: f64 = 0.5;
    let text = format!(
        r#"
        gravity = [0, 0, -9.81]
        [coordinates]
        x = {{ rate = {V} }}
        y = 0
        z = 0.1
        [ground]
        floor = {{ through = [0, 0, 0], normal = [0, 0, 1] }}
        [[body]]
        name = "disc"
        mass = 1
        inertia = [0.0025, 0.005, 0.0025]
        position = ["x", "y", "z"]
        rotation = "free"
        spin = [0, {spin}, 0]
        features = {{ edge = {{ center = [0, 0, 0], axis = [0, 1, 0], radius = 0.1 }} }}
        [[contact]]
        name = "floor"
        between = ["disc.edge", "ground.floor"]
        friction = 0.4
        [start]
        closed = ["floor"]
        [run]
        until = 1
        "#,
        spin = V / 0.1
    );
    let model = specht::inside::read(&text, &Default::default()).unwrap().model;
    let sys = specht::inside::build(&model).unwrap();
    let count = |until: f64| {
        let method = Choice::Explicit;
        let settings =
            Settings { record: Record::Events, method, longest_step: 0.01, ..Settings::until(until) };
        let before = COUNT.with(Cell::get);
        let t = event_driven(&sys, &sys.start(), &settings, &mut Outside::default()).unwrap();
        let used = COUNT.with(Cell::get) - before;
        assert_eq!(t.status, Status::Finished, "{}", t.message);
        assert!(t.events.is_empty(), "{:?}", t.events);
        // it rolls on: x = v t
        assert!((t.last.state.q[0] - V * until).abs() < 1e-9, "{}", t.last.state.q[0]);
        (t.counts.steps, used)
    };
    let ((few, a), (many, b)) = (count(1.0), count(10.0));
    assert!(sys.contacts().len() == 1 && many > 5 * few, "{few} {many}");
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

/// Rates of an evaluation, also by parameters and with an evaluation that was used for something else: models with a curve, chains of edges,
/// a friction tensor, a tree of bodies.
#[test]
fn tangents_do_not_allocate() {
    use specht::system::{Along, Discrete, System, Tangent};
    for (name, live) in [
        ("cam_follower", &[][..]),
        ("dropped_box", &["a", "h"][..]),
        ("rod_regular", &["mu"][..]),
        ("slider_crank", &[][..]),
        ("woodpecker", &[][..]),
    ] {
        let path = format!("{}/../../gallery/{name}/model.toml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let live: Vec<String> = live.iter().map(ToString::to_string).collect();
        let options = specht::inside::Options { live, ..Default::default() };
        let model = specht::inside::read(&text, &options).unwrap().model;
        let sys = specht::inside::build(&model).unwrap();
        let (s, mut d, mut eval) = (sys.start(), Discrete::new(&sys.dims()), sys.memory());
        sys.latch(&s, &mut d, &mut eval, false);
        sys.evaluate(&s, &d, &mut eval);
        let (ones, stale) = (vec![1.0; s.q.len() + model.live_parameters()], eval.clone());
        let along = Along { t: 1.0, q: &ones, u: &ones, parameters: &ones, ..Along::default() };
        let mut tangent = Tangent::new(&sys);
        // contact parameters are found near the known ones
        d.contour.clone_from(&eval.contour);
        sys.evaluate(&s, &d, &mut eval);
        for at in [&eval, &stale] {
            sys.tangent(&s, &d, at, &along, &mut tangent);
        }
        let mut count = |at: &specht::system::Eval| {
            let before = COUNT.with(Cell::get);
            assert!(sys.tangent(&s, &d, at, &along, &mut tangent));
            COUNT.with(Cell::get) - before
        };
        let (fresh, again) = (count(&eval), count(&stale));
        // a curve whose nearest points are not where they were is searched anew, which takes memory
        let before = COUNT.with(Cell::get);
        sys.evaluate(&s, &d, &mut eval);
        let evaluation = COUNT.with(Cell::get) - before;
        assert_eq!((fresh, again), (0, evaluation), "{name}");
    }
}

/// A variant is a small value beside the compiled equations: bytes of one more, in a list of a thousand.
#[test]
fn one_more_variant_of_a_machine_takes_less_than_a_kilobyte() {
    const VARIANTS: usize = 1000;
    const BAR: f64 = 1000.0;
    let text = include_str!("../../../gallery/woodpecker/model.toml");
    let names = ["mu1", "mu2", "mu3", "c", "e1"];
    let machine = specht::machine::Machine::read(text)
        .and_then(|m| m.live(names.map(String::from).to_vec()))
        .expect("the woodpecker");
    let bytes = |make: &mut dyn FnMut(usize)| {
        let before = BYTES.with(Cell::get);
        (0..VARIANTS).for_each(make);
        (BYTES.with(Cell::get) - before) as f64 / VARIANTS as f64
    };
    let values = |k: usize| [0.2 + 1e-4 * k as f64, 0.3, 0.4, 0.0056, 0.5];
    let mut systems = Vec::with_capacity(VARIANTS);
    let in_list = size_of_val(machine.system()) as f64;
    let one = in_list
        + bytes(&mut |k| {
            let mut system = machine.system().clone();
            system.set_parameters(&values(k));
            systems.push(system);
        });
    assert!(one <= BAR, "{one} bytes of a compiled system");
    let mut machines = Vec::with_capacity(VARIANTS);
    let one = size_of::<specht::machine::Machine>() as f64
        + bytes(&mut |k| {
            let list: Vec<(&str, f64)> = names.into_iter().zip(values(k)).collect();
            machines.push(machine.vary(&list).expect("a variant"));
        });
    // with the names and values that were set, the settings, and room for the model as it would be read
    assert!(one <= 2.0 * BAR, "{one} bytes of a machine");
    assert!(machines[3].run().is_ok() && systems.len() == machines.len());
}

/// A wall of twelve boxes that stands, with room between neighbours, so that rounding makes and removes no contacts: points, problem and search
/// use the memory of the first steps.
#[test]
fn steps_of_a_standing_pile_do_not_allocate() {
    let text = |until: f64| {
        format!(
            r#"
            gravity = [0, 0, -9.81]
            [coordinates]
            x = {{ for = "k = 1..12", start = "2.1*mod(k - 1, 4) + mod(floor((k - 1)/4), 2)" }}
            y = {{ for = "k = 1..12", start = 0 }}
            z = {{ for = "k = 1..12", start = "floor((k - 1)/4) + 0.5" }}
            [ground]
            floor = {{ through = [0, 0, 0], normal = [0, 0, 1] }}
            [[body]]
            for = "k = 1..12"
            name = "brick"
            mass = 1
            inertia = ["1/6", "5/12", "5/12"]
            position = ["x[k]", "y[k]", "z[k]"]
            rotation = "free"
            features = {{ skin = {{ box = [1, 0.5, 0.5] }} }}
            [[touch]]
            among = ["*"]
            friction = 0.6
            [run]
            until = {until}
            step = 1e-3
            every = 100
            "#
        )
    };
    let count = |until: f64| {
        let machine = specht::machine::Machine::read(&text(until)).unwrap();
        let before = COUNT.with(Cell::get);
        let run = machine.run().unwrap();
        let used = COUNT.with(Cell::get) - before;
        assert!(run.audit().passed, "{:?}", run.audit().remarks);
        (run.trajectory.counts.steps, used)
    };
    // the solver is asked in few of these steps: it has met all its methods after the first thousand
    let ((few, a), (many, b)) = (count(1.0), count(6.0));
    assert!(many > 5 * few);
    assert_eq!(a, b, "{few} and {many} steps");
}
