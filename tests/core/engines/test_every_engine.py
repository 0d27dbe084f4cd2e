"""What every engine does: the same results in the same order, with warnings and errors of work elsewhere."""

from __future__ import annotations

import functools
import operator
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from nnmfaug.core.blas import one_thread
from nnmfaug.core.engines.base import Engine, Serial, current_engine, in_order, running_on
from nnmfaug.core.engines.dask import Dask
from nnmfaug.core.engines.processes import Processes
from nnmfaug.core.errors import DataError, SamplingError

NAMES = ("serial", "one process", "two processes", "dask")


@pytest.fixture(scope="module")
def engines() -> Iterator[dict[str, Engine]]:
    with Dask.local(2) as dask:
        yield dict(zip(NAMES, (Serial(), Processes(1), Processes(2), dask), strict=True))


@pytest.fixture(params=NAMES)
def engine(request: pytest.FixtureRequest, engines: dict[str, Engine]) -> Engine:
    return engines[request.param]


def square_and_process(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def sleep_for(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def fail_at_three(number: int) -> int:
    if number == 3:
        msg = "three"
        raise ValueError(msg)
    return number


def warn_at_three(number: int) -> int:
    if number == 3:
        warnings.warn("three", UserWarning, stacklevel=1)
    return number


def raise_own_error(kind: str) -> None:
    if kind == "data":
        raise DataError("bad", path="graph.tsv", line=7)
    raise SamplingError("too few", available=2)


def blas_threads(_: int) -> set[int]:
    import scipy.linalg  # noqa: F401  # loads BLAS

    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def n_bytes(data: bytes) -> int:
    return len(data)


def test_results_come_in_the_order_of_the_items(engine: Engine) -> None:
    results = list(engine.map(square_and_process, range(20)))
    assert [square for square, _ in results] == [number**2 for number in range(20)]
    is_elsewhere = any(process != os.getpid() for _, process in results)
    assert is_elsewhere == (engine.n_workers > 1)


def test_what_is_finished_first_comes_first(engine: Engine) -> None:
    results = list(engine.as_finished(sleep_for, [1.5, 0.0]))
    assert sorted(results) == [(0, 1.5), (1, 0.0)]
    assert (results[0][0] == 1) == (engine.n_workers > 1)


def test_the_work_may_carry_data(engine: Engine) -> None:
    work = functools.partial(operator.mul, 3)
    assert list(engine.map(work, [1, 2])) == [3, 6]


def test_data_and_items_may_be_large(engine: Engine) -> None:
    table = np.arange(300_000.0)
    assert list(engine.map(table.take, [[1, 2], [299_999]])) == [pytest.approx([1, 2]), pytest.approx([299_999])]
    assert list(engine.map(n_bytes, [bytes(3 << 20), b"12"])) == [3 << 20, 2]


def test_an_error_is_raised_here(engine: Engine) -> None:
    with pytest.raises(ValueError, match="three"):
        list(engine.map(fail_at_three, range(5)))
    assert list(engine.map(fail_at_three, [1, 2])) == [1, 2]  # the engine still works


def test_own_errors_keep_what_they_carry(engine: Engine) -> None:
    with pytest.raises(DataError, match=r"^graph.tsv:7: bad$") as data_error:
        list(engine.map(raise_own_error, ["data", "data"]))
    assert data_error.value.line == 7
    with pytest.raises(SamplingError, match="too few") as sampling_error:
        list(engine.map(raise_own_error, ["sampling", "sampling"]))
    assert sampling_error.value.available == 2


def test_a_warning_is_issued_here(engine: Engine) -> None:
    with pytest.warns(UserWarning, match="three") as caught:
        list(engine.map(warn_at_three, range(5)))
    assert len(caught) == 1


def test_no_items_give_no_results(engine: Engine) -> None:
    assert list(engine.map(square_and_process, [])) == []


def test_blas_has_one_thread_in_other_processes(engine: Engine) -> None:
    with one_thread():
        here = blas_threads(0)
    there = list(engine.map(blas_threads, [0, 1]))
    assert engine.n_workers == 1 or there == [here, here]


def test_the_rest_may_be_left(engine: Engine) -> None:
    results = engine.map(square_and_process, range(50))
    assert next(results)[0] == 0
    del results
    assert len(list(engine.map(square_and_process, range(3)))) == 3


def test_the_engine_in_use_ends_with_its_block(engine: Engine) -> None:
    before = current_engine()
    with running_on(engine):
        assert current_engine() is engine
    assert current_engine() is before


def test_less_than_one_worker_is_refused() -> None:
    with pytest.raises(ValueError, match="workers=0: must be at least 1"):
        Processes(0)


def test_numbered_results_are_put_in_order_as_they_come() -> None:
    taken = []

    def results() -> Iterator[tuple[int, str]]:
        for number, letter in [(1, "b"), (0, "a"), (2, "c")]:
            taken.append(number)
            yield number, letter

    assert next(in_order(results())) == "a"
    assert taken == [1, 0]


def die_once(folder: Path, number: int) -> int:
    """End the process the first time, and leave a file so that it does not happen again."""
    died = folder / "died"
    if number == 2 and not died.exists():
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_work_of_a_dead_worker_is_repeated(tmp_path: Path) -> None:
    with Dask.local(2) as engine, pytest.warns(UserWarning, match="has gone; others repeat its work"):
        assert list(engine.map(functools.partial(die_once, tmp_path), range(6))) == list(range(6))


def test_work_is_repeated_after_all_workers_with_its_data_have_died(tmp_path: Path) -> None:
    with Dask.local(1) as engine, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(engine.map(functools.partial(die_once, tmp_path), range(6))) == list(range(6))
    texts = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]
    assert any("has gone" in text for text in texts)


def die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_work_that_kills_every_worker_ends_with_advice() -> None:
    with Dask.local(2) as engine, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(MemoryError, match="memory"):
            list(engine.map(die, [0, 1]))


def test_importing_the_engines_loads_neither_dask_nor_torch() -> None:
    code = "import nnmfaug, sys; nnmfaug.Dask; sys.exit(bool({'distributed', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
