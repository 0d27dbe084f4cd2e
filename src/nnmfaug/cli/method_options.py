"""Options that choose a method and its settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import nnmfaug as na
from nnmfaug.cli.console import count
from nnmfaug.cli.reading import parse_amount, parse_number
from nnmfaug.cli.skipped import Skipped, rule_sets_behind
from nnmfaug.core.checks import decided

if TYPE_CHECKING:
    from nnmfaug.augmenters.nnmf.partition import Clusterer, Embedder
    from nnmfaug.core.checks import Size
    from nnmfaug.experiments.methods import Method

MethodName = Literal["auto", "rules", "nnmf", "mixture", "typed", "random"]
"""The methods of the table that give new triples; a test compares the two."""
Strategy = Literal["ward", "average", "complete", "single", "kmeans", "spectral", "dbscan", "hdbscan"]
DEFAULTS: dict[str, object] = {"components": "8", "clusterer": "ward", "smoothing": 0.0}
"""Options of nnmf that may be typed for every method, because these values change nothing."""
RULE_METHODS = ("auto", "rules", "mixture")
"""The methods that mine rules."""
CALIBRATED_METHODS = ("auto", "mixture")
"""The methods that estimate the probability of each triple, from the completeness of the graph."""
DEFAULT_EPS = 0.5
DEFAULT_BUDGET = "500M"

METHOD_HELP = (
    "auto: triples by mined rules whose estimated probability reaches the threshold. rules: triples that follow "
    "from mined rules, highest confidence first. nnmf: the paper's method. mixture: triples of rules and nnmf by "
    "estimated probability. typed, random: random triples, for comparison."
)
BUDGET_HELP = (
    "Work that mining rules may cost, in paths, such as 500M or 2G (k, M, G: thousand, million, billion); about "
    "one to four billion paths take a minute. Rules with constants have a budget of the same size, in pairs of "
    "attributes."
)
Amount = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help="Fraction of train (5%) or number of triples (5000). Default: 10%; for auto, every triple above the "
        "threshold.",
    ),
]
Clusters = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help='Number of clusters, or "auto" (method nnmf). Default: one per 20 entities with different '
        "relation counts, at most 50.",
    ),
]
Depth = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=4,
        metavar="N",
        help="Length of the longest rule body (methods auto, rules, mixture); 4 is for tiny graphs. Default: 2; "
        "for auto, 3 unless the graph is dense.",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(metavar="N", help=f"{BUDGET_HELP} (Methods auto, rules, mixture.) Default: {DEFAULT_BUDGET}."),
]
RulesFile = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        metavar="FILE",
        help="Use the rules of this file, in the format of AnyBURL, instead of mining some (methods auto, rules, "
        "mixture): paths of up to four atoms, r(X,Y) <= s(X,A), t(A,Y), and rules with constants of up to two, "
        "r(X,c) <= s(X,d), t(X,A). They are counted again on train; other lines are left out and noted.",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(metavar="P", help="Minimum estimated probability of a triple (method auto). Default: 0.5."),
]
Completeness = Annotated[
    float | None,
    typer.Option(
        metavar="Q",
        help="Fraction of all true facts that train contains, if known (methods auto, mixture). "
        "Default: estimated.",
    ),
]


@dataclass(frozen=True)
class MethodOptions:
    """A method and its settings as typed; None where an option was left out."""

    name: MethodName
    depth: int | None = None
    threshold: float | None = None
    clusters: str | None = None
    components: str | None = None
    clusterer: Strategy | None = None
    eps: float | None = None
    smoothing: float | None = None
    completeness: float | None = None
    rules: Path | None = None
    budget: str | None = None

    def __post_init__(self) -> None:
        self._check_methods()
        self._check_rules()
        self._check_clustering()

    @property
    def method(self) -> Method:
        """The method's entry in the table of methods."""
        from nnmfaug.experiments.methods import find_method

        return find_method(self.name)

    def augmenter(self, train: na.KnowledgeGraph) -> Any:  # noqa: ANN401  # one of several augmenters
        """Return the method's augmenter with these settings."""
        if self.name == "nnmf":
            return self._nnmf(train)
        augmenter: Any = self.method.make(train)
        if self.rules is not None or self._rule_settings:
            augmenter = self._with_other_rules(augmenter, train)
        for option in ("threshold", "completeness"):
            value = getattr(self, option)
            augmenter = augmenter if value is None else replace(augmenter, **{option: value})
        return augmenter

    @property
    def is_by_rules(self) -> bool:
        """Whether triples come from rules."""
        return self.name in RULE_METHODS

    def skipped(self, dist: object, *consequence: str) -> list[str]:
        """Describe what was skipped when the rules behind a distribution were mined, and what to do."""
        skipped = Skipped.behind(dist)
        budget = self.budget or DEFAULT_BUDGET
        clauses = skipped.clauses(budget)
        may_raise = self.rules is None and bool(skipped.beyond_budget(budget))
        return [*clauses, *consequence, *["raise --budget"] * may_raise] if clauses else []

    def without_body(self, dist: object) -> str:
        """Describe the rules of a file that have no body; empty if there are none."""
        n = sum(int((~rules.constants.table.has_body).sum()) for rules in rule_sets_behind(dist))
        if self.rules is None or not n:
            return ""
        return f"{self.rules}: rules without a body ({n:,}) answer queries but conclude no triple"

    def why_none(self, dist: object) -> str:
        """Explain why rules conclude no triple at all."""
        origin = "mined rule" if self.rules is None else f"rule of {self.rules}"
        return ": ".join(filter(None, [f"no {origin} concludes one", "; ".join(self.skipped(dist))]))

    def amount(self, text: str | None, n_train: int, *, least: int = 0) -> int | None:
        """Return the requested number of triples, or the method's default; None if the method decides it."""
        if text is None:
            return None if self.method.at_most else max(int(self.method.amount * n_train), 1)
        n = parse_amount(text, n_train, "--amount")
        if n < least or (not n and text.endswith("%")):
            msg = f"--amount {text}: less than one of {count(n_train, 'triple')}: give a number, such as 1"
            raise ValueError(msg)
        return n

    def _with_other_rules(self, augmenter: Any, train: na.KnowledgeGraph) -> Any:  # noqa: ANN401  # as above
        """Return the augmenter with other rules, which are the first of its generators."""
        from nnmfaug.quality.auto import default_generators

        if self.name == "rules":
            return self._other_rules(augmenter)
        generators: tuple[Any, ...] = augmenter.generators or default_generators(train)
        return replace(augmenter, generators=(self._other_rules(generators[0]), *generators[1:]))

    def _other_rules(self, rules: na.Rules) -> na.Rules:
        """Return the rules of a file, or of another depth or budget, with the same settings otherwise."""
        if self.rules is not None:
            return na.ImportedRules.of(self.rules, rules)
        return replace(rules, **self._rule_settings)

    @property
    def _rule_settings(self) -> dict[str, Any]:
        """The settings of mining that were typed."""
        budget = None if self.budget is None else parse_number(self.budget, "--budget")
        settings = {"depth": self.depth, "budget": budget}
        return {name: value for name, value in settings.items() if value is not None}

    def _nnmf(self, train: na.KnowledgeGraph) -> na.NNMFAug:
        default: Any = self.method.make(train)
        embed = self._embedder(default.embed)
        relations = default.relations if self.smoothing is None else na.CountProduct(self.smoothing)
        clusterer = self._clusterer(default.cluster.n_clusters)
        augmenter: na.NNMFAug = replace(default, embed=embed, cluster=clusterer, relations=relations)
        return augmenter

    def _embedder(self, default: Embedder) -> Embedder:
        """Return the vectors that are clustered: eigenvectors for spectral clustering, otherwise factors of C."""
        size = None if self.components is None else _parse_size("--components", self.components)
        if self.clusterer == "spectral":
            return na.Spectral() if size is None else na.Spectral(decided("--components", size))
        return default if size is None else na.NMF(size)

    def _clusterer(self, default: Size) -> Clusterer:
        if self.clusterer == "dbscan":
            return na.DBSCAN(DEFAULT_EPS if self.eps is None else self.eps)
        if self.clusterer == "hdbscan":
            return na.HDBSCAN()
        n_clusters = default if self.clusters is None else _parse_size("--clusters", self.clusters)
        if self.clusterer == "kmeans" or self.clusterer == "spectral":  # noqa: PLR1714  # mypy tells these apart
            return na.KMeans(n_clusters)
        return na.Agglomerative(n_clusters, self.clusterer or "ward")

    def _check_methods(self) -> None:
        """Raise if an option does not belong to the method."""
        owners: dict[str, tuple[str, ...]] = {
            "depth": RULE_METHODS,
            "budget": RULE_METHODS,
            "rules": RULE_METHODS,
            "threshold": ("auto",),
            "completeness": CALIBRATED_METHODS,
        }
        for option in ("clusters", "components", "clusterer", "eps", "smoothing"):
            owners[option] = ("nnmf",)
        for option, methods in owners.items():
            is_default = getattr(self, option) in (None, DEFAULTS.get(option))
            if not is_default and self.name not in methods:
                msg = f"--{option} is for --method {', '.join(methods)}, not for {self.name}: leave it out"
                raise ValueError(msg)

    def _check_rules(self) -> None:
        """Raise if rules are both read and mined."""
        settings = self._rule_settings
        for option in settings if self.rules is not None else ():
            msg = f"--rules and --{option} cannot be combined: leave out one of them"
            raise ValueError(msg)

    def _check_clustering(self) -> None:
        """Raise if an option does not belong to the clusterer."""
        if self.eps is not None and self.clusterer != "dbscan":
            msg = f"--eps is for --clusterer dbscan, not for {self.clusterer or 'ward'}: leave it out"
            raise ValueError(msg)
        if self.clusterer not in ("dbscan", "hdbscan", "spectral"):
            return
        if self.clusters is not None and self.clusterer != "spectral":
            msg = f"--clusterer {self.clusterer} finds the number of clusters itself: leave out --clusters"
            raise ValueError(msg)
        for option in ("components", "clusters"):
            if getattr(self, option) == "auto":
                msg = f"--{option} auto cannot be combined with --clusterer {self.clusterer}: give a number"
                raise ValueError(msg)


def _parse_size(option: str, text: str) -> Size:
    """Return a number from 1, or "auto"."""
    if text == "auto":
        return "auto"
    if not text.isdecimal() or int(text) < 1:
        msg = f"{option} {text}: must be a number from 1, or auto"
        raise ValueError(msg)
    return int(text)
