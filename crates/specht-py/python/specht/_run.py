"""A run that ended."""

from __future__ import annotations

import html
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _specht

if TYPE_CHECKING:
    import pandas
    import xarray


class Run:
    """A run that ended: series, events, audit and report.

    >>> run = specht.load("bouncing_ball").run(until=0.5)
    >>> run["y"] is run["y"], run["y"].dtype.name
    (True, 'float64')
    >>> bool((run.series("2*y") == 2 * run["y"]).all())
    True
    """

    def __init__(self, inner: _specht.Run) -> None:
        self._inner = inner

    @property
    def status(self) -> str:
        """How it ended: finished, stopped, inconsistent, indeterminate, failed, interrupted."""
        return self._inner.status

    @property
    def message(self) -> str:
        """Why it ended, where there is more to say."""
        return self._inner.message

    @cached_property
    def record(self) -> dict[str, Any]:
        """Everything that ``run.json`` says."""
        record: dict[str, Any] = json.loads(self._inner.record())
        return record

    @property
    def events(self) -> list[dict[str, Any]]:
        """Everything that happened at an instant, in the order of time."""
        events: list[dict[str, Any]] = self.record["events"]
        return events

    @property
    def audit(self) -> dict[str, Any]:
        """How well the laws were kept."""
        audit: dict[str, Any] = self.record["audit"]
        return audit

    @property
    def final(self) -> dict[str, Any]:
        """The state at the end."""
        final: dict[str, Any] = self.record["final"]
        return final

    @cached_property
    def units(self) -> dict[str, str]:
        """Units of the columns that have one."""
        return {name: unit for name, unit in self._inner.columns() if unit}

    @cached_property
    def _table(self) -> dict[str, Any]:
        table = {}
        for name, column in self._inner.table():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False
            table[name] = column
        return table

    @property
    def columns(self) -> list[str]:
        """Names of the recorded series."""
        return [name for name, _ in self._inner.columns()]

    @property
    def t(self) -> NDArray[np.float64]:
        """The recorded instants, s; at an event there are two, before and after it."""
        return self["t"]

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """A recorded series, or any expression of the model's language. Recorded series are not copied."""
        column = self._table.get(name)
        if column is None:
            return self.series(name)
        if isinstance(column, np.ndarray):
            return column
        raise _specht.SpechtError(f"`{name}` is a column of words; ask run.modes({name!r})")

    def modes(self, name: str) -> list[str]:
        """A column of words: ``modes("tip.mode")`` or ``modes("tip")``."""
        name = name if name.endswith(".mode") else f"{name}.mode"
        column = self._table.get(name)
        if not isinstance(column, list):
            raise _specht.SpechtError(f"there is no column of modes `{name}`")
        return column

    def series(self, expression: str) -> NDArray[np.float64]:
        """Any expression of the model's language at the recorded instants."""
        return self._inner.series(expression)

    def to_pandas(self) -> pandas.DataFrame:
        """All recorded series, with time as the index. At events two rows have the same time."""
        import pandas

        table = dict(self._table)
        frame = pandas.DataFrame(table, index=pandas.Index(table.pop("t"), name="t"))
        frame.attrs["units"] = self.units
        return frame

    def to_xarray(self) -> xarray.Dataset:
        """All recorded series of numbers over the dimension ``t``, with units."""
        import xarray

        numbers = {k: v for k, v in self._table.items() if isinstance(v, np.ndarray) and k != "t"}
        data = {k: ("t", v, {"units": self.units[k]} if k in self.units else {}) for k, v in numbers.items()}
        return xarray.Dataset(data, coords={"t": ("t", self.t, {"units": "s"})}, attrs={"title": self._inner.name})

    def plot(self, *series: str, x: str = "t", ax: Any = None) -> Any:
        """Draws series with matplotlib; ``run.plot("phiS'", x="phiS")``. Returns the axes."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots()
        across = self[x]
        for name in series:
            ax.plot(across, self[name], label=name)
        ax.set_xlabel(self._with_unit(x))
        if len(series) == 1:
            ax.set_ylabel(self._with_unit(series[0]))
        elif series:
            ax.legend()
        return ax

    def _with_unit(self, name: str) -> str:
        return f"{name}, {self.units[name]}" if name in self.units else name

    def save(self, folder: str | Path) -> Path:
        """Writes ``run.json``, ``trajectory.csv`` and ``report.html`` into a folder; returns the page."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.json").write_text(self._inner.record() + "\n", encoding="utf-8")
        (folder / "trajectory.csv").write_text(self._inner.csv(), encoding="utf-8")
        page = folder / "report.html"
        page.write_text(self._inner.page(), encoding="utf-8")
        return page

    def __repr__(self) -> str:
        ended = f"{self.status} at t = {self.t[-1]:.6g} s" if len(self.t) else self.status
        audit = "passed" if self.audit["passed"] else "FAILED"
        return f"<Run of {self._inner.name!r}: {ended}, {len(self.events)} events, audit {audit}>"

    def _repr_html_(self) -> str:
        page = html.escape(self._inner.page(), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="720" style="border: 0"></iframe>'
