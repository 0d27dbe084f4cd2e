"""A Dask cluster: workers on this machine, or on many.

The function and its data are sent to every worker once, without passing through the scheduler; so are items of
more than a megabyte, and results. If a worker dies, the scheduler gives its work to another one.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from nnmfaug.core.checks import require
from nnmfaug.core.engines.base import in_order, n_cores
from nnmfaug.core.engines.tasks import Outcome, run_task

if TYPE_CHECKING:
    from distributed import Client, Future
    from distributed.security import Security

T = TypeVar("T")
R = TypeVar("R")

PATIENCE = 1.0
"""Seconds without a look at the workers."""
FIRST_WORKER = 60.0
"""Seconds to wait for the first worker."""
CONNECTION = 15.0
"""Seconds to wait for the scheduler."""
LIGHT = 1 << 20
"""Items of more bytes do not pass through the scheduler."""
TLS_VARIABLES = tuple(
    f"DASK_DISTRIBUTED__COMM__TLS__{name}" for name in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY")
)
"""Variables of the environment that name the files of certificates; Dask reads them."""
ATTEMPTS = 5
"""So often data is sent again that was lost with the workers that had it."""


@dataclass(frozen=True, eq=False)
class Dask:
    """Run work on a Dask cluster.

    Give workers one thread each (``dask worker --nthreads 1``): a worker does one block at a time.

    Parameters
    ----------
    client
        A connected ``distributed.Client``. Whoever reaches its scheduler can run programs on its workers, so use
        TLS outside a machine or network that you trust.

    Examples
    --------
    >>> import nnmfaug as na
    >>> with na.Dask.local(1) as engine:
    ...     list(engine.map(abs, [-1, 2]))
    [1, 2]
    """

    client: Client

    @classmethod
    @contextmanager
    def local(cls, workers: int | None = None) -> Iterator[Dask]:
        """Start workers on this machine, one for each core by default, and end them afterwards."""
        from distributed import Client, LocalCluster

        with (
            LocalCluster(
                n_workers=workers or n_cores(),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # any port for its other pages, not 8787
                silence_logs=50,  # nothing below CRITICAL: what matters is raised or warned about here
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield cls(client)

    @classmethod
    @contextmanager
    def connect(cls, address: str, *, insecure: bool = False) -> Iterator[Dask]:
        """Connect to a scheduler, such as ``tls://host:8786``, and disconnect afterwards.

        Certificates are those of Dask's configuration (``distributed.comm.tls``). Without TLS only a scheduler on
        this machine is accepted, unless ``insecure``.
        """
        from distributed import Client

        check_address(address, insecure=insecure)
        security = _certificates() if urlsplit(address).scheme == "tls" else None
        try:
            client = Client(address, security=security, timeout=CONNECTION, set_as_default=False)
        except (OSError, TypeError, RuntimeError, ValueError) as error:
            reason = str(error).strip() or type(error).__name__
            msg = f"no Dask scheduler at {address} accepts a connection ({reason}); start one with: dask scheduler"
            raise ConnectionError(msg) from None
        with client:
            yield cls(client)

    @property
    def n_workers(self) -> int:
        """Number of workers, at least 1."""
        return max(len(self._workers()), 1)

    def as_finished(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R]]:
        """Yield the place of an item and ``work(item)``, whichever is finished first."""
        if not items:
            return
        self._wait_for_workers()
        todo = dict(enumerate(items))
        for _ in range(ATTEMPTS):
            for place, outcome in self._attempt(work, todo):
                del todo[place]
                yield place, outcome.deliver()
            if not todo:
                return
            warnings.warn("workers that had the data have gone; it is sent again", UserWarning, stacklevel=2)
            self._wait_for_workers()
        msg = f"workers keep dying ({ATTEMPTS} times all that had the data), probably for lack of memory"
        raise MemoryError(msg)

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in the order of the items."""
        return in_order(self.as_finished(work, items))

    def _attempt(self, work: Callable[[T], R], todo: dict[int, T]) -> Iterator[tuple[int, Outcome[R]]]:
        """Yield what is finished, until all is, or data is lost."""
        from distributed import KilledWorker

        client = self.client
        present = self._workers()
        futures: dict[Future, int] = {}
        try:
            carried = client.scatter(work, broadcast=True, direct=True, hash=False)
            for place, item in todo.items():
                future = client.submit(run_task, carried, self._light(item), pure=False, key=_name(work, place))
                futures[future] = place
            while futures:
                done = self._finished(futures)
                present = self._warn_of_gone(present)
                for future in done:
                    yield futures.pop(future), client.gather(future, direct=True)
        except KilledWorker as error:
            msg = f"{error}; probably there was not enough memory: give workers more, or take fewer per machine"
            raise MemoryError(msg) from None
        except (CancelledError, KeyError, TimeoutError):
            self._check_connection()
            self._warn_of_gone(present)  # what is lost is sent again
        finally:
            if self.client.status == "running":
                client.cancel(list(futures), force=True)

    def _light(self, item: T) -> Any:  # noqa: ANN401  # the item, or what stands for it
        """Return an item, or, if it is heavy, a future of it: its bytes go to a worker, not to the scheduler."""
        from distributed.protocol import serialize
        from distributed.utils import nbytes

        _, frames = serialize(item)
        if sum(map(nbytes, frames)) <= LIGHT:
            return item
        return self.client.scatter(item, direct=True, hash=False)

    def _finished(self, futures: dict[Future, int]) -> list[Future]:
        """Wait for the next results, and look at the connection now and then; they may be none."""
        from distributed import wait

        try:
            with self.client.as_current():
                done = wait(list(futures), timeout=PATIENCE, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            self._check_connection()
            return []
        return sorted(done, key=futures.__getitem__)

    def _warn_of_gone(self, before: set[str]) -> set[str]:
        """Warn of workers that are not there any more, and return those that are."""
        now = self._workers()
        for address in sorted(before - now):
            msg = f"worker {address} has gone; others repeat its work"
            warnings.warn(msg, UserWarning, stacklevel=2)
        return now

    def _workers(self) -> set[str]:
        return set(self.client.scheduler_info(n_workers=-1).get("workers", ()))

    def _wait_for_workers(self) -> None:
        if self._workers():
            return
        try:
            self.client.wait_for_workers(1, timeout=FIRST_WORKER)
        except TimeoutError:
            address = self.client.scheduler.address if self.client.scheduler else "the scheduler"
            msg = f"{address} has no workers; start some with: dask worker {address} --nthreads 1"
            raise ConnectionError(msg) from None

    def _check_connection(self) -> None:
        """Raise if the scheduler has gone."""
        if self.client.status != "running":
            msg = "the connection to the Dask scheduler is lost; start it again, then run the same command"
            raise ConnectionError(msg)


def _certificates() -> Security:
    """Return the certificates in Dask's configuration, or raise."""
    from distributed.security import Security

    try:
        security = Security(require_encryption=True)
        is_complete = security.get_connection_args("client")["ssl_context"] is not None
    except OSError as error:
        msg = f"a certificate or key cannot be used ({error}); see {', '.join(TLS_VARIABLES)}"
        raise ConnectionError(msg) from None
    if is_complete:
        return security
    msg = f"tls:// needs certificates: set {', '.join(TLS_VARIABLES)} to the paths of three files"
    raise ConnectionError(msg)


def _name(work: Callable[..., object], place: int) -> str:
    """Return the key of a task, whose first part a dashboard shows."""
    name = getattr(work, "__name__", type(work).__name__).strip("_").lower()
    return f"nnmfaug-{name}-{place}-{os.urandom(8).hex()}"


def check_address(address: str, *, insecure: bool) -> None:
    """Raise unless an address is encrypted, on this machine, or accepted as it is.

    Examples
    --------
    >>> check_address("tcp://127.0.0.1:8786", insecure=False)
    >>> check_address("tcp://192.0.2.1:8786", insecure=False)
    Traceback (most recent call last):
    ValueError: tcp://192.0.2.1:8786 is not encrypted and not on this machine: ...
    """
    parts = urlsplit(address)
    good_port = _has_port(address)
    require(
        parts.scheme in ("tcp", "tls") and bool(parts.hostname) and good_port,
        f"{address}: must be tcp://HOST:PORT or tls://HOST:PORT",
    )
    if parts.scheme == "tls" or insecure or _is_here(str(parts.hostname)):
        return
    msg = (
        f"{address} is not encrypted and not on this machine: whoever reaches the network can run programs on its "
        "workers; use tls://, or --insecure (in Python insecure=True) if you trust the network"
    )
    raise ValueError(msg)


def _has_port(address: str) -> bool:
    try:
        return urlsplit(address).port is not None
    except ValueError:  # not a number, or too large
        return False


def _is_here(host: str) -> bool:
    """Whether all addresses of a host lead back to this machine."""
    try:
        addresses = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return bool(addresses) and all(ipaddress.ip_address(each.split("%")[0]).is_loopback for each in addresses)
