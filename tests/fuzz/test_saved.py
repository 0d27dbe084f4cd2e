"""Saved values with random changes."""

from __future__ import annotations

from tests.examples import examples
from tests.fuzz.runner import run_cases
from tests.fuzz.saved import Saved


def test_a_changed_file_is_refused_or_read_as_it_was() -> None:
    outcomes = list(run_cases(Saved(), 0, range(examples(100))))
    assert [outcome for outcome in outcomes if outcome.failure] == []
    assert {outcome.answer for outcome in outcomes} == {"DataError", "value"}
