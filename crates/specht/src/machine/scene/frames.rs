//! A run sampled at equal times for the moving picture: cubic between the recorded rows, which hold positions and
//! velocities, and therefore smooth however far apart they are.

use crate::sim::{Sample, Samples};
use crate::system::Mode;

/// Number of frames.
const FRAMES: usize = 900;

/// An interpolated row; only what a picture needs.
pub(super) struct Frame {
    t: f64,
    q: Vec<f64>,
    u: Vec<f64>,
    z: Vec<f64>,
    memory: Vec<f64>,
    normal: Vec<f64>,
    tangential: Vec<f64>,
    lambda: Vec<f64>,
    gap: Vec<f64>,
    slip: Vec<f64>,
    modes: Vec<Mode>,
}

impl Frame {
    /// As a row of the series.
    pub(super) fn sample(&self) -> Sample<'_> {
        Sample {
            t: self.t,
            q: &self.q,
            u: &self.u,
            z: &self.z,
            memory: &self.memory,
            accel: &[],
            gap: &self.gap,
            slip: &self.slip,
            normal: &self.normal,
            tangential: &self.tangential,
            rates: &[],
            lambda: &self.lambda,
            outputs: &[],
            energy: &[],
            modes: &self.modes,
            latches: &[],
        }
    }
}

/// Frames of the whole run, at least one when anything was recorded.
pub(super) fn frames(samples: &Samples) -> Vec<Frame> {
    let t = samples.times();
    let (Some(first), Some(last)) = (t.first(), t.last()) else { return Vec::new() };
    let count = if last > first { FRAMES } else { 1 };
    (0..count)
        .map(|k| frame(samples, first + (last - first) * k as f64 / (count.max(2) - 1) as f64))
        .collect()
}

/// The instant `time`.
fn frame(samples: &Samples, time: f64) -> Frame {
    let t = samples.times();
    let k = t.partition_point(|x| *x <= time).clamp(1, t.len()) - 1;
    let a = samples.row(k);
    let b = samples.row((k + 1).min(t.len() - 1));
    let h = b.t - a.t;
    let s = if h > 0.0 { ((time - a.t) / h).clamp(0.0, 1.0) } else { 0.0 };
    let line = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x + (y - x) * s).collect::<Vec<f64>>();
    // cubic Hermite where a velocity belongs to each coordinate
    let q = if a.q.len() == a.u.len() {
        let (s2, s3) = (s * s, s * s * s);
        (0..a.q.len())
            .map(|i| {
                (2.0 * s3 - 3.0 * s2 + 1.0) * a.q[i]
                    + (s3 - 2.0 * s2 + s) * h * a.u[i]
                    + (3.0 * s2 - 2.0 * s3) * b.q[i]
                    + (s3 - s2) * h * b.u[i]
            })
            .collect()
    } else {
        line(a.q, b.q)
    };
    Frame {
        t: time,
        q,
        u: line(a.u, b.u),
        z: line(a.z, b.z),
        memory: a.memory.to_vec(),
        normal: line(a.normal, b.normal),
        tangential: line(a.tangential, b.tangential),
        lambda: line(a.lambda, b.lambda),
        gap: line(a.gap, b.gap),
        slip: line(a.slip, b.slip),
        modes: a.modes.to_vec(),
    }
}
