//! Piles of loose bodies as model files: walls, towers, heaps.

/// The number at the end of the name of a task.
pub fn number(task: &str) -> usize {
    task.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or(100)
}

/// The model file of a task.
pub fn model(task: &str) -> Option<String> {
    let n = number(task);
    let brick = "[1, 0.5, 0.5]";
    let wall = |until: f64, c: f64| {
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
    let square = (n as f64).sqrt().round();
    Some(match task.split('-').next()? {
        "wall" => wall(2.0, square),
        "long" => wall(0.1, (n as f64 / 10.0).round()),
        "knocked" => {
            let ball = "[[body]]\nname = \"ball\"\nmass = 5\ninertia = 0.5\nposition = [\"xb\", \"yb\", \"zb\"]\nrotation = \"free\"\n\
                        features = { skin = { center = [0, 0, 0], radius = 0.5 } }\n";
            let text = wall(0.5, square).replace("[[touch]]", &format!("{ball}[[touch]]"));
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
