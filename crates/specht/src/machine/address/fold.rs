//! Questions about events that are answered while a run goes on, so that it keeps none of the others
//!
//! ```text
//! f(events[…].path)                f one of count, sum, max, min, span, mean, rms, first, last
//! events[…][k].path                the first |k| or the last |k| events are enough
//! ```
//!
//! An address is split into these questions and an expression of their answers. Everything else about events (`std`, `quantile`, `diff`,
//! words of contacts) needs the whole list: such an address is not split. The answers are those of the whole list, to the bit: entries
//! are read by the same code and added in the same order.

use std::collections::VecDeque;

use serde_json::{Value as Json, json};

use super::eval::{Sums, Value, from_found};
use super::path::{holds, is_of, walk};
use super::{Address, Ast};
use crate::expr::{CompareOp, Condition, Expr, Kind as Node, Step, address};
use crate::machine::record::event as written;
use crate::machine::run::Names;
use crate::sim::{Event, KINDS, Trajectory};

/// One question: what is asked of which events.
#[derive(Clone, Debug)]
pub(in crate::machine) struct Question {
    /// From `events` on.
    steps: Vec<Step>,
    ask: Ask,
    /// Kinds of events that may count.
    kinds: [bool; KINDS.len()],
}

#[derive(Clone, Debug)]
enum Ask {
    /// How many of these kinds: the run counts them itself.
    Kinds,
    /// A function of all entries.
    Function(String),
    /// The first so many.
    First(usize),
    /// The last so many.
    Last(usize),
}

/// What is known of the answer to one question so far.
#[derive(Clone, Debug, Default)]
pub(in crate::machine) struct Answer {
    kept: VecDeque<Event>,
    sums: Sums,
    ends: Option<[Value; 2]>,
    error: Option<String>,
}

impl Address {
    /// The address with its questions about events split off; their answers are the locals of [`Question::local`], numbered from `first` on.
    /// `None` when something it asks about events needs them all.
    pub(in crate::machine) fn split(&self, first: usize) -> Option<(Address, Vec<Question>)> {
        let mut questions = Vec::new();
        let mut root = self.ast.root.clone();
        let ast = |root| Ast { source: self.ast.source.clone(), root };
        split(&mut root, first, &mut questions)
            .then(|| (Address { text: self.text.clone(), ast: ast(root) }, questions))
    }
}

fn split(node: &mut Expr, first: usize, out: &mut Vec<Question>) -> bool {
    if let Some(question) = Question::of(node) {
        node.kind = Node::Address(None, vec![Step::Key(Question::local(first + out.len()))]);
        out.push(question);
        return true;
    }
    let mut all = |list: &mut [Expr]| list.iter_mut().all(|e| split(e, first, out));
    match &mut node.kind {
        Node::Address(None, steps) => !matches!(steps.first(), Some(Step::Key(key)) if key == "events"),
        Node::Address(Some(inner), _) | Node::Neg(inner) | Node::Not(inner) => split(inner, first, out),
        Node::Call { args, .. } => all(args),
        Node::Pow(a, b, _) | Node::Compare(_, a, b, _) => split(a, first, out) && split(b, first, out),
        Node::Chain(start, links) => {
            split(start, first, out) && links.iter_mut().all(|l| split(&mut l.expr, first, out))
        }
        Node::And(list) | Node::Or(list) => all(list),
        Node::Number { .. } | Node::Text(_) | Node::Name { .. } | Node::Range { .. } => true,
    }
}

impl Question {
    /// The name under which answer `k` stands among the locals; nobody can write it.
    pub(in crate::machine) fn local(k: usize) -> String {
        format!("#{k}")
    }

    fn of(node: &Expr) -> Option<Question> {
        let (ask, steps) = match &node.kind {
            Node::Call { name, primes: 0, args, .. } => match args.as_slice() {
                [Expr { kind: Node::Address(None, steps), .. }] if Sums::FOLDED.contains(&name.as_str()) => {
                    (Some(name.clone()), steps)
                }
                _ => return None,
            },
            Node::Address(None, steps) => (None, steps),
            _ => return None,
        };
        let (Step::Key(key), rest) = steps.split_first()? else { return None };
        let filters = rest.iter().take_while(|s| matches!(s, Step::Filter(_))).count();
        let (filters, path) = rest.split_at(filters);
        if key != "events" || path.iter().any(|s| matches!(s, Step::Filter(_))) {
            return None;
        }
        let kinds = KINDS.map(|kind| {
            conditions(filters).filter(|c| c.key == "kind").all(|c| holds(&json!({ "kind": kind.word() }), c))
        });
        let indexed = path.iter().any(|s| matches!(s, Step::Index(_)));
        let ask = match (ask, path) {
            (Some(f), []) if f == "count" && conditions(filters).all(|c| c.key == "kind") => Ask::Kinds,
            (Some(f), _) if !indexed => Ask::Function(f),
            (None, [Step::Index(k), ..]) if *k > 0 => Ask::First(*k as usize),
            (None, [Step::Index(k), ..]) if *k < 0 => Ask::Last(k.unsigned_abs() as usize),
            _ => return None,
        };
        Some(Question { steps: steps.clone(), ask, kinds })
    }

    /// Whether it must see events of a kind, by its number.
    pub(in crate::machine) fn asks(&self, kind: usize) -> bool {
        self.kinds[kind] && !matches!(self.ask, Ask::Kinds)
    }

    fn conditions(&self) -> impl Iterator<Item = &Condition> {
        conditions(&self.steps)
    }

    /// Whether an event counts; `json` is made when it is needed.
    fn counts(&self, event: &Event, names: &Names, json: &mut Option<Json>) -> bool {
        self.asks(event.kind as usize)
            && self.conditions().filter(|c| c.key != "kind").all(|c| match plainly(event, c, names) {
                Some(so) => so,
                None => holds(json.get_or_insert_with(|| as_json(event, names)), c),
            })
    }

    /// One more event of the run.
    pub(in crate::machine) fn see(
        &self,
        event: &Event,
        names: &Names,
        json: &mut Option<Json>,
        answer: &mut Answer,
    ) {
        if !self.counts(event, names, json) {
            return;
        }
        match &self.ask {
            Ask::Kinds => {}
            Ask::First(n) if answer.kept.len() >= *n => {}
            Ask::First(_) => answer.kept.push_back(event.clone()),
            Ask::Last(n) => keep_last(&mut answer.kept, event, *n),
            Ask::Function(f) => {
                if f == "count" && self.steps.iter().skip(1).all(|s| matches!(s, Step::Filter(_))) {
                    return answer.sums.add(0.0);
                }
                let entry = json.get_or_insert_with(|| as_json(event, names)).clone();
                let number = answer.sums.count() as usize + 1;
                match self.entry(entry).and_then(|value| answer.add(f, value)) {
                    Ok(()) => {}
                    Err(why) if answer.error.is_none() => {
                        // which one of all
                        answer.error = Some(why.replacen("entry 1:", &format!("entry {number}:"), 1));
                    }
                    Err(_) => {}
                }
            }
        }
    }

    /// What the path makes of one event.
    fn entry(&self, event: Json) -> Result<Value, String> {
        match self.value(vec![event])? {
            Value::List(mut list) if list.len() == 1 => Ok(list.remove(0)),
            other => Ok(other),
        }
    }

    fn value(&self, events: Vec<Json>) -> Result<Value, String> {
        let root = json!({ "events": events });
        let found = walk(&root, &self.steps).map_err(|e| format!("`{}`: {e}", address(&self.steps)))?;
        Ok(from_found(&found))
    }

    /// The answer, when the run has ended.
    pub(in crate::machine) fn answer(
        &self,
        answer: &Answer,
        run: &Trajectory,
        names: &Names,
    ) -> Result<Value, String> {
        match &self.ask {
            Ask::Kinds => {
                let counts = run.counts.events.iter().zip(self.kinds);
                Ok(Value::Number(counts.filter(|(_, asked)| *asked).map(|(n, _)| *n as f64).sum()))
            }
            Ask::First(_) | Ask::Last(_) => {
                self.value(answer.kept.iter().map(|e| as_json(e, names)).collect())
            }
            Ask::Function(f) => match (&answer.error, &answer.ends) {
                (Some(why), _) => Err(why.clone()),
                (None, Some([first, _])) if f == "first" => Ok(first.clone()),
                (None, Some([_, last])) if f == "last" => Ok(last.clone()),
                _ => answer.sums.value(f).map(Value::Number),
            },
        }
    }
}

impl Answer {
    fn add(&mut self, f: &str, value: Value) -> Result<(), String> {
        match f {
            "first" | "last" => {
                let first = self.ends.take().map_or_else(|| value.clone(), |[first, _]| first);
                self.ends = Some([first, value]);
                self.sums.add(0.0);
            }
            "count" => self.sums.add(0.0),
            _ => self.sums.add(value.number("an entry of the list")?),
        }
        Ok(())
    }
}

/// Keeps the last `n`.
pub(in crate::machine) fn keep_last(kept: &mut VecDeque<Event>, event: &Event, n: usize) {
    if kept.len() >= n {
        kept.pop_front();
    }
    if n > 0 {
        kept.push_back(event.clone());
    }
}

fn conditions(steps: &[Step]) -> impl Iterator<Item = &Condition> {
    let list = steps.iter().map(|s| if let Step::Filter(list) = s { list.as_slice() } else { &[] });
    list.flatten()
}

fn as_json(event: &Event, names: &Names) -> Json {
    serde_json::to_value(written(event, names)).unwrap_or_default()
}

/// A condition on time, contact or name asked of the event itself; `None` for all others, which are asked of its JSON.
fn plainly(event: &Event, c: &Condition, names: &Names) -> Option<bool> {
    let equal = match c.op {
        CompareOp::Eq => true,
        CompareOp::Ne => false,
        _ => return (c.key == "time").then(|| Some(c.op.holds(event.time, c.number?))).flatten(),
    };
    match (c.key.as_str(), c.number) {
        ("after", Some(bound)) if event.time.is_finite() => Some(event.time > bound),
        ("before", Some(bound)) if event.time.is_finite() => Some(event.time < bound),
        ("contact", _) if !c.text.contains('|') => {
            let name = |k: usize| names.contacts.get(k).map_or("", String::as_str);
            Some(event.contacts.iter().any(|p| is_of(name(p.contact), &c.text)) == equal)
        }
        ("name", None) if !c.text.contains('|') => Some((event.name.as_deref() == Some(&*c.text)) == equal),
        _ => None,
    }
}
