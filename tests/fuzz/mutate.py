"""Small damages to bytes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

MAX_SIZE = 200_000
"""Longest result in bytes."""

Mutator = Callable[[random.Random, bytes, Sequence[bytes]], bytes]
"""Changes data; the last argument is pieces that are worth inserting."""

NUMBERS = (b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x80\0\0\0", b"\0\0\0\x80")


def flip_bits(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Flip up to eight bits."""
    changed = bytearray(data)
    for _bit in range(rng.randint(1, 8)):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncate(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Cut off the end."""
    return data[: rng.randrange(len(data))]


def delete(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Take out a slice."""
    start, stop = _slice(rng, data)
    return data[:start] + data[stop:]


def repeat(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Repeat a slice, now and then very often."""
    start, stop = _slice(rng, data)
    times = rng.choice((2, 3, 10, 100, 1000, 100_000))
    times = min(times, MAX_SIZE // max(stop - start, 1))
    return data[:start] + data[start:stop] * times + data[stop:]


def insert(rng: random.Random, data: bytes, pieces: Sequence[bytes]) -> bytes:
    """Insert pieces."""
    for _piece in range(rng.randint(1, 5)):
        place = rng.randint(0, len(data))
        data = data[:place] + rng.choice(pieces) + data[place:]
    return data


def overwrite(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Overwrite four bytes with a number at the edge."""
    place = rng.randrange(len(data))
    return data[:place] + rng.choice(NUMBERS) + data[place + 4 :]


def splice(rng: random.Random, data: bytes, pieces: Sequence[bytes]) -> bytes:
    """Continue with the end of something else."""
    other = rng.choice(pieces)
    return data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]


def move(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Move a slice to the end."""
    start, stop = _slice(rng, data)
    return data[:start] + data[stop:] + data[start:stop]


MUTATORS: tuple[Mutator, ...] = (flip_bits, truncate, delete, repeat, insert, insert, overwrite, splice, move)


def mutate(rng: random.Random, data: bytes, pieces: Sequence[bytes]) -> bytes:
    """Damage data a few times."""
    for _time in range(rng.choice((1, 1, 1, 2, 3, 8))):
        if data:
            data = rng.choice(MUTATORS)(rng, data, pieces)[:MAX_SIZE]
    return data


def _slice(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data))
    return start, min(len(data), start + rng.choice((1, 2, 5, 20, 100)))
