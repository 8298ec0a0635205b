"""Models as dicts: written as the text of a model file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def to_toml(model: Mapping[str, Any]) -> str:
    """The text of a model file from nested dicts, lists, texts, numbers and truths.

    >>> print(to_toml({"name": "ball", "gravity": [0, -9.81], "run": {"until": "1 s"}}))
    name = "ball"
    gravity = [0, -9.81]
    run = { until = "1 s" }
    <BLANKLINE>
    """
    return "".join(f"{_key(k)} = {_value(v, str(k))}\n" for k, v in model.items())


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"names of a model are texts, not {type(key).__name__}")
    return key if _BARE.match(key) else json.dumps(key)


def _value(value: Any, place: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        if not value:
            return "{}"
        return "{ " + ", ".join(f"{_key(k)} = {_value(v, f'{place}.{k}')}" for k, v in value.items()) + " }"
    if hasattr(value, "tolist"):  # numpy
        return _value(value.tolist(), place)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"`{place}` is {value}; numbers of a model are finite")
        text = repr(value)
        return text if any(c in text for c in ".e") else text + ".0"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_value(v, place) for v in value) + "]"
    raise TypeError(f"`{place}` is of type {type(value).__name__}; a model holds texts, numbers, lists and dicts")
