"""Data sets by name, and the places of their files. Only :func:`fetch` downloads anything."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from nnmfaug.core.checks import require
from nnmfaug.core.errors import DataError
from nnmfaug.io.files import checksum, replacing

BASE_URL = "https://github.com/louisccc/KGppler/raw/master/datasets/"


@dataclass(frozen=True)
class Dataset:
    """A data set with a name: a folder of PyKEEN, or an archive with its checksum."""

    name: str
    about: str
    archive: str = ""
    sha256: str = ""


_ALL = (
    Dataset("nations", "14 countries, 55 relations; included in PyKEEN"),
    Dataset("kinships", "104 members of the Alyawarra, 25 terms of kinship; included in PyKEEN"),
    Dataset("umls", "135 medical concepts, 46 relations; included in PyKEEN"),
    Dataset(
        "dl50a",
        "layers and settings of 50 deep learning architectures",
        "dL50a.tgz",
        "d45ecda618fce387e2b2cbaf0dd72dccfdfb7a59d2b5166442eaee4b3c320689",
    ),
    Dataset(
        "wn18rr",
        "WordNet without inverse relations",
        "WN18RR.tar.gz",
        "1eb9152f804c140d163462c0d49f65e5a0b30ab5fbb375c5e3353c11a6249060",
    ),
    Dataset(
        "fb15k-237",
        "Freebase without inverse relations",
        "fb15k-237.tgz",
        "0734a09fe11a694913c6f377a7948dc7c5f6d1568f9207b66a178bb6237207f2",
    ),
)
DATASETS: Mapping[str, Dataset] = MappingProxyType({dataset.name: dataset for dataset in _ALL})
"""Name → data set."""


def find(name: str) -> Dataset | None:
    """Return the data set of that name, or None; upper and lower case are equal."""
    return DATASETS.get(name.lower())


def locate(dataset: Dataset) -> Path:
    """Return the path of a data set on this machine: a folder of splits, or a verified archive.

    An archive is searched for in the folder ``NNMFAUG_DATA``, if that is set, then in the cache of :func:`fetch`.
    """
    if not dataset.archive:
        return _pykeen_folder(dataset)
    data_folder = os.environ.get("NNMFAUG_DATA")
    folders = [Path(data_folder), cache_folder()] if data_folder else [cache_folder()]
    paths = [folder / dataset.archive for folder in folders]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        where = f"the folder NNMFAUG_DATA has no {dataset.archive}" if data_folder else "not on this machine"
        advice = f"to download it: nnmfaug datasets fetch {dataset.name}"
        raise DataError(f"{dataset.name}: {where}; {advice}", path=paths[0])
    _check_archive(path, dataset)
    return path


def _check_archive(path: Path, dataset: Dataset) -> None:
    sha256 = checksum(path)
    if sha256 == dataset.sha256:
        return
    cure = "delete it and download it again" if path.parent == cache_folder() else "replace or delete it"
    msg = f"not the published archive (sha256 {sha256[:12]}…, expected {dataset.sha256[:12]}…): {cure}"
    raise DataError(msg, path=path)


def is_local(dataset: Dataset) -> bool:
    """Whether :func:`locate` finds the data set."""
    try:
        locate(dataset)
    except DataError:
        return False
    return True


def fetch(dataset: Dataset, base_url: str = BASE_URL, *, progress: bool = False) -> Path:
    """Download the archive into the cache unless it is there, verify its checksum, and return its path."""
    if not dataset.archive:
        return _pykeen_folder(dataset)
    path = cache_folder() / dataset.archive
    if not path.is_file() or checksum(path) != dataset.sha256:
        _download(dataset, base_url + dataset.archive, path, progress=progress)
    return path


def _download(dataset: Dataset, url: str, path: Path, *, progress: bool) -> None:
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    download = pooch.HTTPDownloader(timeout=30, progressbar=progress)
    try:
        with replacing(path) as draft:
            download(url, str(draft), None)
            sha256 = checksum(draft)
            require(sha256 == dataset.sha256, f"sha256 {sha256[:12]}…, expected {dataset.sha256[:12]}…")
    except (ValueError, requests.RequestException, OSError) as error:
        raise DataError(f"{dataset.name}: could not be downloaded from {url}: {error}") from error


def cache_folder() -> Path:
    """Return the folder of downloaded archives."""
    import pooch

    return Path(pooch.os_cache("nnmfaug"))


def _pykeen_folder(dataset: Dataset) -> Path:
    """Return the folder of a data set in the installed PyKEEN, without importing it, which would load torch."""
    spec = importlib.util.find_spec("pykeen")
    if spec is None or not spec.submodule_search_locations:
        raise DataError(f"{dataset.name} is included in PyKEEN: pip install 'nnmfaug[train]'")
    return Path(spec.submodule_search_locations[0]) / "datasets" / dataset.name
