"""Parameters from measured data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from . import _specht
from ._finding import Finding
from ._machine import Machine
from ._progress import Progress


def fit(
    machine: Machine,
    data: str | PathLike[str] | Mapping[str, Any] | Any,
    fit: Sequence[str],
    *,
    residual: str | None = None,
    bounds: Mapping[str, Sequence[float]] | None = None,
    weights: str | None = None,
    starts: int | None = None,
    profile: bool | None = None,
    robust: bool | None = None,
    bootstrap: int | None = None,
    holdout: float | None = None,
    progress: Progress = None,
) -> Finding:
    """Which values of the parameters ``fit`` describe the data best?

    ``data`` is a table: a pandas DataFrame, a dict of columns, or the path of a CSV file; names of columns may have units (``"F [kN]"``). With a column ``t`` the
    run is compared with the columns of the same names, or ``residual`` is taken along it; without one ``residual`` is a formula of columns and parameters.
    Missing numbers (NaN) are gaps. The keys are those of ``specht explain fit``.

    >>> import specht
    >>> line = specht.load({"parameters": {"a": 1.0, "b": 0.0}})
    >>> found = specht.fit(line, {"x": [0, 1, 2, 3], "y": [1.0, 3.1, 4.9, 7.0]}, ["a", "b"], residual="y - a*x - b")
    >>> [round(found.estimate[name], 6) for name in ("a", "b")]
    [1.98, 1.03]
    """
    text = _text(data)
    model, files, label, set_, case, setup = machine._inner.parts()
    name = "data.csv"
    while name in files:
        name = f"measured-{name}"
    inner = _specht.Machine.text(model, {**files, name: text}, label, set_, case, setup)
    keys: dict[str, Any] = {"data": name, "fit": [fit] if isinstance(fit, str) else list(fit)}
    given = dict(residual=residual, weights=weights, starts=starts, profile=profile, robust=robust, bootstrap=bootstrap, holdout=holdout)
    keys.update({key: value for key, value in given.items() if value is not None})
    if bounds is not None:
        keys["bounds"] = {name: [float(x) for x in span] for name, span in bounds.items()}
    return Machine(inner).ask("fit", progress=progress, **keys)


def _text(data: Any) -> str:
    """A table as CSV."""
    if isinstance(data, (str, PathLike)):
        try:
            return Path(data).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise _specht.SpechtError(f"cannot read the data: {error}") from error
    if not hasattr(data, "keys"):
        raise TypeError(f"data of type {type(data).__name__}; give a DataFrame, a dict of columns, or the path of a CSV file")
    names = [str(key) for key in data.keys()]
    columns = [_column(key, data[key]) for key in data.keys()]
    if not columns:
        raise _specht.SpechtError("the data have no columns")
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        sizes = ", ".join(f"{name}: {len(column)}" for name, column in zip(names, columns))
        raise _specht.SpechtError(f"the columns of the data differ in length ({sizes})")
    head = ",".join('"' + name.replace('"', '""') + '"' if "," in name else name for name in names)
    rows = (",".join("" if x != x else repr(x) for x in row) for row in zip(*columns))
    return "\n".join([head, *rows]) + "\n"


def _column(name: Any, values: Any) -> list[float]:
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    try:
        return [float("nan") if x is None else float(x) for x in values]
    except (TypeError, ValueError) as error:
        raise TypeError(f"column `{name}` of the data does not hold numbers: {error}") from error
