"""``comparison.json``: all numbers of a comparison as plain data.

Its keys are the fields of ``Comparison``, ``Difference``, ``Group`` and ``MRRByGenerated``, besides those set
here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from nnmfaug.core.arrays import Bools
from nnmfaug.evaluation.breakdown import breakdown, mrr_by_generated
from nnmfaug.evaluation.comparison import Comparison, compare, to_json
from nnmfaug.evaluation.metrics import Kind, summary
from nnmfaug.evaluation.runs import Run, by_arm
from nnmfaug.evaluation.sentences import advice, sentence
from nnmfaug.evaluation.strata import By, Strata, derivable_strata
from nnmfaug.graph.splits import Splits
from nnmfaug.io.files import replacing

FILE_NAME = "comparison.json"
FORMAT = "nnmfaug comparison"
VERSION = 2
"""Version 1 has neither format nor version, and no ``advice``, ``by_seen`` and ``by_derivable``."""
_OF_ONE_ARM = ("arm", "generated")
"""Settings that differ between runs; the others are common to all."""


class PilotOutcome(Protocol):
    """What the document reports about pilot runs; :class:`nnmfaug.Pilot` is one."""

    @property
    def amount(self) -> int:
        """The number of generated triples that was chosen."""

    @property
    def scores(self) -> Mapping[int, float]:
        """MRR on valid for each number that was tried."""

    @property
    def errors(self) -> Mapping[int, float]:
        """Standard error of each score's difference from the best."""


def comparison_document(
    runs: Sequence[Run],
    splits: Splits,
    *,
    pilot: PilotOutcome | None = None,
    comparisons: Mapping[Kind, Comparison] | None = None,
    derivable: Bools | None = None,
) -> dict[str, Any]:
    """Return everything that ``nnmfaug compare`` writes to ``comparison.json``, as plain data for JSON.

    Parameters
    ----------
    runs
        Runs of all arms on these splits, from :func:`~nnmfaug.run_experiment` or :func:`~nnmfaug.load_runs`.
    splits
        The splits that the runs were tested on.
    pilot
        Outcome of pilot runs, from :func:`~nnmfaug.run_pilot`.
    comparisons
        Comparisons of these runs, by kind of ranks. Default: :func:`~nnmfaug.compare` with its defaults, for
        filtered and raw ranks; with a single arm there is nothing to compare.
    derivable : ndarray of shape (n_triples,), optional
        Whether rules mined from train conclude each test triple, from :func:`~nnmfaug.find_derivable`.

    Returns
    -------
    dict
        ``format``, ``version``, ``arms`` (settings of each arm), ``runs`` (metrics and curve of each run),
        ``settings`` (common to all runs) and, if given, ``pilot``. With several arms also ``filtered`` and ``raw``
        (the comparisons), ``sentence`` (a list of lines), ``advice``, ``by_relation``, ``by_degree``, ``by_seen``,
        ``by_derivable`` (if ``derivable`` is given) and ``mrr_by_generated``.

    Examples
    --------
    >>> import numpy as np
    >>> import nnmfaug as na
    >>> splits = na.read_splits("nations")
    >>> places = np.full((len(splits.test), 2), 4.0)
    >>> ranks = na.Ranks(filtered=places, raw=places)
    >>> runs = [na.Run(arm, seed, ranks) for arm in ("baseline", "copy") for seed in (0, 1)]
    >>> document = na.comparison_document(runs, splits)
    >>> document["filtered"]["rows"][0]["verdict"]
    'no difference shown'
    >>> [(group["name"], group["n_triples"]) for group in document["by_degree"]]
    [('>20', 201)]
    """
    if comparisons is None:
        comparisons = compare_both(runs)
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "arms": {run.arm: run.settings.get("arm") for run in runs},
        "runs": [_run_entry(run) for run in runs],
        "settings": {key: value for key, value in runs[0].settings.items() if key not in _OF_ONE_ARM},
    }
    if pilot is not None:
        document["pilot"] = {"amount": pilot.amount, "mrr_on_valid": pilot.scores, "errors": pilot.errors}
    for kind, comparison in comparisons.items():
        document[kind] = to_json(comparison)
    if "filtered" in comparisons:
        document |= _details(runs, splits, comparisons["filtered"], derivable)
    plain: dict[str, Any] = json.loads(json.dumps(document))
    return plain


def write_comparison(document: Mapping[str, Any], folder: str | Path) -> Path:
    """Write a document to ``comparison.json`` in a folder, and return its path.

    Examples
    --------
    >>> import json
    >>> import nnmfaug as na
    >>> path = na.write_comparison({"sentence": ["auto: no difference shown."]}, "runs")
    >>> path.name, json.loads(path.read_text())
    ('comparison.json', {'sentence': ['auto: no difference shown.']})
    """
    path = Path(folder) / FILE_NAME
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    with replacing(path) as draft:
        # UTF-8 cannot represent half a surrogate pair in a name; its JSON escape can.
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")
    return path


def compare_both(runs: Sequence[Run]) -> dict[Kind, Comparison]:
    """Compare the arms by filtered and by raw ranks; nothing to compare gives an empty dict."""
    if len(by_arm(runs)) == 1:
        return {}
    return {"filtered": compare(runs, kind="filtered"), "raw": compare(runs, kind="raw")}


def _run_entry(run: Run) -> dict[str, Any]:
    return {
        "arm": run.arm,
        "seed": run.seed,
        "n_extra": run.n_extra,
        "generated": run.settings.get("generated"),
        "seconds": run.seconds,
        "metrics": {"filtered": summary(run.ranks.filtered), "raw": summary(run.ranks.raw)},
        "curve": run.curve,
    }


def _details(
    runs: Sequence[Run], splits: Splits, comparison: Comparison, derivable: Bools | None
) -> dict[str, Any]:
    """The sentences of a comparison, and its parts: groups of test triples, and generated ones."""
    baseline = comparison.baseline
    kinds: dict[str, By | Strata] = {"by_relation": "relation", "by_degree": "degree", "by_seen": "seen"}
    if derivable is not None:
        kinds["by_derivable"] = derivable_strata(derivable)
    parts = {key: breakdown(runs, splits, baseline=baseline, by=by) for key, by in kinds.items()}
    return {
        "sentence": sentence(comparison).splitlines(),
        "advice": advice(runs, comparison),
        **{key: [asdict(group) for group in groups] for key, groups in parts.items()},
        "mrr_by_generated": [asdict(part) for part in mrr_by_generated(runs, baseline)],
    }
