//! Piles of loose bodies, in steps per second:
//!
//! ```text
//! piles [TASK …]     wall-100: a standing wall of 100 boxes, 1 084 points     tower-40     heap-1000: balls that fall on the floor and spread
//!                    knocked-100: the wall, hit by a ball     boxes-N: N boxes apart, for growth of time and memory     model TASK: the model file
//! ```
//!
//! One line for each task: name, bodies, steps, seconds of processor time of the run, steps per second, largest relative error of energy, deepest penetration (of the smallest
//! body), motion of the first body.

use specht::machine::Machine;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().map(String::as_str) == Some("model") {
        let task = words.get(1).map_or("wall-100", String::as_str);
        print!("{}", model(task).unwrap_or_default());
        return;
    }
    let all = ["wall-100", "tower-40", "knocked-100", "heap-1000"].map(String::from);
    let tasks = if words.is_empty() { &all[..] } else { &words[..] };
    println!("task,bodies,steps,seconds,steps_per_second,energy,penetration,moved");
    for task in tasks {
        let Some(text) = std::fs::read_to_string(task).ok().or_else(|| model(task)) else {
            eprintln!("unknown task {task}: wall-N tower-N knocked-N heap-N boxes-N");
            std::process::exit(2);
        };
        let bodies: usize = number(task);
        let machine = match Machine::read(&text) {
            Ok(machine) => machine,
            Err(e) => panic!("{task}: {e}"),
        };
        let begin = processor_time();
        let run = machine.run().expect("a pile runs");
        let seconds = processor_time() - begin;
        let steps = run.trajectory.counts.steps;
        let audit = run.audit();
        let moved = ["x[1]", "y[1]", "z[1]"]
            .map(|name| run.series(name).map_or(0.0, |s| s[s.len() - 1] - s[0]))
            .iter()
            .map(|d| d * d)
            .sum::<f64>()
            .sqrt();
        println!(
            "{task},{bodies},{steps},{seconds:.3},{:.1},{:.1e},{:.1e},{moved:.1e}",
            steps as f64 / seconds,
            audit.energy,
            audit.penetration
        );
        run.trajectory.warnings.iter().for_each(|w| eprintln!("{task}: {w}"));
    }
}

/// Processor time of this process, where the system tells it; wall time elsewhere.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let words: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    match (
        words.get(11).and_then(|w| w.parse::<f64>().ok()),
        words.get(12).and_then(|w| w.parse::<f64>().ok()),
    ) {
        (Some(user), Some(system)) => (user + system) / 100.0,
        _ => std::time::UNIX_EPOCH.elapsed().map_or(0.0, |d| d.as_secs_f64()),
    }
}

fn number(task: &str) -> usize {
    task.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or(100)
}

/// The model file of a task.
fn model(task: &str) -> Option<String> {
    let n = number(task);
    let brick = "[1, 0.5, 0.5]";
    let wall = |until: f64| {
        let c = (n as f64).sqrt().round();
        let row = format!("floor((k-1)/{c})");
        pile(
            n,
            [&format!("2*(k - 1 - {c}*{row}) + mod({row}, 2)"), "0", &format!("{row} + 0.5")],
            brick,
            "",
            until,
            1e-3,
        )
    };
    Some(match task.split('-').next()? {
        "wall" => wall(2.0),
        "knocked" => {
            let ball = "[[body]]\nname = \"ball\"\nmass = 5\ninertia = 0.5\nposition = [\"xb\", \"yb\", \"zb\"]\nrotation = \"free\"\n\
                        features = { skin = { center = [0, 0, 0], radius = 0.5 } }\n";
            let text = wall(0.5).replace("[[touch]]", &format!("{ball}[[touch]]"));
            text.replace("[ground]", "xb = 9.3\nyb = { start = -1.5, rate = 8 }\nzb = 5.2\n[ground]")
        }
        "tower" => pile(n, ["0", "0", "k - 0.5"], "[0.5, 0.5, 0.5]", "", 10.0, 1e-2),
        "boxes" => {
            let c = (n as f64).sqrt().ceil();
            pile(
                n,
                [&format!("2*mod(k - 1, {c})"), &format!("2*floor((k - 1)/{c})"), "0.5"],
                "[0.5, 0.5, 0.5]",
                "",
                0.02,
                1e-3,
            )
        }
        "heap" => {
            let c = (n as f64).cbrt().round();
            let (x, y) = (format!("mod(k - 1, {c})"), format!("mod(floor((k - 1)/{c}), {c})"));
            let x = format!("1.1*{x} + 0.04*sin(7*k)");
            let y = format!("1.1*{y} + 0.04*cos(5*k)");
            pile(n, [&x, &y, &format!("0.5 + 1.02*floor((k - 1)/{})", c * c)], "", "ball", 2.0, 5e-3)
        }
        _ => return None,
    })
}

/// Bodies of 1 kg on a floor: boxes of these half lengths, or balls of radius 1/2.
fn pile(n: usize, start: [&str; 3], half: &str, ball: &str, until: f64, step: f64) -> String {
    let shape =
        if ball.is_empty() { format!("box = {half}") } else { "center = [0, 0, 0], radius = 0.5".into() };
    let inertia = match (ball.is_empty(), half) {
        (false, _) => "0.1",
        (_, "[0.5, 0.5, 0.5]") => "\"1/6\"",
        _ => "[\"1/6\", \"5/12\", \"5/12\"]",
    };
    let coordinates: String = ["x", "y", "z"]
        .iter()
        .zip(start)
        .map(|(name, start)| format!("{name} = {{ for = \"k = 1..{n}\", start = \"{start}\" }}\n"))
        .collect();
    format!(
        "name = \"pile\"\ngravity = [0, 0, -9.81]\n[coordinates]\n{coordinates}[ground]\nfloor = {{ through = [0, 0, 0], normal = [0, 0, 1] }}\n\
         [[body]]\nfor = \"k = 1..{n}\"\nname = \"body\"\nmass = 1\ninertia = {inertia}\nposition = [\"x[k]\", \"y[k]\", \"z[k]\"]\nrotation = \"free\"\n\
         features = {{ skin = {{ {shape} }} }}\n[[touch]]\namong = [\"*\"]\nfriction = 0.5\n[run]\nuntil = {until}\nstep = {step}\nevery = 0.1\n"
    )
}
