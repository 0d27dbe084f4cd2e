"""Schedulers that were started by hand: with certificates, without, and on other machines."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from nnmfaug.core.engines.dask import Dask, check_address

DASK = (sys.executable, "-m", "dask")


@contextmanager
def program(*arguments: str) -> Iterator[None]:
    """Run a program of Dask inside the ``with`` block."""
    process = subprocess.Popen([*DASK, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def address_in(path: Path) -> str:
    """Wait for a scheduler's file, and return the address in it."""
    for _ in range(300):
        if path.is_file() and path.stat().st_size:
            return str(json.loads(path.read_text())["address"])
        time.sleep(0.1)
    msg = f"{path}: no scheduler has written it"
    raise TimeoutError(msg)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Name of a setting → path of a file."""
    return write_certificates(tmp_path_factory.mktemp("tls"))


def write_certificates(folder: Path) -> dict[str, str]:
    from distributed.security import Security

    temporary = Security.temporary()
    texts = {
        "ca-file": temporary.tls_ca_file,
        "cert": temporary.tls_client_cert,
        "key": temporary.tls_client_key,
    }
    for name, text in texts.items():
        (folder / name).write_text(str(text))
        (folder / name).chmod(0o600)
    return {name: str(folder / name) for name in texts}


@pytest.fixture(scope="module")
def encrypted(certificates: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler with TLS and one worker."""
    file = tmp_path_factory.mktemp("scheduler") / "scheduler.json"
    tls = [part for name, path in certificates.items() for part in (f"--tls-{name}", path)]
    with ExitStack() as stack:
        here = ("--host", "tls://127.0.0.1", "--no-dashboard", *tls)
        stack.enter_context(program("scheduler", *here, "--port", "0", "--scheduler-file", str(file)))
        address = address_in(file)
        stack.enter_context(program("worker", address, *here, "--nthreads", "1"))
        yield address


def settings(certificates: Mapping[str, str]) -> dict[str, str]:
    tls = "distributed.comm.tls"
    return {
        f"{tls}.ca-file": certificates["ca-file"],
        f"{tls}.client.cert": certificates["cert"],
        f"{tls}.client.key": certificates["key"],
    }


def connect(address: str) -> None:
    with Dask.connect(address):
        pass


def process_of(_: int) -> int:
    return os.getpid()


def test_a_scheduler_with_certificates_accepts_a_client_with_them(
    encrypted: str, certificates: Mapping[str, str]
) -> None:
    import dask

    assert encrypted.startswith("tls://")
    with dask.config.set(settings(certificates)), Dask.connect(encrypted) as engine:
        (process,) = engine.map(process_of, [0])
    assert process != os.getpid()


def test_without_certificates_it_is_said_how_to_give_them(encrypted: str) -> None:
    with pytest.raises(ConnectionError, match="needs certificates: set DASK_.*__CA_FILE, .*_CERT, .*_KEY"):  # noqa: RUF043
        connect(encrypted)


def test_a_certificate_that_is_none_is_named(
    encrypted: str, certificates: Mapping[str, str], tmp_path: Path
) -> None:
    import dask

    (tmp_path / "empty").touch()
    wrong = {**certificates, "cert": str(tmp_path / "empty")}
    with dask.config.set(settings(wrong)), pytest.raises(ConnectionError, match="cannot be used"):
        connect(encrypted)


def test_a_scheduler_with_certificates_refuses_a_client_that_does_not_encrypt(encrypted: str) -> None:
    with pytest.raises(ConnectionError, match="no Dask scheduler at tcp://"):
        connect(encrypted.replace("tls://", "tcp://"))


def test_a_scheduler_with_certificates_refuses_those_of_others(encrypted: str, tmp_path: Path) -> None:
    import dask

    with (
        dask.config.set(settings(write_certificates(tmp_path))),
        pytest.raises(ConnectionError, match="no Dask scheduler at tls://"),
    ):
        connect(encrypted)


def test_a_plain_scheduler_elsewhere_needs_an_explicit_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(host: str, *_: object) -> list[tuple[object, ...]]:
        address = {"cluster.example": "192.0.2.7", "both.example": "127.0.0.1"}[host]
        elsewhere = [(2, 1, 6, "", ("192.0.2.7", 0))] if host == "both.example" else []
        return [(2, 1, 6, "", (address, 0)), *elsewhere]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    for host in ("cluster.example", "both.example"):
        with pytest.raises(ValueError, match="not encrypted and not on this machine"):
            check_address(f"tcp://{host}:8786", insecure=False)
        check_address(f"tcp://{host}:8786", insecure=True)
        check_address(f"tls://{host}:8786", insecure=False)
