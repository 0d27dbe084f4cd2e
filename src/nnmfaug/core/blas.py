"""The libraries behind dense products: their number of threads, and their names."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any, cast


def one_thread() -> AbstractContextManager[object]:
    """Limit BLAS to one thread in a ``with`` block.

    The matrices here are narrow, so threads do not pay; and several threads add numbers in varying order.
    """
    return cast("AbstractContextManager[object]", _thread_pools().limit(limits=1, user_api="blas"))


@cache
def _thread_pools() -> Any:  # noqa: ANN401  # threadpoolctl has no types
    """Return the thread pools of the libraries numpy uses; finding them takes milliseconds, so it is done once."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def blas_libraries() -> list[str]:
    """Return name, version and kernels of each BLAS library in use, such as ``openblas 0.3.31 SkylakeX``."""
    from threadpoolctl import threadpool_info

    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    parts = ("internal_api", "version", "architecture")
    names = {" ".join(str(pool.get(part) or "unknown") for part in parts) for pool in pools}
    return sorted(names)
