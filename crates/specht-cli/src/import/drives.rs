//! Actuators of MJCF that push one joint by a linear law become forces; the others are named.
//!
//! ```text
//! f = gain u + b0 + b1 l + b2 l',   l = gear q,   the joint gets gear f
//! ```
//!
//! `motor`: gain 1. `position`: gain kp, b1 = −kp, b2 = −kv. `velocity`: gain kv, b2 = −kv. `general`: as written.

use super::Drive;
use super::mjcf::Reader;
use super::xml::Element;

impl Reader<'_> {
    /// All actuators of a scene.
    pub(super) fn drives(&mut self, root: &Element) -> Result<(), String> {
        for e in root.all("actuator").flat_map(|a| &a.children) {
            let e = self.full(e, "main");
            let name = e.get("name").or(e.get("joint")).unwrap_or(&e.name).to_string();
            let joint = e.get("joint").and_then(|j| self.robot.joints.iter().position(|k| k.source == j));
            let law = law(&e)?;
            let (Some(joint), Some((gain, bias))) = (joint, law) else {
                self.robot.left_out.push(format!("the actuator `{name}` (<{}>)", e.name));
                continue;
            };
            for key in ["ctrlrange", "forcerange"] {
                if e.get(key).is_some() {
                    self.robot.left_out.push(format!("`{key}` of the actuator `{name}`"));
                }
            }
            let gear = e.numbers("gear")?.and_then(|g| g.first().copied()).unwrap_or(1.0);
            let name = self.given.other(&name, "_control");
            self.robot.drives.push(Drive { name, joint, gear, gain, bias });
        }
        Ok(())
    }
}

/// Gain and bias; none for laws that are not linear or have a state.
fn law(e: &Element) -> Result<Option<(f64, [f64; 3])>, String> {
    let first = |key: &str, default: f64| -> Result<f64, String> {
        Ok(e.numbers(key)?.and_then(|l| l.first().copied()).unwrap_or(default))
    };
    if e.get("dyntype").is_some_and(|t| t != "none") {
        return Ok(None);
    }
    Ok(match e.name.as_str() {
        "motor" => Some((1.0, [0.0; 3])),
        "position" => {
            let (kp, kv) = (first("kp", 1.0)?, first("kv", 0.0)?);
            Some((kp, [0.0, -kp, -kv]))
        }
        "velocity" => {
            let kv = first("kv", 1.0)?;
            Some((kv, [0.0, 0.0, -kv]))
        }
        "general" if e.get("gaintype").is_none_or(|t| t == "fixed") => {
            let list = e.numbers("biasprm")?.unwrap_or_default();
            let bias = std::array::from_fn(|k| list.get(k).copied().unwrap_or(0.0));
            match e.get("biastype") {
                None | Some("none") => Some((first("gainprm", 1.0)?, [0.0; 3])),
                Some("affine") => Some((first("gainprm", 1.0)?, bias)),
                _ => None,
            }
        }
        _ => None,
    })
}
