"""Answers to questions."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from typing import Any

from . import _specht


class Finding(Mapping[str, Any]):
    """An answer: a mapping with the keys of the contract, which are attributes as well.

    >>> rod = specht.load("rod")
    >>> f = rod.painleve(contact="tip")
    >>> sorted(f)[:2], f.kind
    (['complete', 'contacts'], 'painleve')
    """

    def __init__(self, kind: str, data: Mapping[str, Any], words: str, picture: str | None) -> None:
        self.kind = kind
        """The kind of question."""
        self.data = dict(data)
        """All keys."""
        self.words = words
        """The answer in words."""
        self.picture = picture
        """The picture (SVG), where there is one."""

    @classmethod
    def _of(cls, found: _specht.Finding) -> Finding:
        return cls(found.kind, json.loads(found.json), found.words, found.picture)

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_") or key == "data":
            raise AttributeError(key)
        try:
            return self.data[key]
        except KeyError:
            known = ", ".join(self.data)
            raise AttributeError(f"this finding has no `{key}`; it has {known}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.data]

    def __repr__(self) -> str:
        return self.words.rstrip("\n")

    def _repr_html_(self) -> str:
        picture = self.picture or ""
        return f"<div>{picture}<pre>{html.escape(self.words)}</pre></div>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Finding, (self.kind, self.data, self.words, self.picture))
