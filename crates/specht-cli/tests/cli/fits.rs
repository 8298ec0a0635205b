//! `specht fit`, `specht data`, `specht analyse friction-law` from outside.

use crate::{Folder, err, out, root, specht_in};
use serde_json::Value as Json;

fn json(output: &std::process::Output) -> Json {
    serde_json::from_str(&out(output)).unwrap_or_else(|e| panic!("{e}: {}{}", out(output), err(output)))
}

/// METH-FIT: typed on the command line and asked in the file the same numbers come out; the page holds data, curve and intervals.
#[test]
fn meth_fit_from_the_command_line_is_that_of_the_file() {
    let folder = Folder::new("fit");
    let data = root().join("gallery/stribeck_curve/curve.csv");
    let data = data.to_str().unwrap();
    let of_file = json(&folder.run(&["fit", "stribeck_curve", "--json"]));
    let residual = "F - stribeck(v, Fs, Fk, vs, cv)";
    let typed = ["fit", "stribeck_curve", "--data", data, "--fit", "Fk,Fs,vs,cv", "--residual", residual];
    let found = json(&folder.run(&[&typed[..], &["--json"]].concat()));
    assert_eq!(of_file["estimate"], found["estimate"]);
    assert!((found["estimate"]["vs"].as_f64().unwrap() - 0.11573077).abs() < 1e-8);
    assert!(of_file["profile"]["Fk"][0].is_number() && found["profile"].is_null());
    let said = folder.run(&[&typed[..], &["--out", "o", "--profile"]].concat());
    let text = out(&said);
    for words in
        ["Fk = 2.00825", "± 0.0431543", "profile", "minimum", "strongly correlated", "specht explain fit"]
    {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    let page = std::fs::read_to_string(folder.0.join("o/fit.html")).unwrap();
    for words in ["<svg", "residuals", "Correlations", "2.00825", "profile interval"] {
        assert!(page.contains(words), "{words}");
    }
    // again into the same folder
    assert_eq!(folder.run(&[&typed[..], &["--out", "o"]].concat()).status.code(), Some(0));
}

#[test]
fn a_fit_that_cannot_be_done_says_why() {
    let folder = Folder::new("fit-wrong");
    folder.write("m.toml", "parameters = { a = 1, b = 2 }\n");
    folder.write("d.csv", "x,y\n1,2\n2,3\n3,5\n");
    for (args, words) in [
        (&["fit", "m.toml"][..], "give --data FILE.csv"),
        (&["fit", "m.toml", "--data", "no.csv", "--fit", "a"], "cannot read the data `no.csv`"),
        (
            &["fit", "m.toml", "--data", "d.csv", "--fit", "q", "--residual", "y - a"],
            "there is no parameter `q`",
        ),
        (
            &["fit", "m.toml", "--data", "d.csv", "--fit", "a", "--residual", "y - a*z"],
            "the columns of the data are x, y",
        ),
        (
            &["fit", "m.toml", "--data", "d.csv", "--fit", "a", "--residual", "y - a", "--bounds", "a=1"],
            "write --bounds",
        ),
        (&["analyse", "fit", "m.toml"], "a fit is a command of its own"),
    ] {
        let output = folder.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(err(&output).contains(words), "{args:?}: {}", err(&output));
    }
}

/// ANH-6.2-OSC: the record of the gallery.
#[test]
fn anh_6_2_osc_data_of_the_gallery() {
    let record = "gallery/oscillogram/record.csv";
    let rig = [
        "data",
        record,
        "--kind",
        "oscillogram",
        "--stiffness",
        "16e5 N/m",
        "--mass",
        "16e3 kg",
        "--speed",
        "1 mm/s",
    ];
    let found = json(&specht_in(&root(), &[&rig[..], &["--json"]].concat()));
    let cycles = found["cycles"].as_array().unwrap();
    assert!(cycles.len() >= 3);
    for c in cycles {
        assert!((c["break_down"].as_f64().unwrap() - 3929.17).abs() < 4.0, "{c}");
        assert!((c["pick_up"].as_f64().unwrap() - 2720.83).abs() < 4.0, "{c}");
        assert!((c["load_rate"].as_f64().unwrap() - 1600.0).abs() < 1e-9);
    }
    assert!((cycles[1]["contact_time"].as_f64().unwrap() - 0.7552).abs() < 0.005);
    assert!(out(&specht_in(&root(), &rig)).contains("break-down  mean"));
    let wrong =
        specht_in(&root(), &["data", record, "--stiffness", "16e5", "--mass", "16e3", "--speed", "0.01"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(err(&wrong).contains("needs at least v sqrt(m/c)"), "{}", err(&wrong));
}

/// METH-LAW-CURVE: the report of a law in words and as a picture.
#[test]
fn meth_law_curve_report_from_the_command_line() {
    let folder = Folder::new("law");
    let output = folder.run(&["analyse", "friction-law", "stribeck_curve", "--case", "found", "--out", "o"]);
    let text = out(&output);
    for words in ["belt", "falls most steeply", "7.83333 N s/m", "specht explain friction-laws"] {
        assert!(text.contains(words), "{words}:\n{text}{}", err(&output));
    }
    assert!(folder.0.join("o/friction-law.svg").is_file());
}
