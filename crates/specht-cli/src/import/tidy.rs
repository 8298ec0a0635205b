//! What a file of another program may hold and a model must not: joints that move nothing with mass, inertias of bodies that never turn.

use super::{Robot, Turn};

impl Robot {
    /// Bring into a form that can run; what that changes is named among what was left out.
    pub fn tidy(&mut self) {
        self.fix_massless();
        let (turns, moves) = self.motion();
        for (k, frame) in self.frames.iter_mut().enumerate() {
            if !moves[k] {
                frame.mass = None;
            } else if let (false, Some((_, _, inertia))) = (turns[k], &mut frame.mass) {
                *inertia = [[0.0; 3]; 3];
            }
        }
    }

    /// Which frames turn, and which move at all.
    fn motion(&self) -> (Vec<bool>, Vec<bool>) {
        let (mut turns, mut moves) = (Vec::new(), Vec::new());
        for frame in &self.frames {
            let of = |list: &Vec<bool>| frame.on.is_some_and(|k| list[k]);
            let turning = of(&turns) || frame.turns.iter().any(|t| !matches!(t, Turn::Constant(..)));
            turns.push(turning);
            moves.push(turning || of(&moves) || !frame.slides.is_empty());
        }
        (turns, moves)
    }

    /// Joints that carry no mass stay where they are.
    fn fix_massless(&mut self) {
        // joints below which something has mass, a rotor, or a free rotation
        let mut weighs: Vec<bool> = self.joints.iter().map(|j| j.armature > 0.0).collect();
        for frame in &self.frames {
            let heavy = frame
                .mass
                .is_some_and(|(mass, _, inertia)| mass > 0.0 || inertia.iter().flatten().any(|x| *x != 0.0));
            if !heavy && !frame.turns.contains(&Turn::Free) {
                continue;
            }
            let mut at = Some(frame);
            while let Some(frame) = at {
                frame.slides.iter().for_each(|(joint, _)| weighs[*joint] = true);
                for turn in &frame.turns {
                    if let Turn::Joint(_, joint, _) = turn {
                        weighs[*joint] = true;
                    }
                }
                at = frame.on.map(|k| &self.frames[k]);
            }
        }
        if weighs.iter().all(|w| *w) {
            return;
        }
        for (joint, _) in self.joints.iter().zip(&weighs).filter(|(_, w)| !**w) {
            self.left_out
                .push(format!("joint `{}`, which moves nothing with mass: it is fixed", joint.source));
        }
        self.keep(&weighs);
    }

    /// Keep these joints; the others stay at their start.
    fn keep(&mut self, kept: &[bool]) {
        let start: Vec<f64> = self.joints.iter().map(|j| j.start).collect();
        let mut number = 0;
        let new: Vec<Option<usize>> = (kept.iter())
            .map(|&kept| {
                number += usize::from(kept);
                kept.then(|| number - 1)
            })
            .collect();
        for frame in &mut self.frames {
            frame.slides.retain_mut(|(joint, direction)| match new[*joint] {
                Some(k) => {
                    *joint = k;
                    true
                }
                None => {
                    (0..3).for_each(|i| frame.position[i] += start[*joint] * direction[i]);
                    false
                }
            });
            for turn in &mut frame.turns {
                if let Turn::Joint(axis, joint, sign) = turn {
                    match new[*joint] {
                        Some(k) => *joint = k,
                        None => *turn = Turn::Constant(*axis, *sign * start[*joint]),
                    }
                }
            }
        }
        self.couplings.retain_mut(|(joint, other, _)| {
            let (first, second) = (new[*joint], other.map(|o| new[o]));
            match (first, second) {
                (Some(first), None) => *joint = first,
                (Some(first), Some(Some(second))) => (*joint, *other) = (first, Some(second)),
                _ => return false,
            }
            true
        });
        self.drives.retain_mut(|d| {
            let place = new[d.joint];
            d.joint = place.unwrap_or_default();
            place.is_some()
        });
        let mut k = 0;
        self.joints.retain(|_| {
            k += 1;
            kept[k - 1]
        });
    }
}
