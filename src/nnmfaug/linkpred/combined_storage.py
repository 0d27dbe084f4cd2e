"""A combined model as a folder: ``combined.json``, ``known.npz``, ``prior.npz``, and the model in ``model``.

All files appear together. ``combined.json`` has the numbers, the names, and checksums of the other files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from nnmfaug.augmenters.base import Prior
from nnmfaug.augmenters.listed_prior import ListedPrior, read_listed_prior, write_listed_prior
from nnmfaug.core.checks import require
from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.documents import Schema, read_document, refusing, write_document
from nnmfaug.io.files import checksum, replacing_all
from nnmfaug.io.npz import read_arrays, write_arrays
from nnmfaug.linkpred import storage
from nnmfaug.linkpred.combined import Combined
from nnmfaug.linkpred.mix import Calibration, Mix
from nnmfaug.linkpred.trained import Trained
from nnmfaug.quality.prior import RulePrior
from nnmfaug.quality.prior_storage import read_prior, write_prior


class PriorFile(NamedTuple):
    """A kind of prior, and how it is written and read."""

    kind: type
    write: Callable[[Any, Path], None]
    read: Callable[[Path, Vocabulary], Prior]


PRIORS = {
    "rules": PriorFile(RulePrior, write_prior, read_prior),
    "listed": PriorFile(ListedPrior, write_listed_prior, read_listed_prior),
}
"""The priors that can be saved."""
DOCUMENT = "combined.json"
KNOWN = "known.npz"
PRIOR = "prior.npz"
MODEL = "model"
_MODEL_FILES = (f"{MODEL}/{storage.DOCUMENT}", f"{MODEL}/{storage.TENSORS}")
_NAMES = {"entities": [str], "relations": [str]}
SCHEMA = Schema(
    "nnmfaug combined model",
    2,
    {
        **_NAMES,
        "mix": {"temperature": float, "weight": float, "epsilon": float},
        "calibration": (None, {"constant": float, "slope": float}),
        "prior": tuple(PRIORS),
        "prior_names": (None, _NAMES),
        "sha256": {KNOWN: str, PRIOR: str, **{f"{name}?": str for name in _MODEL_FILES}},
    },
)
_UNREADABLE = "not a combined model that this nnmfaug can read: make and save it again"


def save_combined(combined: Combined, folder: Path, *, overwrite: bool) -> None:
    """Write a combined model; see :meth:`Combined.save`."""
    prior_kind = _kind_of(combined.prior)
    model_files = _MODEL_FILES if combined.trained is not None else ()
    other_files = (KNOWN, PRIOR, *model_files)
    obsolete = [folder / name for name in set(_MODEL_FILES) - set(model_files)]
    paths = [folder / name for name in (DOCUMENT, *other_files)]
    with replacing_all(paths, overwrite=overwrite, obsolete=obsolete) as (draft, *drafts):
        known, prior, *model = drafts
        write_arrays(known, {"triples": combined.known.triples})
        PRIORS[prior_kind].write(combined.prior, prior)
        if combined.trained is not None:
            storage.write_trained(combined.trained, *model)
        checksums = {name: checksum(each) for name, each in zip(other_files, drafts, strict=True)}
        write_document(draft, SCHEMA, {**_content(combined, prior_kind), "sha256": checksums})


def _kind_of(prior: Prior) -> str:
    kind = next((name for name, file in PRIORS.items() if type(prior) is file.kind), None)
    if kind is None:
        kinds = " or ".join(file.kind.__name__ for file in PRIORS.values())
        msg = f"a prior of type {type(prior).__name__} cannot be saved: it must be a {kinds}"
        raise TypeError(msg)
    return kind


def _content(combined: Combined, prior_kind: str) -> dict[str, Any]:
    names = combined.known.vocabulary
    prior_names = combined.prior.graph.vocabulary
    calibration = combined.calibration
    return {
        **asdict(names),
        "mix": asdict(combined.mix),
        "calibration": None if calibration is None else asdict(calibration),
        "prior": prior_kind,
        "prior_names": None if prior_names == names else asdict(prior_names),
    }


def load_combined(folder: str | Path) -> Combined:
    """Read what :meth:`Combined.save` wrote; anything else is a ``DataError``."""
    folder = Path(folder)
    path = folder / DOCUMENT
    if not path.is_file():
        raise DataError(f"no combined model here: give a folder that contains {DOCUMENT}", path=folder)
    with refusing(path, _UNREADABLE):
        content = read_document(path, SCHEMA)
        names = _names(content)
        prior_names = names if content["prior_names"] is None else _names(content["prior_names"])
        _check_contained(prior_names, names)
        mix = Mix(**content["mix"])
        calibration = None if content["calibration"] is None else Calibration(**content["calibration"])
    _check_intact(folder, content["sha256"])
    known = _read_known(folder / KNOWN, names)
    with refusing(folder / PRIOR, _UNREADABLE):
        prior = PRIORS[content["prior"]].read(folder / PRIOR, prior_names)
    return Combined(_load_model(folder, content["sha256"], names), prior, known, mix, calibration)


def _names(content: dict[str, Any]) -> Vocabulary:
    return Vocabulary(tuple(content["entities"]), tuple(content["relations"]))


def _check_contained(prior_names: Vocabulary, names: Vocabulary) -> None:
    is_contained = names.union(prior_names) == names
    require(is_contained, "prior_names: a name is not among the entities or relations")


def _check_intact(folder: Path, checksums: dict[str, str]) -> None:
    """Raise if a file is missing or has changed since it was written."""
    for name, expected in checksums.items():
        path = folder / name
        if not path.exists():
            raise DataError(f"{_UNREADABLE} (it is missing, but sha256 in {DOCUMENT} has it)", path=path)
        with refusing(path, _UNREADABLE):
            require(checksum(path) == expected, f"it has changed, or sha256 in {DOCUMENT} has")


def _read_known(path: Path, names: Vocabulary) -> KnowledgeGraph:
    with refusing(path, _UNREADABLE):
        arrays = read_arrays(path, {"triples": "<i4"})
        require(set(arrays) == {"triples"}, "it must contain triples alone")
        return KnowledgeGraph(names, arrays["triples"])


def _load_model(folder: Path, checksums: dict[str, str], names: Vocabulary) -> Trained | None:
    present = [name for name in _MODEL_FILES if name in checksums]
    if not present:
        return None
    path = folder / DOCUMENT
    with refusing(path, _UNREADABLE):
        require(
            len(present) == len(_MODEL_FILES), f"sha256: must have both or neither of {', '.join(_MODEL_FILES)}"
        )
        trained = storage.load_trained(folder / MODEL)
        same_names = trained.known.vocabulary == names
        require(same_names, f"entities and relations differ from those in {MODEL}/{storage.DOCUMENT}")
    return trained
