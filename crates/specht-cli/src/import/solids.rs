//! Volumes and moments of inertia of solid shapes.

use super::Kind;
use std::f64::consts::PI;

/// Volume, and principal moments of a unit mass.
pub fn solid(kind: Kind) -> (f64, [f64; 3]) {
    match kind {
        Kind::Ball(r) => (4.0 / 3.0 * PI * r.powi(3), [0.4 * r * r; 3]),
        Kind::Box([a, b, c]) => {
            let (a2, b2, c2) = (a * a / 3.0, b * b / 3.0, c * c / 3.0);
            (8.0 * a * b * c, [b2 + c2, a2 + c2, a2 + b2])
        }
        Kind::Ellipsoid([a, b, c]) => {
            let (a2, b2, c2) = (a * a / 5.0, b * b / 5.0, c * c / 5.0);
            (4.0 / 3.0 * PI * a * b * c, [b2 + c2, a2 + c2, a2 + b2])
        }
        Kind::Cylinder(h, r) => {
            let across = r * r / 4.0 + h * h / 3.0;
            (2.0 * PI * r * r * h, [across, across, r * r / 2.0])
        }
        // what a mesh encloses follows from its triangles (`masses`)
        Kind::Mesh(_) => (0.0, [0.0; 3]),
        Kind::Capsule(h, r) => {
            let (tube, caps) = (2.0 * PI * r * r * h, 4.0 / 3.0 * PI * r.powi(3));
            let (mt, mc) = (tube / (tube + caps), caps / (tube + caps));
            // a half ball has its centre at 3r/8 and 83/320 r² about it
            let reach = h + 3.0 * r / 8.0;
            let across = mt * (r * r / 4.0 + h * h / 3.0) + mc * (83.0 / 320.0 * r * r + reach * reach);
            (tube + caps, [across, across, mt * r * r / 2.0 + mc * 0.4 * r * r])
        }
    }
}
