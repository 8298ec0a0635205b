//! Robots of other programs: the equations of the imported model against Pinocchio and MuJoCo, names, messages.

use crate::{Folder, root};
use serde_json::Value as Json;

fn robots() -> std::path::PathBuf {
    root().join("crates/specht-cli/tests/robots")
}

fn numbers(list: &Json) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// M and h at random states are those that an independent program computed (beside the robot files).
#[test]
fn imported_robots_have_the_equations_of_pinocchio_and_mujoco() {
    let folder = Folder::new("import");
    // those with accelerations have their drives, and no friction or damping
    for name in ["arm6.urdf", "tree.urdf", "scene.xml", "drives.xml", "rough.urdf"] {
        let file = robots().join(name);
        let model = &format!("{name}.toml");
        let mut args = vec!["import", file.to_str().unwrap(), "-o", model];
        if !matches!(name, "drives.xml" | "rough.urdf") {
            args.push("--no-contacts");
        }
        let done = folder.run(&args);
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        let known: Json =
            serde_json::from_str(&std::fs::read_to_string(file.with_extension("json")).unwrap()).unwrap();
        for case in known["cases"].as_array().unwrap() {
            let set: Vec<String> =
                case["set"].as_object().unwrap().iter().map(|(name, x)| format!("{name}={x}")).collect();
            let mut args = vec!["run", model, "--until", "0", "--json", "--matrices"];
            set.iter().for_each(|s| args.extend(["--set", s]));
            let run = folder.run(&args);
            let run: Json = serde_json::from_slice(&run.stdout)
                .unwrap_or_else(|e| panic!("{name}: {e}: {}", String::from_utf8_lossy(&run.stderr)));
            let start = &run["start"];
            let order: Vec<&str> =
                start["velocities"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
            let place = |v: &Json| order.iter().position(|o| Some(*o) == v.as_str()).unwrap();
            let places: Vec<usize> = case["velocities"].as_array().unwrap().iter().map(place).collect();
            if let Some(list) = case["accelerations"].as_array() {
                for (v, known) in case["velocities"].as_array().unwrap().iter().zip(list) {
                    let a = start[format!("{}'", v.as_str().unwrap())].as_f64().unwrap();
                    let known = known.as_f64().unwrap();
                    assert!(
                        (a - known).abs() < 1e-10 * known.abs().max(1.0),
                        "{name} {v}: {a} is not {known}"
                    );
                }
            }
            let (h, known_h) = (numbers(&start["h"]), numbers(&case["h"]));
            for (i, &p) in places.iter().enumerate() {
                assert!((h[p] - known_h[i]).abs() < 1e-11, "{name} h: {} is not {}", h[p], known_h[i]);
                let (row, known) = (numbers(&start["M"][p]), numbers(&case["M"][i]));
                for (j, &q) in places.iter().enumerate() {
                    assert!((row[q] - known[j]).abs() < 1e-12, "{name} M: {} is not {}", row[q], known[j]);
                }
            }
        }
    }
}

#[test]
fn imported_robots_run_with_their_limits_friction_and_couplings() {
    let folder = Folder::new("import-run");
    for name in ["arm6.urdf", "tree.urdf", "scene.xml"] {
        let file = robots().join(name);
        let model = &format!("{name}.toml");
        let done = folder.run(&["import", file.to_str().unwrap(), "-o", model]);
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        let run = folder.run(&["run", model, "--until", "0.3", "--out", "out"]);
        assert!(run.status.success(), "{name}: {}", String::from_utf8_lossy(&run.stderr));
    }
    // what was changed is said: a joint without mass is fixed, a coupling to nothing and impossible moments are named
    let text = |name: &str| {
        let done = folder.run(&["import", robots().join(name).to_str().unwrap()]);
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let rough = text("rough.urdf");
    for words in ["joint `hint`, which moves nothing with mass", "mimics `nowhere`", "any_inertia = true"] {
        assert!(rough.contains(words), "{words}: {rough}");
    }
    // drives are forces, their controls parameters
    let drives = text("drives.xml");
    for words in ["hold = 0", "name = \"push_force\"", "force = \"(12)*push\""] {
        assert!(drives.contains(words), "{words}: {drives}");
    }
    // names: letters, digits, underscores
    let file = robots().join("arm6.urdf");
    let named = folder.run(&["import", file.to_str().unwrap(), "--json"]);
    let named: Json = serde_json::from_slice(&named.stdout).unwrap();
    assert_eq!(named["coordinates"]["shoulder pan"], "shoulder_pan");
    assert_eq!(named["coordinates"]["shoulder-lift"], "shoulder_lift");
    // a floating root adds six velocities
    folder.run(&["import", file.to_str().unwrap(), "-o", "model.toml", "--floating", "--no-contacts"]);
    let run = folder.run(&["run", "model.toml", "--until", "0", "--json", "--matrices"]);
    let run: Json = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(run["start"]["velocities"].as_array().unwrap().len(), 12);
}

#[test]
fn files_that_are_no_robots_are_refused_with_their_line() {
    let folder = Folder::new("import-bad");
    for (text, said) in [
        ("<robot><link name='a'/><link name='b'/></robot>", "one root link"),
        (
            "<robot><link name='a'/><joint name='j' type='fixed'><parent link='a'/><child link='x'/></joint></robot>",
            "no link `x`",
        ),
        ("<robot>\n<link name='a'>\n</robot>", "line 3"),
        ("<html/>", "neither a URDF robot"),
        ("<mujoco><worldbody><body><joint axis='0 0 0'/></body></worldbody></mujoco>", "no direction"),
        (
            "<robot><link name='a'/><link name='b'/><joint name='j' type='revolute'><origin xyz='1 2'/><parent link='a'/><child link='b'/></joint></robot>",
            "two numbers instead of three",
        ),
    ] {
        folder.write("robot.urdf", text);
        let done = folder.run(&["import", "robot.urdf"]);
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{text}");
        assert!(
            error.contains(said) || (said.starts_with("two") && error.contains("2 numbers instead of three")),
            "{text}: {error}"
        );
    }
}

#[test]
fn cylinders_become_cylinders_and_meshes_beside_the_robot_shapes() {
    let folder = Folder::new("import_mesh");
    folder.write("part.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    let inertial = "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>";
    let geometry = |shape: &str, turn: &str| {
        format!("<collision><origin xyz=\"0 0 0\" rpy=\"{turn}\"/><geometry>{shape}</geometry></collision>")
    };
    let arm = [
        geometry("<cylinder length=\"0.4\" radius=\"0.1\"/>", "0 1.5707963267948966 0"),
        geometry("<mesh filename=\"package://robot/part.obj\" scale=\"0.5 0.5 0.5\"/>", "0 0 0"),
        geometry("<mesh filename=\"package://robot/gone.stl\"/>", "0 0 0"),
    ];
    folder.write(
        "robot.urdf",
        &format!(
            "<robot name=\"r\"><link name=\"base\"/><link name=\"arm\">{inertial}{}</link>\
             <joint name=\"hinge\" type=\"continuous\"><parent link=\"base\"/><child link=\"arm\"/><axis xyz=\"0 0 1\"/></joint></robot>",
            arm.concat()
        ),
    );
    let done = folder.run(&["import", "robot.urdf", "-o", "model.toml"]);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.contains("without the mesh `package://robot/gone.stl` of `arm`: no such file"), "{said}");
    let model = std::fs::read_to_string(folder.0.join("model.toml")).unwrap();
    assert!(model.contains("mesh = \"part.obj\", scale = 0.5"), "{model}");
    assert!(model.contains("cylinder = [[-0.2, 0, ") && model.contains("], [0.2, 0, "), "{model}");
    assert!(folder.run(&["run", "model.toml", "--until", "0.1"]).status.success());
}
