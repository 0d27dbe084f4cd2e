"""Fixtures for experiments: training that costs nothing, recorded fits, a graph with rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnmfaug as na


@dataclass(frozen=True)
class FakeModel:
    """Stands in for a trained model; its ranks are better the more triples it was trained on."""

    size: int
    losses: tuple[float, ...] = ()
    curve: tuple[dict[str, float], ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)

    def rank(self, triples: na.KnowledgeGraph, *, known: na.KnowledgeGraph | None = None) -> na.Ranks:  # noqa: ARG002
        ranks = np.full((len(triples), 2), 1 + 1000 / self.size)
        return na.Ranks(filtered=ranks, raw=ranks)

    def save(self, folder: Path, *, overwrite: bool) -> None:
        folder.mkdir(parents=True, exist_ok=overwrite)


@pytest.fixture
def fake_training(monkeypatch: pytest.MonkeyPatch) -> list[na.TrainingSet]:
    """Replace training by a stand-in, and return the list of the training sets that it gets."""
    training_sets: list[na.TrainingSet] = []

    def train(_: na.LinkPredictor, __: na.Splits, data: na.TrainingSet, **___: Any) -> FakeModel:
        training_sets.append(data)
        return FakeModel(data.size)

    monkeypatch.setattr(na.LinkPredictor, "train", train)
    return training_sets


@pytest.fixture
def seeds_of_fits(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], list[int]]:
    """Return a function that records the seeds with which an augmenter of a class is fitted from then on."""

    def record(cls: Any) -> list[int]:
        seeds: list[int] = []
        fit = cls.fit

        def recording(self: Any, graph: na.KnowledgeGraph, *, seed: int = 0) -> na.Distribution:
            seeds.append(seed)
            dist: na.Distribution = fit(self, graph, seed=seed)
            return dist

        monkeypatch.setattr(cls, "fit", recording)
        return seeds

    return record


@pytest.fixture(scope="session")
def family() -> na.Splits:
    """Splits of a small synthetic graph in which rules hold."""
    return na.split(na.family(60, seed=0).given, valid=0.05, test=0.1, seed=0)
