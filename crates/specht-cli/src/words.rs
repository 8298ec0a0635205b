//! Findings in words, for the terminal, made from the same values as their data.

mod fit;
mod space;
pub mod sweep;
mod vibration;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use specht::analysis::BorderKind as Kind;
use specht::analysis::Character;
use specht::analysis::Outcome;
use specht::analysis::PointVerdict;
use specht::analysis::RestVerdict;
use specht::analysis::Verdict;
use specht::machine::finding::{
    AlongFinding, BorderPlace, Critical, Finding, HereFinding, HereSolution, LoadStatisticsFinding,
    MapFinding, Range, RestFinding, SelfBrakingFinding, StatisticsFinding, TensorFinding, TrueMotionFinding,
};
use specht::machine::json::Num;

const BOLD: Style = Style::new().bold();
const fn colour(c: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(anstyle::Color::Ansi(c)))
}
pub const GOOD: Style = colour(AnsiColor::Green);
pub const WARN: Style = colour(AnsiColor::Yellow);
pub const BAD: Style = colour(AnsiColor::Red);

/// A finding of this kind about this model. `kept`: where data and picture were written.
pub fn words(kind: &str, model: &str, finding: &Finding, kept: Option<&std::path::Path>) -> String {
    let mut out = format!("{BOLD}{model}{BOLD:#}  {kind}\n");
    match finding {
        Finding::Here(f) => here(f, &mut out),
        Finding::Map(f) => map(f, &mut out),
        Finding::Along(f) => along(f, &mut out),
        Finding::TrueMotion(f) => true_motion(f, &mut out),
        Finding::Rest(f) => rest(f, &mut out),
        Finding::SelfBraking(f) => self_braking(f, &mut out),
        Finding::Tensor(f) => tensor(f, &mut out),
        Finding::Load(f) => loads(f, &mut out),
        Finding::Statistics(f) => statistics(f, &mut out),
        Finding::LimitCycle(f) => crate::words_cycle::limit_cycle(f, &mut out),
        Finding::Equilibrium(f) => vibration::equilibrium(f, &mut out),
        Finding::Modes(f) => vibration::modes(f, &mut out),
        Finding::Response(f) => vibration::response(f, &mut out),
        Finding::BreakAway(f) => vibration::break_away(f, &mut out),
        Finding::Stability(f) => vibration::stability(f, &mut out),
        Finding::QuasiStatic(f) => vibration::quasi_static(f, &mut out),
        Finding::ReturnMap(f) => crate::words_cycle::return_map(f, &mut out),
        Finding::Lyapunov(f) => crate::words_cycle::lyapunov(f, &mut out),
        Finding::Branch(f) => crate::words_cycle::branch(f, &mut out),
        Finding::Fit(f) => fit::fit(f, &mut out),
        Finding::FrictionLaw(f) => fit::friction_law(f, &mut out),
        Finding::Basin(f) => crate::words_cycle::basin(f, &mut out),
        Finding::Sweep(f) => out += &format!("  {} rows\n", f.rows.len()),
    }
    if let Some(folder) = kept {
        out += &format!("  kept    {}\n", folder.display());
    } else {
        out += "  more    --json prints every number, --out DIR keeps them with the picture\n";
    }
    out + &format!("  page    specht explain {}\n", finding.explain())
}

/// A value in words: numbers with six digits.
trait Say {
    fn say(&self) -> String;
}

impl Say for f64 {
    fn say(&self) -> String {
        if self.is_finite() { short(*self) } else { "–".into() }
    }
}

impl Say for Num {
    fn say(&self) -> String {
        match self.0 {
            f64::INFINITY => "∞".into(),
            f64::NEG_INFINITY => "-∞".into(),
            x => x.say(),
        }
    }
}

impl<T: Say> Say for Option<T> {
    fn say(&self) -> String {
        self.as_ref().map_or("–".into(), Say::say)
    }
}

impl<T: Say> Say for [T] {
    fn say(&self) -> String {
        format!("[{}]", self.iter().map(Say::say).collect::<Vec<_>>().join(", "))
    }
}

impl<T: Say, const N: usize> Say for [T; N] {
    fn say(&self) -> String {
        self.as_slice().say()
    }
}

impl Say for Range {
    fn say(&self) -> String {
        match self {
            Range::One(x) => x.say(),
            Range::Between(ends) => ends.say(),
        }
    }
}

impl Say for Critical {
    fn say(&self) -> String {
        match self {
            Critical::None => "–".into(),
            Critical::One(x) => x.say(),
            Critical::Each(all) => serde_json::to_string(all).unwrap_or_default(),
        }
    }
}

/// A number of six digits with its unit.
pub fn quantity(x: f64, unit: &str) -> String {
    let number = x.say();
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

/// Six digits, without zeros that say nothing.
pub fn short(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let size = x.abs();
    if !(1e-4..1e7).contains(&size) {
        let text = format!("{x:.5e}");
        return match text.split_once('e') {
            Some((m, e)) if m.contains('.') => {
                format!("{}e{e}", m.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => text,
        };
    }
    let digits = (5 - size.log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn verdict(v: Verdict) -> String {
    match v {
        Verdict::Unique => format!("{GOOD}one solution{GOOD:#}"),
        Verdict::Several => format!("{WARN}several solutions{WARN:#}"),
        Verdict::Family => format!("{WARN}a continuum of solutions{WARN:#}"),
        Verdict::None => format!("{BAD}no solution{BAD:#}"),
    }
}

fn or_open(v: Option<Verdict>) -> String {
    v.map_or("no frictional contact closed".into(), verdict)
}

/// The word that the data have for it.
pub fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default()
}

/// Columns of a table, the first to the left, numbers to the right.
fn table(head: &[&str], rows: &[Vec<String>], out: &mut String) {
    let width = |k: usize| {
        rows.iter().map(|r| r[k].chars().count()).chain([head[k].chars().count()]).max().unwrap_or(0)
    };
    // numbers stand under each other by their ends, words by their beginnings
    let words = |k: usize| k == 0 || rows.iter().any(|r| r[k].contains(", "));
    let line = |cells: &[String], out: &mut String| {
        let mut text = String::from("  ");
        for (k, cell) in cells.iter().enumerate() {
            let space = " ".repeat(width(k).saturating_sub(cell.chars().count()));
            let between = if k == 0 { "" } else { "  " };
            text +=
                &if words(k) { format!("{between}{cell}{space}") } else { format!("{between}{space}{cell}") };
        }
        *out += text.trim_end();
        out.push('\n');
    };
    line(&head.iter().map(|h| h.to_string()).collect::<Vec<_>>(), out);
    rows.iter().for_each(|r| line(r, out));
}

fn here(f: &HereFinding, out: &mut String) {
    let border = || format!("{WARN}on the border{WARN:#}, where a solution goes to infinity");
    *out += &format!("  at t = {} s: {}\n", f.time.say(), f.verdict.map_or_else(border, verdict));
    if !f.contacts.is_empty() {
        let row = |(k, name): (usize, &String)| {
            let index = f.index.0[k].0[k].say();
            let numbers = [f.frictionless.0[k].say(), f.mu.0[k].say(), f.critical_mu.0[k].say()];
            [name.clone(), index].into_iter().chain(numbers).collect()
        };
        let rows: Vec<Vec<String>> = f.contacts.iter().enumerate().map(row).collect();
        table(&["contact", "L", "R⁰, N", "μ", "critical μ"], &rows, out);
    }
    if let Some(b) = f.beside {
        let (less, more) = (verdict(b.less), verdict(b.more));
        *out += &format!("  with a little less friction {less}, with more {more}\n");
    }
    if f.contacts.len() > 1 && f.critical_factor.0.is_finite() {
        let factor = f.critical_factor.say();
        *out += &format!("  this load has one solution until all friction is {factor} times as large");
        if f.safe_factor.0.is_finite() {
            *out += &format!("; any load has until {}", f.safe_factor.say());
        }
        out.push('\n');
    }
    for (k, s) in f.solutions.iter().enumerate() {
        *out += &format!("  {}       {}\n", k + 1, solution(s, f.solutions.len() > 1));
    }
    for (name, range) in f.family.iter().flat_map(|f| f.iter()) {
        *out += &format!("  {name} anywhere in {}\n", range.say());
    }
    if !f.complete {
        *out += "  the search for solutions was not finished: there may be more\n";
    }
    space::directions(f, out);
}

fn solution(s: &HereSolution, several: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (name, c) in s.contacts.iter() {
        parts.push(format!("{name} {}, normal {} N", c.mode.word(), c.normal.say()));
    }
    for (name, x) in s.accel.iter() {
        parts.push(format!("{name} = {}", x.say()));
    }
    if let Some(fast) = &s.fast {
        let c = fast.character.word();
        if fast.may_flutter {
            parts.push(format!("({c} with these stiffnesses of the contacts, flutter with others)"));
        } else if several || fast.character != Character::Centre {
            parts.push(format!("({c})"));
        }
    }
    parts.join("; ")
}

fn map(f: &MapFinding, out: &mut String) {
    let counts = || f.map.axes.iter().map(|a| a.count);
    let sizes: Vec<String> = counts().map(|n| n.to_string()).collect();
    let total: f64 = counts().map(|n| n as f64).product();
    *out += &format!("  contact {} over {}: {} points\n", f.contact, f.axes.join(" and "), sizes.join(" × "));
    if !f.complete {
        *out += &format!(
            "  {WARN}interrupted{WARN:#} with {:.0} % of the grid done; this is what is known\n",
            100.0 * f.done
        );
    }
    let mut known = 0.0;
    for v in [Verdict::Unique, Verdict::Several, Verdict::None, Verdict::Family] {
        let n = f.map.count(v) as f64;
        known += n;
        if n > 0.0 {
            *out += &format!("  {:>5.1} %  {}\n", 100.0 * n / total, verdict(v));
        }
    }
    if known < total {
        let why = f.undefined.as_ref().map(|w| format!(": {w}")).unwrap_or_default();
        *out += &format!("  {:>5.1} %  not defined{why}\n", 100.0 * (total - known) / total);
    }
    for (kind, name) in [(Kind::Index, "μ|L| = 1 "), (Kind::Frictionless, "R⁰ = 0   ")] {
        borders(f, kind, name, out);
    }
    for j in f.junctions.iter().flatten().take(12) {
        let at: Vec<String> = f.axes.iter().zip(j).map(|(a, x)| format!("{a} = {}", x.say())).collect();
        *out += &format!("  borders meet at {}\n", at.join(", "));
    }
    if let Some(l) = &f.largest {
        let at: Vec<String> = l.largest_at.iter().map(|(a, v)| format!("{a} = {}", v.say())).collect();
        let (mu, index) = (l.least_critical_mu.say(), l.largest_index.say());
        *out += &format!("  smallest critical μ {mu} (|L| = {index}) at {}\n", at.join(", "));
    }
}

fn borders(f: &MapFinding, kind: Kind, name: &str, out: &mut String) {
    let (mut values, mut lines, mut points) = (Vec::new(), 0, 0);
    for b in f.borders.iter().filter(|b| b.kind == kind) {
        match &b.at {
            BorderPlace::Value(at) => values.extend(at.iter().map(|(_, x)| x.say())),
            BorderPlace::Line { points: line } => {
                lines += 1;
                points += line.len();
            }
        }
    }
    if lines > 0 {
        *out += &format!("  {name} {lines} lines, {points} points located\n");
    }
    if !values.is_empty() {
        let more = if values.len() > 12 { ", …" } else { "" };
        values.truncate(12);
        *out += &format!("  {name} at {} = {}{more}\n", f.axes[0], values.join(", "));
    }
}

fn along(f: &AlongFinding, out: &mut String) {
    *out += &format!("  run {} at t = {} s", f.status.word(), f.time.say());
    *out += &if f.message.is_empty() { "\n".into() } else { format!(": {}\n", f.message) };
    for s in f.spans.iter().take(40) {
        *out += &format!("  {} … {} s  {}\n", s.from.say(), s.to.say(), or_open(s.verdict));
    }
    if f.spans.len() > 40 {
        *out += &format!("  … and {} more parts\n", f.spans.len() - 40);
    }
    for b in f.borders.iter().take(12) {
        let what = if b.kind == Kind::Index { "μ|L| = 1" } else { "R⁰ = 0" };
        let who = b.contact.as_ref().map(|c| format!(" of {c}")).unwrap_or_default();
        *out += &format!("  border {what}{who} at t = {} s\n", b.time.say());
    }
    if f.borders.len() > 12 {
        *out += &format!("  … and {} more borders\n", f.borders.len() - 12);
    }
    for (name, n) in f.nearest.iter() {
        *out += &format!(
            "  {name} comes nearest to its paradox at t = {} s: critical μ {}, μ = {}\n",
            n.time.say(),
            n.critical_mu.say(),
            n.mu.say()
        );
    }
}

fn true_motion(f: &TrueMotionFinding, out: &mut String) {
    let outcome = match &f.outcome {
        Outcome::Rigid { reactions } => {
            format!("{GOOD}the motion goes on{GOOD:#}, reactions {} N", reactions.say())
        }
        Outcome::TangentialImpact { .. } => {
            format!("{WARN}tangential impact{WARN:#}: the sliding stops at once")
        }
        Outcome::Seizure { .. } => format!("{BAD}seizure{BAD:#}: the mechanism stops at once"),
        Outcome::Undecided => {
            format!("{WARN}undecided{WARN:#}: the fast motion of the reactions neither settles nor grows")
        }
    };
    *out += &format!("  {outcome}\n");
    *out += &format!(
        "  contact {}: μ|L| = {}, R⁰ = {} N; rigid model: {}\n",
        f.contact,
        f.mu_index.say(),
        f.frictionless.say(),
        verdict(f.verdict)
    );
    if let Some(s) = &f.stop {
        let after: Vec<String> = s.after.iter().map(|(n, v)| format!("{n} = {}", v.say())).collect();
        *out += &format!(
            "  impulses {} N s (normal), {} N s (tangential), energy lost {} J; after: {}\n",
            s.impulse_n.say(),
            s.impulse_t.say(),
            s.loss.say(),
            after.join(", ")
        );
    }
    if let Some(range) = f.bounded_reactions {
        *out += &format!("  reactions at the start that stay bounded: {} N\n", range.say());
    }
    if let Some(d) = f.duration {
        let (full, book) = (d.dt_full.say(), d.dt_book.say());
        *out += &format!(
            "  stops within {full} s (what a stiff contact tends to; by the formula of the book {book} s)\n"
        );
    }
}

fn rest(f: &RestFinding, out: &mut String) {
    let words = match f.verdict {
        RestVerdict::Stays => format!("{GOOD}stays at rest{GOOD:#}"),
        RestVerdict::Moves => format!("{WARN}starts to move{WARN:#}"),
        RestVerdict::Both => format!("{WARN}rest and motion are both possible{WARN:#}"),
        RestVerdict::None => f.verdict.word().to_string(),
    };
    *out += &format!("  {words}\n");
    let sign = |s: &f64| if *s > 0.0 { "+" } else { "−" };
    let direction: Vec<String> =
        f.direction.iter().filter_map(|(n, v)| v.as_ref().map(|s| format!("{n} {}", sign(s)))).collect();
    if !direction.is_empty() && f.verdict != RestVerdict::Stays {
        *out += &format!("  direction of motion: {}\n", direction.join(", "));
    }
    if let Some(book) = f.book.filter(|b| b.differs) {
        *out += &format!("  the textbook theorem says: {}\n", word(&book.verdict));
    }
    if let Some(l) = &f.start_load {
        *out += &format!(
            "  rest is possible for {} from {} to {} (now {})\n",
            l.parameter,
            l.low.say(),
            l.high.say(),
            l.value.say()
        );
    }
    for (name, p) in f.stagnation.iter().flat_map(|n| &n.0) {
        if let Some(d) = &p.directions {
            *out += &format!("  {name}: stagnation angle {}\n", degrees(d.stagnation_angle));
        }
        if let Some(s) = &p.space {
            space::point(name, p, s, out);
        }
    }
    if let Some(c) = &f.certificate {
        space::certificate(c, out);
    }
    if !f.complete {
        *out += "  several contacts in space, or joints whose bound is a length: there may be motions that were not found\n";
    }
}

fn degrees(x: f64) -> String {
    if x.is_finite() { format!("{}°", short(x.to_degrees())) } else { "–".into() }
}

fn self_braking(f: &SelfBrakingFinding, out: &mut String) {
    for (name, p) in f.points.iter().flat_map(|n| &n.0) {
        let word = match p.verdict {
            PointVerdict::SelfBraking => format!("{BAD}self-braking{BAD:#}, no force here starts it"),
            PointVerdict::Debraking => format!("{GOOD}debraking{GOOD:#}, some force here starts it"),
            PointVerdict::Ambiguous => {
                format!("{WARN}ambiguous{WARN:#}, rest and motion are both possible")
            }
        };
        let mu = p.critical_mu.say();
        let part = match (&p.directions, p.held_share) {
            (Some(d), _) => format!("stagnation angle {}", degrees(d.stagnation_angle)),
            (None, Some(share)) => format!("{:.0} % of all directions are held", 100.0 * share),
            (None, None) => String::new(),
        };
        *out += &format!("  {name}: {word}; {part}, critical μ {mu}\n");
    }
    if let Some(e) = &f.efficiency {
        *out += &format!(
            "  efficiency {} forward, {} backward; {}\n",
            e.forward.say(),
            e.backward.say(),
            if e.self_locking { "self-locking" } else { "not self-locking" }
        );
        *out += &format!("  self-locking from μ = {}\n", e.critical_mu.say());
    }
    if let Some(l) = &f.load {
        let held = if l.held { "is held" } else { "is not held" };
        *out += &format!("  the load alone {held}; critical μ {}\n", l.critical_mu.say());
    }
    if let Some(over) = &f.over {
        for (name, p) in over.points.0.iter().filter(|(_, p)| !p.self_braking.is_empty()) {
            let list = p.self_braking.say();
            *out += &format!("  {name}: self-braking for {} in {list}\n", over.parameter);
        }
    }
}

fn tensor(f: &TensorFinding, out: &mut String) {
    *out += &format!("  regular = {}\n  critical_factor = {}\n", f.regular, f.critical_factor.say());
    if f.determinant.len() <= 8 {
        *out += &format!("  determinant = {}\n", f.determinant.say());
    }
    *out += &format!("  patterns = {}\n", f.patterns);
    if (1..=8).contains(&f.left_out.len()) {
        *out += &format!("  left_out = [{}]\n", f.left_out.join(", "));
    }
}

fn loads(f: &LoadStatisticsFinding, out: &mut String) {
    for (name, load) in f.of.iter() {
        if load.episodes == 0 {
            *out += &format!("  {name}: no episodes above the threshold; peak {}\n", load.peak.say());
            continue;
        }
        *out += &format!(
            "  {name}: {} episodes ({} per s), each {} s; peak {}, 99 % below {} (share above x: exp(-{} x^{}))\n",
            load.episodes,
            short(load.rate),
            load.durations.mean.say(),
            load.peak.say(),
            load.x99.say(),
            load.exceedance.a.say(),
            load.exceedance.b.say()
        );
    }
    *out += &format!("  {}\n", f.remark);
}

fn statistics(f: &StatisticsFinding, out: &mut String) {
    for (name, s) in f.of.iter() {
        *out += &format!(
            "  {name}: mean {}, variance {}, from {} to {}, rate {} per s, peak factor {}\n",
            s.mean.say(),
            s.variance.say(),
            s.min.say(),
            s.max.say(),
            short(s.rate),
            s.peak_factor.say()
        );
        if let Some(p) = s.per_period {
            *out += &format!(
                "    per period: {} events, sum {}, sum of sizes {}\n",
                short(p.count),
                short(p.sum),
                short(p.absolute)
            );
        }
    }
    let (energy, momentum) = (&f.balance.energy, &f.balance.momentum.sum);
    *out += &format!("  energy: change {}, work {}\n", energy.value.say(), energy.exact.say());
    *out += &format!(
        "  momentum of impacts: {}, by the balance {}\n",
        momentum.value.say(),
        momentum.exact.say()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits_and_no_idle_zeros() {
        for (x, t) in [
            (0.0, "0"),
            (1.5, "1.5"),
            (-0.123_456_789, "-0.123457"),
            (1e-9, "1e-9"),
            (1234567.8, "1234568"),
            (3.0, "3"),
        ] {
            assert_eq!(short(x), t);
        }
        assert_eq!(Num(f64::INFINITY).say(), "∞");
        assert_eq!([Some(1.0), None].say(), "[1, –]");
    }
}
