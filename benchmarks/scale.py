"""How time, memory and disk grow with a graph, and what a second worker is worth.

    python benchmarks/scale.py sizes -o docs/results/scale.json    synthetic graphs of growing size
    python benchmarks/scale.py engines                             two processes and Dask against one process

Seconds depend on the machine; what should not are the exponents, by which each stage grows with the number of
triples, and the bytes. A graph has 0.23 entities per triple, and 800 relations with 20 million triples (fewer in
smaller graphs, by the square root). Half of these follow from others by planted rules; counted is how many
of them the method ``rules`` finds with their exact numbers. Every measurement is a process of its own.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import multiprocessing
import os
import platform
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import nnmfaug as na
from nnmfaug.augmenters.conditions import Conditions
from nnmfaug.augmenters.output import generate, write_sample
from nnmfaug.cli.skipped import rule_sets_behind
from nnmfaug.core.engines.base import Engine, Serial, running_on
from nnmfaug.graph.synthetic import Blueprint
from nnmfaug.io.synthetic import write_synthetic
from timing import seconds

SIZES = (100_000, 1_000_000, 5_000_000, 20_000_000)
ENTITIES_PER_TRIPLE = 0.23
RELATIONS = 800
"""Number of relations of the largest graph."""
AMOUNT = 0.05
"""Generated triples per triple."""
METHODS = ("nnmf", "rules")
"""Methods of the measurements."""
Row = dict[str, Any]


# --- Sizes -------------------------------------------------------------------------------------------------------


def measure_sizes(sizes: Sequence[int], memory: str) -> Iterator[Row]:
    """Yield the seconds and the peak memory of each stage, by size and method."""
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            graph = Path(folder) / f"{size}.parquet"
            manifest = in_own_process(write_graph, size, graph)
            for method in METHODS:
                stages = in_own_process(augment, graph, method, memory, manifest["rules"])
                yield {
                    "triples": manifest["triples"],
                    "entities": manifest["settings"]["n_entities"],
                    "relations": manifest["settings"]["n_relations"],
                    "method": method,
                    "memory": memory,
                    "bytes_of_graph": graph.stat().st_size,
                    **stages,
                }
            graph.unlink()


def write_graph(size: int, path: Path) -> Row:
    """Write a synthetic graph of about so many triples."""
    n_relations = max(round(RELATIONS * math.sqrt(size / SIZES[-1])), 8)
    return write_synthetic(Blueprint(round(ENTITIES_PER_TRIPLE * size), size, n_relations, seed=0), path)


def augment(path: Path, method: str, memory: str, planted: Sequence[Row]) -> Row:
    """Do what ``nnmfaug augment`` does; return what each stage took."""
    stages: dict[str, Row] = {}
    out = path.with_suffix(f".{method}.tsv")
    with warnings.catch_warnings(), na.within_memory(memory):
        warnings.simplefilter("ignore")
        with stage("read", stages):
            train = na.read_triples(path)
        augmenter = na.augmenter(method, train)
        amount = round(AMOUNT * len(train))
        with stage("generate", stages):
            sample, manifest = generate(augmenter, train, amount, seed=0, conditions=Conditions(), at_most=True)
        with stage("write", stages):
            files = write_sample(sample, manifest, out)
    written = sum(file.stat().st_size for file in files)
    for file in files:
        file.unlink()
    counts = [n_found(rules, planted, out) for rules in rule_sets_behind(sample.source)]
    return {
        "generated": len(sample),
        "bytes_written": written,
        "planted_rules": len(planted),
        "planted_rules_found": sum(counts) if counts else None,
        "peak_bytes": max(row["peak_bytes"] for row in stages.values()),
        "seconds": sum(row["seconds"] for row in stages.values()),
        "stages": stages,
    }


def n_found(rules: na.RuleSet, planted: Sequence[Row], path: Path) -> int:
    """Return how many planted rules were mined with the very numbers of pairs and of true ones."""
    na.write_rules(rules, path)
    lines = (line.split("\t") for line in path.read_text().splitlines())
    mined = {text.replace(" ", ""): (int(n_pairs), int(support)) for n_pairs, support, _, text in lines}
    path.unlink()
    return sum(mined.get(as_anyburl(rule)) == (rule["n_pairs"], rule["support"]) for rule in planted)


def as_anyburl(rule: Row) -> str:
    """Write a planted rule as AnyBURL does, without spaces."""
    text = f"{rule['head']}(x,y)<={rule['body']}".replace(" ", "")
    return re.sub(r"\(.*?\)", lambda match: match[0].translate(str.maketrans("xyz", "XYA")), text)


@contextmanager
def stage(name: str, stages: dict[str, Row]) -> Iterator[None]:
    """Measure the ``with`` block."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    started = time.perf_counter()
    yield
    stages[name] = {"seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()}


def peak_bytes() -> int:
    """Return the most memory that this process has had since its peak began."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def in_own_process(work: Callable[..., Row], *arguments: object) -> Row:
    """Return ``work(*arguments)``, done in a fresh process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def exponents(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield by which power of the number of triples seconds and memory grow, from each size to the next."""
    for method in METHODS:
        of_method = [row for row in rows if row["method"] == method]
        for small, large in itertools.pairwise(of_method):
            ratio = large["triples"] / small["triples"]
            yield {
                "method": method,
                "from": small["triples"],
                "to": large["triples"],
                "times_as_long": large["seconds"] / small["seconds"],
                "exponent_of_seconds": math.log(large["seconds"] / small["seconds"]) / math.log(ratio),
                "exponent_of_memory": math.log(large["peak_bytes"] / small["peak_bytes"]) / math.log(ratio),
            }


def table(rows: Sequence[Row]) -> str:
    """Return the measurements as a table in Markdown."""
    lines = [
        "| triples | entities | relations | method | read | generate | write | peak memory | graph | output |",
        "|" + "---:|" * 3 + "---|" + "---:|" * 6,
    ]
    for row in rows:
        sizes = f"{row['triples']:,} | {row['entities']:,} | {row['relations']:,}"
        times = " | ".join(f"{row['stages'][name]['seconds']:.1f} s" for name in ("read", "generate", "write"))
        files = " | ".join(f"{row[name] / 1e6:.1f} MB" for name in ("bytes_of_graph", "bytes_written"))
        lines.append(f"| {sizes} | {row['method']} | {times} | {row['peak_bytes'] / 1e9:.2f} GB | {files} |")
    return "\n".join(lines)


def growth_table(rows: Sequence[Row]) -> str:
    """Return how time and memory grow as a table in Markdown."""
    lines = ["| method | from | to | times as long | time grows by the power | memory by |", "|---|" + "---:|" * 5]
    for row in exponents(rows):
        powers = f"{row['exponent_of_seconds']:.2f} | {row['exponent_of_memory']:.2f}"
        lines.append(
            f"| {row['method']} | {row['from']:,} | {row['to']:,} | {row['times_as_long']:.2f} | {powers} |"
        )
    return "\n".join(lines)


def show_sizes(rows: Sequence[Row]) -> None:
    """Print the measurements."""
    print(table(rows), growth_table(rows), sep="\n\n")
    for row in rows:
        if row["planted_rules_found"] is not None:
            rules = f"{row['planted_rules_found']} of {row['planted_rules']} planted rules"
            print(f"{row['triples']:,} triples: found {rules}")


# --- Engines -----------------------------------------------------------------------------------------------------


def measure_engines(repeats: int) -> None:
    """Print how many times as fast two workers are as one; the machine must have two idle cores."""
    with na.Dask.local(2) as dask:
        engines: list[Engine] = [Serial(), na.Processes(2), dask]
        one, two, dask_two = seconds(*(partial(train_models, engine) for engine in engines), repeats=repeats)
    print(f"eight runs of an experiment: two processes {one / two:.2f} times as fast as one, ", end="")
    print(f"two Dask workers {one / dask_two:.2f} times; Dask takes {dask_two / two:.2f} times as long")


def train_models(engine: Engine) -> None:
    """Train and test eight small models, each for some seconds: starting a worker takes a few, too."""
    splits = na.read_splits("umls")
    model = na.LinkPredictor(model="rotate", dim=64, epochs=400)
    one_thread = na.TrainOptions(threads=1)
    arms = {"baseline": None, "random": na.Augmentation(na.RandomTriples(), 500)}
    with tempfile.TemporaryDirectory() as folder, running_on(engine):
        na.run_experiment(splits, model, arms, seeds=range(4), folder=folder, options=one_thread)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sizes", "engines"))
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("-o", "--out", type=Path)
    arguments = parser.parse_args()
    if arguments.what == "engines":
        measure_engines(arguments.repeats)
        return
    rows = list(measure_sizes(arguments.sizes, arguments.memory))
    show_sizes(rows)
    if arguments.out:
        machine = {"system": platform.platform(), "cpu_count": os.cpu_count(), "nnmfaug": na.__version__}
        document = {"machine": machine, "rows": rows, "growth": list(exponents(rows))}
        arguments.out.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
