//! Special points of a branch over a second parameter.

use crate::analysis::map::Watch;
use crate::machine::task::{BranchOf, BranchTask};
use crate::machine::{Error, Machine};

use super::branch::{BranchCurve, BranchFinding};

/// Values of the second parameter.
const VALUES: usize = 13;

impl Machine {
    /// Where the special points of a branch are at values of a second parameter, as long as they exist. The points are counted by label.
    pub(super) fn curves(
        &self,
        task: &BranchTask,
        found: &BranchFinding,
        second: &str,
        [low, high]: [f64; 2],
        watch: Watch,
    ) -> Result<Vec<BranchCurve>, Error> {
        let name = &found.over;
        let mut curves: Vec<(usize, BranchCurve)> = Vec::new();
        for s in &found.special {
            let count = curves.iter().filter(|c| c.1.label == s.label).count();
            let parameters = [name.clone(), second.to_string()];
            let ended = "bound of the parameter".to_string();
            curves.push((count, BranchCurve { label: s.label, parameters, points: Vec::new(), ended }));
        }
        let machine = self.opened(vec![name.clone(), second.to_string()])?;
        for k in 0..VALUES {
            if watch.is_interrupted() {
                break;
            }
            let value = low + (high - low) * k as f64 / (VALUES - 1) as f64;
            let there = machine.vary(&[(second, value)])?.special_points(task, name, watch);
            for (count, curve) in &mut curves {
                let mut same = there.iter().flatten().filter(|s| s.0 == curve.label);
                match same.nth(*count) {
                    Some(s) => curve.points.push([s.1, value]),
                    None if !curve.points.is_empty() => {
                        curve.ended = format!("no {} at {second} = {value}", curve.label);
                    }
                    None => {}
                }
            }
        }
        Ok(curves.into_iter().map(|c| c.1).filter(|c| !c.points.is_empty()).collect())
    }

    /// Labels and places of the special points over the first parameter; `None`: there is no branch.
    fn special_points(
        &self,
        task: &BranchTask,
        name: &str,
        watch: Watch,
    ) -> Option<Vec<(&'static str, f64)>> {
        let (_, from, to) = task.over.as_ref()?;
        let range = [*from, *to];
        let still = |f: BranchFinding| f.special.iter().map(|s| (s.label, s.parameter)).collect();
        match task.of {
            BranchOf::Rest => self.branch_of_rest(task, name, range, watch).ok().map(still),
            BranchOf::Sliding => self.branch_of_sliding(task, name, range, watch).ok().map(still),
            BranchOf::Cycle => {
                let first = self.vary(&[(name, range[0])]).ok()?;
                let (branch, _) = first.followed(task, name, range, watch).ok()?;
                Some(branch.special.iter().map(|s| (s.label, s.at.parameter)).collect())
            }
        }
    }
}
