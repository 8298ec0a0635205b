//! `specht explain TOPIC`: pages of docs/explain, compiled into the program.

use crate::args::ExplainArgs;
use crate::embedded::EXPLAIN;
use crate::outcome::{Exit, Outcome, Refusal};
use crate::text::{nearest, print};

/// Print a page, or the list of topics.
pub fn run(args: ExplainArgs) -> Outcome {
    let Some(topic) = args.topic else {
        let width = EXPLAIN.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut list = String::new();
        let own = ("model", "# The model file: every section, key and function");
        for (name, page) in std::iter::once(&own).chain(EXPLAIN) {
            list += &format!("{name:width$}  {}\n", title(page));
        }
        print(&list)?;
        return Ok(Exit::Done);
    };
    if topic == "model" {
        print(&specht::machine::reference())?;
        return Ok(Exit::Done);
    }
    match EXPLAIN.iter().find(|(name, _)| *name == topic) {
        Some((_, page)) => {
            print(page)?;
            Ok(Exit::Done)
        }
        None => {
            let names: Vec<&str> =
                std::iter::once("model").chain(EXPLAIN.iter().map(|(name, _)| *name)).collect();
            let hint = match nearest(&topic, &names) {
                Some(name) => format!("did you mean `{name}`? "),
                None => String::new(),
            };
            Err(Refusal::new(format!("no page about `{topic}`"))
                .help(format!("{hint}`specht explain` lists the topics: {}", names.join(", "))))
        }
    }
}

/// First heading of a page.
fn title(page: &str) -> &str {
    page.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("")
}
