//! `specht solve PROBLEM.json`: a contact problem or an LCP, answered as JSON.

use crate::outcome::{Exit, Outcome, Refusal};
use crate::progress::interrupt;
use crate::text::print;
use serde_json::{Value, json};
use specht::cone::format::{Answer, FormatError, LcpAnswer, LcpSolution, Posed};
use specht::cone::{Method, Problem, Settings, Solver, Stage, Status, Stop};
use specht::lcp::{EnumerateSettings, Lcp, Piece, Solver as LcpSolver, enumerate};
use std::path::PathBuf;
use std::time::Instant;

/// Methods as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MethodArg {
    /// Gauss-Seidel, Newton, interior point, as needed
    Cascade,
    /// Block Gauss-Seidel with exact contacts only
    GaussSeidel,
    /// Proximal Newton only
    Newton,
    /// Interior point only
    InteriorPoint,
}

/// Arguments of `solve`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = FORMAT)]
pub struct SolveArgs {
    /// Problem file (JSON); `-` reads standard input
    pub problem: PathBuf,
    /// Accepted error in both measures (contact problems)
    #[arg(long, value_name = "E", default_value_t = 1e-8)]
    pub tolerance: f64,
    /// Method (contact problems)
    #[arg(long, value_enum, default_value = "cascade")]
    pub method: MethodArg,
    /// Stop after this many seconds with the best answer; holds for all solves of --nearest, --check and --all together
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<f64>,
    /// Threads for islands and large factorisations, all cores by default; the answer does not depend on it (contact problems)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Of several solutions take the one of slightly compliant contacts (no needless clamping); the answer says under
    /// `nearest` whether that was possible
    #[arg(long)]
    pub nearest: bool,
    /// Every solution: LCPs, and contact problems of at most 3 contacts
    #[arg(long)]
    pub all: bool,
    /// Also test the sufficient criterion for the existence of a solution
    #[arg(long)]
    pub check: bool,
}

/// The format, for `specht solve --help`.
pub const FORMAT: &str = "\
FORMAT
  Contact problem, u = W r + q:        { \"dimension\": 3, \"mu\": [...], \"W\": ..., \"q\": [...] }
  Contact problem, W = H M^-1 H':      { \"dimension\": 3, \"mu\": [...], \"M\": ..., \"H\": ..., \"v_free\": [...], \"w\": [...] }
  Complementarity problem, w = A z + b: { \"A\": ..., \"b\": [...] }

  A matrix is dense (list of rows) or sparse: { \"rows\": n, \"cols\": m, \"i\": [...], \"j\": [...], \"v\": [...] } with indices from 0.
  M may also be a list of numbers, its diagonal. dimension is 3 (rows N, T1, T2 per contact) or 2 (rows N, T).
  mu is one number per contact, or one for all when \"contacts\" gives their number. \"w\" (prescribed velocities) may be left out.
  Mixed laws: \"contacts\": [ { \"law\": \"coulomb\", \"rows\": 3, \"mu\": 0.5 }, { \"law\": \"elliptic\", \"mu\": [0.3, 0.6] },
    { \"law\": \"loaded\", \"rows\": 2, \"bound\": 1.5 }, { \"law\": \"bilateral\", \"rows\": 1 }, { \"law\": \"guide\", \"rows\": 2, \"mu\": 0.1 } ]
    instead of dimension and mu. Resistance to rolling (rows: two angular velocities) and drilling (one) stands behind its contact:
    { \"law\": \"rolling\", \"rows\": 2, \"mu\": 0.01 }, |moment| <= mu r_N.

ANSWER (standard output)
  status (solved, not_converged, no_solution, criterion_fails), stage, iterations, error_plain, error_scaled, r, u, time (seconds),
  counts, painleve (contacts with W_NN <= mu |W_NT|), islands; certificate with no_solution; solutions with --all.
  Exit code 0: solved; 1: not; 2: the problem is wrong.";

/// Run the command.
pub fn run(args: SolveArgs) -> Outcome {
    let text = if args.problem.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin()).map_err(|e| Refusal::new(format!("standard input: {e}")))?
    } else {
        std::fs::read_to_string(&args.problem)
            .map_err(|e| Refusal::new(format!("cannot read {}: {e}", args.problem.display())))?
    };
    let (answer, exit) = answer(&text, &args)?;
    print(&format!("{}\n", serde_json::to_string_pretty(&answer).unwrap_or_default()))?;
    Ok(exit)
}

/// The answer to a problem given as text.
pub fn answer(text: &str, args: &SolveArgs) -> Result<(Value, Exit), Refusal> {
    Ok(match Posed::read(text).map_err(refused)? {
        Posed::Contacts(problem) => {
            let (answer, exit) = solve_contacts(&problem, args)?;
            (json!(answer), exit)
        }
        Posed::Lcp { a, b } => {
            let (answer, exit) = solve_lcp(Lcp::new(&a, &b), args);
            (json!(answer), exit)
        }
    })
}

fn refused(e: FormatError) -> Refusal {
    let refusal = Refusal::new(e.message);
    if e.help.is_empty() { refusal } else { refusal.help(e.help) }
}

fn solve_contacts(p: &Problem, args: &SolveArgs) -> Result<(Answer, Exit), Refusal> {
    if args.time_limit.is_some_and(|t| !(t > 0.0)) {
        return Err(Refusal::new("--time-limit must be positive"));
    }
    let method = match args.method {
        MethodArg::Cascade => Method::Cascade,
        MethodArg::GaussSeidel => Method::GaussSeidel,
        MethodArg::Newton => Method::Newton,
        MethodArg::InteriorPoint => Method::InteriorPoint,
    };
    let sweeps = if method == Method::GaussSeidel { 100_000 } else { Settings::default().sweeps };
    let settings = Settings {
        tolerance: args.tolerance,
        method,
        time_limit: args.time_limit,
        stop: Stop(Some(interrupt())),
        sweeps,
        ..Default::default()
    };
    let refuse = |e: specht::cone::ProblemError| Refusal::new(e.to_string());
    let clock = Instant::now();
    let mut solver = Solver::new(settings);
    let mut work = || if args.nearest { solver.solve_nearest(p, &[]) } else { solver.solve(p) };
    let s = match args.threads {
        None => work(),
        Some(n) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n.max(1)).build();
            pool.map_err(|e| Refusal::new(format!("{n} threads: {e}")))?.install(work)
        }
    }
    .map_err(refuse)?;
    let time = clock.elapsed().as_secs_f64();
    let exit = if s.status == Status::Solved { Exit::Done } else { Exit::Stopped };
    // later stages do not start from the answer of the compliant contacts
    let nearest = args.nearest.then_some(s.stage <= Stage::Newton);
    let mut answer = Answer { nearest, ..Answer::new(s, time) };
    let left = || args.time_limit.map(|t| (t - clock.elapsed().as_secs_f64()).max(0.0));
    let stop = Stop(Some(interrupt()));
    if args.check {
        answer.existence = Some(match specht::cone::criterion_within(p, left(), stop).map_err(refuse)? {
            specht::cone::Existence::Guaranteed => "guaranteed",
            specht::cone::Existence::Fails => "criterion_fails",
            specht::cone::Existence::Undecided => "undecided",
        });
    }
    if args.all {
        let all = specht::cone::solve_all(p, left(), stop).map_err(refuse)?.ok_or_else(|| {
            Refusal::new("--all needs at most 3 contacts, all with Coulomb's law")
                .help("without --all one solution is computed for any number of contacts")
        })?;
        (answer.regular, answer.complete) = (Some(all.regular), Some(all.complete));
        answer.solutions = Some(all.solutions);
    }
    Ok((answer, exit))
}

/// Pairs up to which all solutions are sought when no path ends at one.
const SMALL: usize = 16;

fn solve_lcp(p: Lcp, args: &SolveArgs) -> (LcpAnswer, Exit) {
    let mut solver = LcpSolver::default();
    let clock = Instant::now();
    let status = solver.solve(p);
    let time = clock.elapsed().as_secs_f64();
    let mut solved = status.is_solved();
    let mut answer = LcpAnswer {
        status: match status {
            specht::lcp::Status::Ray => "ray",
            _ if solved => "solved",
            _ => "not_converged",
        },
        stage: format!("{:?}", solver.method).to_lowercase(),
        iterations: solver.iterations,
        error: p.residual(&solver.z),
        time,
        z: solver.z,
        w: solver.w,
        complete: None,
        solutions: None,
    };
    // paths that all end on rays say little: where all bases can be looked at, they are
    if args.all || !solved && p.b.len() <= SMALL {
        let time_limit = args.time_limit.map(|t| (t - clock.elapsed().as_secs_f64()).max(0.0));
        let e = enumerate(
            p,
            &EnumerateSettings { time_limit, stop: Stop(Some(interrupt())), ..EnumerateSettings::default() },
        );
        if e.complete && e.pieces.is_empty() {
            answer.status = "no_solution";
        } else if !solved && let Some(first) = e.pieces.first() {
            (answer.status, answer.stage) = ("solved", "enumeration".into());
            (answer.z, answer.w) = (first.z().to_vec(), first.w().to_vec());
            answer.error = p.residual(first.z());
            solved = true;
        }
        if !args.all {
            let exit = if solved { Exit::Done } else { Exit::Stopped };
            return (answer, exit);
        }
        let one = |piece: Piece| match piece {
            Piece::Point { z, w, .. } => LcpSolution { z, w, family: false },
            Piece::Family { family, .. } => LcpSolution { z: family.z, w: family.w, family: true },
        };
        answer.complete = Some(e.complete);
        answer.solutions = Some(e.pieces.into_iter().map(one).collect());
    }
    let exit = if solved { Exit::Done } else { Exit::Stopped };
    (answer, exit)
}
