//! What all drawings share, and the drawing of a finding.

use super::{domains, fit, plane, roses, vibration};
use specht::machine::Finding;
use specht::machine::finding::RestFinding;
use specht::machine::visible;

/// Text that may stand anywhere in a drawing or page: no marks of its language, no control characters.
pub fn escape(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The picture of a finding, when there is something to see.
pub fn finding(f: &Finding) -> Option<String> {
    let drawn = match f {
        Finding::Map(f) => Some(domains::svg(&f.map, &f.title)),
        Finding::Along(f) => Some(domains::along_svg(&f.along, &f.contacts, &f.title)),
        Finding::Here(f) => f.directions.as_ref().filter(|d| d.iter().next().is_some()).map(roses::slips),
        Finding::Rest(f) if !f.found.points.is_empty() => Some(rest(f)),
        Finding::SelfBraking(f) if !f.roses.is_empty() => Some(roses::roses(&f.roses)),
        Finding::ReturnMap(f) => Some(plane::return_map(f)),
        Finding::Branch(f) => Some(plane::branch(f)),
        Finding::Basin(f) => Some(plane::basin(f)),
        Finding::LimitCycle(f) if !f.loops.is_empty() => Some(plane::cycle(f)),
        Finding::Equilibrium(f) => vibration::equilibrium(f),
        Finding::Modes(f) => Some(vibration::modes(f)),
        Finding::Response(f) => Some(vibration::response(f)),
        Finding::BreakAway(f) => Some(vibration::break_away(f)),
        Finding::Stability(f) => vibration::stability(f),
        Finding::QuasiStatic(f) => vibration::quasi_static(f),
        Finding::Fit(f) => Some(fit::svg(f)),
        Finding::FrictionLaw(f) => fit::laws(f),
        _ => None,
    };
    drawn.map(signed)
}

/// A drawing with the name of its maker.
pub fn signed(svg: String) -> String {
    svg.replacen('>', &format!(">\n<!-- made by {} -->", crate::output::MADE_BY), 1)
}

/// Of one point at which forces can be carried their limits, else the directions of all points.
fn rest(f: &RestFinding) -> String {
    match f.found.points.as_slice() {
        [p, ..] if p.space.is_some() => roses::limits(&p.point, &p.limit),
        [p] if f.solutions.iter().any(|o| !o.moves) && p.limit.iter().any(|l| l[1] > 0.0) => {
            roses::limits(&p.point, &p.limit)
        }
        all => roses::roses(&all.iter().map(|p| (p.point.clone(), p.stagnation.clone())).collect::<Vec<_>>()),
    }
}

/// The beginning of a picture with a title: the sheet of this size and the words in its corner.
pub fn titled(width: f64, height: f64, left: f64, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"{left}\" y=\"24\" font-size=\"15\">{}</text>\n",
        escape(title)
    )
}
