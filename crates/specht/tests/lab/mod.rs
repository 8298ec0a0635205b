//! Gallery models as laboratories: live parameters, one state after another.
#![allow(dead_code)]

use specht::analysis::{AnalysisError, Painleve, painleve};
use specht::inside::{self as file, Options};
use specht::system::{State, System};
use specht::{inside::build, model::CompiledSystem};

/// A model of the gallery with live parameters.
pub struct Lab {
    pub sys: CompiledSystem,
    names: Vec<String>,
    pub values: Vec<f64>,
}

impl Lab {
    pub fn new(name: &str, live: &[&str]) -> Lab {
        Lab::with(name, live, None, &[])
    }

    pub fn with(name: &str, live: &[&str], case: Option<&str>, set: &[(&str, &str)]) -> Lab {
        let path = format!("{}/../../gallery/{name}/model.toml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        Lab::text(&text, live, case, set)
    }

    pub fn text(text: &str, live: &[&str], case: Option<&str>, set: &[(&str, &str)]) -> Lab {
        let options = Options {
            set: set.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect(),
            case: case.map(str::to_string),
            live: live.iter().map(|s| s.to_string()).collect(),
        };
        let model = file::read(text, &options).unwrap_or_else(|e| panic!("{e:?}")).model;
        let sys = build(&model).unwrap_or_else(|e| panic!("{e:?}"));
        let mut names = vec![String::new(); live.len()];
        let mut values = vec![f64::NAN; live.len()];
        for p in &model.parameters {
            if let Some(k) = p.live {
                names[k].clone_from(&p.name);
                values[k] = p.value;
            }
        }
        Lab { sys, names, values }
    }

    pub fn set(&mut self, list: &[(&str, f64)]) -> &mut Self {
        for (name, value) in list {
            let k = self.names.iter().position(|n| n == name).unwrap_or_else(|| panic!("{name} is not live"));
            self.values[k] = *value;
        }
        self.sys.set_parameters(&self.values);
        self
    }

    pub fn value(&self, name: &str) -> f64 {
        self.values[self.number(name)]
    }

    /// The number of a live parameter.
    pub fn number(&self, name: &str) -> usize {
        self.names.iter().position(|n| n == name).unwrap()
    }

    pub fn start(&self) -> State {
        specht::inside::start_of(&self.sys).unwrap()
    }

    pub fn painleve(&self) -> Result<Painleve, AnalysisError> {
        painleve(&self.sys, &self.start(), &[])
    }

    pub fn contact(&self, name: &str) -> usize {
        self.sys.contacts().iter().position(|c| c.name == name).unwrap()
    }
}

/// Numbers in [0, 1), always the same.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn range(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.next()
    }

    pub fn sign(&mut self) -> f64 {
        if self.next() < 0.5 { -1.0 } else { 1.0 }
    }
}

#[track_caller]
pub fn close(a: f64, b: f64, tol: f64) {
    assert!((a - b).abs() <= tol * (1.0 + b.abs()), "{a} is not {b}");
}

#[track_caller]
pub fn same(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * (a.abs() + b.abs()) + 1e-12, "{a} is not {b}");
}
