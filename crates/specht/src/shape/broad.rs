//! Which solids are near each other: a grid of cubes
//!
//! Every box along the axes is entered into the cubes it overlaps; a pair is reported in the cube that holds the lower corner of
//! what the two boxes have in common, so each pair comes once. Cubes are twice as long as the median box. Solids that would cover
//! many cubes (planes, floors, long beams) are compared with all others. The order of the pairs depends on nothing but the boxes.

use super::vec3::{V3, sub};

/// A solid that covers more cubes than this is compared with all others.
const MANY: i64 = 27;

/// Memory of the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Broad {
    /// Cube and solid.
    entries: Vec<([i64; 3], u32)>,
    large: Vec<u32>,
    sizes: Vec<f64>,
}

impl Broad {
    /// Numbers of solids whose boxes (low, high) overlap, the smaller first, in ascending order.
    pub(crate) fn pairs(&mut self, boxes: &[(V3, V3)], out: &mut Vec<[u32; 2]>) {
        out.clear();
        self.entries.clear();
        self.large.clear();
        self.sizes.clear();
        let extent = |b: &(V3, V3)| {
            let d = sub(b.1, b.0);
            d[0].max(d[1]).max(d[2])
        };
        self.sizes.extend(boxes.iter().map(extent).filter(|s| s.is_finite()));
        if self.sizes.is_empty() {
            return;
        }
        let middle = self.sizes.len() / 2;
        let (_, median, _) = self.sizes.select_nth_unstable_by(middle, f64::total_cmp);
        let cube = 2.0 * median.max(f64::MIN_POSITIVE);
        let cell = |p: V3| p.map(|x| (x / cube).floor().clamp(-1e15, 1e15) as i64);
        for (i, b) in boxes.iter().enumerate() {
            let (low, high) = (cell(b.0), cell(b.1));
            let count = (0..3).map(|k| high[k].saturating_sub(low[k]).saturating_add(1).min(MANY + 1));
            if !extent(b).is_finite() || count.product::<i64>() > MANY {
                self.large.push(i as u32);
                continue;
            }
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        self.entries.push(([x, y, z], i as u32));
                    }
                }
            }
        }
        self.entries.sort_unstable();
        for group in self.entries.chunk_by(|a, b| a.0 == b.0) {
            for (n, &(here, i)) in group.iter().enumerate() {
                for &(_, j) in &group[n + 1..] {
                    let (a, b) = (&boxes[i as usize], &boxes[j as usize]);
                    let corner = [0, 1, 2].map(|k| a.0[k].max(b.0[k]));
                    if overlap(a, b) && cell(corner) == here {
                        out.push([i.min(j), i.max(j)]);
                    }
                }
            }
        }
        for (n, &i) in self.large.iter().enumerate() {
            for j in 0..boxes.len() as u32 {
                let known = self.large[..n].contains(&j);
                if j != i && !known && overlap(&boxes[i as usize], &boxes[j as usize]) {
                    out.push([i.min(j), i.max(j)]);
                }
            }
        }
        out.sort_unstable();
    }
}

fn overlap(a: &(V3, V3), b: &(V3, V3)) -> bool {
    (0..3).all(|k| a.0[k] <= b.1[k] && b.0[k] <= a.1[k])
}
