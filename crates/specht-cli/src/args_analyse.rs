//! Arguments of `analyse`, as typed.

use std::path::PathBuf;

use crate::args::ModelArgs;

/// `analyse`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = ANALYSES, after_help = "`specht analyse --help` says what each kind answers, with examples.")]
pub struct AnalyseArgs {
    /// Question: see the list below
    pub kind: String,
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Contact to look at (several: repeat); default: all with friction
    #[arg(long, value_name = "NAME")]
    pub contact: Vec<String>,
    /// painleve, tensor: vary a parameter, a coordinate or a velocity: --over "mu=0..3:61", --over "phi'=-5..5:101"
    /// (two: a map); self-braking: a parameter
    #[arg(long, value_name = "NAME=FROM..TO:COUNT")]
    pub over: Vec<String>,
    /// painleve, true-motion: look at another state than the start: --at "phi=60 deg" --at "phi'=-3"
    #[arg(long, value_name = "NAME=VALUE")]
    pub at: Vec<String>,
    /// painleve, true-motion: run the model and look at this instant: --at-time "0.2 s"
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub at_time: Option<String>,
    /// painleve: run the model and look at all instants
    #[arg(long)]
    pub along: bool,
    /// End time of the run [default: that of the file]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// rest, self-braking: point to look at, `slider` or `rod.tip` (several: repeat)
    #[arg(long, value_name = "POINT")]
    pub point: Vec<String>,
    /// rest, in space: direction in which forces at the points are asked for: --direction 1,0,0
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    pub direction: Option<String>,
    /// rest: parameter of the load whose limits are wanted; self-braking: parameter of the resisting load
    #[arg(long, value_name = "NAME")]
    pub load: Option<String>,
    /// self-braking: parameter of the driving load, for the efficiency
    #[arg(long, value_name = "NAME")]
    pub drive: Option<String>,
    /// true-motion: reaction of the contact at the start, over the frictionless one [default: 0]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub x0: Option<String>,
    /// true-motion: rate of that ratio, in units of the square root of stiffness over mass [default: 0]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub rate0: Option<String>,
    /// true-motion: stiffness of the contact, for the duration of the impact (its limit for large stiffness): --stiffness "1e8 N/m"; painleve:
    /// relative stiffness by contact, for the character of the solutions: --stiffness "rub1=1, rub2=3"
    #[arg(long, value_name = "C")]
    pub stiffness: Option<String>,
    /// tensor: number of sampled states, over the ranges of --over or of the file
    #[arg(long, value_name = "N")]
    pub samples: Option<u32>,
    /// modes, response, break-away: contacts that stick (several: repeat, or with commas)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub stick: Vec<String>,
    /// modes, response, break-away: contacts that slide
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub slide: Vec<String>,
    /// modes, response, break-away: contacts that are open
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub open: Vec<String>,
    /// equilibrium: look everywhere, not only near the start
    #[arg(long)]
    pub all: bool,
    /// equilibrium: with friction it is a band, without it points [default: off]
    #[arg(long, value_name = "on|off")]
    pub friction: Option<String>,
    /// stability: parameter whose critical value is wanted
    #[arg(long, value_name = "NAME")]
    pub critical: Option<String>,
    /// response: a force of the model, or a parameter of its amplitude
    #[arg(long, value_name = "NAME")]
    pub force: Option<String>,
    /// break-away: parameter of the amplitude of the excitation
    #[arg(long, value_name = "NAME")]
    pub amplitude: Option<String>,
    /// branch: what is followed, cycle, rest or sliding [default: cycle];
    /// load-statistics, statistics: what to look at, an output or an expression; statistics: also an address of events,
    /// "events[contact=mesh].impulse_n" (several: repeat, or put commas between them)
    #[arg(long, value_name = "ADDRESS")]
    pub of: Vec<String>,
    /// load-statistics, statistics: beginning of the window [default: of the run]
    #[arg(long, value_name = "T")]
    pub from: Option<String>,
    /// load-statistics, statistics: end of the window
    #[arg(long, value_name = "T")]
    pub to: Option<String>,
    /// load-statistics: force above which an episode is one [default: 0]
    #[arg(long, value_name = "F", allow_hyphen_values = true)]
    pub threshold: Option<String>,
    /// statistics: period of the excitation, for what happens per period
    #[arg(long, value_name = "T")]
    pub per: Option<String>,
    /// limit-cycle: event of the file at which the cycle is looked at
    #[arg(long, value_name = "EVENT")]
    pub section: Option<String>,
    /// limit-cycle: period of what depends on time, a number or an expression of parameters: --period "2*pi/w"
    #[arg(long, value_name = "T")]
    pub period: Option<String>,
    /// limit-cycle: periods of the excitation in one of the cycle
    #[arg(long, value_name = "N")]
    pub multiple: Option<u32>,
    /// return-map: coordinate or velocity that is mapped
    #[arg(long, value_name = "NAME")]
    pub coordinate: Option<String>,
    /// return-map: powers whose fixed points are wanted: --power 1..3
    #[arg(long, value_name = "N")]
    pub power: Option<String>,
    /// lyapunov: time over which exponents are taken [default: that of the run]
    #[arg(long, value_name = "T")]
    pub time: Option<String>,
    /// lyapunov: time before it [default: a quarter of it]
    #[arg(long, value_name = "T")]
    pub warm_up: Option<String>,
    /// limit-cycle: look from this many starts in --box, too
    #[arg(long, value_name = "N")]
    pub starts: Option<u32>,
    /// limit-cycle: where the starts lie: --box "x=-2..4" --box "x'=-1..1"
    #[arg(long = "box", value_name = "NAME=FROM..TO")]
    pub boxed: Vec<String>,
    /// limit-cycle: look near the start, also for cycles that the motion leaves
    #[arg(long)]
    pub unstable: bool,
    /// branch: follow the branch that leaves the first special point of this label: hopf (--of sliding), doubling
    #[arg(long, value_name = "LABEL")]
    pub switch: Option<String>,
    /// branch: a second parameter over which the special points are followed: --two "d=0..0.3"
    #[arg(long, value_name = "NAME=FROM..TO")]
    pub two: Option<String>,
    /// Folder in which the finding is kept as KIND.json, and its picture as KIND.svg
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the finding as JSON to standard output (and nothing else there)
    #[arg(long)]
    pub json: bool,
}

/// What each kind answers.
const ANALYSES: &str = "\
What each kind answers:
  painleve      Is the motion the only possible one? One solution, several, none or a continuum;
                critical friction of each contact. At the start, at another state (--at, --at-time),
                along a run (--along), over a curve or map (--over).
  true-motion   Where it is not: what a very stiff contact would do (go on, stop at once).
  rest          Does it stay where it is? Which load starts it (--load, --point)?
  self-braking  Which forces at a point cannot move it however large (--point)? Efficiency and
                self-locking (--drive, --load)?
  tensor        Friction tensors: do they take energy out, do they exclude paradoxes?
  load-statistics  How often and how hard do loads strike? Episodes, law of exceedance, 99 % load (--of).
  equilibrium   Where can it stand still? All points and branches without friction (--all, --over), bands,
                margin and safety with it (--friction on).
  modes         Frequencies, damping and shapes with contacts stuck, sliding or open.
  response      Amplitude and phase over the frequency of a force (--force, --over f=…).
  break-away    Amplitude of an excitation at which the first stuck contact gives way (--amplitude, --over f=…).
  stability     Does steady sliding squeal? Eigenvalues, kind, critical value (--critical mu), sectors and
                maps (--over).
  statistics    Means, moments, histograms, spectra; what happens per period; balances (--of, --per).
  limit-cycle   Does the motion repeat itself? Period, drift, events, energy, multipliers and stability;
                also unstable cycles (--unstable) and several attractors (--starts, --box).
  return-map    One number from passage to passage of a section: jumps, fixed points, slopes
                (--section, --coordinate, --power).
  lyapunov      How fast do neighbouring motions part? Positive: chaos (--time, --warm-up).
  branch        How do cycles change with a parameter? Folds, doublings, grazing, loss of stick (--over).
                Rest and steady sliding too (--of rest, --of sliding); from a special point on (--switch).
  basin         From which starts does the motion end where? (two of --over x=-2..4:41, --over \"x'=-3..1:41\")
  friction-law  What do the friction laws do? Least value, steepest fall, damping needed, passivity.

Examples:
  specht analyse painleve rod
  specht analyse painleve rod --at \"phi=60 deg\" --at \"phi'=-1\"
  specht analyse painleve quick_return --along --case funnel
  specht analyse painleve rod --over \"phi=1 deg..89 deg:89\" --over \"mu=0..3:61\" --out maps
  specht analyse true-motion painleve_klein --case paradox --x0 -1 --stiffness \"1e8 N/m\"
  specht analyse rest wedge --load P
  specht analyse self-braking screw --drive T --load F
  specht analyse limit-cycle woodpecker --section turn
  specht analyse branch den_hartog --over b=1.4..1.2
  specht analyse basin falling_friction --set v=1.06 --over x=-2..4:21 --over \"x'=-3..1:21\"
  specht analyse equilibrium damper --over p1=30..300
  specht analyse stability brake_pad --critical mu
  specht analyse modes damper --stick left,right
  specht analyse break-away damper --amplitude A --over \"f=55 Hz..70 Hz:61\"

The pages behind the words: specht explain painleve, several-solutions, tangential-impact, jam,
self-braking, tensor.";
