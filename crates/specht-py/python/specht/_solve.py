"""Contact problems and complementarity problems without a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _specht

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class FrictionSolution:
    """Impulses and velocities of a contact problem."""

    status: str
    """solved, not_converged, no_solution."""
    r: Vector
    """Impulses."""
    u: Vector
    """Velocities W r + q."""
    error: float
    stage: str
    islands: int
    painleve: list[int]
    """Contacts where several solutions or none are possible."""
    certificate: Vector
    """With no_solution: why."""

    @property
    def success(self) -> bool:
        return self.status == "solved"


@dataclass(frozen=True)
class LcpSolution:
    """A solution of a complementarity problem, and all of them where asked for."""

    status: str
    z: Vector
    w: Vector
    solutions: list[dict[str, Any]] | None = None
    complete: bool | None = None

    @property
    def success(self) -> bool:
        return self.status == "solved"


def _vector(values: ArrayLike, name: str, length: int | None = None) -> Vector:
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if array.ndim != 1:
        raise _specht.SpechtError(f"{name} must be a list of numbers, not an array with {array.ndim} dimensions")
    if length is not None and array.size == 1 and length != 1:
        array = np.full(length, array[0])
    if length is not None and array.size != length:
        raise _specht.SpechtError(f"{name} has {array.size} entries, expected {length}")
    return np.ascontiguousarray(array)


def _matrix(matrix: Any, name: str) -> Any:
    if hasattr(matrix, "tocoo"):  # scipy.sparse
        coo = matrix.tocoo()
        parts = (coo.row.astype(np.int64), coo.col.astype(np.int64), coo.data.astype(np.float64))
        return (*parts, int(coo.shape[0]), int(coo.shape[1]))
    array = np.asarray(matrix, dtype=np.float64)
    if array.ndim != 2:
        raise _specht.SpechtError(f"{name} must be a matrix, not an array with {array.ndim} dimensions")
    return np.ascontiguousarray(array)


def solve_friction(
    W: Any, q: ArrayLike, mu: ArrayLike, *, dimension: int | None = None, tolerance: float = 1e-8, time_limit: float | None = None
) -> FrictionSolution:
    """Impulses r with u = W r + q and Coulomb friction at every contact, exactly: no pyramid, no regularisation.

    W is a numpy or scipy.sparse matrix; the rows of a contact are N, T1, T2 (dimension 3) or N, T (dimension 2); mu is one number for
    all contacts or one each. Without ``dimension`` it follows from the number of coefficients, or is 3.

    >>> import numpy as np
    >>> s = solve_friction(np.eye(3), [-1.0, 0.2, 0.0], 0.5)     # a unit mass lands and sticks
    >>> s.status, s.r.round(12).tolist(), s.u.round(12).tolist()
    ('solved', [1.0, -0.2, 0.0], [0.0, 0.0, 0.0])
    """
    free = _vector(q, "q")
    friction = np.atleast_1d(np.asarray(mu, dtype=np.float64))
    if dimension is None:
        dimension = 2 if friction.size > 1 and 2 * friction.size == free.size else 3
    if dimension not in (2, 3):
        raise _specht.SpechtError(f"dimension is {dimension}; it must be 2 or 3")
    if free.size % dimension:
        raise _specht.SpechtError(f"q has {free.size} entries, which is no multiple of {dimension}")
    friction = _vector(mu, "mu", free.size // dimension)
    found = _specht.solve_friction(_matrix(W, "W"), free, friction, dimension, float(tolerance), time_limit)
    return FrictionSolution(**found)


def lcp(A: Any, b: ArrayLike, *, all: bool = False, time_limit: float | None = None) -> LcpSolution:  # noqa: A002
    """z with w = A z + b, w >= 0, z >= 0, w z = 0; with ``all`` every solution.

    >>> s = lcp([[-2.0]], [1.0], all=True)                       # Painleve: two solutions
    >>> [float(x["z"][0]) for x in s.solutions]
    [0.0, 0.5]
    """
    matrix = A.toarray() if hasattr(A, "toarray") else A
    return LcpSolution(**_specht.lcp(_matrix(matrix, "A"), _vector(b, "b"), all, time_limit))
