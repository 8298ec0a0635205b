"""Progress bars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Union

Progress = Union[bool, Callable[[float], object], None]
"""True for a bar, a function of the fraction done, or nothing."""


@contextmanager
def shown(progress: Progress, label: str) -> Iterator[Callable[[float], object] | None]:
    if progress is not True:
        yield progress or None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(total=1.0, desc=label, bar_format="{l_bar}{bar}| {elapsed}<{remaining}") as bar:

        def show(part: float) -> None:
            bar.update(part - bar.n)

        yield show
        bar.update(1.0 - bar.n)
