//! Models written in a few lines, for tests.

use crate::expr::{self, ExprError, Graph, NodeId, Reference, Resolver, Symbol};
use crate::model::*;
use crate::system::{Discrete, Eval, State, System};

/// A model in the making; formulas are text.
pub(super) struct Sketch {
    pub model: Model,
    names: Vec<(String, NodeId)>,
}

struct Names<'a>(&'a [(String, NodeId)]);

impl Resolver for Names<'_> {
    fn name(&mut self, _: &mut Graph, r: &Reference<'_>) -> Result<NodeId, ExprError> {
        let text = r.text();
        let found = self.0.iter().rev().find(|(name, _)| *name == text);
        found.map(|x| x.1).ok_or_else(|| expr::unknown_name(&text, r.span, []))
    }
}

impl Sketch {
    pub(super) fn new() -> Self {
        let mut s = Sketch { model: Model::default(), names: Vec::new() };
        s.symbol("t", Input::Time);
        s
    }

    pub(super) fn symbol(&mut self, name: &str, input: Input) -> NodeId {
        let k = self.model.inputs.len() as u32;
        self.model.inputs.push(input);
        let node = self.model.graph.sym(Symbol(k));
        self.names.push((name.into(), node));
        node
    }

    pub(super) fn define(&mut self, name: &str, text: &str) {
        let node = self.e(text);
        self.names.push((name.into(), node));
    }

    /// A live parameter.
    pub(super) fn live(&mut self, name: &str, value: f64) {
        let k = self.model.parameters.iter().filter(|p| p.live.is_some()).count();
        self.symbol(name, Input::Parameter(k));
        self.model.parameters.push(Parameter {
            name: name.into(),
            value,
            range: None,
            about: String::new(),
            span: Span::default(),
            live: Some(k),
        });
    }

    pub(super) fn coordinate(&mut self, name: &str, start: f64) {
        let k = self.model.coordinates.len();
        self.symbol(name, Input::Coordinate(k));
        self.symbol(&format!("{name}'"), Input::Velocity(k));
        let (start, rate) = (self.model.graph.num(start), self.model.graph.num(0.0));
        self.model.coordinates.push(Coordinate {
            name: name.into(),
            start,
            rate,
            guess: false,
            span: Span::default(),
        });
    }

    pub(super) fn e(&mut self, text: &str) -> NodeId {
        let ast = expr::parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        expr::lower_with(&mut self.model.graph, &mut Names(&self.names), &ast, &[])
            .unwrap_or_else(|e| panic!("{text}: {e:?}"))
    }

    pub(super) fn e2(&mut self, text: [&str; 2]) -> [NodeId; 2] {
        text.map(|x| self.e(x))
    }

    /// A body; change the rest in `model.bodies[i]`.
    pub(super) fn body(
        &mut self,
        on: Option<usize>,
        position: [&str; 2],
        angle: &str,
        mass: &str,
        inertia: &str,
    ) -> usize {
        let body = Body {
            name: format!("body{}", self.model.bodies.len()),
            on,
            position: self.e2(position),
            angle: self.e(angle),
            mass: self.e(mass),
            inertia: self.e(inertia),
            center: self.e2(["0", "0"]),
            kinetic: None,
            space: None,
            features: Vec::new(),
            span: Span::default(),
        };
        self.model.bodies.push(body);
        self.model.bodies.len() - 1
    }

    /// A feature of a body or of the ground.
    pub(super) fn feature(&mut self, body: Option<usize>, shape: Shape) -> FeatureRef {
        let list = match body {
            Some(b) => &mut self.model.bodies[b].features,
            None => &mut self.model.ground,
        };
        let name = format!("f{}", list.len());
        list.push(Feature { name, shape, span: Span::default() });
        FeatureRef { body, feature: Some(list.len() - 1) }
    }

    pub(super) fn point(&mut self, body: Option<usize>, p: [&str; 2]) -> FeatureRef {
        let shape = Shape::Point(self.e2(p));
        self.feature(body, shape)
    }

    pub(super) fn flat(&mut self, body: Option<usize>, through: [&str; 2], normal: [&str; 2]) -> FeatureRef {
        let shape = Shape::Flat { through: self.e2(through), normal: self.e2(normal) };
        self.feature(body, shape)
    }

    pub(super) fn round(
        &mut self,
        body: Option<usize>,
        center: [&str; 2],
        radius: &str,
        hole: bool,
    ) -> FeatureRef {
        let shape = Shape::Round { center: self.e2(center), radius: self.e(radius), hole };
        self.feature(body, shape)
    }

    pub(super) fn curve(
        &mut self,
        body: Option<usize>,
        point: [&str; 2],
        range: [&str; 2],
        material_left: bool,
    ) -> FeatureRef {
        let symbol = self.model.graph.temporary();
        let node = self.model.graph.sym(symbol);
        self.names.push(("s".into(), node));
        let shape =
            Shape::Curve { point: self.e2(point), parameter: symbol.0, range: self.e2(range), material_left };
        self.feature(body, shape)
    }

    pub(super) fn outline(
        &mut self,
        body: Option<usize>,
        points: &[[&str; 2]],
        closed: bool,
        material_left: bool,
    ) -> FeatureRef {
        let points = points.iter().map(|p| self.e2(*p)).collect();
        self.feature(body, Shape::Outline { points, closed, material_left })
    }

    pub(super) fn contact(&mut self, geometry: Geometry, law: NormalLaw, slip: Option<&str>) -> usize {
        let zero = self.e("0");
        let contact = Contact {
            name: format!("c{}", self.model.contacts.len()),
            geometry,
            law,
            slip: slip.map(|x| self.e(x)),
            tangent: None,
            space: Default::default(),
            friction: None,
            restitution: [zero; 3],
            span: Span::default(),
        };
        self.model.contacts.push(contact);
        self.model.contacts.len() - 1
    }

    pub(super) fn friction(&mut self, contact: usize, sliding: &str, sticking: &str) {
        let friction = Friction { sliding: self.e(sliding), sticking: self.e(sticking), tensor: None };
        self.model.contacts[contact].friction = Some(friction);
    }

    pub(super) fn force(&mut self, kind: ForceKind) {
        let name = format!("force{}", self.model.forces.len());
        self.model.forces.push(Force { name, kind, span: Span::default() });
    }

    pub(super) fn law(
        &mut self,
        force: Option<&str>,
        spring: Option<&str>,
        length: &str,
        damper: Option<&str>,
    ) -> Law {
        Law {
            force: force.map(|x| self.e(x)),
            spring: spring.map(|x| self.e(x)),
            length: self.e(length),
            damper: damper.map(|x| self.e(x)),
        }
    }

    pub(super) fn build(&self) -> CompiledSystem {
        build(&self.model).unwrap_or_else(|e| panic!("{e}"))
    }
}

/// A system with its buffers.
pub(super) struct Probe {
    pub system: CompiledSystem,
    pub d: Discrete,
    pub out: Eval,
    pub s: State,
}

impl Probe {
    pub(super) fn new(system: CompiledSystem) -> Self {
        let d = system.fresh_discrete();
        let out = system.memory();
        let s = system.start();
        Probe { system, d, out, s }
    }

    /// Latch and evaluate.
    pub(super) fn at(&mut self, t: f64, q: &[f64], u: &[f64]) -> &Eval {
        self.s.t = t;
        self.s.q = q.to_vec();
        self.s.u = u.to_vec();
        self.system.latch(&self.s, &mut self.d, &mut self.out, true);
        self.system.evaluate(&self.s, &self.d, &mut self.out);
        &self.out
    }
}

/// A motion for tests: q_k(t) with its derivatives, the same in every run.
pub(super) fn motion(k: usize, t: f64, center: f64, size: f64) -> [f64; 3] {
    let (w, p) = (0.7 + 0.31 * k as f64, 0.4 + 1.3 * k as f64);
    let (s, c) = (w * t + p).sin_cos();
    [center + size * (s - p.sin()), size * w * c, -size * w * w * s]
}

/// Check gap, rates and accelerations of every row against differences along a motion around `center`.
pub(super) fn check_rows(system: CompiledSystem, center: &[f64], size: f64) {
    let n = center.len();
    let mut probe = Probe::new(system);
    let rows = probe.system.dims().rows;
    let mut normal = vec![false; rows];
    for c in probe.system.contacts() {
        match c.normal {
            crate::system::Normal::Unilateral { row } | crate::system::Normal::Bilateral { row } => {
                normal[row] = true
            }
            crate::system::Normal::Pin { rows } => rows.iter().for_each(|&r| normal[r] = true),
            crate::system::Normal::Ball { rows } => rows.iter().for_each(|&r| normal[r] = true),
            crate::system::Normal::Given { row } => row.iter().for_each(|&r| normal[r] = true),
        }
    }
    let state = |t: f64, i: usize| -> Vec<f64> { (0..n).map(|k| motion(k, t, center[k], size)[i]).collect() };
    let e = 1e-4;
    for step in 0..7 {
        let t = 0.05 * step as f64;
        let at = |probe: &mut Probe, t: f64| -> (Vec<f64>, Vec<f64>) {
            let u = state(t, 1);
            let out = probe.at(t, &state(t, 0), &u);
            (out.gap.clone(), (0..rows).map(|i| out.rate(i, &u)).collect())
        };
        let before = at(&mut probe, t - e);
        let after = at(&mut probe, t + e);
        let (u, a) = (state(t, 1), state(t, 2));
        let out = probe.at(t, &state(t, 0), &u).clone();
        for i in 0..rows {
            if normal[i] {
                let rate = (after.0[i] - before.0[i]) / (2.0 * e);
                close(out.rate(i, &u), rate, 2e-6, "gap rate");
            }
            let accel = (after.1[i] - before.1[i]) / (2.0 * e);
            close(out.accel(i, &a), accel, 2e-6, "row acceleration");
        }
        // other velocities at the same place: W and w̃ apart
        let v: Vec<f64> = (0..n).map(|k| 0.3 - 0.21 * k as f64 + 0.05 * step as f64).collect();
        let shifted = |probe: &mut Probe, x: f64| -> Vec<f64> {
            let q: Vec<f64> = state(t, 0).iter().zip(&v).map(|(q, v)| q + x * v).collect();
            probe.at(t + x, &q, &v).gap.clone()
        };
        let (g0, g1) = (shifted(&mut probe, -e), shifted(&mut probe, e));
        let out = probe.at(t, &state(t, 0), &v).clone();
        for i in (0..rows).filter(|&i| normal[i]) {
            close(out.rate(i, &v), (g1[i] - g0[i]) / (2.0 * e), 2e-6, "gap rate, other velocity");
        }
    }
}

#[track_caller]
pub(super) fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())), "{what}: {a} against {b}");
}
