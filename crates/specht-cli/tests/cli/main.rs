//! The program from outside: commands, messages, exit codes, files. One binary.

mod asks;
mod commands;
mod faults;
mod first;
mod fits;
mod import;
mod import_scenes;
mod page;
mod readme;
mod robust;
mod runs;
mod solves;
mod stepping;
mod sweeps;
mod threads;
mod work;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// Run `specht` in a folder.
pub fn specht_in(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_specht"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

/// A fresh folder for one test, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    /// An empty folder.
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("specht-test-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Put a file into it.
    pub fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.0.join(file);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Run `specht` in it.
    pub fn run(&self, args: &[&str]) -> Output {
        specht_in(&self.0, args)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Standard output.
pub fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard error.
pub fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A ball that bounces: small, and with impacts, accumulation and sliding.
pub const BALL: &str = r#"
name    = "ball"
gravity = [0, -9.81]

[parameters]
r  = "0.1 m"
e  = { value = 0.5, range = [0, 1] }
mu = 0.2

[coordinates]
x   = { rate = "0.5 m/s" }
y   = "1.1 m"
phi = 0

[ground]
floor = { through = [0, 0], normal = [0, 1] }

[[body]]
name     = "ball"
mass     = "1 kg"
inertia  = "2/5*r^2 * 1 kg"
position = ["x", "y"]
angle    = "phi"
features = { skin = { center = [0, 0], radius = "r" } }

[[contact]]
name        = "bounce"
between     = ["ball.skin", "ground.floor"]
friction    = "mu"
restitution = "e"

[run]
until = "2 s"

[output]
height = "y - r"

[[plot]]
x = "x"
y = ["y", "height"]

[case.hard]
e = 0.9
"#;
