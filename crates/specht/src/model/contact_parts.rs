//! Geometry of contacts: from the places of a file to rows of gaps and slips.

use super::contacts::{BuildError, ContactsPlan};
use super::frames::{Builder, Row};
use super::space::{SpaceTouch, Vector};
use super::{Contact, FeatureRef, Geometry, Input, NormalLaw, Shape};

/// Pairs of shapes in space with formulas.
const SPACE_PAIRS: &str = "point, ball, rim, ellipsoid, capsule, box or hull against a plane; point or ball against ball, cylinder, cone, \
     torus, capsule, box, hull or surface; box or hull against box or hull; capsule, box or hull inside a hollow ball, tube or funnel; capsule \
     against capsule; what else \
     touches by `[[touch]] among = [...]`, with time steps";

/// Geometry of one system contact.
pub(super) struct Part {
    pub model: usize,
    pub name: String,
    pub normal: Vec<Row>,
    pub tangent: Option<Row>,
    /// The second tangent of a contact in space.
    pub second: Option<Row>,
    /// The third: drilling of a patch, spin of a ball joint.
    pub third: Option<Row>,
    /// Normal and tangents in space.
    pub directions: Option<[Vector; 3]>,
    /// Bodies A and B in space.
    pub bodies: [Option<usize>; 2],
    pub latent: bool,
}

impl Part {
    /// A contact with a normal (or none) and one tangent (or none).
    pub(super) fn new(model: usize, name: String, normal: Vec<Row>, tangent: Option<Row>) -> Self {
        let none = (None, None, None);
        let (second, third, directions) = none;
        Part { model, name, normal, tangent, second, third, directions, bodies: [None; 2], latent: false }
    }
}

impl ContactsPlan {
    /// The parts of one contact of the model.
    pub(super) fn geometry(
        &mut self,
        b: &mut Builder,
        k: usize,
        contact: &Contact,
        parts: &mut Vec<Part>,
        count: &mut [usize; 2],
    ) -> Result<(), BuildError> {
        let refuse = |message: String| BuildError { message, span: contact.span };
        let spatial = !b.space.is_empty();
        let [mut slip, second] = slip_rows(b, contact)?;
        let name = contact.name.clone();
        match &contact.geometry {
            Geometry::None => {
                parts.push(Part { second, ..Part::new(k, name, Vec::new(), slip) });
            }
            Geometry::Gap(gap) => {
                let mut row = b.row_of_position(*gap);
                if spatial && matches!(contact.law, NormalLaw::Bilateral) {
                    b.measure_terms(&mut row);
                }
                parts.push(Part { second, ..Part::new(k, name, vec![row], slip) });
            }
            Geometry::Pin(p, q) if spatial => {
                let mut part = Part::new(k, name, b.space_pin(*p, *q), None);
                if contact.friction.is_some() {
                    let (zero, one) = (b.zero, b.one);
                    let axis = |i: usize| [0, 1, 2].map(|j| if i == j { one } else { zero });
                    let [x, y, z] = [0, 1, 2].map(|i| Some(b.row_of_spin(axis(i), [p.body, q.body], one)));
                    (part.tangent, part.second, part.third) = (x, y, z);
                }
                parts.push(part);
            }
            Geometry::Guide(list) => {
                let mut normal = list.map(|n| b.row_of_position(n)).to_vec();
                if spatial {
                    normal.iter_mut().for_each(|row| b.measure_terms(row));
                }
                parts.push(Part::new(k, name, normal, slip));
            }
            Geometry::Directions(p, q, parallel) => {
                let rows = spatial.then(|| b.space_directions(*p, *q, *parallel)).flatten();
                let rows = rows.ok_or_else(|| {
                    refuse(format!(
                        "contact `{name}` joins directions of bodies in space: {{ direction = [x, y, z] }}"
                    ))
                })?;
                parts.push(Part::new(k, name, rows, None));
            }
            Geometry::Pin(p, q) => {
                let (p, q, pa, qa) = (b.point(*p), b.point(*q), b.frame(p.body).pose, b.frame(q.body).pose);
                let d = b.sub2(p, q);
                let normal = d.map(|n| b.row_of_position(n)).to_vec();
                if slip.is_none() && contact.friction.is_some() {
                    let angle = b.g.sub(pa.angle, qa.angle);
                    let mut row = b.row_of_position(angle);
                    row.value = b.zero;
                    slip = Some(row);
                }
                parts.push(Part::new(k, name, normal, slip));
            }
            Geometry::Between(p, q) if spatial => {
                self.space_parts(b, k, contact, [*p, *q], [slip, second], parts, count)?;
            }
            Geometry::Between(p, q) => self.plane_parts(b, k, contact, [*p, *q], slip, parts, count)?,
        }
        Ok(())
    }

    /// Contacts of a pair of shapes in space; a slip that the file gives replaces the tangents.
    fn space_parts(
        &mut self,
        b: &mut Builder,
        k: usize,
        contact: &Contact,
        [p, q]: [FeatureRef; 2],
        given: [Option<Row>; 2],
        parts: &mut Vec<Part>,
        count: &mut [usize; 2],
    ) -> Result<(), BuildError> {
        let refuse = |message: String| BuildError { message, span: contact.span };
        let name = contact.name.clone();
        let (touches, hulls) = b.space_touch(p, q, contact.space.tangent, count).ok_or_else(|| {
            let words = [p, q].map(|r| kind(b.shape(r), r));
            refuse(format!(
                "contact `{name}`: {} against {} has no contact geometry; pairs are {SPACE_PAIRS}",
                words[0], words[1]
            ))
        })?;
        if hulls.is_some() && [p, q].into_iter().any(|r| b.has_moving_corners(r)) {
            return Err(refuse(format!(
                "contact `{name}`: corners of boxes and hulls that meet each other cannot move against their bodies; \
                 write the motion into `position` of a body of its own"
            )));
        }
        self.hulls.extend(hulls.map(|h| (parts.len(), h)));
        for touch in touches {
            let SpaceTouch { part, normal, tangents: [first, other], directions, bodies, contour } = touch;
            self.contours.extend(contour.map(|c| (parts.len(), c)));
            let (first, other) = match given.clone() {
                [None, _] => (Some(first), Some(other)),
                [first, other] => (first, other),
            };
            let label = part.map_or(name.clone(), |i| format!("{name}[{i}]"));
            parts.push(Part {
                second: other,
                directions: Some(directions),
                bodies,
                latent: part.is_some(),
                ..Part::new(k, label, vec![normal], first)
            });
        }
        Ok(())
    }

    /// Contacts of a pair of shapes in the plane: one, or the latent ones of outlines.
    fn plane_parts(
        &mut self,
        b: &mut Builder,
        k: usize,
        contact: &Contact,
        [p, q]: [FeatureRef; 2],
        slip: Option<Row>,
        parts: &mut Vec<Part>,
        count: &mut [usize; 2],
    ) -> Result<(), BuildError> {
        let refuse = |message: String| BuildError { message, span: contact.span };
        let name = contact.name.clone();
        let unsupported = || {
            refuse(format!(
                "contact `{}`: {} against {} has no contact geometry; pairs are point–{{flat, round, curve}}, \
                 round–{{flat, round, curve}}, curve–{{flat, curve}}, outline–{{outline, flat, point, round, curve}}",
                contact.name,
                kind(b.shape(p), p),
                kind(b.shape(q), q)
            ))
        };
        let outline = |r: FeatureRef| matches!(b.shape(r), Some(Shape::Outline { .. }));
        if outline(p) || outline(q) {
            let error = unsupported();
            let latents = b.outline_contacts(p, q, contact.tangent, count).ok_or(error)?;
            for (i, latent) in latents.into_iter().enumerate() {
                let here = parts.len();
                self.contours.extend(latent.touch.contour.map(|c| (here, c)));
                let tangent = slip.clone().or(Some(latent.touch.tangent_row));
                let label = format!("{name}[{}]", i + 1);
                let normal = vec![latent.touch.normal_row];
                parts.push(Part { latent: true, ..Part::new(k, label, normal, tangent) });
                self.watches.extend(latent.watch.map(|w| (here, w)));
            }
        } else {
            let error = unsupported();
            let touch = b.touch(p, q, contact.tangent, count).ok_or(error)?;
            let here = parts.len();
            self.contours.extend(touch.contour.map(|c| (here, c)));
            let tangent = slip.or(Some(touch.tangent_row));
            parts.push(Part::new(k, name, vec![touch.normal_row], tangent));
        }
        Ok(())
    }
}

/// Rows of the slip velocities that the file gives; they are linear in the velocities and contain one.
fn slip_rows(b: &mut Builder, contact: &Contact) -> Result<[Option<Row>; 2], BuildError> {
    let refuse = |message: String| BuildError { message, span: contact.span };
    let mut rows = [None, None];
    for (row_of, node) in rows.iter_mut().zip([contact.slip, contact.space.slip]) {
        let Some(node) = node else { continue };
        let row = b.row_of_velocity(node);
        let linear =
            row.columns.iter().all(|&(_, w)| b.depends_only(w, |i| !matches!(i, Input::Velocity(_))));
        if !linear {
            return Err(refuse(format!(
                "`slip` of contact `{}` must be linear in the velocities",
                contact.name
            )));
        }
        if row.columns.is_empty() {
            return Err(refuse(format!(
                "`slip` of contact `{}` contains no velocity; write velocities with a prime, as in \"x' - v\"",
                contact.name
            )));
        }
        *row_of = Some(row);
    }
    Ok(rows)
}

fn kind(shape: Option<&Shape>, r: FeatureRef) -> &'static str {
    match shape {
        None if r.feature.is_none() => "a point",
        None => "nothing",
        Some(Shape::Point(_)) => "a point",
        Some(Shape::Flat { .. }) => "a flat",
        Some(Shape::Round { hole: true, .. }) => "a hole",
        Some(Shape::Round { .. }) => "a round",
        Some(Shape::Curve { .. }) => "a curve",
        Some(Shape::Outline { .. }) => "an outline",
        Some(Shape::Space(shape)) => shape.word(),
    }
}
