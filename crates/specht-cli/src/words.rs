//! Findings in words, for the terminal. Everything is read from the finding itself, so that words and data say the same.

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value as Json};

const BOLD: Style = Style::new().bold();
const fn colour(c: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(anstyle::Color::Ansi(c)))
}
const GOOD: Style = colour(AnsiColor::Green);
const WARN: Style = colour(AnsiColor::Yellow);
const BAD: Style = colour(AnsiColor::Red);

/// A finding of this kind about this model. `kept`: where data and picture were written.
pub fn words(kind: &str, model: &str, f: &Json, kept: Option<&std::path::Path>) -> String {
    let mut out = format!("{BOLD}{model}{BOLD:#}  {kind}\n");
    let o = |key: &str| f.get(key).filter(|v| !v.is_null());
    match kind {
        "painleve" if o("spans").is_some() => along(f, &mut out),
        "painleve" if o("grid").is_some() => map(f, &mut out),
        "painleve" => here(f, &mut out),
        "true-motion" => true_motion(f, &mut out),
        "rest" => rest(f, &mut out),
        "self-braking" => self_braking(f, &mut out),
        _ => plain(f, &mut out),
    }
    if let Some(folder) = kept {
        out += &format!("  kept    {}\n", folder.display());
    } else {
        out += "  more    --json prints every number, --out DIR keeps them with the picture\n";
    }
    if let Some(page) = o("explain").and_then(Json::as_str) {
        out += &format!("  page    specht explain {page}\n");
    }
    out
}

/// A number with six digits.
fn num(v: &Json) -> String {
    match v {
        Json::Number(x) => x.as_f64().map_or_else(|| x.to_string(), short),
        Json::String(t) if t == "inf" => "∞".into(),
        Json::String(t) if t == "-inf" => "-∞".into(),
        Json::String(t) => t.clone(),
        Json::Null => "–".into(),
        Json::Array(list) => format!("[{}]", list.iter().map(num).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
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

fn verdict(word: &str) -> String {
    match word {
        "unique" => format!("{GOOD}one solution{GOOD:#}"),
        "several" => format!("{WARN}several solutions{WARN:#}"),
        "family" => format!("{WARN}a continuum of solutions{WARN:#}"),
        "none" => format!("{BAD}no solution{BAD:#}"),
        "boundary" => format!("{WARN}on the border{WARN:#}, where a solution goes to infinity"),
        "open" => "no frictional contact closed".into(),
        other => other.into(),
    }
}

fn text<'a>(f: &'a Json, key: &str) -> &'a str {
    f.get(key).and_then(Json::as_str).unwrap_or("")
}

fn list<'a>(f: &'a Json, key: &str) -> &'a [Json] {
    f.get(key).and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

fn object<'a>(f: &'a Json, key: &str) -> impl Iterator<Item = (&'a String, &'a Json)> {
    f.get(key).and_then(Json::as_object).into_iter().flatten()
}

/// Columns of a table, the first to the left, numbers to the right.
fn table(head: &[&str], rows: &[Vec<String>], out: &mut String) {
    let width = |k: usize| {
        rows.iter().map(|r| r[k].chars().count()).chain([head[k].chars().count()]).max().unwrap_or(0)
    };
    let line = |cells: &[String], out: &mut String| {
        let mut text = String::from("  ");
        for (k, cell) in cells.iter().enumerate() {
            let space = " ".repeat(width(k).saturating_sub(cell.chars().count()));
            text += &if k == 0 { format!("{cell}{space}") } else { format!("  {space}{cell}") };
        }
        *out += text.trim_end();
        out.push('\n');
    };
    line(&head.iter().map(|h| h.to_string()).collect::<Vec<_>>(), out);
    rows.iter().for_each(|r| line(r, out));
}

/// The entry of contact `k`: a number for one, a list (or the diagonal of a matrix) for several.
fn of_contact(f: &Json, key: &str, k: usize) -> String {
    match &f[key] {
        Json::Array(list) => match &list[..] {
            [] => "–".into(),
            all => all.get(k).map_or("–".into(), |v| num(v.as_array().and_then(|r| r.get(k)).unwrap_or(v))),
        },
        v => num(v),
    }
}

fn here(f: &Json, out: &mut String) {
    *out += &format!("  at t = {} s: {}\n", num(&f["time"]), verdict(text(f, "verdict")));
    let contacts = list(f, "contacts");
    if !contacts.is_empty() {
        let rows: Vec<Vec<String>> = contacts
            .iter()
            .enumerate()
            .map(|(k, c)| {
                let mut row = vec![c.as_str().unwrap_or("").to_string()];
                row.extend(["index", "frictionless", "mu", "critical_mu"].map(|key| of_contact(f, key, k)));
                row
            })
            .collect();
        table(&["contact", "L", "R⁰, N", "μ", "critical μ"], &rows, out);
    }
    if let Some(beside) = f.get("beside") {
        let side = |key: &str| verdict(text(beside, key));
        *out += &format!("  with a little less friction {}, with more {}\n", side("less"), side("more"));
    }
    if let (true, Some(s)) = (contacts.len() > 1, f["critical_factor"].as_f64()) {
        *out += &format!("  this load has one solution until all friction is {} times as large", short(s));
        let safe = f["safe_factor"].as_f64().map(|s| format!("; any load has until {}", short(s)));
        *out += &format!("{}\n", safe.unwrap_or_default());
    }
    let several = list(f, "solutions").len() > 1;
    for (k, s) in list(f, "solutions").iter().enumerate() {
        let mut parts: Vec<String> = Vec::new();
        for (name, v) in s.as_object().into_iter().flatten() {
            if let Some(mode) = v.get("mode").and_then(Json::as_str) {
                parts.push(format!("{name} {mode}, normal {} N", num(&v["normal"])));
            }
        }
        for (name, v) in s.as_object().into_iter().flatten() {
            if name.ends_with("''") {
                parts.push(format!("{name} = {}", num(v)));
            }
        }
        if let Some(c) = s.get("character").and_then(Json::as_str) {
            if s["may_flutter"] == true {
                parts.push(format!("({c} with these stiffnesses of the contacts, flutter with others)"));
            } else if several || c != "centre" {
                parts.push(format!("({c})"));
            }
        }
        *out += &format!("  {}       {}\n", k + 1, parts.join("; "));
    }
    for (name, range) in object(f, "family") {
        *out += &format!("  {name} anywhere in {}\n", num(range));
    }
    if f["complete"] == false {
        *out += "  the search for solutions was not finished: there may be more\n";
    }
}

fn map(f: &Json, out: &mut String) {
    let axes: Vec<&str> = list(f, "axes").iter().filter_map(Json::as_str).collect();
    let sizes: Vec<String> =
        axes.iter().map(|a| f["grid"][*a].as_array().map_or(0, Vec::len).to_string()).collect();
    let total: f64 = axes.iter().filter_map(|a| f["grid"][*a].as_array()).map(|v| v.len() as f64).product();
    *out += &format!(
        "  contact {} over {}: {} points\n",
        text(f, "contact"),
        axes.join(" and "),
        sizes.join(" × ")
    );
    if f["complete"] == false {
        let done = f["done"].as_f64().unwrap_or(0.0);
        *out += &format!(
            "  {WARN}interrupted{WARN:#} with {:.0} % of the grid done; this is what is known\n",
            100.0 * done
        );
    }
    let mut known = 0.0;
    for word in ["unique", "several", "none", "family"] {
        let n = f["counts"][word].as_f64().unwrap_or(0.0);
        known += n;
        if n > 0.0 {
            *out += &format!("  {:>5.1} %  {}\n", 100.0 * n / total, verdict(word));
        }
    }
    if known < total {
        let why = f.get("undefined").and_then(Json::as_str).map(|w| format!(": {w}")).unwrap_or_default();
        *out += &format!("  {:>5.1} %  not defined{why}\n", 100.0 * (total - known) / total);
    }
    let borders = list(f, "borders");
    for (kind, name) in [("index", "μ|L| = 1 "), ("frictionless", "R⁰ = 0   ")] {
        let own: Vec<&Json> = borders.iter().filter(|b| b["kind"] == kind).collect();
        if own.is_empty() {
            continue;
        }
        if axes.len() == 1 {
            let at: Vec<String> = own.iter().take(12).map(|b| num(&b[axes[0]])).collect();
            let more = if own.len() > 12 { ", …" } else { "" };
            *out += &format!("  {name} at {} = {}{more}\n", axes[0], at.join(", "));
        } else {
            let points: usize = own.iter().map(|b| list(b, "points").len()).sum();
            *out += &format!("  {name} {} lines, {points} points located\n", own.len());
        }
    }
    for j in list(f, "junctions").iter().take(12) {
        let at: Vec<String> = axes.iter().enumerate().map(|(k, a)| format!("{a} = {}", num(&j[k]))).collect();
        *out += &format!("  borders meet at {}\n", at.join(", "));
    }
    if f.get("least_critical_mu").is_some() {
        let at: Vec<String> = object(f, "largest_at").map(|(a, v)| format!("{a} = {}", num(v))).collect();
        *out += &format!(
            "  smallest critical μ {} (|L| = {}) at {}\n",
            num(&f["least_critical_mu"]),
            num(&f["largest_index"]),
            at.join(", ")
        );
    }
}

fn along(f: &Json, out: &mut String) {
    *out += &format!("  run {} at t = {} s", text(f, "status"), num(&f["time"]));
    let message = text(f, "message");
    *out += &if message.is_empty() { "\n".into() } else { format!(": {message}\n") };
    let spans = list(f, "spans");
    for s in spans.iter().take(40) {
        *out += &format!("  {} … {} s  {}\n", num(&s["from"]), num(&s["to"]), verdict(text(s, "verdict")));
    }
    if spans.len() > 40 {
        *out += &format!("  … and {} more parts\n", spans.len() - 40);
    }
    let borders = list(f, "borders");
    for b in borders.iter().take(12) {
        let what = if b["kind"] == "index" { "μ|L| = 1" } else { "R⁰ = 0" };
        let who = b["contact"].as_str().map(|c| format!(" of {c}")).unwrap_or_default();
        *out += &format!("  border {what}{who} at t = {} s\n", num(&b["time"]));
    }
    if borders.len() > 12 {
        *out += &format!("  … and {} more borders\n", borders.len() - 12);
    }
    for (name, n) in object(f, "nearest") {
        *out += &format!(
            "  {name} comes nearest to its paradox at t = {} s: critical μ {}, μ = {}\n",
            num(&n["time"]),
            num(&n["critical_mu"]),
            num(&n["mu"])
        );
    }
}

fn true_motion(f: &Json, out: &mut String) {
    let outcome = match text(f, "outcome") {
        "rigid" => format!("{GOOD}the motion goes on{GOOD:#}, reactions {} N", num(&f["reactions"])),
        "tangential_impact" => format!("{WARN}tangential impact{WARN:#}: the sliding stops at once"),
        "seizure" => format!("{BAD}seizure{BAD:#}: the mechanism stops at once"),
        _ => format!("{WARN}undecided{WARN:#}: the fast motion of the reactions neither settles nor grows"),
    };
    *out += &format!("  {}\n", outcome);
    let rigid = verdict(text(f, "verdict"));
    *out += &format!(
        "  contact {}: μ|L| = {}, R⁰ = {} N; rigid model: {rigid}\n",
        text(f, "contact"),
        num(&f["mu_index"]),
        num(&f["frictionless"])
    );
    if f.get("impulse_n").is_some() {
        let after: Vec<String> = object(f, "after").map(|(n, v)| format!("{n} = {}", num(v))).collect();
        *out += &format!(
            "  impulses {} N s (normal), {} N s (tangential), energy lost {} J; after: {}\n",
            num(&f["impulse_n"]),
            num(&f["impulse_t"]),
            num(&f["loss"]),
            after.join(", ")
        );
    }
    if let Some(range) = f.get("bounded_reactions") {
        *out += &format!("  reactions at the start that stay bounded: {} N\n", num(range));
    }
    if let Some(t) = f.get("dt_full") {
        *out +=
            &format!("  stops within {} s (by the formula of the book {} s)\n", num(t), num(&f["dt_book"]));
    }
}

fn rest(f: &Json, out: &mut String) {
    let words = match text(f, "verdict") {
        "stays" => format!("{GOOD}stays at rest{GOOD:#}"),
        "moves" => format!("{WARN}starts to move{WARN:#}"),
        "both" => format!("{WARN}rest and motion are both possible{WARN:#}"),
        other => other.to_string(),
    };
    *out += &format!("  {words}\n");
    let direction: Vec<String> = object(f, "direction")
        .filter_map(|(n, v)| v.as_f64().map(|s| format!("{n} {}", if s > 0.0 { "+" } else { "−" })))
        .collect();
    if !direction.is_empty() && text(f, "verdict") != "stays" {
        *out += &format!("  direction of motion: {}\n", direction.join(", "));
    }
    if f["book"]["differs"] == true {
        *out += &format!("  the textbook theorem says: {}\n", text(&f["book"], "verdict"));
    }
    if let Some(l) = f.get("start_load") {
        *out += &format!(
            "  rest is possible for {} from {} to {} (now {})\n",
            text(l, "parameter"),
            num(&l["low"]),
            num(&l["high"]),
            num(&l["value"])
        );
    }
    if let Some(points) = f.get("stagnation") {
        each_point(points, &mut Vec::new(), &mut |name, p| {
            *out += &format!("  {name}: stagnation angle {}\n", degrees(&p["stagnation_angle"]));
        });
    }
}

fn degrees(v: &Json) -> String {
    v.as_f64().map_or("–".into(), |x| format!("{}°", short(x.to_degrees())))
}

/// Points are nested by the dots of their names.
fn each_point(v: &Json, path: &mut Vec<String>, f: &mut dyn FnMut(String, &Json)) {
    if v.get("stagnation_angle").is_some() {
        f(path.join("."), v);
    }
    for (name, inner) in v.as_object().into_iter().flatten() {
        if inner.is_object() && !["book", "critical_mu"].contains(&name.as_str()) {
            path.push(name.clone());
            each_point(inner, path, f);
            path.pop();
        }
    }
}

fn self_braking(f: &Json, out: &mut String) {
    if let Some(points) = f.get("points") {
        each_point(points, &mut Vec::new(), &mut |name, p| {
            let word = match text(p, "verdict") {
                "self-braking" => format!("{BAD}self-braking{BAD:#}, no force here starts it"),
                "debraking" => format!("{GOOD}debraking{GOOD:#}, some force here starts it"),
                _ => format!("{WARN}ambiguous{WARN:#}, rest and motion are both possible"),
            };
            *out += &format!(
                "  {name}: {word}; stagnation angle {}, critical μ {}\n",
                degrees(&p["stagnation_angle"]),
                num(&p["critical_mu"])
            );
        });
    }
    if let Some(e) = f.get("efficiency") {
        *out += &format!(
            "  efficiency {} forward, {} backward; {}\n",
            num(&e["forward"]),
            num(&e["backward"]),
            if e["self_locking"] == true { "self-locking" } else { "not self-locking" }
        );
        *out += &format!("  self-locking from μ = {}\n", num(&e["critical_mu"]));
    }
    if let Some(l) = f.get("load") {
        let held = if l["held"] == true { "is held" } else { "is not held" };
        *out += &format!("  the load alone {held}; critical μ {}\n", num(&l["critical_mu"]));
    }
    if let Some(over) = f.get("over") {
        let parameter = text(over, "parameter").to_string();
        each_interval(&over["points"], &mut Vec::new(), &mut |name, list| {
            *out += &format!("  {name}: self-braking for {parameter} in {}\n", num(list));
        });
    }
}

fn each_interval(v: &Json, path: &mut Vec<String>, f: &mut dyn FnMut(String, &Json)) {
    if let Some(list) = v.get("self_braking").filter(|l| l.as_array().is_some_and(|l| !l.is_empty())) {
        f(path.join("."), list);
    }
    for (name, inner) in v.as_object().into_iter().flatten() {
        if inner.is_object() {
            path.push(name.clone());
            each_interval(inner, path, f);
            path.pop();
        }
    }
}

/// What has no words of its own: the short entries, line by line.
fn plain(f: &Json, out: &mut String) {
    let empty = Map::new();
    for (key, v) in f.as_object().unwrap_or(&empty) {
        let brief =
            !v.is_object() && v.as_array().is_none_or(|l| l.len() <= 8 && l.iter().all(|x| !x.is_object()));
        if key != "explain" && key != "picture" && brief {
            *out += &format!("  {key} = {}\n", num(v));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        assert_eq!(num(&json!("inf")), "∞");
        assert_eq!(num(&json!([1.0, null])), "[1, –]");
    }

    #[test]
    fn a_finding_of_any_shape_is_words_and_never_a_panic() {
        for kind in ["painleve", "true-motion", "rest", "self-braking", "tensor", "other"] {
            for f in [
                json!({}),
                json!(null),
                json!({"spans": [{}], "grid": 3, "solutions": [1], "contacts": [2]}),
                json!({"grid": {}, "axes": ["x"]}),
            ] {
                assert!(words(kind, "m", &f, None).contains(kind));
            }
        }
    }
}
