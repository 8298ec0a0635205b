//! `specht completions SHELL`, `specht manual`: what the command line says of itself.

use crate::args::{Args, CompletionsArgs};
use crate::embedded::GALLERY;
use crate::outcome::{Exit, Outcome};
use crate::text::{plain, print};
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;

/// Print the script.
pub fn run(args: CompletionsArgs) -> Outcome {
    print(&script(args.shell))?;
    Ok(Exit::Done)
}

/// Where a model is expected the entries of the gallery are offered, and files as before.
fn script(shell: Shell) -> String {
    let names: Vec<&str> = GALLERY.iter().map(|(name, _)| *name).collect();
    let mut command = Args::command();
    if shell == Shell::Bash {
        // falls back to files by itself
        let of_model =
            |a: Arg| if is_model(&a) { a.value_parser(PossibleValuesParser::new(&names)) } else { a };
        command = command.mut_subcommands(|c| c.mut_args(of_model));
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "specht", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let list = names.join(" ");
    match shell {
        Shell::Zsh => {
            let offered = |line: &str| match line.strip_suffix(":_default' \\") {
                Some(head) if head.contains("gallery entry") => {
                    format!("{head}:{{compadd {list}; _files}}' \\\n")
                }
                _ => format!("{line}\n"),
            };
            script.lines().map(offered).collect()
        }
        Shell::Fish => {
            let with_model = |c: &&Command| c.get_positionals().any(is_model);
            let all: Vec<&str> =
                command.get_subcommands().filter(with_model).map(Command::get_name).collect();
            let of = all.join(" ");
            format!("{script}complete -c specht -n \"__fish_seen_subcommand_from {of}\" -a \"{list}\"\n")
        }
        _ => script,
    }
}

fn is_model(arg: &Arg) -> bool {
    arg.get_id() == "model"
}

/// Print the manual page.
pub fn manual() -> Outcome {
    print(&page())?;
    Ok(Exit::Done)
}

/// The manual page, made from the help of the commands (`specht manual > specht.1`).
fn page() -> String {
    let mut command = Args::command();
    command.build();
    let mut out = format!(".TH SPECHT 1 \"\" \"specht {}\"\n.SH NAME\n", env!("CARGO_PKG_VERSION"));
    let about = |c: &Command| c.get_about().map(|s| plain(&s.to_string())).unwrap_or_default();
    out += &format!("specht \\- {}\n.SH SYNOPSIS\n.B specht\nCOMMAND [ARGUMENTS]\n", shown(&about(&command)));
    out += &format!(".SH DESCRIPTION\n{}\n.SH COMMANDS\n", shown(&after(&command)));
    for c in command.get_subcommands_mut().filter(|c| c.get_name() != "help") {
        let usage = plain(&c.render_usage().to_string());
        out += &format!(".SS {}\n{}.\n.PP\n{}\n", c.get_name(), shown(&about(c)), shown(&usage));
        for arg in c.get_arguments().filter(|a| !a.is_hide_set() && a.get_id() != "help") {
            let help = arg.get_help().map(|h| plain(&h.to_string())).unwrap_or_default();
            let written = plain(&arg.to_string());
            out += &format!(".TP\n.B {}\n{}\n", shown(&written), shown(&help));
        }
        let more = after(c);
        if !more.is_empty() {
            out += &format!(".PP\n{}\n", shown(&more));
        }
    }
    out
}

fn after(command: &Command) -> String {
    let text = command.get_after_long_help().or(command.get_after_help());
    text.map(|s| plain(&s.to_string())).unwrap_or_default()
}

/// Text for roff: no line begins with a control character, hyphens stay what they are.
fn shown(text: &str) -> String {
    let line = |l: &str| {
        let l = l.trim().replace('\\', "\\e").replace('-', "\\-");
        if l.starts_with(['.', '\'']) { format!("\\&{l}") } else { l }
    };
    text.lines().map(line).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n.br\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_offer_the_gallery_where_a_model_stands() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            assert!(script.contains("woodpecker") && script.contains("brick_wall"), "{shell}");
        }
    }

    #[test]
    fn the_manual_names_every_command_and_every_option() {
        let page = page();
        for c in Args::command().get_subcommands() {
            assert!(page.contains(&format!(".SS {}", c.get_name())), "{}", c.get_name());
            for arg in c.get_arguments().filter_map(Arg::get_long) {
                assert!(page.contains(&format!("\\-\\-{}", arg.replace('-', "\\-"))), "{arg}");
            }
        }
    }
}
