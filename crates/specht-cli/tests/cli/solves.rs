//! `specht solve`: small problems that no path solves, and the unit of mass.

use crate::{Folder, out};
use serde_json::Value as Json;

/// Was: `ray`, though one solution exists; and w beside an answer that is none was zero, not A z + b.
#[test]
fn a_small_complementarity_problem_is_not_given_up_at_a_ray() {
    let folder = Folder::new("solve-ray");
    let solve = |a: &str, b: &str| -> (Option<i32>, Json) {
        folder.write("p.json", &format!("{{ \"A\": {a}, \"b\": {b} }}"));
        let done = folder.run(&["solve", "p.json"]);
        (done.status.code(), serde_json::from_str(&out(&done)).unwrap())
    };
    // row 1 alone: z₁ = b₁ / −a₁₁, and row 2 then has w₂ > 0
    let (code, answer) = solve(
        "[[-0.06830670828380524, 0.9040179903798474], [1.594302127776447, -0.688884584884363]]",
        "[0.8559484626004951, -0.16685562588028396]",
    );
    assert_eq!((code, answer["status"].as_str()), (Some(0), Some("solved")));
    let z = 0.8559484626004951 / 0.06830670828380524;
    assert!((answer["z"][0].as_f64().unwrap() - z).abs() < 1e-9 * z && answer["z"][1] == 0.0, "{answer}");
    let w = 1.594302127776447 * z - 0.16685562588028396;
    assert!((answer["w"][1].as_f64().unwrap() - w).abs() < 1e-8, "{answer}");
    // z = (1/2, 0): the first row has w = z₂ = 0
    let (code, answer) = solve("[[0, 1], [2, -2]]", "[0, -1]");
    assert_eq!(
        (code, &answer["z"], &answer["w"]),
        (Some(0), &serde_json::json!([0.5, 0.0]), &serde_json::json!([0.0, 0.0]))
    );
    // −z₁ − 1 ≥ 0 has no solution: w = b at z = 0
    let (code, answer) = solve("[[-1]]", "[-1]");
    assert_eq!((code, answer["status"].as_str()), (Some(1), Some("no_solution")));
    assert_eq!(answer["w"][0].as_f64().unwrap(), -answer["z"][0].as_f64().unwrap() - 1.0);
}

/// Was: with masses a hundred thousand times as large the loads were given up after three repetitions (error 2·10⁻⁵).
#[test]
fn rolling_resistance_does_not_depend_on_the_unit_of_mass() {
    let folder = Folder::new("solve-rolling");
    let w = [
        [3.9478813986574157, -2.1073280360813813, -1.505359397691782, 7.3346892359782565],
        [-2.1073280360813813, 32.77729797725513, 0.30676531952152636, 3.233795339793016],
        [-1.505359397691782, 0.30676531952152636, 1.4618349803991508, -4.523074540693174],
        [7.3346892359782565, 3.233795339793016, -4.523074540693174, 29.872906438363668],
    ];
    let mut first: Option<Vec<f64>> = None;
    for unit in [1.0, 1e-5, 1e5] {
        let scaled: Vec<Vec<f64>> = w.iter().map(|row| row.iter().map(|x| x * unit).collect()).collect();
        let problem = serde_json::json!({
            "contacts": [
                { "law": "coulomb", "rows": 3, "mu": 0.623025308122095 },
                { "law": "rolling", "rows": 1, "mu": 0.02492300086804792 }
            ],
            "W": scaled,
            "q": [-0.6799783287780196, -0.3717298480430169, -0.8550558824161171, -0.42827645766010575]
        });
        folder.write("p.json", &problem.to_string());
        let answer: Json = serde_json::from_str(&out(&folder.run(&["solve", "p.json"]))).unwrap();
        assert_eq!(answer["status"], "solved", "unit {unit}: {answer}");
        let r: Vec<f64> =
            answer["r"].as_array().unwrap().iter().map(|r| r.as_f64().unwrap() * unit).collect();
        let first = first.get_or_insert_with(|| r.clone());
        let same = first.iter().zip(&r).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(same, "unit {unit}: {r:?} is not {first:?}");
    }
}
