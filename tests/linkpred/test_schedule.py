"""Every schedule only ever adds triples, and has added all of them at the last epoch."""

from __future__ import annotations

import inspect
import math
from dataclasses import asdict, fields
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from nnmfaug.linkpred import schedule
from nnmfaug.linkpred.schedule import Constant, Polynomial, Schedule, Step

MEMBERS: list[Schedule] = [
    *(Polynomial(k) for k in (0.01, 0.5, 1, 2, 2.0, 2.5, 3, 64, 100, 1e6)),
    Constant(),
    *(Step(at) for at in (0, 0.29, 0.5, 0.999999999999999)),
]
SIZES = [(n_epochs, n) for n_epochs in (1, 2, 7, 100) for n in (0, 1, 334, 10**9)]


def test_the_suite_has_all_schedules() -> None:
    kinds = {
        value
        for name, value in vars(schedule).items()
        if inspect.isclass(value) and value.__module__ == schedule.__name__ and value is not Schedule
    }
    assert kinds == {type(member) for member in MEMBERS}


@pytest.mark.parametrize("member", MEMBERS, ids=repr)
class TestEverySchedule:
    def test_it_grows_within_bounds_to_the_whole(self, member: Schedule) -> None:
        for n_epochs, n in SIZES:
            counts = [member(epoch, n_epochs, n) for epoch in range(1, n_epochs + 1)]
            assert all(type(count) is int for count in counts)
            assert counts == sorted(counts)
            assert counts[0] >= 0
            assert counts[-1] == n

    def test_it_says_the_same_when_asked_again_or_made_again(self, member: Schedule) -> None:
        again = type(member)(**{f.name: getattr(member, f.name) for f in fields(member)})  # type: ignore[arg-type]
        assert again == member
        assert [again(e, 10, 55) for e in range(1, 11)] == [member(e, 10, 55) for e in range(1, 11)]

    def test_its_settings_are_plain(self, member: Schedule) -> None:
        assert all(isinstance(value, int | float) for value in asdict(member).values())  # type: ignore[call-overload]

    @pytest.mark.parametrize(
        ("epoch", "n_epochs", "n", "message"),
        [
            (0, 5, 10, "epoch=0: must be from 1 to n_epochs=5"),
            (6, 5, 10, "epoch=6"),
            (-1, 5, 10, "epoch=-1"),
            (1, 0, 10, "n_epochs=0: must be at least 1"),
            (1, 5, -1, "n=-1: must not be negative"),
        ],
    )
    def test_other_epochs_are_refused(
        self, member: Schedule, epoch: int, n_epochs: int, n: int, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            member(epoch, n_epochs, n)


@given(
    st.integers(1, 200).flatmap(lambda last: st.tuples(st.integers(1, last), st.just(last))),
    st.integers(0, 10**6),
    st.integers(1, 5),
)
def test_whole_powers_are_exact(place: tuple[int, int], n: int, power: int) -> None:
    epoch, n_epochs = place
    assert Polynomial(power)(epoch, n_epochs, n) == math.floor(Fraction(epoch, n_epochs) ** power * n)


def test_a_root_that_is_whole_is_not_rounded_down() -> None:
    assert [Polynomial(0.5)(e * e, 100, 10) for e in range(1, 11)] == list(range(1, 11))
    assert [Polynomial(1.5)(e * e, 100, 1000) for e in range(1, 11)] == [e**3 for e in range(1, 11)]


@pytest.mark.parametrize(
    ("at", "n_epochs", "first"),
    [(0, 10, 1), (0.5, 10, 6), (0.5, 5, 3), (0.5, 1, 1), (0.29, 100, 30), (0.7, 10, 8), (0.99, 10, 10)],
)
def test_a_step_comes_after_the_fraction_of_epochs(at: float, n_epochs: int, first: int) -> None:
    counts = [Step(at)(epoch, n_epochs, 9) for epoch in range(1, n_epochs + 1)]
    assert counts == [0] * (first - 1) + [9] * (n_epochs - first + 1)


@pytest.mark.parametrize("exponent", [0, -1, math.nan, math.inf])
def test_an_exponent_that_does_not_grow_is_refused(exponent: float) -> None:
    with pytest.raises(ValueError, match=r"exponent=.*Constant\(\)"):
        Polynomial(exponent)


@pytest.mark.parametrize("at", [-0.1, 1, 2, math.nan])
def test_a_step_outside_training_is_refused(at: float) -> None:
    with pytest.raises(ValueError, match="must be a fraction of the epochs"):
        Step(at)
