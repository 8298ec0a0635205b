//! MJCF scenes with ball joints and meshes: masses and accelerations against MuJoCo and the formulas of a rigid body.

use crate::{Folder, out};
use serde_json::Value as Json;

/// Numbers after a key in a body of a model file.
fn numbers(model: &str, key: &str) -> Vec<f64> {
    let line =
        model.lines().find(|l| l.starts_with(&format!("{key} = "))).unwrap_or_else(|| panic!("{model}"));
    let list = line.split(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c)));
    list.skip(1).filter_map(|w| w.parse().ok()).collect()
}

fn near(a: &[f64], b: &[f64], tolerance: f64) {
    assert!(
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < tolerance),
        "{a:?} is not {b:?}"
    );
}

/// Was: the free turn stood on a frame without mass, and the model was refused. Off the centre of the joint by c the equations are
/// I ω' = c × m g − ω × I ω with I about that centre (the numbers are MuJoCo's, too).
#[test]
fn a_body_on_a_ball_joint_turns_freely_with_its_mass() {
    let folder = Folder::new("import_ball");
    let scene = |pos: &str, inertial: &str| {
        format!(
            "<mujoco><worldbody><body name='a' pos='0 0 1'><joint name='j' type='ball' pos='{pos}'/>\
             <inertial mass='1' pos='{inertial}' diaginertia='0.01 0.02 0.015'/></body></worldbody></mujoco>"
        )
    };
    for (k, (pos, inertial, body)) in
        [("0 0 0.1", "0.1 0 -0.1", "a_frame"), ("0 0 0", "0.1 0 -0.2", "a")].into_iter().enumerate()
    {
        folder.write("ball.xml", &scene(pos, inertial));
        let done = folder.run(&["import", "ball.xml", "-o", &format!("ball{k}.toml")]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let model = std::fs::read_to_string(folder.0.join(format!("ball{k}.toml"))).unwrap();
        folder.write(
            "spun.toml",
            &model.replace("rotation = \"free\"", "rotation = \"free\"\nspin = [1, 2, 3]"),
        );
        let run = folder.run(&["run", "spun.toml", "--until", "0", "--json", "--matrices"]);
        let run: Json = serde_json::from_str(&out(&run)).unwrap();
        let rate = &run["start"][body]["spin'"];
        let rate = ["x", "y", "z"].map(|k| rate[k].as_f64().unwrap_or_else(|| panic!("{}", run["start"])));
        // (4.882…, 10.657…, −0.706…) = I⁻¹ (c × m g − ω × I ω)
        near(&rate, &[83.0 / 17.0, 10.657_142_857_142_857, -12.0 / 17.0], 1e-9);
    }
}

/// An L of 0.4 × 0.3 with arms of 0.1, 0.3 high, off the origin.
const ELL: &str = "v 0.05 -0.02 0.1\nv 0.45 -0.02 0.1\nv 0.45 0.08 0.1\nv 0.15 0.08 0.1\nv 0.15 0.28 0.1\nv 0.05 0.28 0.1\n\
                   v 0.05 -0.02 0.4\nv 0.45 -0.02 0.4\nv 0.45 0.08 0.4\nv 0.15 0.08 0.4\nv 0.15 0.28 0.4\nv 0.05 0.28 0.4\n\
                   f 1 3 2\nf 7 8 9\nf 1 4 3\nf 7 9 10\nf 1 5 4\nf 7 10 11\nf 1 6 5\nf 7 11 12\n\
                   f 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";

/// Was: a mesh weighed nothing, and with `mass` it was a particle at the origin of the body. The numbers are MuJoCo's: (attributes of the mesh,
/// of the geom, mass, centre, inertia xx xy xz yy yz zz).
#[test]
fn meshes_weigh_what_they_weigh_in_mujoco() {
    let folder = Folder::new("import_weights");
    folder.write("ell.obj", ELL);
    let legacy = [0.249338, -0.01662, 0.051883, 0.456099, 0.016449, 0.381375];
    let exact = [0.230015, -0.021617, 0.049773, 0.430254, 0.017732, 0.359731];
    let moved = [0.276234, 0.101992, -0.003944, 0.368589, 0.009827, 0.375177];
    let shell = [0.03647, -0.002419, 0.005965, 0.062407, 0.002418, 0.051987];
    let stretched = [9.140165, 1.476873, -1.33499, 10.852405, 0.517242, 5.40802];
    for (mesh, geom, mass, center, inertia) in [
        ("", "", 20.39024011, [1.20461726, 2.13919458, 3.21906889], legacy),
        ("", "mass='2'", 2.0, [1.20461726, 2.13919458, 3.21906889], legacy.map(|x| x * 2.0 / 20.39024011)),
        ("inertia='exact'", "", 18.0, [1.21067686, 2.13382748, 3.21588299], exact),
        (
            "inertia='exact' refpos='0.1 0.2 0.3' refquat='0.9 0.1 0.2 0.3'",
            "",
            18.0,
            [1.09140673, 1.87278546, 2.95140712],
            moved,
        ),
        ("inertia='shell'", "mass='2'", 2.0, [1.2125877, 2.14142199, 3.21651588], shell),
        ("scale='1 2 3'", "", 122.49064091, [1.33841033, 2.12917122, 3.7081508], stretched),
    ] {
        folder.write(
            "scene.xml",
            &format!(
                "<mujoco><asset><mesh name='b' file='ell.obj' {mesh}/></asset><worldbody><body><freejoint/>\
                 <geom type='mesh' mesh='b' pos='1 2 3' euler='10 20 30' {geom}/></body></worldbody></mujoco>"
            ),
        );
        let done = folder.run(&["import", "scene.xml"]);
        assert!(done.status.success(), "{mesh}: {}", String::from_utf8_lossy(&done.stderr));
        let model = out(&done);
        // MuJoCo reads meshes in single precision; its inertias above have six digits
        near(&numbers(&model, "mass"), &[mass], 1e-6);
        near(&numbers(&model, "center"), &center, 1e-6);
        let [xx, xy, xz, yy, yz, zz] = inertia;
        near(&numbers(&model, "inertia"), &[xx, xy, xz, xy, yy, yz, xz, yz, zz], 1e-6);
    }
}

/// Was: all of this went without a word.
#[test]
fn what_a_scene_lacks_or_a_model_cannot_say_is_named() {
    let folder = Folder::new("import_lacks");
    folder.write("open.obj", &ELL.replace("f 1 3 2\n", ""));
    let scene = |geom: &str| {
        format!(
            "<mujoco>\n<option density='1000' viscosity='0.1'/><asset><mesh name='gone' file='gone.stl'/>\
             <mesh name='open' file='open.obj'/><mesh name='holes' file='open.obj' inertia='exact'/></asset>\n<worldbody><body name='a'>\
             <joint/><geom size='0.1'/>\n{geom}</body></worldbody></mujoco>"
        )
    };
    for (mesh, said) in [
        ("gone", "the mass of a mesh of `a`: `gone.stl`: no such file"),
        ("open", "part of the mass of a mesh of `a`: `open.obj`: the mesh is not closed"),
        ("holes", "the mass of a mesh of `a`: `open.obj`: the mesh is not closed"),
    ] {
        folder.write("scene.xml", &scene(&format!("<geom type='mesh' mesh='{mesh}'/>")));
        let model = out(&folder.run(&["import", "scene.xml"]));
        for said in [said, "`density` of <option>: the drag", "`viscosity` of <option>: the drag"] {
            assert!(model.contains(&format!("# - {said}")), "{said}: {model}");
        }
    }
    folder.write("scene.xml", &scene("<geom type='mesh' mesh='misspelt'/>"));
    let done = folder.run(&["import", "scene.xml"]);
    let error = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        done.status.code() == Some(2) && error.contains("line 4: there is no mesh `misspelt`"),
        "{error}"
    );
}

/// Was: packages were looked for beside the file alone, and the model had the absolute path of the mesh.
#[test]
fn a_package_is_a_folder_around_the_robot_and_its_meshes_are_named_from_the_model() {
    let folder = Folder::new("import_package");
    for sub in ["arm/urdf/own", "arm/meshes", "models"] {
        std::fs::create_dir_all(folder.0.join(sub)).unwrap();
    }
    folder.write("arm/meshes/part.obj", ELL);
    folder.write(
        "arm/urdf/own/robot.urdf",
        "<robot name='r'><link name='base'/><link name='arm'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>\
         <collision><geometry><mesh filename='package://arm/meshes/part.obj'/></geometry></collision></link>\
         <joint name='j' type='continuous'><parent link='base'/><child link='arm'/><axis xyz='0 0 1'/></joint></robot>",
    );
    let done = folder.run(&["import", "arm/urdf/own/robot.urdf", "-o", "models/robot.toml"]);
    assert!(done.status.success(), "{}{}", out(&done), String::from_utf8_lossy(&done.stderr));
    let model = std::fs::read_to_string(folder.0.join("models/robot.toml")).unwrap();
    assert!(model.contains("mesh = \"../arm/meshes/part.obj\""), "{model}");
    let run = folder.run(&["run", "models/robot.toml", "--until", "0.1"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

/// Was: the box had half lengths of zero. MuJoCo takes it as thick as it is wide.
#[test]
fn a_box_from_one_point_to_another_is_as_thick_as_wide() {
    let folder = Folder::new("import_box");
    folder.write(
        "scene.xml",
        "<mujoco><worldbody><body><freejoint/><geom type='box' size='0.05' fromto='0 0 0 0 0 0.6' density='500'/></body></worldbody></mujoco>",
    );
    let model = out(&folder.run(&["import", "scene.xml"]));
    assert!(model.contains("box = [0.05, 0.05, 0.3], center = [0, 0, 0.3]"), "{model}");
    near(&numbers(&model, "mass"), &[500.0 * 0.1 * 0.1 * 0.6], 1e-12);
}

/// Was: a model of more than the 4 MB that a model file may have was written, and then refused.
#[test]
fn a_robot_too_large_for_a_model_file_is_not_written() {
    let folder = Folder::new("import_long");
    let mut text = String::from("<robot name='r'><link name='l0'/>");
    for k in 1..20_000 {
        text += &format!(
            "<link name='l{k}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>\
             <joint name='j{k}' type='continuous'><parent link='l{}'/><child link='l{k}'/><origin xyz='0 0 1'/><axis xyz='0 1 0'/></joint>",
            k - 1
        );
    }
    folder.write("robot.urdf", &(text + "</robot>"));
    let done = folder.run(&["import", "robot.urdf", "-o", "robot.toml"]);
    let error = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.code() == Some(2) && error.contains("a model file has at most 4 MB"), "{error}");
    assert!(!folder.0.join("robot.toml").exists());
}
