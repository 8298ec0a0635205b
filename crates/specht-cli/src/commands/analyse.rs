//! `specht analyse KIND MODEL`: one question about a model.

use crate::args::AnalyseArgs;
use crate::diagnostics;
use crate::outcome::{Exit, Outcome, Refusal};
use crate::session::{Request, prepare};
use crate::tasks::{self, Analysis, KINDS};
use crate::text::{nearest, print};

/// Answer.
pub fn run(args: AnalyseArgs) -> Outcome {
    let Some(kind) = KINDS.iter().find(|k| k.name == args.kind) else {
        let names: Vec<&str> = KINDS.iter().map(|k| k.name).collect();
        let refusal = Refusal::new(format!("there is no analysis `{}`", args.kind));
        return Err(match nearest(&args.kind, &names) {
            Some(name) => refusal.help(format!("did you mean `{name}`?")),
            None if names.is_empty() => refusal.help("this version has no analyses built in"),
            None => refusal.help(format!("known: {}", names.join(", "))),
        });
    };
    let mut request = Request::new(&args.model)?;
    request.until.get_or_insert(1.0);
    let prepared = prepare(request)?;
    diagnostics::warn(&prepared.warnings, &prepared.request.source, &prepared.request.set);
    let keys = tasks::keys_from_args(&args)?;
    let mut finding = (kind.run)(&Analysis { prepared: &prepared, keys: &keys })?;
    let picture = tasks::take_picture(&mut finding);
    let text = serde_json::to_string_pretty(&finding).unwrap_or_default();
    if let Some(folder) = &args.out {
        crate::output::write(&folder.join(format!("{}.json", kind.name)), &format!("{text}\n"))?;
        if let Some(svg) = picture {
            crate::output::write(&folder.join(format!("{}.svg", kind.name)), &svg)?;
        }
    }
    print(&format!("{text}\n"));
    Ok(Exit::Done)
}
