"""Fixtures of the tests of files."""

from __future__ import annotations

from pathlib import Path

import pytest

import nnmfaug as na
from tests.io.toys import TEST, TRAIN, VALID, splits_of


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture
def toy() -> na.Splits:
    return splits_of(TRAIN, VALID, TEST)
