//! What questions about contacts in space add to their findings, in words.

use specht::machine::finding::{Certificate, HereFinding, RestPoint, SpacePoint};
use specht::system::Mode;

use super::{Say, degrees, short, verdict};

/// What holds for all directions of slip.
pub(super) fn directions(f: &HereFinding, out: &mut String) {
    for (name, d) in f.directions.iter().flat_map(|d| d.iter()) {
        *out += &match d.critical_mu.0.is_finite() {
            true => format!(
                "  {name} over all directions of slip: least critical μ {} at {}\n",
                d.critical_mu.say(),
                degrees(d.direction.0)
            ),
            false => format!("  {name} over all directions of slip: no friction is critical\n"),
        };
        for s in &d.sectors {
            *out += &format!("    from {} to {}: {}\n", degrees(s.from), degrees(s.to), verdict(s.verdict));
        }
    }
}

/// Forces at a point in space.
pub(super) fn point(name: &str, p: &RestPoint, s: &SpacePoint, out: &mut String) {
    let finite = || p.limit.iter().map(|l| l[1].0).filter(|v| v.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(0.0, f64::max));
    if low.is_finite() {
        *out += &format!(
            "  {name}: level forces start it from {} to {} N, by direction\n",
            short(low),
            short(high)
        );
    }
    if s.weakest.force.0.is_finite() && s.weakest.force.0 > 0.0 {
        let d: Vec<String> = s.weakest.direction.iter().map(|d| d.say()).collect();
        *out += &format!("  {name}: weakest against {} N along ({})\n", s.weakest.force.say(), d.join(", "));
    }
    if let Some([low, high]) = s.along {
        *out += &format!("  {name}: in the direction asked for from {} to {} N\n", low.say(), high.say());
    }
}

/// Why it stands, or does not.
pub(super) fn certificate(c: &Certificate, out: &mut String) {
    match c {
        Certificate::Forces { margin, forces } => {
            *out +=
                &format!("  proof: forces in balance, inside every bound by {} of the loads\n", margin.say());
            for (name, f) in forces.iter().filter(|(_, f)| f.mode != Mode::Open) {
                let t: Vec<String> = f.tangential.0.iter().map(|t| t.say()).collect();
                *out +=
                    &format!("    {name}: normal {} N, tangential ({}) N\n", f.normal.say(), t.join(", "));
            }
        }
        Certificate::Motion { velocity, power, friction_power, .. } => {
            let moving = velocity.iter().filter(|v| v.1.0.abs() > 1e-9);
            let list: Vec<String> = moving.map(|(n, v)| format!("{n} {}", v.say())).collect();
            *out += &format!(
                "  proof: in the virtual motion {} the loads do {} W, friction takes {} at most\n",
                list.join(", "),
                power.say(),
                friction_power.say()
            );
        }
    }
}
