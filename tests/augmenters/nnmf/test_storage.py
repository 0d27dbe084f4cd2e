"""A distribution comes back from its file as it was, and a file that is anything else is refused."""

from __future__ import annotations

import io
import json
import pickle
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import nnmfaug as na
from nnmfaug.augmenters.nnmf.clusterers import Agglomerative
from nnmfaug.augmenters.nnmf.distribution import TripleDistribution
from nnmfaug.augmenters.nnmf.nmf import Factors
from nnmfaug.augmenters.nnmf.nnmfaug import NNMFAug
from nnmfaug.augmenters.nnmf.partition import Partition
from nnmfaug.augmenters.nnmf.spectral import Spectral
from nnmfaug.augmenters.nnmf.storage import load_distribution, save_distribution
from nnmfaug.augmenters.nnmf.weights import ClustersBySize, CountProduct, PairsByDegree
from nnmfaug.core.arrays import Array
from nnmfaug.core.errors import DataError
from tests.saved import sealed, write_distribution_0_1

SMALL = Agglomerative(n_clusters=3)
NATIONS = na.read_splits("nations")
PLAIN = NNMFAug(cluster=SMALL).fit(NATIONS.train)
WEIGHTED = NNMFAug(
    cluster=SMALL,
    clusters=ClustersBySize(),
    pairs=PairsByDegree(),
    relations=CountProduct(0.1, 1 / 3),
    embed=Spectral(3),
).fit(NATIONS.train)
EXCLUDING = PLAIN.restrict(exclude=NATIONS.valid).restrict(exclude=NATIONS.test, relations=["embassy", "treaties"])
FAMILY = {
    "plain": PLAIN,
    "weighted": WEIGHTED,
    "without embedding": replace(PLAIN, factors=None),
    "excluding": EXCLUDING,
    "excluding the same twice": EXCLUDING.restrict(exclude=NATIONS.valid, heads=["usa", "uk", "cuba"]),
}
Arrays = dict[str, NDArray[Any]]


@pytest.fixture(params=FAMILY)
def dist(request: pytest.FixtureRequest) -> TripleDistribution:
    return FAMILY[request.param]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dist.npz"


def saved(dist: TripleDistribution, path: Path) -> bytes:
    save_distribution(dist, path, overwrite=True)
    return path.read_bytes()


def entries(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def changed(path: Path, change: Callable[[Arrays], Any]) -> None:
    """Save PLAIN, then write the file anew with other arrays, as numpy does; the checksums of arrays are left."""
    save_distribution(PLAIN, path)
    arrays = entries(path)
    change(arrays)
    np.savez(path, **arrays)  # type: ignore[arg-type]


def with_meta(**values: object) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        meta = sealed(json.loads(arrays["meta"].tobytes()) | values)
        arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)

    return change


def with_array(name: str, make: Callable[[NDArray[Any]], object]) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[name] = np.asarray(make(arrays[name]))

    return change


# ── what comes back


def test_the_law_comes_back_bit_by_bit(dist: TripleDistribution, path: Path) -> None:
    save_distribution(dist, path)
    again = load_distribution(path)
    assert again.graph == dist.graph
    assert again.partition == dist.partition
    assert again.law.relation_law == dist.law.relation_law
    assert (again.support_size, again.n_new) == (dist.support_size, dist.n_new)
    n, r = dist.graph.n_entities, dist.graph.n_relations
    everything = np.stack(np.unravel_index(np.arange(n * r * n), (n, r, n)), axis=1)
    assert np.isfinite(dist.log_prob(everything)).sum() == dist.support_size > 0
    assert again.log_prob(everything).tobytes() == dist.log_prob(everything).tobytes()


def test_what_is_drawn_is_the_same(dist: TripleDistribution, path: Path) -> None:
    save_distribution(dist, path)
    again = load_distribution(path)
    assert again.draw(500, seed=4).tobytes() == dist.draw(500, seed=4).tobytes()
    n = min(100, dist.n_new)
    mine, theirs = again.sample(n, seed=4), dist.sample(n, seed=4)
    assert len(mine) == n > 0
    assert mine.triples.tobytes() == theirs.triples.tobytes()
    assert mine.log_prob.tobytes() == theirs.log_prob.tobytes()
    assert again.clusters_of(mine.triples).tobytes() == dist.clusters_of(theirs.triples).tobytes()


def test_factors_come_back_whole_and_read_only(path: Path) -> None:
    save_distribution(PLAIN, path)
    mine, theirs = load_distribution(path).factors, PLAIN.factors
    assert isinstance(mine, Factors)
    assert isinstance(theirs, Factors)
    assert np.array_equal(mine.head, theirs.head)
    assert np.array_equal(mine.tail, theirs.tail)
    assert (mine.objective, mine.n_iter, mine.converged) == (theirs.objective, theirs.n_iter, theirs.converged)
    with pytest.raises(ValueError, match="read-only"):
        mine.head[0] = 1


def test_of_other_embeddings_the_features_come_back(path: Path) -> None:
    @dataclass
    class Own:
        features: Array

    assert WEIGHTED.factors is not None
    for given in (WEIGHTED.factors, Own(np.full((PLAIN.graph.n_entities, 2), np.nan))):
        saved(replace(PLAIN, factors=given), path)
        found = load_distribution(path).factors
        assert found is not None
        assert np.array_equal(found.features, given.features, equal_nan=True)
    saved(replace(PLAIN, factors=None), path)
    assert load_distribution(path).factors is None


def test_any_name_and_any_order_of_triples_come_back(path: Path, nasty_splits: na.Splits) -> None:
    train = replace(nasty_splits.train, triples=nasty_splits.train.triples[::-1])
    fitted = NNMFAug(cluster=Agglomerative(1), embed=Spectral(2)).fit(train)
    save_distribution(fitted, path)
    assert load_distribution(path).graph == train != nasty_splits.train


# ── the file


def test_the_bytes_are_the_same_every_time(dist: TripleDistribution, tmp_path: Path) -> None:
    first, again, reloaded = (tmp_path / name for name in ("first", "again.npz", "reloaded"))
    content = saved(dist, first)
    assert saved(dist, again) == content
    assert saved(load_distribution(first), reloaded) == content
    with zipfile.ZipFile(first) as archive:
        assert {(e.date_time[0], e.create_system) for e in archive.infolist()} == {(1980, 3)}


def test_different_distributions_are_different_files(tmp_path: Path) -> None:
    assert len({saved(dist, tmp_path / "x") for dist in FAMILY.values()}) == len(FAMILY)


def test_numpy_reads_the_file_without_pickles(path: Path) -> None:
    save_distribution(EXCLUDING, path)
    found = entries(path)
    meta = json.loads(found["meta"].tobytes().decode())
    assert tuple(meta["entities"]) == NATIONS.vocabulary.entities
    assert np.array_equal(found["triples"], NATIONS.train.triples)
    assert len(found["excluded"]) == len(NATIONS.valid) + len(NATIONS.test)
    assert found["relations_allowed"].sum() == 2


def test_what_could_not_be_read_back_is_not_written(path: Path) -> None:
    before = saved(PLAIN, path)
    other = Partition(np.zeros(PLAIN.graph.n_entities, dtype=np.int32))
    weights = np.full_like(PLAIN.law.head_weights, np.nan)
    for wrong in (
        replace(PLAIN, partition=other, law=replace(PLAIN.law, cluster_weights=np.ones(1))),
        replace(PLAIN, graph=NATIONS.valid),
        replace(PLAIN, law=replace(PLAIN.law, head_weights=weights)),
    ):
        with pytest.raises(ValueError, match=r"other clusters|must be from 0 to"):
            save_distribution(wrong, path, overwrite=True)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_failure_while_writing_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved(PLAIN, path)

    def full(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OSError, match="disk full"):
        save_distribution(WEIGHTED, path, overwrite=True)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_file_that_exists_is_not_overwritten_unasked(path: Path) -> None:
    before = saved(PLAIN, path)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        save_distribution(WEIGHTED, path)
    assert path.read_bytes() == before


# ── what is refused


def refused(path: Path, match: str = "") -> None:
    with pytest.raises(DataError, match=match) as caught:
        load_distribution(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "save" in str(caught.value)


def test_a_file_written_anew_by_numpy_is_read(path: Path) -> None:
    """So that what the tests below change is what is refused."""
    changed(path, lambda _: None)
    assert load_distribution(path).support_size == PLAIN.support_size


@pytest.mark.parametrize(
    "content", [b"", b"a\tb\tc\n", b"PK\x05\x06" + bytes(18), pickle.dumps([1]), b"\x93NUMPY\x01\x00"]
)
def test_other_files_are_refused(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    refused(path, "not a distribution")


def test_no_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    refused(tmp_path / "none.npz", "no such file")
    refused(tmp_path, "no such file")


def test_a_file_cut_short_anywhere_is_refused(path: Path) -> None:
    content = saved(PLAIN, path)
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        refused(path, "not a distribution")


def test_damaged_bytes_are_refused_or_change_nothing(path: Path) -> None:
    content, rng = saved(PLAIN, path), random.Random(0)
    outcomes = set()
    for _ in range(400):
        damaged = bytearray(content)
        place = rng.choice([rng.randrange(len(content)), rng.randrange(len(content) - 1500, len(content))])
        damaged[place] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            found = load_distribution(path)
        except DataError:
            outcomes.add("refused")
        else:
            outcomes.add("read")
            assert saved(found, path) == content
    assert "refused" in outcomes


class Evil:
    ran = False

    def __reduce__(self) -> tuple[Callable[..., None], tuple[object, ...]]:
        return setattr, (Evil, "ran", True)


@pytest.mark.parametrize("name", ["meta", "labels", "another"])
def test_a_pickle_is_refused_and_not_run(name: str, path: Path) -> None:
    changed(path, lambda arrays: arrays.update({name: np.array([Evil()], dtype=object)}))
    refused(path, "not a distribution")
    assert not Evil.ran
    with np.load(path, allow_pickle=True) as found:
        assert found[name].shape == (1,)
    assert Evil.ran, "the pickle would have run"
    Evil.ran = False


def test_a_packed_file_is_refused_before_it_is_unpacked(path: Path) -> None:
    save_distribution(PLAIN, path)
    np.savez_compressed(path, **entries(path) | {"features": np.zeros((10**6, 8))})  # type: ignore[arg-type]
    assert path.stat().st_size < 10**6
    refused(path, "it is compressed")


def test_a_header_that_promises_more_than_there_is_is_refused(path: Path) -> None:
    save_distribution(PLAIN, path)
    arrays = entries(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, values)
            text = content.getvalue()
            if name == "head":
                text = text.replace(b"'shape': (14, 8), }          ", b"'shape': (14, 8000000000), } ")
                assert b"8000000000" in text
            archive.writestr(f"{name}.npy", text)
    refused(path, r"head has shape \(14, 8000000000\), but 896 bytes")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_meta(version=0), r"use the nnmfaug that wrote it \(version: must be from 1 to 2, is 0\)"),
        (with_meta(format="model"), "format: must be 'nnmfaug distribution', is 'model'"),
        (with_meta(entities=["b", "a"]), "sorted"),
        (with_meta(entities=[1, 2]), r"entities\[0\]: must be text, is 1"),
        (with_meta(entities=["only one"]), "ids from"),
        (with_meta(relations=["\ud800"]), "not valid text"),
        (with_meta(relations=7), "relations: must be a list, is 7"),
        (with_meta(smoothing=-1), "smoothing=-1.0"),
        (with_meta(smoothing=10**400), "smoothing: must be a number, is 1000"),
        (with_meta(temperature=float("nan")), "NaN is not a number"),
        (with_meta(temperature=None), "temperature: must be a number, is None"),
        (with_meta(embedding="other"), "embedding: must be null or 'features' or 'factors', is 'other'"),
        (with_meta(embedding=[]), "embedding: must be null"),
        (with_meta(embedding=None), "entries are missing, or there are too many"),
        (with_meta(n_iter=3), "factors of different shapes, or n_iter is not"),
        (with_meta(n_iter="3"), "n_iter: must be a whole number, is '3'"),
        (with_meta(arrays_sha256={"head": ""}), "has changed, or arrays_sha256 has"),
        (with_array("meta", lambda _: np.frombuffer(b"[" * 100_000, dtype=np.uint8)), "not a distribution"),
        (with_array("meta", lambda _: np.frombuffer(b"\xff", dtype=np.uint8)), "not a distribution"),
        (with_array("meta", lambda _: np.frombuffer(b"[1]", dtype=np.uint8)), "not a distribution"),
        (lambda arrays: arrays.pop("meta"), "meta"),
        (lambda arrays: arrays.pop("labels"), "entries are missing"),
        (lambda arrays: arrays.update(more=np.zeros(1)), "too many"),
        (with_array("head_weights", lambda x: x * 2), "head_weights has changed"),
        (with_array("triples", lambda x: x[:, :2]), "shape"),
        (with_array("triples", lambda x: x + 50), "ids from"),
        (with_array("triples", lambda x: -x), "ids from"),
        (with_array("triples", lambda x: np.concatenate([x, x[:1]])), "1 repeated triples"),
        (with_array("triples", lambda x: x.astype(np.int64)), "triples has type int64"),
        (with_array("triples", lambda x: x.astype(">i4")), "triples has type >i4"),
        (with_array("excluded", lambda x: np.full((1, 3), 99, dtype=x.dtype)), "ids from"),
        (with_array("labels", lambda x: x[:-1]), "wrong length"),
        (with_array("labels", lambda x: x[None]), "labels of shape"),
        (with_array("labels", lambda x: x + 1), "labels are not numbered"),
        (with_array("labels", lambda x: np.full_like(x, -1)), "labels are not numbered"),
        (with_array("labels", lambda x: np.full_like(x, -2)), "from -1"),
        (with_array("cluster_weights", lambda x: x[:-1]), "wrong length"),
        (with_array("cluster_weights", lambda x: x * np.inf), "cluster_weights must be from 0 to 1e\\+100"),
        (with_array("head_weights", lambda x: -x), "head_weights must be from 0 to 1e\\+100"),
        (with_array("head_weights", lambda x: x * 1e200), "head_weights must be from 0 to 1e\\+100"),
        (with_array("tail_weights", lambda x: x * np.nan), "tail_weights must be from 0 to 1e\\+100"),
        (with_array("tail_weights", lambda x: x[:, None]), "wrong length"),
        (with_array("heads_allowed", lambda x: x[1:]), "wrong length"),
        (with_array("tails_allowed", lambda x: x.astype(np.uint8)), "tails_allowed has type uint8"),
        (with_array("relations_allowed", lambda x: (x.view(np.uint8) + 1).view(np.bool_)), "not true or false"),
        (with_array("relations_allowed", lambda x: x[1:]), "wrong length"),
        (with_array("head", lambda x: x[1:]), "row per entity"),
        (with_array("head", lambda x: x[:, 1:]), "factors of different shapes"),
        (with_array("tail", lambda x: x.ravel()), "row per entity"),
        (with_array("objective", lambda x: x[:-1]), "factors of different shapes"),
    ],
)
def test_a_file_that_does_not_add_up_is_refused(
    change: Callable[[Arrays], object], message: str, path: Path
) -> None:
    changed(path, change)
    refused(path, message)


def test_a_changed_document_is_refused(path: Path) -> None:
    content = saved(PLAIN, path)
    changed_content = content.replace(b'"smoothing": 0.0', b'"smoothing": 0.1')
    assert changed_content != content
    path.write_bytes(changed_content)
    refused(path, "Bad CRC-32")

    def change(arrays: Arrays) -> None:
        text = arrays["meta"].tobytes().replace(b'"smoothing": 0.0', b'"smoothing": 0.1')
        arrays["meta"] = np.frombuffer(text, dtype=np.uint8)

    path.unlink()
    changed(path, change)
    refused(path, "checksum: does not match")


# ── other versions


def test_a_file_of_the_first_version_is_read(dist: TripleDistribution, path: Path) -> None:
    write_distribution_0_1(dist, path)
    again = load_distribution(path)
    assert again.graph == dist.graph
    assert again.draw(500, seed=4).tobytes() == dist.draw(500, seed=4).tobytes()


def test_a_file_of_a_later_version_needs_a_later_nnmfaug(path: Path) -> None:
    changed(path, with_meta(version=3, something="new"))
    with pytest.raises(DataError, match="written by a newer nnmfaug: update nnmfaug"):
        load_distribution(path)
