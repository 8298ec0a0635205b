//! Friction laws by name (METH-LAW-CURVE, METH-LAW-STATE, ANH-1.5-LAWS): functions of the language, written in it.
//!
//! A law is a formula like one of the user, so that its derivatives, its dimensions and its switches are those of any other
//! formula; a definition of the same name hides it. `v` is the speed of slip, at least 0, in the laws of sliding; laws with states take the
//! velocity with its sign. Forces and coefficients may stand for each other throughout.

use std::sync::{Arc, LazyLock};

use super::lower::Formula;
use super::parser::parse;

/// A law: `name(arguments)`, its formula, what it is.
pub(crate) struct Law {
    /// As it is called.
    pub head: &'static str,
    /// Its formula.
    pub body: &'static str,
    /// In words.
    pub about: &'static str,
}

const fn law(head: &'static str, body: &'static str, about: &'static str) -> Law {
    Law { head, body, about }
}

/// All laws.
pub(crate) const LAWS: [Law; 26] = [
    law("coulomb(v, F)", "F", "constant"),
    law("coulomb(v, F, c)", "F + c*v", "constant and viscous"),
    law("stribeck(v, Fs, Fk, vs)", "Fk + (Fs - Fk)*exp(-v/vs)", "falls from Fs to Fk"),
    law("stribeck(v, Fs, Fk, vs, c)", "Fk + (Fs - Fk)*exp(-v/vs) + c*v", "and rises again"),
    law(
        "stribeck(v, Fs, Fk, vs, c, n)",
        "Fk + (Fs - Fk)*exp(-(v/vs)^n) + c*v",
        "with an exponent; 2 is the Gaussian law",
    ),
    law("stribeck_gauss(v, Fs, Fk, vs)", "Fk + (Fs - Fk)*exp(-(v/vs)^2)", "falls, flat at v = 0"),
    law("stribeck_gauss(v, Fs, Fk, vs, c)", "Fk + (Fs - Fk)*exp(-(v/vs)^2) + c*v", "and rises again"),
    law("stribeck_rational(v, Fs, Fk, vs)", "Fk + (Fs - Fk)/(1 + v/vs)", "falls slowly"),
    law("stribeck_rational(v, Fs, Fk, vs, c)", "Fk + (Fs - Fk)/(1 + v/vs) + c*v", "and rises again"),
    law("logarithmic(v, F, a, v0)", "F + a*log(1 + v/v0)", "rises or falls with the logarithm of the speed"),
    law("cubic(v, F0, alpha, gamma)", "F0 - alpha*v + alpha*v^3/(3*gamma^2)", "least at v = gamma"),
    law(
        "cubic_vcr(alpha, gamma, d)",
        "gamma*sqrt(max(0, 1 - d/alpha))",
        "sliding below it self-excites, damper d",
    ),
    law(
        "kaidanovsky_khaikin(v, Fmin, gamma)",
        "3*Fmin*(1 - v/gamma + v^3/(3*gamma^3))",
        "the cubic law that falls to a third, at v = gamma",
    ),
    law(
        "kragelsky(T, F0, Finf, delta)",
        "Finf - (Finf - F0)*exp(-delta*T)",
        "break-away after the rest time T",
    ),
    law(
        "kragelsky_vcr(F0, Finf, delta, c)",
        "2*delta*(Finf - F0)/c",
        "no stick-slip above this speed of the spring c",
    ),
    law("break_down(f, F0, A, beta)", "F0 + A*exp(-beta*f)", "break-away at the rate of loading f"),
    law("rest_power(T, F0, a, n)", "F0 + a*T^n", "break-away after the rest time T"),
    law("rest_log(T, F0, a, T0)", "F0 + a*log(1 + T/T0)", "break-away after the rest time T"),
    law("dahl(z, s0)", "s0*z", "elastic slip z"),
    law("dahl_rate(v, z, s0, Fc)", "v - abs(v)*s0*z/Fc", "rate of z"),
    law(
        "lugre(v, z, s0, s1, s2, Fc, Fs, vs)",
        "s0*z + s1*lugre_rate(v, z, s0, Fc, Fs, vs) + s2*v",
        "bristles deflected by z",
    ),
    law("lugre_rate(v, z, s0, Fc, Fs, vs)", "v - abs(v)*s0*z/(Fc + (Fs - Fc)*exp(-(v/vs)^2))", "rate of z"),
    law("rate_state(v, w, mu0, a, b, v0)", "a*asinh(v/(2*v0)*exp((mu0 + b*w)/a))", "w = log(v0*theta/L)"),
    law("ageing_rate(v, w, v0, L)", "v0/L*exp(-w) - abs(v)/L", "rate of w: contacts age (Dieterich)"),
    law(
        "slip_rate(v, w, v0, L)",
        "-abs(v)/L*(w + log(abs(v)/v0 + 1e-300))",
        "rate of w: contacts change by slip only (Ruina)",
    ),
    law(
        "rate_state_stiffness(N, a, b, L, m, v)",
        "N*(b - a)/L*(1 + m*v^2/(N*a*L))",
        "steady sliding is unstable behind a softer spring",
    ),
];

static FORMULAS: LazyLock<Vec<Arc<Formula>>> = LazyLock::new(|| LAWS.iter().filter_map(formula).collect());

fn formula(law: &Law) -> Option<Arc<Formula>> {
    let (name, list) = law.head.strip_suffix(')')?.split_once('(')?;
    let params = list.split(", ").map(str::to_string).collect();
    Some(Arc::new(Formula { name: name.to_string(), params, body: parse(law.body).ok()? }))
}

/// The law of this name with so many arguments, else the first of the name.
pub(crate) fn named(name: &str, arguments: usize) -> Option<&'static Arc<Formula>> {
    let all = || FORMULAS.iter().filter(|f| f.name == name);
    all().find(|f| f.params.len() == arguments).or_else(|| all().next())
}

/// The names of the laws, for suggestions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FORMULAS.iter().map(|f| f.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_is_a_formula() {
        assert_eq!(FORMULAS.len(), LAWS.len());
        assert_eq!(named("stribeck", 5).unwrap().params.len(), 5);
        assert_eq!(named("stribeck", 9).unwrap().params.len(), 4);
        assert!(named("strybeck", 4).is_none());
    }
}
