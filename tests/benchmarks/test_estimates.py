"""Bands and calibration error by hand, synthetic graphs with missing facts, and triples labelled as false."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from estimates import bands, calibration_error, incomplete_families, without_people
from generators import FamilyRow, family_row, labelled_false, mean_row


def test_bands_count_the_true_triples_of_each_tenth() -> None:
    first, last = bands(np.array([0.31, 0.39, 0.95, 1.0, 0.9]), np.array([True, False, True, True, False]))
    assert (first.low, first.n, first.n_true, first.true) == (0.3, 2, 1, 0.5)
    assert (last.low, last.n, last.n_true) == (0.9, 3, 2)
    assert first.estimated == pytest.approx(0.35)


def test_the_calibration_error_weights_bands_by_their_triples() -> None:
    probability = np.array([0.2, 0.2, 0.2, 0.8])
    true = np.array([True, False, False, False])
    assert calibration_error(probability, true) == pytest.approx((3 * (1 / 3 - 0.2) + 0.8) / 4)


def test_probabilities_that_are_right_have_a_small_calibration_error_and_inflated_ones_a_large_one() -> None:
    rng = np.random.default_rng(0)
    probability = rng.random(20_000)
    true = rng.random(20_000) < probability
    assert calibration_error(probability, true) < 0.02
    assert calibration_error(np.sqrt(probability), true) > 0.1


def test_synthetic_graphs_lack_a_fifth_of_the_truth_and_no_name() -> None:
    for world in incomplete_families(60, seed=1):
        assert world.completeness == pytest.approx(0.8, abs=0.005)
        assert world.is_true(world.given.triples).all()
        for columns in ([0, 2], [1]):
            given, truth = (np.unique(graph.triples[:, columns]) for graph in (world.given, world.truth))
            assert np.array_equal(given, truth)


def test_people_lose_nearly_all_their_triples_or_few() -> None:
    truth = na.family(100, seed=0).truth
    degrees = np.bincount(truth.triples[:, 0], minlength=100)
    fractions = {}
    for name, given in (
        ("people", without_people(truth, 0.2, seed=0)),
        ("random", na.split(truth, valid=0.1, test=0.1, seed=0).train),
    ):
        remaining = np.bincount(given.triples[:, 0], minlength=100)
        fractions[name] = remaining[degrees > 5] / degrees[degrees > 5]
    assert (fractions["people"] < 0.3).sum() >= 5
    assert (fractions["random"] < 0.3).sum() == 0


def test_a_row_of_a_synthetic_graph_counts_true_triples_of_auto() -> None:
    world = next(incomplete_families(60, seed=0))
    row = family_row(world, na.Auto(completeness=0.8))
    listed = na.Auto(completeness=0.8).fit(world.given)
    true = [
        triple in set(map(tuple, world.truth.triples.tolist())) for triple in map(tuple, listed.triples.tolist())
    ]
    assert row.added == len(true)
    assert row.precision == pytest.approx(sum(true) / len(true))
    assert row.recall == pytest.approx(sum(true) / (len(world.truth) - len(world.given)))
    assert row.estimated == pytest.approx(listed.confidence.mean())
    assert row.true >= sum(true)
    assert row.expected >= listed.confidence.sum()


def test_a_graph_to_which_nothing_is_added_counts_for_the_recall_and_not_for_the_precision() -> None:
    world = next(incomplete_families(60, seed=0))
    empty = family_row(world, na.Auto((na.Rules(min_support=10**6),), completeness=0.8))
    assert (empty.added, empty.recall) == (0, 0)
    full = FamilyRow(10, 0.9, 0.8, 0.4, 0.1, 0.1, 9, 8.0)
    both = mean_row([empty, full])
    assert (both.added, both.recall) == (5, 0.2)
    assert (both.precision, both.estimated, both.error) == (0.9, 0.8, 0.1)


def test_triples_labelled_false_are_read_from_the_chosen_parts_of_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "toy.tar.gz"
    texts = {"valid_negatives": "a\tr\tb\n", "test_negatives": "b\tr\ta\nb\tr\tb\n", "train": "a\tr\ta\n"}
    with tarfile.open(path, "w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(f"toy/{name}.txt")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    vocabulary = na.Vocabulary.from_names(["a", "b"], ["r"])
    assert list(labelled_false(str(path), ["valid"], vocabulary).labels()) == [("a", "r", "b")]
    assert len(labelled_false(str(path), ["valid", "test"], vocabulary)) == 3


def test_a_data_set_with_a_name_has_no_triples_labelled_false() -> None:
    assert len(labelled_false("nations", ["valid", "test"], na.read_splits("nations").vocabulary)) == 0
