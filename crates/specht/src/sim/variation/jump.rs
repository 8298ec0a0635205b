//! The columns at an instant: δt of the event that came, what moves along with it, and back to a fixed time.

use crate::system::{Along, Mode, System};

use super::super::field::Field;
use super::super::watch::What;
use super::place::{along, parts};
use super::turn::Decided;
use super::{Passed, Variation};

/// Rates of an event function below this, relative to what its terms make of it, are a touch without crossing.
const GRAZING: f64 = 1e-9;
/// Times of two events that move differently by more than this, relative to the larger, have an order.
const TOGETHER: f64 = 1e-6;

/// Rates that differ by less, beside the largest of their kind, are the same.
const SMOOTH: f64 = 1e-8;

/// A law without a derivative.
const NO_RATE: &str = "a law gives no derivatives (friction of a patch)";

/// What is known of the present instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Jump {
    /// δt is not determined: why. Matters where something changes.
    reason: Vec<Option<&'static str>>,
    /// Velocities jumped, memory was written.
    changed: bool,
    /// The next jump of velocities has been differentiated.
    announced: bool,
    modes: Vec<Mode>,
    latches: Vec<i32>,
    /// Decided directions of slip before, and contacts that came to slow slip.
    decided: Decided,
    slow: Vec<usize>,
    /// A contact turns with its velocity from now on.
    left: bool,
    /// Rates of the motion before.
    flow: Vec<f64>,
    /// Instants at which contacts began to stick, before.
    since: Vec<f64>,
}

impl Variation {
    /// The start of the run, where nothing has happened yet.
    pub(crate) fn begin<S: System + ?Sized>(&mut self, field: &Field<S>) {
        self.place.adopt(field);
        self.open(field);
        for column in &mut self.columns {
            column.dt = 0.0;
            column.moving[..self.n].copy_from_slice(&column.x);
            column.moving[self.n..].copy_from_slice(&column.memory);
        }
        self.jump.changed = true;
        self.keep();
        if field.sys.uses_heat() {
            self.lose_all(field.state.t, "the heat of a contact moves a state");
        }
    }

    fn open<S: System + ?Sized>(&mut self, field: &Field<S>) {
        let j = &mut self.jump;
        j.modes.clone_from(&field.discrete.modes);
        j.latches.clone_from(&field.discrete.latches);
        j.since.clone_from(&field.discrete.stick_since);
        j.decided.clone_from(&field.frozen);
        j.slow.clear();
        j.left = false;
        j.changed = false;
        j.announced = false;
        j.reason.clear();
        j.reason.resize(self.columns.len(), None);
        self.columns.iter_mut().for_each(|c| c.impulse.fill(0.0));
    }

    /// The event functions `found` of the field's list have come to zero; the field stands at the left limit.
    pub(crate) fn arrive<S: System + ?Sized>(&mut self, field: &Field<S>, found: &[usize], longest: f64) {
        self.open(field);
        if self.columns.iter().all(|c| c.lost) {
            return;
        }
        self.place.discrete.clone_from(&field.discrete);
        self.place.state.clone_from(&field.state);
        self.place.decided.clone_from(&field.frozen);
        let t = field.state.t;
        if !self.place.solve(field.sys, field.info) {
            return self.lose_all(t, "there are no forces at the event");
        }
        let whats: Vec<What> = found.iter().map(|&k| field.watches.list[k].what).collect();
        for what in &whats {
            if let What::Speed(i, _) | What::Back(i, ..) = what {
                self.jump.slow.push(*i);
            }
        }
        // ė along the motion, while decided directions stand still
        let (n, d) = (self.n, self.dims);
        let flow = self.place.flow.clone();
        self.jump.flow.clone_from(&flow);
        let (q, rest) = flow.split_at(d.q);
        let (u, z) = rest.split_at(d.u);
        let way = Along { t: 1.0, q, u, z, ..Along::default() };
        let still = vec![[0.0; 3]; d.contacts];
        if !self.place.differentiate(field.sys, &way, Some(&still)) {
            return self.lose_all(t, NO_RATE);
        }
        let passing: Vec<f64> =
            whats.iter().map(|w| self.place.watch_rate(field.info, *w, u, &still)).collect();
        let sizes: Vec<f64> = whats.iter().map(|w| size(field, *w, longest)).collect();
        for c in 0..self.columns.len() {
            let column = &mut self.columns[c];
            column.moving[..n].copy_from_slice(&column.x);
            column.moving[n..].copy_from_slice(&column.memory);
            column.dt = 0.0;
            if column.lost {
                continue;
            }
            self.place.differentiate(field.sys, &along(&d, column, 0.0), Some(&column.turn));
            let du = &column.x[d.q..d.q + d.u];
            let shifts: Vec<(What, f64, bool)> = (whats.iter().zip(&passing).zip(&sizes))
                .map(|((w, e), size)| {
                    let v = self.place.watch_rate(field.info, *w, du, &column.turn);
                    (*w, if v == 0.0 { 0.0 } else { -v / e }, e.abs() <= GRAZING * size && v != 0.0)
                })
                .collect();
            let slow = field.sys.uses_load_rate() && whats.iter().any(|w| matches!(w, What::Saturation(..)));
            match common(&shifts) {
                _ if slow => self.jump.reason[c] = Some("a friction law uses the rate of loading"),
                Ok(dt) => column.dt = dt,
                Err(reason) => self.jump.reason[c] = Some(reason),
            }
            self.place.advance_by(column.dt, &mut column.moving);
        }
        self.keep();
    }

    /// A moment opens: what follows may be taken back to here.
    pub(crate) fn keep(&mut self) {
        self.columns.iter_mut().for_each(|c| c.kept.copy_from_slice(&c.moving));
    }

    /// Impacts are taken back.
    pub(crate) fn take_back(&mut self) {
        for c in &mut self.columns {
            c.moving.copy_from_slice(&c.kept);
            c.impulse.fill(0.0);
        }
    }

    /// A contact in a tangent plane has left slow slip: it turns with its velocity from now on.
    pub(crate) fn leave(&mut self) {
        self.jump.left = true;
    }

    /// Velocities jump now.
    pub(crate) fn jumped(&mut self, time: f64) {
        self.jump.changed = true;
        if !std::mem::take(&mut self.jump.announced) {
            self.lose_all(time, "an impact without collision");
        }
    }

    pub(super) fn announce(&mut self) {
        self.jump.announced = true;
    }

    /// Events write to the memory: the field stands where they read.
    pub(crate) fn fire<S: System + ?Sized>(
        &mut self,
        field: &Field<S>,
        fired: &[usize],
        impulses: &crate::system::Forces,
    ) {
        self.jump.changed = true;
        if !self.place.stand(field) {
            return;
        }
        let n = self.n;
        for column in self.columns.iter_mut().filter(|c| !c.lost) {
            let mut memory = column.moving[n..].to_vec();
            if self.place.memory_rates(field.sys, column, fired, impulses, &mut memory) {
                column.moving[n..].copy_from_slice(&memory);
            }
        }
    }

    /// The instant is over: the field stands behind it. Events from number `first` on belong to it.
    pub(crate) fn depart<S: System + ?Sized>(&mut self, field: &Field<S>, first: usize, events: usize) {
        let t = field.state.t;
        let d = &field.discrete;
        let j = &self.jump;
        let changed = j.changed || j.left || j.modes != d.modes || j.latches != d.latches;
        let changed = changed || !j.slow.is_empty();
        self.out.times.resize(first.min(events), vec![f64::NAN; self.columns.len()]);
        let known =
            |(c, r): (&super::Column, &Option<_>)| if c.lost || r.is_some() { f64::NAN } else { c.dt };
        let times: Vec<f64> = self.columns.iter().zip(&self.jump.reason).map(known).collect();
        self.out.times.resize(events, times);
        if !changed || self.columns.iter().all(|c| c.lost) {
            return;
        }
        if !self.place.stand(field) {
            return self.lose_all(t, "there are no forces after the event");
        }
        let calm = self.stops(field) || self.smooth();
        let begins: Vec<(usize, [f64; 3])> = (0..field.info.len())
            .filter_map(|i| {
                let d = field.frozen[i].filter(|_| field.discrete.modes[i] == Mode::Slip)?;
                let kept = self.jump.decided[i] == Some(d) && !self.jump.slow.contains(&i);
                (!kept).then_some((i, d))
            })
            .collect();
        let (n, dims) = (self.n, self.dims);
        for c in 0..self.columns.len() {
            if let Some(reason) = self.jump.reason[c]
                && !calm
            {
                self.lose(c, t, reason);
            }
            let column = &mut self.columns[c];
            if column.lost {
                continue;
            }
            let dt = column.dt;
            if !begins.is_empty() {
                let mut turn = std::mem::take(&mut column.turn);
                let along = along(&dims, column, dt);
                let found = self.place.begin_slips(field.sys, &along, &begins, &mut turn);
                column.turn = turn;
                if !found {
                    self.lose(c, t, "the direction in which a slip begins is not determined");
                    continue;
                }
            }
            let column = &mut self.columns[c];
            self.place.advance_by(-dt, &mut column.moving);
            column.x.copy_from_slice(&column.moving[..n]);
            column.memory.copy_from_slice(&column.moving[n..]);
            for (i, since) in column.since.iter_mut().enumerate() {
                let (now, before) = (d.stick_since[i], self.jump.since[i]);
                if now.is_nan() {
                    *since = 0.0;
                } else if now.to_bits() != before.to_bits() {
                    *since = dt;
                }
            }
            // onto the new constraints: exactly, and without δt where several contacts stop
            let mut x = std::mem::take(&mut column.x);
            let along = parts(&dims, &x, &column.memory, column, 0.0);
            self.place.differentiate(field.sys, &along, None);
            let u = &mut x[dims.q..dims.q + dims.u];
            let rates: Vec<f64> = (0..dims.rows).map(|r| self.place.row_rate(r, u)).collect();
            self.place.fixed.project(&rates, u);
            column.x = x;
            if column.x.iter().any(|v| !v.is_finite()) {
                self.lose(c, t, "the derivative is not finite");
            }
        }
        let (held, closed) = self.place.held(field.info);
        self.out.instants.push(Passed { time: t, held, closed });
    }

    // the motion goes on with the rates that it had: when it happened does not matter, nor in which order
    fn smooth(&self) -> bool {
        let d = &self.dims;
        let (before, after) = (&self.jump.flow, &self.place.flow);
        let groups = [0..d.q, d.q..d.q + d.u, d.q + d.u..self.n];
        !self.jump.changed
            && before.len() == after.len()
            && groups.into_iter().all(|g| {
                let size = before[g.clone()].iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                g.into_iter().all(|i| (after[i] - before[i]).abs() <= SMOOTH * size)
            })
    }

    // nothing happened but stops
    fn stops<S: System + ?Sized>(&self, field: &Field<S>) -> bool {
        let pairs = self.jump.modes.iter().zip(&field.discrete.modes);
        !self.jump.changed
            && self.jump.latches == field.discrete.latches
            && pairs.into_iter().all(|(a, b)| a == b || (a.slides() && *b == Mode::Stick))
            && (self.jump.slow.iter()).all(|&i| field.discrete.modes[i] == Mode::Stick)
    }
}

/// What the rate of an event function is measured by.
fn size<S: System + ?Sized>(field: &Field<S>, what: What, longest: f64) -> f64 {
    let s = &field.watches.scales;
    match what {
        What::Gap(i) => s.rate[i],
        What::Slip(i, _) => {
            let row = field.info[i].tangent[0];
            field.eval.w.row(row).terms(&field.forces.accel) + field.eval.accel_offset[row].abs()
        }
        What::Normal(_) | What::Saturation(..) => s.force / longest,
        What::Guard(k) => s.guard[k] / longest,
        What::Crossing(k, _) => s.crossing[k] / longest,
        What::Speed(i, _) | What::Leave(i, _) | What::Back(i, ..) => {
            let terms = |&row: &usize| {
                field.eval.w.row(row).terms(&field.forces.accel) + field.eval.accel_offset[row].abs()
            };
            field.info[i].tangent.iter().map(terms).fold(0.0, f64::max)
        }
        What::Give(_) | What::Singular => f64::INFINITY,
    }
}

/// The common δt of all event functions. Marks follow the others.
fn common(shifts: &[(What, f64, bool)]) -> Result<f64, &'static str> {
    let decides = |w: &What| !matches!(w, What::Crossing(..));
    let some = shifts.iter().any(|s| decides(&s.0));
    let mut list = shifts.iter().filter(|s| !some || decides(&s.0));
    let Some(first) = list.next() else { return Ok(0.0) };
    if shifts.iter().any(|s| matches!(s.0, What::Give(_))) {
        return Err("forces in the small are not determined");
    }
    if shifts.iter().any(|s| matches!(s.0, What::Singular)) {
        return Err("the forces grow without bound: the border of a paradox");
    }
    if first.2 {
        return Err("grazing: the event is touched and not crossed");
    }
    for other in list {
        if other.2 {
            return Err("grazing: the event is touched and not crossed");
        }
        if (first.1 - other.1).abs() > TOGETHER * first.1.abs().max(other.1.abs()) {
            return Err("several events at one instant: their order depends on the direction of change");
        }
    }
    Ok(first.1)
}
