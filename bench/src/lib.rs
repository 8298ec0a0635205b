//! Problems of the benchmarks. `cargo bench -p specht-bench` measures time; `bench/instructions.sh` counts instructions.

pub mod piles;

use specht::inside::{self as file, Options};
use specht::linalg::Mat;
use specht::sim::{Outside, Settings, Status, Trajectory, event_driven};
use specht::system::{Direction, Discrete, Eval, State, System};
use specht::{inside::build, model::CompiledSystem};

#[allow(missing_docs)]
#[path = "../../crates/specht/tests/systems/mod.rs"]
mod systems;

/// The woodpecker of the gallery, case A, read from its file.
pub fn woodpecker_of_file() -> CompiledSystem {
    compiled(include_str!("../../gallery/woodpecker/model.toml"), Some("A"))
}

/// The same equations written by hand in Rust.
pub fn woodpecker_by_hand() -> impl System {
    systems::woodpecker([0.3; 3]).crossing("turn", Direction::Up)
}

/// Start of case A: bird at −0.53 rad, lower edge of the sleeve on the pole.
pub fn woodpecker_start() -> State {
    systems::jammed(-0.53)
}

/// `n` blocks, one on the other on a slope, at rest: two contacts each.
pub fn tower(n: usize) -> (impl System, State) {
    (systems::blocks(n, 0.2, 0.02, 0.08, 0.6), systems::blocks_start(n, 0.02))
}

/// Seconds of motion with all events, every step recorded.
pub fn run<S: System + ?Sized>(system: &S, start: &State, seconds: f64) -> Trajectory {
    let settings = Settings { longest_step: seconds / 400.0, ..Settings::until(seconds) };
    let t = event_driven(system, start, &settings, &mut Outside::default()).expect("valid settings");
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    t
}

/// All contacts open, and memory for one evaluation after another.
pub fn open<S: System + ?Sized>(system: &S, state: &State) -> (Discrete, Eval) {
    let mut discrete = Discrete::new(&system.dims());
    let mut eval = system.memory();
    system.latch(state, &mut discrete, &mut eval, false);
    (discrete, eval)
}

/// Bars of 1 kg and 1 m on hinges: bar `k` hangs on bar `bearer(k)`, the first one on the ground.
pub fn bars(n: usize, bearer: impl Fn(usize) -> usize) -> CompiledSystem {
    let mut text = String::from("name = \"bars\"\ngravity = [0, -9.81]\n[coordinates]\n");
    (0..n).for_each(|k| text += &format!("q{k} = {}\n", 0.01 * k as f64));
    for k in 0..n {
        let place = if k == 0 {
            "position = [0, 0]".to_string()
        } else {
            format!("on = \"b{}\"\nposition = [0, -1]", bearer(k))
        };
        text += &format!(
            "[[body]]\nname = \"b{k}\"\nmass = 1\ninertia = \"1/12\"\ncenter = [0, -0.5]\nangle = \"q{k}\"\n{place}\n"
        );
    }
    text += "[run]\nuntil = 1\n";
    compiled(&text, None)
}

/// A chain in space: bars of 1 kg on hinges about x, y, z in turn.
pub fn space_chain(n: usize) -> CompiledSystem {
    let mut text = String::from("name = \"chain in space\"\ngravity = [0, 0, -9.81]\n[coordinates]\n");
    (0..n).for_each(|k| {
        text += &format!("q{k} = {{ start = {}, rate = {} }}\n", 0.01 * k as f64, 0.1 - 0.001 * k as f64)
    });
    for k in 0..n {
        let place = match k {
            0 => "position = [0, 0, 0]".to_string(),
            _ => format!("on = \"b{}\"\nposition = [0.1, 0, -1]", k - 1),
        };
        let axis = ["x", "y", "z"][k % 3];
        text += &format!(
            "[[body]]\nname = \"b{k}\"\nmass = 1\ninertia = [0.1, 0.09, 0.02]\ncenter = [0.05, 0, -0.5]\nrotation = [[\"{axis}\", \"q{k}\"]]\n{place}\n"
        );
    }
    text += "[run]\nuntil = 1\n";
    compiled(&text, None)
}

/// Each bar bears two others.
pub fn tree(n: usize) -> CompiledSystem {
    bars(n, |k| (k - 1) / 2)
}

/// Each bar bears the next.
pub fn chain(n: usize) -> CompiledSystem {
    bars(n, |k| k - 1)
}

/// `A = X Xᵀ / n + shift E` with entries of `X` and `b` in [−1, 1), the same on every machine.
pub fn definite(n: usize, shift: f64) -> (Mat, Vec<f64>) {
    let mut state = 12345u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let x = Mat::from_fn(n, n, |_, _| next());
    let mut a = x.mul(&x.transpose());
    a.as_mut_slice().iter_mut().for_each(|v| *v /= n as f64);
    (0..n).for_each(|i| a[(i, i)] += shift);
    let b = (0..n).map(|_| next()).collect();
    (a, b)
}

/// A model file as equations.
pub fn compiled(text: &str, case: Option<&str>) -> CompiledSystem {
    let options = Options { case: case.map(str::to_string), ..Options::default() };
    let model = file::read(text, &options).unwrap_or_else(|e| panic!("{e:?}")).model;
    build(&model).unwrap_or_else(|e| panic!("{e:?}"))
}
