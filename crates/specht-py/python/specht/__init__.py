"""Specht: mechanical systems with Coulomb friction, unilateral contacts and impacts.

>>> import specht
>>> m = specht.load("woodpecker")            # a file, a gallery name, a text or a dict
>>> run = m.with_(mu1=0.4).run(until=0.5)
>>> run.status
'finished'
>>> len(run.t) == len(run["phiS"])
True
"""

from __future__ import annotations

from ._finding import Finding
from ._fit import fit
from ._machine import Machine, Parameter, load
from ._model import to_toml
from ._run import Run
from ._solve import FrictionSolution, LcpSolution, lcp, solve_friction
from ._specht import SpechtError, __version__, gallery
from ._sweep import SweepResult, open_sweep, sweep

__all__ = [
    "Finding",
    "FrictionSolution",
    "LcpSolution",
    "Machine",
    "Parameter",
    "Run",
    "SpechtError",
    "SweepResult",
    "__version__",
    "explain",
    "fit",
    "gallery",
    "lcp",
    "load",
    "open_sweep",
    "solve_friction",
    "sweep",
    "to_toml",
]


def explain(topic: str) -> str:
    """The page that ``specht explain TOPIC`` shows.

    >>> specht.explain("painleve").startswith("#")
    True
    """
    from . import _specht

    page = _specht.explain(topic)
    if page is None:
        raise SpechtError(f"there is no page `{topic}`; `specht explain` lists them")
    return page
