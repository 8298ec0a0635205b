//! Equations solved by Gauss–Newton: steps of minimum norm, halved until what is missing becomes less.

use super::{FullPivot, Mat, max_abs};

/// Equations at a place that can be moved.
pub(crate) trait Equations {
    /// Why there are no derivatives.
    type Error;
    /// What is missing at the present place, every entry by its size.
    fn missing(&mut self) -> Vec<f64>;
    /// Its derivatives by the steps.
    fn jacobian(&mut self) -> Result<Mat, Self::Error>;
    /// Steps begin at the present place from now on.
    fn stand(&mut self);
    /// Go to the place that is a part of a step away from where the step begins; no part: back to exactly there.
    fn go(&mut self, step: &[f64], part: f64);
}

/// When the search ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub steps: usize,
    pub halvings: usize,
    /// Nothing is missing below this.
    pub enough: f64,
}

/// The largest entry of what is missing where the search ended: done, or no part of the last step helps.
pub(crate) fn gauss_newton<E: Equations>(equations: &mut E, effort: Effort) -> Result<f64, E::Error> {
    let mut pivot = FullPivot::default();
    let mut missing = equations.missing();
    for _ in 0..effort.steps {
        let before = size(&missing);
        if before <= effort.enough {
            break;
        }
        let jacobian = equations.jacobian()?;
        let mut step = vec![0.0; jacobian.cols()];
        let rhs: Vec<f64> = missing.iter().map(|v| -v).collect();
        pivot.factor(&jacobian);
        pivot.solve(&rhs, &[], &mut step);
        equations.stand();
        let mut part = 2.0;
        let less = (0..effort.halvings).find_map(|_| {
            part *= 0.5;
            equations.go(&step, part);
            let there = equations.missing();
            (size(&there) < before).then_some(there)
        });
        match less {
            Some(there) => missing = there,
            None => {
                equations.go(&step, 0.0);
                break;
            }
        }
    }
    Ok(size(&missing))
}

/// The largest entry; what has no value is infinitely far.
fn size(missing: &[f64]) -> f64 {
    if missing.iter().all(|v| v.is_finite()) { max_abs(missing) } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of the plane on a circle of radius 1: one equation, two unknowns.
    struct Circle {
        at: [f64; 2],
        from: [f64; 2],
    }

    impl Equations for Circle {
        type Error = ();
        fn missing(&mut self) -> Vec<f64> {
            vec![self.at[0].hypot(self.at[1]) - 1.0]
        }
        fn jacobian(&mut self) -> Result<Mat, ()> {
            let r = self.at[0].hypot(self.at[1]);
            Ok(Mat::from_rows(&[self.at.map(|x| x / r)]))
        }
        fn stand(&mut self) {
            self.from = self.at;
        }
        fn go(&mut self, step: &[f64], part: f64) {
            self.at = [0, 1].map(|k| self.from[k] + part * step[k]);
        }
    }

    #[test]
    fn the_nearest_point_of_a_circle_lies_on_the_ray() {
        let mut circle = Circle { at: [3.0, 4.0], from: [0.0; 2] };
        let left = gauss_newton(&mut circle, Effort { steps: 20, halvings: 8, enough: 1e-15 }).unwrap();
        assert!(left <= 1e-15);
        assert!((circle.at[0] - 0.6).abs() < 1e-14 && (circle.at[1] - 0.8).abs() < 1e-14, "{:?}", circle.at);
    }
}
