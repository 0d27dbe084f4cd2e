"""Data sets by name: right sizes, right bytes, and no network unless it is asked for."""

from __future__ import annotations

import gc
import hashlib
import http.server
import importlib.util
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import nnmfaug as na
from nnmfaug.io import datasets
from nnmfaug.io.datasets import DATASETS, Dataset

# pooch leaves the connections of failed downloads to the garbage collector; the fixture `server` calls it
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

SIZES = {
    "nations": (14, 55, [1592, 199, 201]),
    "kinships": (104, 25, [8544, 1068, 1074]),
    "umls": (135, 46, [5216, 652, 661]),
}
TOY = b"not really an archive"
TOY_SET = Dataset("toy", "for tests", "toy.tgz", hashlib.sha256(TOY).hexdigest())


def lines(splits: na.Splits) -> list[int]:
    return [part.report.lines for _, part in splits.items() if part.report is not None]


# --- what is in them -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("archives")
def test_dl50a_has_its_sizes_repeats_and_leaks() -> None:
    splits = na.read_splits("dl50a")
    assert (splits.train.n_entities, splits.train.n_relations) == (1971, 22)
    assert lines(splits) == [6000, 770, 1249]
    train, valid, test = na.describe(splits).splits
    assert train.duplicates == 7
    assert train.triples == 5993
    assert test.leaked["train"] == 5
    assert valid.leaked == {"train": 4}
    rows = {name: set(part.labels()) for name, part in splits.items()}
    assert len(rows["test"] & rows["train"]) == 5
    assert len(rows["valid"] & rows["train"]) == 4
    assert splits.name == "dl50a"


@pytest.mark.usefixtures("archives")
def test_wn18rr_has_its_sizes_loops_and_unseen_entities() -> None:
    splits = na.read_splits("wn18rr")
    assert (splits.train.n_entities, splits.train.n_relations) == (40_943, 11)
    assert lines(splits) == [len(part) for _, part in splits.items()] == [86_835, 3_034, 3_134]
    train, _, test = na.describe(splits).splits
    assert train.self_loops == 7
    assert test.with_unseen == 210
    seen = {name for h, _, t in splits.train.labels() for name in (h, t)}
    assert sum(not {h, t} <= seen for h, _, t in splits.test.labels()) == 210
    assert "00260881" in splits.vocabulary.entity_ids, "names that look like numbers must stay names"


@pytest.mark.usefixtures("archives")
def test_fb15k_237_has_its_sizes() -> None:
    splits = na.read_splits("FB15k-237")
    assert (splits.train.n_entities, splits.train.n_relations) == (14_541, 237)
    assert lines(splits) == [len(part) for _, part in splits.items()] == [272_115, 17_535, 20_466]
    assert not any(name.endswith("\r") for name in splits.vocabulary.entities)


READ = """
import json, sys
import nnmfaug as na
found = {}
for name in ("nations", "kinships", "umls"):
    splits = na.read_splits(name)
    found[name] = [splits.train.n_entities, splits.train.n_relations, [len(part) for _, part in splits.items()]]
heavy = sorted({module.split(".")[0] for module in sys.modules} & {"pykeen", "torch", "pandas", "sklearn"})
print(json.dumps([found, heavy]))
"""


def test_the_data_sets_of_pykeen_are_read_without_importing_it() -> None:
    done = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True)
    found, heavy = json.loads(done.stdout)
    assert found == {name: list(sizes) for name, sizes in SIZES.items()}
    assert heavy == []


@pytest.mark.slow
def test_pykeen_agrees_on_its_own_data_set() -> None:
    from pykeen.datasets import Nations

    theirs = Nations()  # type: ignore[no-untyped-call]
    ours = na.read_splits("nations")
    assert theirs.training.num_triples == len(ours.train)
    for factory, part in (
        (theirs.training, ours.train),
        (theirs.validation, ours.valid),
        (theirs.testing, ours.test),
    ):
        assert factory is not None
        assert na.from_pykeen(factory).digest() == part.digest()


@pytest.mark.parametrize("name", SIZES)
def test_without_pykeen_the_message_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    with pytest.raises(na.DataError, match=rf"{name}.*pip install 'nnmfaug\[train\]'"):
        na.read_splits(name)
    assert not datasets.is_local(DATASETS[name])


def test_every_archive_has_a_checksum_and_every_name_is_found_in_any_case() -> None:
    assert list(DATASETS) == ["nations", "kinships", "umls", "dl50a", "wn18rr", "fb15k-237"]
    for name, dataset in DATASETS.items():
        assert datasets.find(name.upper()) is dataset
        assert bool(dataset.archive) == (len(dataset.sha256) == 64) == (name not in SIZES)
    assert datasets.find("freebase") is None
    assert datasets.BASE_URL.startswith("https://")


# --- where they are --------------------------------------------------------------------------------------------


def test_one_wrong_byte_in_an_archive_is_refused(
    archives: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytearray((archives / "dL50a.tgz").read_bytes())
    monkeypatch.setenv("NNMFAUG_DATA", str(tmp_path))
    (tmp_path / "dL50a.tgz").write_bytes(data)
    assert len(na.read_splits("dl50a").train) == 5993
    data[5] ^= 1  # the time in the gzip header: no checksum of the archive itself covers it
    (tmp_path / "dL50a.tgz").write_bytes(data)
    with pytest.raises(
        na.DataError, match=r"dL50a\.tgz: not the published archive \(sha256 .*replace or delete it"
    ):
        na.read_splits("dl50a")
    assert not datasets.is_local(DATASETS["dl50a"])


def test_a_missing_archive_is_an_error_with_the_command_that_fetches_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NNMFAUG_DATA", str(tmp_path))
    with pytest.raises(na.DataError, match=r"NNMFAUG_DATA has no WN18RR\.tar\.gz.*nnmfaug datasets fetch wn18rr"):
        na.read_splits("wn18rr")
    monkeypatch.delenv("NNMFAUG_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(na.DataError, match=r"not on this machine.*nnmfaug datasets fetch wn18rr"):
        na.read_splits("wn18rr")
    assert not (tmp_path / "cache").exists(), "looking must not make folders"


def test_nothing_reaches_for_the_network_but_fetch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.delenv("NNMFAUG_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in SIZES:
        na.read_splits(name)
    for dataset in DATASETS.values():
        assert datasets.is_local(dataset) == (dataset.name in SIZES)
    with pytest.raises(na.DataError, match="fetch"):
        na.read_splits("dl50a")
    with pytest.raises(pytest.fail.Exception, match="the network was used"):
        datasets.fetch(TOY_SET, "http://127.0.0.1:9/")


# --- fetch -----------------------------------------------------------------------------------------------------


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves what the server's ``answers`` say: status, headers, body."""

    def do_GET(self) -> None:
        answers: dict[str, tuple[int, dict[str, str], bytes]] = self.server.answers  # type: ignore[attr-defined]
        asked: list[str] = self.server.asked  # type: ignore[attr-defined]
        asked.append(self.path)
        status, headers, body = answers.get(self.path, (404, {}, b"no such file"))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server:
    def __init__(self) -> None:
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[str] = []
        self._server.answers = self.answers  # type: ignore[attr-defined]
        self._server.asked = self.asked  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()
    gc.collect()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache; no proxy stands between the test and its own server."""
    monkeypatch.delenv("NNMFAUG_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(datasets, "cache_folder", lambda: tmp_path / "xdg" / "nnmfaug")
    return tmp_path / "xdg" / "nnmfaug"


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_the_cache_lies_where_the_machine_keeps_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("XDG_CACHE_HOME is looked at on Linux only")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert datasets.cache_folder() == tmp_path / "nnmfaug"


def test_what_was_fetched_is_found_afterwards_and_not_fetched_again(server: Server, cache: Path) -> None:
    server.answers["/toy.tgz"] = (200, {}, TOY)
    with pytest.raises(na.DataError, match="fetch toy"):
        datasets.locate(TOY_SET)
    path = datasets.fetch(TOY_SET, server.url)
    assert path.read_bytes() == TOY
    assert datasets.locate(TOY_SET) == path == cache / "toy.tgz"
    assert files(cache) == ["toy.tgz"]
    assert datasets.fetch(TOY_SET, server.url) == path
    assert server.asked == ["/toy.tgz"]


def test_a_published_archive_is_fetched_and_read(archives: Path, server: Server, cache: Path) -> None:
    dataset = DATASETS["dl50a"]
    server.answers["/dL50a.tgz"] = (200, {}, (archives / "dL50a.tgz").read_bytes())
    datasets.fetch(dataset, server.url)
    assert files(cache) == ["dL50a.tgz"]
    assert len(na.read_splits("dl50a").train) == 5993


def test_a_wrong_file_in_the_cache_is_fetched_anew(server: Server, cache: Path) -> None:
    server.answers["/toy.tgz"] = (200, {}, TOY)
    cache.mkdir(parents=True)
    (cache / "toy.tgz").write_bytes(b"wrong")
    with pytest.raises(na.DataError, match="download it again"):
        datasets.locate(TOY_SET)
    datasets.fetch(TOY_SET, server.url)
    assert datasets.locate(TOY_SET).read_bytes() == TOY


def test_the_advice_to_fetch_helps_when_a_folder_is_given(
    server: Server, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "given").mkdir()
    monkeypatch.setenv("NNMFAUG_DATA", str(tmp_path / "given"))
    server.answers["/toy.tgz"] = (200, {}, TOY)
    with pytest.raises(na.DataError, match="nnmfaug datasets fetch toy"):
        datasets.locate(TOY_SET)
    assert datasets.fetch(TOY_SET, server.url).read_bytes() == TOY
    assert datasets.locate(TOY_SET).read_bytes() == TOY, f"the fetched file lies in {cache} and is not looked for"


ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "one wrong byte": (200, {}, TOY[:-1] + b"E"),
    "one byte more": (200, {}, TOY + b"x"),
    "cut, and it says so": (200, {}, TOY[:-3]),
    "short read": (200, {"Content-Length": str(len(TOY) + 1000)}, TOY[:-3]),
    "empty": (200, {}, b""),
    "not found": (404, {}, b"no such file"),
    "server error": (500, {}, TOY),
    "redirect to wrong bytes": (302, {"Location": "/other"}, b""),
    "redirect to nowhere": (302, {"Location": "/nowhere"}, b""),
    "redirect for ever": (302, {"Location": "/toy.tgz"}, b""),
    "not gzip as it says": (200, {"Content-Encoding": "gzip"}, TOY),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_bad_download_is_an_error_that_names_the_address_and_leaves_no_file(
    kind: str, server: Server, cache: Path
) -> None:
    server.answers["/toy.tgz"] = ANSWERS[kind]
    server.answers["/other"] = (200, {}, b"other bytes")
    with pytest.raises(na.DataError) as caught:
        datasets.fetch(TOY_SET, server.url)
    assert f"toy: could not be downloaded from {server.url}toy.tgz" in str(caught.value)
    assert files(cache) == []


def test_a_bad_download_keeps_a_good_file_of_before(server: Server, cache: Path) -> None:
    server.answers["/toy.tgz"] = (200, {}, TOY)
    datasets.fetch(TOY_SET, server.url)
    newer = replace(TOY_SET, sha256="0" * 64)
    with pytest.raises(na.DataError, match="could not be downloaded"):
        datasets.fetch(newer, server.url)
    assert (cache / "toy.tgz").read_bytes() == TOY


def test_a_refused_connection_is_an_error_that_names_the_address(cache: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(na.DataError, match=f"toy: could not be downloaded from http://127.0.0.1:{port}/toy.tgz"):
        datasets.fetch(TOY_SET, f"http://127.0.0.1:{port}/")
    assert files(cache) == []


def test_fetching_a_data_set_of_pykeen_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("the network was used"))
    assert (datasets.fetch(DATASETS["umls"]) / "train.txt").is_file()
