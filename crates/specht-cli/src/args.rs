//! The command line as typed. What is meant by it is worked out in `commands`.

use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Mechanical systems with Coulomb friction, unilateral contacts and impacts.
#[derive(Debug, Parser)]
#[command(name = "specht", version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "MODEL is a model file or the name of a gallery entry (`specht gallery` lists them).\n\
    Exit codes: 0 done; 1 the run ended in a finding that stops it, or a comparison failed; 2 the input is wrong."
)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a model; write run.json, trajectory.csv and report.html
    Run(RunArgs),
    /// Check a model file (names, units, start) and print it as understood
    Check(ModelArgs),
    /// List the gallery, or run one entry with its tasks
    Gallery(GalleryArgs),
    /// Run gallery entries and compare with the published numbers
    Verify(VerifyArgs),
    /// Answer a question about a model: painleve, true-motion, rest, self-braking
    Analyse(AnalyseArgs),
    /// Solve a contact problem or LCP given as JSON
    Solve(crate::solve::SolveArgs),
    /// Write a test problem for `solve`
    Problem(crate::problem::ProblemArgs),
    /// Print the JSON schema of model files, for editors
    Schema,
    /// Explain a topic on one page; without TOPIC, list the topics
    Explain(ExplainArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// A model and the values to change in it.
#[derive(Clone, Debug, clap::Args)]
pub struct ModelArgs {
    /// Model file, or name of a gallery entry
    pub model: String,
    /// Set a parameter: --set mu=0.4 --set "phi0=60 deg" --set "mu=[0.1, 0.2]"
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Use the parameters of [case.NAME]
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,
}

/// Scheme of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemeArg {
    /// Event-driven: every event located
    Event,
    /// Time-stepping (Moreau-Jean)
    Step,
}

/// `run`.
#[derive(Clone, Debug, clap::Args)]
pub struct RunArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// End time, with or without unit: --until 2, --until "50 ms"
    #[arg(long, value_name = "T")]
    pub until: Option<String>,
    /// Scheme, instead of the file's
    #[arg(long, value_enum)]
    pub scheme: Option<SchemeArg>,
    /// Step of the time-stepping scheme: --step "0.1 ms"
    #[arg(long, value_name = "H")]
    pub step: Option<String>,
    /// Which solution when there are several or none: continuous, compliant, painleve, klein or stop
    #[arg(long, value_name = "POLICY")]
    pub several: Option<String>,
    /// Impact law: poisson, newton or moreau
    #[arg(long, value_name = "LAW")]
    pub impact: Option<String>,
    /// Tolerance of the integration, instead of the file's or 1e-9
    #[arg(long, value_name = "X")]
    pub tolerance: Option<f64>,
    /// Folder for the results [default: out/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print run.json to standard output (and nothing else there); files are written only with --out
    #[arg(long)]
    pub json: bool,
    /// Open the report in the browser
    #[arg(long)]
    pub open: bool,
    /// Also write a picture of the run (frame and plots)
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `gallery`.
#[derive(Clone, Debug, clap::Args)]
pub struct GalleryArgs {
    /// Entry to run; without it, the list
    pub name: Option<String>,
    /// Folder for the results [default: out/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the model file instead of running it
    #[arg(long)]
    pub show: bool,
}

/// `verify`.
#[derive(Clone, Debug, clap::Args)]
pub struct VerifyArgs {
    /// Gallery entries, or folders with model.toml and expected.toml; default: the whole gallery
    pub names: Vec<String>,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
    /// Show every check, not only the entries
    #[arg(long, short)]
    pub verbose: bool,
}

/// `analyse`.
#[derive(Clone, Debug, clap::Args)]
pub struct AnalyseArgs {
    /// Kind of analysis: painleve, true-motion, rest, self-braking, tensor
    pub kind: String,
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Contact to look at (several: repeat)
    #[arg(long, value_name = "NAME")]
    pub contact: Vec<String>,
    /// Point to look at, `slider` or `rod.tip` (several: repeat)
    #[arg(long, value_name = "POINT")]
    pub point: Vec<String>,
    /// Parameter of the load (rest: its limits; self-braking: the resisting load)
    #[arg(long, value_name = "NAME")]
    pub load: Option<String>,
    /// Parameter of the driving load, for the efficiency
    #[arg(long, value_name = "NAME")]
    pub drive: Option<String>,
    /// Parameter to vary: --over "mu=0..3:61" (two: a map)
    #[arg(long, value_name = "NAME=FROM..TO:COUNT")]
    pub over: Vec<String>,
    /// true-motion: reaction of the contact at the start, over the frictionless one [default: 0]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub x0: Option<String>,
    /// true-motion: rate of that ratio, in units of the square root of stiffness over mass [default: 0]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub rate0: Option<String>,
    /// true-motion: stiffness of the contact, for the duration of the impact: --stiffness "1e8 N/m"
    #[arg(long, value_name = "C")]
    pub stiffness: Option<String>,
    /// Number of sampled states (tensor), over the ranges of --over or of the file
    #[arg(long, value_name = "N")]
    pub samples: Option<u32>,
    /// Folder in which the finding is kept as KIND.json, and its picture as KIND.svg
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `explain`.
#[derive(Clone, Debug, clap::Args)]
pub struct ExplainArgs {
    /// Topic; without it, the list
    pub topic: Option<String>,
}

/// `completions`.
#[derive(Clone, Debug, clap::Args)]
pub struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
