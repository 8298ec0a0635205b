//! From a [`Model`] to its tapes, pass after pass.
//!
//! ```text
//! frames, bodies, contacts, forces    nodes of the expression graph
//! Main                                roots of the main tape and where their values go
//! Guards                              switches, ends of curves, watched edges, elastic flanks
//! Sides                               tapes that are not part of an evaluation: restitution, outputs, events, starts, poses
//! ```

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::expr::{Derivation, NodeId, Op, SwitchKind, SwitchSet, Tape};
use crate::system::{ContactInfo, Dims, Direction};

use super::compiled::CompiledSystem;
use super::contacts::{BuildError, ContactsPlan};
use super::contour::{ContourSolver, Sigma};
use super::edges::WatchPlan;
use super::forces::Accounts;
use super::frames::Builder;
use super::main_tape::Main;
use super::program::{Fill, FlankPlan, Guard, Program, Relevance, Source};
use super::space::{Encounter, EncounterPlan, Rims, TouchPlan};
use super::still::StillPlan;
use super::{Input, Model, Trigger};

/// A number that was never given before.
pub(super) fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Turn a model into equations.
///
/// In one piece: half of it names the fields of the program, each once; the passes have names of their own.
///
/// # Errors
///
/// The model has no equations of this kind: a pair of features without contact geometry, a slip formula that is not linear in
/// the velocities, a mass that changes, … The message names the part and its place in the file.
pub fn build(model: &Model) -> Result<CompiledSystem, BuildError> {
    let mut b = Builder::new(model);
    let b = &mut b;
    check(b)?;
    let mut accounts = Accounts::new(b);
    let links = accounts.bodies(b);
    let space = accounts.space_bodies(b);
    let mut plan = ContactsPlan::new(b, &mut accounts)?;
    let mut touch = TouchPlan::new(b, &mut plan)?;
    accounts.forces(b, &plan.map);

    let main = Main::new(b, &plan, &accounts, (&links, &space), &touch);
    let mut guards = Guards::new(b, &plan, &main);
    let contours = guards.contours(b, &plan);
    let watches = guards.watches(b, &plan, &main);
    let encounters = guards.encounters(b, &plan, &main);
    let flanks = guards.flanks(b, &plan, &main);
    touch.register(&mut guards.parameter_roots);
    let sides = Sides::new(b, &plan, &main);

    let contacts = contact_infos(&plan);
    let rims = Rims::new(b, &plan.of_model);
    let still_plan = StillPlan::new(b, &plan, &contacts, &main.w_pattern);
    let surfaces = plan.flanks.iter().filter(|f| f.surface.is_some());
    let mut state_names: Vec<String> = model.states.iter().map(|z| z.name.clone()).collect();
    state_names.extend(surfaces.map(|f| format!("{}.surface", f.name)));
    let (q, u) = model.sizes();
    let dims = Dims {
        q,
        u,
        z: state_names.len(),
        memory: model.memory.len(),
        rows: plan.rows.len(),
        contacts: contacts.len(),
        latches: guards.latches,
        guards: guards.list.len(),
        crossings: main.crossings.len(),
    };
    let used = [
        &main.tape,
        &guards.switch_rates,
        &sides.restitution,
        &sides.outputs,
        &sides.sets,
        &sides.poses,
        &sides.space_poses,
        &sides.sizes,
        &sides.laws,
        &still_plan.tape,
        &rims.tape,
    ];
    let fill = fill(b, &plan, used.into_iter().chain(contours.iter().map(|c| &c.tape)), &dims);
    let moving = || [&main.tape, &guards.switch_rates].into_iter().chain(contours.iter().map(|c| &c.tape));
    let read: std::collections::HashSet<u32> = moving().flat_map(|t| t.inputs()).copied().collect();
    let fill_motion = Fill::new(fill.iter().filter(|(slot, _)| read.contains(slot)));
    let remembers = |slot: &u32| matches!(b.inputs.get(*slot as usize), Some(Input::Memory(_)));
    let memory_acts = moving().flat_map(|t| t.inputs()).any(remembers);
    let mass_moves = main.tree.moves() || main.space.moves() || !main.mass.moving.is_empty();
    let drive_moves = main.tree.is_driven() || main.space.is_driven() || !main.drive.moving.is_empty();
    let friction = [&main.w, &main.mu, &main.mu_static, &main.radius];
    // M of bodies in space alone
    let plain = mass_moves && accounts.mass.is_empty() && main.tensors.list.is_empty() && links.is_empty();
    let tree_shape = main.space.shape(dims.u, main.mass_pattern.len()).filter(|_| plain);
    let all_constant = !mass_moves
        && main.tensors.list.is_empty()
        && friction.into_iter().all(|list| list.moving.is_empty());
    let mut program = Program {
        id: number(),
        model: model.clone(),
        dims,
        contacts,
        of_model: plan.of_model.clone(),
        state_names,
        directions: directions(model),
        event_names: model.events.iter().map(|e| e.name.clone()).collect(),
        output_names: model.outputs.iter().map(|o| o.name.clone()).collect(),
        inputs: b.inputs.clone(),
        fill_all: Fill::new(fill.iter()),
        fill_motion,
        changing_first: [0; 2],
        fill,
        main: main.tape,
        mass_moves,
        drive_moves,
        all_constant,
        mass: main.mass,
        tree: main.tree,
        tree_shape,
        space: main.space,
        mass_pattern: main.mass_pattern,
        w_pattern: main.w_pattern,
        h: main.h,
        z_rate: main.z_rate,
        w: main.w,
        gap: main.gap,
        rate_offset: main.rate_offset,
        accel_offset: main.accel_offset,
        mu: main.mu,
        mu_static: main.mu_static,
        radius: main.radius,
        load: main.load,
        load_static: main.load_static,
        load_terms: main.load_terms,
        tensors: main.tensors,
        sections: main.sections,
        drive: main.drive,
        frames: main.frames,
        touch,
        changing: Vec::new(),
        powers: main.powers,
        energies: main.energies,
        crossings: main.crossings,
        switch_count: main.switches.len(),
        moving: b.inputs.iter().map(|i| !is_frozen(*i)).collect(),
        switch_rates: guards.switch_rates,
        guards: guards.list,
        relevance: guards.relevance,
        silent: guards.silent,
        memory_acts,
        slip_switches: guards.slip_switches,
        is_slip: guards.is_slip,
        contours,
        watches,
        encounters,
        flanks,
        still_plan,
        rims,
        sizes: sides.sizes,
        parameter_tape: Tape::new(&b.g, &guards.parameter_roots),
        demands: super::demands::Demands::new(model),
        until: model.run.until.map(|node| Tape::new(&model.graph, &[node])),
        restitution: sides.restitution,
        outputs: sides.outputs,
        sets: sides.sets,
        starts: sides.starts,
        poses: sides.poses,
        space_poses: sides.space_poses,
        laws: sides.laws,
        law_names: sides.law_names,
    };
    program.list_changing();
    Ok(CompiledSystem::new(program, &live_values(model)))
}

/// Values of the live parameters, by number.
fn live_values(model: &Model) -> Vec<f64> {
    let mut values = Vec::new();
    for p in &model.parameters {
        if let Some(k) = p.live {
            if values.len() <= k {
                values.resize(k + 1, f64::NAN);
            }
            values[k] = p.value;
        }
    }
    values
}

fn directions(model: &Model) -> Vec<Direction> {
    let of = |e: &super::Event| match e.trigger {
        Trigger::Crossing(_, 1..) => Some(Direction::Up),
        Trigger::Crossing(_, 0) => Some(Direction::Both),
        Trigger::Crossing(..) => Some(Direction::Down),
        Trigger::Contact(..) => None,
    };
    model.events.iter().filter_map(of).collect()
}

fn contact_infos(plan: &ContactsPlan) -> Vec<ContactInfo> {
    let mut contacts: Vec<ContactInfo> = Vec::new();
    for c in &plan.contacts {
        contacts.push(ContactInfo {
            name: c.name.clone(),
            normal: c.normal,
            tangent: c.tangent.into_iter().chain(c.second).chain(c.third).collect(),
            load_on: match c.follows {
                Some(k) => vec![k],
                None => c.terms.iter().flat_map(|&(k, _)| plan.of_model[k].clone()).collect(),
            },
            load_at: contacts.last().map_or(0, |c| c.load_at + c.load_on.len()),
            friction: c.friction,
        });
    }
    contacts
}

/// Guards and latches.
struct Guards {
    list: Vec<Guard>,
    latches: usize,
    relevance: Vec<Relevance>,
    silent: Vec<bool>,
    slip_switches: Vec<(usize, usize, f64)>,
    is_slip: Vec<bool>,
    switch_rates: Tape,
    /// Ranges of curves and corners of edges.
    parameter_roots: Vec<NodeId>,
}

impl Guards {
    /// Those of the switches.
    fn new(b: &mut Builder, plan: &ContactsPlan, main: &Main) -> Self {
        let switches = &main.switches;
        let mut list = Vec::new();
        let mut slip_switches = Vec::new();
        for (k, switch) in switches.iter().enumerate() {
            match switch.kind {
                SwitchKind::Sign => {
                    match slip_of(b, plan, switch.argument) {
                        Some((contact, factor)) => slip_switches.push((k, contact, factor)),
                        None => list.push(Guard::Sign { switch: k }),
                    };
                }
                SwitchKind::Floor => {
                    list.extend([false, true].map(|up| Guard::Floor { switch: k, up }));
                }
                SwitchKind::Cell => {
                    if let Op::Cell(t, _) = b.g.op(switch.node) {
                        let table = b.g.table(t).clone();
                        let cell = |up| Guard::Cell { switch: k, up, table: table.clone() };
                        list.extend([false, true].map(cell));
                    }
                }
            }
        }
        let mut is_slip = vec![false; switches.len()];
        slip_switches.iter().for_each(|&(k, ..)| is_slip[k] = true);
        let nodes = &main.roots.nodes;
        let followed: Vec<NodeId> =
            nodes[..main.dynamics].iter().chain(&main.crossing_nodes).copied().collect();
        let energies = main.energies.map(|k| nodes[k as usize]);
        let motion: Vec<NodeId> = nodes[..main.motion].iter().chain(&energies).copied().collect();
        let moving: HashSet<NodeId> = b.g.reach(&motion).into_iter().collect();
        let mut derivation = std::mem::replace(&mut b.total, Derivation::new([]));
        let rates: Vec<NodeId> = switches.iter().map(|s| derivation.of(&mut b.g, s.argument)).collect();
        b.total = derivation;
        Guards {
            list,
            latches: switches.len(),
            relevance: relevance(b, plan, switches, &followed),
            silent: switches.iter().map(|s| !moving.contains(&s.node)).collect(),
            slip_switches,
            is_slip,
            switch_rates: Tape::with_switches(&b.g, &rates, &mut switches.clone()),
            parameter_roots: Vec::new(),
        }
    }

    /// Ends of curves.
    fn contours(&mut self, b: &mut Builder, plan: &ContactsPlan) -> Vec<ContourSolver> {
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
                let closed = (0..3).all(|i| (ends[0][i] - ends[1][i]).abs() <= 1e-9 * size);
                let (mut latch, mut guard) = (None, 0);
                if !closed {
                    latch = Some(self.latches);
                    guard = self.list.len();
                    self.list.extend([-1, 1].map(|end| Guard::Contour { latch: self.latches, end }));
                    self.latches += 1;
                }
                self.parameter_roots.extend(u.range);
                let (slot, active) = (u.symbol.0 as usize, u.active.0 as usize);
                sigma.push(Sigma { slot, active, latch, guard });
            }
            let count = sigma.len();
            contours.push(ContourSolver { contact, tape: Tape::new(&b.g, &nodes), sigma, first });
            first += count;
        }
        contours
    }

    fn watches(&mut self, b: &mut Builder, plan: &ContactsPlan, main: &Main) -> Vec<WatchPlan> {
        let mut watches = Vec::new();
        let places = main.watch_corners.iter().copied().zip(main.watch_middles.iter().copied());
        for (i, ((contact, x), places)) in plan.watches.iter().zip(places).enumerate() {
            let source = self.parameter_roots.len();
            self.parameter_roots.extend(x.points.iter().flatten());
            let slots = (0..x.inputs).map(|j| b.symbol(Input::Feature(x.feature + j)).0 as usize).collect();
            watches.push(WatchPlan::new(*contact, x, slots, source, places, self.latches));
            self.latches += 1;
            self.list.extend([false, true].map(|up| Guard::Watch { watch: i, up }));
        }
        watches
    }

    fn encounters(&mut self, b: &mut Builder, plan: &ContactsPlan, main: &Main) -> Vec<EncounterPlan> {
        let mut out = Vec::new();
        for (i, (&(contact, ref h), &place)) in plan.hulls.iter().zip(&main.places).enumerate() {
            let source = self.parameter_roots.len();
            self.parameter_roots.extend(h.points.iter().flatten());
            let mut next = h.feature;
            let mut of_slot = |count: &usize| {
                let range = next..next + count;
                next += count;
                range.map(|k| b.symbol(Input::Feature(k)).0 as usize).collect()
            };
            let inputs: Vec<Vec<usize>> = h.inputs.iter().map(&mut of_slot).collect();
            let (latch, slots) = (self.latches, inputs.len());
            self.latches += slots;
            // one more for crossings to come
            self.list.extend((0..=slots).map(|slot| Guard::Feature { encounter: i, slot }));
            let encounter = Encounter::new(&h.forms);
            out.push(EncounterPlan { contact, latch, source, place, inputs, encounter });
        }
        out
    }

    fn flanks(&mut self, b: &mut Builder, plan: &ContactsPlan, main: &Main) -> Vec<FlankPlan> {
        let mut flanks = Vec::new();
        for (i, (f, &[away, force, gap, gap_rate])) in plan.flanks.iter().zip(&main.flank_roots).enumerate() {
            let slot = b.symbol(Input::Feature(f.feature)).0 as usize;
            flanks.push(FlankPlan {
                slot,
                latch: self.latches,
                surface: f.surface.map(|s| s.0),
                contact: f.contact,
                away,
                force,
                gap,
                gap_rate,
                damped: f.damped,
            });
            self.latches += 1;
            self.list.extend([false, true].map(|outer| Guard::Flank { which: i, outer }));
        }
        flanks
    }
}

/// Tapes that are not part of an evaluation.
struct Sides {
    restitution: Tape,
    outputs: Tape,
    sets: Tape,
    starts: Tape,
    poses: Tape,
    space_poses: Tape,
    sizes: Tape,
    laws: Tape,
    law_names: Vec<String>,
}

impl Sides {
    fn new(b: &mut Builder, plan: &ContactsPlan, main: &Main) -> Self {
        let model = b.model;
        let replaced = |b: &mut Builder, nodes: Vec<NodeId>| -> Vec<NodeId> {
            nodes.into_iter().map(|n| b.replace(n, &plan.map)).collect()
        };
        let tape = |b: &mut Builder, nodes: Vec<NodeId>| {
            let nodes = replaced(b, nodes);
            Tape::new(&b.g, &nodes)
        };
        let restitution = tape(b, plan.contacts.iter().flat_map(|c| c.restitution).collect());
        // outputs see the switches of the dynamics as they are frozen, so that they have both limits at an event
        let plotted = model.plots.iter().flat_map(|p| std::iter::once(p.x.1).chain(p.y.iter().map(|y| y.1)));
        let shown = model.outputs.iter().map(|o| o.value).chain(plotted).collect();
        let shown = replaced(b, shown);
        let outputs = Tape::with_switches(&b.g, &shown, &mut main.switches.clone());
        let changes = model.events.iter().flat_map(|e| e.set.iter().map(|s| s.1));
        let conditions = model.events.iter().filter_map(|e| e.when);
        let sets = tape(b, changes.chain(conditions).collect());
        let mut starts: Vec<NodeId> = model.coordinates.iter().flat_map(|c| [c.start, c.rate]).collect();
        starts.extend(model.free.iter().flat_map(|f| f.start.into_iter().chain(f.spin)));
        starts.extend(model.states.iter().map(|z| z.start));
        starts.extend(model.memory.iter().map(|m| m.start));
        let starts = tape(b, starts);
        let pose = |f: &super::frames::Frame| [f.pose.origin[0], f.pose.origin[1], f.pose.angle];
        let poses = b.frames.iter().flat_map(pose).collect();
        let poses = tape(b, poses);
        let of_space = b.space.iter().skip(1).flat_map(|f| f.numbers()).collect();
        let space_poses = tape(b, of_space);
        let (mut law_names, mut law_nodes) = (Vec::new(), Vec::new());
        for (name, node) in super::undefined::laws(model) {
            let node = b.replace(node, &plan.map);
            if b.depends_only(node, |i| !super::undefined::needs_more(i)) {
                law_names.push(name);
                law_nodes.push(node);
            }
        }
        let laws = Tape::new(&b.g, &law_nodes);
        let gaps: Vec<NodeId> = plan.rows.iter().map(|r| r.value).collect();
        let sizes = b.sizes(&gaps);
        let sizes = Tape::new(&b.g, &sizes);
        Sides { restitution, outputs, sets, starts, poses, space_poses, sizes, laws, law_names }
    }
}

/// What has no equations here.
fn check(b: &mut Builder) -> Result<(), BuildError> {
    let n = b.model.coordinates.len();
    for body in &b.model.bodies {
        let of_file = |i: Input| !matches!(i, Input::Coordinate(k) | Input::Velocity(k) if k >= n);
        if body.kinetic.is_some_and(|t| !b.depends_only(t, of_file)) {
            return Err(BuildError {
                message: format!(
                    "`kinetic` of `{}` depends on a free rotation; give the body an inertia, or turn it by angles",
                    body.name
                ),
                span: body.span,
            });
        }
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
                Input::Heat(k) => {
                    let of = plan.of_model.get(k)?;
                    Source::Heat(of.start, of.end)
                }
                _ => return None,
            };
            Some((slot, source))
        })
        .collect()
}
