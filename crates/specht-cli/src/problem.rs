//! `specht problem KIND`: a seeded test problem, written as JSON for `specht solve`.

use crate::outcome::{Exit, Outcome, Refusal};
use crate::text::print;
use specht::cone::problems;
use std::path::PathBuf;

/// Kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum KindArg {
    /// size³ blocks, four contacts per touching face (2: 64, 3: 252 contacts)
    Lattice,
    /// size boxes on top of each other, four contacts each
    Tower,
    /// size × size bricks, staggered
    Wall,
    /// size spheres in a box
    Heap,
    /// size contacts between random bodies
    Random,
}

/// Arguments of `problem`.
#[derive(Clone, Debug, clap::Args)]
pub struct ProblemArgs {
    /// Kind of structure
    #[arg(value_enum)]
    pub kind: KindArg,
    /// Size, see the kind
    #[arg(long, value_name = "N")]
    pub size: usize,
    /// Seed of masses, velocities and deviations; except for random contacts numpy's default_rng draws the same
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Coefficient of friction; when left out 0.6 for a lattice, 0.5 for the other kinds
    #[arg(long, value_name = "MU")]
    pub mu: Option<f64>,
    /// File to write; standard output when left out
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Most contacts a generated problem may have.
const LARGEST: usize = 1_000_000;

/// Run the command.
pub fn run(args: ProblemArgs) -> Outcome {
    let mu = args.mu.unwrap_or(if args.kind == KindArg::Lattice { 0.6 } else { 0.5 });
    if !(mu >= 0.0 && mu.is_finite()) {
        return Err(Refusal::new(format!("--mu is {mu}; it must be finite and not negative")));
    }
    let n = args.size;
    let contacts = match args.kind {
        KindArg::Lattice => n.saturating_pow(3).saturating_mul(12),
        KindArg::Wall => n.saturating_pow(2).saturating_mul(12),
        KindArg::Tower => n.saturating_mul(4),
        KindArg::Heap => n.saturating_mul(6),
        KindArg::Random => n,
    };
    if n == 0 || contacts > LARGEST {
        return Err(Refusal::new(format!(
            "--size {n} gives no problem, or one of more than {LARGEST} contacts"
        )));
    }
    let p = match args.kind {
        KindArg::Lattice => problems::lattice(n, mu, args.seed),
        KindArg::Tower => problems::tower(n, mu, args.seed),
        KindArg::Wall => problems::wall(n, n, mu, args.seed),
        KindArg::Heap => problems::heap(n, mu, args.seed),
        KindArg::Random => problems::random(n, mu, args.seed),
    };
    let text = serde_json::to_string(&p).unwrap_or_default();
    // the reader of problems passes over comments
    let made = format!("{{\"comment\":\"made by specht problem, size {n}, seed {}\",", args.seed);
    let text = text.replacen('{', &made, 1);
    match &args.out {
        Some(file) => crate::output::write(file, &format!("{text}\n"))?,
        None => print(&format!("{text}\n"))?,
    }
    Ok(Exit::Done)
}
