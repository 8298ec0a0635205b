"""Many runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _specht
from ._machine import Machine, _setup
from ._progress import Progress, shown
from ._store import Store, read

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
    client: Any = None,
    store: str | PathLike[str] | None = None,
    progress: Progress = None,
) -> SweepResult:
    """Runs the machine for many values of its parameters and records addresses of each run.

    ``client`` is a ``dask.distributed.Client``: the runs are spread over its workers in parts, parts of lost workers are done again, and
    the result has the same bits as on one machine. ``shard="i/n"`` does one part only. ``store`` is a folder: parts are written there as they
    come, and the columns of the result are mapped from it, so that results larger than memory can be used; ``open_sweep`` opens it again, other
    programs read it as Zarr.

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
    if client is not None and shard is not None:
        raise _specht.SpechtError("a client makes the parts itself; leave out `shard`")
    parameters = [*(over or {}), *(random or {})]
    grid = tuple(shape) if shape and not random and all(shape) else None
    count = int(np.prod(grid)) if grid else samples if random and not over else None
    with shown(progress, machine.name) as told:
        if client is not None:
            parts = _spread(client, machine, keys, until, told)
        elif store is not None and count and shard is None:
            parts = _one_by_one(machine, keys, until, jobs, -(-count // BLOCK), told)
        else:
            parts = iter([_part(machine, keys, until, jobs, shard, told)])
        if store is None or shard is not None or not count:
            result = _joined(list(parts), parameters, grid)
            if store is None:
                return result
            kept = Store(store, len(result), parameters, grid if len(result) == count else None)
            kept.add(np.arange(len(result)), result.columns, result.failed)
        else:
            kept = Store(store, count, parameters, grid)
            for part in parts:
                kept.add(*part)
        return open_sweep(kept.end())


def open_sweep(path: str | PathLike[str]) -> SweepResult:
    """A sweep that was kept with ``store=``: nothing is read before it is used."""
    return SweepResult(*read(path))


Part = tuple[NDArray[np.int64], dict[str, Any], dict[int, str]]
"""Numbers of rows, columns, and reasons by number of row."""

PARTS = 4
"""Parts per worker of a client."""

BLOCK = 100_000
"""Runs of a part that is written to a store."""


def _part(machine: Machine, keys: dict[str, Any], until: float | None, jobs: int | None, shard: str | None, told: Any = None) -> Part:
    rows, numbers, words, failed = _specht.sweep(machine._inner, keys, _setup(until), jobs, shard, told)
    columns: dict[str, Any] = {name: array for name, array in numbers}
    columns.update({name: np.asarray(texts, dtype=object) for name, texts in words})
    return rows, columns, {int(rows[k]): why for k, why in failed}


def _one_by_one(machine: Machine, keys: dict[str, Any], until: float | None, jobs: int | None, count: int, told: Any) -> Iterator[Part]:
    for k in range(count):
        within = None if told is None else lambda done, k=k: told((k + done) / count)
        yield _part(machine, keys, until, jobs, f"{k + 1}/{count}", within)


def _spread(client: Any, machine: Machine, keys: dict[str, Any], until: float | None, told: Any) -> Iterator[Part]:
    from dask import distributed

    as_completed: Any = distributed.as_completed
    if getattr(client, "status", "running") in ("closed", "closing"):
        raise _specht.SpechtError("the client is closed; make a new one")
    workers = len(client.scheduler_info()["workers"])
    if workers == 0:
        raise _specht.SpechtError("the client has no workers; start some, or wait for them with client.wait_for_workers(1)")
    count = PARTS * workers
    # one thread each: the workers are the threads
    futures = [client.submit(_part, machine, keys, until, 1, f"{k + 1}/{count}", pure=False, retries=10) for k in range(count)]
    try:
        for done, future in enumerate(as_completed(futures)):
            yield future.result()
            future.release()
            if told is not None:
                told((done + 1) / count)
    except BaseException:
        client.cancel(futures)
        raise


def _joined(parts: list[Part], parameters: list[str], grid: tuple[int, ...] | None) -> SweepResult:
    rows = np.concatenate([part[0] for part in parts])
    order = np.argsort(rows, kind="stable")
    names = [name for name in dict.fromkeys(name for part in parts for name in part[1])]
    columns = {}
    for name in names:
        # a part whose values are all words or all numbers is joined with others as it is
        columns[name] = np.concatenate([np.asarray(part[1][name]) for part in parts])[order]
    place = {int(row): k for k, row in enumerate(rows[order])}
    failed = {place[row]: why for part in parts for row, why in part[2].items()}
    return SweepResult(parameters, columns, dict(sorted(failed.items())), grid)


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
