//! `specht import FILE -o MODEL`.

use crate::args::ImportArgs;
use crate::import::{self, Robot, Wish};
use crate::outcome::{Exit, Outcome, Refusal};
use crate::output;
use crate::source::read_text;
use crate::text::{print, tell};
use specht::machine::Machine;

/// Read a robot, write a model file, say what was left out.
pub fn run(args: &ImportArgs) -> Outcome {
    let shown = args.file.display();
    let text = read_text(&args.file)?;
    let wish = Wish { floating: args.floating, no_contacts: args.no_contacts };
    let folder = args.file.parent().map(std::path::Path::to_path_buf).unwrap_or_default();
    let load = |file: &str| {
        std::fs::read_to_string(folder.join(file)).map_err(|e| format!("`{file}` cannot be read: {e}"))
    };
    let robot = import::read(&text, wish, &load)
        .map_err(|e| Refusal::new(format!("{shown}: {e}")).help("URDF robots and MJCF scenes can be read"))?;
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
    if let Err(e) = Machine::read(&model) {
        tell(&format!("the model needs a change before it runs:\n{e}"));
        return Ok(Exit::Stopped);
    }
    Ok(Exit::Done)
}

/// The table of names.
fn names(robot: &Robot) -> serde_json::Value {
    let joints: serde_json::Map<String, serde_json::Value> =
        robot.joints.iter().map(|j| (j.source.clone(), j.name.clone().into())).collect();
    let bodies: Vec<&str> = robot.frames.iter().map(|f| f.name.as_str()).collect();
    serde_json::json!({ "coordinates": joints, "bodies": bodies, "left_out": robot.left_out })
}
