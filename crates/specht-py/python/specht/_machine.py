"""Machines and questions about them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from . import _specht
from ._finding import Finding
from ._model import to_toml
from ._progress import Progress, shown
from ._run import Run


def load(model: str | PathLike[str] | Mapping[str, Any]) -> Machine:
    """A machine from a file, a folder, the name of a gallery entry, a text, or a dict.

    >>> load("rod").name
    'sliding rod'
    >>> text = '''
    ... gravity     = [0, -9.81]
    ... coordinates = { y = "2 m" }
    ... body        = [{ name = "ball", mass = "3 kg", position = [0, "y"] }]
    ... '''
    >>> float(load(text).run(until=0.1)["y"][-1])
    1.95095
    """
    if isinstance(model, Mapping):
        return Machine(_specht.Machine.text(to_toml(model), {}))
    typed = str(model)
    if isinstance(model, str) and ("\n" in typed or "=" in typed):
        return Machine(_specht.Machine.text(typed.removeprefix("\ufeff"), {}))
    return Machine(_specht.Machine.find(typed))


@dataclass(frozen=True)
class Parameter:
    """A parameter of a machine."""

    name: str
    value: float
    """In SI."""
    range: tuple[float, float] | None
    about: str
    unit: str


class Machine:
    """A machine: its equations with the parameters in force.

    >>> m = load("woodpecker")
    >>> m.parameters["mu1"].value
    0.3
    >>> m.with_(mu1=0.4, mu2="2*0.2").parameters["mu2"].value
    0.4
    """

    def __init__(self, inner: _specht.Machine) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """What the file calls it."""
        return self._inner.name

    @property
    def about(self) -> str:
        """What the file says of it."""
        return self._inner.about

    @property
    def text(self) -> str:
        """The model file."""
        return self._inner.source

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Its parameters, by name."""
        return {
            name: Parameter(name, value, (span[0], span[1]) if span else None, about, unit)
            for name, value, span, about, unit in self._inner.parameters()
        }

    @property
    def names(self) -> dict[str, list[str]]:
        """Names of coordinates, states, contacts, outputs and cases."""
        return self._inner.names()

    @property
    def warnings(self) -> list[str]:
        """What looks odd in the file."""
        return self._inner.warnings()

    def with_(self, **parameters: float | str) -> Machine:
        """The machine with other parameters: numbers in SI, or texts as in the file (``"60 deg"``). An entry of a list is
        given as ``**{"mu[1]": 0.2}``. Numbers need no second reading of the file."""
        if not parameters:
            return self
        numbers: list[tuple[str, float]] = []
        texts: list[tuple[str, str]] = []
        for name, value in parameters.items():
            if isinstance(value, str):
                texts.append((name, value))
            elif isinstance(value, bool) or not hasattr(value, "__float__"):
                raise TypeError(f"`{name}` is of type {type(value).__name__}; give a number or a text as in the file")
            else:
                numbers.append((name, float(value)))
        inner = self._inner.with_texts(texts) if texts else self._inner
        return Machine(inner.with_numbers(numbers) if numbers else inner)

    def case(self, name: str) -> Machine:
        """The machine in one of the cases of its file."""
        return Machine(self._inner.case(name))

    def run(
        self,
        until: float | None = None,
        *,
        scheme: str | None = None,
        step: float | None = None,
        tolerance: float | None = None,
        every: float | None = None,
        impact: str | None = None,
        several: str | None = None,
        method: str | None = None,
        events: int | None = None,
        sensitivity: Sequence[str] | None = None,
        progress: Progress = None,
    ) -> Run:
        """Runs it as its file says; what is given here counts instead. ``sensitivity`` names parameters: the run has derivatives by them
        through all its events (``run.record["sensitivity"]``). ``progress`` is True for a bar (tqdm, where it is there), or a
        function of the fraction done. Ctrl-C ends the run with KeyboardInterrupt."""
        setup = _setup(until, scheme, step, tolerance, every, impact, several, method, events, sensitivity)
        with shown(progress, self.name) as told:
            return Run(self._inner.run(setup, told))

    def ask(self, kind: str, *, until: float | None = None, progress: Progress = None, **keys: Any) -> Finding:
        """Any question of ``specht analyse KIND``, with the keys of the command line."""
        with shown(progress, kind) as told:
            return Finding._of(self._inner.ask(kind, keys, _setup(until), told))

    def painleve(self, **keys: Any) -> Finding:
        """Is the computed reaction the only possible one?"""
        return self.ask("painleve", **keys)

    def true_motion(self, **keys: Any) -> Finding:
        """What happens in the limit of stiff contacts?"""
        return self.ask("true-motion", **keys)

    def rest(self, **keys: Any) -> Finding:
        """Does it stay where it is?"""
        return self.ask("rest", **keys)

    def self_braking(self, **keys: Any) -> Finding:
        """Which forces cannot move it?"""
        return self.ask("self-braking", **keys)

    def tensor(self, **keys: Any) -> Finding:
        """Can friction, however large, make a reaction ambiguous or impossible?"""
        return self.ask("tensor", **keys)

    def statistics(self, **keys: Any) -> Finding:
        """Means, moments, histograms and balances of a run."""
        return self.ask("statistics", **keys)

    def load_statistics(self, **keys: Any) -> Finding:
        """How often and how hard do loads strike?"""
        return self.ask("load-statistics", **keys)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the model file."""
        Path(path).write_text(self.text, encoding="utf-8")

    def __getattr__(self, name: str) -> Callable[..., Finding]:
        # kinds of questions that have no method of their own
        kind = name.replace("_", "-")
        if name.startswith("_") or kind not in dict(_specht.kinds()) or kind == "sweep":
            raise AttributeError(f"a machine has no `{name}`")
        return lambda **keys: self.ask(kind, **keys)

    def __repr__(self) -> str:
        return f"<Machine {self.name!r} ({self._inner.label})>"

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f"<tr><td>{html.escape(p.name)}</td><td>{p.value:.6g}</td><td>{html.escape(p.unit)}</td>"
            f"<td>{html.escape(p.about)}</td></tr>"
            for p in self.parameters.values()
        )
        return f"<b>{html.escape(self.name)}</b><p>{html.escape(self.about)}</p><table>{rows}</table>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, self._inner.parts())


def _again(*parts: Any) -> Machine:
    return Machine(_specht.Machine.text(*parts))


def _setup(
    until: float | None = None,
    scheme: str | None = None,
    step: float | None = None,
    tolerance: float | None = None,
    every: float | None = None,
    impact: str | None = None,
    several: str | None = None,
    method: str | None = None,
    events: int | None = None,
    sensitivity: Sequence[str] | None = None,
) -> str:
    given: dict[str, Any] = dict(
        until=until, scheme=scheme, step=step, tolerance=tolerance, every=every, impact=impact, several=several,
        method=method, events=events, sensitivity=None if sensitivity is None else list(sensitivity),
    )  # fmt: skip
    for name in ("until", "step", "tolerance", "every"):
        value = given[name]
        if value is not None and not (hasattr(value, "__float__") and 0 < float(value) < float("inf")):
            raise _specht.SpechtError(f"`{name}` must be a positive number of SI, not {value!r}")
    numbers = {k: float(v) if k in ("until", "step", "tolerance", "every") else v for k, v in given.items() if v is not None}
    return json.dumps(numbers)
