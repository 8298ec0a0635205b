//! From a [`Model`] to its tapes.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::expr::{Derivation, NodeId, Op, SwitchKind, SwitchSet, Tape};
use crate::system::{ContactInfo, Dims, Direction, Eval, Normal};

use super::compiled::{BodyTerm, CompiledSystem, FlankPlan, Guard, Pool, Relevance, Scatter, Source};
use super::contacts::{BuildError, ContactsPlan};
use super::contour::{ContourSolver, Sigma};
use super::edges::WatchPlan;
use super::forces::Accounts;
use super::frames::Builder;
use super::lean::{TensorPlan, Tensors};
use super::{Input, Model, Trigger};

/// Turn a model into equations.
///
/// # Errors
///
/// The model has no equations of this kind: a pair of features without contact geometry, a slip formula that is not linear in
/// the velocities, a mass that changes, … The message names the part and its place in the file.
pub fn build(model: &Model) -> Result<CompiledSystem, BuildError> {
    let mut b = Builder::new(model);
    check(&mut b)?;
    let mut accounts = Accounts::new(&b);
    let inertias = accounts.bodies(&mut b);
    let plan = ContactsPlan::new(&mut b, &mut accounts)?;
    accounts.forces(&mut b, &plan.map);
    let b = &mut b;
    let n = model.coordinates.len();

    // roots of the main tape; those of friction laws are kept apart for the relevance of their switches
    let mut roots = Roots::default();
    let mut mass = Scatter::default();
    for (&(i, j), &node) in &accounts.mass {
        roots.put(b, &mut mass, i * n + j, node);
    }
    let mut h = Scatter::default();
    for (k, &node) in accounts.h.iter().enumerate() {
        roots.put(b, &mut h, k, node);
    }
    let mut bodies = Vec::new();
    for i in &inertias {
        let constant_mass = b.is_parameter(i.mass)
            && b.is_parameter(i.inertia)
            && i.columns.iter().all(|(_, c)| c.iter().all(|&n| b.is_parameter(n)));
        let constant_load = constant_mass && i.load.iter().all(|&n| b.is_parameter(n));
        let driven = i.momentum.iter().any(|&n| n != b.zero);
        bodies.push(BodyTerm {
            mass: roots.add(i.mass),
            inertia: roots.add(i.inertia),
            columns: i.columns.iter().map(|&(k, c)| (k as u32, c.map(|n| roots.add(n)))).collect(),
            load: i.load.map(|n| roots.add(n)),
            momentum: driven.then(|| i.momentum.map(|n| roots.add(n))),
            constant_mass,
            constant_load,
        });
    }
    let mut z_rate = Scatter::default();
    for (k, z) in model.states.iter().enumerate() {
        let rate = b.replace(z.rate, &plan.map);
        roots.put(b, &mut z_rate, k, rate);
    }
    for (state, rate) in plan.flanks.iter().filter_map(|f| f.surface) {
        roots.put(b, &mut z_rate, state, rate);
    }
    let (mut w, mut gap) = (Scatter::default(), Scatter::default());
    let (mut rate_offset, mut accel_offset) = (Scatter::default(), Scatter::default());
    for (r, row) in plan.rows.iter().enumerate() {
        for &(k, node) in &row.columns {
            roots.put(b, &mut w, r * n + k, node);
        }
        roots.put(b, &mut gap, r, row.value);
        roots.put(b, &mut rate_offset, r, row.rate_offset);
        roots.put(b, &mut accel_offset, r, row.accel_offset);
    }
    let watch_corners: Vec<[u32; 2]> =
        plan.watches.iter().map(|x| x.1.corner.map(|n| roots.add(n))).collect();
    let watch_middles: Vec<Option<[u32; 2]>> =
        plan.watches.iter().map(|x| x.1.middle.map(|m| m.map(|n| roots.add(n)))).collect();
    let flank_roots: Vec<[u32; 4]> =
        plan.flanks.iter().map(|f| [f.away, f.force, f.gap, f.gap_rate].map(|n| roots.add(n))).collect();
    let mut tensors = Vec::new();
    for (c, contact) in plan.contacts.iter().enumerate() {
        let row = match contact.normal {
            Normal::Unilateral { row } | Normal::Bilateral { row } => row,
            _ => continue,
        };
        if let (Some(entries), Some(tangent)) = (contact.tensor, contact.tangent) {
            let entries = entries.map(|list| list.map(|n| roots.add(n)));
            tensors.push(TensorPlan { contact: c, rows: [row, tangent], entries });
        }
    }
    let ideal = plan.contacts.iter().filter(|c| !c.friction).flat_map(|c| match c.normal {
        Normal::Bilateral { row } => vec![row],
        Normal::Pin { rows } => rows.to_vec(),
        _ => Vec::new(),
    });
    let tensors = Tensors::new(tensors, ideal.collect());
    let dynamics = roots.nodes.len();
    let mut drive = Scatter::default();
    for (k, &node) in accounts.drive.iter().enumerate() {
        roots.put(b, &mut drive, k, node);
    }
    let energies =
        [accounts.kinetic, accounts.potential, accounts.power, accounts.drive_offset].map(|n| roots.add(n));
    let (mut mu, mut mu_static) = (Scatter::default(), Scatter::default());
    let mut radius = Scatter::default();
    let (mut load, mut load_static) = (Scatter::default(), Scatter::default());
    let mut load_terms = Scatter::default();
    let mut term = 0;
    for (c, contact) in plan.contacts.iter().enumerate() {
        roots.put(b, &mut mu, c, contact.mu);
        roots.put(b, &mut mu_static, c, contact.mu_static);
        roots.put(b, &mut radius, c, contact.radius);
        roots.put(b, &mut load, c, contact.load);
        roots.put(b, &mut load_static, c, contact.load_static);
        for &(k, node) in &contact.terms {
            for _ in plan.of_model[k].clone() {
                roots.put(b, &mut load_terms, term, node);
                term += 1;
            }
        }
    }
    // event functions last: switches that only they use change no motion
    let motion = roots.nodes.len();
    let crossing_nodes: Vec<NodeId> = model
        .events
        .iter()
        .filter_map(|e| match e.trigger {
            Trigger::Crossing(node, _) => Some(b.replace(node, &plan.map)),
            Trigger::Contact(..) => None,
        })
        .collect();
    let crossings: Vec<u32> = crossing_nodes.iter().map(|&n| roots.add(n)).collect();
    let mut switches = SwitchSet::new();
    let main = Tape::with_switches(&b.g, &roots.nodes, &mut switches);

    // guards: switches, ends of curves, watched edges, elastic flanks
    let mut guards = Vec::new();
    let mut slip_switches = Vec::new();
    for (k, switch) in switches.iter().enumerate() {
        match switch.kind {
            SwitchKind::Sign => {
                match slip_of(b, &plan, switch.argument) {
                    Some((contact, factor)) => slip_switches.push((k, contact, factor)),
                    None => guards.push(Guard::Sign { switch: k }),
                };
            }
            SwitchKind::Floor => {
                guards.extend([false, true].map(|up| Guard::Floor { switch: k, up }));
            }
            SwitchKind::Cell => {
                if let Op::Cell(t, _) = b.g.op(switch.node) {
                    let table = b.g.table(t).clone();
                    guards.extend([false, true].map(|up| Guard::Cell {
                        switch: k,
                        up,
                        table: table.clone(),
                    }));
                }
            }
        }
    }
    let mut is_slip = vec![false; switches.len()];
    slip_switches.iter().for_each(|&(k, ..)| is_slip[k] = true);
    let followed: Vec<NodeId> = roots.nodes[..dynamics].iter().chain(&crossing_nodes).copied().collect();
    let relevance = relevance(b, &plan, &switches, &followed);
    let moving: HashSet<NodeId> = b.g.reach(&roots.nodes[..motion]).into_iter().collect();
    let silent = switches.iter().map(|s| !moving.contains(&s.node)).collect();
    let mut derivation = std::mem::replace(&mut b.total, Derivation::new([]));
    let rate_nodes: Vec<NodeId> = switches.iter().map(|s| derivation.of(&mut b.g, s.argument)).collect();
    b.total = derivation;
    let switch_rates = Tape::with_switches(&b.g, &rate_nodes, &mut switches.clone());

    let mut latches = switches.len();
    let mut parameter_roots = Vec::new();
    let mut contours = Vec::new();
    let mut first = 0;
    for &(contact, ref problem) in &plan.contours {
        let mut nodes: Vec<NodeId> = problem.unknowns.iter().map(|u| u.equation).collect();
        nodes.extend(&problem.jacobian);
        nodes.extend([problem.merit, problem.facing]);
        let mut sigma = Vec::new();
        for u in &problem.unknowns {
            let ends = u.ends.map(|p| p.map(|n| b.default_value(n)));
            let size = ends.iter().flatten().fold(1e-300_f64, |m, v| m.max(v.abs()));
            let closed = (0..2).all(|i| (ends[0][i] - ends[1][i]).abs() <= 1e-9 * size);
            let (mut latch, mut guard) = (None, 0);
            if !closed {
                latch = Some(latches);
                guard = guards.len();
                guards.extend([-1, 1].map(|end| Guard::Contour { latch: latches, end }));
                latches += 1;
            }
            parameter_roots.extend(u.range);
            let (slot, active) = (u.symbol.0 as usize, u.active.0 as usize);
            sigma.push(Sigma { slot, active, latch, guard, range: [0.0, 1.0] });
        }
        let count = sigma.len();
        contours.push(ContourSolver { contact, tape: Tape::new(&b.g, &nodes), sigma, first });
        first += count;
    }
    let mut watches = Vec::new();
    let places = watch_corners.into_iter().zip(watch_middles);
    for (i, ((contact, x), places)) in plan.watches.iter().zip(places).enumerate() {
        let source = parameter_roots.len();
        parameter_roots.extend(x.points.iter().flatten());
        let slots = (0..x.inputs).map(|j| b.symbol(Input::Feature(x.feature + j)).0 as usize).collect();
        watches.push(WatchPlan::new(*contact, x, slots, source, places, latches));
        latches += 1;
        guards.extend([false, true].map(|up| Guard::Watch { watch: i, up }));
    }
    let mut flanks = Vec::new();
    for (i, (f, [away, force, gap, gap_rate])) in plan.flanks.iter().zip(flank_roots).enumerate() {
        let slot = b.symbol(Input::Feature(f.feature)).0 as usize;
        let surface = f.surface.map(|s| s.0);
        flanks.push(FlankPlan {
            slot,
            latch: latches,
            surface,
            contact: f.contact,
            away,
            force,
            gap,
            gap_rate,
            damped: f.damped,
        });
        latches += 1;
        guards.extend([false, true].map(|outer| Guard::Flank { which: i, outer }));
    }

    // everything that is not part of an evaluation
    let directions = model
        .events
        .iter()
        .filter_map(|e| match e.trigger {
            Trigger::Crossing(_, 1..) => Some(Direction::Up),
            Trigger::Crossing(_, 0) => Some(Direction::Both),
            Trigger::Crossing(..) => Some(Direction::Down),
            Trigger::Contact(..) => None,
        })
        .collect();
    let replace = |b: &mut Builder, nodes: Vec<NodeId>| -> Tape {
        let nodes: Vec<NodeId> = nodes.into_iter().map(|n| b.replace(n, &plan.map)).collect();
        Tape::new(&b.g, &nodes)
    };
    let restitution = replace(b, plan.contacts.iter().flat_map(|c| c.restitution).collect());
    // outputs see the switches of the dynamics as they are frozen, so that they have both limits at an event
    let plotted = model.plots.iter().flat_map(|p| std::iter::once(p.x.1).chain(p.y.iter().map(|y| y.1)));
    let output_nodes: Vec<NodeId> =
        model.outputs.iter().map(|o| o.value).chain(plotted).map(|n| b.replace(n, &plan.map)).collect();
    let outputs = Tape::with_switches(&b.g, &output_nodes, &mut switches.clone());
    let sets = replace(b, model.events.iter().flat_map(|e| e.set.iter().map(|s| s.1)).collect());
    let mut start_nodes: Vec<NodeId> = model.coordinates.iter().flat_map(|c| [c.start, c.rate]).collect();
    start_nodes.extend(model.states.iter().map(|z| z.start));
    start_nodes.extend(model.memory.iter().map(|m| m.start));
    let starts = replace(b, start_nodes);
    let pose_nodes =
        b.frames.iter().flat_map(|f| [f.pose.origin[0], f.pose.origin[1], f.pose.angle]).collect();
    let poses = replace(b, pose_nodes);
    let mut law_names = Vec::new();
    let mut law_nodes = Vec::new();
    for (name, node) in super::undefined::laws(model) {
        let node = b.replace(node, &plan.map);
        if b.depends_only(node, |i| !super::undefined::needs_more(i)) {
            law_names.push(name);
            law_nodes.push(node);
        }
    }
    let laws = Tape::new(&b.g, &law_nodes);
    let parameter_tape = Tape::new(&b.g, &parameter_roots);
    let gap_nodes: Vec<NodeId> = plan.rows.iter().map(|r| r.value).collect();
    let size_nodes = b.sizes(&gap_nodes);
    let sizes = Tape::new(&b.g, &size_nodes);

    let contacts: Vec<ContactInfo> = plan
        .contacts
        .iter()
        .map(|c| ContactInfo {
            name: c.name.clone(),
            normal: c.normal,
            tangent: c.tangent.into_iter().collect(),
            load_on: c.terms.iter().flat_map(|&(k, _)| plan.of_model[k].clone()).collect(),
            friction: c.friction,
        })
        .collect();
    let dims = Dims {
        q: n,
        u: n,
        z: model.states.len() + plan.flanks.iter().filter(|f| f.surface.is_some()).count(),
        memory: model.memory.len(),
        rows: plan.rows.len(),
        contacts: contacts.len(),
        latches,
        guards: guards.len(),
        crossings: crossings.len(),
    };
    let mut parameters = Vec::new();
    for p in &model.parameters {
        if let Some(k) = p.live {
            if parameters.len() <= k {
                parameters.resize(k + 1, f64::NAN);
            }
            parameters[k] = p.value;
        }
    }
    let used = [&main, &restitution, &outputs, &sets, &poses, &sizes, &laws];
    let contour_tapes = contours.iter().map(|c| &c.tape);
    let fill = fill(b, &plan, used.into_iter().chain([&switch_rates]).chain(contour_tapes), &dims);
    let mut state_names: Vec<String> = model.states.iter().map(|z| z.name.clone()).collect();
    let surfaces = plan.flanks.iter().filter(|f| f.surface.is_some());
    state_names.extend(surfaces.map(|f| format!("{}.surface", f.name)));
    let mut system = CompiledSystem {
        model: model.clone(),
        dims,
        contacts,
        of_model: plan.of_model.clone(),
        state_names,
        directions,
        event_names: model.events.iter().map(|e| e.name.clone()).collect(),
        output_names: model.outputs.iter().map(|o| o.name.clone()).collect(),
        base: vec![0.0; b.inputs.len()],
        inputs: b.inputs.clone(),
        parameters: parameters.clone(),
        fill,
        main,
        bodies,
        mass,
        h,
        z_rate,
        w,
        gap,
        rate_offset,
        accel_offset,
        mu,
        mu_static,
        radius,
        load,
        load_static,
        load_terms,
        tensors,
        drive,
        energies,
        image: Eval::default(),
        switch_count: switches.len(),
        moving: b.inputs.iter().map(|i| !is_frozen(*i)).collect(),
        switch_rates,
        guards,
        relevance,
        silent,
        slip_switches,
        is_slip,
        contours,
        watches,
        flanks,
        gap_sizes: Vec::new(),
        length: 1.0,
        sizes,
        parameter_tape,
        crossings,
        restitution,
        outputs,
        sets,
        starts,
        poses,
        laws,
        law_names,
        pool: Pool::default(),
    };
    system.set_parameters(&parameters);
    Ok(system)
}

/// What has no equations here.
fn check(b: &mut Builder) -> Result<(), BuildError> {
    for body in &b.model.bodies {
        for (what, node) in [("mass", body.mass), ("inertia", body.inertia)] {
            if !b.is_parameter(node) {
                return Err(BuildError {
                    message: format!(
                        "`{what}` of `{}` changes during the motion; write its energy as `kinetic` instead",
                        body.name
                    ),
                    span: body.span,
                });
            }
        }
    }
    Ok(())
}

/// Roots of a tape, each once.
#[derive(Default)]
struct Roots {
    nodes: Vec<NodeId>,
    known: HashMap<NodeId, u32>,
}

impl Roots {
    fn add(&mut self, node: NodeId) -> u32 {
        *self.known.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        })
    }

    /// A value that goes to a place of an array; zeros need no place.
    fn put(&mut self, b: &Builder, scatter: &mut Scatter, place: usize, node: NodeId) {
        if node == b.zero {
            return;
        }
        let root = self.add(node);
        let list = if b.is_parameter(node) { &mut scatter.constant } else { &mut scatter.moving };
        list.push((place as u32, root));
    }
}

/// Whether an input stays as it is between events.
fn is_frozen(input: Input) -> bool {
    matches!(input, Input::Memory(_) | Input::Parameter(_) | Input::Direction(_) | Input::Feature(_))
}

/// The contact whose slip (times ±1) is this node.
fn slip_of(b: &mut Builder, plan: &ContactsPlan, node: NodeId) -> Option<(usize, f64)> {
    let minus = b.g.neg(node);
    plan.contacts.iter().enumerate().find_map(|(c, contact)| match contact.slip {
        Some(slip) if contact.friction && slip == node => Some((c, 1.0)),
        Some(slip) if contact.friction && slip == minus => Some((c, -1.0)),
        _ => None,
    })
}

/// Switches reached by friction laws alone count only while their contact slips; those that do not depend on
/// velocities also while it sticks.
fn relevance(b: &Builder, plan: &ContactsPlan, switches: &SwitchSet, dynamics: &[NodeId]) -> Vec<Relevance> {
    if switches.is_empty() {
        return Vec::new();
    }
    let everywhere: HashSet<NodeId> = b.g.reach(dynamics).into_iter().collect();
    let mut users: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
    for (c, contact) in plan.contacts.iter().enumerate() {
        let mut nodes = vec![contact.mu, contact.mu_static, contact.load, contact.load_static];
        nodes.extend(contact.terms.iter().map(|t| t.1));
        for node in b.g.reach(&nodes) {
            if matches!(b.g.op(node), Op::Sign(_) | Op::Floor(_) | Op::Cell(..)) {
                users.entry(node).or_default().push(c);
            }
        }
    }
    switches
        .iter()
        .map(|switch| {
            if everywhere.contains(&switch.node) {
                return Relevance::Always;
            }
            let at_rest = b.depends_only(switch.argument, |i| !matches!(i, Input::Velocity(_)));
            match users.get(&switch.node) {
                Some(list) => Relevance::Friction(list.iter().map(|&c| (c, at_rest)).collect()),
                None => Relevance::Always,
            }
        })
        .collect()
}

/// Which inputs are written at every evaluation, and from where.
fn fill<'a>(
    b: &Builder,
    plan: &ContactsPlan,
    tapes: impl Iterator<Item = &'a Tape>,
    dims: &Dims,
) -> Vec<(u32, Source)> {
    let mut used: Vec<u32> = tapes.flat_map(|t| t.inputs().iter().copied()).collect();
    used.sort_unstable();
    used.dedup();
    let label = |k: usize| plan.labels.get(k).copied().filter(|&c| c < dims.contacts);
    used.into_iter()
        .filter_map(|slot| {
            let source = match *b.inputs.get(slot as usize)? {
                Input::Time => Source::Time,
                Input::Coordinate(k) => Source::Q(k),
                Input::Velocity(k) => Source::U(k),
                Input::State(k) => Source::Z(k),
                Input::Memory(k) => Source::Memory(k),
                Input::Direction(k) => Source::Direction(label(k)?),
                Input::StickTime(k) => Source::StickTime(label(k)?),
                Input::LoadRate(k) => Source::LoadRate(label(k)?),
                _ => return None,
            };
            Some((slot, source))
        })
        .collect()
}
