"""Our readers against pandas and rdflib on the same files, in one run.

Prints how many times faster our readers are, and by how much memory rises in terms of the size of the file. Our
figure is for the whole read: every line is checked, names are sorted and numbered, repeats are dropped.

    python benchmarks/reading.py [--lines 1000000]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import nnmfaug as na
from timing import seconds

if TYPE_CHECKING:
    import pandas


def write_tsv(path: Path, n_lines: int) -> None:
    """Write a graph with a fifth as many entities as lines."""
    rng = np.random.default_rng(0)
    heads, tails = rng.integers(n_lines // 5, size=(2, n_lines))
    relations = rng.integers(200, size=n_lines)
    with path.open("w") as file:
        rows = zip(heads, relations, tails, strict=True)
        file.writelines(f"entity_{h}\trelation_{r}\tentity_{t}\n" for h, r, t in rows)


def write_nt(path: Path, source: Path) -> None:
    """Write the same triples as N-Triples."""
    with source.open() as lines, path.open("w") as file:
        for line in lines:
            h, r, t = line.rstrip("\n").split("\t")
            file.write(f"<https://example.org/{h}> <https://example.org/{r}> <https://example.org/{t}> .\n")


def pandas_read(path: Path) -> pandas.DataFrame:
    """Read a table of strings."""
    import pandas

    return pandas.read_csv(path, sep="\t", header=None, dtype=str)


def pandas_graph(path: Path) -> object:
    """The work of :func:`nnmfaug.read_triples` in pandas: number the sorted names, sort, drop repeats."""
    import pandas

    frame = pandas_read(path)
    ids, _ = pandas.factorize(pandas.concat([frame[0], frame[2]], ignore_index=True), sort=True)
    relations, _ = pandas.factorize(frame[1], sort=True)
    numbers = pandas.DataFrame({"h": ids[: len(frame)], "r": relations, "t": ids[len(frame) :]})
    return numbers.drop_duplicates().sort_values(["h", "r", "t"])


def rdflib_read(path: Path) -> object:
    """Parse into rdflib's graph."""
    import rdflib

    return rdflib.Graph().parse(path, format="nt")


def memory_rise(path: Path) -> int:
    """Rise of the peak memory of a new process while it reads, in bytes, without imports; Linux only."""
    code = (
        "import sys; import duckdb, numpy, pyoxigraph; import nnmfaug as na; na.read_triples\n"
        "status = lambda: open('/proc/self/status').read().split('VmHWM:')[1]\n"
        "peak = lambda: int(status().split()[0]) * 1024\n"
        "before = peak(); graph = na.read_triples(sys.argv[1]); print(peak() - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    return int(done.stdout)


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--lines", type=int, default=1_000_000)
    n_lines = parser.parse_args().lines
    with tempfile.TemporaryDirectory() as folder:
        tsv = Path(folder) / "graph.tsv"
        nt = Path(folder) / "graph.nt"
        write_tsv(tsv, n_lines)
        write_nt(nt, tsv)
        compare_with_pandas(tsv, n_lines)
        compare_with_rdflib(Path(folder), max(n_lines // 10, 10))  # rdflib needs a minute for all lines
        print_memory(tsv)
        print_memory(nt)


def compare_with_pandas(tsv: Path, n_lines: int) -> None:
    """Print how many times faster than pandas a TSV file is read."""
    ours, graph, strings = seconds(
        lambda: na.read_triples(tsv), lambda: pandas_graph(tsv), lambda: pandas_read(tsv), repeats=5
    )
    print(f"TSV, {n_lines:,} lines: {graph / ours:.2f} x as fast as pandas to the same graph,")
    print(f"    {strings / ours:.2f} x as fast as pandas.read_csv to strings, which is only the first step")


def compare_with_rdflib(folder: Path, n_lines: int) -> None:
    """Print how many times faster than rdflib an N-Triples file is read."""
    tsv = folder / "few.tsv"
    nt = folder / "few.nt"
    write_tsv(tsv, n_lines)
    write_nt(nt, tsv)
    ours, rdflib = seconds(lambda: na.read_triples(nt), lambda: rdflib_read(nt), repeats=3)
    print(f"N-Triples, {n_lines:,} lines: {rdflib / ours:.1f} x as fast as rdflib")


def print_memory(path: Path) -> None:
    """Print how much memory reading a file takes."""
    rise = memory_rise(path)
    size = path.stat().st_size
    limit = 5 * size + 150 * 2**20
    print(f"{path.suffix[1:]}: peak memory rises by {rise / size:.1f} x the file of {size / 2**20:.0f} MiB,")
    print(f"    {rise / limit:.2f} of the limit of 5 x the file + 150 MiB")


if __name__ == "__main__":
    main()
