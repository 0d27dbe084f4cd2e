"""Every purpose has its own random stream, and its numbers never change."""

from __future__ import annotations

import itertools

import pytest

from nnmfaug.core.seeding import Stream, generator

NUMBERS = {
    "PROPOSALS": 1,
    "ORDER": 2,
    "NMF_START": 3,
    "BOOTSTRAP_TRIPLES": 4,
    "BOOTSTRAP_SEEDS": 5,
    "SINGULAR": 6,
    "UNIFORM": 0xC0,
    "KMEANS": 0xC1,
    "LISTED": 0x115,
    "TRIPLE_DISTANCE": 0x47D,
    "MODEL_SELECTION": 0x5E1,
    "SEARCH": 0x5EA,
    "HOLDOUT": 0xCA1,
    "SYNTHETIC": 0x5717,
    "SYNTHETIC_MISSING": 0x5718,
    "DUPLICATE": 0xD0B1E,
}


def draws(seed: int, stream: Stream, *key: int) -> tuple[int, ...]:
    return tuple(generator(seed, stream, *key).integers(2**60, size=4).tolist())


def test_the_numbers_of_the_streams_stay() -> None:
    assert {name: int(stream) for name, stream in Stream.__members__.items()} == NUMBERS, (
        "a new stream needs a new number here; the number of a stream that has been released must not change"
    )


def test_no_two_streams_have_one_number() -> None:
    assert len({int(stream) for stream in Stream}) == len(Stream.__members__)


def test_no_two_streams_give_the_same_numbers() -> None:
    assert len({draws(0, stream) for stream in Stream}) == len(Stream)


def test_no_two_places_of_a_stream_give_the_same_numbers() -> None:
    places = [(), (0,), (1,), (0, 0), (0, 1), (1, 0)]
    assert len({draws(0, Stream.PROPOSALS, *place) for place in places}) == len(places)


def test_no_two_seeds_give_the_same_numbers() -> None:
    for one, other in itertools.combinations((0, 1, 2, 2**32, 2**64), 2):
        assert draws(one, Stream.LISTED) != draws(other, Stream.LISTED)


def test_the_same_seed_stream_and_place_give_the_same_numbers() -> None:
    assert draws(7, Stream.KMEANS, 3) == draws(7, Stream.KMEANS, 3)


def test_a_negative_seed_is_refused_with_its_value() -> None:
    with pytest.raises(ValueError, match="seed=-1: must not be negative"):
        generator(-1, Stream.ORDER)
