//! The command line as typed. What is meant by it is worked out in `commands`.

use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

pub use crate::args_analyse::AnalyseArgs;

/// Mechanical systems with Coulomb friction, unilateral contacts and impacts.
#[derive(Debug, Parser)]
#[command(name = "specht", version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "MODEL is a model file or the name of a gallery entry (`specht gallery` lists them).\n\
    Exit codes: 0 done; 1 the run ended in a finding that stops it or by Ctrl-C, its audit or a comparison failed; 2 the\n\
    input is wrong or the result cannot be written."
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
    Run(Box<RunArgs>),
    /// Write a commented model file to start from
    New(NewArgs),
    /// Read a robot (URDF) or a scene (MJCF) and write it as a model file
    Import(ImportArgs),
    /// Check a model file (names, units, start) and print it as understood
    Check(ModelArgs),
    /// Show several runs, or a run and measured data (CSV), over each other in one page
    Compare(CompareArgs),
    /// List the gallery, or run one entry with its tasks
    Gallery(GalleryArgs),
    /// Run gallery entries and compare with the published numbers
    Verify(VerifyArgs),
    /// Answer a question about a model: painleve, true-motion, rest, self-braking, tensor, statistics
    Analyse(Box<AnalyseArgs>),
    /// Read a measured record without a model: break-down and pick-up forces of an oscillogram
    Data(DataArgs),
    /// Find parameters of a model from measured data, with their errors
    Fit(Box<FitArgs>),
    /// Run a model many times: grids, lists, random samples, chains, diagrams
    Sweep(Box<SweepArgs>),
    /// Map a result over two parameters, with its borders and the distance to them
    Map(Box<MapArgs>),
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
    /// Print the manual page: specht manual > specht.1
    Manual,
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

impl From<SchemeArg> for specht::sim::Scheme {
    fn from(typed: SchemeArg) -> Self {
        match typed {
            SchemeArg::Event => specht::sim::Scheme::Event,
            SchemeArg::Step => specht::sim::Scheme::Step,
        }
    }
}

/// `run`.
#[derive(Clone, Debug, clap::Args)]
pub struct RunArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// End time, with or without unit: --until 2, --until "50 ms"
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
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
    /// Impact law: poisson, newton (blows without friction) or moreau
    #[arg(long, value_name = "LAW")]
    pub impact: Option<String>,
    /// Tolerance of the integration, instead of the file's or 1e-9
    #[arg(long, value_name = "X")]
    pub tolerance: Option<f64>,
    /// Method between events: auto, explicit or implicit (for stiff models)
    #[arg(long, value_name = "METHOD")]
    pub method: Option<String>,
    /// Output interval, instead of the file's or every step: --every "1 ms"
    #[arg(long, value_name = "DT")]
    pub every: Option<String>,
    /// Record only this part of the time: --keep "1 s..2 s", --keep 10..
    #[arg(long, value_name = "FROM..TO")]
    pub keep: Option<String>,
    /// Stop after this many events
    #[arg(long, value_name = "N")]
    pub events: Option<u64>,
    /// Folder for the results [default: out/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print run.json to standard output (and nothing else there); files are written only with --out
    #[arg(long)]
    pub json: bool,
    /// Open the report in the browser
    #[arg(long)]
    pub open: bool,
    /// Differentiate the run with respect to parameters, through all its events: --sensitivity mu,e. What a parameter defines
    /// follows it, unless it is asked for too
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub sensitivity: Vec<String>,
    /// Leave out the analyses that the file asks for as tasks
    #[arg(long)]
    pub no_tasks: bool,
    /// Add the mass matrix M, the forces h and the order of the velocities at the start to run.json
    #[arg(long)]
    pub matrices: bool,
    /// Also write a picture of the run (frame and plots)
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Also write the moving picture as an animated GIF
    #[arg(long, value_name = "FILE")]
    pub gif: Option<PathBuf>,
    /// Run again whenever the model file is saved, until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    pub watch: bool,
}

/// `new`.
#[derive(Clone, Debug, clap::Args)]
pub struct NewArgs {
    /// Name of the model; the file is NAME.toml
    pub name: PathBuf,
}

/// `import`.
#[derive(Clone, Debug, clap::Args)]
pub struct ImportArgs {
    /// URDF or MJCF file
    pub file: PathBuf,
    /// The model file to write; without it, the model goes to standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The root link of a URDF robot moves freely; else it is fixed
    #[arg(long)]
    pub floating: bool,
    /// Leave out limits, joint friction, damping, couplings and contacts
    #[arg(long)]
    pub no_contacts: bool,
    /// Print the names that joints and links have in the model, as JSON
    #[arg(long)]
    pub json: bool,
}

/// `compare`.
#[derive(Clone, Debug, clap::Args)]
pub struct CompareArgs {
    /// Folders of runs, or CSV files with a time column and names in the first line
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "out/compare.html")]
    pub out: PathBuf,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
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

/// `data`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "The pages behind the words: specht explain fit.")]
pub struct DataArgs {
    /// CSV file with columns t and F (force of the spring) or y (its deflection)
    pub file: PathBuf,
    /// What it is
    #[arg(long, value_name = "KIND", default_value = "oscillogram")]
    pub kind: String,
    /// Stiffness of the spring: --stiffness "700 N/mm"
    #[arg(long, value_name = "C")]
    pub stiffness: String,
    /// Mass of the slider: --mass "1.5 kg"
    #[arg(long, value_name = "M")]
    pub mass: String,
    /// Speed of the end of the spring [default: from the slope of the record at rest]
    #[arg(long, value_name = "V")]
    pub speed: Option<String>,
    /// Print every number as JSON
    #[arg(long)]
    pub json: bool,
}

/// `fit`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = FITS)]
pub struct FitArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Measured data: a CSV file, the first line names its columns, `force [N]`; without it, the fits of the file
    #[arg(long, value_name = "FILE", requires = "fit")]
    pub data: Option<String>,
    /// Parameters to find: --fit mu,c
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "data")]
    pub fit: Vec<String>,
    /// What should be zero at every row; columns are names: --residual "F - stribeck(v, Fs, Fk, vs)"
    #[arg(long, value_name = "EXPRESSION", requires = "data")]
    pub residual: Option<String>,
    /// Bounds of a parameter: --bounds "mu=0..1" (several: repeat)
    #[arg(long, value_name = "NAME=FROM..TO", requires = "data")]
    pub bounds: Vec<String>,
    /// Column of weights, 1/s^2 of the scatter s
    #[arg(long, value_name = "COLUMN", requires = "data")]
    pub weights: Option<String>,
    /// Number of starts of the search [default: 16 for formulas, 1 along runs]
    #[arg(long, value_name = "N", requires = "data")]
    pub starts: Option<u32>,
    /// Intervals that need not be symmetric
    #[arg(long)]
    pub profile: bool,
    /// Values far from the others count less
    #[arg(long)]
    pub robust: bool,
    /// Refits of resampled residuals, for intervals that bear errors that last: --bootstrap 200
    #[arg(long, value_name = "N")]
    pub bootstrap: Option<u32>,
    /// Share of the rows, at the end, that is predicted instead of fitted: --holdout 0.2
    #[arg(long, value_name = "SHARE")]
    pub holdout: Option<f64>,
    /// Another model file, or another fit of the file, to compare with (several: repeat)
    #[arg(long, value_name = "OTHER")]
    pub compare: Vec<String>,
    /// Folder for the results [default: out/NAME-fit]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the finding as JSON to standard output (and nothing else there); files are written only with --out
    #[arg(long)]
    pub json: bool,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
}

const FITS: &str = "\
Examples:
  specht fit stribeck_curve
  specht fit model.toml --data curve.csv --fit Fs,Fk,vs --residual \"F - stribeck(v, Fs, Fk, vs)\"
  specht fit model.toml --data record.csv --fit mu,c --profile
With a column t the residual is taken along the run, with derivatives through all events; without --residual
columns are compared with what the model calls alike.
The pages behind the words: specht explain fit, friction-laws.";

/// What all runs of a sweep or map share.
#[derive(Clone, Debug, clap::Args)]
pub struct ManyArgs {
    /// End time of the runs, instead of the file's
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// Tolerance of the integration, instead of the file's or 1e-9
    #[arg(long, value_name = "X")]
    pub tolerance: Option<f64>,
    /// Scheme, instead of the file's
    #[arg(long, value_enum)]
    pub scheme: Option<SchemeArg>,
    /// Step of the time-stepping scheme
    #[arg(long, value_name = "H")]
    pub step: Option<String>,
    /// Threads [default: all cores]; the result is the same for any number
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print the result as JSON to standard output (and nothing else there); files are written only with --out
    #[arg(long)]
    pub json: bool,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
}

/// `sweep`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = SWEEPS)]
pub struct SweepArgs {
    /// Model file, or name of a gallery entry; with --merge, none
    #[arg(required_unless_present = "merge")]
    pub model: Option<String>,
    /// Set a parameter for all runs: --set mu=0.4
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Use the parameters of [case.NAME]
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,
    /// Values of a parameter: --over A=0..8e-3:401, --over f=1..1000:31:log, --over mu=0.1,0.2 (several: a grid)
    #[arg(long, value_name = "NAME=VALUES")]
    pub over: Vec<String>,
    /// Distribution of a parameter: normal(mean, deviation), uniform(from, to), lognormal(median, deviation),
    /// triangular(from, most frequent, to)
    #[arg(long, value_name = "NAME=DISTRIBUTION")]
    pub random: Vec<String>,
    /// Number of random samples; with --over, at each point of the grid
    #[arg(long, value_name = "N")]
    pub samples: Option<usize>,
    /// Seed of the samples
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub seed: u64,
    /// Low-discrepancy samples (sequence of Sobol) instead of independent ones
    #[arg(long)]
    pub sobol: bool,
    /// Total indices: every sample is also run with each parameter exchanged
    #[arg(long)]
    pub total: bool,
    /// What to record of each run: an address of run.json or an expression of addresses (several: repeat)
    #[arg(long, value_name = "ADDRESS")]
    pub record: Vec<String>,
    /// Begin each run where the one before ended, along the first --over: up, down or both
    #[arg(long, value_name = "WAY")]
    pub chain: Option<String>,
    /// Diagram: how many passages through the section, from the end of each run [default: 100]
    #[arg(long, value_name = "N", requires = "section")]
    pub last: Option<usize>,
    /// Diagram: an event of the file, a contact (its impacts) or a kind of event
    #[arg(long, value_name = "NAME", requires = "values")]
    pub section: Option<String>,
    /// Diagram: what is shown of each passage, an address into its event: "after.x'", time, impulse_n.mesh
    #[arg(long, value_name = "ADDRESS", requires = "section")]
    pub values: Option<String>,
    /// What all runs share.
    #[command(flatten)]
    pub many: ManyArgs,
    /// Do one part of several, for several machines: --shard 2/8
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// Go on with the sweep that was begun in the folder
    #[arg(long)]
    pub resume: bool,
    /// Put the shards in these folders together
    #[arg(long, value_name = "DIR", num_args = 1.., conflicts_with_all = ["model", "over", "random", "record", "shard", "resume"])]
    pub merge: Vec<PathBuf>,
    /// Folder for the results [default: out/NAME-sweep]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

const SWEEPS: &str = "\
Examples:
  specht sweep rod --over mu=0..2:101 --record \"events[kind=detach][1].time\"
  specht sweep woodpecker --random \"mu1=normal(0.3, 0.03)\" --samples 1000 --record \"final.y\" --record \"final.y < -0.05\"
  specht sweep model.toml --over A=0..8e-3:401 --chain both --section hit --last 300 --values \"after.x'\"
The pages behind the words: specht explain sweep, addresses, statistics.";

/// `map`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "The pages behind the words: specht explain map, sweep, addresses.")]
pub struct MapArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The two parameters: --over mu=0..2:41 --over phi=0..1:41
    #[arg(long, value_name = "NAME=FROM..TO:COUNT")]
    pub over: Vec<String>,
    /// What is mapped: an address or expression; words, truths and whole numbers are classes
    #[arg(long, value_name = "ADDRESS")]
    pub record: String,
    /// Borders of a number: where it passes these values (several: repeat)
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub level: Vec<f64>,
    /// How finely borders are located, relative to a cell of the grid
    #[arg(long, value_name = "X", default_value_t = 1e-4)]
    pub fine: f64,
    /// Go on with the map that was begun in the folder
    #[arg(long)]
    pub resume: bool,
    /// What all runs share.
    #[command(flatten)]
    pub many: ManyArgs,
    /// Folder for the results [default: out/NAME-map]
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
