//! The moving picture as an animated GIF: drawn into a small canvas of few colours, packed by LZW (GIF89a).

use crate::session::Finished;
use specht::machine::scene::{BodyTrack, DrawTrack, Place, Prim, Scene};

const WIDTH: usize = 480;
const HEIGHT: usize = 360;
/// Frames, and hundredths of a second between them.
const FRAMES: usize = 100;
const DELAY: u16 = 8;
/// Colours: paper, ground, material of the ground, body, its edge, spring, contact.
const PALETTE: [[u8; 3]; 8] = [
    [0xf6, 0xf6, 0xf3],
    [0x8b, 0x8f, 0x86],
    [0xdc, 0xde, 0xd8],
    [0xd9, 0xde, 0xe5],
    [0x49, 0x51, 0x5c],
    [0x5b, 0x62, 0x6b],
    [0xc2, 0x41, 0x0c],
    [0xff, 0xff, 0xff],
];
const GROUND: u8 = 1;
const SOIL: u8 = 2;
const BODY: u8 = 3;
const EDGE: u8 = 4;
const SPRING: u8 = 5;

/// The file; `None` when there is nothing to draw.
pub fn gif(run: &Finished) -> Option<Vec<u8>> {
    let scene = run.run.scene()?;
    let mut out = Vec::from(*b"GIF89a");
    out.extend([WIDTH as u16, HEIGHT as u16].iter().flat_map(|x| x.to_le_bytes()));
    out.extend([0b1111_0010, 0, 0]); // global palette of 8 colours
    PALETTE.iter().for_each(|c| out.extend(c));
    out.extend(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"); // again and again
    out.extend(b"\x21\xfe\x0emade by specht\x00");
    let count = FRAMES.min(scene.t.len()).max(1);
    for n in 0..count {
        let k = n * (scene.t.len() - 1) / (count.max(2) - 1);
        let canvas = draw(&scene, k);
        out.extend([0x21, 0xf9, 4, 0]);
        out.extend(DELAY.to_le_bytes());
        out.extend([0, 0, 0x2c, 0, 0, 0, 0]);
        out.extend([WIDTH as u16, HEIGHT as u16].iter().flat_map(|x| x.to_le_bytes()));
        out.extend([0, 3]); // no palette of its own; codes begin with 3 + 1 bits
        for block in lzw(&canvas.pixels, 3).chunks(255) {
            out.push(block.len() as u8);
            out.extend(block);
        }
        out.push(0);
    }
    out.push(0x3b);
    Some(out)
}

struct Canvas {
    pixels: Vec<u8>,
    middle: [f64; 2],
    scale: f64,
    up: f64,
}

fn draw(s: &Scene, k: usize) -> Canvas {
    let b = if s.follow { s.near } else { s.bounds };
    let size = (b[2] - b[0]).max(b[3] - b[1]).max(1e-9);
    let pad = 0.08 * size;
    let scale = (WIDTH as f64 / (b[2] - b[0] + 2.0 * pad)).min(HEIGHT as f64 / (b[3] - b[1] + 2.0 * pad));
    let mut middle = [(b[0] + b[2]) / 2.0, (b[1] + b[3]) / 2.0];
    if s.follow {
        let n = s.bodies.len().max(1) as f64;
        for body in &s.bodies {
            middle[0] += body.places[k].at[0] / n;
            middle[1] += body.places[k].at[1] / n;
        }
    }
    let mut c = Canvas { pixels: vec![0; WIDTH * HEIGHT], middle, scale, up: s.up };
    s.ground.iter().for_each(|p| c.prim(p, &Place::default(), true));
    for draw in &s.draws {
        match draw {
            DrawTrack::Path(list) => {
                c.path(&list[k], list[k].len() > 3 && list[k].first() == list[k].last(), BODY, EDGE)
            }
            DrawTrack::Circle(list) => c.circle([list[k][0], list[k][1]], list[k][2] * scale, None, EDGE),
        }
    }
    for ends in &s.springs {
        c.line(c.at(ends[0][k]), c.at(ends[1][k]), 2.0, SPRING);
    }
    s.bodies.iter().for_each(|body| c.body(body, &body.places[k]));
    c
}

impl Canvas {
    fn at(&self, p: [f64; 2]) -> [f64; 2] {
        [
            WIDTH as f64 / 2.0 + (p[0] - self.middle[0]) * self.scale,
            HEIGHT as f64 / 2.0 - self.up * (p[1] - self.middle[1]) * self.scale,
        ]
    }

    fn body(&mut self, body: &BodyTrack, place: &Place) {
        if body.bones.len() > 1 {
            let points: Vec<[f64; 2]> = body.bones.iter().map(|p| self.at(place.point(*p))).collect();
            if points.len() > 2 {
                self.fill(&points, BODY);
            }
            for (width, colour) in [(8.0, EDGE), (5.0, BODY)] {
                for k in 0..points.len() - usize::from(points.len() == 2) {
                    self.line(points[k], points[(k + 1) % points.len()], width, colour);
                }
            }
        }
        body.shapes.iter().for_each(|p| self.prim(p, place, false));
    }

    fn prim(&mut self, p: &Prim, place: &Place, fixed: bool) {
        let (edge, inside) = if fixed { (GROUND, SOIL) } else { (EDGE, BODY) };
        match p {
            Prim::Point(q) => self.disc(self.at(place.point(*q)), 3.0, edge),
            Prim::Flat(q, n) => {
                let ([x, y], n) = (self.at(place.point(*q)), place.direction(*n));
                let (nx, ny, far) = (n[0], -n[1] * self.up, if fixed { 2000.0 } else { 60.0 });
                let corner = |along: f64, deep: f64| [x - ny * along - nx * deep, y + nx * along - ny * deep];
                self.fill(
                    &[corner(-far, 0.0), corner(far, 0.0), corner(far, 12.0), corner(-far, 12.0)],
                    SOIL,
                );
                self.line(corner(-far, 0.0), corner(far, 0.0), 2.0, GROUND);
            }
            Prim::Round(c, r, hole) => {
                let center = place.point(*c);
                self.circle(center, (r * self.scale).max(2.0), (!hole).then_some(inside), edge);
                if !hole && !fixed {
                    self.line(self.at(center), self.at(place.point([c[0] + r, c[1]])), 1.5, edge);
                }
            }
            Prim::Path(points, closed) => {
                let list: Vec<[f64; 2]> = points.iter().map(|q| place.point(*q)).collect();
                self.path(&list, *closed, inside, edge);
            }
            Prim::Block(w, h) => {
                let [x, y] = self.at(place.at);
                let (w, h) = ((w * self.scale / 2.0).max(5.0), (h * self.scale / 2.0).max(5.0));
                let corners = [[x - w, y - h], [x + w, y - h], [x + w, y + h], [x - w, y + h]];
                self.fill(&corners, inside);
                (0..4).for_each(|k| self.line(corners[k], corners[(k + 1) % 4], 2.0, edge));
            }
            Prim::Disc(d) => {
                let r = (d * self.scale / 2.0).max(8.0);
                self.circle(place.at, r, Some(inside), edge);
                let [x, y] = self.at(place.at);
                let (s, c) = (place.angle * self.up).sin_cos();
                self.line([x, y], [x + r * c, y - r * s], 2.0, edge);
            }
            Prim::Bar(l) => {
                let ([x, y], r) = (self.at(place.at), (l * self.scale / 2.0).max(14.0));
                let (s, c) = (place.angle * self.up).sin_cos();
                let ends = ([x - r * c, y + r * s], [x + r * c, y - r * s]);
                self.line(ends.0, ends.1, 8.0, edge);
                self.line(ends.0, ends.1, 5.0, inside);
            }
            Prim::Dot => self.circle(place.at, 7.0, Some(inside), edge),
        }
    }

    fn path(&mut self, points: &[[f64; 2]], closed: bool, inside: u8, edge: u8) {
        let list: Vec<[f64; 2]> = points.iter().map(|p| self.at(*p)).collect();
        if closed {
            self.fill(&list, inside);
        }
        for k in 0..list.len().saturating_sub(usize::from(!closed)) {
            self.line(list[k], list[(k + 1) % list.len()], 2.0, edge);
        }
    }

    fn circle(&mut self, center: [f64; 2], r: f64, inside: Option<u8>, edge: u8) {
        let c = self.at(center);
        if let Some(colour) = inside {
            self.disc(c, r, colour);
        }
        let n = (r.abs() as usize * 2).clamp(16, 200);
        let at = |k: usize| {
            let (s, co) = (k as f64 / n as f64 * std::f64::consts::TAU).sin_cos();
            [c[0] + r * co, c[1] + r * s]
        };
        (0..n).for_each(|k| self.line(at(k), at(k + 1), 2.0, edge));
    }

    fn disc(&mut self, c: [f64; 2], r: f64, colour: u8) {
        self.rows(
            c[1] - r,
            c[1] + r,
            |y| {
                let half = (r * r - (y - c[1]).powi(2)).max(0.0).sqrt();
                vec![[c[0] - half, c[0] + half]]
            },
            colour,
        );
    }

    /// A thick line: a rectangle with round ends.
    fn line(&mut self, a: [f64; 2], b: [f64; 2], width: f64, colour: u8) {
        if !a.iter().chain(&b).all(|x| x.is_finite()) {
            return;
        }
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length = dx.hypot(dy);
        if length > 0.0 {
            let (nx, ny) = (-dy / length * width / 2.0, dx / length * width / 2.0);
            self.fill(
                &[
                    [a[0] + nx, a[1] + ny],
                    [b[0] + nx, b[1] + ny],
                    [b[0] - nx, b[1] - ny],
                    [a[0] - nx, a[1] - ny],
                ],
                colour,
            );
        }
        if width > 3.0 || length == 0.0 {
            self.disc(a, width / 2.0, colour);
            self.disc(b, width / 2.0, colour);
        }
    }

    /// A polygon by the rule of even and odd.
    fn fill(&mut self, points: &[[f64; 2]], colour: u8) {
        if points.len() < 3 || !points.iter().flatten().all(|x| x.is_finite()) {
            return;
        }
        let (top, bottom) =
            points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p[1]), b.max(p[1])));
        self.rows(
            top,
            bottom,
            |y| {
                let mut cuts: Vec<f64> = (0..points.len())
                    .filter_map(|k| {
                        let (p, q) = (points[k], points[(k + 1) % points.len()]);
                        ((p[1] <= y) != (q[1] <= y))
                            .then(|| p[0] + (y - p[1]) / (q[1] - p[1]) * (q[0] - p[0]))
                    })
                    .collect();
                cuts.sort_by(f64::total_cmp);
                cuts.chunks_exact(2).map(|c| [c[0], c[1]]).collect()
            },
            colour,
        );
    }

    /// Intervals of every row of pixels between two heights; every row gets at least one pixel of them.
    fn rows(&mut self, top: f64, bottom: f64, spans: impl Fn(f64) -> Vec<[f64; 2]>, colour: u8) {
        if !(top.is_finite() && bottom.is_finite()) {
            return;
        }
        let first = top.floor().max(0.0) as usize;
        for y in first..HEIGHT.min(bottom.ceil().max(0.0) as usize) {
            for [from, to] in spans((y as f64 + 0.5).clamp(top, bottom)) {
                let (from, to) = (from.round().max(0.0) as usize, to.round().max(0.0) as usize);
                let end = to.max(from + 1).min(WIDTH);
                if from < end {
                    self.pixels[y * WIDTH + from..y * WIDTH + end].fill(colour);
                }
            }
        }
    }
}

/// Variable-length codes of GIF (appendix F of GIF89a), lowest bits first; `bits` is the size of a colour.
fn lzw(pixels: &[u8], bits: u32) -> Vec<u8> {
    let (clear, end) = (1usize << bits, (1usize << bits) + 1);
    let mut out = Vec::new();
    let (mut word, mut filled) = (0u32, 0);
    let mut put = |code: usize, size: u32| {
        word |= (code as u32) << filled;
        filled += size;
        while filled >= 8 {
            out.push(word as u8);
            word >>= 8;
            filled -= 8;
        }
        (word, filled)
    };
    // next[code][colour]: the code of a run that goes on with this colour; 0 when there is none
    let mut next = vec![[0u16; 8]; 4096];
    let (mut size, mut free) = (bits + 1, end + 1);
    put(clear, size);
    let mut run: Option<usize> = None;
    for &p in pixels {
        let Some(code) = run else {
            run = Some(p as usize);
            continue;
        };
        match next[code][p as usize] {
            0 => {
                put(code, size);
                if free < 4096 {
                    next[code][p as usize] = free as u16;
                    if free == 1 << size && size < 12 {
                        size += 1;
                    }
                    free += 1;
                } else {
                    put(clear, size);
                    next.iter_mut().for_each(|row| *row = [0; 8]);
                    (size, free) = (bits + 1, end + 1);
                }
                run = Some(p as usize);
            }
            longer => run = Some(longer as usize),
        }
    }
    if let Some(code) = run {
        put(code, size);
    }
    let (word, filled) = put(end, size);
    if filled > 0 {
        out.push(word as u8);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reverse of [`lzw`], written from the format.
    fn unpack(bytes: &[u8], bits: u32) -> Vec<u8> {
        let (clear, end) = (1usize << bits, (1usize << bits) + 1);
        let (mut table, mut size, mut out): (Vec<Vec<u8>>, u32, Vec<u8>) = (Vec::new(), bits + 1, Vec::new());
        let (mut at, mut last): (usize, Option<usize>) = (0, None);
        loop {
            let code = (0..size).fold(0, |c, k| {
                let bit = at + k as usize;
                c | usize::from(bytes[bit / 8] >> (bit % 8) & 1) << k
            });
            at += size as usize;
            if code == end {
                return out;
            }
            if code == clear {
                table = (0..clear).map(|c| vec![c as u8]).chain([vec![], vec![]]).collect();
                (size, last) = (bits + 1, None);
                continue;
            }
            if let Some(before) = last {
                let first = if code < table.len() { table[code][0] } else { table[before][0] };
                let longer = [&table[before][..], &[first]].concat();
                if table.len() < 4096 {
                    table.push(longer);
                }
            }
            out.extend(&table[code]);
            last = Some(code);
            if table.len() == 1 << size && size < 12 {
                size += 1;
            }
        }
    }

    #[test]
    fn packed_pixels_unpack_to_the_same() {
        let mut dice = 1u32;
        let noise: Vec<u8> = (0..60_000)
            .map(|k| {
                dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if k % 7 < 4 { (dice >> 29) as u8 } else { 3 }
            })
            .collect();
        for pixels in [vec![0; 5000], noise, vec![1], (0..8).collect()] {
            assert_eq!(unpack(&lzw(&pixels, 3), 3), pixels);
        }
    }
}
