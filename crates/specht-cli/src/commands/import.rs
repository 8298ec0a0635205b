//! `specht import FILE -o MODEL`.

use crate::args::ImportArgs;
use crate::import::{self, Robot, Wish};
use crate::outcome::{Exit, Outcome, Refusal};
use crate::output;
use crate::source::read_text;
use crate::text::{print, tell};
use specht::machine::{Files, Machine, Options, Source};
use std::path::{Path, PathBuf};

/// Read a robot, write a model file, say what was left out.
pub fn run(args: &ImportArgs) -> Outcome {
    let shown = args.file.display();
    let text = read_text(&args.file)?;
    let wish = Wish { floating: args.floating, no_contacts: args.no_contacts };
    let folder = args.file.parent().map(Path::to_path_buf).unwrap_or_default();
    let load = |file: &str| {
        std::fs::read_to_string(folder.join(file)).map_err(|e| format!("`{file}` cannot be read: {e}"))
    };
    let mut robot = import::read(&text, wish, &load)
        .map_err(|e| Refusal::new(format!("{shown}: {e}")).help("URDF robots and MJCF scenes can be read"))?;
    let home = args.out.as_ref().and_then(|o| o.parent()).map_or(folder.clone(), |p| p.to_path_buf());
    import::settle_meshes(&mut robot, &|file| mesh(file, &folder, &home));
    let name = args.file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let model = import::write(&robot, &name, wish);
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

/// The path, from the folder of the model, of a mesh that a robot's file names: beside that file, or in the package around it.
fn mesh(file: &str, folder: &Path, home: &Path) -> Option<String> {
    let ending = file.rsplit_once('.')?.1.to_lowercase();
    if !matches!(ending.as_str(), "stl" | "obj") {
        return None;
    }
    let bare = file.strip_prefix("file://").unwrap_or(file);
    let inside =
        bare.strip_prefix("package://").map_or(bare, |rest| rest.split_once('/').map_or(rest, |x| x.1));
    let own = Path::new(inside).file_name()?;
    let places = [folder.join(inside), folder.join("..").join(inside), folder.join(own)];
    let found = places.into_iter().find(|p| p.is_file())?;
    let whole = |p: &Path| -> Option<PathBuf> {
        std::fs::canonicalize(if p.as_os_str().is_empty() { Path::new(".") } else { p }).ok()
    };
    let (found, home) = (whole(&found)?, whole(home)?);
    let path = found.strip_prefix(&home).map_or(found.clone(), Path::to_path_buf);
    Some(path.to_string_lossy().into_owned())
}

/// The table of names.
fn names(robot: &Robot) -> serde_json::Value {
    let joints: serde_json::Map<String, serde_json::Value> =
        robot.joints.iter().map(|j| (j.source.clone(), j.name.clone().into())).collect();
    let bodies: Vec<&str> = robot.frames.iter().map(|f| f.name.as_str()).collect();
    serde_json::json!({ "coordinates": joints, "bodies": bodies, "left_out": robot.left_out })
}
