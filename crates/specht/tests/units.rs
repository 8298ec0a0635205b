//! No metre, no second, no kilogram is hidden in the engine: every model of the gallery runs in other units of length, time and mass.
//!
//! ```text
//! q' = s q,   t' = t / T,   E' = e E     ⇒     u' = s T u,   M' = e M/(sT)²,   h', λ' = e/s (h, λ),   g' = s g,   W' = W
//! ```
//!
//! With powers of two for s, T and e every number of the scaled run is the number of the original run times a power of two, so the
//! results agree to the last bit where no root or power of a quantity with a unit is taken, and to rounding elsewhere: one
//! constant with a unit anywhere in the engine would show.

use specht::machine::Machine;
use specht::model::CompiledSystem;
use specht::sim::{Record, Scheme, Settings, Trajectory, event_driven, time_stepping};
use specht::system::*;

/// What may differ by rounding.
const SAME: f64 = 1e-9;

/// Powers of two by which the numbers of lengths, times and masses grow.
const UNITS: [(&str, [i32; 3]); 8] = [
    ("nm", [30, 0, 0]),
    ("km", [-10, 0, 0]),
    ("µs", [0, 20, 0]),
    ("days", [0, -16, 0]),
    ("µg", [0, 0, 30]),
    ("kt", [0, 0, -20]),
    ("nm, µs, µg", [30, 20, 30]),
    ("km, days, kt", [-10, -16, -20]),
];

/// A system in other units.
struct Scaled<'a> {
    inner: &'a CompiledSystem,
    length: f64,
    time: f64,
    energy: f64,
}

impl<'a> Scaled<'a> {
    fn new(inner: &'a CompiledSystem, powers: [i32; 3]) -> Self {
        let [length, time, mass] = powers.map(|k| 2f64.powi(k));
        Scaled { inner, length, time: 1.0 / time, energy: mass * (length / time).powi(2) }
    }

    fn force(&self) -> f64 {
        self.energy / self.length
    }

    fn speed(&self) -> f64 {
        self.length * self.time
    }

    fn state_in(&self, s: &State) -> State {
        let mut out = s.clone();
        out.t *= self.time;
        out.q.iter_mut().for_each(|q| *q /= self.length);
        out.u.iter_mut().for_each(|u| *u /= self.speed());
        out
    }

    fn state_out(&self, s: &State) -> State {
        let mut out = s.clone();
        out.t /= self.time;
        out.q.iter_mut().for_each(|q| *q *= self.length);
        out.u.iter_mut().for_each(|u| *u *= self.speed());
        out
    }

    fn discrete_in(&self, d: &Discrete) -> Discrete {
        let mut out = d.clone();
        out.stick_since.iter_mut().for_each(|t| *t *= self.time);
        out.load_rate.iter_mut().for_each(|r| *r /= self.force() * self.time);
        out.heat.iter_mut().for_each(|p| *p /= self.energy * self.time);
        out
    }

    fn forces_in(&self, f: &Forces, factor: f64) -> Forces {
        let mut out = f.clone();
        for v in [&mut out.lambda, &mut out.normal, &mut out.tangential] {
            v.iter_mut().for_each(|x| *x /= factor);
        }
        out
    }

    /// Everything that the inner evaluation gave, in our units; the inner one is kept in the scratch.
    fn take(&self, inner: Box<Eval>, out: &mut Eval) {
        let each = |to: &mut [f64], from: &[f64], factor: f64| {
            to.iter_mut().zip(from).for_each(|(a, b)| *a = factor * b);
        };
        let (s, t, e) = (self.length, self.time, self.energy);
        each(out.mass.values_mut(), inner.mass.values(), e / (s * t * (s * t)));
        each(&mut out.h, &inner.h, e / s);
        each(&mut out.z_rate, &inner.z_rate, t);
        each(out.w.values_mut(), inner.w.values(), 1.0);
        each(&mut out.gap, &inner.gap, s);
        each(&mut out.rate_offset, &inner.rate_offset, s * t);
        each(&mut out.accel_offset, &inner.accel_offset, s * t * t);
        each(&mut out.mu, &inner.mu, 1.0);
        each(&mut out.mu_static, &inner.mu_static, 1.0);
        each(&mut out.load, &inner.load, e / s);
        each(&mut out.load_static, &inner.load_static, e / s);
        out.load_terms.clone_from(&inner.load_terms);
        each(&mut out.guards, &inner.guards, 1.0);
        each(&mut out.guard_sizes, &inner.guard_sizes, 1.0);
        each(&mut out.crossings, &inner.crossings, 1.0);
        each(&mut out.drive, &inner.drive, e / (s * t));
        each(&mut out.radius, &inner.radius, 1.0);
        out.kinetic = e * inner.kinetic;
        out.potential = e * inner.potential;
        out.power = e * t * inner.power;
        out.drive_offset = e * t * inner.drive_offset;
        out.tensor.clone_from(&inner.tensor);
        out.lean.clone_from(&inner.lean);
        out.sections.clone_from(&inner.sections);
        out.contour.clone_from(&inner.contour);
        out.singular = inner.singular;
        // what is constant is so in all units
        out.constants = Constants(inner.constants.0);
        out.scratch.put(inner);
    }

    fn inner_eval(&self, out: &mut Eval) -> Box<Eval> {
        out.scratch.take::<Eval>().unwrap_or_else(|| Box::new(self.inner.memory()))
    }
}

impl System for Scaled<'_> {
    fn dims(&self) -> Dims {
        self.inner.dims()
    }
    fn contacts(&self) -> &[ContactInfo] {
        self.inner.contacts()
    }
    fn memory(&self) -> Eval {
        self.inner.memory()
    }
    fn evaluate(&self, s: &State, d: &Discrete, out: &mut Eval) {
        let mut inner = self.inner_eval(out);
        self.inner.evaluate(&self.state_in(s), &self.discrete_in(d), &mut inner);
        self.take(inner, out);
    }
    fn tangent(&self, s: &State, d: &Discrete, at: &Eval, along: &Along<'_>, out: &mut Tangent) -> bool {
        let fresh = self.memory();
        let at = at.scratch.get::<Eval>().unwrap_or(&fresh);
        let times = |v: &[f64], factor: f64| v.iter().map(|x| factor * x).collect::<Vec<_>>();
        let (q, u) = (times(along.q, 1.0 / self.length), times(along.u, 1.0 / self.speed()));
        let along = Along { t: self.time * along.t, q: &q, u: &u, ..*along };
        let mut inner = Tangent { rate: *self.inner_eval(&mut out.rate) };
        let found = self.inner.tangent(&self.state_in(s), &self.discrete_in(d), at, &along, &mut inner);
        if found {
            self.take(Box::new(inner.rate), &mut out.rate);
        }
        found
    }
    fn latch(&self, s: &State, d: &mut Discrete, out: &mut Eval, keep: bool) {
        let mut inner = self.inner_eval(out);
        let mut own = self.discrete_in(d);
        self.inner.latch(&self.state_in(s), &mut own, &mut inner, keep);
        d.latches = own.latches;
        d.contour = own.contour;
        out.scratch.put(inner);
    }
    fn presses(&self, contact: usize, d: &Discrete) -> Option<bool> {
        self.inner.presses(contact, d)
    }
    fn guard_contact(&self, k: usize) -> Option<usize> {
        self.inner.guard_contact(k)
    }
    fn flip(&self, k: usize, d: &mut Discrete, eval: &Eval) {
        if let Some(inner) = eval.scratch.get::<Eval>() {
            self.inner.flip(k, d, inner);
        }
    }
    fn is_silent(&self, k: usize) -> bool {
        self.inner.is_silent(k)
    }
    fn follow(&self, s: &State, before: &Discrete, d: &mut Discrete, out: &mut Eval) -> bool {
        let mut inner = self.inner_eval(out);
        let mut own = self.discrete_in(d);
        let before = self.discrete_in(before);
        let changed = self.inner.follow(&self.state_in(s), &before, &mut own, &mut inner);
        d.latches = own.latches;
        out.scratch.put(inner);
        changed
    }
    fn restitution(&self, s: &State, d: &Discrete, out: &mut [Restitution]) {
        self.inner.restitution(&self.state_in(s), &self.discrete_in(d), out);
    }
    fn directions(&self) -> &[Direction] {
        self.inner.directions()
    }
    fn event_names(&self) -> &[String] {
        self.inner.event_names()
    }
    fn fire(
        &self,
        triggers: &[Trigger],
        at: Instant<'_>,
        memory: &mut [f64],
        fired: &mut Vec<usize>,
    ) -> bool {
        let Some(eval) = at.eval.scratch.get::<Eval>() else { return false };
        let accel: Vec<f64> = at.accel.iter().map(|a| a / (self.speed() * self.time)).collect();
        let inside = Instant {
            state: &self.state_in(at.state),
            discrete: &self.discrete_in(at.discrete),
            eval,
            accel: &accel,
            forces: &self.forces_in(at.forces, self.force()),
            impulses: &self.forces_in(at.impulses, self.force() / self.time),
        };
        self.inner.fire(triggers, inside, memory, fired)
    }
    fn uses_load_rate(&self) -> bool {
        self.inner.uses_load_rate()
    }
    fn uses_heat(&self) -> bool {
        self.inner.uses_heat()
    }
    fn length_scale(&self) -> f64 {
        self.length * self.inner.length_scale()
    }
    fn gap_scale(&self, row: usize) -> f64 {
        self.length * self.inner.gap_scale(row)
    }
}

/// Where and how two runs differ; nothing when they agree.
fn difference(a: &Trajectory, b: &Trajectory, start: &State, scaled: &Scaled) -> Option<String> {
    if a.status != b.status {
        return Some(format!("{:?} {} / {:?} {}", a.status, a.message, b.status, b.message));
    }
    for (k, (x, y)) in a.events.iter().zip(&b.events).enumerate() {
        let time = y.time * scaled.time;
        if x.kind != y.kind || (x.time - time).abs() > SAME * x.time {
            return Some(format!(
                "event {k}: {:?} at {} / {:?} at {time}: {}",
                x.kind, x.time, y.kind, y.note
            ));
        }
    }
    if a.events.len() != b.events.len() {
        return Some(format!("{} / {} events", a.events.len(), b.events.len()));
    }
    let last = scaled.state_in(&b.last.state);
    let largest = |v: &[f64]| v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    // of a machine that came to rest the rounding is left
    let both = [(&a.last.state.q, &last.q, &start.q), (&a.last.state.u, &last.u, &start.u)];
    let differ = both.into_iter().find_map(|(a, b, start)| {
        let bound = SAME * largest(a).max(SAME * largest(start));
        a.iter().zip(b).find(|(x, y)| (*x - *y).abs() > bound)
    });
    if let Some((x, y)) = differ {
        return Some(format!("end: {x} / {y}"));
    }
    (a.audit.passed != b.audit.passed).then(|| format!("audit: {:?} / {:?}", a.audit, b.audit))
}

/// The models of the gallery that run, with their names.
fn gallery() -> Vec<(String, Machine)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).expect("the gallery").flatten().map(|e| e.path()).collect();
    entries.sort();
    let only = std::env::var("SPECHT_ENTRY").unwrap_or_default();
    let read = |path: std::path::PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path.join("model.toml")).ok()?;
        Some((name, Machine::read(&text).ok()?))
    };
    entries.into_iter().filter_map(read).filter(|(name, _)| name.contains(&only)).collect()
}

/// Run every model that `wanted` has settings for, in all units.
fn compare(wanted: impl Fn(Scheme, Settings) -> Option<(Scheme, Settings)>, least: usize) {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, machine) in gallery() {
        let (Ok(start), Ok((scheme, settings))) = (machine.start(), machine.settings()) else { continue };
        let Some((scheme, mut settings)) = wanted(scheme, Settings { record: Record::Events, ..settings })
        else {
            continue;
        };
        if name == "synchronizer" {
            // afterwards rounding decides which of two events of one instant comes first
            settings.until = settings.until.min(0.12);
        }
        let system = machine.system();
        // unit quaternions have a length of their own, and so have the shapes of bodies that touch wherever they meet
        if system.dims().q != system.dims().u || system.touching().is_some() {
            continue;
        }
        count += 1;
        let one = run(system, scheme, &start, &settings);
        for (units, powers) in UNITS {
            let scaled = Scaled::new(system, powers);
            let settings = Settings {
                until: settings.until / scaled.time,
                step: settings.step / scaled.time,
                ..settings.clone()
            };
            let other = run(&scaled, scheme, &scaled.state_out(&start), &settings);
            let said = match (&one, &other) {
                (Ok(one), Ok(other)) => difference(one, other, &start, &scaled),
                (Err(a), Err(b)) if a == b => None,
                (a, b) => Some(format!("{:?} / {:?}", a.as_ref().err(), b.as_ref().err())),
            };
            wrong.extend(said.map(|said| format!("{name} in {units}: {said}")));
        }
    }
    assert!(count > least || std::env::var("SPECHT_ENTRY").is_ok(), "{count} models");
    assert!(wrong.is_empty(), "{} runs differ\n{}", wrong.len(), wrong.join("\n"));
}

fn run(sys: &impl System, scheme: Scheme, start: &State, settings: &Settings) -> Result<Trajectory, String> {
    let outside = &mut Default::default();
    let run = match scheme {
        Scheme::Event => event_driven(sys, start, settings, outside),
        Scheme::Step => time_stepping(sys, start, settings, outside),
    };
    run.map_err(|e| e.to_string())
}

#[test]
fn every_model_of_the_gallery_moves_the_same_in_other_units() {
    let wanted = |scheme, settings: Settings| {
        (scheme == Scheme::Event).then(|| (scheme, Settings { until: settings.until.min(1.5), ..settings }))
    };
    compare(wanted, 45);
}

#[test]
fn every_model_of_the_gallery_steps_the_same_in_other_units() {
    let wanted = |scheme, settings: Settings| {
        let step = if scheme == Scheme::Step { settings.step } else { settings.until.min(1.5) / 256.0 };
        Some((Scheme::Step, Settings { until: settings.until.min(256.0 * step), step, ..settings }))
    };
    compare(wanted, 45);
}
