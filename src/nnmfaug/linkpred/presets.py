"""Named settings, chosen on valid triples; most of them before any augmented arm was run (docs/training.md).

``transe``, ``rotate``
    For comparisons. The general settings were searched on DL50a by ``benchmarks/tune.py``; those for Nations,
    Kinships and UMLS were searched on the data set itself; those for WN18RR were refined by hand from a search.
``rotate-long``
    The norm and the loss of RotatE's authors. Training on WN18RR takes half an hour.
``transe-paper``, ``rotate-paper``
    The defaults of pykg2vec, the library of the paper (docs/decisions/0019). The paper names no settings.
``transe-paper-tuned``, ``rotate-paper-tuned``
    For DL50a: the same with some settings changed, so that on valid they are nearest to the paper's baseline
    (``nnmfaug reproduce tune``). For other data sets: the same without an early end.
"""

from __future__ import annotations

from dataclasses import replace

from nnmfaug.core.checks import unknown_name
from nnmfaug.linkpred.predictor import LinkPredictor

_STRONG = LinkPredictor(dropout=0.4, batch_size=1024, optimizer="adagrad", lr=0.25)
_PAPER = LinkPredictor(
    dim=50,
    loss="margin",
    margin=0.8,
    summed=True,
    negatives=1,
    shared=False,
    redraw=True,
    reciprocal=False,
    epochs=100,
    batch_size=128,
    optimizer="adam",
    lr=0.01,
    decay=(),
    whole_batches=True,
    patience=3,
    look_every=10,
    look_at=1000,
)

_GENERAL: dict[str, LinkPredictor] = {
    "transe": replace(_STRONG, model="transe", dim=128, init=2.0, temperature=0.35, epochs=150),
    "rotate": replace(_STRONG, model="rotate", dim=256, init=1.0, temperature=1.5, dropout=0.1, epochs=120),
    "rotate-long": LinkPredictor(
        model="rotate",
        norm=1,
        dim=256,
        init=0.35,
        loss="self-adversarial",
        temperature=1.0,
        margin=6.0,
        negatives=128,
        epochs=50,
        batch_size=256,
        optimizer="adagrad",
        lr=0.05,
        decay=((0.6, 0.3), (0.85, 0.1)),
    ),
    "transe-paper": replace(_PAPER, model="transe", norm=1, unit_vectors=True, start="xavier"),
    "rotate-paper": replace(
        _PAPER, model="rotate", squared=True, start="uniform", loss="self-adversarial", temperature=0.1
    ),
}
"""Name → settings for any data set."""
_GENERAL |= {f"{name}-tuned": replace(_GENERAL[name], patience=0) for name in ("transe-paper", "rotate-paper")}

PRESETS: tuple[str, ...] = tuple(_GENERAL)
"""The names of the presets."""

_WN18RR = replace(
    _STRONG, init=0.16, temperature=1.0, batch_size=256, negatives=256, decay=((0.8, 0.3),), dropout=0.3
)

_SMALL_TRANSE = replace(_STRONG, model="transe", dim=128, init=2.0, dropout=0.2, batch_size=256, epochs=80)
_SMALL_ROTATE = replace(
    _STRONG, model="rotate", dim=128, init=1.0, temperature=1.5, dropout=0.1, batch_size=256, epochs=80
)

_TUNED: dict[tuple[str, str], LinkPredictor] = {
    ("transe", "wn18rr"): replace(
        _WN18RR, model="transe", dim=512, temperature=2.0, dropout=0.0, self_negative=50.0, epochs=24
    ),
    ("rotate", "wn18rr"): replace(_WN18RR, model="rotate", dim=256, epochs=50),
    ("transe-paper-tuned", "dl50a"): replace(
        _GENERAL["transe-paper-tuned"], margin=2.0, dim=50, negatives=16, epochs=50
    ),
    ("rotate-paper-tuned", "dl50a"): replace(
        _GENERAL["rotate-paper-tuned"], margin=6.0, dim=200, negatives=16, epochs=100
    ),
    ("transe", "umls"): replace(_SMALL_TRANSE, temperature=1.5, dropout=0.0, self_negative=20.0),
    ("transe", "kinships"): replace(_SMALL_TRANSE, temperature=8.0, dropout=0.0, lr=0.1),
    ("transe", "nations"): replace(_SMALL_TRANSE, temperature=5.0, self_negative=20.0, lr=0.1),
    ("rotate", "umls"): replace(_SMALL_ROTATE, lr=0.4),
    ("rotate", "kinships"): _SMALL_ROTATE,
    ("rotate", "nations"): _SMALL_ROTATE,
}
"""(Name, data set) → settings that were chosen for this data set."""


def is_tuned(name: str, dataset: str) -> bool:
    """Whether a preset has settings of its own for a data set."""
    return (name, dataset.lower()) in _TUNED


def find_preset(name: str, dataset: str = "") -> LinkPredictor:
    """Return the settings of a preset: those for the data set if it has any, otherwise the general ones.

    Examples
    --------
    >>> find_preset("rotate", "WN18RR").epochs
    50
    >>> find_preset("transE")
    Traceback (most recent call last):
    ValueError: unknown preset 'transE'; did you mean 'transe'?
    """
    if name not in PRESETS:
        raise ValueError(unknown_name("preset", name, PRESETS))
    return _TUNED.get((name, dataset.lower()), _GENERAL[name])
