//! What contacts do next: at their limits, at zero force, and whether another state belongs to the same load.

use super::rates::Held;
use super::{Decision, End, FEW, Follow, Happens, Loss, NOISE, SlowPath, Spot};
use crate::analysis::AnalysisError;
use crate::analysis::linear::Hold;
use crate::contact::space::{Cone, Does, Sliding, one};
use crate::system::System;

impl<S: System + ?Sized> Follow<'_, S> {
    /// A new pattern at the present spot.
    pub(super) fn decide(&mut self, happened: &[Happens], spot: &Spot) -> Result<Decision, AnalysisError> {
        self.put(spot);
        if happened.contains(&Happens::Margin) {
            // a load that asks for no more than the slip that goes on anyway leaves the choice between slip and stick
            let flat = self.pace()?.is_some_and(|p| p.limit.is_flat());
            let loss = if flat { Loss::Uniqueness } else { Loss::Continuity };
            return Ok(Decision::Ends(loss, self.sliding()));
        }
        let (mut slips, mut sticks, mut fresh) = (Vec::new(), Vec::new(), Vec::new());
        for what in happened {
            match *what {
                Happens::Parts(i) => self.open(i),
                Happens::Slips(i) => slips.push(i),
                Happens::Sticks(i) => sticks.push(i),
                _ => {}
            }
        }
        for what in happened {
            let Happens::Touches(i) = *what else { continue };
            if let Some(lost) = self.touch(i)? {
                return Ok(Decision::Ends(lost, vec![i]));
            }
            match self.modes[i] {
                Hold::Slide(_) => slips.push(i),
                _ => fresh.push(i),
            }
        }
        if let Some(&i) = slips.iter().find(|&&i| self.drops(i)) {
            return Ok(Decision::Ends(Loss::Continuity, vec![i]));
        }
        self.hold();
        let near = |&i: &usize| {
            matches!(self.modes[i], Hold::Stick | Hold::Slide(_))
                && !fresh.contains(&i)
                && (slips.contains(&i) || sticks.contains(&i) || self.bound(i)[1] <= 1e-9 * self.force)
        };
        let at: Vec<usize> = (0..self.modes.len()).filter(near).collect();
        let mut held = Held::new(&mut self.linear, &self.modes)?;
        let base = held.load(&mut self.linear)?;
        let n = held.n.clone();
        let found = held.limit(&mut self.linear, &at, base)?.all(&slips, &sticks);
        // of several the one in which all go on
        let sliding = self.sliding();
        let one = match &found[..] {
            [] => return Ok(Decision::Ends(Loss::Continuity, at)),
            [one] => one,
            _ => match found.iter().find(|r| r.slipping == sliding) {
                Some(one) => one,
                None => return Ok(Decision::Ends(Loss::Uniqueness, at)),
            },
        };
        for &i in &at {
            self.modes[i] = match one.slipping.contains(&i) {
                true => Hold::Slide(n[i].unwrap_or([1.0, 0.0])),
                false => Hold::Stick,
            };
        }
        self.hold();
        // what has parted must go on parting
        for what in happened {
            let Happens::Parts(i) = *what else { continue };
            let closes = self.linear.info[i].normal_row().is_some_and(|row| {
                let (e, v) = (&self.linear.eval, &one.answer.v);
                e.rate(row, v) < -NOISE * e.w.row(row).terms(v)
            });
            if closes {
                return Ok(Decision::Ends(Loss::Continuity, vec![i]));
            }
        }
        Ok(if found.len() > 1 { Decision::Stays(at) } else { Decision::Goes })
    }

    /// Whether static friction is above that of sliding: the force falls at once.
    fn drops(&self, i: usize) -> bool {
        let (e, given) = (&self.linear.eval, self.linear.info[i].is_given());
        let load = |n: f64| if given { n } else { 1.0 };
        e.mu_static[i] * load(e.load_static[i]) > (1.0 + 1e-9) * e.mu[i] * load(e.load[i])
    }

    /// Contact `i` closes without force: what it does from then on is the problem of one contact with the compliance of the structure.
    fn touch(&mut self, i: usize) -> Result<Option<Loss>, AnalysisError> {
        let c = &self.linear.info[i];
        let smooth = !c.friction || c.tangent.is_empty() || self.linear.eval.is_smooth(self.linear.info, i);
        self.hold();
        let Some(g) = self.compliance(i)? else { return Ok(Some(Loss::Continuity)) };
        let Some(pace) = self.pace()? else { return Ok(Some(Loss::Continuity)) };
        let rows: Vec<usize> = c.normal_row().into_iter().chain(c.tangent.iter().copied()).collect();
        let mut b = [0.0; 4];
        for (b, &row) in b.iter_mut().zip(&rows) {
            *b = self.linear.eval.rate(row, &pace.rates.answer.v);
        }
        let friction = Sliding::Rests { rest: self.linear.eval.mu_static[i], mu: self.linear.eval.mu[i] };
        let tangents = if smooth { 0 } else { c.tangent.len() };
        let section = self.linear.eval.section(i);
        let cone = Cone { at: 0, tangents, given: None, least: 0.0, friction, section, inner: None };
        let found: Vec<Does> =
            one(&cone, g, b).iter().map(|f| f.does).filter(|d| *d != Does::Opens).collect();
        let [does] = found[..] else {
            return Ok(Some(if found.is_empty() { Loss::Continuity } else { Loss::Uniqueness }));
        };
        self.modes[i] = match does {
            _ if smooth => Hold::Smooth,
            Does::Slips([x, y, _]) => Hold::Slide([x, y]),
            _ => Hold::Stick,
        };
        Ok(None)
    }

    /// Displacements of the rows of an open contact by unit forces on them; none where nothing holds it.
    fn compliance(&mut self, i: usize) -> Result<Option<[[f64; 4]; 4]>, AnalysisError> {
        let c = &self.linear.info[i];
        let rows: Vec<usize> = c.normal_row().into_iter().chain(c.tangent.iter().copied()).collect();
        let mut held = Held::new(&mut self.linear, &self.modes)?;
        let mut g = [[0.0; 4]; 4];
        for (k, &row) in rows.iter().enumerate() {
            let mut force = vec![0.0; self.linear.dims.u];
            self.linear.eval.w.row(row).add_to(-1.0, &mut force);
            let v = match held.answer(&mut self.linear, &force, |_| 0.0, 0.0) {
                Ok(answer) => answer.v,
                Err(AnalysisError::SingularStiffness) => return Ok(None),
                Err(e) => return Err(e),
            };
            for (j, &other) in rows.iter().enumerate() {
                g[j][k] = self.linear.eval.w.row(other).dot(&v);
            }
        }
        Ok(Some(g))
    }

    /// Whether some closed contact could as well be open, and the friction from which that is possible: of all forces inside the cone of friction one opens the
    /// gap, `G_NN − f |G_NT| < 0` (CB (3.8)).
    pub(super) fn others(&mut self, spot: &Spot, out: &mut SlowPath) -> Result<(), AnalysisError> {
        let closed: Vec<usize> = (0..self.modes.len())
            .filter(|&i| {
                // one with the friction 0 as well: what it would take is asked
                let c = &self.linear.info[i];
                self.modes[i] != Hold::Open && c.is_unilateral() && c.friction && !c.tangent.is_empty()
            })
            .collect();
        if closed.len() > FEW {
            return Ok(());
        }
        for i in closed {
            let (mode, lambda) = (self.modes[i], self.linear.lambda.clone());
            self.open(i);
            self.hold();
            let g = self.compliance(i)?;
            self.modes[i] = mode;
            self.linear.lambda = lambda;
            self.hold();
            let Some([row, ..]) = g else { continue };
            let c = &self.linear.info[i];
            let critical = row[0] / row[1].hypot(row[2]);
            if critical.is_finite() && out.critical.is_none_or(|(_, f)| critical < f) {
                out.critical = Some((i, critical));
            }
            let forces = c.normal_row().into_iter().chain(c.tangent.iter().copied());
            let pressed: f64 = forces.zip(row).map(|(r, g)| g * spot.lambda[r]).sum();
            let known = out.ends.iter().any(|e| e.open && e.contacts == [i]);
            if !known && pressed < -1e-9 * row[0].abs() * self.force {
                let reason = Loss::Uniqueness;
                out.ends.push(End { time: spot.t, reason, contacts: vec![i], stops: false, open: true });
            }
        }
        Ok(())
    }
}
