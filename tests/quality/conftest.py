"""Fixtures of the quality tests."""

from __future__ import annotations

import pytest

from tests.quality.graphs import Uneven, uneven_graph


@pytest.fixture(scope="package")
def uneven() -> Uneven:
    return uneven_graph()
