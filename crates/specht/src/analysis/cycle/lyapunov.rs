//! Lyapunov exponents with jumps (METH-LYAP): how fast neighbouring motions part, from the derivatives of the run.
//!
//! ```text
//! Φ_k Q_{k−1} = Q_k R_k  over equal intervals,     λ_i = Σ_k ln |R_k,ii| / time
//! ```
//!
//! Stick and plastic impacts forget directions: their exponents are −∞. The exponents are checked against Σ ln |det Φ_k| / time, found by
//! elimination, where no direction is forgotten. The error is that of the mean of blocks of intervals, and not less than what the later half of them differs by: motions that
//! part in proportion to time (a body that slides on evenly) have the exponent zero, and show it that way. [Muller1995]

use crate::analysis::place::Carried;
use crate::linalg::{Lu, Mat, axpy, dot};
use crate::model::CompiledSystem;
use crate::sim::{Outside, Record, Seed, Settings, StartError, Status, event_driven, event_driven_along};
use crate::system::State;

use super::symmetry::Symmetry;
use super::{seed_along, way_of_rates};

/// Blocks of the error.
const BLOCKS: usize = 20;
/// Intervals after which the directions are those of the motion.
const ALIGNED: usize = 20;
/// A direction shorter than this, beside the longest, is forgotten.
const FORGOTTEN: f64 = 1e-13;
/// What is left, in units of its size, of a number that nothing depends on when the drifts are taken away.
const ALONE: f64 = 1e-6;

/// Exponents of a motion.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exponents {
    /// Largest first; −∞ where a direction is forgotten.
    pub values: Vec<f64>,
    /// Mean of ln |det| per time.
    pub divergence: f64,
    /// Standard error of the largest.
    pub error: f64,
    /// The largest in every block.
    pub blocks: Vec<f64>,
    /// Time over which they were taken.
    pub time: f64,
}

/// Exponents of the motion from `start`: after `warm_up`, over `count` intervals of length `interval`.
pub(crate) fn lyapunov(
    sys: &CompiledSystem,
    start: &State,
    settings: &Settings,
    warm_up: f64,
    interval: f64,
    count: usize,
    outside: &mut Outside<'_>,
) -> Result<Result<Exponents, String>, StartError> {
    let ended =
        |status: Status, message: &str, t: f64| format!("the run is {} at t = {t}: {message}", status.word());
    // the transient, and the sizes of the motion
    let s = Settings { until: start.t + warm_up.max(interval), record: Record::Steps, ..settings.clone() };
    let run = event_driven(sys, start, &s, outside)?;
    if run.status != Status::Finished {
        return Ok(Err(ended(run.status, &run.message, run.time)));
    }
    let symmetry = Symmetry::of(sys, &run);
    let scale = &symmetry.scale;
    let kept = followed(&symmetry, 2 * start.u.len() + start.z.len());
    let n = kept.len();
    let mut state = Carried { state: run.last.state.clone(), ..Carried::of(sys, &run) }.mended(sys)?;
    let mut frame: Vec<Vec<f64>> =
        (0..n).map(|k| (0..n).map(|i| f64::from(u8::from(i == k))).collect()).collect();
    let mut sums = vec![0.0_f64; n];
    let mut divergence = 0.0;
    // of every direction: a drift keeps the first one to itself
    let mut blocks: Vec<Vec<f64>> = vec![Vec::new(); n];
    let (mut block, mut in_block) = (vec![0.0_f64; n], 0);
    let size = (count / BLOCKS).max(1);
    // the first intervals only turn the frame
    let turning = (count / 10).min(ALIGNED);
    for k in 0..count + turning {
        let real = |f: &Vec<f64>| {
            let mut way = vec![0.0; scale.len()];
            kept.iter().zip(f).for_each(|(&i, f)| way[i] = f * scale[i]);
            way
        };
        let seeds: Vec<Seed> = frame.iter().map(|f| seed_along(sys, &state, &real(f))).collect();
        let s = Settings { until: state.t + interval, record: Record::Nothing, ..settings.clone() };
        let run = event_driven_along(sys, &state, &s, outside, &seeds, false)?;
        if run.status != Status::Finished {
            return Ok(Err(ended(run.status, &run.message, run.time)));
        }
        let Some(d) = &run.derivatives else { return Ok(Err("no derivatives".into())) };
        if let Some(lost) = d.lost.first() {
            return Ok(Err(format!("at t = {}: {}", lost.time, lost.reason)));
        }
        let last = &run.last.state;
        let scaled = |c: &Vec<f64>| {
            let way = way_of_rates(last, c);
            kept.iter().map(|&i| way[i] / scale[i]).collect()
        };
        let image: Vec<Vec<f64>> = d.last.iter().map(scaled).collect();
        let mut lu = Lu::default();
        lu.factor(&Mat::from_rows(&image));
        let stretch = orthonormal(image, &mut frame);
        state = Carried { state: run.last.state.clone(), ..Carried::of(sys, &run) }.mended(sys)?;
        if k < turning {
            continue;
        }
        divergence += lu.det().abs().ln();
        for (sum, r) in sums.iter_mut().zip(&stretch) {
            *sum += r.ln();
        }
        block.iter_mut().zip(&stretch).for_each(|(b, r)| *b += r.ln());
        in_block += 1;
        if in_block == size {
            blocks.iter_mut().zip(&block).for_each(|(list, b)| list.push(b / (size as f64 * interval)));
            block.fill(0.0);
            in_block = 0;
        }
    }
    let time = count as f64 * interval;
    let largest = (0..n).max_by(|&a, &b| sums[a].total_cmp(&sums[b]));
    let blocks = largest.map_or_else(Vec::new, |k| blocks.swap_remove(k));
    let mut values: Vec<f64> = sums.iter().map(|s| s / time).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    let mean = blocks.iter().sum::<f64>() / blocks.len().max(1) as f64;
    let spread: f64 = blocks.iter().map(|b| (b - mean) * (b - mean)).sum();
    let error = (spread / (blocks.len().max(2) - 1) as f64 / blocks.len().max(1) as f64).sqrt();
    // motions that part in proportion to time part less and less: the later half tells
    let later = &blocks[blocks.len() / 2..];
    let late = later.iter().sum::<f64>() / later.len().max(1) as f64;
    let error = error.max((late - mean).abs());
    Ok(Ok(Exponents { values, divergence: divergence / time, error, blocks, time }))
}

/// The numbers of a state that others follow: all but memory that is only written. Counters and sums say nothing of how motions part; since
/// nothing depends on them, the rest has the exponents that it has beside them.
fn followed(symmetry: &Symmetry, memory: usize) -> Vec<usize> {
    let n = symmetry.scale.len();
    let alone = |i: usize| {
        let unit: Vec<f64> = (0..n).map(|k| if k == i { symmetry.scale[i] } else { 0.0 }).collect();
        symmetry.without_drift(&unit).iter().all(|x| x.abs() < ALONE)
    };
    (0..n).filter(|&i| i < memory || !alone(i)).collect()
}

/// Gram and Schmidt: an orthonormal frame of the images, and how each was stretched (0: forgotten).
fn orthonormal(mut image: Vec<Vec<f64>>, frame: &mut [Vec<f64>]) -> Vec<f64> {
    let n = image.len();
    let longest = image.iter().map(|v| dot(v, v).sqrt()).fold(0.0_f64, f64::max);
    let mut stretch = vec![0.0; n];
    for k in 0..n {
        for _ in 0..2 {
            for j in 0..k {
                let along = dot(&frame[j], &image[k]);
                axpy(-along, &frame[j].clone(), &mut image[k]);
            }
        }
        let length = dot(&image[k], &image[k]).sqrt();
        if length > FORGOTTEN * longest {
            stretch[k] = length;
            frame[k] = image[k].iter().map(|v| v / length).collect();
            continue;
        }
        // any direction that is left
        for unit in 0..n {
            let mut v: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == unit))).collect();
            for _ in 0..2 {
                for f in frame[..k].iter() {
                    let along = dot(f, &v);
                    axpy(-along, f, &mut v);
                }
            }
            let rest = dot(&v, &v).sqrt();
            if rest > 0.1 {
                frame[k] = v.iter().map(|x| x / rest).collect();
                break;
            }
        }
    }
    stretch
}
