//! Lines of meshes and height fields.

use crate::shape::Shape as Form;

/// Most triangles of a mesh that are drawn; of more every second, third, ….
const DRAWN: usize = 5000;
/// Parts of a line of equal x or y.
const PARTS: usize = 20;
/// Steps between such lines.
const LINES: usize = 10;

/// Numbers of at most [`DRAWN`] of so many things.
pub(super) fn thinned(count: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(count.div_ceil(DRAWN).max(1))
}

/// Lines of a surface: the sides of its triangles, or lines of equal x and y.
pub(super) fn surface_lines(form: &Form) -> Vec<Vec<[f64; 3]>> {
    match form {
        Form::Mesh(m) => thinned(m.triangles.len())
            .map(|k| {
                let [a, b, c] = m.triangles[k].map(|c| m.vertices[c as usize]);
                vec![a, b, c, a]
            })
            .collect(),
        Form::Field(f) => {
            let at = |i: f64, j: f64| {
                let (x, y) = (f.origin[0] + i * f.step[0], f.origin[1] + j * f.step[1]);
                [x, y, f.jet(x, y)[0]]
            };
            let [n, m] = f.nodes.map(|n| (n - 1) as f64);
            let part = |k: usize, of: f64| of * k as f64 / PARTS as f64;
            let across = (0..=LINES).map(|l| {
                let i = part(2 * l, n);
                (0..=PARTS).map(|k| at(i, part(k, m))).collect()
            });
            let along = (0..=LINES).map(|l| {
                let j = part(2 * l, m);
                (0..=PARTS).map(|k| at(part(k, n), j)).collect()
            });
            across.chain(along).collect()
        }
        _ => Vec::new(),
    }
}
