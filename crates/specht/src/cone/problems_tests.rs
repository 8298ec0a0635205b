//! The test problems are those of the prototype, and their random numbers those of numpy.
//!
//! All literals were printed by Python (numpy 2.4, `repr` of doubles): draws by `numpy.random.default_rng(seed)`, problems by the
//! prototype's `tower(6, seed=3)`, `wall(3, 3, seed=4)`, `lattice(3, seed=5)` and `spheres(40, seed=6)`.

use super::problems;
use super::reference_rng::ReferenceRng;
use super::{Law, Operator, Problem};

/// Rounding of a few operations on numbers of order one; `exp` and `ln` of the platform may differ in the last bit.
const ROUNDING: f64 = 1e-14;

#[test]
fn random_bits_are_those_of_numpy_for_small_and_large_seeds() {
    for (seed, bits) in [
        (0, [0xa30f_ebcf_d9c2_825f, 0x4510_bdf8_82d9_d721, 0x0a7d_3da9_4ecd_e8b8]),
        (1, [0x8306_bdf3_7922_e4ff, 0xf351_96bb_c152_a866, 0x24e7_a4f6_08ec_18cd]),
        (12_345, [0x3a32_b18d_b2ff_c19d, 0x5117_1315_c9e4_c4de, 0xcc20_2482_3444_efd9]),
        ((1 << 32) + 5, [0xc632_3ec3_21de_b8d1, 0x7881_4821_c73a_0583, 0xb225_36d8_e0ec_17c0]),
        ((1 << 63) + 11, [0x2b7f_a400_8afe_6810, 0xcec3_c92e_6ecf_2f3b, 0x4382_090b_2285_1ecc]),
    ] {
        let mut rng = ReferenceRng::new(seed);
        assert_eq!(bits.map(|_| rng.bits()), bits, "seed {seed}");
    }
}

#[test]
fn uniform_numbers_are_those_of_numpy() {
    let mut rng = ReferenceRng::new(7);
    for x in [1.5003818664186679, 2.588855203878302, 2.102742760980774] {
        assert_eq!(rng.uniform(-1.0, 3.0), x);
    }
}

/// First, largest, last and sum of 100 000 draws: layers, their rims and the tail.
#[test]
fn normal_numbers_are_those_of_numpy() {
    for (seed, first, (place, largest), last, sum) in [
        (0, 0.1257302210933933, (36_758, 4.731957688635529), -0.49541294309578066, -90.82507731206121),
        (1, 0.345584192064786, (30_266, 4.406353522522504), 0.9684097467571625, -459.05720428757843),
        (7, 0.0012301533574825742, (33_110, -4.502222241099144), 0.8518898525107713, -132.63190873851352),
    ] {
        let mut rng = ReferenceRng::new(seed);
        let x: Vec<f64> = (0..100_000).map(|_| rng.normal()).collect();
        for (i, expected) in [(0, first), (place, largest), (x.len() - 1, last)] {
            assert!((x[i] - expected).abs() < ROUNDING, "seed {seed}, draw {i}: {} {expected}", x[i]);
        }
        assert!(x.iter().all(|v: &f64| v.abs() <= f64::abs(largest)));
        assert!((x.iter().sum::<f64>() - sum).abs() < 1e5 * ROUNDING, "seed {seed}");
    }
}

/// What the prototype printed of one problem.
struct Printed {
    contacts: usize,
    mu: f64,
    mass: [(usize, f64); 4],
    h: Vec<(usize, usize, f64)>,
    q: [(usize, f64); 4],
    /// Sum of all `|h|`, sum of all `q`.
    sums: [f64; 2],
}

fn same(p: &Problem, printed: &Printed) {
    let Operator::Bodies { mass, h } = &p.operator else { panic!("not in body form") };
    assert_eq!(p.contacts.len(), printed.contacts);
    assert!(p.contacts.iter().all(|c| c.law == Law::Coulomb { mu: printed.mu }));
    let near = |what: String, x: f64, expected: f64| {
        assert!((x - expected).abs() <= ROUNDING * expected.abs().max(1.0), "{what}: {x}, not {expected}");
    };
    for &(i, x) in &printed.mass {
        near(format!("mass {i}"), mass.get(i, i), x);
    }
    for &(i, j, x) in &printed.h {
        near(format!("H[{i}, {j}]"), h.get(i, j), x);
    }
    for &(i, x) in &printed.q {
        near(format!("q[{i}]"), p.q[i], x);
    }
    let mut sum = 0.0;
    (0..h.rows()).for_each(|i| h.for_row(i, |_, x| sum += x.abs()));
    near("sum of |H|".into(), sum / 1e3, printed.sums[0] / 1e3);
    near("sum of q".into(), p.q.iter().sum(), printed.sums[1]);
}

#[test]
fn towers_are_those_of_the_prototype() {
    same(
        &problems::tower(6, 0.5, 3),
        &Printed {
            contacts: 24,
            mu: 0.5,
            mass: [
                (0, 1.2180052693285517),
                (5, 0.2030008782214253),
                (30, 2.710983911472114),
                (35, 0.451830651912019),
            ],
            h: vec![
                (36, 14, -1.0),
                (36, 21, 0.5),
                (71, 24, 1.0),
                (71, 28, 0.5),
                (71, 34, 0.5),
                (71, 35, -0.5),
            ],
            q: [
                (0, -0.014028353866965326),
                (1, -0.038642751196251594),
                (36, -0.005669047549779382),
                (71, -0.05506387945642031),
            ],
            sums: [264.0, 0.583017931401004],
        },
    );
}

#[test]
fn walls_are_those_of_the_prototype() {
    same(
        &problems::wall(3, 3, 0.5, 4),
        &Printed {
            contacts: 76,
            mu: 0.5,
            mass: [
                (0, 17.542282526336823),
                (5, 7.309284385973677),
                (48, 14.882136028905009),
                (53, 6.200890012043754),
            ],
            h: vec![
                (114, 18, -1.0),
                (114, 22, 0.5),
                (114, 29, -0.5),
                (227, 43, 1.0),
                (227, 45, -0.5),
                (227, 53, 1.0),
            ],
            q: [
                (0, -0.16775794199851804),
                (1, 0.062077608252682485),
                (114, 0.02067239351704435),
                (227, 0.05830031868415567),
            ],
            sums: [900.0, 0.8258052518039115],
        },
    );
}

#[test]
fn lattices_are_those_of_the_prototype() {
    same(
        &problems::lattice(3, 0.6, 5),
        &Printed {
            contacts: 252,
            mu: 0.6,
            mass: [
                (0, 6.382677831049199),
                (5, 0.6382677831049199),
                (156, 1.6877904498726146),
                (161, 0.16877904498726148),
            ],
            h: vec![
                (378, 30, -0.010443802764149676),
                (378, 33, 0.4553132244247536),
                (378, 35, 0.00012758334100856035),
                (378, 87, -0.4445859031250293),
                (755, 138, 0.9997376305972648),
                (755, 140, 0.00023681309951991138),
                (755, 143, -0.48956181223359063),
                (755, 161, -0.5101758183636742),
            ],
            q: [
                (0, -0.025480483499278974),
                (1, -0.03770578658651933),
                (378, 0.03602981571054561),
                (755, 0.008868378757584436),
            ],
            sums: [2755.7475168309, -4.64109305703071],
        },
    );
}

#[test]
fn sphere_heaps_are_those_of_the_prototype() {
    same(
        &problems::heap(40, 0.5, 6),
        &Printed {
            contacts: 163,
            mu: 0.5,
            mass: [
                (0, 3.6641694909819753),
                (5, 0.36641694909819755),
                (234, 3.676720883973188),
                (239, 0.3676720883973188),
            ],
            h: vec![
                (244, 128, -1.0),
                (244, 129, 0.5),
                (488, 234, -1.0),
                (488, 239, -0.5),
                (200, 97, -0.009106030490042853),
                (200, 100, -0.003988132502765525),
                (200, 104, -7.263442290394942e-05),
                (200, 107, -0.49998409454615683),
            ],
            q: [
                (0, -0.07705919595898894),
                (1, -0.05429884754330951),
                (244, 0.10923520263957613),
                (488, 0.03173937423186107),
            ],
            sums: [1490.904407682338, 0.5690836463976947],
        },
    );
}
