//! Elements of MJCF that only group others: `<include>` stands for the content of a file, `<frame>` moves what is inside.

use super::turn::{self, Matrix};
use super::xml::{self, Element};

/// Files inside of files beyond this are refused.
const DEEP: usize = 20;

/// Put the content of included files in place of the elements that name them.
pub fn include(
    root: &mut Element,
    load: &dyn Fn(&str) -> Result<String, String>,
    depth: usize,
) -> Result<(), String> {
    let mut out = Vec::with_capacity(root.children.len());
    for mut child in std::mem::take(&mut root.children) {
        if child.name != "include" {
            include(&mut child, load, depth)?;
            out.push(child);
            continue;
        }
        let file = child.need("file")?;
        if depth >= DEEP {
            return Err(format!("line {}: `{file}` is the {DEEP}th file inside of another", child.line));
        }
        let text = load(file).map_err(|e| format!("line {}: {e}", child.line))?;
        let mut inner = xml::read(&text).map_err(|e| format!("{file}: {e}"))?;
        include(&mut inner, load, depth + 1)?;
        out.append(&mut inner.children);
    }
    root.children = out;
    Ok(())
}

/// Take `<frame>` elements apart: what stands in them is moved as they say. `orientation` reads that of an element.
pub fn flatten(
    e: &mut Element,
    orientation: &dyn Fn(&Element) -> Result<Matrix, String>,
) -> Result<(), String> {
    let mut out = Vec::with_capacity(e.children.len());
    for mut child in std::mem::take(&mut e.children) {
        flatten(&mut child, orientation)?;
        if child.name != "frame" {
            out.push(child);
            continue;
        }
        let (turn, shift) = (orientation(&child)?, child.triple("pos")?.unwrap_or_default());
        let class = child.get("childclass").map(str::to_string);
        for mut inner in std::mem::take(&mut child.children) {
            moved(&mut inner, turn, shift, orientation)?;
            if let Some(class) = &class {
                let key = if inner.name == "body" { "childclass" } else { "class" };
                if inner.get(key).is_none() {
                    inner.attributes.push((key.into(), class.clone()));
                }
            }
            out.push(inner);
        }
    }
    e.children = out;
    Ok(())
}

/// The element turned and shifted.
fn moved(
    e: &mut Element,
    turn: Matrix,
    shift: [f64; 3],
    orientation: &dyn Fn(&Element) -> Result<Matrix, String>,
) -> Result<(), String> {
    if !matches!(e.name.as_str(), "body" | "geom" | "joint" | "inertial" | "site") {
        return Ok(());
    }
    let place = |p: [f64; 3]| -> [f64; 3] {
        let p = turn::times(turn, p);
        std::array::from_fn(|k| p[k] + shift[k])
    };
    let words = |list: &[f64]| list.iter().map(|x| format!("{x:e}")).collect::<Vec<_>>().join(" ");
    let mut set: Vec<(&str, String)> = Vec::new();
    if let Some(list) = e.numbers("fromto")?
        && let [a, b, c, d, f, g] = list[..]
    {
        set.push(("fromto", words(&[place([a, b, c]), place([d, f, g])].concat())));
    }
    set.push(("pos", words(&place(e.triple("pos")?.unwrap_or_default()))));
    if e.name == "joint" {
        let axis = e.triple("axis")?.unwrap_or([0.0, 0.0, 1.0]);
        set.push(("axis", words(&turn::times(turn, axis))));
    } else {
        set.push(("quat", words(&turn::to_quaternion(turn::product(turn, orientation(e)?)))));
    }
    let old = ["axisangle", "euler", "xyaxes", "zaxis"];
    e.attributes.retain(|(k, _)| !old.contains(&k.as_str()) && !set.iter().any(|s| s.0 == k));
    e.attributes.extend(set.into_iter().map(|(k, v)| (k.to_string(), v)));
    Ok(())
}
