"""A trained model as two files: ``model.json`` has settings and names, ``model.safetensors`` weights and triples.

Both appear together. The JSON contains checksums of the other file and of itself. There are no pickles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nnmfaug.core.checks import require
from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.documents import Schema, read_document, refusing, write_document
from nnmfaug.io.files import checksum, replacing_all
from nnmfaug.linkpred.predictor import LinkPredictor
from nnmfaug.linkpred.trained import Trained

if TYPE_CHECKING:
    from pykeen.models import ERModel
    from torch import Tensor

DOCUMENT = "model.json"
TENSORS = "model.safetensors"
KNOWN = "known"
"""The tensor of known triples; the others are weights."""
PREFIX = "weights."
_SETTINGS = {f"{each.name}?": type(each.default) for each in fields(LinkPredictor)}
"""Settings have the types of their defaults; older models do not have all of them."""
SCHEMA = Schema(
    "nnmfaug model",
    2,
    {
        "settings": {**_SETTINGS, "decay?": [[float]]},
        "entities": [str],
        "relations": [str],
        "hidden?": [str],
        "weights_sha256?": str,
    },
)
_UNREADABLE = "not a model that this nnmfaug can read: train it again"


def save_trained(trained: Trained, folder: Path, *, overwrite: bool) -> None:
    """Write a model; see :meth:`Trained.save`."""
    with replacing_all([folder / DOCUMENT, folder / TENSORS], overwrite=overwrite) as drafts:
        write_trained(trained, *drafts)


def write_trained(trained: Trained, draft: Path, draft_of_tensors: Path) -> None:
    """Write the two files of a model."""
    from safetensors.torch import save

    names = trained.known.vocabulary
    content = {
        "settings": asdict(trained.settings),
        "entities": names.entities,
        "relations": names.relations,
        "hidden": trained.hidden,
    }
    draft_of_tensors.write_bytes(save(_tensors(trained)))
    write_document(draft, SCHEMA, {**content, "weights_sha256": checksum(draft_of_tensors)})


def load_trained(folder: str | Path) -> Trained:
    """Read what :meth:`Trained.save` wrote; anything else is a ``DataError``."""
    path = Path(folder) / DOCUMENT
    if not path.is_file():
        raise DataError(f"no model here: give a folder that contains {DOCUMENT}", path=folder)
    with refusing(path, _UNREADABLE):
        content = read_document(path, SCHEMA)
        settings = _settings(content["settings"])
        names = Vocabulary(tuple(content["entities"]), tuple(content["relations"]))
        hidden = tuple(content.get("hidden", ()))
        _check_hidden(hidden, names)
    tensors = path.with_name(TENSORS)
    if not tensors.exists():
        raise DataError(f"{_UNREADABLE} (it is missing)", path=tensors)
    with refusing(tensors, _UNREADABLE), _known_errors():
        is_intact = content.get("weights_sha256") in (None, checksum(tensors))
        require(is_intact, f"it has changed, or weights_sha256 in {DOCUMENT} has")
        model, known = _load(tensors, settings, names)
    return Trained(settings, model, known, hidden=hidden)


def weights_as_bytes(model: ERModel[Any, Any, Any]) -> bytes:
    """Return the weights of a model in the format of safetensors."""
    from safetensors.torch import save

    return bytes(save(_weights(model)))


def unpack(settings: LinkPredictor, known: KnowledgeGraph, weights: bytes, parts: tuple[Any, ...]) -> Trained:
    """Return a model that another process sent."""
    from safetensors.torch import load

    model = _model_without_weights(settings, known)
    model.load_state_dict({name.removeprefix(PREFIX): x for name, x in load(weights).items()}, assign=True)
    model.eval()
    return Trained(settings, model, known, *parts)


def _weights(model: ERModel[Any, Any, Any]) -> dict[str, Tensor]:
    return {PREFIX + name: x.contiguous().cpu() for name, x in model.state_dict().items()}


def _tensors(trained: Trained) -> dict[str, Tensor]:
    import torch

    return {**_weights(trained.model), KNOWN: torch.from_numpy(trained.known.triples.copy())}


def _settings(values: dict[str, Any]) -> LinkPredictor:
    decay = tuple(tuple(map(float, pair)) for pair in values.pop("decay", ()))
    require(all(len(pair) == 2 for pair in decay), "settings.decay: must be pairs of numbers")
    return LinkPredictor(**values, decay=decay)  # type: ignore[arg-type]


def _check_hidden(hidden: tuple[str, ...], names: Vocabulary) -> None:
    unknown = [name for name in hidden if name not in names.entity_ids]
    require(not unknown, f"hidden: not among the entities: {', '.join(unknown[:3])}")


def _load(path: Path, settings: LinkPredictor, names: Vocabulary) -> tuple[ERModel[Any, Any, Any], KnowledgeGraph]:
    """Return the model and the known triples. Shapes are compared before memory is asked for."""
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        known = KnowledgeGraph(names, file.get_tensor(KNOWN).numpy().copy())
        model = _model_without_weights(settings, known)
        weights = model.state_dict()
        _check_shapes(file, {PREFIX + name: list(x.shape) for name, x in weights.items()})
        # Tensors of safetensors are views of the file, so they are copied.
        copies = {name: file.get_tensor(PREFIX + name).clone() for name in weights}
    model.load_state_dict(copies, assign=True)
    model.eval()
    return model, known


def _model_without_weights(settings: LinkPredictor, known: KnowledgeGraph) -> ERModel[Any, Any, Any]:
    """Return a model that has shapes, but neither memory nor random weights."""
    import torch

    from nnmfaug.io import to_pykeen
    from nnmfaug.linkpred.models import make_model

    factory = to_pykeen(known, reciprocal=settings.reciprocal)
    try:
        with torch.device("meta"):
            return make_model(settings, factory)
    except RuntimeError as error:  # more bytes than 64 bits can count
        msg = f"settings.dim in {DOCUMENT}: {error}"
        raise ValueError(msg) from None


def _check_shapes(file: Any, expected: Mapping[str, list[int]]) -> None:  # noqa: ANN401  # safetensors has no types
    slices = {name: file.get_slice(name) for name in file.keys() if name != KNOWN}  # noqa: SIM118
    names = f"it has {', '.join(slices)}, but settings in {DOCUMENT} need {', '.join(expected)}"
    require(set(slices) == set(expected), names)
    for name, shape in expected.items():
        actual = slices[name].get_shape()
        needs = f"{DOCUMENT} (settings.dim, entities, relations) needs {shape}"
        require(actual == shape, f"{name} has shape {actual}, but {needs}")
        dtype = slices[name].get_dtype()
        require(dtype == "F32", f"{name} has type {dtype}, not F32")


@contextmanager
def _known_errors() -> Iterator[None]:
    """Let an error of safetensors, which is a plain ``Exception``, be a ``ValueError``."""
    from safetensors import SafetensorError

    try:
        yield
    except SafetensorError as error:
        raise ValueError(str(error)) from None
