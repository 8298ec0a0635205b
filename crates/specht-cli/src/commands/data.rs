//! `specht data FILE`: what a measured record says without a model.

use crate::args::DataArgs;
use crate::diagnostics::refused;
use crate::outcome::{Exit, Outcome, Refusal};
use crate::source::read_text;
use crate::text::print;
use crate::words::short;
use specht::machine::data::{Oscillogram, Rig, oscillogram};

/// Read and say.
pub fn run(args: &DataArgs) -> Outcome {
    if args.kind != "oscillogram" {
        return Err(Refusal::new(format!("there is no kind of data `{}`", args.kind))
            .help("known: oscillogram, a record of stick-slip"));
    }
    let number = |name: &str, text: &str| {
        specht::machine::quantity(text.trim()).map_err(|e| {
            Refusal::new(format!("`--{name} {text}` is not understood: {e}"))
                .help("write a number in SI, or with its unit")
        })
    };
    let rig = Rig {
        stiffness: number("stiffness", &args.stiffness)?,
        mass: number("mass", &args.mass)?,
        speed: args.speed.as_deref().map(|v| number("speed", v)).transpose()?,
    };
    let file = args.file.display();
    let found = oscillogram(&read_text(&args.file)?, &rig).map_err(|e| {
        let refusal = refused(e);
        Refusal { message: format!("{file}: {}", refusal.message), ..refusal }
    })?;
    if args.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&found).unwrap_or_default()))?;
    } else {
        print(&said(&found))?;
    }
    Ok(Exit::Done)
}

fn said(found: &Oscillogram) -> String {
    let mut out = format!("{} cycles, end of the spring at {} m/s\n", found.cycles.len(), short(found.speed));
    out += "  time, s    break-down, N  pick-up, N   rest, s      loading, N/s  sliding, N\n";
    for c in found.cycles.iter().take(20) {
        let rest = if c.contact_time.0.is_nan() { "–".to_string() } else { short(c.contact_time.0) };
        out += &format!(
            "  {:<10} {:<14} {:<12} {:<12} {:<13} {}\n",
            short(c.time),
            short(c.break_down),
            short(c.pick_up),
            rest,
            short(c.load_rate),
            short(c.sliding_force.0)
        );
    }
    if found.cycles.len() > 20 {
        out += &format!("  … {} more; --json prints all\n", found.cycles.len() - 20);
    }
    for (name, s) in [("break-down", &found.break_down), ("pick-up", &found.pick_up)] {
        let interval = match s.interval[0].0.is_finite() {
            true => {
                format!(", 95 % interval of the mean {} … {}", short(s.interval[0].0), short(s.interval[1].0))
            }
            false => String::new(),
        };
        out += &format!("  {name}  mean {} N{interval}\n", short(s.mean));
    }
    out + "  page    specht explain fit\n"
}
