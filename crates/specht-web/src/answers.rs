//! What the page may ask, and the answers.

use serde::Deserialize;
use serde_json::{Value as Json, json};
use specht::analysis::Watch;
use specht::machine::task::KINDS;
use specht::machine::{Complaint, Diagnostic, Error, Machine, Options, Setup, Severity, Source};
use specht::sim::Outside;
use specht_cli::host;

/// Called with the part that is done, 0 to 1.
type Progress<'a> = &'a (dyn Fn(f64) + Sync);

/// A question of the page.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase", deny_unknown_fields)]
enum Question {
    /// Names and sentences of the gallery, kinds of analyses, the schema of the file.
    Hello,
    /// The text of an entry of the gallery.
    Open { name: String },
    /// What is wrong with a text; its parameters, names and questions.
    Check(Typed),
    /// The report of a run.
    Run(Typed),
    /// The answer to a question under `[[task]]`, by its name.
    Task {
        #[serde(flatten)]
        typed: Typed,
        name: String,
    },
    /// A page of `specht explain`.
    Explain { topic: String },
}

/// A model as typed.
#[derive(Deserialize)]
struct Typed {
    text: String,
    /// The entry of the gallery whose files stand beside the text.
    #[serde(default)]
    beside: Option<String>,
    /// Values in SI units that differ from the text.
    #[serde(default)]
    set: Vec<(String, f64)>,
    #[serde(default)]
    case: Option<String>,
    #[serde(default)]
    until: Option<f64>,
}

/// The answer to a question, both as JSON. What cannot be answered has the key `error`.
pub fn answer(question: &str, progress: Progress) -> String {
    let said = match serde_json::from_str(question) {
        Ok(question) => reply(question, progress),
        Err(e) => json!({ "error": format!("the question cannot be read: {e}") }),
    };
    said.to_string()
}

fn reply(question: Question, progress: Progress) -> Json {
    match question {
        Question::Hello => hello(),
        Question::Open { name } => match host::entry(&name) {
            Some(source) => json!({ "text": source.text }),
            None => json!({ "error": format!("there is no entry `{name}` in the gallery") }),
        },
        Question::Check(typed) => machine(&typed).and_then(|m| check(&m)).unwrap_or_else(|e| wrong(&e)),
        Question::Run(typed) => machine(&typed).and_then(|m| run(&m, progress)).unwrap_or_else(|e| wrong(&e)),
        Question::Task { typed, name } => {
            machine(&typed).and_then(|m| task(&m, &name, progress)).unwrap_or_else(|e| wrong(&e))
        }
        Question::Explain { topic } => match host::explain(&topic) {
            Some(text) => json!({ "text": text }),
            None => json!({ "error": format!("there is no page `{topic}`") }),
        },
    }
}

fn hello() -> Json {
    let gallery: Vec<Json> =
        host::sentences().map(|(name, about)| json!({ "name": name, "about": about })).collect();
    let kinds: Vec<Json> = KINDS.iter().map(|k| json!({ "name": k.name, "keys": k.keys })).collect();
    let schema: Json = serde_json::from_str(&specht::machine::schema()).unwrap_or_default();
    json!({ "version": env!("CARGO_PKG_VERSION"), "gallery": gallery, "kinds": kinds, "schema": schema })
}

fn machine(typed: &Typed) -> Result<Machine, Error> {
    let mut source = Source { label: "model".into(), ..Source::text(&typed.text) };
    if let Some(entry) = typed.beside.as_deref().and_then(host::entry) {
        source.files = entry.files;
    }
    let options = Options { case: typed.case.clone().filter(|c| !c.is_empty()), ..Options::default() };
    let mut machine = Machine::new(source, options)?;
    for (name, value) in &typed.set {
        let unit = machine.model().unit(name).to_string();
        machine = machine.with(name, format!("{value} {unit}").trim_end())?;
    }
    Ok(machine.set_up(Setup { until: typed.until, ..Setup::default() }))
}

fn check(machine: &Machine) -> Result<Json, Error> {
    machine.start()?;
    machine.check_tasks()?;
    let model = machine.model();
    let parameter = |p: &specht::model::Parameter| {
        let unit = model.unit(&p.name);
        json!({ "name": p.name, "value": p.value, "range": p.range, "about": p.about, "unit": unit })
    };
    let parameters: Vec<Json> = model.parameters.iter().map(parameter).collect();
    let tasks: Vec<Json> = model.tasks.iter().map(|t| json!({ "name": t.name, "kind": t.analyse })).collect();
    let names = machine.names();
    let names: Vec<String> = [names.coordinates, names.states, names.contacts, names.outputs].concat();
    Ok(json!({
        "name": model.name, "about": model.about, "parameters": parameters, "names": names,
        "cases": model.cases, "tasks": tasks,
        "marks": marks(&machine.warnings, &machine.source.text),
    }))
}

fn run(machine: &Machine, progress: Progress) -> Result<Json, Error> {
    let until = machine.settings()?.1.until;
    let mut see = |t: f64| progress(t / until);
    let mut outside = Outside { interrupt: None, progress: Some(&mut see) };
    let run = machine.run_with(&mut outside)?;
    let record = serde_json::to_value(run.record()).unwrap_or_default();
    Ok(json!({ "page": host::page(&run), "final": record["final"], "status": record["status"] }))
}

fn task(machine: &Machine, name: &str, progress: Progress) -> Result<Json, Error> {
    let Some(task) = machine.model().tasks.iter().find(|t| t.name == name) else {
        return Err(Error::plain(format!("the model has no task `{name}`"), ""));
    };
    machine.check_tasks()?;
    let mut machine = machine.clone();
    if machine.settings().is_err() {
        machine.setup.until = Some(1.0);
    }
    let finding = machine.answer(task, Watch { interrupt: None, progress: Some(progress) })?;
    let words = host::words(&task.analyse, &machine.model().name, &finding);
    Ok(json!({
        "words": words, "picture": host::picture(&finding), "explain": finding.explain(),
        "finding": serde_json::to_value(&finding).unwrap_or_default(),
    }))
}

/// What is wrong, with its places in the text.
fn wrong(error: &Error) -> Json {
    let text = host::message(error.clone());
    let marks = match (error.complaint(), error.origin()) {
        (Complaint::Located { list, .. }, Some((source, _))) => marks(list, &source.text),
        _ => Vec::new(),
    };
    json!({ "error": text, "marks": marks })
}

/// Messages with the places that they mark, counted as the page counts letters.
fn marks(list: &[Diagnostic], text: &str) -> Vec<Json> {
    let before = |at: usize| text.char_indices().take_while(move |(k, _)| *k < at);
    let letters = |at: usize| before(at).map(|(_, c)| c.len_utf16()).sum::<usize>();
    let one = |d: &Diagnostic| {
        let mut mark =
            json!({ "error": d.severity == Severity::Error, "message": d.message, "help": d.help });
        // the place may be in a value of a slider instead
        if d.origin == Default::default() {
            mark["from"] = letters(d.span.start).into();
            mark["to"] = letters(d.span.end).into();
        }
        mark
    };
    list.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::answer;
    use serde_json::{Value as Json, json};

    fn ask(question: Json) -> Json {
        serde_json::from_str(&answer(&question.to_string(), &|_| {})).unwrap()
    }

    #[test]
    fn an_entry_is_opened_checked_changed_and_run() {
        let hello = ask(json!({ "ask": "hello" }));
        assert!(hello["gallery"].as_array().unwrap().iter().any(|e| e["name"] == "woodpecker"));
        assert!(hello["schema"]["properties"]["contact"].is_object());
        let text = ask(json!({ "ask": "open", "name": "woodpecker" }))["text"].clone();
        let seen = ask(json!({ "ask": "check", "text": text, "beside": "woodpecker" }));
        assert!(seen["parameters"].as_array().unwrap().iter().any(|p| p["name"] == "mu1"), "{seen}");
        let run = |mu: f64| {
            ask(json!({ "ask": "run", "text": text, "set": [["mu1", mu]], "until": 0.5 }))["final"].clone()
        };
        assert_ne!(run(0.3)["y"], run(0.4)["y"]);
        assert_eq!(run(0.3), run(0.3));
    }

    #[test]
    fn a_mistake_is_marked_where_the_page_counts_it() {
        let text = "# µ\n[coordinates]\nx = \"1 + fi\"\n";
        let said = ask(json!({ "ask": "check", "text": text }));
        let mark = &said["marks"][0];
        let from = mark["from"].as_u64().unwrap() as usize;
        let to = mark["to"].as_u64().unwrap() as usize;
        let letters: Vec<u16> = text.encode_utf16().collect();
        assert_eq!(String::from_utf16(&letters[from..to]).unwrap(), "fi", "{said}");
    }

    #[test]
    fn questions_that_mean_nothing_are_refused() {
        for question in [
            json!({}),
            json!({ "ask": "fly" }),
            json!({ "ask": "open", "name": "nothing" }),
            json!({ "ask": "run", "text": "", "until": -1.0 }),
            json!({ "ask": "task", "text": "[coordinates]\nx = 1", "name": "none" }),
            json!({ "ask": "check", "text": "[coordinates]\nx = 1\n[[task]]\nname = \"t\"\nanalyse = \"rest\"\nlod = 1" }),
            json!({ "ask": "explain", "topic": "nothing" }),
        ] {
            assert!(ask(question.clone())["error"].is_string(), "{question}");
        }
    }
}
