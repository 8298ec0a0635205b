//! Events of one run, folded into what the columns of a sweep ask of them: a run of a million events holds no more than one of a hundred.

use std::collections::VecDeque;

use super::columns::{Columns, Diagram};
use crate::machine::address::{Answer, Value, keep_last};
use crate::machine::run::Names;
use crate::sim::{Event, Kind, Sample, Sink, Trajectory};

/// What is known so far.
pub(super) struct Folds<'a> {
    columns: &'a Columns,
    names: &'a Names,
    answers: Vec<Answer>,
    passages: VecDeque<Event>,
}

impl<'a> Folds<'a> {
    /// Nothing has happened yet.
    pub(super) fn new(columns: &'a Columns, names: &'a Names) -> Folds<'a> {
        let answers = vec![Answer::default(); columns.questions.len()];
        Folds { columns, names, answers, passages: VecDeque::new() }
    }

    /// Answers to the questions of the columns.
    pub(super) fn answers(&self, run: &Trajectory) -> Vec<Result<Value, String>> {
        let pairs = self.columns.questions.iter().zip(&self.answers);
        pairs.map(|(question, answer)| question.answer(answer, run, self.names)).collect()
    }

    /// The last passages through the section of the diagram.
    pub(super) fn passages(&self) -> impl Iterator<Item = &Event> {
        self.passages.iter()
    }

    fn passes(&self, diagram: &Diagram, e: &Event) -> bool {
        let section = diagram.section.as_str();
        let is_contact = |k: usize| {
            let name = self.names.contacts.get(k).map_or("", String::as_str);
            name == section || name.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
        };
        e.name.as_deref() == Some(section)
            || e.kind.word() == section
            || (e.kind == Kind::Impact && e.contacts.iter().any(|c| is_contact(c.contact)))
    }

    /// One more event, in the order of time.
    pub(super) fn see(&mut self, event: &Event) {
        let mut json = None;
        for (question, answer) in self.columns.questions.iter().zip(&mut self.answers) {
            question.see(event, self.names, &mut json, answer);
        }
        if let Some((diagram, _)) = &self.columns.diagram
            && self.passes(diagram, event)
        {
            keep_last(&mut self.passages, event, diagram.last);
        }
    }
}

impl Sink for Folds<'_> {
    fn row(&mut self, _row: &Sample<'_>) -> bool {
        true
    }

    fn event(&mut self, event: &Event) -> bool {
        self.see(event);
        false
    }

    fn asks(&self, kind: Kind) -> bool {
        let section = self.columns.diagram.as_ref().map(|(diagram, _)| diagram.section.as_str());
        // impacts are passages through a contact, marks through an event of the file
        let passes = section.is_some_and(|s| s == kind.word() || matches!(kind, Kind::Impact | Kind::Mark));
        passes || self.columns.questions.iter().any(|q| q.asks(kind as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::address::Data;
    use crate::machine::table::Table;
    use crate::machine::{Machine, Run};
    use crate::sim::Outside;

    /// A wheel between two flanks that shake.
    const RATTLE: &str = r#"
        parameters  = { A = 3, e = 0.9, w = "1 rad/s" }
        coordinates = { x = { start = 0.5 } }
        body        = [{ name = "wheel", mass = 1, position = ["x", 0] }]
        force       = [{ name = "drag", along = "x", force = "-0.1*x' - 0.1" }]
        contact     = [{ name = "mesh", play = "A*sin(w*t) - x", limits = [-1, 0], restitution = "e" }]
        memory      = { n = 0 }
        event       = [{ name = "hit", on = "mesh.impact", set = { n = "n + 1" } }]
        run         = { until = "200 s", impact = "newton" }
    "#;

    fn columns(machine: &Machine, record: &[&str], diagram: Option<Diagram>) -> Columns {
        let record: Vec<String> = record.iter().map(ToString::to_string).collect();
        Columns::read(machine, &record, diagram.as_ref()).unwrap()
    }

    fn folded(
        machine: &Machine,
        columns: &Columns,
        until: f64,
    ) -> (Run, Vec<Result<Value, String>>, Vec<Event>) {
        let names = machine.names();
        let mut folds = Folds::new(columns, &names);
        let (scheme, settings) = machine.settings().unwrap();
        let settings = columns.settings(crate::sim::Settings { until, ..settings });
        let start = machine.start().unwrap();
        let run =
            machine.run_into(&start, scheme, settings, &mut Outside::default(), Some(&mut folds)).unwrap();
        let answers = folds.answers(&run.trajectory);
        let passages = folds.passages().cloned().collect();
        (run, answers, passages)
    }

    const QUESTIONS: [&str; 16] = [
        "count(events[kind=impact])",
        "count(events)",
        "count(events[kind=impact|detach, after=100])",
        "count(events[contact=mesh.low, before=50])",
        "count(events[contact=mesh].impulse_n)",
        "events[-1].time",
        "events[kind=impact][3].after.x'",
        "events[kind=impact, contact=mesh][-2].impulse_n",
        "sum(events[kind=impact, contact=mesh].impulse_n)",
        "mean(events[contact=mesh.high].impulse_n)",
        "rms(events[kind=impact].before.x')",
        "max(events[name=hit].time)",
        "min(events[kind=impact, time>20].after.x')",
        "span(events[kind=impact].after.x)",
        "first(events[kind!=mark].time)",
        "last(events[kind=mark].name)",
    ];

    #[test]
    fn questions_have_the_answers_of_the_whole_list_to_the_bit() {
        let machine = Machine::read(RATTLE).unwrap();
        let columns = columns(&machine, &QUESTIONS, None);
        assert!(columns.folds());
        assert_eq!(columns.questions.len(), QUESTIONS.len());
        let (run, answers, _) = folded(&machine, &columns, 200.0);
        assert!(run.trajectory.events.is_empty());
        let whole = machine.run().unwrap();
        assert!(whole.trajectory.events.len() > 200, "{}", whole.trajectory.events.len());
        let json = whole.parts(&["events".to_string()]);
        for (question, answer) in QUESTIONS.iter().zip(answers) {
            let data = Data { run: &json, table: &Table::default(), locals: &[] };
            let expected = crate::machine::address::evaluate(question, &data);
            let bits = |v: &Result<Value, String>| match v {
                Ok(Value::Number(x)) => Err(x.to_bits()),
                Ok(Value::List(list)) => Ok(format!("{list:?}")),
                other => Ok(format!("{other:?}")),
            };
            assert!(expected.is_ok(), "{question}: {expected:?}");
            assert_eq!(bits(&answer), bits(&expected), "{question}: {answer:?} {expected:?}");
        }
    }

    #[test]
    fn a_question_without_an_answer_says_why_as_the_whole_list_does() {
        let machine = Machine::read(RATTLE).unwrap();
        let asked =
            ["events[kind=impact, after=1e3][2].time", "max(events[kind=stick].time)", "sum(events.name)"];
        let columns = columns(&machine, &asked, None);
        let (_, answers, _) = folded(&machine, &columns, 50.0);
        let json = machine.clone().until(50.0).run().unwrap().parts(&["events".to_string()]);
        for (question, answer) in asked.iter().zip(answers) {
            let data = Data { run: &json, table: &Table::default(), locals: &[] };
            assert_eq!(answer, crate::machine::address::evaluate(question, &data), "{question}");
            assert!(answer.is_err(), "{question}");
        }
    }

    #[test]
    fn lists_that_are_needed_whole_are_kept() {
        let machine = Machine::read(RATTLE).unwrap();
        for text in
            ["std(events[kind=impact].time)", "count(diff(events.time))", "quantile(events.time, 0.5)"]
        {
            assert!(!columns(&machine, &[text], None).folds(), "{text}");
        }
    }

    /// Counted in events that are in memory, at their most: twenty times as many happen, no more are kept.
    #[test]
    fn a_long_run_holds_as_many_events_as_a_short_one() {
        let machine = Machine::read(RATTLE).unwrap();
        let section = Diagram { section: "mesh".into(), last: 10, values: "after.x'".into() };
        let record = ["sum(events[kind=impact].after.x')", "events[kind=impact][-5].time"];
        let columns = columns(&machine, &record, Some(section));
        let kept = |until: f64| {
            let (run, _, passages) = folded(&machine, &columns, until);
            let last: Vec<f64> = passages.iter().map(|e| e.time).collect();
            assert!(last.len() == 10 && last.is_sorted() && last[9] > 0.9 * until, "{last:?}");
            (run.trajectory.counts.all_events(), run.trajectory.events.capacity())
        };
        let ((few, small), (many, large)) = (kept(200.0), kept(4000.0));
        assert!(many > 15 * few, "{few} {many}");
        assert!(large <= small.max(512), "{small} {large}");
    }

    #[test]
    fn events_that_nobody_asks_for_are_not_made() {
        let machine = Machine::read(RATTLE).unwrap();
        let columns =
            columns(&machine, &["counts.events.impact", "count(events[kind=mark])", "final.n"], None);
        let (run, answers, _) = folded(&machine, &columns, 500.0);
        assert_eq!(run.trajectory.events.capacity(), 0);
        assert_eq!(answers, [Ok(Value::Number(run.trajectory.last.state.memory[0]))]);
    }
}
