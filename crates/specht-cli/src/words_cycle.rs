//! Cycles in words.

use crate::words::{BAD, GOOD, WARN, short};
use specht::machine::finding::LimitCycleFinding;

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
