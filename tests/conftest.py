"""Fixtures of several folders: published archives, a small data set, a graph whose names try the readers."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import nnmfaug as na
from nnmfaug.io.datasets import DATASETS
from tests.examples import QUICK, examples
from tests.names import TAME_NAMES

settings.register_profile(
    "nnmfaug",
    deadline=None,  # a busy machine is not a failure
    print_blob=True,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.filter_too_much]
    if QUICK
    else [],  # of a few examples most may be discarded
)
settings.load_profile("nnmfaug")


@pytest.fixture(autouse=True)
def _output_as_wide_as_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are not cut to a terminal, which parallel test runs pretend to have."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def archives() -> Path:
    """The folder of the published archives: not given, a skip; given but not whole, a failure."""
    given = os.environ.get("NNMFAUG_DATA")
    if not given:
        pytest.skip("set NNMFAUG_DATA to a folder with dL50a.tgz, WN18RR.tar.gz and fb15k-237.tgz to run this")
    folder = Path(given)
    missing = [d.archive for d in DATASETS.values() if d.archive and not (folder / d.archive).is_file()]
    assert not missing, f"NNMFAUG_DATA is set, but the folder has no {', '.join(missing)}"
    return folder


@pytest.fixture
def nasty_splits() -> na.Splits:
    """Train, valid and test, not empty, with all nasty names as entities and some as relations."""
    n = len(TAME_NAMES)
    train = [(TAME_NAMES[i], TAME_NAMES[i % 7], TAME_NAMES[(i + 1) % n]) for i in range(n)]
    valid = [(TAME_NAMES[i], TAME_NAMES[i % 5], TAME_NAMES[(i + 3) % n]) for i in range(0, n, 4)]
    test = [(TAME_NAMES[i], TAME_NAMES[i % 3], TAME_NAMES[(i * i + 2) % n]) for i in range(0, n, 3)]
    train.append(("loop", "only in train", "loop"))
    test.append(("only in test", TAME_NAMES[0], "NA"))
    parts = [na.KnowledgeGraph.from_labels(rows) for rows in (train, valid, test)]
    return na.Splits.merge("nasty", train=parts[0], valid=parts[1], test=parts[2])


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], list[Path]]:
    """Return a function that copies a folder after every file that is renamed, as a killed process leaves it."""

    def watch(folder: Path) -> list[Path]:
        copies: list[Path] = []
        rename = Path.replace

        def rename_and_copy(self: Path, target: Path) -> Path:
            renamed = rename(self, target)
            copies.append(folder.with_name(f"{folder.name}-{len(copies)}"))
            shutil.copytree(folder, copies[-1])
            return renamed

        monkeypatch.setattr(Path, "replace", rename_and_copy)
        return copies

    return watch


@pytest.fixture(scope="session")
def splits() -> na.Splits:
    """Nations: a small data set that comes with PyKEEN."""
    return na.read_splits("nations")


@pytest.fixture(scope="module")
def quick_collections() -> Iterator[None]:
    """Exempt all present objects from the garbage collections that PyKEEN runs after each epoch."""
    gc.freeze()
    yield
    gc.unfreeze()
