"""A run comes back from its files as it was, and one that is not whole is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from nnmfaug.core.errors import DataError
from nnmfaug.evaluation import runs
from nnmfaug.evaluation.metrics import Ranks, summary
from nnmfaug.evaluation.runs import Run, load_run, load_runs, run_path, save_run
from tests.saved import change_json, write_run_0_1

RANKS = Ranks(filtered=np.array([[1, 2.5], [3, 4], [1, 1]]), raw=np.array([[1, 3.5], [3, 40], [1, 1]]))
RUN = Run(
    "nnmf",
    3,
    RANKS,
    {"model": "transe", "rate": 0.1, "schedule": {"name": "Polynomial", "exponent": 2.0}, "dims": (1, 2)},
    (0.5, 0.25),
    ({"epoch": 10, "mrr": 0.3}, {"epoch": 20, "mrr": 0.31}),
    334,
    {"train": 1.5},
)


OTHER = replace(RUN, ranks=Ranks(filtered=RANKS.raw, raw=RANKS.raw))


def same(a: Run, b: Run) -> bool:
    rest = all(
        getattr(a, name) == getattr(b, name)
        for name in ("arm", "seed", "settings", "losses", "curve", "n_extra", "seconds")
    )
    equal = [np.array_equal(getattr(a.ranks, kind), getattr(b.ranks, kind)) for kind in ("filtered", "raw")]
    return rest and all(equal)


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    path = save_run(RUN, tmp_path / "new" / "folder")
    assert path == run_path(tmp_path / "new" / "folder", "nnmf", 3)
    assert same(load_run(path), RUN)
    assert sorted(file.name for file in path.parent.iterdir()) == ["nnmf-seed3.json", "nnmf-seed3.npz"]


def test_ranks_are_stored_in_a_few_bytes_each(tmp_path: Path) -> None:
    ranks = np.random.default_rng(0).geometric(0.01, size=(5000, 2)).astype(np.float64)
    path = save_run(replace(RUN, ranks=Ranks(filtered=ranks, raw=ranks + 0.5)), tmp_path)
    assert np.array_equal(load_run(path).ranks.raw, ranks + 0.5)
    assert path.with_suffix(".npz").stat().st_size < 2 * (ranks.size + ranks.size)


def test_ranks_that_are_no_multiples_of_a_half_come_back_as_they_were(tmp_path: Path) -> None:
    run = replace(RUN, ranks=Ranks(filtered=RANKS.filtered + 0.25, raw=RANKS.raw))
    assert same(load_run(save_run(run, tmp_path)), run)


def test_ranks_that_unpack_to_too_much_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_run(RUN, tmp_path)
    monkeypatch.setattr(runs, "MAX_RANKS_BYTES", 100)
    refused(path, "unpacks to more than 100 bytes")


def test_the_settings_of_a_run_are_its_own_and_plain() -> None:
    given_settings: dict[str, Any] = {"a": {"b": (1, 2)}}
    run = replace(RUN, settings=given_settings)
    given_settings["a"]["b"] = 7
    assert run.settings == {"a": {"b": [1, 2]}}


def test_a_model_that_diverged_can_be_saved(tmp_path: Path) -> None:
    run = replace(RUN, losses=(0.5, math.inf, math.nan), curve=({"epoch": 1, "mrr": math.nan},))
    path = save_run(run, tmp_path)
    again = load_run(path)
    assert again.losses[:2] == (0.5, math.inf)
    assert math.isnan(again.losses[2])
    assert math.isnan(again.curve[0]["mrr"])
    json.loads(path.read_text(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_the_json_tells_a_person_the_metrics(tmp_path: Path) -> None:
    document = json.loads(save_run(RUN, tmp_path).read_text())
    assert document["metrics"] == {"filtered": summary(RANKS.filtered), "raw": summary(RANKS.raw)}
    assert document["curve"][0]["epoch"] == 10
    assert isinstance(document["curve"][0]["epoch"], int)


def test_the_bytes_are_the_same_every_time(tmp_path: Path) -> None:
    first = save_run(RUN, tmp_path / "a")
    again = save_run(load_run(first), tmp_path / "b")
    for suffix in (".json", ".npz"):
        assert first.with_suffix(suffix).read_bytes() == again.with_suffix(suffix).read_bytes()
    slower = save_run(replace(RUN, seconds={"train": 9.0}), tmp_path / "c")
    assert slower.with_suffix(".npz").read_bytes() == first.with_suffix(".npz").read_bytes()
    differing = set(first.read_text().splitlines()) ^ set(slower.read_text().splitlines())
    sums = {line for line in differing if line.startswith(' "checksum": ')}
    assert differing - sums == {'  "train": 1.5', '  "train": 9.0'}


# ── names


@pytest.mark.parametrize("arm", ["baseline", "nnmf", "a-b", "x_1", "file", "arm"])
def test_a_plain_name_is_the_name_of_the_file(arm: str) -> None:
    assert run_path("runs", arm, 0) == Path("runs") / f"{arm}-seed0.json"


ARMS = ["a", "A", "a b", "a/b", "a:b", "a-b", "a--b", "-", "é", "e\u0301", "名", "..", "~", "x" * 300, "x" * 301]
ARMS += ["file:some/path.tsv", "file:some/path-tsv", "con", "\x00", "\udcff", "a-seed1", run_path("", "A", 0).stem]


def test_no_two_runs_have_the_same_file(tmp_path: Path) -> None:
    paths = [run_path(tmp_path, arm, seed) for arm in ARMS for seed in (0, 1, 10)]
    assert len({path.name.lower() for path in paths}) == len(paths)
    for arm in ARMS:
        for seed in (0, 1, 10):
            save_run(replace(RUN, arm=arm, seed=seed), tmp_path)
    loaded = load_runs(tmp_path)
    assert [(run.arm, run.seed) for run in loaded] == sorted((arm, seed) for arm in ARMS for seed in (0, 1, 10))


@given(st.text(min_size=1), st.integers(0, 10**9))
def test_every_name_is_safe(arm: str, seed: int) -> None:
    name = run_path("", arm, seed).name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-~.")
    assert name.count(".") == 1
    assert name[0] not in "-~."
    assert len(name) < 100


def test_other_files_of_the_folder_are_passed_over(tmp_path: Path) -> None:
    save_run(RUN, tmp_path)
    (tmp_path / "experiment.json").write_text("{}")
    (tmp_path / "nnmf-seed4.npz").write_bytes(b"a run that was stopped before its JSON")
    assert [run.seed for run in load_runs(tmp_path)] == [3]
    assert load_runs(tmp_path / "..") == []
    with pytest.raises(DataError, match="no such folder"):
        load_runs(tmp_path / "none")


# ── what is refused


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"arm": ""}, "without a name"),
        ({"seed": -1}, "seed=-1"),
        ({"n_extra": -1}, "n_extra=-1"),
        ({"curve": ({"mrr": 0.1},)}, "without its epoch"),
        ({"settings": {"model": object()}}, "settings are not plain data"),
        ({"settings": {"rate": math.nan}}, "settings are not plain data"),
    ],
)
def test_a_run_that_makes_no_sense_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(RUN, **values)


def refused(path: Path, match: str) -> None:
    with pytest.raises(DataError, match=match) as caught:
        load_run(path)
    assert str(caught.value).startswith(f"{path}: ")


def changed(**values: object) -> Callable[[Path], None]:
    return lambda path: change_json(path, lambda document: document | values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed(version=0), "version: must be from 1 to 3, is 0"),
        (changed(format="model"), "format: must be 'nnmfaug run', is 'model'"),
        (changed(more=1), "more: is unknown"),
        (changed(seed=4), "arm, seed: the file of 'nnmf' with seed 4 is nnmf-seed4.json"),
        (changed(seed="3"), "seed: must be a whole number, is '3'"),
        (changed(seed=True), "seed: must be a whole number, is True"),
        (changed(arm=None), "arm: must be text, is None"),
        (changed(arm="other"), "arm, seed: the file of 'other' with seed 3 is other-seed3.json"),
        (changed(n_extra=-1), "n_extra=-1"),
        (changed(losses=None), "losses: must be a list, is None"),
        (changed(losses=["many"]), r"losses\[0\]: must be a number or 'inf' or '-inf' or 'nan', is 'many'"),
        (changed(curve=[1]), r"curve\[0\]: must be an object, is 1"),
        (changed(curve=[{}]), r"curve\[0\].epoch: is missing"),
        (changed(settings=[1]), r"settings: must be an object, is \[1\]"),
        (changed(settings={"data": []}), r"settings.data: must be an object, is \[\]"),
        (changed(settings={"predictor": 7}), "settings.predictor: must be an object, is 7"),
        (changed(settings={"arm": "auto"}), "settings.arm: must be null or an object, is 'auto'"),
        (changed(settings={"generated": 7}), "settings.generated: must be null or an object, is 7"),
        (changed(settings={"generated": {"in_test": "2"}}), "in_test: must be a whole number, is '2'"),
        (changed(settings={"generated": {"test_rows": [3]}}), "test_rows: must be from 0 to below 3"),
        (changed(settings={"generated": {"test_rows": [-1]}}), "test_rows: must be from 0 to below 3"),
        (changed(seconds=[]), r"seconds: must be an object, is \[\]"),
        (changed(ranks_sha256=""), "nnmf-seed3.npz has changed"),
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), "not a complete run"),
        (lambda path: path.write_bytes(b""), "not a complete run"),
        (lambda path: path.write_bytes(b"[" * 200_000), "recursion"),
        (
            lambda path: path.write_bytes(path.read_bytes().replace(b'"n_extra": 334', b'"n_extra": 335')),
            "checksum",
        ),
        (lambda path: path.write_bytes(b"\xff"), "not a complete run"),
        (lambda path: path.write_bytes(b"[1]"), "not a complete run"),
        (lambda path: path.with_suffix(".npz").unlink(), "nnmf-seed3.npz is missing"),
        (lambda path: path.with_suffix(".npz").write_bytes(b"PK"), "nnmf-seed3.npz has changed"),
    ],
)
def test_broken_files_are_refused_with_what_to_do(
    change: Callable[[Path], object], message: str, tmp_path: Path
) -> None:
    path = save_run(RUN, tmp_path)
    change(path)
    refused(path, message)
    refused(path, "delete nnmf-seed3.json and nnmf-seed3.npz, and start the command again")
    with pytest.raises(DataError):
        load_runs(tmp_path)


def test_ranks_that_fit_their_checksum_are_checked_all_the_same(tmp_path: Path) -> None:
    import hashlib

    path = save_run(RUN, tmp_path)
    ranks = path.with_suffix(".npz")
    for arrays in (
        {"filtered": RANKS.filtered},
        {"filtered": RANKS.filtered, "raw": RANKS.raw * 0},
        {"filtered": RANKS.filtered, "raw": RANKS.raw.astype(np.float32)},
        {"filtered": RANKS.filtered, "raw": np.array([[object()] * 2] * 3)},
    ):
        np.savez(ranks, **arrays)
        changed(ranks_sha256=hashlib.sha256(ranks.read_bytes()).hexdigest())(path)
        refused(path, "not a complete run")


def test_no_file_is_refused(tmp_path: Path) -> None:
    refused(tmp_path / "none.json", "no such file")


def test_a_failure_while_saving_leaves_the_old_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_run(RUN, tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(runs, "write_document", full)
    with pytest.raises(OSError, match="disk full"):
        save_run(OTHER, tmp_path)
    assert same(load_run(path), RUN)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["nnmf-seed3.json", "nnmf-seed3.npz"]


def test_a_process_killed_while_saving_leaves_the_old_run_the_new_one_or_none(
    tmp_path: Path, stages: Callable[[Path], list[Path]]
) -> None:
    save_run(RUN, tmp_path / "runs")
    copies = stages(tmp_path / "runs")
    save_run(OTHER, tmp_path / "runs")
    outcomes = [load_runs(copy) for copy in copies]
    assert [len(outcome) for outcome in outcomes] == [0] * (len(copies) - 1) + [1]
    assert same(outcomes[-1][0], OTHER)


# ── runs of nnmfaug 0.1


def test_a_run_of_the_first_version_is_read(tmp_path: Path) -> None:
    assert same(load_run(write_run_0_1(RUN, tmp_path)), RUN)


def test_a_run_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    path = save_run(RUN, tmp_path)
    changed(version=4, something="new")(path)
    with pytest.raises(DataError, match="written by a newer nnmfaug: update nnmfaug") as caught:
        load_run(path)
    assert "delete" not in str(caught.value)
