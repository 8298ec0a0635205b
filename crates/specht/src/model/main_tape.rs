//! Roots of the main tape of a model, and where their values go: the first pass of [`super::compile`].

use std::collections::HashMap;
use std::sync::Arc;

use crate::expr::{NodeId, SwitchSet, Symbol, Tape};
use crate::linalg::Pattern;
use crate::system::Normal;

use super::contacts::ContactsPlan;
use super::contacts::SectionPlan;
use super::forces::{Accounts, Link};
use super::frames::Builder;
use super::lean::{TensorPlan, Tensors};
use super::program::Scatter;
use super::program::SectionRoots;
use super::space::{SpaceLink, TouchPlan};
use super::tree::{PlaneTree, SpaceTree};
use super::{Input, Trigger};

/// Up to this many velocities M and W are stored in full: nothing would be saved.
const FULL: usize = 12;

/// The main tape: everything an evaluation needs, and where it goes.
#[derive(Default)]
pub(super) struct Main {
    pub roots: Roots,
    /// Roots of the equations of motion come first, then those of energies and friction laws, then event functions.
    pub dynamics: usize,
    pub motion: usize,
    pub crossing_nodes: Vec<NodeId>,
    pub switches: SwitchSet,
    pub tape: Tape,
    pub tree: PlaneTree,
    pub space: SpaceTree,
    pub mass: Scatter,
    pub mass_pattern: Arc<Pattern>,
    pub w_pattern: Arc<Pattern>,
    pub h: Scatter,
    pub z_rate: Scatter,
    pub w: Scatter,
    pub gap: Scatter,
    pub rate_offset: Scatter,
    pub accel_offset: Scatter,
    pub mu: Scatter,
    pub mu_static: Scatter,
    pub radius: Scatter,
    pub load: Scatter,
    pub load_static: Scatter,
    pub load_terms: Scatter,
    pub tensors: Tensors,
    pub sections: Vec<(usize, SectionRoots)>,
    pub drive: Scatter,
    pub frames: Scatter,
    pub powers: [u32; 2],
    pub energies: [u32; 2],
    pub crossings: Vec<u32>,
    pub watch_corners: Vec<[u32; 2]>,
    pub watch_middles: Vec<Option<[u32; 2]>>,
    /// Where polyhedra that meet are.
    pub places: Vec<[u32; 12]>,
    pub flank_roots: Vec<[u32; 4]>,
}

impl Main {
    pub(super) fn new(
        b: &mut Builder,
        plan: &ContactsPlan,
        accounts: &Accounts,
        (links, space): (&[Link<2, 3, 1>], &[SpaceLink]),
        touch: &TouchPlan,
    ) -> Self {
        let mut m = Main::default();
        m.inertia(b, accounts, links, space);
        m.first_order(b, plan, accounts);
        let free = m.roots.nodes.len();
        m.tensors(plan);
        m.sections(plan);
        m.rows(b, plan);
        m.shapes(plan);
        for (k, node) in touch.poses().into_iter().enumerate() {
            m.roots.put(b, &mut m.frames, k, node);
        }
        m.dynamics = m.roots.nodes.len();
        m.powers(b, accounts);
        m.friction(b, plan);
        m.motion = m.roots.nodes.len();
        m.event_functions(b, plan);
        // energies last of all: stages of a step need none
        let early = m.roots.nodes.len();
        m.energies = [accounts.kinetic, accounts.potential].map(|n| m.roots.add(n));
        // a motion without contacts needs its forces and powers alone
        let powers = accounts.drive.iter().copied().chain([accounts.power, accounts.drive_offset]);
        let free: Vec<NodeId> = m.roots.nodes[..free].iter().copied().chain(powers).collect();
        let gaps = m.gap.moving.iter().map(|&(_, root)| m.roots.nodes[root as usize]).collect();
        let parts = [free, gaps, m.roots.nodes[..early].to_vec()];
        let still = |s: Symbol| matches!(b.inputs.get(s.0 as usize), Some(Input::Parameter(_)));
        m.tape = Tape::in_parts(&b.g, &m.roots.nodes, &parts, still, &mut m.switches);
        m
    }

    /// M: bodies along their tree, kinetic formulas entry by entry.
    fn inertia(&mut self, b: &Builder, accounts: &Accounts, links: &[Link<2, 3, 1>], space: &[SpaceLink]) {
        let n = b.model.sizes().1;
        self.tree = PlaneTree::new(b, links, |node| self.roots.add(node));
        self.space = SpaceTree::new(b, space, |node| self.roots.add(node));
        let mut entries: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
        let of_bodies = self.tree.couplings().into_iter().chain(self.space.couplings());
        for (i, j) in of_bodies.chain(accounts.mass.keys().copied()) {
            entries[i.max(j)].push(i.min(j));
        }
        let pattern = if n <= FULL { Pattern::lower(n) } else { Pattern::new(n, entries) };
        self.tree.locate(&pattern);
        self.space.locate(&pattern);
        for (&(i, j), &node) in &accounts.mass {
            if let Some(place) = pattern.find(i, j) {
                self.roots.put(b, &mut self.mass, place, node);
            }
        }
        self.mass_pattern = Arc::new(pattern);
    }

    fn first_order(&mut self, b: &mut Builder, plan: &ContactsPlan, accounts: &Accounts) {
        for (k, &node) in accounts.h.iter().enumerate() {
            self.roots.put(b, &mut self.h, k, node);
        }
        for (k, z) in b.model.states.iter().enumerate() {
            let rate = b.replace(z.rate, &plan.map);
            self.roots.put(b, &mut self.z_rate, k, rate);
        }
        for (state, rate) in plan.flanks.iter().filter_map(|f| f.surface) {
            self.roots.put(b, &mut self.z_rate, state, rate);
        }
    }

    /// Directions, gaps and offsets.
    fn rows(&mut self, b: &Builder, plan: &ContactsPlan) {
        let n = b.model.sizes().1;
        let mut entries: Vec<Vec<usize>> =
            plan.rows.iter().map(|row| row.columns.iter().map(|c| c.0).collect()).collect();
        // a tangent that leans has the columns of its normal too
        for t in &self.tensors.list {
            let normal = entries[t.rows[0]].clone();
            entries[t.rows[1]].extend(normal);
        }
        let rows = plan.rows.len();
        let pattern = if n <= FULL { Pattern::full(rows, n) } else { Pattern::new(n, entries) };
        for (r, row) in plan.rows.iter().enumerate() {
            for &(k, node) in &row.columns {
                if let Some(place) = pattern.find(r, k) {
                    self.roots.put(b, &mut self.w, place, node);
                }
            }
            self.roots.put(b, &mut self.gap, r, row.value);
            self.roots.put(b, &mut self.rate_offset, r, row.rate_offset);
            self.roots.put(b, &mut self.accel_offset, r, row.accel_offset);
        }
        self.w_pattern = Arc::new(pattern);
    }

    /// Friction tensors, and the ideal constraints beside them.
    fn tensors(&mut self, plan: &ContactsPlan) {
        let mut tensors = Vec::new();
        for (c, contact) in plan.contacts.iter().enumerate() {
            let (Normal::Unilateral { row } | Normal::Bilateral { row }) = contact.normal else { continue };
            if let (Some(entries), Some(tangent)) = (contact.tensor, contact.tangent) {
                let entries = entries.map(|list| list.map(|n| self.roots.add(n)));
                tensors.push(TensorPlan { contact: c, rows: [row, tangent], entries });
            }
        }
        let ideal = plan.contacts.iter().filter(|c| !c.friction).flat_map(|c| match c.normal {
            Normal::Bilateral { row } => vec![row],
            Normal::Pin { rows } => rows.to_vec(),
            Normal::Ball { rows } => rows.to_vec(),
            _ => Vec::new(),
        });
        self.tensors = Tensors::new(tensors, ideal.collect());
    }

    /// Sections of friction in the tangent plane that are not round.
    fn sections(&mut self, plan: &ContactsPlan) {
        for (c, contact) in plan.contacts.iter().enumerate() {
            let section = match contact.section {
                SectionPlan::Round => continue,
                SectionPlan::Tensor(list) => SectionRoots::Tensor(list.map(|n| self.roots.add(n))),
                SectionPlan::Ellipse(list) => SectionRoots::Ellipse(list.map(|n| self.roots.add(n))),
                SectionPlan::Patch { pressure, power } => SectionRoots::Patch { pressure, power },
            };
            self.sections.push((c, section));
        }
    }

    /// What tells edges and flanks where they are.
    fn shapes(&mut self, plan: &ContactsPlan) {
        let roots = &mut self.roots;
        self.watch_corners = plan.watches.iter().map(|x| x.1.corner.map(|n| roots.add(n))).collect();
        self.watch_middles =
            plan.watches.iter().map(|x| x.1.middle.map(|m| m.map(|n| roots.add(n)))).collect();
        self.places = plan.hulls.iter().map(|(_, h)| h.place.map(|n| roots.add(n))).collect();
        let of = |f: &super::contacts::Flank| [f.away, f.force, f.gap, f.gap_rate];
        self.flank_roots = plan.flanks.iter().map(|f| of(f).map(|n| roots.add(n))).collect();
    }

    fn powers(&mut self, b: &Builder, accounts: &Accounts) {
        for (k, &node) in accounts.drive.iter().enumerate() {
            self.roots.put(b, &mut self.drive, k, node);
        }
        self.powers = [accounts.power, accounts.drive_offset].map(|n| self.roots.add(n));
    }

    fn friction(&mut self, b: &Builder, plan: &ContactsPlan) {
        let mut term = 0;
        for (c, contact) in plan.contacts.iter().enumerate() {
            self.roots.put(b, &mut self.mu, c, contact.mu);
            self.roots.put(b, &mut self.mu_static, c, contact.mu_static);
            self.roots.put(b, &mut self.radius, c, contact.radius);
            self.roots.put(b, &mut self.load, c, contact.load);
            self.roots.put(b, &mut self.load_static, c, contact.load_static);
            for &(k, node) in &contact.terms {
                let times = if contact.follows.is_some() { 1 } else { plan.of_model[k].len() };
                for _ in 0..times {
                    self.roots.put(b, &mut self.load_terms, term, node);
                    term += 1;
                }
            }
        }
    }

    /// Event functions last: switches that only they use change no motion.
    fn event_functions(&mut self, b: &mut Builder, plan: &ContactsPlan) {
        for e in &b.model.events {
            if let Trigger::Crossing(node, _) = e.trigger {
                let node = b.replace(node, &plan.map);
                self.crossing_nodes.push(node);
                self.crossings.push(self.roots.add(node));
            }
        }
    }
}

/// Roots of a tape, each once.
#[derive(Default)]
pub(super) struct Roots {
    pub nodes: Vec<NodeId>,
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
