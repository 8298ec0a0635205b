//! Surfaces from files and formulas: triangles of STL (text or binary) and OBJ, heights over a grid; what closed ones weigh.

use std::sync::Arc;

use super::builder::Builder;
use super::csv::Csv;
use super::diagnostic::{Resolved, fault};
use super::fields::Word;
use super::formula::Formula;
use super::raw_parts::{RawBody, RawFeature, RawShape};
use super::raw_space::{RawHeights, RawSpaceShape};
use crate::expr::{Dim, Exponents, NodeId, Symbol, Tape};
use crate::model::{ShapeData, Vector};
use crate::shape::{Field, Filling, Mesh, MeshError, Shape as Form, TRIANGLES, V3};

/// kg/m³.
const DENSITY: Dim = Dim::Known(Exponents::whole([-3, 1, 0, 0, 0]));
/// Cells of a height field that is given by a formula, along each side, unless it says so.
const CELLS: usize = 50;
/// Most nodes of a height field.
const NODES: usize = 4_000_000;

/// The triangles of a file that ends in `.stl` or `.obj`, three corners each.
///
/// # Errors
///
/// A sentence: another ending, or what is wrong with the file.
pub fn triangles(name: &str, bytes: &[u8]) -> Result<Vec<[[f64; 3]; 3]>, String> {
    match name.rsplit_once('.').map(|x| x.1.to_lowercase()).as_deref() {
        Some("stl") => stl(bytes),
        Some("obj") => obj(&String::from_utf8_lossy(bytes)),
        _ => Err("meshes are read from files that end in .stl or .obj".into()),
    }
}

fn stl(bytes: &[u8]) -> Result<Vec<[V3; 3]>, String> {
    let count = bytes.get(80..84).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    let binary = count.is_some_and(|n| n.checked_mul(50).is_some_and(|x| x + 84 == bytes.len()));
    let text = bytes.trim_ascii_start().starts_with(b"solid");
    if text && !binary {
        return stl_text(&String::from_utf8_lossy(bytes));
    }
    let Some(count) = count else { return Err("the file is too short for an STL file".into()) };
    if count > TRIANGLES {
        return Err(MeshError::TooMany(count).to_string());
    }
    let list = bytes[84..].chunks_exact(50);
    if list.len() < count {
        return Err(format!("the file ends after {} of {count} triangles", list.len()));
    }
    let number = |b: &[u8]| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let corner = |b: &[u8]| [number(b), number(&b[4..]), number(&b[8..])];
    // a normal, three corners, two bytes
    Ok(list.take(count).map(|t| [corner(&t[12..]), corner(&t[24..]), corner(&t[36..])]).collect())
}

/// Numbers of a line.
fn numbers(words: std::str::SplitWhitespace<'_>, line: usize) -> Result<V3, String> {
    let list: Vec<f64> = words.map_while(|w| w.parse().ok()).collect();
    match list[..] {
        [x, y, z, ..] => Ok([x, y, z]),
        _ => Err(format!("line {}: a corner has three numbers", line + 1)),
    }
}

fn stl_text(text: &str) -> Result<Vec<[V3; 3]>, String> {
    let (mut out, mut corners) = (Vec::new(), Vec::with_capacity(3));
    for (k, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("vertex") => corners.push(numbers(words, k)?),
            Some("endloop") => {
                match corners[..] {
                    [a, b, c] => out.push([a, b, c]),
                    _ => return Err(format!("line {}: a triangle has {} corners", k + 1, corners.len())),
                }
                corners.clear();
            }
            _ => {}
        }
        if out.len() > TRIANGLES {
            return Err(MeshError::TooMany(out.len()).to_string());
        }
    }
    Ok(out)
}

fn obj(text: &str) -> Result<Vec<[V3; 3]>, String> {
    let (mut points, mut out): (Vec<V3>, Vec<[V3; 3]>) = (Vec::new(), Vec::new());
    for (k, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => points.push(numbers(words, k)?),
            Some("f") => {
                // corner/texture/normal; negative numbers count from the end
                let corner = |w: &str| {
                    let n: i64 = w.split('/').next()?.parse().ok()?;
                    let place = if n < 0 { points.len() as i64 + n } else { n - 1 };
                    usize::try_from(place).ok().and_then(|p| points.get(p)).copied()
                };
                let face: Option<Vec<V3>> = words.map(corner).collect();
                let face = face
                    .ok_or_else(|| format!("line {}: this face names a corner that is not there", k + 1))?;
                if face.len() < 3 {
                    return Err(format!("line {}: a face has at least three corners", k + 1));
                }
                out.extend((1..face.len() - 1).map(|i| [face[0], face[i], face[i + 1]]));
            }
            _ => {}
        }
        if out.len() > TRIANGLES {
            return Err(MeshError::TooMany(out.len()).to_string());
        }
    }
    Ok(out)
}

impl Builder<'_> {
    /// The mesh of a file, read once.
    fn mesh_file(&mut self, file: &Word, scale: Option<&Formula>) -> Resolved<Arc<Mesh>> {
        let factor = match scale {
            Some(f) => {
                let value = self.constant(f, "the scale of a mesh")?;
                if !(value > 0.0 && value.is_finite()) {
                    let help = "write  scale = 0.001  for a file in millimetres";
                    return Err(f.error(format!("the scale of a mesh is {value}"), help).into());
                }
                value
            }
            None => 1.0,
        };
        let key = (file.text.clone(), factor.to_bits());
        if let Some(mesh) = self.meshes.get(&key) {
            return Ok(mesh.clone());
        }
        let bytes = (self.loader)(&file.text).map_err(|why| {
            let help = "the path is relative to the model file";
            fault(file.span, format!("cannot read `{}`: {why}", file.text), help)
        })?;
        let wrong = |why: String, help: &str| fault(file.span, format!("`{}`: {why}", file.text), help);
        let mut list = triangles(&file.text, &bytes)
            .map_err(|why| wrong(why, "export it again as STL or OBJ, with triangles"))?;
        list.iter_mut().flatten().flatten().for_each(|x| *x *= factor);
        let mesh = Mesh::of(&list).map_err(|e| {
            let help = match e {
                MeshError::TooMany(_) => "export a coarser mesh",
                MeshError::NotFinite => "export it again",
                _ => "a mesh is made of triangles with area: export it again as STL or OBJ",
            };
            wrong(e.to_string(), help)
        })?;
        if mesh.degenerate > 0 {
            let n = mesh.degenerate;
            let message = format!("`{}`: {n} of its triangles have no area and are left out", file.text);
            self.report.warning(file.span, message, "export it again without them");
        }
        let mesh = Arc::new(mesh);
        self.meshes.insert(key, mesh.clone());
        Ok(mesh)
    }

    /// `{ mesh = "file.stl", scale }`, or the convex hull of it.
    pub(super) fn mesh_shape(
        &mut self,
        file: &Word,
        scale: Option<&Formula>,
        hull: bool,
    ) -> Resolved<ShapeData> {
        let mesh = self.mesh_file(file, scale)?;
        if !hull {
            return Ok(ShapeData { form: Form::Mesh(mesh) });
        }
        let hull = mesh.hull().map_err(|e| {
            let help = "take a coarser mesh, whose corners do not all lie in one plane";
            fault(file.span, format!("`{}`: {e}", file.text), help)
        })?;
        Ok(ShapeData { form: Form::Hull(hull) })
    }

    /// Mass, centre and inertia of a body of constant density whose shapes are closed meshes.
    pub(super) fn filled(
        &mut self,
        body: &RawBody,
        name: &str,
    ) -> Resolved<Option<(NodeId, Vector, [Vector; 3])>> {
        let Some(density) = &body.space.density else { return Ok(None) };
        for (what, span) in [
            ("mass", body.mass.as_ref().map(|f| f.span)),
            ("inertia", body.space.inertia.as_ref().map(|x| x.1).or(body.inertia.as_ref().map(|f| f.span))),
            ("center", body.space.center.as_ref().map(|f| f[0].span)),
        ] {
            if let Some(span) = span {
                let message = format!("body `{name}` has both `density` and `{what}`");
                return Err(fault(
                    span,
                    message,
                    "a density gives mass, centre and inertia: keep one of the two",
                ));
            }
        }
        let rho = self.lower_as(density, DENSITY, &format!("the density of `{name}`"))?;
        self.of_parameters(density, rho, &format!("the density of `{name}`"))?;
        if let Some(value) = self.default_value(rho)
            && !(value > 0.0 && value.is_finite())
        {
            return Err(density
                .error(format!("the density of `{name}` is {value}"), "it must be positive")
                .into());
        }
        let mut whole: Option<Filling> = None;
        for feature in &body.features {
            let RawFeature { shape: RawShape::Space(RawSpaceShape::Mesh { file, scale, .. }), .. } = feature
            else {
                continue;
            };
            let mesh = self.mesh_file(file, scale.as_ref())?;
            let part = mesh.filling().map_err(|e| {
                let help = "close its holes, or write `mass`, `center` and `inertia` instead of `density`";
                fault(file.span, format!("`{}`: {e}", file.text), help)
            })?;
            whole = Some(whole.map_or(part, |w| w.join(&part)));
        }
        let Some(filling) = whole else {
            let help = "give it a closed mesh,  features = { skin = { mesh = \"part.stl\" } },  or write `mass` and `inertia`";
            return Err(density
                .error(format!("body `{name}` has a density but no mesh to fill"), help)
                .into());
        };
        let g = &mut self.model.graph;
        let mut times = |x: f64| {
            let x = g.num(x);
            g.mul(rho, x)
        };
        let mass = times(filling.volume);
        let inertia = filling.inertia.map(|row| row.map(&mut times));
        Ok(Some((mass, filling.center.map(|x| self.model.graph.num(x)), inertia)))
    }

    /// A height field.
    pub(super) fn height_shape(&mut self, heights: &RawHeights, name: &str) -> Resolved<ShapeData> {
        let field = match heights {
            RawHeights::File(file) => self.height_file(file)?,
            RawHeights::Formula { height, parameters, range, cells } => {
                let mut ends = [[0.0; 2]; 2];
                for (axis, pair) in range.iter().enumerate() {
                    for (k, f) in pair.iter().enumerate() {
                        ends[axis][k] = self.constant(f, "the range of a height field")?;
                    }
                    if !(ends[axis][0] < ends[axis][1] && ends[axis][1] - ends[axis][0] < f64::INFINITY) {
                        let help = "write  range = [[x0, x1], [y0, y1]]";
                        return Err(pair[0].error(format!("the range of `{name}` is empty"), help).into());
                    }
                }
                let mut nodes = [CELLS + 1; 2];
                for (n, f) in nodes.iter_mut().zip(cells.iter().flatten()) {
                    let value = self.constant(f, "the number of cells")?;
                    if !(value >= 1.0 && value < NODES as f64 && value.fract() == 0.0) {
                        return Err(f
                            .error(
                                format!("a height field cannot have {value} cells"),
                                "write  cells = [50, 50]",
                            )
                            .into());
                    }
                    *n = value as usize + 1;
                }
                if nodes[0] * nodes[1] > NODES {
                    return Err(height
                        .error(format!("`{name}` has more than {NODES} nodes"), "take fewer `cells`")
                        .into());
                }
                self.sampled(height, parameters, (ends, nodes))?
            }
        };
        Ok(ShapeData { form: Form::Field(Arc::new(field)) })
    }

    /// Values and derivatives of a formula on a grid.
    fn sampled(
        &mut self,
        height: &Formula,
        parameters: &[Word; 2],
        (ends, nodes): ([[f64; 2]; 2], [usize; 2]),
    ) -> Resolved<Field> {
        let symbols = [self.model.graph.temporary(), self.model.graph.temporary()];
        let mut context = self.context.clone();
        for (word, symbol) in parameters.iter().zip(symbols) {
            let node = self.model.graph.sym(symbol);
            context.locals.push((word.text.clone(), node));
        }
        let f = self.within(context, |b| b.lower_as(height, Dim::Any, "a height"))?;
        let others = self.model.graph.symbols(&[f]).into_iter().any(|s| !symbols.contains(&s));
        if others {
            let help = format!(
                "it may use `{}`, `{}` and parameters that are not varied",
                parameters[0].text, parameters[1].text
            );
            return Err(height.error("a height field does not change", help).into());
        }
        let g = &mut self.model.graph;
        let fx = g.diff(f, symbols[0]);
        let fy = g.diff(f, symbols[1]);
        let fxy = g.diff(fx, symbols[1]);
        let map = symbols.iter().enumerate().map(|(k, s)| (*s, g.sym(Symbol(k as u32)))).collect();
        let roots = [f, fx, fy, fxy].map(|n| g.substitute(n, &map));
        let tape = Tape::new(g, &roots);
        let mut work = tape.workspace();
        let step = [0, 1].map(|k| (ends[k][1] - ends[k][0]) / (nodes[k] - 1) as f64);
        let mut values = Vec::with_capacity(nodes[0] * nodes[1]);
        for j in 0..nodes[1] {
            for i in 0..nodes[0] {
                let at = [ends[0][0] + i as f64 * step[0], ends[1][0] + j as f64 * step[1]];
                tape.eval(&at, &mut work);
                let jet = [0, 1, 2, 3].map(|k| tape.output(&work, k));
                if jet.iter().any(|x| !x.is_finite()) {
                    let message = format!(
                        "the height or its slope has no finite value at {} = {}, {} = {}",
                        parameters[0].text, at[0], parameters[1].text, at[1]
                    );
                    return Err(height.error(message, "choose another `range`").into());
                }
                values.push(jet);
            }
        }
        Ok(Field { origin: [ends[0][0], ends[1][0]], step, nodes, values })
    }

    /// A table with the columns x, y, z, which lie on a regular grid.
    fn height_file(&mut self, file: &Word) -> Resolved<Field> {
        let help = "the columns are x, y and z; every x of the grid stands with every y, at equal distances";
        let wrong = |why: String| fault(file.span, format!("`{}`: {why}", file.text), help);
        let text = (self.loader)(&file.text).and_then(super::csv::text_of_bytes).map_err(|why| {
            let help = "the path is relative to the model file";
            fault(file.span, format!("cannot read `{}`: {why}", file.text), help)
        })?;
        let csv = Csv::read(&text).map_err(wrong)?;
        let mut columns = Vec::with_capacity(3);
        for name in ["x", "y", "z"] {
            let (values, _) = csv.column(name).and_then(|c| c.in_si()).map_err(wrong)?;
            if let Some(k) = values.iter().position(|v| !v.is_finite()) {
                return Err(wrong(format!("line {}: `{name}` is not a number", csv.lines[k])));
            }
            columns.push(values);
        }
        let axis = |list: &[f64]| -> Result<(f64, f64, usize), String> {
            let mut sorted = list.to_vec();
            sorted.sort_by(f64::total_cmp);
            let size = sorted.last().unwrap_or(&0.0) - sorted.first().unwrap_or(&0.0);
            sorted.dedup_by(|a, b| (*a - *b).abs() <= 1e-9 * size);
            let n = sorted.len();
            if n < 2 {
                return Err("a grid has at least two lines each way".into());
            }
            let step = size / (n - 1) as f64;
            match sorted
                .iter()
                .enumerate()
                .find(|(k, v)| (*v - sorted[0] - *k as f64 * step).abs() > 1e-6 * step)
            {
                Some((_, v)) => Err(format!("{v} is not at an equal distance from its neighbours")),
                None => Ok((sorted[0], step, n)),
            }
        };
        let (x0, dx, nx) = axis(&columns[0]).map_err(|e| wrong(format!("x: {e}")))?;
        let (y0, dy, ny) = axis(&columns[1]).map_err(|e| wrong(format!("y: {e}")))?;
        if nx.saturating_mul(ny) != csv.lines.len() {
            return Err(wrong(format!("{} rows, but the grid has {nx} by {ny} nodes", csv.lines.len())));
        }
        let mut z = vec![f64::NAN; nx * ny];
        for k in 0..csv.lines.len() {
            let (i, j) =
                (((columns[0][k] - x0) / dx).round() as usize, ((columns[1][k] - y0) / dy).round() as usize);
            z[j * nx + i] = columns[2][k];
        }
        if z.iter().any(|v| v.is_nan()) {
            return Err(wrong("a node of the grid has no height, another has two".into()));
        }
        Ok(Field::of_heights([x0, y0], [dx, dy], [nx, ny], &z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n";

    #[test]
    fn one_triangle_is_the_same_in_all_three_formats() {
        let expected = vec![[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]];
        assert_eq!(triangles("a.STL", TEXT.as_bytes()).unwrap(), expected);
        let obj = "# one\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/1 2/2/2 -1\n";
        assert_eq!(triangles("a.obj", obj.as_bytes()).unwrap(), expected);
        // a binary file may begin with the word solid too
        let mut binary = b"solid".to_vec();
        binary.resize(80, 0);
        binary.extend(1u32.to_le_bytes());
        for x in [0.0f32, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0] {
            binary.extend(x.to_le_bytes());
        }
        binary.extend([0, 0]);
        assert_eq!(triangles("a.stl", &binary).unwrap(), expected);
        binary.truncate(100);
        binary[..5].copy_from_slice(b"other");
        assert!(triangles("a.stl", &binary).unwrap_err().contains("ends after 0 of 1"));
        binary[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(triangles("a.stl", &binary).unwrap_err().contains("at most"));
    }

    #[test]
    fn lines_that_are_wrong_are_named() {
        let found = triangles("a.stl", TEXT.replace("vertex 1 0 0", "vertex 1 0").as_bytes()).unwrap_err();
        assert!(found.contains("line 5"), "{found}");
        let found = triangles("a.obj", b"v 0 0 0\nf 1 2 3\n").unwrap_err();
        assert!(found.contains("line 2") && found.contains("not there"), "{found}");
        assert!(triangles("a.ply", b"").unwrap_err().contains(".stl or .obj"));
    }
}
