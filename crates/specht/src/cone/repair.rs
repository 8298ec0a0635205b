//! Newton on a large island, with small neighbourhoods solved alone (METH-CONE-REPAIR)
//!
//! Where Newton stops on a large island, most contacts have found their modes, and few, in few places, hold the others up: their errors
//! are a hundred times larger. Each place is solved by itself, with the impulses around it held fixed, by the whole solver; Newton on
//! the island then settles what the new impulses changed far away. Both take turns:
//!
//! ```text
//! damped Newton on the island, a few steps
//! while work is left:  the contact with the largest error, the contacts around it, their problem with all other impulses fixed
//! ```
//!
//! Errors at the border of a place may rise: they are smooth, and Newton's business. A place that does not help is tried once more with
//! twice the contacts, and when a whole turn does not halve the error, all places are twice as large in the next one, on islands whose
//! factorisations are expensive; on others repairs end there. (Nonlinear
//! elimination, Lanzkron, Rose & Wilkes 1996; Cai & Keyes 2002.)

use super::body::{BodyForm, MassForm};
use super::cascade::{Counts, Method, Settings};
use super::cones::Cone;
use super::degenerate::law;
use super::form::Form;
use super::island::Island;
use super::kernel::V3;
use super::newton::restart;
use super::problem::Problem;
use super::solver::{Solver, Status};
use super::sparse::{Matrix, Sparse};
use crate::stop::Clock;

/// Least contacts of an island for this method: smaller ones have faster ways.
pub(super) const LEAST: usize = 300;
/// Error below which the troubles are few and apart, and the error at which the wide run of a very large island hands over.
pub(super) const NEAR: f64 = 2e-2;
pub(super) const ENTER: f64 = 1e-2;
/// The same for islands with cheap factorisations: a second run and the path cost less than repairs in many places.
pub(super) const SOON: f64 = 2e-4;
/// Contacts of a place at first, and the largest part of the island.
const SIZE: usize = 80;
const LARGEST: usize = 4;
/// Turns, and steps of Newton in each.
const TURNS: usize = 14;
const STEPS: usize = 3;
/// Places of a turn, how often one contact may be their centre, and the part of the largest error at which a turn ends.
const PLACES: usize = 16;
const VISITS: usize = 2;
const ENOUGH: f64 = 0.1;
/// Work on the places of a turn, relative to that of its Newton steps.
const WORK: f64 = 2.0;
/// Errors of a place and its border may grow by this factor.
const GROWTH: f64 = 30.0;
/// Contacts from which on a place may be followed along its split paths: before, a larger place is cheaper.
const HARD: usize = 4 * SIZE;
/// Tolerance of a place.
const EXACT: f64 = 1e-10;

/// From `x`, on return the best point seen; returns its error. Places grow where other paths are expensive (`grow`).
pub(super) fn repair(
    island: &mut Island,
    x: &mut [f64],
    mut best: f64,
    grow: bool,
    tol: f64,
    clock: &Clock,
    counts: &mut Counts,
) -> f64 {
    let Some(mut places) = Places::new(island) else { return best };
    let most = if grow { island.cones.len() / LARGEST } else { SIZE };
    let mut z = x.to_vec();
    let mut y = vec![0.0; x.len()];
    let (mut size, mut least) = (SIZE, f64::INFINITY);
    let mut keep = |z: &[f64], e: f64| {
        if e < best {
            best = e;
            x.copy_from_slice(z);
        }
        best < tol || clock.over()
    };
    for turn in 0..TURNS {
        let (e, steps) = restart(island, &mut z, tol, STEPS);
        counts.newton += steps;
        if keep(&z, e) || turn + 1 == TURNS || !e.is_finite() {
            break;
        }
        island.velocity(&z, &mut y);
        let plain = island.errors(&z, &y).plain;
        if plain < 0.5 * least {
            least = plain;
        } else if size < most {
            size = (2 * size).min(most);
        } else {
            break;
        }
        let work = WORK * STEPS as f64 * island.form.flops();
        places.turn(island, &mut z, size, work, tol, clock);
        island.velocity(&z, &mut y);
        let e = island.errors(&z, &y).max();
        if keep(&z, e) {
            break;
        }
    }
    best
}

/// Neighbourhoods of an island, and the problem of one.
struct Places {
    /// contacts of every body
    of_body: Vec<Vec<usize>>,
    /// errors of the contacts
    error: Vec<f64>,
    visits: Vec<usize>,
    /// stamp of the place a contact belongs to, number of the stamp
    stamp: Vec<usize>,
    now: usize,
    /// contacts and bodies of the place, contacts that touch these bodies
    list: Vec<usize>,
    bodies: Vec<usize>,
    around: Vec<usize>,
    /// first unknown of a body in the problem of the place
    first: Vec<usize>,
    /// impulses before
    old: Vec<V3>,
}

impl Places {
    /// `None` when impulses do not act through bodies with masses of their own.
    fn new(island: &Island) -> Option<Places> {
        let Form::Body(f) = &island.form else { return None };
        if !f.has_blocks() {
            return None;
        }
        let n = island.cones.len();
        let bodies = f.first.len() - 1;
        let mut of_body = vec![Vec::new(); bodies];
        for i in 0..n {
            f.terms_of(i).iter().for_each(|t| of_body[t.node].push(i));
        }
        Some(Places {
            of_body,
            error: vec![0.0; n],
            visits: vec![0; n],
            stamp: vec![0; n],
            now: 0,
            list: Vec::new(),
            bodies: Vec::new(),
            around: Vec::new(),
            first: vec![0; bodies],
            old: Vec::new(),
        })
    }

    /// Solve places of at least `size` contacts, the worst first, for at most `work` operations.
    fn turn(&mut self, island: &mut Island, x: &mut [f64], size: usize, work: f64, tol: f64, clock: &Clock) {
        let wide_only = size < HARD;
        let (cones, b, unit) = (&island.cones, &island.b, (island.q_s, island.q_max));
        let Form::Body(f) = &mut island.form else { return };
        f.velocity(x);
        self.visits.fill(0);
        for i in 0..cones.len() {
            self.error[i] = error(f, &cones[i], i, x, b, unit);
        }
        let least = (ENOUGH * self.error.iter().fold(0.0, |m: f64, e| m.max(*e))).max(0.1 * tol);
        let mut spent = 0.0;
        for _ in 0..PLACES {
            let Some(centre) = self.worst() else { break };
            if !(self.error[centre] > least) || spent > work || clock.over() {
                break;
            }
            self.visits[centre] += 1;
            let size = size << (self.visits[centre] - 1);
            self.grow(f, centre, size);
            let Some(p) = self.problem(f, cones, b, unit.0, x) else { break };
            let before = self.square();
            for method in [Method::Quick, Method::InteriorPoint] {
                let answer = self.solve(&p, method, wide_only, clock, &mut spent);
                if answer.is_some_and(|r| self.accept(f, cones, b, unit, x, &r, before)) {
                    break;
                }
            }
            // the impulses go back into the velocities
            for &i in &self.list {
                f.push(i, &f.rows[i].get(x));
            }
            for &i in &self.around {
                self.error[i] = error(f, &cones[i], i, x, b, unit);
            }
        }
    }

    /// The contact with the largest error that was not a centre too often.
    fn worst(&self) -> Option<usize> {
        let open = (0..self.error.len()).filter(|&i| self.visits[i] < VISITS);
        open.max_by(|&a, &b| self.error[a].total_cmp(&self.error[b]).then(b.cmp(&a)))
    }

    /// The contacts around `centre`, body by body, until there are `size`.
    fn grow(&mut self, f: &BodyForm, centre: usize, size: usize) {
        self.now += 1;
        self.list.clear();
        self.list.push(centre);
        self.stamp[centre] = self.now;
        let mut next = 0;
        while next < self.list.len() && self.list.len() < size {
            for t in f.terms_of(self.list[next]) {
                for &j in &self.of_body[t.node] {
                    if self.stamp[j] != self.now {
                        self.stamp[j] = self.now;
                        self.list.push(j);
                    }
                }
            }
            next += 1;
        }
        self.list.sort_unstable();
        self.bodies.clear();
        self.bodies.extend(self.list.iter().flat_map(|&i| f.terms_of(i)).map(|t| t.node));
        self.bodies.sort_unstable();
        self.bodies.dedup();
        self.around.clear();
        self.around.extend(self.bodies.iter().flat_map(|&b| &self.of_body[b]));
        self.around.sort_unstable();
        self.around.dedup();
    }

    /// Its problem with all other impulses fixed; the own impulses are taken out of the velocities.
    fn problem(
        &mut self,
        f: &mut BodyForm,
        cones: &[Cone],
        b: &[f64],
        q_s: f64,
        x: &[f64],
    ) -> Option<Problem> {
        let MassForm::Blocks { at, m, .. } = &f.mass else { return None };
        let (mut mass, mut total) = (Vec::new(), 0);
        for &body in &self.bodies {
            self.first[body] = total;
            let size = f.size(body);
            for r in 0..size {
                mass.extend((0..size).map(|c| (total + r, total + c, m[at[body] + r * size + c])));
            }
            total += size;
        }
        let (mut h, mut w, mut contacts) = (Vec::new(), Vec::new(), Vec::new());
        self.old.clear();
        for (key, &i) in self.list.iter().enumerate() {
            let rows = f.rows[i];
            for t in f.terms_of(i) {
                let size = f.size(t.node);
                for l in 0..rows.d {
                    let from = t.at + l * size;
                    let to = self.first[t.node];
                    h.extend((0..size).map(|c| (w.len() + l, to + c, f.h[from + c])));
                }
            }
            w.extend_from_slice(&b[rows.at..rows.at + rows.d]);
            contacts.push(law(&cones[i], q_s, key as u64));
            let own = rows.get(x);
            self.old.push(own);
            f.push(i, &own.map(|v| -v));
        }
        let free: Vec<f64> = self
            .bodies
            .iter()
            .flat_map(|&body| (0..f.size(body)).map(move |c| (body, c)))
            .map(|(body, c)| f.component(body, c))
            .collect();
        let mass = Matrix::Sparse(Sparse::from_triplets(total, total, &mass).ok()?);
        let h = Matrix::Sparse(Sparse::from_triplets(w.len(), total, &h).ok()?);
        Some(Problem::from_bodies(mass, h, &free, w, contacts))
    }

    /// Its solution, from the present impulses.
    fn solve(
        &self,
        p: &Problem,
        method: Method,
        wide_only: bool,
        clock: &Clock,
        spent: &mut f64,
    ) -> Option<Vec<f64>> {
        let settings =
            Settings { tolerance: EXACT, method, parallel: false, restarts: 1, ..Default::default() };
        let mut solver = Solver::new(settings);
        solver.start_from(self.old.iter().enumerate().map(|(key, r)| (key as u64, *r)));
        let answer = solver.solve_place(p, wide_only, clock).ok()?;
        *spent += solver.work();
        (answer.status == Status::Solved).then_some(answer.r)
    }

    /// Take the impulses over, unless they make the errors around much larger.
    fn accept(
        &self,
        f: &mut BodyForm,
        cones: &[Cone],
        b: &[f64],
        unit: (f64, f64),
        x: &mut [f64],
        r: &[f64],
        before: f64,
    ) -> bool {
        let mut next = r.iter();
        for &i in &self.list {
            let rows = f.rows[i];
            x[rows.at..rows.at + rows.d].iter_mut().zip(&mut next).for_each(|(x, r)| *x = *r);
            f.push(i, &rows.get(x));
        }
        let after: f64 = self.around.iter().map(|&i| error(f, &cones[i], i, x, b, unit).powi(2)).sum();
        let good = after < GROWTH * GROWTH * before;
        for (&i, old) in self.list.iter().zip(&self.old) {
            let rows = f.rows[i];
            f.push(i, &rows.get(x).map(|v| -v));
            if !good {
                rows.put(old, x);
            }
        }
        good
    }

    /// Sum of the squared errors around.
    fn square(&self) -> f64 {
        self.around.iter().map(|&i| self.error[i] * self.error[i]).sum()
    }
}

/// Error of contact `i` in the scaled measure, from the velocities of the bodies; `unit`: those of the island.
fn error(f: &BodyForm, c: &Cone, i: usize, x: &[f64], b: &[f64], (q_s, q_max): (f64, f64)) -> f64 {
    let (a, q, x) = (f.rows_from_velocity(i), c.rows.get(b), c.rows.get(x));
    let r = std::array::from_fn(|k| x[k] * c.scale[k]);
    let u = std::array::from_fn(|k| (a[k] + q[k]) / c.scale[k]);
    let e = c.kind.natural(&c.physical(q_s), r, u, c.rho);
    (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]).sqrt() / c.rho * q_s / q_max
}
