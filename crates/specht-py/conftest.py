"""Examples in docstrings know the package by its name."""

from __future__ import annotations

from typing import Any

import pytest

import specht


@pytest.fixture(autouse=True)
def _names(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace["specht"] = specht
    doctest_namespace["load"] = specht.load
