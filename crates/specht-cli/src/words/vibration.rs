//! Rest and vibration in words.

use super::{BAD, GOOD, Say, WARN, short, table};
use specht::machine::finding::{
    BreakAwayFinding, EquilibriumFinding, ModesFinding, QuasiStaticFinding, ResponseFinding, StabilityFinding,
};
use specht::machine::json::Named;

/// `equilibrium`.
pub fn equilibrium(f: &EquilibriumFinding, out: &mut String) {
    for (k, e) in f.equilibria.iter().flatten().enumerate() {
        let word = if e.stable { format!("{GOOD}stable{GOOD:#}") } else { format!("{BAD}unstable{BAD:#}") };
        let free = match e.neutral {
            0 => String::new(),
            n => format!(", {n} displacements change nothing"),
        };
        *out += &format!("  {}       {word}{free}: {}\n", k + 1, state(&e.state));
    }
    for s in f.special.iter().flatten() {
        let over = f.over.as_deref().unwrap_or("parameter");
        let (before, after) = (s.before, s.after);
        *out += &format!(
            "  {WARN}{}{WARN:#} at {over} = {} ({} = {}): {before} before it, {after} after it\n",
            s.label,
            short(s.parameter),
            s.coordinate,
            short(s.value)
        );
    }
    for (k, (b, why)) in f.branches.iter().flatten().zip(f.ended.iter().flatten()).enumerate() {
        if let (Some(first), Some(last)) = (b.first(), b.last()) {
            let (from, to) = (short(first.parameter), short(last.parameter));
            *out += &format!("  branch {} from {from} to {to}, {} points; {why}\n", k + 1, b.len());
        }
    }
    let Some(margin) = &f.margin else { return };
    let word = match f.verdict {
        Some(v) => v.word(),
        None if margin.0 >= 0.0 => "stays",
        None => "moves",
    };
    *out += &format!("  at the start it {word}; margin {} N", margin.say());
    match f.first.as_deref() {
        Some(first) if !first.is_empty() => *out += &format!(", first to give way: {}\n", first.join(", ")),
        _ => out.push('\n'),
    }
    match f.bands.as_deref() {
        Some([]) | None => *out += "  there is no position of rest\n",
        Some([band]) => {
            let rows = band.iter().map(|(name, ends)| vec![name.to_string(), ends[0].say(), ends[1].say()]);
            table(&["rest", "from", "to"], &rows.collect::<Vec<_>>(), out);
        }
        Some(all) => *out += &format!("  bands at {} values of the parameter\n", all.len()),
    }
    if f.exact == Some(false) {
        *out += "  not linear: the bands are the ends that can be reached from the start\n";
    }
    if let Some(word) = f.attraction {
        *out += &format!("  the set of rest is {word}");
        *out += &match &f.probe {
            Some(p) => {
                format!("; of {} disturbed motions {} % came to rest\n", p.runs, short(100.0 * p.rest))
            }
            None => "\n".to_string(),
        };
    }
    for (name, factor) in f.safety.iter().flat_map(|s| s.iter()) {
        *out += &format!("  safety of {name}: {}\n", factor.say());
    }
    for (name, range) in f.forces.iter().flat_map(|s| s.iter()) {
        *out += &format!("  normal force of {name} in {} N\n", range.say());
    }
}

fn state(s: &Named<f64>) -> String {
    s.iter().map(|(name, x)| format!("{name} = {}", short(*x))).collect::<Vec<_>>().join(", ")
}

/// `modes`.
pub fn modes(f: &ModesFinding, out: &mut String) {
    let held: Vec<String> = f.contacts.iter().map(|(name, word)| format!("{name} {word}")).collect();
    if !held.is_empty() {
        *out += &format!("  contacts: {}\n", held.join(", "));
    }
    if !f.balanced {
        *out += "  the state is no equilibrium: coefficients are frozen there\n";
    }
    let rows: Vec<Vec<String>> = f
        .modes
        .iter()
        .enumerate()
        .map(|(k, m)| {
            let shape: Vec<String> = m
                .shape
                .iter()
                .filter(|(_, c)| c[0].hypot(c[1]) > 1e-3)
                .map(|(name, c)| match c[1].abs() > 1e-3 * c[0].abs() {
                    true => format!(
                        "{name} {}∠{}°",
                        digits(c[0].hypot(c[1])),
                        digits(c[1].atan2(c[0]).to_degrees())
                    ),
                    false => format!("{name} {}", digits(c[0])),
                })
                .collect();
            vec![format!("{}", k + 1), short(m.frequency), short(m.damping), shape.join(", ")]
        })
        .collect();
    table(&["mode", "Hz", "damping ratio", "shape"], &rows, out);
}

fn digits(x: f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// `response`.
pub fn response(f: &ResponseFinding, out: &mut String) {
    let rows = f.peaks.iter().map(|p| vec![p.coordinate.clone(), short(p.frequency), short(p.amplitude)]);
    match f.peaks.is_empty() {
        true => *out += "  no peak between these frequencies\n",
        false => table(&["peak of", "Hz", "per unit of force"], &rows.collect::<Vec<_>>(), out),
    }
}

/// `break-away`.
pub fn break_away(f: &BreakAwayFinding, out: &mut String) {
    match &f.least {
        Some(l) => {
            *out += &format!(
                "  {} gives way first, at {} = {} and frequency {}\n",
                l.contact,
                f.parameter,
                short(l.amplitude),
                short(l.frequency)
            );
        }
        None => *out += "  nothing gives way at these frequencies\n",
    }
    let rows = f.frequency.iter().zip(&f.amplitude).zip(&f.contact);
    let rows: Vec<Vec<String>> = rows
        .step_by(f.frequency.len().div_ceil(12).max(1))
        .map(|((x, a), c)| vec![short(*x), a.say(), c.clone().unwrap_or_else(|| "–".into())])
        .collect();
    table(&["frequency", "amplitude", "contact"], &rows, out);
}

/// `stability`.
pub fn stability(f: &StabilityFinding, out: &mut String) {
    let word = if f.stable { format!("{GOOD}stable{GOOD:#}") } else { format!("{BAD}unstable{BAD:#}") };
    let motion = if f.frozen { "no steady motion; frozen at this state it is" } else { "steady sliding is" };
    *out += &format!("  {motion} {word}: {}\n", state(&f.steady));
    let moving = f.velocity.iter().filter(|(_, x)| **x != 0.0);
    let speeds: Vec<String> = moving.map(|(name, x)| format!("{name} = {}", short(*x))).collect();
    if !speeds.is_empty() {
        *out += &format!("  moving with {}\n", speeds.join(", "));
    }
    let rows: Vec<Vec<String>> = f
        .eigenvalues
        .iter()
        .filter(|v| v[1] >= 0.0)
        .map(|v| vec![short(v[0]), short(v[1] / std::f64::consts::TAU), short(-v[0] / v[0].hypot(v[1]))])
        .collect();
    table(&["growth, 1/s", "Hz", "damping ratio"], &rows, out);
    if let Some(kind) = &f.kind {
        *out += &format!("  kind: {}\n", super::word(kind));
    }
    if let Some(c) = &f.critical {
        *out += &format!(
            "  critical {} = {} ({} % from here), {} Hz\n",
            c.parameter,
            short(c.value),
            c.distance.say(),
            short(c.frequency)
        );
    }
    if let Some([a, b]) = f.merging {
        *out += &format!("  modes {a} and {b} meet\n");
    }
    if let Some(warning) = &f.warning {
        *out += &format!("  {WARN}warning{WARN:#}: {warning}\n");
    }
    for s in f.sectors.iter().flatten() {
        *out += &format!("  unstable from {} to {}\n", short(s[0]), short(s[1]));
    }
    if let Some(map) = &f.map {
        let count = |letter: char| map.grid.iter().map(|row| row.matches(letter).count()).sum::<usize>();
        *out += &format!(
            "  map: {} stable, {} unstable, {} beyond the paradox\n",
            count('s'),
            count('u'),
            count('p')
        );
    }
}

/// `quasi-static`.
pub fn quasi_static(f: &QuasiStaticFinding, out: &mut String) {
    let (Some(first), Some(last)) = (f.path.first(), f.path.last()) else { return };
    *out +=
        &format!("  load from t = {} to {}, {} points\n", short(first.time), short(last.time), f.path.len());
    *out += &format!("  at its end {}\n", state(&last.coordinates));
    let rows: Vec<Vec<String>> = f
        .events
        .iter()
        .take(12)
        .map(|e| vec![short(e.time), e.kind.to_string(), e.contacts.join(", ")])
        .collect();
    table(&["t", "event", "contact"], &rows, out);
    for (name, way) in f.slipped.iter().filter(|(_, way)| **way > 0.0) {
        let work = f.work.iter().find(|(n, _)| *n == name).map_or(0.0, |(_, w)| *w);
        *out += &format!("  `{name}` slipped {} m and lost {} J\n", short(*way), short(work));
    }
    *out += &format!("  smallest margin {} at t = {}\n", f.margin.say(), short(f.margin_time));
    for e in &f.ends {
        let (at, word) = (e.contacts.join(", "), super::word(&e.reason));
        let style = if e.stops { BAD } else { WARN };
        let states = e.between.map_or(String::new(), |b| format!(", {b} are both possible"));
        let ends = if e.stops { ": the slow path ends" } else { "" };
        *out += &format!("  {style}{word}{style:#} at t = {} ({at}){states}{ends}\n", short(e.time));
    }
    if let Some(c) = &f.critical {
        *out +=
            &format!("  `{}` could be open or closed from {} = {}\n", c.contact, c.parameter, short(c.value));
    }
    if let Some(c) = &f.continuity {
        *out += &format!("  this path is continuous up to {} = {}\n", c.parameter, short(c.value));
    }
    if let Some(d) = &f.dynamic {
        *out += &match &d.rest {
            Some(r) => format!(
                "  with inertia it jumps and rests again at t = {} after {} events: {}\n",
                short(r.time),
                d.events.len(),
                state(&r.state)
            ),
            None if d.events.is_empty() => String::new(),
            None => format!("  with inertia it goes on sliding, {} events were followed\n", d.events.len()),
        };
        *out += &format!("  {}\n", d.advice);
    }
}
