//! `specht import FILE -o MODEL`.

use crate::args::ImportArgs;
use crate::import::{self, Robot, Wish};
use crate::outcome::{Exit, Outcome, Refusal};
use crate::output;
use crate::source::read_text;
use crate::text::{print, tell};
use specht::machine::{Files, MAX_BYTES, Machine, Options, Source};
use std::path::{Component, Path, PathBuf};

/// Read a robot, write a model file, say what was left out.
pub fn run(args: &ImportArgs) -> Outcome {
    let shown = args.file.display();
    let text = read_text(&args.file)?;
    let wish = Wish { floating: args.floating, no_contacts: args.no_contacts };
    let folder = args.file.parent().map(Path::to_path_buf).unwrap_or_default();
    let load = |file: &str| {
        std::fs::read_to_string(folder.join(file)).map_err(|e| format!("`{file}` cannot be read: {e}"))
    };
    let bytes = |file: &str| {
        let path = find(file, &folder).ok_or("no such file (.stl, .obj)")?;
        std::fs::read(path).map_err(|e| format!("cannot be read: {e}"))
    };
    let mut robot = import::read(&text, wish, &load, &bytes)
        .map_err(|e| Refusal::new(format!("{shown}: {e}")).help("URDF robots and MJCF scenes can be read"))?;
    let home = args.out.as_ref().and_then(|o| o.parent()).map_or(folder.clone(), |p| p.to_path_buf());
    import::settle_meshes(&mut robot, &|file| mesh(file, &folder, &home));
    let name = args.file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let model = import::write(&robot, &name, wish);
    if model.len() > MAX_BYTES {
        let (size, most) = (model.len() as f64 / f64::from(1 << 20), MAX_BYTES >> 20);
        let bodies = robot.frames.len();
        return Err(Refusal::new(format!(
            "{shown}: its model would have {size:.1} MB ({bodies} bodies); a model file has at most {most} MB"
        ))
        .help("import a part of it, or --no-contacts where limits and friction do not matter"));
    }
    if let Some(out) = &args.out {
        output::write(out, &model)?;
    }
    match (&args.out, args.json) {
        (_, true) => print(&format!("{}\n", names(&robot)))?,
        (None, false) => print(&model)?,
        (Some(out), false) => {
            print(&format!(
                "wrote   {}\nhas     {} bodies, {} coordinates\n",
                out.display(),
                robot.frames.len(),
                robot.joints.len()
            ))?;
            for line in &robot.left_out {
                print(&format!("without {line}\n"))?;
            }
        }
    }
    // what cannot be run is said at once
    let files = Files::of_bytes(move |file| std::fs::read(home.join(file)).map_err(|e| e.to_string()));
    let source = Source { files, ..Source::text(&model) };
    if let Err(e) = Machine::new(source, Options::default()) {
        tell(&format!("the model needs a change before it runs:\n{e}"));
        return Ok(Exit::Stopped);
    }
    Ok(Exit::Done)
}

/// The file of a mesh that a robot's file names: beside that file, or in the package around it.
fn find(file: &str, folder: &Path) -> Option<PathBuf> {
    let ending = file.rsplit_once('.')?.1.to_lowercase();
    if !matches!(ending.as_str(), "stl" | "obj") {
        return None;
    }
    let bare = file.strip_prefix("file://").unwrap_or(file);
    let package = bare.strip_prefix("package://").and_then(|rest| rest.split_once('/'));
    let inside = package.map_or(bare, |x| x.1);
    let own = Path::new(inside).file_name()?;
    let mut places = vec![folder.join(inside), folder.join("..").join(inside), folder.join(own)];
    if let (Some((name, rest)), Some(folder)) = (package, whole(folder)) {
        // the folder of the package is one of those around the file, or stands beside one
        let named = folder.ancestors().filter(|a| a.file_name().is_some_and(|n| n == name));
        let own: Vec<PathBuf> = named.map(|a| a.join(rest)).collect();
        let beside = folder.ancestors().map(|a| a.join(name).join(rest));
        places.splice(0..0, own.into_iter().chain(beside));
    }
    places.into_iter().find(|p| p.is_file())
}

fn whole(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(if path.as_os_str().is_empty() { Path::new(".") } else { path }).ok()
}

/// The path of a mesh from the folder of the model.
fn mesh(file: &str, folder: &Path, home: &Path) -> Option<String> {
    let (found, home) = (whole(&find(file, folder)?)?, whole(home)?);
    let (to, from): (Vec<Component>, Vec<Component>) =
        (found.components().collect(), home.components().collect());
    let same = to.iter().zip(&from).take_while(|(a, b)| a == b).count();
    if same == 0 {
        return Some(found.to_string_lossy().into_owned());
    }
    let up = from[same..].iter().map(|_| "..".into());
    let words: Vec<_> = up.chain(to[same..].iter().map(|c| c.as_os_str().to_string_lossy())).collect();
    Some(words.join("/"))
}

/// The table of names.
fn names(robot: &Robot) -> serde_json::Value {
    let joints: serde_json::Map<String, serde_json::Value> =
        robot.joints.iter().map(|j| (j.source.clone(), j.name.clone().into())).collect();
    let bodies: Vec<&str> = robot.frames.iter().map(|f| f.name.as_str()).collect();
    serde_json::json!({ "coordinates": joints, "bodies": bodies, "left_out": robot.left_out })
}
