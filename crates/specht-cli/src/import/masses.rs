//! Masses of MJCF bodies: as written, or of their geoms, meshes among them
//!
//! What a mesh weighs follows from its triangles a, b, c about a point o (s = a + b + c, D = a · (b × c), all from o):
//!
//! ```text
//! V = Σ D/6        V c = Σ D/24 s        ∫ x xᵀ = Σ D/120 (s sᵀ + a aᵀ + b bᵀ + c cᵀ)        I = tr(∫ x xᵀ) − ∫ x xᵀ
//! ```
//!
//! With `inertia="exact"` that is the solid. By default (`legacy`) MuJoCo takes |D|, about the centre of the faces for the centre c and about c
//! for the rest: more than the solid where a mesh is not convex, and a number where it is open. `shell` weighs the faces:
//! ∫ x xᵀ = Σ A/12 (…), A their areas. The place of a geom is that of the mesh as it is in its file, after `refpos`, `refquat` and `scale`.

use super::mjcf::Reader;
use super::solids::solid;
use super::turn::{self, Matrix, NONE};
use super::xml::Element;
use specht::machine::triangles;
use std::collections::HashMap;

/// Density of geoms without one, kg/m³.
const DENSITY: f64 = 1000.0;

/// A mesh of the file.
#[derive(Clone, Debug)]
pub struct Asset {
    /// Its file; none where the corners stand in the scene.
    pub file: Option<String>,
    pub scale: [f64; 3],
    /// Origin and axes that take the place of those of the file.
    pub place: Option<([f64; 3], Matrix)>,
    /// `legacy`, `exact`, `convex`, `shell`.
    pub inertia: String,
}

impl Asset {
    /// The scale where it is one number and the axes are those of the file.
    pub fn even(&self) -> Option<f64> {
        let [a, b, c] = self.scale;
        (self.place.is_none() && self.file.is_some() && a == b && a == c && a > 0.0).then_some(a)
    }
}

/// Volume (of a shell: area), centre, and inertia about it of density one.
type Filling = (f64, [f64; 3], Matrix);

/// How triangles are summed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sum {
    Signed,
    Absolute,
    Shell,
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Content, first and second moments about a point.
fn moments(list: &[[[f64; 3]; 3]], about: [f64; 3], sum: Sum) -> (f64, [f64; 3], Matrix) {
    let (mut zeroth, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for t in list {
        let p = t.map(|c| -> [f64; 3] { std::array::from_fn(|k| c[k] - about[k]) });
        let s: [f64; 3] = std::array::from_fn(|k| p[0][k] + p[1][k] + p[2][k]);
        let (part, mean, square) = match sum {
            Sum::Shell => {
                let side = |k: usize| std::array::from_fn(|i| p[k][i] - p[0][i]);
                let normal = cross(side(1), side(2));
                let area = 0.5 * dot(normal, normal).sqrt();
                (area, area / 3.0, area / 12.0)
            }
            _ => {
                let d = dot(p[0], cross(p[1], p[2]));
                let d = if sum == Sum::Absolute { d.abs() } else { d };
                (d / 6.0, d / 24.0, d / 120.0)
            }
        };
        zeroth += part;
        for i in 0..3 {
            first[i] += mean * s[i];
            for j in 0..3 {
                let own: f64 = p.iter().map(|x| x[i] * x[j]).sum();
                second[i][j] += square * (s[i] * s[j] + own);
            }
        }
    }
    (zeroth, first, second)
}

/// What triangles weigh; `None` when that is nothing.
fn filling(list: &[[[f64; 3]; 3]], sum: Sum) -> Option<Filling> {
    let faces = moments(list, [0.0; 3], Sum::Shell);
    let centre = faces.1.map(|x| x / faces.0);
    let (volume, first, _) = moments(list, centre, sum);
    let centre: [f64; 3] = std::array::from_fn(|k| centre[k] + first[k] / volume);
    let (volume, _, second) = moments(list, centre, sum);
    let trace = second[0][0] + second[1][1] + second[2][2];
    let inertia =
        std::array::from_fn(|i| std::array::from_fn(|j| if i == j { trace } else { 0.0 } - second[i][j]));
    // inside out: every sum changes its sign
    let sign = volume.signum();
    let inertia: Matrix = inertia;
    (volume != 0.0 && volume.is_finite() && centre.iter().all(|x| x.is_finite()))
        .then(|| (sign * volume, centre, inertia.map(|row| row.map(|x| sign * x))))
}

/// Whether every edge joins two triangles that run along it in opposite ways.
fn closed(list: &[[[f64; 3]; 3]]) -> bool {
    let key = |p: [f64; 3]| p.map(|x| (x + 0.0).to_bits());
    let mut open: HashMap<_, i32> = HashMap::new();
    for t in list {
        for k in 0..3 {
            let (a, b) = (key(t[k]), key(t[(k + 1) % 3]));
            if a != b {
                *open.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
            }
        }
    }
    open.values().all(|n| *n == 0)
}

impl Reader<'_> {
    /// Meshes by their names: those given, or those of the files.
    pub(super) fn assets(&mut self, root: &Element, folder: &str) -> Result<(), String> {
        for mesh in root.all("asset").flat_map(|a| a.all("mesh")) {
            let mesh = self.full(mesh, "main");
            let file = mesh.get("file");
            let own = file.map(|f| f.rsplit(['/', '\\']).next().unwrap_or(f));
            let stem = own.map(|own| own.rsplit_once('.').map_or(own, |x| x.0));
            let Some(name) = mesh.get("name").or(stem) else { continue };
            let path = |file: &str| match folder {
                "" => file.into(),
                folder => format!("{}/{file}", folder.trim_end_matches('/')),
            };
            let moved = mesh.get("refpos").is_some() || mesh.get("refquat").is_some();
            let axes = match mesh.numbers("refquat")?.map(<[f64; 4]>::try_from) {
                Some(q) => q
                    .ok()
                    .and_then(turn::quaternion)
                    .ok_or_else(|| format!("line {}: `refquat` of <mesh> is no orientation", mesh.line))?,
                None => NONE,
            };
            let asset = Asset {
                file: file.map(path),
                scale: mesh.triple("scale")?.unwrap_or([1.0; 3]),
                place: moved.then_some((mesh.triple("refpos")?.unwrap_or_default(), axes)),
                inertia: mesh.get("inertia").unwrap_or("legacy").into(),
            };
            self.meshes.insert(name.to_string(), asset);
        }
        Ok(())
    }

    /// The mesh that a geom names.
    pub(super) fn asset(&self, geom: &Element) -> Result<Option<&Asset>, String> {
        let Some(name) = geom.get("mesh") else { return Ok(None) };
        match self.meshes.get(name) {
            Some(asset) => Ok(Some(asset)),
            None => Err(format!("line {}: there is no mesh `{name}`", geom.line)),
        }
    }

    /// What a mesh weighs; else, and beside it, what is to be said.
    fn weigh(&self, asset: &Asset) -> (Option<Filling>, Option<String>) {
        let Some(file) = &asset.file else {
            return (None, Some("its corners stand in the scene, not in a file".into()));
        };
        let list = (self.bytes)(file).and_then(|bytes| triangles(file, &bytes));
        let mut list = match list {
            Ok(list) => list,
            Err(why) => return (None, Some(format!("`{file}`: {why}"))),
        };
        let (origin, axes) = asset.place.unwrap_or(([0.0; 3], NONE));
        for corner in list.iter_mut().flatten() {
            let from: [f64; 3] = std::array::from_fn(|k| corner[k] - origin[k]);
            let there = turn::times(turn::transposed(axes), from);
            *corner = std::array::from_fn(|k| asset.scale[k] * there[k]);
        }
        let (sum, mut say) = match asset.inertia.as_str() {
            "shell" => (Sum::Shell, None),
            "exact" => (Sum::Signed, None),
            "convex" => (Sum::Signed, Some(format!("`{file}`: its own mass is taken, not that of its hull"))),
            _ => (Sum::Absolute, None),
        };
        if sum != Sum::Shell && !closed(&list) {
            if sum == Sum::Signed {
                return (None, Some(format!("`{file}`: the mesh is not closed")));
            }
            say = Some(format!(
                "`{file}`: the mesh is not closed; it weighs what its faces enclose with their centre, as in MuJoCo"
            ));
        }
        match filling(&list, sum) {
            Some(filling) => (Some(filling), say),
            None => (None, Some(format!("`{file}`: the mesh encloses no volume"))),
        }
    }

    /// Mass, centre and inertia about it of a geom; what it lacks is said.
    fn geom_mass(&mut self, geom: &Element, label: &str) -> Result<Option<Filling>, String> {
        let given = geom.number("mass")?;
        let density = geom.number("density")?.unwrap_or(DENSITY);
        if given.unwrap_or(density) == 0.0 {
            return Ok(None);
        }
        let kind = geom.get("type").unwrap_or("sphere");
        if kind != "mesh" {
            let Some((shape, center, turn)) = self.shape(geom)? else {
                if kind != "plane" {
                    self.robot.left_out.push(format!("the mass of a geom of `{label}` ({kind})"));
                }
                return Ok(None);
            };
            let (volume, unit) = solid(shape);
            let mass = given.unwrap_or(density * volume);
            let mut inertia = [[0.0; 3]; 3];
            (0..3).for_each(|k| inertia[k][k] = mass * unit[k]);
            return Ok(Some((mass, center, turn::turned(turn, inertia))));
        }
        let Some(asset) = self.asset(geom)?.cloned() else {
            return Err(format!("line {}: this geom is a mesh but names none", geom.line));
        };
        let (filling, say) = self.weigh(&asset);
        if let Some(say) = say {
            let what = if filling.is_some() { "part of the mass" } else { "the mass" };
            self.robot.left_out.push(format!("{what} of a mesh of `{label}`: {say}"));
        }
        let Some((volume, center, inertia)) = filling else { return Ok(None) };
        let mass = given.unwrap_or(density * volume);
        let (at, axes) = (geom.triple("pos")?.unwrap_or_default(), self.angles.turn(geom)?);
        let center = turn::times(axes, center);
        let center = std::array::from_fn(|k| at[k] + center[k]);
        let inertia = inertia.map(|row| row.map(|x| x * mass / volume));
        Ok(Some((mass, center, turn::turned(axes, inertia))))
    }

    /// Mass of a body: as written, or from its geoms.
    pub(super) fn mass(
        &mut self,
        body: &Element,
        class: &str,
        label: &str,
    ) -> Result<Option<Filling>, String> {
        if let (Some(e), None | Some(false)) = (body.child("inertial"), self.from_geoms) {
            let mass = e.number("mass")?.unwrap_or(0.0);
            let center = e.triple("pos")?.unwrap_or_default();
            let inertia = match (e.triple("diaginertia")?, e.numbers("fullinertia")?.as_deref()) {
                (Some([a, b, c]), _) => [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]],
                (None, Some(&[xx, yy, zz, xy, xz, yz])) => [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]],
                _ => [[0.0; 3]; 3],
            };
            return Ok(Some((mass, center, turn::turned(self.angles.turn(e)?, inertia))));
        }
        let mut parts = Vec::new();
        for geom in body.all("geom").filter(|_| self.from_geoms != Some(false)).collect::<Vec<_>>() {
            let geom = self.full(geom, class);
            let group = geom.number("group")?.unwrap_or(0.0);
            if (self.groups[0]..=self.groups[1]).contains(&group) {
                parts.extend(self.geom_mass(&geom, label)?);
            }
        }
        let total: f64 = parts.iter().map(|p| p.0).sum();
        if !(total > 0.0) {
            return Ok(None);
        }
        let center: [f64; 3] =
            std::array::from_fn(|k| parts.iter().map(|p| p.0 * p.1[k]).sum::<f64>() / total);
        let mut inertia = [[0.0; 3]; 3];
        for (mass, at, own) in parts {
            let d: [f64; 3] = std::array::from_fn(|k| at[k] - center[k]);
            let square: f64 = d.iter().map(|x| x * x).sum();
            for i in 0..3 {
                for j in 0..3 {
                    inertia[i][j] += own[i][j] + mass * (if i == j { square } else { 0.0 } - d[i] * d[j]);
                }
            }
        }
        Ok(Some((total, center, inertia)))
    }

    /// Masses and inertias scaled to a total.
    pub(super) fn scale_masses(&mut self, total: f64) {
        let sum: f64 = self.robot.frames.iter().filter_map(|f| f.mass).map(|m| m.0).sum();
        if !(total > 0.0 && sum > 0.0) {
            return;
        }
        for (mass, _, inertia) in self.robot.frames.iter_mut().filter_map(|f| f.mass.as_mut()) {
            *mass *= total / sum;
            inertia.iter_mut().flatten().for_each(|x| *x *= total / sum);
        }
    }
}
