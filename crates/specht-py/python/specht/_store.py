"""Sweeps kept in a folder: a Zarr group (version 2) of plain columns, each in one block of memory that is mapped, not read."""

from __future__ import annotations

import json
import os
import shutil
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _specht

WORD = np.dtype("<U64")
NUMBER = np.dtype("<f8")


class Store:
    """A folder that is filled part by part. It has another name until it is whole."""

    def __init__(self, path: str | PathLike[str], rows: int, parameters: list[str], shape: tuple[int, ...] | None) -> None:
        self.final = Path(path)
        if self.final.exists() and not (self.final / ".zgroup").exists():
            raise _specht.SpechtError(f"{self.final} is there already and is no result of a sweep; choose another name")
        self.folder = self.final.with_name(self.final.name + ".part")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.rows, self.parameters, self.shape = rows, parameters, shape
        self.columns: dict[str, NDArray[Any]] = {}
        self.failed: dict[int, str] = {}
        _write(self.folder / ".zgroup", {"zarr_format": 2})

    def add(self, rows: NDArray[np.int64], columns: dict[str, Any], failed: dict[int, str]) -> None:
        """The rows of a part."""
        for name, values in columns.items():
            if self.shape and name in self.parameters:
                self._axis(name, rows, values)
                continue
            array = np.asarray(values)
            if name not in self.columns:
                self.columns[name] = self._column(name, NUMBER if array.dtype.kind in "fiub" else WORD)
            column = self.columns[name]
            if column.dtype == NUMBER and array.dtype.kind not in "fiub":
                array = np.full(len(array), np.nan)  # words where others have numbers: the reason is kept
            column[rows] = array
        self.failed.update(failed)

    def _axis(self, name: str, rows: NDArray[np.int64], values: Any) -> None:
        """Values of a parameter on its axis of the grid."""
        before, count = _stride(name, self.parameters, self.shape or ())
        if name not in self.columns:
            folder = self._begin(name, [count], [name], NUMBER)
            self.columns[name] = np.memmap(folder / "0", dtype=NUMBER, mode="w+", shape=(count,))
        self.columns[name][(rows // before) % count] = values

    def _begin(self, name: str, shape: list[int], dims: list[str], dtype: np.dtype[Any]) -> Path:
        folder = self.folder / _file(name)
        folder.mkdir()
        fill = "NaN" if dtype == NUMBER else ""
        _write(
            folder / ".zarray",
            dict(zarr_format=2, shape=shape, chunks=shape, dtype=dtype.str, compressor=None, fill_value=fill, order="C", filters=None),
        )
        _write(folder / ".zattrs", {"_ARRAY_DIMENSIONS": dims, "name": name})
        return folder

    def _column(self, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
        # the first parameter changes fastest: it is the last dimension
        grid = list(reversed(self.shape)) if self.shape else [self.rows]
        folder = self._begin(name, grid, list(reversed(self.parameters)) if self.shape else ["run"], dtype)
        block = np.memmap(folder / ".".join("0" for _ in grid), dtype=dtype, mode="w+", shape=(self.rows,))
        if dtype == NUMBER:
            block[:] = np.nan
        return block

    def end(self) -> Path:
        """Everything is there: the folder gets its name."""
        for column in self.columns.values():
            if isinstance(column, np.memmap):
                column.flush()
        self.columns.clear()
        failed = {str(k): why for k, why in sorted(self.failed.items())}
        _write(self.folder / ".zattrs", {"parameters": self.parameters, "shape": self.shape, "rows": self.rows, "failed": failed})
        if self.final.exists():
            shutil.rmtree(self.final)
        os.replace(self.folder, self.final)
        return self.final


def read(path: str | PathLike[str]) -> tuple[list[str], dict[str, Any], dict[int, str], tuple[int, ...] | None]:
    """Parameters, columns (mapped, not read), reasons of failed rows, shape."""
    folder = Path(path)
    try:
        about = json.loads((folder / ".zattrs").read_text(encoding="utf-8"))
        parameters, rows, shape = about["parameters"], about["rows"], tuple(about["shape"] or ())
        columns: dict[str, Any] = {}
        for entry in sorted(p for p in folder.iterdir() if p.is_dir()):
            kept = json.loads((entry / ".zarray").read_text(encoding="utf-8"))
            name = json.loads((entry / ".zattrs").read_text(encoding="utf-8"))["name"]
            axis = bool(shape) and name in parameters
            block = entry / ".".join("0" for _ in kept["shape"])
            columns[name] = np.memmap(block, dtype=np.dtype(kept["dtype"]), mode="r", shape=tuple(kept["shape"]) if axis else (rows,))
            if axis:
                before, count = _stride(name, parameters, shape)
                columns[name] = np.tile(np.repeat(columns[name], before), rows // (before * count))
        ordered = {name: columns[name] for name in [*parameters, *sorted(set(columns) - set(parameters))]}
        return parameters, ordered, {int(k): v for k, v in about["failed"].items()}, shape or None
    except (OSError, KeyError, ValueError) as error:
        raise _specht.SpechtError(f"{folder} is not a result of a sweep: {error}") from error


def _stride(name: str, parameters: list[str], shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows after which a parameter of a grid changes, and the number of its values."""
    k = parameters.index(name)
    return int(np.prod(shape[:k])), shape[k]


def _file(name: str) -> str:
    """A name that every file system takes."""
    return "".join(c if c.isalnum() or c in "_-." else f"%{ord(c):02x}" for c in name)


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
