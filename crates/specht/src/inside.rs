//! What the tests and benches of this project reach beside the interface. Not for others: it changes without notice.

pub use crate::analysis::along::along;
pub use crate::analysis::branches::Patterns;
pub use crate::analysis::critical::{alone, common_factor};
pub use crate::analysis::frictional_contact;
pub use crate::analysis::map::{Plane, map};
pub use crate::analysis::one_pair::BookPoint;
pub use crate::analysis::painleve::{Classifier, Possible, painleve_at};
pub use crate::analysis::particles::Particles;
pub use crate::analysis::place::start_of;
pub use crate::analysis::reactions::{Free, Reactions};
pub use crate::analysis::seeds::seed;
pub use crate::analysis::self_braking::{SelfBrakingTask, analyse_self_braking};
pub use crate::analysis::start_load::{RestTask, analyse_rest};
pub use crate::analysis::tensor_set::{SetFinding, regular_set, sampled_set};
pub use crate::contact::{Fast, FastPair, Fate, Reduced, Solution, SolutionSet, Start, Status, Transition};
pub use crate::file::{Options, read, read_with};
pub use crate::impact::{ImpactStatus, Impactor};
pub use crate::lcp::LemkeWorkspace;
pub use crate::linalg::{Cholesky, dot};
pub use crate::model::build;
pub use crate::root::minimum;
pub use crate::sim::start::{consistent, equilibrium};

/// A value with a unit in SI, and the powers of m, kg and s of the unit.
pub fn quantity(value: f64, unit: &str) -> Option<(f64, [i32; 3])> {
    let unit = crate::expr::parse_unit(unit).ok()?;
    let whole = crate::expr::Exponents::whole([1; 5]).0[0];
    Some((unit.to_si(value), std::array::from_fn(|k| unit.dim.0[k] / whole)))
}

/// Accelerations with frozen modes, one state after the other: what a stage of a step costs.
#[derive(Default)]
pub struct Accelerations {
    fixed: crate::contact::Fixed,
    forces: crate::contact::Forces,
    signs: Vec<f64>,
}

impl Accelerations {
    /// u̇, or none where M is singular. `written`: with M written down and factored as a matrix.
    pub fn of<S: crate::system::System + ?Sized>(
        &mut self,
        system: &S,
        state: &crate::system::State,
        discrete: &crate::system::Discrete,
        eval: &mut crate::system::Eval,
        written: bool,
    ) -> Option<&[f64]> {
        let Accelerations { fixed, forces, signs } = self;
        signs.resize(system.dims().contacts, 1.0);
        match written {
            true => system.evaluate_rates(state, discrete, eval),
            false => system.evaluate_stage(state, discrete, eval),
        }
        let tree = written.then(|| eval.tree.shape.take()).flatten();
        let solved = fixed.solve(system.contacts(), eval, &discrete.modes, signs, forces).solved;
        if written {
            eval.tree.shape = tree;
        }
        solved.then_some(&forces.accel)
    }
}
