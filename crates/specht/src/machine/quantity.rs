//! Quantities as typed outside of a file: `"50 ms"`.

use crate::expr::{self, Dim, check_dimensions};

use super::Error;

/// A time in seconds, with or without its unit: `2`, `"50 ms"`.
///
/// # Errors
///
/// No number, or one with a unit that is not a time.
pub fn time(text: &str) -> Result<f64, Error> {
    let help = "write a time: 2, \"50 ms\"";
    let ast = expr::parse(text)
        .map_err(|e| Error::plain(format!("`{text}` is not a time: {}", e.message), help))?;
    let dim = check_dimensions(&ast, &|_: &[&str]| Dim::Any).unwrap_or(Dim::Any);
    if dim.clashes(Dim::TIME) {
        return Err(Error::plain(format!("`{text}` is not a time: it is in {dim}"), help));
    }
    expr::quantity(text).map_err(|why| Error::plain(why.to_string(), help))
}
