"""A bad argument is named with its value and what it must be."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from nnmfaug.core import checks

REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: checks.require(False, "it is packed"), "it is packed"),
    (lambda: checks.check_argument("x", "y", False, "z"), "x='y': must be z"),
    (lambda: checks.check_at_least("n", 2, 3), "n=2: must be at least 3"),
    (lambda: checks.check_fraction("p", 0), "p=0: must be above 0 and below 1"),
    (lambda: checks.check_fraction("p", 1.0), "p=1.0: must be above 0 and below 1"),
    (lambda: checks.check_fraction("p", float("nan")), "p=nan: must be above 0 and below 1"),
    (lambda: checks.check_count(-1), "n=-1: must not be negative"),
    (lambda: checks.check_count(2.0), "n=2.0: must be a whole number"),  # type: ignore[arg-type]
    (lambda: checks.check_count("2"), "n='2': must be a whole number"),  # type: ignore[arg-type]
    (lambda: checks.check_size("n_clusters", 0), "n_clusters=0: must be at least 1, or 'auto'"),
    (
        lambda: checks.check_size("n_clusters", "many"),  # type: ignore[arg-type]
        "n_clusters='many': must be at least 1, or 'auto'",
    ),
    (lambda: checks.decided("n_clusters", "auto"), "n_clusters='auto': chosen by NNMFAug when it is fitted"),
]


@pytest.mark.parametrize(("check", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_bad_argument_is_refused_with_its_value(check: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        check()


def test_good_arguments_pass() -> None:
    checks.require(True, "never shown")
    checks.check_argument("x", 0, True, "anything")
    checks.check_at_least("n", 3, 3)
    checks.check_fraction("p", 0.5)
    checks.check_size("n_clusters", 1)
    checks.check_size("n_clusters", "auto")
    assert checks.decided("n_clusters", 5) == 5


def test_a_count_of_numpy_becomes_an_int() -> None:
    count = checks.check_count(np.int64(5))  # type: ignore[arg-type]
    assert (count, type(count)) == (5, int)
    assert checks.check_count(0) == 0


def test_an_unknown_name_lists_at_most_three_close_ones() -> None:
    known = ["china", "chine", "chino", "chins", "cuba"]
    message = checks.unknown_name("entity", "chinx", known)
    assert message.startswith("unknown entity 'chinx'; did you mean 'chin")
    assert message.count("'chin") == 4


def test_without_a_close_one_it_lists_all_if_they_are_few() -> None:
    assert checks.unknown_name("preset", "x", ["transe", "rotate"]) == (
        "unknown preset 'x'; choose one of: transe, rotate"
    )
    assert checks.unknown_name("entity", "x", [f"name{i}" for i in range(21)]) == "unknown entity 'x'"
    assert checks.unknown_name("entity", "x", []) == "unknown entity 'x'"
