//! Parts of a problem that do not feel each other: solved one by one, their solutions combined.

use super::collect::sort_out;
use super::pattern::{Leaf, Pattern};
use super::problem::{Affine, Friction, Kind, Problem};
use crate::linalg::Mat;

/// Entries of H below this do not couple (its diagonal is at most 1).
const COUPLED: f64 = 1e-13;
/// Combinations kept.
const MOST: usize = 1000;

/// The entries of x̂ in each island, ascending.
pub(crate) fn islands(p: &Problem) -> Vec<Vec<usize>> {
    let r = p.dim();
    let mut root: Vec<usize> = (0..r).collect();
    fn find(root: &mut [usize], mut i: usize) -> usize {
        while root[i] != i {
            root[i] = root[root[i]];
            i = root[i];
        }
        i
    }
    let mut join = |a: usize, b: usize| {
        let (a, b) = (find(&mut root, a), find(&mut root, b));
        root[a.max(b)] = a.min(b);
    };
    for i in 0..r {
        for j in 0..i {
            if p.h[(i, j)].abs() > COUPLED || p.h[(j, i)].abs() > COUPLED {
                join(i, j);
            }
        }
    }
    for (j, f) in p.friction.iter().enumerate() {
        let t = p.normals + j;
        let pins = f.pins.iter().flat_map(|&(k, _)| &p.pins[k]);
        for a in pins.chain([&f.load]) {
            (0..r).filter(|&k| a.coef[k] != 0.0).for_each(|k| join(t, k));
        }
        if let Kind::Normal(i) = f.kind {
            join(t, i);
        }
    }
    let roots: Vec<usize> = (0..r).map(|i| find(&mut root, i)).collect();
    let mut out: Vec<Vec<usize>> = Vec::new();
    for i in 0..r {
        match out.iter_mut().find(|g| roots[g[0]] == roots[i]) {
            Some(group) => group.push(i),
            None => out.push(vec![i]),
        }
    }
    out
}

/// The problem of one island.
pub(crate) fn restrict(p: &Problem, members: &[usize]) -> Problem {
    let place = |i: usize| members.iter().position(|&k| k == i).unwrap_or(0);
    let part = |a: &Affine| Affine { coef: members.iter().map(|&i| a.coef[i]).collect(), ..*a };
    let tangents = members.iter().filter(|&&i| i >= p.normals);
    Problem {
        h: Mat::from_fn(members.len(), members.len(), |i, j| p.h[(members[i], members[j])]),
        c: members.iter().map(|&i| p.c[i]).collect(),
        scale: members.iter().map(|&i| p.scale[i]).collect(),
        normals: members.iter().filter(|&&i| i < p.normals).count(),
        friction: tangents
            .map(|&i| {
                let f = &p.friction[i - p.normals];
                let kind = match f.kind {
                    Kind::Normal(n) => Kind::Normal(place(n)),
                    other => other,
                };
                Friction { kind, load: part(&f.load), ..f.clone() }
            })
            .collect(),
        pins: p.pins.iter().map(|[a, b]| [part(a), part(b)]).collect(),
        pin_contact: p.pin_contact.clone(),
    }
}

/// The solutions of an island, each once.
pub(crate) fn distinct(p: &Problem, found: &[(Leaf, Pattern)]) -> Vec<(Leaf, Pattern)> {
    let (points, families) = sort_out(p, found);
    let one = |x, null, pattern| (Leaf { x, null, feasible: true }, pattern);
    let points = points.into_iter().map(|(x, mut of)| one(x, Mat::zeros(0, p.dim()), of.swap_remove(0)));
    let families = families.into_iter().flatten().map(|f| one(f.x, f.null, f.pattern));
    points.chain(families).collect()
}

/// All combinations of the solutions of islands; false when there are too many to list.
pub(crate) fn combine(
    p: &Problem,
    islands: &[Vec<usize>],
    parts: &[Vec<(Leaf, Pattern)>],
    out: &mut Vec<(Leaf, Pattern)>,
) -> bool {
    let whole = Leaf { x: vec![0.0; p.dim()], null: Mat::zeros(0, p.dim()), feasible: true };
    let mut list = vec![(whole, Pattern::undecided(p))];
    let mut complete = true;
    for (members, part) in islands.iter().zip(parts) {
        let fits = list.len() * part.len() <= MOST;
        complete &= fits;
        let part = if fits { &part[..] } else { &part[..1.min(part.len())] };
        list = list.iter().flat_map(|whole| part.iter().map(|one| join(p, whole, one, members))).collect();
    }
    out.append(&mut list);
    complete
}

fn join(p: &Problem, whole: &(Leaf, Pattern), one: &(Leaf, Pattern), members: &[usize]) -> (Leaf, Pattern) {
    let (mut leaf, mut pattern) = whole.clone();
    let normals = members.iter().filter(|&&i| i < p.normals).count();
    let before = leaf.null.rows();
    let mut null = Mat::zeros(before + one.0.null.rows(), p.dim());
    (0..before).for_each(|k| null.row_mut(k).copy_from_slice(leaf.null.row(k)));
    for (e, &i) in members.iter().enumerate() {
        leaf.x[i] = one.0.x[e];
        for k in 0..one.0.null.rows() {
            null[(before + k, i)] = one.0.null[(k, e)];
        }
        if e < normals {
            pattern.closed[i] = one.1.closed[e];
        } else {
            pattern.state[i - p.normals] = one.1.state[e - normals];
            pattern.sign[i - p.normals] = one.1.sign[e - normals];
        }
    }
    leaf.null = null;
    leaf.feasible &= one.0.feasible;
    (leaf, pattern)
}
