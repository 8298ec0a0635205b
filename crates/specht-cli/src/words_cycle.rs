//! Cycles in words.

use crate::words::{BAD, GOOD, WARN, short};
use specht::machine::finding::{
    BasinFinding, BranchFinding, LimitCycleFinding, LyapunovFinding, ReturnMapFinding,
};
use specht::machine::task::BranchOf;

/// A cycle, or what there is instead.
pub fn limit_cycle(f: &LimitCycleFinding, out: &mut String) {
    let (Some(period), Some(frequency)) = (f.period, f.frequency) else {
        *out += &format!("  {WARN}no cycle{WARN:#}: {}\n", f.reason.as_deref().unwrap_or(f.kind));
        attractors(f, out);
        return;
    };
    let verdict = match f.stable {
        Some(true) => format!("{GOOD}stable{GOOD:#}"),
        _ => format!("{BAD}unstable{BAD:#}"),
    };
    *out += &format!("  {verdict} {}, period {} s, {} Hz", f.kind, short(period), short(frequency));
    if let Some(n) = f.multiple.filter(|n| *n > 1) {
        *out += &format!(", {n} periods of the forcing");
    }
    *out += "\n";
    for (name, d) in f.drift.iter().filter(|(_, d)| d.0 != 0.0) {
        *out += &format!("  drift   {name}: {} per period, {} per second\n", short(d.0), short(d.0 / period));
    }
    let number = |m: &[f64; 2]| match m[1] {
        0.0 => short(m[0]),
        im => format!("{} {} {}i", short(m[0]), if im > 0.0 { "+" } else { "-" }, short(im.abs())),
    };
    let list: Vec<String> = f.multipliers.iter().map(number).collect();
    let zeros = f.zeros.unwrap_or(0);
    let rest = match (list.is_empty(), zeros) {
        (true, _) => "none but exact zeros: what is disturbed is forgotten".to_string(),
        (false, 0) => list.join(", "),
        (false, z) => format!("{}; {z} exact zeros", list.join(", ")),
    };
    *out += &format!("  multipliers  {rest}  (trivial ones to {:.0e})\n", f.trivial_error.unwrap_or(0.0));
    if f.family > 0 {
        *out += "          one of a family: a neighbouring start leads to a cycle beside it\n";
    }
    *out += &format!("  from    {}\n", f.section);
    for e in &f.events {
        *out += &format!("    {:>12} s  {} {}\n", short(e.time), e.kind, e.contacts.join(", "));
    }
    for (name, a) in f.amplitude.iter() {
        *out += &format!("  {name}: {} to {}, half {}\n", short(a.min), short(a.max), short(a.half));
    }
    for (name, share) in f.stick_share.iter().filter(|(_, s)| s.0 > 0.0) {
        *out += &format!("  sticks  {name}: {} % of the period\n", short(100.0 * share.0));
    }
    let work: Vec<String> =
        f.energy.iter().filter(|(_, w)| w.0 != 0.0).map(|(n, w)| format!("{n} {}", short(w.0))).collect();
    *out += &format!("  work per period, J: {}\n", work.join(", "));
    attractors(f, out);
}

fn attractors(f: &LimitCycleFinding, out: &mut String) {
    for a in &f.attractors {
        let period = a.period.map_or(String::new(), |p| format!(", period {} s", short(p)));
        *out += &format!("  {} % of the starts: {}{period}\n", short(100.0 * a.share), a.name);
    }
}

/// A return map.
pub fn return_map(f: &ReturnMapFinding, out: &mut String) {
    *out += &format!(
        "  {} from passage to passage of `{}`: {} points\n",
        f.coordinate,
        f.section,
        f.points.len()
    );
    for j in &f.jumps {
        *out += &format!("  jumps   at {}\n", short(*j));
    }
    for p in &f.fixed {
        let word = if p.stable { format!("{GOOD}stable{GOOD:#}") } else { format!("{BAD}unstable{BAD:#}") };
        let (x, slope) = (short(p.x), short(p.slope.0));
        *out += &format!("  {word} fixed point of power {}: {x}, slope {slope}\n", p.power);
    }
}

/// Exponents.
pub fn lyapunov(f: &LyapunovFinding, out: &mut String) {
    let say = |x: f64| if x == f64::NEG_INFINITY { "-inf (forgotten)".to_string() } else { short(x) };
    let list: Vec<String> = f.exponents.iter().map(|e| say(e.0)).collect();
    *out += &format!("  exponents, 1/s: {}\n", list.join(", "));
    *out += &format!("  sum {}, mean of ln |det| {}\n", say(f.sum.0), say(f.divergence_mean.0));
    let first = f.exponents.first().map_or(0.0, |e| e.0);
    let word = match (f.settled, first > 3.0 * f.error) {
        (false, _) => {
            format!("{WARN}not settled{WARN:#}: the blocks of the time disagree; ask for a longer time")
        }
        (true, true) => format!("{WARN}chaotic{WARN:#}"),
        (true, false) => "neighbouring motions do not part".to_string(),
    };
    *out += &format!("  {word} (error of the largest {})\n", short(f.error));
}

/// A branch.
pub fn branch(f: &BranchFinding, out: &mut String) {
    let stable = f.points.iter().filter(|p| p.stable).count();
    let word = match f.of {
        BranchOf::Cycle => "cycles",
        BranchOf::Rest => "states of rest",
        BranchOf::Sliding => "steady motions",
    };
    if let Some(o) = &f.switched {
        *out += &format!("  leaves another branch at its {}, {} = {}\n", o.label, f.over, short(o.parameter));
    }
    *out += &format!(
        "  {} {word} over `{}`, {stable} of them stable; ended: {}\n",
        f.points.len(),
        f.over,
        f.ended
    );
    for s in &f.special {
        let (at, value) = (short(s.parameter), short(s.value));
        let what = if f.of == BranchOf::Cycle { "amplitude" } else { "at" };
        let frequency = s.frequency.map_or(String::new(), |f| format!(", {} Hz", short(f)));
        *out += &format!("  {WARN}{}{WARN:#} at {} = {at}, {what} {value}{frequency}\n", s.label, f.over);
        if let Some(beyond) = &s.beyond {
            *out += &format!("          beyond: {beyond}\n");
        }
    }
    for c in &f.curves {
        let ends: Vec<String> = [c.points.first(), c.points.last()]
            .into_iter()
            .flatten()
            .map(|p| format!("({}, {})", short(p[0]), short(p[1])))
            .collect();
        let [a, b] = &c.parameters;
        *out += &format!("  {} over ({a}, {b}): {}; ended: {}\n", c.label, ends.join(" to "), c.ended);
    }
}

/// Basins.
pub fn basin(f: &BasinFinding, out: &mut String) {
    for (k, a) in f.attractors.iter().enumerate() {
        let letter = char::from(b'a' + (k % 26) as u8);
        let period = a.period.map_or(String::new(), |p| format!(", period {} s", short(p)));
        *out += &format!("  {letter}  {} % of the starts: {}{period}\n", short(100.0 * a.share), a.name);
    }
    if f.inadmissible > 0.0 {
        *out += &format!("  .  {} % of the grid: no possible start\n", short(100.0 * f.inadmissible));
    }
    if let Some(d) = &f.distance {
        let at: Vec<String> = d.at.iter().map(|(n, x)| format!("{n} = {}", short(*x))).collect();
        *out +=
            &format!("  the start of the file leads to {}; nearest border at {}\n", d.class, at.join(", "));
    }
    if !f.complete {
        *out += &format!("  {WARN}interrupted{WARN:#}: the grid is not whole\n");
    }
}
