"""Fixtures of the tests of files."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import nnmfaug as na
from tests.io.toys import TEST, TRAIN, VALID, splits_of

NOBODY = 65534


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture
def toy() -> na.Splits:
    return splits_of(TRAIN, VALID, TEST)


@pytest.fixture
def read_only_folder() -> Iterator[Path]:
    """A folder without permission to write; root, who needs none, is an ordinary user meanwhile."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
        shutil.rmtree(folder)
