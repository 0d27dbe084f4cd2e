"""Graphs that make costs explode, and a child process with limits in which a command meets them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from nnmfaug.graph.vocabulary import LabelledTriple

Rows = Iterator[LabelledTriple]

PROGRAM = "from nnmfaug.cli import main; main()"


def many_relations(n_relations: int, n_triples: int = 1) -> Rows:
    """Relations with a few triples each, between entities that hardly meet."""
    n_entities = 2 * n_relations
    for i in range(n_relations):
        for j in range(n_triples):
            head = (7919 * i + 104729 * j) % n_entities
            yield f"e{head}", f"r{i}", f"e{(3 * head + j + 1) % n_entities}"


def many_inverses(n_relations: int) -> Rows:
    """Pairs of relations that are inverses of each other, as far as is known: every second relation has a rule."""
    for i in range(n_relations // 2):
        for j in range(5):
            yield f"x{i}.{j}", f"r{i}", f"y{i}.{j}"
            if j:
                yield f"y{i}.{j}", f"inverse of r{i}", f"x{i}.{j}"


def relations_of_one_pair(n_relations: int) -> Rows:
    """Two entities, with all relations between them in both directions."""
    for i in range(n_relations):
        yield "a", f"r{i}", "b"
        yield "b", f"r{i}", "a"


def relations_of_one_hub(n_relations: int, n_tails: int) -> Rows:
    """One head, with its own tails for each relation, or the same: every two relations meet in it."""
    for i in range(n_relations):
        for j in range(n_tails):
            yield "hub", f"r{i}", f"t{(17 * i + j) % (2 * n_tails)}"


def hub_with_a_rule(n: int) -> Rows:
    """Every entity two steps from the hub; four of five are also joined directly, the rest is concluded."""
    for i in range(n):
        yield "hub", "a", f"n{i}"
        yield f"n{i}", "b", f"m{i}"
        if i % 5:
            yield "hub", "c", f"m{i}"


def two_hubs_with_a_rule(n: int) -> Rows:
    """Every entity three steps from the hub, by way of another hub; four of five are also joined directly."""
    for i in range(n):
        yield "hub", "a", f"n{i}"
        yield f"n{i}", "b", "other hub"
        yield "other hub", "c", f"m{i}"
        if i % 5:
            yield "hub", "d", f"m{i}"


def hub(n: int) -> Rows:
    """One head of one relation."""
    return (("hub", "r", f"t{i}") for i in range(n))


def chain(n: int) -> Rows:
    """A chain of one relation."""
    return ((f"e{i}", "next", f"e{i + 1}") for i in range(n))


def self_loops(n: int) -> Rows:
    """Entities that have a relation with themselves alone."""
    return ((f"e{i}", "is", f"e{i}") for i in range(n))


def repeats(n: int) -> Rows:
    """The same two triples again and again."""
    return (("a", "r", "b" if i % 2 else "c") for i in range(n))


def one_relation(n: int) -> Rows:
    """Two tails for each entity, all of one relation."""
    return ((f"e{i // 2}", "r", f"e{(7919 * i + 1) % n}") for i in range(n))


def all_pairs(n_heads: int, n_tails: int) -> Rows:
    """Every head with every tail."""
    return ((f"h{i}", "r", f"t{j}") for i in range(n_heads) for j in range(n_tails))


def write_rows(rows: Rows, path: Path) -> Path:
    """Write triples as a file of tab-separated values."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{h}\t{r}\t{t}\n" for h, r, t in rows)
    return path


def start_limited(
    *arguments: str | Path, cwd: Path, cpu_seconds: int, gigabytes: float, output: int = subprocess.PIPE
) -> subprocess.Popen[str]:
    """Start a command in a child process that ends if it takes more CPU time or more address space."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        stdout=output,
        stderr=output,
        text=True,
        cwd=cwd,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # every thread takes address space
    )
    n_bytes = int(gigabytes * 2**30)
    resource.prlimit(process.pid, resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.prlimit(process.pid, resource.RLIMIT_AS, (n_bytes, n_bytes))
    return process


def run_limited(
    *arguments: str | Path, cwd: Path, cpu_seconds: int = 120, gigabytes: float = 2.5
) -> subprocess.CompletedProcess[str]:
    """Run a command under limits, and return what it printed."""
    with start_limited(*arguments, cwd=cwd, cpu_seconds=cpu_seconds, gigabytes=gigabytes) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)
