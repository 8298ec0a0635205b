"""Many runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _specht
from ._machine import Machine, _setup
from ._progress import Progress, shown

if TYPE_CHECKING:
    import pandas
    import xarray

Axis = Union[tuple[float, float, int], Sequence[float], str]
"""(from, to, count), a list of values, or a text as on the command line: ``"0..1:11"``."""


@dataclass(frozen=True)
class SweepResult:
    """Columns of a sweep: parameters first, then what was recorded."""

    parameters: list[str]
    columns: dict[str, Any]
    failed: dict[int, str]
    """Reasons of rows that have no complete result, by row."""
    shape: tuple[int, ...] | None
    """Sizes of the axes of a grid."""

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def to_pandas(self) -> pandas.DataFrame:
        """One row per run."""
        import pandas

        return pandas.DataFrame(self.columns)

    def to_xarray(self) -> xarray.Dataset:
        """Over the axes of the grid, or over ``run`` for samples."""
        import xarray

        recorded = {k: np.asarray(v) for k, v in self.columns.items() if k not in self.parameters}
        whole = self.shape is not None and int(np.prod(self.shape)) == len(self)
        if self.shape is not None and whole:
            # the first parameter changes fastest
            axes: dict[str, Any] = {}
            before = 1
            for name, count in zip(self.parameters, self.shape):
                axes[name] = self.columns[name][: before * count : before]
                before *= count
            data = {k: (tuple(axes), v.reshape(self.shape, order="F")) for k, v in recorded.items()}
            return xarray.Dataset(data, coords=axes)
        along = {p: ("run", self.columns[p]) for p in self.parameters}
        return xarray.Dataset({k: ("run", v) for k, v in recorded.items()}, coords=along)


def sweep(
    machine: Machine,
    *,
    over: Mapping[str, Axis] | None = None,
    record: Sequence[str],
    random: Mapping[str, str] | None = None,
    samples: int | None = None,
    seed: int | None = None,
    sobol: bool | None = None,
    until: float | None = None,
    jobs: int | None = None,
    shard: str | None = None,
    progress: Progress = None,
) -> SweepResult:
    """Runs the machine for many values of its parameters and records addresses of each run.

    >>> block = specht.load("incline")
    >>> s = sweep(block, over={"mu": (0.1, 0.3, 3)}, record=["final.x'"], until=0.2)
    >>> s["mu"].tolist(), len(s["final.x'"])
    ([0.1, 0.2, 0.3], 3)
    """
    keys: dict[str, Any] = {"record": list(record)}
    shape: list[int] = []
    if over:
        axes = {name: _axis(name, axis) for name, axis in over.items()}
        keys["over"] = {name: text for name, (text, _) in axes.items()}
        shape = [count for _, count in axes.values()]
    if random:
        keys["random"] = dict(random)
    for name, value in (("samples", samples), ("seed", seed), ("sobol", sobol)):
        if value is not None:
            keys[name] = value
    with shown(progress, machine.name) as told:
        numbers, words, failed = _specht.sweep(machine._inner, keys, _setup(until), jobs, shard, told)
    columns: dict[str, Any] = {name: array for name, array in numbers}
    columns.update({name: np.asarray(list_) for name, list_ in words})
    parameters = [*(over or {}), *(random or {})]
    grid = tuple(shape) if shape and not random and all(shape) else None
    return SweepResult(parameters, columns, dict(failed), grid)


def _axis(name: str, axis: Axis) -> tuple[str, int]:
    if isinstance(axis, str):
        return axis, 0
    if isinstance(axis, tuple) and len(axis) == 3 and isinstance(axis[2], (int, np.integer)) and not isinstance(axis[2], bool):
        low, high, count = axis
        return f"{float(low)!r}..{float(high)!r}:{int(count)}", int(count)
    values: NDArray[np.float64] = np.asarray(axis, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise _specht.SpechtError(f"the values of `{name}` must be a list of finite numbers, or (from, to, count)")
    return ",".join(repr(float(v)) for v in values), int(values.size)
