"""BLAS has one thread where it is asked to."""

from __future__ import annotations

from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from nnmfaug.core.blas import one_thread


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_has_one_thread_inside_and_gets_the_others_back() -> None:
    before = blas_threads()
    with one_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before
