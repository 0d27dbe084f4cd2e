"""Data sets by name: where their files are. Nothing is downloaded unless :func:`fetch` is called."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from nnmfaug.core.errors import DataError

BASE_URL = "https://github.com/louisccc/KGppler/raw/master/datasets/"


@dataclass(frozen=True)
class Dataset:
    """A data set that can be named: a folder of PyKEEN, or an archive with its checksum."""

    name: str
    about: str
    archive: str = ""
    sha256: str = ""


_ALL = (
    Dataset("nations", "14 countries, 55 relations; comes with PyKEEN"),
    Dataset("kinships", "104 members of the Alyawarra, 25 terms of kinship; comes with PyKEEN"),
    Dataset("umls", "135 medical concepts, 46 relations; comes with PyKEEN"),
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
    """Return the data set of that name, in any case of letters."""
    return DATASETS.get(name.lower())


def locate(dataset: Dataset) -> Path:
    """Return where the data set lies on this machine: a folder of splits, or a checked archive.

    An archive is looked for in the folder ``NNMFAUG_DATA``, if that is set, then where :func:`fetch` puts it.
    """
    if not dataset.archive:
        return _pykeen_folder(dataset)
    given = os.environ.get("NNMFAUG_DATA")
    folders = [Path(given), cache_folder()] if given else [cache_folder()]
    path = next((folder / dataset.archive for folder in folders if (folder / dataset.archive).is_file()), None)
    if path is None:
        path = folders[0] / dataset.archive
        where = f"the folder NNMFAUG_DATA has no {dataset.archive}" if given else "it is not on this machine"
        raise DataError(
            f"{dataset.name}: {where}; to download it: nnmfaug datasets fetch {dataset.name}", path=path
        )
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != dataset.sha256:
        cure = "fetch it again" if path.parent == cache_folder() else "replace or delete it"
        msg = f"not the published archive (sha256 {found[:12]}…, expected {dataset.sha256[:12]}…): {cure}"
        raise DataError(msg, path=path)
    return path


def is_local(dataset: Dataset) -> bool:
    """Whether :func:`locate` would find it."""
    try:
        locate(dataset)
    except DataError:
        return False
    return True


def fetch(dataset: Dataset, base_url: str = BASE_URL, *, progress: bool = False) -> Path:
    """Download the archive into the cache, unless it is there; the checksum must be right."""
    if not dataset.archive:
        return _pykeen_folder(dataset)
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    downloader = pooch.HTTPDownloader(timeout=30, progressbar=progress)
    try:
        found = pooch.retrieve(
            base_url + dataset.archive,
            known_hash=f"sha256:{dataset.sha256}",
            fname=dataset.archive,
            path=cache_folder(),
            downloader=downloader,
        )
    except (ValueError, requests.RequestException, OSError) as error:
        msg = f"could not be downloaded from {base_url}{dataset.archive}: {error}"
        raise DataError(f"{dataset.name}: {msg}") from error
    return Path(found)


def cache_folder() -> Path:
    """Where downloads are kept."""
    import pooch

    return Path(pooch.os_cache("nnmfaug"))


def _pykeen_folder(dataset: Dataset) -> Path:
    """Find the data files of the installed PyKEEN without importing it, which would load torch."""
    spec = importlib.util.find_spec("pykeen")
    if spec is None or not spec.submodule_search_locations:
        raise DataError(f"{dataset.name} comes with PyKEEN: pip install 'nnmfaug[train]'")
    return Path(spec.submodule_search_locations[0]) / "datasets" / dataset.name
