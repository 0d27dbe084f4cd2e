"""Knowledge graph data augmentation that is measured.

The names below are imported when they are first used, so ``import nnmfaug`` is light.

Examples
--------
>>> import nnmfaug as na
>>> splits = na.read_splits("umls")
>>> len(splits.train), splits.train.n_entities, splits.train.n_relations
(5216, 135, 46)
"""

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nnmfaug.errors import DataError
    from nnmfaug.families import FamilyWorld, family
    from nnmfaug.graph import KnowledgeGraph, ReadReport, Splits, Vocabulary
    from nnmfaug.io import (
        Limits,
        ReadOptions,
        from_dataframe,
        from_pykeen,
        read_any,
        read_generated,
        read_splits,
        read_triples,
        to_dataframe,
        to_pykeen,
        write_splits,
        write_triples,
    )
    from nnmfaug.splitting import split
    from nnmfaug.stats import GraphStats, describe

_HOMES = {
    "nnmfaug.errors": ["DataError"],
    "nnmfaug.families": ["FamilyWorld", "family"],
    "nnmfaug.graph": ["KnowledgeGraph", "ReadReport", "Splits", "Vocabulary"],
    "nnmfaug.io": [
        "Limits",
        "ReadOptions",
        "from_dataframe",
        "from_pykeen",
        "read_any",
        "read_generated",
        "read_splits",
        "read_triples",
        "to_dataframe",
        "to_pykeen",
        "write_splits",
        "write_triples",
    ],
    "nnmfaug.splitting": ["split"],
    "nnmfaug.stats": ["GraphStats", "describe"],
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "DataError",
    "FamilyWorld",
    "GraphStats",
    "KnowledgeGraph",
    "Limits",
    "ReadOptions",
    "ReadReport",
    "Splits",
    "Vocabulary",
    "describe",
    "family",
    "from_dataframe",
    "from_pykeen",
    "read_any",
    "read_generated",
    "read_splits",
    "read_triples",
    "split",
    "to_dataframe",
    "to_pykeen",
    "write_splits",
    "write_triples",
]

__version__ = _version("nnmfaug")


def __getattr__(name: str) -> object:
    if name not in _HOME:
        msg = f"module 'nnmfaug' has no attribute {name!r}"
        raise AttributeError(msg)
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
