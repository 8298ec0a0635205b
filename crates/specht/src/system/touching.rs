//! Bodies that touch wherever they meet: what time steps need of them besides the contacts of the system.
//!
//! A frame has six rows of W: the velocity of its origin and its angular velocity, world axes; in the plane those that leave it
//! are empty. They belong to no contact. The force along
//! them is the resultant of everything that touches the frame, so that `M u⁺ = p + Wᵀ Λ` holds with the rows of the system alone.

use crate::shape::Shape;

/// Bodies that touch wherever they meet, with their shapes and laws.
#[derive(Clone, Debug, Default)]
pub struct Touching {
    pub(crate) frames: Vec<Frame>,
    pub(crate) solids: Vec<Solid>,
    pub(crate) rules: Vec<Rule>,
    /// Everything moves in the plane z = 0: there is one tangent.
    pub(crate) planar: bool,
}

/// A body, or the ground.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    pub name: String,
    /// First of its six rows.
    pub row: usize,
    /// The frame that carries it, when that one takes part.
    pub on: Option<usize>,
    /// Whether it moves with some velocity of the system.
    pub moves: bool,
}

/// A shape of a frame.
#[derive(Clone, Debug)]
pub(crate) struct Solid {
    pub name: String,
    pub frame: usize,
    pub shape: Shape,
}

/// A law, and the frames among which it holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rule {
    /// The contact of the system that stands for all its points.
    pub contact: usize,
    /// By frame.
    pub members: Vec<bool>,
    pub mu: f64,
    pub restitution: f64,
}

impl Touching {
    /// Rows of a point of this law: the normal, and the tangents where there is friction.
    pub(crate) fn rows(&self, rule: u32) -> usize {
        match self.rules[rule as usize].mu > 0.0 {
            true if self.planar => 2,
            true => 3,
            false => 1,
        }
    }

    /// The number of the law between two solids: the last that names both. `None`: they do not see each other, because neither moves, one carries the other,
    /// or nobody asks for it.
    pub(crate) fn law(&self, a: usize, b: usize) -> Option<usize> {
        let (a, b) = (self.solids[a].frame, self.solids[b].frame);
        let (fa, fb) = (&self.frames[a], &self.frames[b]);
        if a == b || !(fa.moves || fb.moves) || fa.on == Some(b) || fb.on == Some(a) {
            return None;
        }
        self.rules.iter().rposition(|r| r.members[a] && r.members[b])
    }
}
