//! Friction laws by name, fits of measured data, records: against closed forms, published numbers and independent programs.

mod fits;
mod laws;
mod records;

use specht::machine::finding::{Finding, FitFinding};
use specht::machine::task::{FitTask, Task};
use specht::machine::{Error, Files, Machine, Options, Source};

fn machine(text: &str, data: &str) -> Machine {
    let data = data.to_string();
    let files = Files::new(move |file| match file {
        "data.csv" => Ok(data.clone()),
        _ => Err("no such file".into()),
    });
    Machine::new(Source { label: "model".into(), text: text.into(), files }, Options::default()).unwrap()
}

fn task(fit: &[&str], residual: Option<&str>) -> FitTask {
    FitTask {
        data: "data.csv".into(),
        fit: fit.iter().map(|s| s.to_string()).collect(),
        residual: residual.map(str::to_string),
        ..FitTask::default()
    }
}

fn ask(text: &str, data: &str, task: FitTask) -> Result<FitFinding, Error> {
    match machine(text, data).ask(&Task::Fit(task))? {
        Finding::Fit(f) => Ok(*f),
        other => panic!("{other:?}"),
    }
}

fn number(f: &specht::machine::json::Named<specht::machine::json::Num>, name: &str) -> f64 {
    f.iter().find(|(n, _)| *n == name).map(|(_, x)| x.0).unwrap()
}

fn known(f: &FitFinding, name: &str) -> bool {
    *f.identifiable.iter().find(|(n, _)| *n == name).unwrap().1
}

/// A small generator, so that data are the same everywhere.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let u = 1.0 - self.uniform();
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
