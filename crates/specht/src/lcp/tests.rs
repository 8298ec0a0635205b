//! Tests of the complementarity solvers against each other and against closed forms.

use super::*;

#[test]
fn one_dimensional_cases_have_the_known_number_of_solutions() {
    // a x + b: (a>0,b>0) one, (a>0,b<0) one, (a<0,b>0) two, (a<0,b<0) none: the four sign cases of PG-5.3
    for (a, b, count) in [(2.0, 1.0, 1), (2.0, -1.0, 1), (-2.0, 1.0, 2), (-2.0, -1.0, 0)] {
        let (m, q) = (Mat::from_rows(&[[a]]), [b]);
        let p = Lcp::new(&m, &q);
        assert_eq!(enumerate(p, &EnumerateSettings::default()).pieces.len(), count);
        let status = Solver::default().solve(p);
        assert_eq!(status.is_solved(), count > 0, "{a} {b} {status:?}");
    }
}
