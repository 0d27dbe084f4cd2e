"""Keys against numpy and against sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from nnmfaug.core.arrays import Ids
from nnmfaug.graph.keys import SortedKeys, first_places, sorted_unique, stable_order, unique_triples
from nnmfaug.graph.vocabulary import Vocabulary

FEW_VALUES = st.lists(st.integers(0, 9), max_size=12)
KEYS = st.tuples(
    st.lists(st.integers(0, 2**40), max_size=50),
    st.sampled_from([1, 7, 2**15, 2**33, 2**62]),
).map(lambda pair: np.array(pair[0], dtype=np.int64) % pair[1])


@given(known=FEW_VALUES, others=FEW_VALUES)
def test_sorted_keys_contain_what_a_set_contains(known: list[int], others: list[int]) -> None:
    keys = SortedKeys(np.unique(np.array(known, dtype=np.int64)))
    wanted = np.array(others, dtype=np.int64)
    assert keys.contain(wanted).tolist() == [key in set(known) for key in others]
    assert len(keys) == len(set(known))


@given(known=FEW_VALUES, others=FEW_VALUES)
def test_the_position_of_a_key_that_is_present_is_its_place(known: list[int], others: list[int]) -> None:
    keys = SortedKeys(np.unique(np.array(known, dtype=np.int64)))
    wanted = np.array(others, dtype=np.int64)
    is_present, places = keys.find(wanted)
    assert is_present.dtype == np.bool_
    assert is_present.shape == places.shape == wanted.shape
    np.testing.assert_array_equal(keys.keys[places[is_present]], wanted[is_present])


def test_keys_below_between_and_above_are_absent() -> None:
    keys = SortedKeys(np.array([2, 4], dtype=np.int64))
    assert keys.contain(np.array([-1, 1, 3, 5, 2**62])).tolist() == [False] * 5


def test_no_keys_contain_nothing() -> None:
    empty = SortedKeys(np.empty(0, dtype=np.int64))
    assert len(empty) == 0
    assert empty.contain(np.array([0, 1])).tolist() == [False, False]


@given(keys=KEYS)
def test_the_order_by_16_bits_is_that_of_a_stable_sort(keys: Ids) -> None:
    np.testing.assert_array_equal(stable_order(keys), np.argsort(keys, kind="stable"))


@given(keys=KEYS)
def test_first_places_and_sorted_unique_agree_with_numpy(keys: Ids) -> None:
    values, first = np.unique(keys, return_index=True)
    np.testing.assert_array_equal(first_places(keys), first)
    np.testing.assert_array_equal(sorted_unique(keys), values)


@pytest.mark.parametrize("sort", [True, False])
def test_unique_triples_are_sorted_or_keep_their_order(*, sort: bool) -> None:
    names = Vocabulary(("a", "b"), ("r",))
    rows = [(1, 0, 0), (0, 0, 1), (1, 0, 0), (0, 0, 0), (0, 0, 1)]
    expected = sorted(set(rows)) if sort else list(dict.fromkeys(rows))
    unique = unique_triples(np.array(rows, dtype=np.int32), names, sort=sort)
    assert [tuple(row) for row in unique.tolist()] == expected
