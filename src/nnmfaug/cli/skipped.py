"""The rules behind a distribution, and what was skipped when they were mined, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from nnmfaug.cli.console import count

if TYPE_CHECKING:
    import nnmfaug as na


def rule_sets_behind(dist: object) -> Iterator[na.RuleSet]:
    """Yield the rules behind a distribution."""
    from nnmfaug.augmenters.rules.rule_set import RuleEvidence
    from nnmfaug.quality.mixture import MixtureEvidence

    explainer = getattr(dist, "explainer", None)
    if isinstance(explainer, MixtureEvidence):
        for part in explainer.parts:
            yield from rule_sets_behind(part)
    elif isinstance(explainer, RuleEvidence):
        yield explainer.rules


class Skipped(NamedTuple):
    """Bodies of rules, and heads of rules with constants, that were not counted.

    Parameters
    ----------
    large
        Number of bodies with too many paths.
    unpaid, heads
        Number of bodies, and of heads, that the budget does not pay for.
    """

    large: int = 0
    unpaid: int = 0
    heads: int = 0

    @classmethod
    def of(cls, rules: na.RuleSet) -> Skipped:
        """Return what was skipped when rules were mined."""
        table = rules.paths.table
        return cls(table.skipped - table.unpaid, table.unpaid, rules.constants.table.skipped)

    @classmethod
    def behind(cls, dist: object) -> Skipped:
        """Return what was skipped when the rules behind a distribution were mined."""
        parts = [cls(), *map(cls.of, rule_sets_behind(dist))]
        return cls(*map(sum, zip(*parts, strict=True)))

    def beyond_budget(self, budget: str) -> str:
        """Describe what the budget does not pay for; empty if it pays for all.

        Examples
        --------
        >>> Skipped(unpaid=2_000, heads=1).beyond_budget("1k")
        'skipped 2,000 rule bodies and 1 head that the budget of 1k does not pay for'
        """
        numbers = [
            count(self.unpaid, "rule body", "rule bodies") if self.unpaid else "",
            count(self.heads, "head") if self.heads else "",
        ]
        names = " and ".join(filter(None, numbers))
        return f"skipped {names} that the budget of {budget} does not pay for" if names else ""

    def clauses(self, budget: str) -> list[str]:
        """Describe all that was skipped, reason by reason."""
        bodies = count(self.large, "rule body", "rule bodies")
        too_large = f"skipped {bodies} with too many paths" if self.large else ""
        return list(filter(None, [too_large, self.beyond_budget(budget)]))
